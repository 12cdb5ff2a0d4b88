"""Yeast with noise: rows in several clusters, and outliers."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm.datasets import make_yeast_noise
from rtkm.reproduce._sensitivity import Sensitivity


def authors_noise() -> Path | None:
    """Return the folder of the noise that the authors drew, where it is at hand."""
    folder = Path(os.environ.get("RTKM_DATA", "")) / "yeast_noise"
    return folder if (folder / "data_yeast_noise.npy").is_file() else None


@cache
def load(protocol: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the rows and the true sets; the noise is the authors', or our own draw."""
    X, labels = make_yeast_noise(path=authors_noise())
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
