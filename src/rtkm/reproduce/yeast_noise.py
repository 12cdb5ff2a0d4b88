"""Yeast with noise: rows in several clusters, and outliers."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm.datasets import make_yeast_noise
from rtkm.reproduce._sensitivity import Sensitivity


@cache
def load(protocol: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the rows and the true sets."""
    X, labels = make_yeast_noise()
    return X, labels.astype(bool)


EXPERIMENT = Sensitivity(
    name="yeast_noise",
    title="Yeast and noise: sensitivity to the share of outliers",
    load=load,
    n_clusters=14,
    n_memberships=4,
    shares=tuple(float(share) for share in np.linspace(0, 0.1, 11)),
    gammas=(1.0, 9.0),
    overlap=3.0,
)
