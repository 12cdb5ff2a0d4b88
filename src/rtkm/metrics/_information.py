"""Information that one clustering with overlaps holds on another."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr

from rtkm.metrics._input import covers


def overlapping_nmi(truth: ArrayLike, prediction: ArrayLike) -> float:
    r"""Score overlapping clusters by their normalized mutual information.

    Each set is a yes or no for every row, with an entropy :math:`H(a)`. What is left of
    it once the other side is known is the least :math:`H(a \mid b)` over the sets *b*
    there [1]_. With the sums of both over the sets of a side, the score is [2]_

    .. math:: \frac{H(T) - H(T \mid Q) + H(Q) - H(Q \mid T)}{2 \max(H(T), H(Q))}.

    Parameters
    ----------
    truth, prediction : array-like of shape (n,) or (n, K)
        Integer labels, -1 for outliers, or a membership matrix of booleans or 0 and 1,
        in which a row without any membership is an outlier. Outliers are rows in no
        set; they form none of their own.

    Returns
    -------
    float
        Between 0 and 1: 1 for the same sets, about 0 for independent ones. The two
        sides may be exchanged.

    See Also
    --------
    omega_index : Correct for chance, pair by pair.

    Notes
    -----
    A set that is nearly the complement of another tells much about it, yet is not
    similar. As in [1]_, *b* counts only if :math:`h(p_{11}) + h(p_{00}) > h(p_{10}) +
    h(p_{01})`, where :math:`h(p) = -p \log p` and :math:`p_{uv}` is the share of rows
    with answers *u* in *a* and *v* in *b*; if no set does, :math:`H(a)` is left.

    On clusters without overlaps this is not the usual normalized mutual information,
    which compares whole partitions.

    Empty sets hold no information and are left out. A side without any set scores 0
    against one with sets and 1 against another without. If every set on both sides
    holds all rows, there is nothing to tell, and the score is 1.

    References
    ----------
    .. [1] A. Lancichinetti, S. Fortunato and J. Kertész, "Detecting the overlapping and
       hierarchical community structure in complex networks", New Journal of Physics 11,
       2009, 033015.
    .. [2] A. F. McDaid, D. Greene and N. Hurley, "Normalized mutual information to
       evaluate overlapping community finding algorithms", arXiv:1110.2515, 2011.

    Examples
    --------
    The third row is in one cluster too many:

    >>> from rtkm.metrics import overlapping_nmi
    >>> round(overlapping_nmi([0, 0, 1, 1], [[1, 0], [1, 0], [1, 1], [0, 1]]), 4)
    0.6556
    """
    T, Q = (M[:, M.any(axis=0)] for M in covers(truth, prediction))
    if T.shape[1] == 0 or Q.shape[1] == 0:
        return float(T.shape[1] == Q.shape[1])
    H_T, H_Q = _entropies(T), _entropies(Q)
    largest = max(H_T.sum(), H_Q.sum())
    if largest == 0:
        return 1.0

    shared = T.T.astype(np.float64) @ Q.astype(np.float64)
    only_T = T.sum(axis=0)[:, None] - shared
    only_Q = Q.sum(axis=0) - shared
    neither = len(T) - shared - only_T - only_Q
    same = entr(shared / len(T)) + entr(neither / len(T))
    different = entr(only_T / len(T)) + entr(only_Q / len(T))

    alike, joint = same > different, same + different
    left_T = np.where(alike, joint - H_Q, H_T[:, None]).min(axis=1)
    left_Q = np.where(alike, joint - H_T[:, None], H_Q).min(axis=0)
    told = ((H_T - left_T).sum() + (H_Q - left_Q).sum()) / 2
    return float(np.clip(told / largest, 0, 1))  # rounding


def _entropies(M: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Entropy of the yes or no of each column."""
    sizes, n = M.sum(axis=0), len(M)
    H: NDArray[np.float64] = entr(sizes / n) + entr((n - sizes) / n)
    return H
