"""Scores of outliers alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

from rtkm.metrics._input import check_one_per_row, check_same_rows, mask, undefined


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
    outlier_roc_auc : Score the order of the rows, whatever the threshold.

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
    truth, prediction = mask(truth, "truth"), mask(prediction, "prediction")
    check_same_rows(truth=truth, prediction=prediction)
    if missing := _missing_class(truth, "truth"):
        return undefined("outlier_me", missing)
    false_positive_rate = prediction[~truth].mean()
    true_positive_rate = prediction[truth].mean()
    return float(np.hypot(false_positive_rate, 1 - true_positive_rate))


def outlier_roc_auc(truth_mask: ArrayLike, scores: ArrayLike) -> float:
    """Score an order of the rows by the area under its ROC curve.

    It is the probability that an outlier drawn at random scores above an inlier drawn
    at random, ties counted half [1]_; no threshold is involved.

    Parameters
    ----------
    truth_mask : array-like of bool, shape (n,)
        True where a row is an outlier. Only booleans are accepted, as in `outlier_me`.
    scores : array-like of shape (n,)
        Numbers, larger for more outlying rows, such as the fitted attribute
        ``outlier_scores_``. They may be infinite but not NaN; only their order counts.

    Returns
    -------
    float
        1 if every outlier is above every inlier, about 0.5 for a random order, 0 if it
        is reversed. NaN, with a warning, if the truth has no outliers or nothing else.

    See Also
    --------
    outlier_average_precision : Look at the top of the order.
    outlier_me : Score outliers at a given threshold.

    References
    ----------
    .. [1] T. Fawcett, "An introduction to ROC analysis", Pattern Recognition Letters
       27(8), 2006, pp. 861-874.

    Examples
    --------
    Of the six pairs of an outlier and an inlier, one is in the wrong order:

    >>> from rtkm.metrics import outlier_roc_auc
    >>> truth = [False, True, False, True, False]
    >>> round(outlier_roc_auc(truth, [0.1, 0.7, 0.8, float("inf"), 0.2]), 4)
    0.8333
    """
    truth, ranks = _ranked(truth_mask, scores)
    if missing := _missing_class(truth, "truth_mask"):
        return undefined("outlier_roc_auc", missing)
    return float(roc_auc_score(truth, ranks))


def outlier_average_precision(truth_mask: ArrayLike, scores: ArrayLike) -> float:
    r"""Score an order of the rows by its average precision.

    Going down the order, it is the share of outliers among the rows so far, averaged
    over the outliers as they come; tied rows come together. Unlike the area under the
    ROC curve, it falls if even a few of very many inliers come first [1]_.

    Parameters
    ----------
    truth_mask : array-like of bool, shape (n,)
        True where a row is an outlier. Only booleans are accepted, as in `outlier_me`.
    scores : array-like of shape (n,)
        Numbers, larger for more outlying rows, such as the fitted attribute
        ``outlier_scores_``. They may be infinite but not NaN; only their order counts.

    Returns
    -------
    float
        1 if every outlier is above every inlier, about the share of outliers for a
        random order. NaN, with a warning, if the truth has no outliers or nothing else.

    See Also
    --------
    outlier_roc_auc : Weigh outliers and inliers alike.

    References
    ----------
    .. [1] J. Davis and M. Goadrich, "The relationship between precision-recall and ROC
       curves", International Conference on Machine Learning, 2006, pp. 233-240.

    Examples
    --------
    The outliers come first and third: (1/1 + 2/3) / 2.

    >>> from rtkm.metrics import outlier_average_precision
    >>> truth = [False, True, False, True, False]
    >>> round(outlier_average_precision(truth, [0.1, 0.7, 0.8, float("inf"), 0.2]), 4)
    0.8333
    """
    truth, ranks = _ranked(truth_mask, scores)
    if missing := _missing_class(truth, "truth_mask"):
        return undefined("outlier_average_precision", missing)
    return float(average_precision_score(truth, ranks))


def _ranked(
    truth_mask: ArrayLike, scores: ArrayLike
) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Admit a mask and scores, and put ranks, which are finite, in place of these."""
    truth, values = mask(truth_mask, "truth_mask"), np.asarray(scores)
    if values.dtype.kind not in "iuf":
        raise TypeError(
            f"scores has dtype {values.dtype}; expected numbers, larger for more "
            "outlying rows, such as outlier_scores_."
        )
    check_one_per_row(values, "scores")
    check_same_rows(truth_mask=truth, scores=values)
    n_missing = np.isnan(values).sum()
    if n_missing:
        raise ValueError(
            f"scores holds NaN in {n_missing} rows; expected a number in each, inf for "
            "a row beyond all others."
        )
    return truth, np.unique(values, return_inverse=True)[1]


def _missing_class(truth: NDArray[np.bool_], name: str) -> str:
    """Say which class the truth lacks, if any."""
    if not truth.any():
        return f"{name} has no outliers"
    return f"{name} has no inliers" if truth.all() else ""
