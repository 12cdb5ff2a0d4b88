"""Small clusterings, by hand and at random."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

n_rows = st.shared(st.integers(1, 12), key="n_rows")
labelings = n_rows.flatmap(lambda n: arrays(np.int64, n, elements=st.integers(-1, 4)))
matrices = n_rows.flatmap(
    lambda n: st.integers(1, 4).flatmap(lambda k: arrays(bool, (n, k)))
)
clusterings = labelings | matrices
generators = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def sets(n, *members):
    """Write sets of the points 1..n as an (n, K) membership matrix."""
    return np.array([[i in each for each in members] for i in range(1, n + 1)])


def columns(labels):
    """Write labels as a membership matrix."""
    return labels[:, None] == np.unique(labels[labels >= 0])


def f1(a, b):
    return 2 * (a & b).sum() / (a.sum() + b.sum()) if a.any() or b.any() else 0


# F1 of T1, T2 (rows) with Q1, Q2: [[2*3/8, 2*4/10], [0, 2*3/8]] = [[.75, .8], [0, .75]]
CROSSED_TRUTH = sets(6, {2, 3, 4, 5, 6}, {1, 4, 5})
CROSSED_PREDICTION = sets(6, {2, 3, 6}, {1, 3, 4, 5, 6})
