"""What the metrics validate, and how they say that a score is undefined."""

from __future__ import annotations

from collections.abc import Sized

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import UndefinedMetricWarning

from rtkm._warnings import warn


def covers(
    truth: ArrayLike, prediction: ArrayLike
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Turn both sides into membership matrices of the same rows."""
    T, Q = memberships(truth, "truth"), memberships(prediction, "prediction")
    check_same_rows(truth=T, prediction=Q)
    return T, Q


def memberships(values: ArrayLike, name: str) -> NDArray[np.bool_]:
    """Turn labels or a membership matrix into an (n, K) array of booleans."""
    array = np.asarray(values)
    if array.ndim not in (1, 2) or len(array) == 0:
        raise ValueError(
            f"{name} has shape {array.shape}; expected n labels or an (n, K) "
            "membership matrix, with at least one row."
        )
    if array.ndim == 2:
        strange = array[(array != 0) & (array != 1)]
        if strange.size:
            raise ValueError(
                f"{name} holds the membership {strange[0]}; expected 0 or 1 only, "
                "such as memberships > 0.5."
            )
        return array.astype(bool)
    if array.dtype.kind not in "iu":
        raise TypeError(
            f"{name} has dtype {array.dtype}; expected integer labels, -1 for "
            "outliers, or an (n, K) membership matrix."
        )
    if array.min() < -1:
        raise ValueError(
            f"{name} holds the label {array.min()}; expected integers from 0, "
            "and -1 for outliers."
        )
    members: NDArray[np.bool_] = array[:, None] == np.unique(array[array >= 0])
    return members


def mask(values: ArrayLike, name: str) -> NDArray[np.bool_]:
    """Admit one boolean per row, and nothing else."""
    array = np.asarray(values)
    if array.dtype != bool:
        raise TypeError(
            f"{name} has dtype {array.dtype}; expected a boolean mask of the outliers, "
            "such as labels == -1."
        )
    check_one_per_row(array, name)
    return array


def check_one_per_row(array: NDArray[np.generic], name: str) -> None:
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; expected one value per row.")


def check_same_rows(**sides: Sized) -> None:
    (first, n), (second, m) = ((name, len(rows)) for name, rows in sides.items())
    if n != m:
        raise ValueError(
            f"{first} has {n} rows and {second} {m}; expected the same rows in both."
        )


def undefined(metric: str, reason: str) -> float:
    """Warn the caller of a metric, and give NaN."""
    warn(
        f"{reason}, so {metric} is undefined; returning NaN.",
        UndefinedMetricWarning,
    )
    return float("nan")
