"""A table, methods and frames for the tests of compare."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from rtkm.datasets import make_outlier_blobs

X, LABELS, _ = make_outlier_blobs(120, 2, 3, random_state=3)
# every row of the second blob is in the third too
OVERLAPS = np.column_stack([LABELS == 0, LABELS == 1, (LABELS == 1) | (LABELS == 2)])


class Distance(BaseEstimator):
    """A detector: the rows farthest from the median."""

    def __init__(self, n_outliers=12, random_state=None):
        self.n_outliers = n_outliers
        self.random_state = random_state

    def fit(self, X, y=None):
        if self.random_state is None:
            raise ValueError("no seed came through")
        self.outlier_scores_ = np.abs(X - np.median(X, axis=0)).sum(axis=1)
        cut = np.sort(self.outlier_scores_)[-self.n_outliers]
        self.outlier_mask_ = self.outlier_scores_ >= cut
        return self


class Failing(BaseEstimator):
    def __init__(self, error=ValueError):
        self.error = error

    def fit(self, X, y=None):
        raise self.error("no\n  luck")


def row(frame, method):
    (found,) = [r for _, r in frame.iterrows() if r["method"] == method]
    return found


def without_times(frame):
    return frame.drop(columns="seconds")
