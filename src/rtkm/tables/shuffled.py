"""Whether columns cluster the rows together, or each of them alone.

Where every column is shuffled, rows are put together by chance: what k-means saves then
comes from the shapes of single columns. What it saves beyond that comes from columns
that tell the same groups apart, and is what a scale may bring out or hide. The
objectives of two scales cannot be compared, but each can with that of shuffled columns,
as the gap statistic compares them with those of rows without clusters (R. Tibshirani,
G. Walther, T. Hastie, 2001).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtkm.choosing.fits import trimmed_fit
from rtkm.choosing.samples import n_units_of, take
from rtkm.core.params import whole_rows
from rtkm.core.table import Table
from rtkm.seeding import draw_far_rows

Floats = NDArray[np.float64]

N_CLUSTERS = 3  # a few: what is asked is whether there are groups at all
TRIMMED = 0.05
N_STARTS = 3
N_SHUFFLES = 5
MOST_ROWS, MOST_CELLS = 2_000, 2_000_000  # looked at
LEAST_ROWS = 20  # fewer say nothing


class JointGain(NamedTuple):
    """The share of the shuffled columns' objective that columns together save."""

    share: float
    noise: float  # its standard deviation from one shuffle to the next


def joint_gain(X: Floats) -> JointGain:
    """Return how much lower the objective is than that of shuffled columns."""
    rng = np.random.RandomState(0)
    reached = least_objective(X, rng)
    shuffled = np.array(
        [least_objective(shuffle_columns(X, rng), rng) for _ in range(N_SHUFFLES)]
    )
    usual = shuffled.mean()
    if not usual > 0:
        return JointGain(0.0, 0.0)
    return JointGain(1 - reached / usual, shuffled.std(ddof=1) / usual)


def least_objective(X: Floats, rng: np.random.RandomState) -> float:
    """Return the least trimmed objective of a few starts."""
    table = Table(X, None)
    n_trimmed = whole_rows(TRIMMED, table.mass)
    starts = (draw_far_rows(table, N_CLUSTERS, n_trimmed, rng) for _ in range(N_STARTS))
    return min(trimmed_fit(table, C, n_trimmed).objective for C in starts)


def shuffle_columns(X: Floats, rng: np.random.RandomState) -> Floats:
    """Return the values of each column in an order of its own."""
    return np.column_stack([rng.permutation(column) for column in X.T])


def some_rows(X: Floats, weights: Floats | None) -> Floats:
    """Return rows to look at, as many of them equal as their weight says."""
    table = Table(np.ascontiguousarray(X), weights)
    size = max(LEAST_ROWS, min(MOST_ROWS, MOST_CELLS // table.n_features))
    n_units = min(size, n_units_of(table))
    order = table.order[table.counts[table.order]]
    places = (np.arange(n_units) + 0.5) / n_units
    drawn = take(table, order, places, each=1.0)
    if drawn.weights is None:
        return drawn.X
    return np.repeat(drawn.X, drawn.weights.astype(np.intp), axis=0)
