"""What the authors added to the tables: noise, and the starts of their runs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from rtkm.core.params import is_integer
from rtkm.datasets._lookup import PathLike, cache, find_files, places_looked_in
from rtkm.datasets._reading import read_array
from rtkm.datasets._source import check_content
from rtkm.datasets._tables import YEAST, fetch_yeast

N_NOISE = 150
NOISE_FILES = ("yeast_noise/data_yeast_noise.npy", "yeast_noise/labels_yeast_noise.npy")
NOISE_SHA256 = "5bc25c97b1e405e122130e421b80c5076bb2bb90f239cb8af2da7e9c1d8e80e7"
NOISE_LABELS_SHA256 = "08713dd4b2c782bb720073540d9ff90c621e41891d2d8ce9987becd20da8d72e"

STARTS = {
    "yeast": (
        (14, 103, 5),
        "57f4ac1f8685a49eb2bca40d27c4aea4c7f0790a08181f41077e0a42cd316f26",
    ),
    "scene": (
        (6, 294, 5),
        "9eee90254b83b8699ee4aa9a074e3ce4ca6c3e21a37e389a45f4fb309fd744a6",
    ),
}


def make_yeast_noise(
    n_noise: int = N_NOISE,
    random_state: int | np.random.RandomState | None = 0,
    *,
    path: PathLike | None = None,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Add rows of noise, outliers, to the yeast table.

    Every feature of a noise row is uniform on [mean, mean + 3 standard deviations] of
    that feature among the clean rows, the noise of the experiments published with RTKM
    [1]_.

    Parameters
    ----------
    n_noise : int, default=150
        Number of noise rows.
    random_state : int, RandomState instance or None, default=0
        Decides the noise. Not used with `path`.
    path : path, default=None
        A folder that holds ``data_yeast_noise.npy`` and ``labels_yeast_noise.npy``, or
        both in ``yeast_noise``: the 150 rows the authors drew, instead of new ones.
        They are looked for nowhere else.
    data_home, download_if_missing : path, default=None; bool, default=True
        As in :func:`fetch_yeast`, which finds the clean table.

    Returns
    -------
    X : ndarray of shape (2417 + n_noise, 103)
        The rows of :func:`fetch_yeast`, then the noise.
    labels : ndarray of shape (2417 + n_noise, 14)
        0 and 1; noise rows have no label.

    References
    ----------
    .. [1] O. Dorabiala, J. N. Kutz and A. Y. Aravkin, "Robust trimmed k-means",
       Pattern Recognition Letters 161, 2022, pp. 9-16.

    Examples
    --------
    >>> from rtkm.datasets import make_yeast_noise
    >>> X, labels = make_yeast_noise()  # doctest: +SKIP
    >>> X.shape, int((labels.sum(axis=1) == 0).sum())  # doctest: +SKIP
    ((2567, 103), 150)
    """
    if not is_integer(n_noise, at_least=0):
        raise ValueError(
            f"n_noise={n_noise!r} is not valid for make_yeast_noise; expected a whole "
            "number of at least 0."
        )
    if path is not None:
        if n_noise != N_NOISE:
            raise ValueError(
                f"n_noise={n_noise!r} and path do not go together; the authors' file "
                f"has {N_NOISE} rows of noise."
            )
        return _published_noise(path)
    X, labels = fetch_yeast(
        data_home=data_home, download_if_missing=download_if_missing, return_X_y=True
    )
    low = X.mean(axis=0)
    rng = check_random_state(random_state)
    noise = rng.uniform(low, low + 3 * X.std(axis=0), size=(n_noise, X.shape[1]))
    blank = np.zeros((n_noise, labels.shape[1]), dtype=np.int64)
    return np.concatenate([X, noise]), np.concatenate([labels, blank])


def _published_noise(
    path: PathLike,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Read the authors' files: features transposed, and a fifteenth label for noise."""
    data, marks = find_files(NOISE_FILES, path) or []
    n, d, k = YEAST.n_rows + N_NOISE, YEAST.n_features, YEAST.n_labels
    X = np.ascontiguousarray(read_array(data, (d, n)).T)
    labels = read_array(marks, (n, k + 1))
    check_content(X, NOISE_SHA256, "the features of yeast and noise", str(data))
    check_content(labels, NOISE_LABELS_SHA256, "the labels of both", str(marks))
    return X, labels[:, :k].astype(np.int64)


def fetch_saved_starts(
    name: str,
    *,
    data_home: PathLike | None = None,
    path: PathLike | None = None,
) -> NDArray[np.float64]:
    """Fetch the starting centers of the five runs published with RTKM.

    They cannot be downloaded: the file is looked for as :mod:`rtkm.datasets` says, but
    for OpenML.

    Parameters
    ----------
    name : {"yeast", "scene"}
        The table.
    data_home : path, default=None
        A folder that holds ``yeast/yeast_centers.npy`` or ``scene/scene_centers.npy``;
        by default ``rtkm`` in scikit-learn's.
    path : path, default=None
        The file, or a folder that holds it.

    Returns
    -------
    ndarray of shape (n_clusters, n_features, 5)
        (14, 103, 5) for yeast, (6, 294, 5) for scene; ``[:, :, 0]`` is `init` of the
        first run.

    Examples
    --------
    >>> from rtkm.datasets import fetch_saved_starts
    >>> fetch_saved_starts("yeast").shape  # doctest: +SKIP
    (14, 103, 5)
    """
    if name not in STARTS:
        raise ValueError(
            f"name={name!r} is not valid for fetch_saved_starts; expected 'yeast' or "
            "'scene'."
        )
    file = f"{name}/{name}_centers.npy"
    kept = cache(data_home) / file
    found = find_files((file,), path) or [kept]
    if not found[0].is_file():
        places = places_looked_in(file, cache(data_home), file)
        raise FileNotFoundError(
            f"the starting centers of {name} are not at hand: {places}, and they "
            f"cannot be downloaded; set RTKM_DATA to a folder that holds {file}, or "
            "pass path."
        )
    shape, sha256 = STARTS[name]
    starts = read_array(found[0], shape)
    check_content(starts, sha256, f"the published starts of {name}", str(found[0]))
    return starts
