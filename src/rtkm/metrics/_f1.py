"""F1 of matched sets, and what to read it with."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from rtkm.metrics._input import covers, memberships

TIE = 1e-9  # sums of F1 that differ by less count as equal


def average_f1(
    truth: ArrayLike,
    prediction: ArrayLike,
    *,
    matching: Literal["assignment", "best"] = "assignment",
    average: Literal["macro", "micro"] = "macro",
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
        never below "assignment" in the macro average.
    average : {"macro", "micro"}, default="macro"
        "macro" counts every true set alike, as above. "micro" counts every membership
        alike: with the matching of "macro", it is twice the sum of
        :math:`|a \cap b|` over the sum of :math:`|a| + |b|`, where sets left unmatched
        on either side add their size below.

    Returns
    -------
    float
        Between 0 and 1, where 1 is a perfect prediction.

    See Also
    --------
    trivial_f1 : The score to beat on overlapping data.
    outlier_me : Score the outliers alone.

    Notes
    -----
    Two empty sets have an F1 of 0, so an empty column of a true membership matrix
    lowers the macro average; a label that does not occur is no set. Outliers belong to
    no other set before the matching, whereas the program published with [1]_ removes
    them after it and matches by a heuristic that can fall short of the optimum.

    A predicted set left unmatched costs nothing in the macro average. Its rows are
    false positives, so the micro average counts them. It is then, with "assignment",
    twice the matched memberships over all memberships, and on labels without outliers
    the accuracy after matching. The matching is still the one that is best for the
    macro average; where several are, the one with the greatest overlap counts, and
    with "best" ties are further broken so that as much as possible is matched.

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

    One row of four is wrong:

    >>> average_f1([0, 0, 0, 1], [0, 0, 1, 1], average="micro")
    0.75
    """
    _check_choice("matching", matching, ("assignment", "best"))
    _check_choice("average", average, ("macro", "micro"))
    T, Q = covers(truth, prediction)

    count = _macro if average == "macro" else _micro
    score, whole = count(T, Q, matching)
    outliers, flagged = T.sum(axis=1) == 0, Q.sum(axis=1) == 0
    if outliers.any():
        matched, size = count(outliers[:, None], flagged[:, None], matching)
        score, whole = score + matched, whole + size
    return float(score / whole)


def trivial_f1(
    truth: ArrayLike,
    *,
    matching: Literal["assignment", "best"] = "assignment",
    average: Literal["macro", "micro"] = "macro",
) -> float:
    r"""Score the trivial answer "every row in every cluster".

    It is the `average_f1` of as many clusters as the truth has, each of all n rows, and
    no outliers. In the macro average a true set *a* adds :math:`2 |a| / (|a| + n)` to
    the sum, so large overlapping sets make it high.

    Parameters
    ----------
    truth : array-like of shape (n,) or (n, K)
        Labels or memberships, as in `average_f1`.
    matching, average : str
        As in `average_f1`. The matching makes no difference here.

    Returns
    -------
    float
        Between 0 and 1. A prediction that scores no more has not shown its worth.

    See Also
    --------
    average_f1 : The score itself.

    Examples
    --------
    Here the trivial answer does better than one that finds two thirds of each cluster
    and nothing wrong:

    >>> from rtkm.metrics import average_f1, trivial_f1
    >>> truth = [[1, 0], [1, 1], [1, 1], [0, 1]]
    >>> round(trivial_f1(truth), 4)
    0.8571
    >>> average_f1(truth, [0, 0, 1, 1])
    0.8
    """
    T = memberships(truth, "truth")
    # one cluster at least, or else every row would be a predicted outlier
    everything = np.ones((len(T), max(T.shape[1], 1)), dtype=bool)
    return average_f1(T, everything, matching=matching, average=average)


def cardinality(prediction: ArrayLike) -> float:
    """Count the clusters of a row, on average.

    It is the label cardinality [1]_: the number of memberships over the number of rows,
    outliers included with 0. It is 1 for labels without outliers.

    Parameters
    ----------
    prediction : array-like of shape (n,) or (n, K)
        Labels or memberships, as in `average_f1`; a truth is as welcome.

    Returns
    -------
    float
        Between 0 and K.

    See Also
    --------
    trivial_f1 : Why a prediction of high cardinality can score well.

    References
    ----------
    .. [1] G. Tsoumakas and I. Katakis, "Multi-label classification: an overview",
       International Journal of Data Warehousing and Mining 3(3), 2007, pp. 1-13.

    Examples
    --------
    A row in one cluster, a row in two, one in three, and an outlier:

    >>> from rtkm.metrics import cardinality
    >>> cardinality([[1, 0, 0], [0, 1, 1], [1, 1, 1], [0, 0, 0]])
    1.5
    """
    Q = memberships(prediction, "prediction")
    return float(Q.sum() / len(Q))


def _macro(
    T: NDArray[np.bool_], Q: NDArray[np.bool_], matching: str
) -> tuple[float, int]:
    """Sum the F1 of the matched sets, and count the true sets."""
    f1 = _f1(T, Q)[0]
    if matching == "best":
        total = f1.max(axis=1, initial=0.0).sum()
    else:
        total = f1[linear_sum_assignment(f1, maximize=True)].sum()
    return total, T.shape[1]


def _micro(
    T: NDArray[np.bool_], Q: NDArray[np.bool_], matching: str
) -> tuple[float, float]:
    """Sum twice the overlaps of the matched sets, and the sizes of all sets."""
    f1, shared = _f1(T, Q)
    if matching == "assignment":
        # else the order of the clusters would choose among equal sums
        preferred = f1 + TIE * shared / max(len(T) * T.shape[1], 1)
        matched = shared[linear_sum_assignment(preferred, maximize=True)].sum()
        return 2 * matched, T.sum() + Q.sum()

    tied = (f1 == f1.max(axis=1, keepdims=True, initial=0.0)) & (f1 > 0)
    overlap = (tied * shared).max(axis=1, keepdims=True, initial=0.0)
    tied &= shared == overlap
    sizes = tied * Q.sum(axis=0)  # equal F1 and overlap: one size in each row
    used = sizes[linear_sum_assignment(sizes, maximize=True)].sum()
    partners = sizes.max(axis=1, initial=0).sum()
    return 2 * overlap.sum(), T.sum() + partners + Q.sum() - used


def _f1(
    T: NDArray[np.bool_], Q: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Score every column of T (a row of the result) with every column of Q.

    Also gives the rows they share.
    """
    shared: NDArray[np.float64] = T.T.astype(np.float64) @ Q.astype(np.float64)
    sizes = T.sum(axis=0)[:, None] + Q.sum(axis=0)
    return 2 * shared / np.maximum(sizes, 1), shared  # 0 if both are empty


def _check_choice(name: str, value: str, choices: tuple[str, str]) -> None:
    if value not in choices:
        raise ValueError(
            f"{name}={value!r} is not valid for average_f1; "
            f"expected {choices[0]!r} or {choices[1]!r}."
        )
