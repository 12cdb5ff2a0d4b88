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
    if X.mass > size or X.n_positive > 4 * size:
        n_units = min(size, n_units_of(X))
        places = (np.arange(n_units) + rng.random_sample(n_units)) / n_units
        return take(X, places, each=1.0)
    rows = X.sorted_rows()
    return X.part(rows, None if X.weights is None else X.weights[rows])


def halves(Z: Table, rng: np.random.RandomState) -> tuple[Table, Table]:
    """Return two tables of half the weight each, for a table in lexicographic order."""
    n_units = n_units_of(Z)
    places = (rng.permutation(n_units) + 0.5) / n_units
    first, second = places[: n_units // 2], places[n_units // 2 :]
    each = Z.mass / n_units
    return take(Z, np.sort(first), each), take(Z, np.sort(second), each)


def n_units_of(X: Table) -> int:
    """Return how many rows of weight 1 a table is worth."""
    return max(1, int(np.floor(X.mass + 0.5)))


def take(X: Table, places: NDArray[np.float64], each: float) -> Table:
    """Return the rows at some rising shares of the total weight, of a weight each."""
    rows = X.along_order(places)
    # a row may be at several of them
    first = np.flatnonzero(np.diff(rows, prepend=-1))
    weights = np.diff(first, append=len(rows)) * each
    return X.part(rows[first], None if (weights == 1).all() else weights)
