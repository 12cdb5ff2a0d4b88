"""A table to try the methods on, and problems with a known answer."""

from __future__ import annotations

import csv
from importlib.resources import files
from math import inf, sqrt
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch, check_random_state

from rtkm._params import whole_rows

__all__ = ["load_wbc", "make_outlier_blobs"]


def load_wbc(
    *, return_X_y: bool = False, as_frame: bool = False, missing: float = 0.0
) -> Bunch | tuple[Any, Any]:
    """Load the Breast Cancer Wisconsin (original) table.

    699 biopsies with nine features graded 1 to 10: one cluster of 458 benign samples
    and 241 malignant ones, which count as its outliers. The table travels inside the
    package, in the row order of the UCI repository [1]_.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return `(data, target)` instead of a Bunch.
    as_frame : bool, default=False
        Return the data as a pandas DataFrame and the target as a Series.
    missing : float, default=0.0
        What the 16 missing values of `bare_nuclei` become: 0 as in the experiments
        published with RTKM [2]_, or for instance ``float("nan")``.

    Returns
    -------
    Bunch or tuple
        `data` (699, 9) of float64, `target` (699,) of 0 for benign and 1 for malignant,
        `feature_names`, `target_names`, and `DESCR` with source and license; with
        `as_frame` also `frame`, both in one.

    References
    ----------
    .. [1] W. H. Wolberg, "Breast Cancer Wisconsin (Original)", UCI Machine Learning
       Repository, 1990, https://doi.org/10.24432/C5HP4Z. License: CC BY 4.0.
    .. [2] O. Dorabiala, J. N. Kutz and A. Y. Aravkin, "Robust trimmed k-means",
       Pattern Recognition Letters 161, 2022, pp. 9-16.

    Examples
    --------
    >>> from rtkm.datasets import load_wbc
    >>> X, y = load_wbc(return_X_y=True)
    >>> X.shape, int(y.sum())
    ((699, 9), 241)
    """
    folder = files(__package__) / "data"
    table = (folder / "wbc.csv").read_text(encoding="utf-8")
    header, *rows = csv.reader(table.splitlines())
    target_names = ["benign", "malignant"]
    wbc = Bunch(
        data=np.array([[float(cell or missing) for cell in row[:-1]] for row in rows]),
        target=np.array([target_names.index(row[-1]) for row in rows]),
        feature_names=header[:-1],
        target_names=target_names,
        DESCR=(folder / "README.md").read_text(encoding="utf-8"),
    )
    if as_frame:
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "as_frame=True needs pandas; pip install pandas."
            ) from error
        wbc.data = pd.DataFrame(wbc.data, columns=wbc.feature_names)
        wbc.target = pd.Series(wbc.target, name=header[-1])
        wbc.frame = wbc.data.assign(**{header[-1]: wbc.target})
    return (wbc.data, wbc.target) if return_X_y else wbc


def make_outlier_blobs(
    n_samples: int = 1000,
    n_features: int = 2,
    n_clusters: int = 3,
    *,
    contamination: float = 0.1,
    separation: float = 5.0,
    far_clump: bool = False,
    scale: float = 1.0,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """Draw Gaussian blobs of unequal size and spread, among uniform outliers.

    Centers are normal around the origin; the sizes of the blobs follow a Dirichlet(5)
    distribution, with at least one row each, and their standard deviations are uniform
    between 0.6 and 1.4. Outliers are uniform on the bounding box of the blobs, widened
    by 60 % on each side; some may thus fall inside a blob.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows, outliers included.
    n_features : int, default=2
        Number of columns.
    n_clusters : int, default=3
        Number of blobs.
    contamination : float in [0, 1), default=0.1
        Share of outliers, rounded half up to whole rows.
    separation : float, default=5.0
        The standard deviation of the centers is `separation` times
        ``4 / sqrt(n_features)``.
    far_clump : bool, default=False
        Gather a third of the outliers in one tight clump, of standard deviation 0.1,
        far outside: its center is the upper corner of the widened box, moved outward by
        the length of the bounding box in every feature.
    scale : float, default=1.0
        Multiplies everything: the unit of the table.
    random_state : int, RandomState instance or None, default=None
        Pass an integer for the same problem every time.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The rows, in random order.
    labels : ndarray of shape (n_samples,)
        The blob of each row, -1 for outliers.
    centers : ndarray of shape (n_clusters, n_features)
        The centers the blobs were drawn around.

    Examples
    --------
    >>> from rtkm.datasets import make_outlier_blobs
    >>> X, labels, centers = make_outlier_blobs(200, contamination=0.05, random_state=0)
    >>> X.shape, int((labels == -1).sum()), centers.shape
    ((200, 2), 10, (3, 2))
    """
    for name, count in (
        ("n_samples", n_samples),
        ("n_features", n_features),
        ("n_clusters", n_clusters),
    ):
        if not isinstance(count, Integral) or count < 1:
            raise ValueError(_refusal(name, count, "a whole number of at least 1"))
    if not 0 <= contamination < 1:
        raise ValueError(_refusal("contamination", contamination, "a number in [0, 1)"))
    for name, value in (("separation", separation), ("scale", scale)):
        if not 0 < value < inf:
            raise ValueError(_refusal(name, value, "a positive number"))
    n_outliers = whole_rows(contamination, n_samples)
    n_clean = n_samples - n_outliers
    if n_clean < n_clusters:
        raise ValueError(
            f"n_clusters={n_clusters!r} needs at least {n_clusters} rows that are not "
            f"outliers; n_samples={n_samples!r} and contamination={contamination!r} "
            f"leave {n_clean}."
        )
    rng = check_random_state(random_state)
    clean, labels, centers = _blobs(rng, n_clean, n_features, n_clusters, separation)
    n_clump = whole_rows(1 / 3, n_outliers) if far_clump else 0
    outliers = _outliers(rng, clean, n_outliers, n_clump)
    X = np.concatenate([clean, outliers])
    labels = np.concatenate([labels, np.full(n_outliers, -1)])
    order = rng.permutation(n_samples)
    return scale * X[order], labels[order], scale * centers


def _blobs(
    rng: np.random.RandomState, n: int, d: int, k: int, separation: float
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """Draw rows, labels and centers, without outliers."""
    centers = rng.normal(scale=separation * 4 / sqrt(d), size=(k, d))
    sizes = 1 + rng.multinomial(n - k, rng.dirichlet(np.full(k, 5.0)))
    spreads = rng.uniform(0.6, 1.4, size=k)
    labels = np.repeat(np.arange(k), sizes)
    noise = rng.normal(size=(n, d))
    return centers[labels] + spreads[labels, None] * noise, labels, centers


def _outliers(
    rng: np.random.RandomState, clean: NDArray[np.float64], n: int, n_clump: int
) -> NDArray[np.float64]:
    """Draw uniform rows on the widened box, then the clump beyond its upper corner."""
    low, high = clean.min(axis=0), clean.max(axis=0)
    length = high - low
    d = len(length)
    spread = rng.uniform(low - 0.6 * length, high + 0.6 * length, (n - n_clump, d))
    clump = rng.normal(high + 1.6 * length, 0.1, size=(n_clump, d))
    return np.concatenate([spread, clump])


def _refusal(name: str, value: object, expected: str) -> str:
    return f"{name}={value!r} is not valid for make_outlier_blobs; expected {expected}."
