"""A summary of training rows that new ones are compared with, and no row of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rtkm.tables.fitted_preparation import Prepared

if TYPE_CHECKING:
    from rtkm.tables.prepared_parts import PreparedParts

Counts = NDArray[np.int64]

N_QUANTILES = 49  # at most, at 2, 4, ..., 98 %
# rows between quantiles, and beyond the outer ones: no row is told by its value
FEWEST_BETWEEN = 20
MOST_ROWS = 100_000  # of longer tables, quantiles are those of a sample
TIMES_SAMPLED = 8  # what may be taken, for sampled values of a table in parts


@dataclass(frozen=True, eq=False)
class Reference:
    """What is known of the training rows when new ones come.

    Rows are counted whatever they weigh, as new ones are.

    Attributes
    ----------
    n_rows : int
        Rows of the table.
    label_counts : ndarray of shape (1 + n_clusters,)
        How many rows are judged outliers, and how many fall into each cluster. A
        detector has the number of all other rows.
    n_missing : ndarray of shape (n_features,)
        Missing values of each column.
    n_values : ndarray of shape (n_features,)
        How many values the quantiles of each column are of; 0 where they are too few,
        or the table is a CSR matrix.
    quantiles : ndarray of shape (n_features, m)
        Quantiles of each column from inside of its range, in the units of the matrix.
        Those of columns with few values come more than once.
    below, up_to : ndarrays of shape (n_features, m)
        How many values are below each quantile, and how many at most it.
    """

    n_rows: int
    label_counts: Counts
    n_missing: Counts
    n_values: Counts
    quantiles: NDArray[np.float64]
    below: Counts
    up_to: Counts

    @property
    def n_used(self) -> int:
        """Return how many rows have a label."""
        return int(self.label_counts.sum())


class Quantiles(NamedTuple):
    """Quantiles of a column, and how many values lie below and at most at each."""

    n_values: int
    quantiles: NDArray[np.float64]
    below: Counts
    up_to: Counts


def refer_to(prepared: Prepared, label_counts: Counts) -> Reference:
    """Summarize training rows that were judged."""
    n_rows, n_features = len(prepared.kept), len(prepared.preparation.columns)
    values = [np.empty(0)] * n_features
    if not sparse.issparse(prepared.X):
        rows = sampled_rows(prepared.X.shape[0])
        values = [np.sort(known_values(prepared, j, rows)) for j in range(n_features)]
    return reference_of(values, n_rows, label_counts, prepared.n_missing)


def refer_to_parts(prepared: PreparedParts, label_counts: Counts) -> Reference:
    """Summarize training rows in parts, a few columns at a time, to the same."""
    n_rows, n_features = prepared.n_kept, len(prepared.preparation.columns)
    rows = sampled_rows(n_rows)
    if isinstance(rows, slice):
        rows = np.arange(n_rows)
    places, again = np.unique(rows, return_inverse=True)
    filled = prepared.filled_at(places)
    n_together = max(1, prepared.stream.memory // (TIMES_SAMPLED * 8 * len(rows)))
    values: list[NDArray[np.float64]] = []
    for first in range(0, n_features, n_together):
        columns = slice(first, first + n_together)
        X = prepared.rows(places, columns)
        gaps = None if filled is None else filled[:, columns]
        for j in range(X.shape[1]):
            some = X[again, j]
            values.append(np.sort(some if gaps is None else some[~gaps[again, j]]))
    return reference_of(values, len(prepared.kept), label_counts, prepared.n_missing)


def reference_of(
    values: Sequence[NDArray[np.float64]],
    n_rows: int,
    label_counts: Counts,
    n_missing: Counts,
) -> Reference:
    """Return a summary, given the sorted values of each column."""
    m = min(N_QUANTILES, max(map(len, values)) // FEWEST_BETWEEN - 1)
    columns = [quantiles_of(column, max(m, 1)) for column in values]
    n_values, quantiles, below, up_to = map(np.array, zip(*columns, strict=True))
    return Reference(n_rows, label_counts, n_missing, n_values, quantiles, below, up_to)


def sampled_rows(n_rows: int) -> Any:
    """Return some rows of very many; by chance, as every k-th may be a certain hour."""
    if n_rows <= MOST_ROWS:
        return slice(None)
    return np.random.default_rng(0).integers(0, n_rows, MOST_ROWS)


def known_values(
    prepared: Prepared, j: int, rows: Any = slice(None)
) -> NDArray[np.float64]:
    """Return the values of a column in units of the matrix, but for those filled in."""
    values: NDArray[np.float64] = prepared.X[rows, j]
    if prepared.filled is None:
        return values
    return values[~prepared.filled[rows, j]]


def quantiles_of(values: NDArray[np.float64], m: int) -> Quantiles:
    """Return m quantiles of sorted values, some of them twice if values are few."""
    n_bins = min(m + 1, len(values) // FEWEST_BETWEEN)
    if n_bins < 2:
        return Quantiles(0, np.zeros(m), *np.zeros((2, m), np.int64))
    ranks = -(-np.arange(1, m + 1) * (n_bins - 1) // m)
    quantiles = values[ranks * len(values) // n_bins]
    below = np.searchsorted(values, quantiles, "left")
    up_to = np.searchsorted(values, quantiles, "right")
    return Quantiles(len(values), quantiles, below, up_to)
