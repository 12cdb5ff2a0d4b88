"""The table that travels inside the package."""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from rtkm.datasets._frames import hand_over


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
    folder = files("rtkm") / "data"
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
    return hand_over(wbc, header[-1], return_X_y, as_frame)
