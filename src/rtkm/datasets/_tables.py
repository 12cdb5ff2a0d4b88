"""The tables of the paper that do not travel with the package."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from rtkm.datasets._frames import hand_over
from rtkm.datasets._lookup import PathLike, find_table
from rtkm.datasets._source import Source

SHUTTLE = Source(
    name="shuttle",
    files=("shuttle.trn",),
    n_rows=43_500,
    n_features=9,
    n_labels=1,
    sha256="45e3c4b200ed4284288ca1ab3f2f00fbb165f6e6ae54de778957bc8366ff91f4",
    labels_sha256="a4ee556af1c9054c486a3f05ae50f7842ab81676fd7329a61630d165daa10e8d",
    openml_id=40685,  # 58 000 rows: training and test part
    other_start=14_500,
)
YEAST = Source(
    name="yeast",
    files=("yeast/yeast.arff",),
    n_rows=2417,
    n_features=103,
    n_labels=14,
    sha256="6d73f6e26d7c2671ad5790bfa654afe441d06b47fb5f5beb83e431851d126fee",
    labels_sha256="c87b43be1dc57f15c22cfff6964741888ac23091be13b103822c47e6cb01f04b",
    openml_id=40597,
    other_start=1500,
)
SCENE = Source(
    name="scene",
    files=("scene/scene-train.arff", "scene/scene-test.arff"),
    n_rows=2407,
    n_features=294,
    n_labels=6,
    sha256="8f2fd0c94e29f906e9d7df4a71f9a8e28c156b67d88df8c3c4e8b3c8a202aa4c",
    labels_sha256="0e359f55a05b7dddaeec514423199832281ef4d3d419be86e2a0d983ace8df9b",
    openml_id=40595,
    other_start=1196,
)

SHUTTLE_CLASSES = [
    "Rad Flow",
    "Fpv Close",
    "Fpv Open",
    "High",
    "Bypass",
    "Bpv Close",
    "Bpv Open",
]
RARE_CLASSES = (2, 3, 6, 7)
SCENES = ["Beach", "Sunset", "FallFoliage", "Field", "Mountain", "Urban"]


def fetch_shuttle(
    *,
    data_home: PathLike | None = None,
    path: PathLike | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
    with_class_column: bool = False,
) -> Bunch | tuple[Any, Any]:
    """Fetch the training part of the Statlog Shuttle table.

    43 500 states of a space shuttle's radiators, nine features and seven classes: three
    large ones, the clusters, and four rare ones with 186 rows together, which count as
    outliers [1]_. :mod:`rtkm.datasets` says where it is looked for.

    Parameters
    ----------
    data_home : path, default=None
        Folder of the cache; by default ``rtkm`` in scikit-learn's.
    path : path, default=None
        The file ``shuttle.trn``, or a folder that holds it.
    download_if_missing : bool, default=True
        Fetch the table from OpenML if it is not at hand.
    return_X_y : bool, default=False
        Return `(data, target)` instead of a Bunch.
    as_frame : bool, default=False
        Return the data as a pandas DataFrame and the target as a Series.
    with_class_column : bool, default=False
        Append the class as a tenth feature, where the program published with RTKM [2]_
        left it. It tells the answer: for comparison with the published figures only.

    Returns
    -------
    Bunch or tuple
        `data` (43500, 9) of float64, `target` (43500,) of classes 1 to 7,
        `outlier_mask`, True for the classes 2, 3, 6 and 7, `feature_names`,
        `target_names`, `DESCR`, and `path`, the file it was read from; with `as_frame`
        also `frame`, both in one.

    References
    ----------
    .. [1] J. Catlett, "Statlog (Shuttle)", UCI Machine Learning Repository, data set
       148, https://archive.ics.uci.edu/dataset/148.
    .. [2] O. Dorabiala, J. N. Kutz and A. Y. Aravkin, "Robust trimmed k-means",
       Pattern Recognition Letters 161, 2022, pp. 9-16.

    Examples
    --------
    >>> from rtkm.datasets import fetch_shuttle
    >>> shuttle = fetch_shuttle()  # doctest: +SKIP
    >>> shuttle.data.shape, int(shuttle.outlier_mask.sum())  # doctest: +SKIP
    ((43500, 9), 186)
    """
    X, labels, origin = find_table(SHUTTLE, path, data_home, download_if_missing)
    target = labels.ravel().astype(np.int64)
    shuttle = Bunch(
        data=np.column_stack([X, target]) if with_class_column else X,
        target=target,
        outlier_mask=np.isin(target, RARE_CLASSES),
        feature_names=_numbered("A", 9) + ["class"] * with_class_column,
        target_names=list(SHUTTLE_CLASSES),
        DESCR=(
            "Statlog Shuttle, training part: 43 500 rows, 9 features, classes 1 to 7. "
            "Source: J. Catlett, UCI Machine Learning Repository, data set 148."
        ),
        path=origin,
    )
    return hand_over(shuttle, "class", return_X_y, as_frame)


def fetch_yeast(
    *,
    data_home: PathLike | None = None,
    path: PathLike | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Bunch | tuple[Any, Any]:
    """Fetch the yeast table, genes in several functional classes each.

    2417 genes with 103 features (micro-array expressions and phylogenetic profiles) and
    14 classes [1]_, of which a gene has 4.237 on average; in the row order of Mulan's
    ``yeast.arff`` [2]_, test rows first. :mod:`rtkm.datasets` says where it is looked
    for.

    Parameters
    ----------
    data_home : path, default=None
        Folder of the cache; by default ``rtkm`` in scikit-learn's.
    path : path, default=None
        The file ``yeast.arff``, or a folder that holds it.
    download_if_missing : bool, default=True
        Fetch the table from OpenML if it is not at hand.
    return_X_y : bool, default=False
        Return `(data, target)` instead of a Bunch.
    as_frame : bool, default=False
        Return data and target as pandas DataFrames.

    Returns
    -------
    Bunch or tuple
        `data` (2417, 103) of float64, `target` (2417, 14) of 0 and 1, `feature_names`,
        `target_names`, `DESCR`, and `path`, the file it was read from; with `as_frame`
        also `frame`, both in one.

    References
    ----------
    .. [1] A. Elisseeff and J. Weston, "A kernel method for multi-labelled
       classification", Advances in Neural Information Processing Systems 14, 2001,
       pp. 681-687.
    .. [2] G. Tsoumakas, E. Spyromitros-Xioufis, J. Vilcek and I. Vlahavas, "Mulan: a
       Java library for multi-label learning", Journal of Machine Learning Research 12,
       2011, pp. 2411-2414.

    Examples
    --------
    >>> from rtkm.datasets import fetch_yeast
    >>> X, Y = fetch_yeast(return_X_y=True)  # doctest: +SKIP
    >>> X.shape, Y.shape, round(float(Y.sum(axis=1).mean()), 3)  # doctest: +SKIP
    ((2417, 103), (2417, 14), 4.237)
    """
    X, labels, origin = find_table(YEAST, path, data_home, download_if_missing)
    yeast = Bunch(
        data=X,
        target=labels.astype(np.int64),
        feature_names=_numbered("Att", 103),
        target_names=_numbered("Class", 14),
        DESCR=(
            "Yeast: 2417 genes, 103 features, 14 classes that overlap. Source: "
            "A. Elisseeff and J. Weston, 2001, as published with Mulan."
        ),
        path=origin,
    )
    return hand_over(yeast, yeast.target_names, return_X_y, as_frame)


def fetch_scene(
    *,
    data_home: PathLike | None = None,
    path: PathLike | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
) -> Bunch | tuple[Any, Any]:
    """Fetch the scene table, pictures that may show several kinds of scenery.

    2407 pictures with 294 color features and six kinds of scenery [1]_, of which a
    picture shows 1.074 on average; as published with Mulan [2]_, the 1211 training rows
    first. :mod:`rtkm.datasets` says where it is looked for.

    Parameters
    ----------
    data_home : path, default=None
        Folder of the cache; by default ``rtkm`` in scikit-learn's.
    path : path, default=None
        A folder that holds ``scene-train.arff`` and ``scene-test.arff``.
    download_if_missing : bool, default=True
        Fetch the table from OpenML if it is not at hand.
    return_X_y : bool, default=False
        Return `(data, target)` instead of a Bunch.
    as_frame : bool, default=False
        Return data and target as pandas DataFrames.

    Returns
    -------
    Bunch or tuple
        `data` (2407, 294) of float64, `target` (2407, 6) of 0 and 1, `feature_names`,
        `target_names`, `DESCR`, and `path`, the (first) file it was read from; with
        `as_frame` also `frame`, both in one.

    References
    ----------
    .. [1] M. R. Boutell, J. Luo, X. Shen and C. M. Brown, "Learning multi-label scene
       classification", Pattern Recognition 37(9), 2004, pp. 1757-1771.
    .. [2] G. Tsoumakas, E. Spyromitros-Xioufis, J. Vilcek and I. Vlahavas, "Mulan: a
       Java library for multi-label learning", Journal of Machine Learning Research 12,
       2011, pp. 2411-2414.

    Examples
    --------
    >>> from rtkm.datasets import fetch_scene
    >>> X, Y = fetch_scene(return_X_y=True)  # doctest: +SKIP
    >>> X.shape, Y.shape, round(float(Y.sum(axis=1).mean()), 3)  # doctest: +SKIP
    ((2407, 294), (2407, 6), 1.074)
    """
    X, labels, origin = find_table(SCENE, path, data_home, download_if_missing)
    scene = Bunch(
        data=X,
        target=labels.astype(np.int64),
        feature_names=_numbered("Att", 294),
        target_names=list(SCENES),
        DESCR=(
            "Scene: 2407 pictures, 294 features, 6 kinds of scenery that may occur "
            "together. Source: M. R. Boutell et al., 2004, as published with Mulan."
        ),
        path=origin,
    )
    return hand_over(scene, scene.target_names, return_X_y, as_frame)


def _numbered(word: str, count: int) -> list[str]:
    return [f"{word}{i}" for i in range(1, count + 1)]
