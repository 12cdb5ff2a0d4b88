"""Whether one column decides alone, because its unit is so much larger."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm._warnings import ScaleWarning, warn
from rtkm.core.table import Table

MOST_VARIANCE = 0.95  # of all columns, in one
# rows that show at a glance that no column comes near this
N_GLANCED = 2048


def warn_of_scale(X: Table, kept: NDArray[np.float64], names: Any) -> None:
    """Warn where one column holds nearly all of the variance of the rows kept."""
    weights = kept if X.weights is None else kept * X.weights
    # a glance at some of the rows mostly tells
    some = X.true_rows(weights > 0, glanced)
    part = X.part(some)
    varies, variances = varying(part.ends, part.column_variances(weights[some]))
    share = largest_share(variances)
    if share >= MOST_VARIANCE - 0.2:
        varies, variances = varying(X.ends, X.column_variances(weights))
        share = largest_share(variances)
    if share > MOST_VARIANCE and np.count_nonzero(varies) > 1:
        # never 100 %, as other columns vary too
        percent = min(np.floor(1000 * share) / 10, 99.9)
        warn(
            f"column {names[int(variances.argmax())]!s} holds {percent:g} % of the "
            "variance of the rows kept, so the other columns hardly count; if its unit "
            "is the reason, scale the columns first, for example with StandardScaler, "
            "or pass the table to TableModel, which scales where units differ.",
            ScaleWarning,
        )


def glanced(n: int) -> NDArray[np.intp]:
    """Return which of so many rows to look at."""
    return np.arange(0, n, -(-n // N_GLANCED) or 1)


def varying(
    ends: NDArray[np.float64], variances: NDArray[np.float64]
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return which columns vary, and variances that others do not have by rounding."""
    varies = ends[0] < ends[1]  # rounding leaves a variance to large constants
    return varies, variances * varies


def largest_share(variances: NDArray[np.float64]) -> float:
    """Return the share of the column that varies most."""
    total = variances.sum()
    return float(variances.max() / total) if total > 0 else 0.0
