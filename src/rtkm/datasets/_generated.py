"""Problems with a known answer, drawn at random."""

from __future__ import annotations

from math import inf, sqrt
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from rtkm.core.params import whole_rows


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


def make_clouds(
    n_samples: int = 20,
    centers: ArrayLike = ((-4.0, 0.0), (3.0, 0.0), (2.0, 5.0)),
    *,
    outliers: ArrayLike = ((-16.0, -8.0), (40.0, 0.0)),
    spread: float = 1.0,
    random_state: int | np.random.RandomState | None = 0,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw a round cloud around each center, and put outliers where they are wanted.

    The defaults are a picture of k-means failing: of three centers it spends one on the
    outlier at the right, so two clouds share another, and the outlier at the left drags
    the third. ``make_clouds(100, [[-1.5, 0], [1.5, 0]], outliers=[])`` makes two clouds
    that touch, to watch memberships settle.

    Parameters
    ----------
    n_samples : int, default=20
        Number of rows in each cloud.
    centers : array-like of shape (n_clusters, n_features)
        The middle of each cloud.
    outliers : array-like of shape (n_outliers, n_features)
        Rows to add as they are; may be empty.
    spread : float, default=1.0
        Standard deviation of the clouds in every feature.
    random_state : int, RandomState instance or None, default=0
        Pass an integer for the same problem every time.

    Returns
    -------
    X : ndarray of shape (n_clusters * n_samples + n_outliers, n_features)
        The clouds one after the other, then the outliers.
    labels : ndarray of shape (n_clusters * n_samples + n_outliers,)
        The cloud of each row, -1 for outliers.

    Examples
    --------
    >>> from rtkm import RTKM
    >>> from rtkm.datasets import make_clouds
    >>> X, labels = make_clouds()
    >>> model = RTKM(3, contamination=2, random_state=0).fit(X)
    >>> X[model.outlier_mask_].tolist()
    [[-16.0, -8.0], [40.0, 0.0]]
    """
    if not isinstance(n_samples, Integral) or n_samples < 1:
        raise ValueError(
            _refusal(
                "n_samples", n_samples, "a whole number of at least 1", "make_clouds"
            )
        )
    if not 0 < spread < inf:
        raise ValueError(_refusal("spread", spread, "a positive number", "make_clouds"))
    C = np.asarray(centers, dtype=np.float64)
    if C.ndim != 2 or not C.size or not np.isfinite(C).all():
        raise ValueError(
            f"centers has shape {C.shape}; expected finite numbers of shape "
            "(n_clusters, n_features)."
        )
    far = np.asarray(outliers, dtype=np.float64)
    if not far.size:
        far = far.reshape(0, C.shape[1])
    if far.ndim != 2 or far.shape[1] != C.shape[1] or not np.isfinite(far).all():
        raise ValueError(
            f"outliers has shape {far.shape}; expected finite numbers of shape "
            f"(n_outliers, {C.shape[1]})."
        )
    rng = check_random_state(random_state)
    rows = np.repeat(C, n_samples, axis=0)
    clouds = rows + spread * rng.normal(size=rows.shape)
    labels = np.repeat(np.arange(len(C)), n_samples)
    return np.concatenate([clouds, far]), np.concatenate(
        [labels, np.full(len(far), -1)]
    )


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


def _refusal(
    name: str, value: object, expected: str, maker: str = "make_outlier_blobs"
) -> str:
    return f"{name}={value!r} is not valid for {maker}; expected {expected}."
