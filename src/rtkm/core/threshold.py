"""Where inliers end and outliers begin: the cut between scores of a fitted model.

The trimming threshold of a step is another thing: `Table.cut`, in native/passes/select.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def boundary(
    scores: NDArray[np.float64],
    inliers: NDArray[np.bool_],
    trimmed: NDArray[np.bool_],
) -> float:
    """Return the score halfway between the last inlier and the first outlier.

    It is infinite where nothing is `trimmed`, not even a part of a row. Scores above it
    are outlying; a score equal to that of the last inlier never is.
    """
    if not trimmed.any():
        return np.inf
    last_in = scores[inliers].max(initial=0.0)
    return halfway(last_in, scores[trimmed & (scores >= last_in)].min(initial=np.inf))


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
