"""Ten tables, real and generated, on which the library meets other programs."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_blobs,
    make_moons,
)

from rtkm.datasets import load_wbc, make_outlier_blobs


def bundled(load):
    return load(return_X_y=True)[0]


TABLES = {
    "iris": lambda: bundled(load_iris),
    "wine": lambda: bundled(load_wine),
    "breast_cancer": lambda: bundled(load_breast_cancer),
    "digits": lambda: bundled(load_digits),
    "wbc": lambda: bundled(load_wbc),
    "equal_blobs": lambda: make_blobs(300, 2, centers=5, random_state=0)[0],
    "uneven_blobs": lambda: make_blobs([300, 80, 30, 9], 3, random_state=1)[0],
    "moons": lambda: make_moons(300, noise=0.1, random_state=2)[0],
    "dirty_blobs": lambda: make_outlier_blobs(
        400, 3, 6, separation=1.0, random_state=3
    )[0],
    "clumped_blobs": lambda: make_outlier_blobs(
        500, 8, 4, contamination=0.2, far_clump=True, random_state=4
    )[0],
}


def starting_rows(X, k, seed=0):
    """Draw k different rows."""
    rows = np.unique(X, axis=0)
    return rows[np.random.RandomState(seed).choice(len(rows), k, replace=False)]
