"""A small run through every kernel, for valgrind and the sanitizers to watch.

    python tests/memcheck.py [ROWS]

Sizes are odd, so that tiles and vectors have rests, and answers are checked only for
being numbers: what they are is the tests' business. Threads share the work from 1,024
rows on.
"""

from __future__ import annotations

import os
import sys
import warnings

import numpy as np
from conftest import CLUSTERERS, VARIANTS
from scipy import sparse
from sklearn.base import clone

from rtkm import CBOD, LDOF, RTKM, NEOKMeans, TrimmedKMeans, choose

# NumPy hands out used blocks again below 1024 bytes, whose bytes then count as set
N_ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 131
WEIGHTED = [
    RTKM(3, contamination=0.1, random_state=0),
    RTKM(3, contamination=0.1, step=1.1, random_state=0),
]
MODELS = [
    *(cls(3, n_init=1, max_iter=4, random_state=0) for cls in CLUSTERERS),
    *(clone(model).set_params(n_init=1, max_iter=4) for model in VARIANTS),
    NEOKMeans(5, init="robin", max_iter=4),
    TrimmedKMeans(19, contamination=0, max_iter=4, random_state=0),
    TrimmedKMeans(9, init="robust-k-means||", max_iter=4, random_state=0),
]


def tables(rng: np.random.Generator) -> list[object]:
    """Dense and sparse rows of both types, one of them with ties and repeated rows."""
    X = rng.normal(size=(N_ROWS, 11))
    X[:3] += 50
    few = np.where(rng.random(X.shape) < 0.2, X, 0)
    whole = rng.integers(-1, 2, size=(N_ROWS, 3)).astype(np.float32)
    return [X, X.astype(np.float32), whole, sparse.csr_array(few), sparse.csr_array(X)]


def main() -> None:
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    for X in tables(rng):
        for model in MODELS:
            model = clone(model).fit(X)
            assert np.isfinite(model.objective_)
            assert np.isfinite(model.transform(X)).all()
            assert np.isfinite(model.score_samples(X)).all()
        for model in WEIGHTED:
            weight = rng.integers(0, 3, size=N_ROWS) / 2
            assert np.isfinite(model.fit(X, sample_weight=weight).objective_)
        assert np.isfinite(choose(X, random_state=0).init).all()
        LDOF(n_neighbors=7).fit(X)
        if not sparse.issparse(X):
            CBOD().fit(X)


if __name__ == "__main__":
    main()
    os._exit(0)  # what the interpreter does to end is not ours to watch
