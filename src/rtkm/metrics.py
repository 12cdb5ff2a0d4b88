"""Scores of a clustering with overlaps and outliers against a known truth."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.exceptions import UndefinedMetricWarning

__all__ = ["average_f1", "outlier_me"]


def average_f1(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    matching: Literal["assignment", "best"] = "assignment",
) -> float:
    r"""Score predicted clusters against true ones by their average F1.

    Clusters are sets of rows; they may overlap and need not cover every row. Each true
    set is matched with a predicted one and contributes

    .. math:: F_1(a, b) = \frac{2 |a \cap b|}{|a| + |b|},

    or 0 if it is left unmatched; the sum is divided by the number of true sets. If the
    truth has outliers they form one more set, matched with the predicted outliers and
    with nothing else.

    Parameters
    ----------
    truth, prediction : array-like of shape (n,) or (n, K)
        Integer labels, -1 for outliers, or a membership matrix of booleans or 0 and 1,
        in which a row without any membership is an outlier. The two may differ in form
        and in the number of clusters.
    matching : {"assignment", "best"}, default="assignment"
        "assignment" matches the sets one to one so that the score is greatest [1]_;
        "best" gives each true set its best predicted set, repeats allowed [2]_, and is
        never below "assignment".

    Returns
    -------
    float
        Between 0 and 1, where 1 is a perfect prediction.

    See Also
    --------
    outlier_me : Score the outliers alone.

    Notes
    -----
    Two empty sets have an F1 of 0, so an empty column of a true membership matrix
    lowers the score; a label that does not occur is no set. Outliers belong to no other
    set before the matching, whereas the program published with [1]_ removes them after
    it and matches by a heuristic that can fall short of the optimum.

    The two matchings are not comparable. Neither is a score on overlapping data by
    itself: predicting every row in every cluster can score well.

    References
    ----------
    .. [1] O. Dorabiala, J. N. Kutz and A. Y. Aravkin, "Robust trimmed k-means",
       Pattern Recognition Letters 161, 2022, pp. 9-16.
    .. [2] J. J. Whang, I. S. Dhillon and D. F. Gleich, "Non-exhaustive, overlapping
       k-means", SIAM International Conference on Data Mining, 2015, pp. 936-944.

    Examples
    --------
    Numbering the clusters differently changes nothing:

    >>> from rtkm.metrics import average_f1
    >>> average_f1([0, 0, 1, 1, -1], [1, 1, 0, 0, -1])
    1.0

    The second row is in both true clusters, so one membership is missed:

    >>> average_f1([[1, 0], [1, 1], [0, 1], [0, 1]], [0, 0, 1, 1])
    0.9
    """
    if matching not in ("assignment", "best"):
        raise ValueError(
            f"matching={matching!r} is not valid for average_f1; "
            "expected 'assignment' or 'best'."
        )
    T, Q = _memberships(truth, "truth"), _memberships(prediction, "prediction")
    _check_same_rows(T, Q)

    f1 = _f1(T, Q)
    if matching == "best":
        total = f1.max(axis=1, initial=0.0).sum()
    else:
        total = f1[linear_sum_assignment(f1, maximize=True)].sum()
    n_sets = T.shape[1]

    outliers, flagged = T.sum(axis=1) == 0, Q.sum(axis=1) == 0
    if outliers.any():
        total += _f1(outliers[:, None], flagged[:, None]).item()
        n_sets += 1
    return float(total / n_sets)


def outlier_me(truth: ArrayLike, prediction: ArrayLike) -> float:
    r"""Score predicted outliers by their distance from perfect detection.

    With the false and true positive rates of the class "outlier" [1]_,

    .. math:: M_e = \sqrt{FPR^2 + (1 - TPR)^2}.

    Parameters
    ----------
    truth, prediction : array-like of bool, shape (n,)
        True where a row is an outlier. Only booleans are accepted, because 0/1 and 1/-1
        mean opposite things in different programs.

    Returns
    -------
    float
        0 for a perfect prediction, 1 if nothing is flagged, :math:`\sqrt 2` if
        everything is wrong. NaN, with a warning, if the truth has no outliers or
        nothing else.

    See Also
    --------
    average_f1 : Score clusters and outliers together.

    References
    ----------
    .. [1] G. Gan and M. K.-P. Ng, "k-means clustering with outlier removal", Pattern
       Recognition Letters 90, 2017, pp. 8-14.

    Examples
    --------
    One of two outliers is found, and one of four inliers is flagged:

    >>> import numpy as np
    >>> from rtkm.metrics import outlier_me
    >>> labels = np.array([0, -1, 1, -1, 1, 0])
    >>> truth = np.array([False, False, False, True, False, True])
    >>> round(outlier_me(truth, labels == -1), 6)
    0.559017
    """
    truth, prediction = _mask(truth, "truth"), _mask(prediction, "prediction")
    _check_same_rows(truth, prediction)
    for name, present in (("outliers", truth.any()), ("inliers", not truth.all())):
        if not present:
            warnings.warn(
                f"truth has no {name}, so outlier_me is undefined; returning NaN.",
                UndefinedMetricWarning,
                stacklevel=2,
            )
            return float("nan")
    false_positive_rate = prediction[~truth].mean()
    true_positive_rate = prediction[truth].mean()
    return float(np.hypot(false_positive_rate, 1 - true_positive_rate))


def _f1(T: NDArray[np.bool_], Q: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Score every column of T (a row of the result) with every column of Q."""
    shared = T.T.astype(np.float64) @ Q.astype(np.float64)
    sizes = T.sum(axis=0)[:, None] + Q.sum(axis=0)
    f1: NDArray[np.float64] = 2 * shared / np.maximum(sizes, 1)  # 0 if both are empty
    return f1


def _memberships(values: ArrayLike, name: str) -> NDArray[np.bool_]:
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
    memberships: NDArray[np.bool_] = array[:, None] == np.unique(array[array >= 0])
    return memberships


def _mask(values: ArrayLike, name: str) -> NDArray[np.bool_]:
    """Admit one boolean per row, and nothing else."""
    mask = np.asarray(values)
    if mask.dtype != bool:
        raise TypeError(
            f"{name} has dtype {mask.dtype}; expected a boolean mask of the outliers, "
            "such as labels == -1."
        )
    if mask.ndim != 1:
        raise ValueError(f"{name} has shape {mask.shape}; expected one value per row.")
    return mask


def _check_same_rows(truth: NDArray[np.bool_], prediction: NDArray[np.bool_]) -> None:
    if len(truth) != len(prediction):
        raise ValueError(
            f"truth has {len(truth)} rows and prediction {len(prediction)}; "
            "expected the same rows in both."
        )
