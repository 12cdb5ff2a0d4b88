"""Fuzzy c-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rtkm._warnings import warn
from rtkm.clusterers._base import WeightedClusterer
from rtkm.clusterers._rule import FittedRule, RowResults
from rtkm.core.fields import Learned, Scalar
from rtkm.core.params import AboveOne, Nothing, Number, UpToOne
from rtkm.core.states import State
from rtkm.core.table import Table, one_hot


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
    init : str, array-like or callable, default="k-means++"
        Starting centers: ``"robust-k-means++"``, ``"robust-k-means||"``,
        ``"k-means++"``, ``"random"`` or ``"robin"`` (see :mod:`rtkm.seeding`), the
        centers themselves, of shape (n_clusters, n_features), or a callable
        ``init(X, n_clusters, random_state)`` that returns them.
    n_init : "auto" or int, default="auto"
        Number of starts, of which the one with the lowest objective is kept. ``"auto"``
        is 1 where the starting centers are fixed, or where swaps run; but 3 with
        several memberships, and 10 without swaps or of fewer than 50 different rows.
    max_iter : int, default=300
        Maximum number of steps of one descent.
    tol : float, default=1e-6
        Relative decrease of the objective at which to stop, for methods with fractional
        memberships or sets of clusters. Methods that assign rows to their nearest
        centers stop when no row changes its cluster, and ignore it.
    random_state : int, RandomState or None, default=None
        Makes random starts and swaps reproducible.
    verbose : int, default=0
        Above 0, prints the objective after every step, and Ctrl-C ends the fit with the
        best state so far instead of raising.
    on_step : callable or None, default=None
        Called as ``on_step(state)`` after every step. ``state.C``, ``state.W`` and
        ``state.v`` are the centers, memberships and inlier weights as in the papers;
        ``state.objective`` and ``state.n_iter`` go with them. The arrays are read-only.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centers.
    labels_ : ndarray of shape (n_samples,)
        Cluster in which each row has its largest share.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Number of rows with each label.
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Membership weights (u above); computed when asked for.
    assignments_ : ndarray of shape (n_samples, n_clusters)
        Whether a row has a share of at least ``membership_threshold``, or its largest,
        in a cluster. Computed when asked for.
    outlier_mask_ : ndarray of shape (n_samples,)
        Whether a row is an outlier.
    outlier_scores_ : ndarray of shape (n_samples,)
        Squared distance of each row to the nearest center; larger is more outlying.
    inlier_weights_ : ndarray of shape (n_samples,)
        Share of each row that is kept: 1 for inliers, 0 for outliers, and between them
        for a row that is kept in part.
    n_outliers_ : int
        Number of outliers.
    partition_coefficient_ : float
        Mean over the rows of the sum of squared memberships: 1 is crisp, 1 / n_clusters
        is no clustering at all.
    objective_ : float
        Final value of the objective.
    inertia_ : float
        Same as ``objective_``, by its name in :class:`sklearn.cluster.KMeans`.
    objective_path_ : ndarray of shape (n_values,)
        The objective at the start, after every step, and after every swap that lowered
        it.
    offset_ : float
        Score between inliers and outliers, see :meth:`decision_function`; -inf if no
        new row is ever an outlier.
    n_iter_ : int
        Number of steps of the last descent.
    converged_ : bool
        Whether the last descent converged within ``max_iter`` steps.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen during fit; set only if all of them are strings.

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
            warn(
                f"at fuzzifier={self.fuzzifier!r} every row has about the same share "
                "in all clusters; lower it to tell them apart."
            )

    def _rule(self) -> FuzzyRule:
        return FuzzyRule(
            **self._judged_by(),
            fuzzifier=self._fuzzifier_fitted,
            threshold=self._threshold_fitted,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class FuzzyRule(FittedRule):
    """Shares in all clusters; those above a threshold count as memberships."""

    fuzzifier: float
    threshold: float

    def memberships(self, rows: RowResults) -> NDArray[np.float64]:
        """Return the share of each row in each cluster."""
        return shares(rows.squared_distances, self.fuzzifier)

    def costs(self, rows: RowResults) -> NDArray[np.float64]:
        """Return what the shares cost."""
        D = rows.squared_distances
        costs: NDArray[np.float64] = rows.memberships**self.fuzzifier * D
        return costs.sum(axis=1)

    def assignments(self, memberships: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return the clusters of large shares, and that of the largest."""
        largest = one_hot(memberships.argmax(axis=1), memberships.shape[1])
        return (memberships >= self.threshold) | largest


def shares(D: NDArray[Any], fuzzifier: float) -> NDArray[np.float64]:
    """Return the best memberships for given squared distances."""
    nearest = D.min(axis=1, keepdims=True).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
        # relative to the nearest, which no power can carry out of range
        closeness = (nearest / D) ** (1 / (fuzzifier - 1))
    closeness[np.isnan(closeness)] = 1.0  # 0 / 0: on the center
    # sorted, so that the sum does not depend on how clusters are numbered
    total = np.sort(closeness, axis=1).sum(axis=1, keepdims=True)
    U: NDArray[np.float64] = closeness / total
    return U
