"""Yeast with noise: rows in several clusters, and outliers."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.engine.sensitivity import Sensitivity
from rtkm.datasets import make_yeast_noise
from rtkm.datasets._authors import NOISE_FILES
from rtkm.datasets._lookup import data_folder


def authors_noise() -> Path | None:
    """Return the folder of the noise that the authors drew, where it is at hand."""
    folder = data_folder()
    # one of its files is enough: that another is missing is told, not drawn over
    if folder and any((folder / name).is_file() for name in NOISE_FILES):
        return folder
    return None


@cache
def load(protocol: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the rows and the true sets; the noise is the authors', or our own draw."""
    X, labels = make_yeast_noise(path=authors_noise())
    return X, labels.astype(bool)


EXPERIMENT = Sensitivity(
    name="yeast_noise",
    load=load,
    n_clusters=14,
    n_memberships=4,
    shares=tuple(float(share) for share in np.linspace(0, 0.1, 11)),
    gammas=(1.0, 9.0),
    overlap=3.0,
)
