"""Outlier removal clustering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rtkm.clusterers._lloyd import StartsFromKMeans, lloyd
from rtkm.core.fields import NOT_SAVED, Learned
from rtkm.core.params import Tally, UpToOne
from rtkm.core.states import HardState, are_equal
from rtkm.core.table import Table


@dataclass(eq=False, repr=False, kw_only=True)
class ORC(StartsFromKMeans):
    r"""Cluster by k-means, remove the farthest rows, and cluster what is left again.

    Choose it to compare with published results. Every round removes at least one row,
    good or bad, so more rounds than outliers deserve eat into the clusters; the
    farthest rows are mostly those of the widest cluster; and an outlier so extreme that
    k-means gives it a center of its own is never removed, but good rows in its stead.
    A round costs one k-means.

    It runs k-means, and then ``n_rounds`` times [1]_ removes every row with

    .. math:: \lVert x_i - c_{j(i)} \rVert >
              T \max_l \lVert x_l - c_{j(l)} \rVert

    among those left, and runs k-means on the others, from the last centers.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    threshold : float in (0, 1], default=0.9
        Share of the largest distance beyond which a row is removed (T in [1]_); 1
        removes nothing.
    n_rounds : int, default=1
        Rounds of removal (I in [1]_).
    init : str, array-like or callable, default="k-means++"
        Starting centers: ``"robust-k-means++"``, ``"robust-k-means||"``,
        ``"k-means++"``, ``"random"`` or ``"robin"`` (see :mod:`rtkm.seeding`), the
        centers themselves, of shape (n_clusters, n_features), or a callable
        ``init(X, n_clusters, random_state)`` that returns them.
    n_init : "auto" or int, default="auto"
        Number of runs of k-means, the best of which the fit starts from. ``"auto"`` is
        1 where the starting centers are fixed, and 10 otherwise.
    max_iter : int, default=300
        Maximum number of steps of each run of k-means.
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
        Cluster of each row, the nearest if it is in several; -1 for outliers.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Number of rows with each label.
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Membership weights; computed when asked for.
    assignments_ : ndarray of shape (n_samples, n_clusters)
        Whether a row belongs to a cluster; outliers belong to none. Computed when asked
        for.
    outlier_mask_ : ndarray of shape (n_samples,)
        Whether a row is an outlier.
    outlier_scores_ : ndarray of shape (n_samples,)
        Squared distance of each row to the nearest center; larger is more outlying.
    inlier_weights_ : ndarray of shape (n_samples,)
        Share of each row that is kept: 1 for inliers, 0 for outliers, and between them
        for a row that is kept in part.
    n_outliers_ : int
        Number of outliers.
    removal_round_ : ndarray of shape (n_samples,)
        The round in which a row was removed, 0 for those left.
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
        Number of rounds of removal, at least 1.
    converged_ : bool
        Whether all rounds were made; False only if the fit was interrupted.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen during fit; set only if all of them are strings.

    See Also
    --------
    KMeansMinusMinus : Outliers may come back while the centers move.

    Notes
    -----
    The largest distance is that over all clusters; [1]_ can also be read as one for
    each. A removed row may end up nearer to the last centers than one that was left, so
    ``predict`` on the training rows can differ from ``labels_``. A round that would
    leave fewer rows than clusters does not happen, nor one in which all rows sit on
    their centers.

    References
    ----------
    .. [1] V. Hautamaki, S. Cherednichenko, I. Karkkainen, T. Kinnunen, P. Franti,
       "Improving k-means by outlier removal", SCIA 2005, LNCS 3540, 978-987.

    Examples
    --------
    >>> from rtkm import ORC
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [20.0]]
    >>> model = ORC(2, threshold=0.8, init=[[0.0], [10.0]]).fit(X)
    >>> model.labels_
    array([ 0,  0,  0,  1,  1,  1, -1], dtype=int32)
    >>> model.cluster_centers_
    array([[ 1.],
           [11.]])
    """

    _learned: ClassVar[Learned] = {"removal_round_": NOT_SAVED}

    threshold: UpToOne = 0.9
    n_rounds: Tally = 1

    def _start(self, X: Table, C: NDArray[Any]) -> ORCState:
        return self._at(X, C, removal_round=np.zeros(X.n_rows, dtype=np.int32))

    def _step(self, X: Table, state: ORCState) -> ORCState:
        removed = state.removal_round.copy()
        removed[self._far_rows(X, state)] = state.n_iter + 1
        if np.array_equal(removed, state.removal_round):
            return state
        C = lloyd(X.X[removed == 0], state.C, self.max_iter).cluster_centers_
        return self._at(X, np.ascontiguousarray(C, dtype=X.dtype), removed)

    def _far_rows(self, X: Table, state: ORCState) -> NDArray[np.bool_]:
        """Return the rows to be removed next."""
        distance = np.sqrt(state.cost)
        farthest = distance[state.kept].max()
        far = state.kept & (distance > self.threshold * farthest)
        on_center = distance <= X.least_distances(state.C)[state.clusters[:, 0]]
        done = (
            state.n_iter >= self.n_rounds
            or on_center[state.kept].all()
            or (state.kept & ~far).sum() < self.n_clusters
        )
        return far & (not done)

    def _at(
        self, X: Table, C: NDArray[Any], removal_round: NDArray[np.int32]
    ) -> ORCState:
        kept = removal_round == 0
        # means to the last digit: those of k-means are summed in the rows' precision
        C = X.label_means(X.nearest(C, 1).labels[:, 0], kept, fallback=C)
        nearest = X.nearest(C, 1)
        return ORCState(
            C=C,
            clusters=nearest.labels,
            cost=nearest.cost,
            kept=kept,
            means=C,
            objective=float(nearest.cost[kept].sum()),
            removal_round=removal_round,
            n_rounds=self.n_rounds,
        )

    def _n_steps(self) -> int:
        return max(self.n_rounds, 1)

    def _learn(self, X: Table, state: ORCState) -> None:
        self.removal_round_ = state.removal_round


@dataclass(frozen=True, eq=False, kw_only=True)
class ORCState(HardState):
    """What k-means makes of the rows that are left."""

    cost: NDArray[np.float64]
    removal_round: NDArray[np.int32]
    n_rounds: int

    def settled(self, last: HardState, tol: float) -> bool:
        """Whether that was the last round, or removed nothing."""
        return self.n_iter >= self.n_rounds or are_equal(self.kept, last.kept)
