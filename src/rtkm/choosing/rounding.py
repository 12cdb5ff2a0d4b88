"""Columns of few values: rounded numbers, grades, counts, yes and no.

Rows that share their values pile up, and piles look like groups with gaps between them.
Spread evenly over what was rounded away, they are a cloud again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm.core.table import Table

# rows and columns that are looked at
GLANCED_ROWS, GLANCED_COLUMNS = 500, 300


def columns_of_few_values(Z: Table) -> NDArray[np.intp]:
    """Return the columns in which most rows have the value of another row."""
    if Z.n_features > GLANCED_COLUMNS:
        return np.empty(0, np.intp)
    rows = Z.rows(np.arange(Z.n_rows))
    if Z.n_features > 1:
        # equal rows are next to each other, and may be one row with its weight
        rows = rows[np.r_[True, (rows[1:] != rows[:-1]).any(axis=1)]]
    values = np.sort(rows[:: -(-len(rows) // GLANCED_ROWS)], axis=0)
    if len(values) < 2:
        return np.empty(0, np.intp)
    repeats = (values[1:] == values[:-1]).mean(axis=0)
    return np.flatnonzero((repeats > 0.5) & (values[0] < values[-1]))


def spread_rounded(
    Z: Table, columns: NDArray[np.intp], rng: np.random.RandomState
) -> Table:
    """Move the values of some columns at random within what was rounded away.

    A row of weight 2 becomes two rows, so that weights count as repetitions.
    """
    if not len(columns):
        return Z
    weights = np.ones(Z.n_rows) if Z.weights is None else Z.weights
    counts = np.maximum(1, np.floor(weights + 0.5)).astype(np.intp)
    each = np.repeat(weights / counts, counts)
    rows = np.repeat(Z.rows(np.arange(Z.n_rows)), counts, axis=0)
    widths = [rounding_step(rows[:, j]) for j in columns]
    shifts = rng.random_sample((len(rows), len(columns))) - 0.5
    rows[:, columns] += (shifts * widths).astype(rows.dtype)
    return Table(rows, None if (each == 1).all() else each)


def rounding_step(values: NDArray[Any]) -> float:
    """Return the least distance of two different values, but for rounding."""
    gaps = np.diff(np.unique(values).astype(np.float64))
    return float(gaps[gaps > 1e-6 * gaps.sum()].min())
