"""Shuttle: three large classes, four rare ones as outliers."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.engine.measure import one_set_each
from experiments.engine.sensitivity import Sensitivity
from rtkm.datasets import fetch_shuttle


@cache
def load(protocol: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the rows and the true sets; the published run left the class in."""
    shuttle: Any = fetch_shuttle(with_class_column=protocol == "as published")
    return shuttle.data, one_set_each(shuttle.target, shuttle.outlier_mask)


EXPERIMENT = Sensitivity(
    name="shuttle",
    load=load,
    n_clusters=3,
    shares=tuple(float(share) for share in np.linspace(0, 0.1, 11)),
    gammas=(9.0,),
    published_average="micro",
)
