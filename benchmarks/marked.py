"""Tables with known outliers: the paper's, and digits among others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from rtkm.datasets import fetch_shuttle, load_wbc, make_yeast_noise
from rtkm.datasets._authors import NOISE_FILES
from rtkm.datasets._lookup import data_folder

OTHERS = 0.08  # of the rows are other digits


class Marked(NamedTuple):
    """Rows, which of them are outliers, and the class of each where it has but one.

    The class is -1 where a cluster is not what its rows are expected to be.
    """

    X: NDArray[Any]
    outlier_mask: NDArray[np.bool_]
    classes: NDArray[Any] | None = None


def yeast_noise(seed: int) -> Marked:
    """Take yeast and 5 % noise, that of the authors where it is at hand."""
    folder = data_folder()
    at_hand = folder and all((folder / name).is_file() for name in NOISE_FILES)
    X, labels = make_yeast_noise(
        path=folder if at_hand else None, random_state=seed, download_if_missing=False
    )
    return Marked(X, ~labels.astype(bool).any(axis=1))


def shuttle(seed: int) -> Marked:
    found = fetch_shuttle(download_if_missing=False)
    classes = np.where(found.outlier_mask, -1, found.target)
    return Marked(found.data, found.outlier_mask, classes)


def wbc(seed: int) -> Marked:
    """Take malignant samples for outliers, as in the paper, and for a class."""
    found = load_wbc()
    return Marked(found.data, found.target == 1, found.target)


def few_digits(seed: int) -> Marked:
    """Draw 8 % of other digits among all of 0, 1 and 6."""
    found = load_digits()
    is_usual = np.isin(found.target, (0, 1, 6))
    n_others = round(is_usual.sum() * OTHERS / (1 - OTHERS))
    others = np.random.default_rng(seed).choice(
        np.flatnonzero(~is_usual), n_others, replace=False
    )
    rows = np.sort(np.r_[np.flatnonzero(is_usual), others])
    is_other = ~is_usual[rows]
    classes = np.where(is_other, -1, found.target[rows])
    return Marked(found.data[rows], is_other, classes)


# a seed, for those that are drawn
MARKED: dict[str, Callable[[int], Marked]] = {
    "yeast + 5 % noise": yeast_noise,
    "shuttle": shuttle,
    "breast cancer, grades": wbc,
    "digits 0, 1, 6 + 8 % others": few_digits,
}
