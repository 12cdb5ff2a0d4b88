"""Where inliers end and outliers begin: the cut between scores of a fitted model.

The trimming threshold of a step is another thing: `Table.cut`, which `find_cut` in
native/passes/select.hpp decides.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def boundary(
    scores: NDArray[np.float64],
    inliers: NDArray[np.bool_],
    trimmed: NDArray[np.bool_],
    wanted: float | None = None,
) -> float:
    """Return the score beyond which rows are outliers.

    It is the `wanted` one, moved to the last inlier or to just before the first outlier
    where it is not between these, so that training rows keep their side; with nothing
    wanted it is halfway, and infinite if nothing is `trimmed`, not even a part of a
    row. A score equal to that of the last inlier is never outlying.
    """
    last_in = float(scores.max(initial=0.0, where=inliers))
    beyond = trimmed & (scores >= last_in)
    first_out = float(scores.min(initial=np.inf, where=beyond))
    if wanted is None:
        return halfway(last_in, first_out) if trimmed.any() else np.inf
    # a row that is kept in part may cost as much as one that is kept
    before = max(last_in, float(np.nextafter(first_out, -np.inf)))
    return min(max(wanted, last_in), before if trimmed.any() else np.inf)


def is_outlier(scores: NDArray[np.float64], cut: float) -> NDArray[np.bool_]:
    """Return which outlier scores are beyond the cut: the one place that decides."""
    return scores > cut


def halfway(last_in: float, first_out: float) -> float:
    """Return the middle, or the score to be kept where there is nothing between."""
    low, high = float(last_in), float(first_out)
    middle = low + (high - low) / 2
    return middle if middle < high else low


def margins(scores: NDArray[np.float64], offset: float) -> NDArray[np.float64]:
    """Return scores less the offset; at an infinite one, inliers are far inside."""
    if offset == -np.inf:
        return np.full(len(scores), np.inf)
    return scores - offset
