"""Breast cancer: one cluster of benign samples, the malignant ones as outliers."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.engine.sensitivity import Sensitivity
from rtkm.datasets import load_wbc


@cache
def load(protocol: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the rows and the one true set."""
    X, malignant = load_wbc(return_X_y=True)
    return X, (malignant == 0)[:, None]


EXPERIMENT = Sensitivity(
    name="wbc",
    load=load,
    n_clusters=1,
    shares=tuple(float(share) for share in np.linspace(0.25, 0.45, 10)),
)
