"""Fuzzy c-means."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rtkm._answers import Rating
from rtkm._base import WeightedClusterer
from rtkm._descent import State
from rtkm._learned import Learned, Scalar
from rtkm._params import AboveOne, Nothing, Number, UpToOne
from rtkm._table import Table, one_hot


@dataclass(eq=False, repr=False, kw_only=True)
class FuzzyCMeans(WeightedClusterer):
    r"""Give every row a share in every cluster.

    Choose it when clusters run into each other and the degree to which a row belongs is
    itself the answer. It is not robust: an outlier has about equal shares everywhere
    and pulls at all centers. In many dimensions the centers may all fall on the mean;
    a warning says so, and a smaller ``fuzzifier`` helps. A step costs O(n k d).

    It minimizes

    .. math:: \sum_i \sum_j u_{ij}^m \lVert x_i - c_j \rVert^2

    over centers and memberships :math:`u_i` that sum to 1 [1]_ [2]_.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters (c in [1]_).
    fuzzifier : float above 1, default=2.0
        How soft memberships are (m in [1]_): near 1 they are those of k-means, for
        large values equal.
    membership_threshold : float in (0, 1] or None, default=None
        Share from which on a cluster counts among the ``assignments_`` of a row; None
        is 1 / n_clusters. The cluster of its largest share always counts.
    init, n_init, max_iter, tol, random_state, verbose, on_step : shared
        As in :class:`PrototypeClusterer`; ``init`` is ``"k-means++"``.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centers.
    memberships_ : ndarray of shape (n_samples, n_clusters)
        The memberships u.
    assignments_ : ndarray of shape (n_samples, n_clusters)
        Clusters in which a row has a share of at least ``membership_threshold``.
    labels_ : ndarray of shape (n_samples,)
        Cluster of the largest share.
    partition_coefficient_ : float
        Mean over the rows of the sum of squared memberships: 1 is crisp, 1 / n_clusters
        is no clustering at all.
    outlier_scores_, objective_, ... : shared
        As in :class:`PrototypeClusterer`; there are no outliers.

    See Also
    --------
    RelaxedKMeans : Weights that become crisp in the end.

    Notes
    -----
    A row that sits on a center, or on several, belongs to these alone, in equal shares.

    References
    ----------
    .. [1] J. C. Bezdek, "Pattern recognition with fuzzy objective function algorithms",
       Plenum Press, 1981.
    .. [2] J. C. Dunn, "A fuzzy relative of the ISODATA process and its use in detecting
       compact well-separated clusters", Journal of Cybernetics 3 (1973), 32-57.

    Examples
    --------
    >>> from rtkm import FuzzyCMeans
    >>> model = FuzzyCMeans(2, init=[[0.5], [4.0]]).fit([[0.0], [1.0], [4.0]])
    >>> model.cluster_centers_.round(3)
    array([[0.493],
           [3.997]])
    >>> model.memberships_.round(3)
    array([[0.985, 0.015],
           [0.972, 0.028],
           [0.   , 1.   ]])
    """

    _learned: ClassVar[Learned] = {
        "_fuzzifier_fitted": Scalar(AboveOne),
        "_threshold_fitted": Scalar(UpToOne),
        "partition_coefficient_": Scalar(Number),
    }

    fuzzifier: AboveOne = 2.0
    membership_threshold: UpToOne | Nothing = None

    def _start(self, X: Table, C: NDArray[Any]) -> State:
        D = X.squared_distances(C).astype(np.float64, copy=False)
        U = shares(D, self.fuzzifier)
        cost = (U**self.fuzzifier * D).sum(axis=1)
        return State(C=C, W=U, v=np.ones(X.n_rows), objective=X.total(cost))

    def _step(self, X: Table, state: State) -> State:
        C = X.weighted_means(state.W**self.fuzzifier, fallback=state.C)
        return self._start(X, C)

    def _learn(self, X: Table, state: State) -> None:
        k = len(state.C)
        self._fuzzifier_fitted = self.fuzzifier
        self._threshold_fitted = self.membership_threshold or 1 / k
        squares = np.square(state.W).sum(axis=1)
        self.partition_coefficient_ = X.total(squares) / X.mass
        blurred = np.median(state.W.max(axis=1)) * k - 1 < 0.03 * (k - 1)
        if blurred and k > 1 and X.count_distinct(2) > 1:
            warnings.warn(
                f"at fuzzifier={self.fuzzifier!r} every row has about the same share "
                "in all clusters; lower it to tell them apart.",
                UserWarning,
                stacklevel=5,
            )

    def _rate(self, X: Table) -> Rating:
        labels, scores, _ = super()._rate(X)
        D = X.squared_distances(self.cluster_centers_)
        m = self._fuzzifier_fitted
        return Rating(labels, scores, (shares(D, m) ** m * D).sum(axis=1))

    def _belong(self, X: Table) -> NDArray[np.float64]:
        D = X.squared_distances(self.cluster_centers_)
        return shares(D, self._fuzzifier_fitted)

    def _crisp(self, memberships: NDArray[np.float64]) -> NDArray[np.bool_]:
        largest = one_hot(memberships.argmax(axis=1), memberships.shape[1])
        return (memberships >= self._threshold_fitted) | largest


def shares(D: NDArray[Any], fuzzifier: float) -> NDArray[np.float64]:
    """Return the best memberships for given squared distances."""
    nearest = D.min(axis=1, keepdims=True).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
        # relative to the nearest, which no power can carry out of range
        closeness = (nearest / D) ** (1 / (fuzzifier - 1))
    closeness[np.isnan(closeness)] = 1.0  # 0 / 0: on the center
    U: NDArray[np.float64] = closeness / closeness.sum(axis=1, keepdims=True)
    return U
