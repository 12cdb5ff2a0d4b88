"""Agreement over pairs of rows, corrected for chance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rtkm.metrics._input import covers, undefined

BLOCK = 2**20  # pairs of patterns looked at in one go, some 8 MB an array


class InlierAgreement(NamedTuple):
    """What `ari_on_inliers` returns."""

    ari: float
    coverage: float


def omega_index(truth: ArrayLike, prediction: ArrayLike) -> float:
    r"""Score overlapping clusters by how often pairs of rows meet.

    A pair of rows agrees if it shares as many true clusters as predicted ones. The
    index [1]_ sets the share of pairs that agree against what independent clusterings
    with the same counts would reach by chance,

    .. math:: \omega = \frac{A - E}{1 - E}, \qquad E = \sum_j p_j q_j,

    where :math:`p_j` and :math:`q_j` are the shares of pairs in exactly *j* common true
    and predicted clusters. For clusters that do not overlap it is the adjusted Rand
    index, with every outlier a cluster of its own.

    Parameters
    ----------
    truth, prediction : array-like of shape (n,) or (n, K)
        Integer labels, -1 for outliers, or a membership matrix of booleans or 0 and 1,
        in which a row without any membership is an outlier. An outlier shares no
        cluster with any row.

    Returns
    -------
    float
        1 if all pairs agree, about 0 for independent clusterings; below 0 if they agree
        less than by chance. NaN, with a warning, if there is a single row.

    See Also
    --------
    average_f1 : Compare sets, not pairs.
    ari_on_inliers : Leave the outliers out.

    Notes
    -----
    Rows with the same true and the same predicted clusters are counted together. With m
    distinct such patterns the cost is of order n log n + m² (K + K'), in memory that
    grows with n and m but not with their squares. Overlapping clusters can have as many
    patterns as rows.

    Should all pairs agree by chance too (E = 1), they agree, and the index is 1.

    References
    ----------
    .. [1] L. M. Collins and C. W. Dent, "Omega: a general formulation of the Rand index
       of cluster recovery suitable for non-disjoint solutions", Multivariate Behavioral
       Research 23(2), 1988, pp. 231-242.

    Examples
    --------
    Three of the six pairs agree, and chance alone would give 16/36:

    >>> from rtkm.metrics import omega_index
    >>> truth = [[1, 0], [1, 0], [1, 1], [0, 1]]
    >>> prediction = [[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 1, 1]]
    >>> omega_index(truth, prediction)
    0.1
    """
    T, Q = covers(truth, prediction)
    if len(T) < 2:
        return undefined("omega_index", "one row has no pairs")
    return _beyond_chance(_pair_counts(T, Q))


def ari_on_inliers(truth: ArrayLike, prediction: ArrayLike) -> InlierAgreement:
    """Score clusters by the adjusted Rand index where neither side sees an outlier.

    The index [1]_ of these rows says nothing of the others, so it comes with their
    share: a prediction can score 1 by keeping only the rows that are easy.

    Parameters
    ----------
    truth, prediction : array-like of shape (n,) or (n, K)
        Labels or memberships, as in `omega_index`, but at most one cluster a row.

    Returns
    -------
    ari : float
        1 if the clusters are the same on the rows that are inliers on both sides, about
        0 if they are independent there. NaN, with a warning, if there are fewer than
        two such rows.
    coverage : float
        The share of such rows among all.

    See Also
    --------
    omega_index : Take overlaps, and outliers as rows that share nothing.
    outlier_me : Score the outliers alone.

    References
    ----------
    .. [1] L. Hubert and P. Arabie, "Comparing partitions", Journal of Classification 2,
       1985, pp. 193-218.

    Examples
    --------
    >>> from rtkm.metrics import ari_on_inliers
    >>> ari_on_inliers([0, 0, 1, 1, 1, -1, -1, 1], [1, 1, 0, 0, -1, 0, -1, -1])
    InlierAgreement(ari=1.0, coverage=0.5)
    """
    T, Q = covers(truth, prediction)
    for name, M in (("truth", T), ("prediction", Q)):
        _check_disjoint(M, name)
    inliers = T.any(axis=1) & Q.any(axis=1)
    coverage = float(inliers.mean())
    if inliers.sum() < 2:
        reason = "fewer than two rows are inliers on both sides"
        return InlierAgreement(undefined("ari_on_inliers", reason), coverage)

    T, Q = T[inliers], Q[inliers]
    together = _pairs_within(T.T.astype(np.float64) @ Q.astype(np.float64))
    in_truth, in_prediction = _pairs_within(T.sum(axis=0)), _pairs_within(Q.sum(axis=0))
    apart = _pairs_within(inliers.sum()) - in_truth - in_prediction + together
    pairs = [[apart, in_prediction - together], [in_truth - together, together]]
    return InlierAgreement(_beyond_chance(np.array(pairs)), coverage)


def _beyond_chance(pairs: NDArray[np.int64]) -> float:
    """Correct the agreement in a table of pairs by true and predicted counts."""
    total, agreeing = int(pairs.sum()), int(pairs.trace())
    if agreeing == total:
        return 1.0
    # whole numbers of any size: nothing is lost in the differences
    margins = zip(pairs.sum(axis=1).tolist(), pairs.sum(axis=0).tolist(), strict=False)
    chance = sum(in_truth * in_prediction for in_truth, in_prediction in margins)
    return (agreeing * total - chance) / (total**2 - chance)


def _pair_counts(T: NDArray[np.bool_], Q: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count the pairs of rows that share i true and j predicted clusters."""
    both = np.hstack([T, Q])
    packed = np.packbits(both, axis=1)
    _, rows, repeats = np.unique(packed, axis=0, return_index=True, return_counts=True)
    patterns = both[rows].astype(np.float64)

    # as digits: one product then gives i * base + j
    shape = T.sum(axis=1).max() + 1, Q.sum(axis=1).max() + 1
    digits = patterns * np.repeat([shape[1], 1], [T.shape[1], Q.shape[1]])
    n_cells = shape[0] * shape[1]

    # every row with itself, to be taken away
    own = (digits * patterns).sum(axis=1).astype(np.intp)
    ordered = -np.bincount(own, repeats, n_cells).astype(np.int64)
    height = max(BLOCK // len(patterns), 1)
    for start in range(0, len(patterns), height):
        block = slice(start, start + height)
        cells = (digits[block] @ patterns[start:].T).astype(np.intp)
        times = repeats[start:].astype(np.float64)
        times[height:] *= 2  # there and back
        weights = np.multiply.outer(repeats[block], times)
        counts = np.bincount(cells.ravel(), weights.ravel(), n_cells)
        ordered += counts.astype(np.int64)
    return ordered.reshape(shape) // 2


def _pairs_within(sizes: NDArray[np.number]) -> int:
    """Count the pairs inside sets of these sizes."""
    return int((sizes * (sizes - 1)).sum()) // 2


def _check_disjoint(M: NDArray[np.bool_], name: str) -> None:
    sizes = M.sum(axis=1)
    if sizes.max() > 1:
        row = int(sizes.argmax())
        raise ValueError(
            f"{name} has row {row} in {sizes[row]} clusters; ari_on_inliers takes one "
            "at most, omega_index any number."
        )
