"""Where inliers end and outliers begin."""

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
    first_out = scores[trimmed & (scores >= last_in)].min(initial=np.inf)
    if np.isinf(first_out):
        return float(last_in)
    middle = last_in + (first_out - last_in) / 2
    return float(middle if middle < first_out else last_in)
