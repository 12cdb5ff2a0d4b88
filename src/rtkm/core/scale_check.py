"""Whether one column decides alone, because its unit is so much larger."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rtkm._warnings import ScaleWarning, warn
from rtkm.core.states import blocks_of
from rtkm.core.table import Table, column_ends

MOST_VARIANCE = 0.95  # of all columns, in one
# rows that show at a glance that no column comes near this
N_GLANCED = 2048


def warn_of_scale(X: Table, kept: NDArray[np.float64], names: Any) -> None:
    """Warn where one column holds nearly all of the variance of the rows kept."""
    weights = kept if X.weights is None else kept * X.weights
    counts = weights > 0
    n_rows = np.count_nonzero(counts)
    for stride in (-(-n_rows // N_GLANCED), 1):
        # a copy, so that a glance does not hold the numbers of all rows
        some = np.flatnonzero(counts)[::stride].copy()
        is_whole = len(some) == n_rows
        low, high = X.ends if is_whole else column_ends(X.X[some])
        varies = low < high  # rounding leaves a variance to large constants
        variances = column_variances(X, some, weights[some]) * varies
        total, j = variances.sum(), int(variances.argmax())
        share = variances[j] / total if total > 0 else 0.0
        if share < MOST_VARIANCE - 0.2 or is_whole:
            break
    if share > MOST_VARIANCE and np.count_nonzero(varies) > 1:
        # never 100 %, as other columns vary too
        percent = min(np.floor(1000 * share) / 10, 99.9)
        warn(
            f"column {names[j]!s} holds {percent:g} % of the variance of the rows "
            "kept, so the other columns hardly count; if its unit is the reason, scale "
            "the columns first, for example with StandardScaler, or pass the table to "
            "TableModel, which scales where units differ.",
            ScaleWarning,
        )


def column_variances(
    X: Table, rows: NDArray[np.intp], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the weighted variance of each column over some rows."""
    mass = weights.sum()
    if not mass > 0:
        return np.zeros(X.n_features)
    if sparse.issparse(X.X):
        return sparse_variances(X.X[rows], weights / mass)
    mean = np.zeros(X.n_features)
    for some, place in blocks_of(rows):
        mean += weights[place] @ X.X[some].astype(np.float64) / mass
    variances = np.zeros(X.n_features)
    for some, place in blocks_of(rows):
        variances += weights[place] @ np.square(X.X[some] - mean) / mass
    return variances


def sparse_variances(
    X: sparse.csr_array, shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the variance of each column of a CSR matrix, zeros included."""
    by_entry = np.repeat(shares, np.diff(X.indptr))
    n = X.shape[1]
    values = X.data.astype(np.float64)
    mean = np.bincount(X.indices, by_entry * values, minlength=n)
    away = np.square(values - mean[X.indices])
    filled = np.bincount(X.indices, by_entry, minlength=n)
    variances = np.bincount(X.indices, by_entry * away, minlength=n)
    return variances + np.maximum(1 - filled, 0.0) * np.square(mean)
