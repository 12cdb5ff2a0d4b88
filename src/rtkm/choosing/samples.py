"""Samples and halves of a table, drawn along the lexicographic order of its rows.

The total weight is cut into units, each of which belongs to one row, and units are what
is drawn: the same rows come out when the table is shuffled, shifted or scaled, or when
weights are written as repetitions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rtkm.core.table import Table


def sample(X: Table, size: int, rng: np.random.RandomState) -> Table:
    """Return the table, or so many of its rows, in lexicographic order."""
    order = X.order[X.counts[X.order]]
    if X.mass > size or len(order) > 4 * size:
        n_units = min(size, n_units_of(X))
        # one from each of as many stretches of equal weight
        places = (np.arange(n_units) + rng.random_sample(n_units)) / n_units
        return take(X, order, places, each=1.0)
    weights = None if X.weights is None else X.weights[order]
    return Table(X.X[order], weights)


def halves(Z: Table, rng: np.random.RandomState) -> tuple[Table, Table]:
    """Return two tables of half the weight each, for a table in lexicographic order."""
    n_units = n_units_of(Z)
    places = (rng.permutation(n_units) + 0.5) / n_units
    first, second = places[: n_units // 2], places[n_units // 2 :]
    order, each = np.arange(Z.n_rows), Z.mass / n_units
    return take(Z, order, first, each), take(Z, order, second, each)


def n_units_of(X: Table) -> int:
    """Return how many rows of weight 1 a table is worth."""
    return max(1, int(np.floor(X.mass + 0.5)))


def take(
    X: Table, order: NDArray[np.integer], places: NDArray[np.float64], each: float
) -> Table:
    """Return the rows at some shares of the total weight, each of the given weight."""
    if X.weights is None:
        numbers = np.floor(places * len(order)).astype(np.intp)
    else:
        ends = np.cumsum(X.weights[order])
        numbers = np.searchsorted(ends, places * ends[-1], side="right")
    counts = np.bincount(np.minimum(numbers, len(order) - 1), minlength=len(order))
    drawn = np.flatnonzero(counts)
    weights = counts[drawn].astype(np.float64) * each
    return Table(X.X[order[drawn]], None if (weights == 1).all() else weights)
