"""Non-exhaustive, overlapping k-means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rtkm._warnings import warn
from rtkm.clusterers._rule import FittedRule, RowResults
from rtkm.clusterers._tail_cut import CutByTail
from rtkm.core.fields import Learned, Scalar
from rtkm.core.params import OutlierRows, Rule, Tolerance, is_number, whole_rows
from rtkm.core.states import TrimmedState, places_in
from rtkm.core.table import Table, one_hot, smallest
from rtkm.seeding import Init

Overlap = Annotated[float, Rule("a number above -1", lambda v: is_number(v, above=-1))]


@dataclass(eq=False, repr=False, kw_only=True)
class NEOKMeans(CutByTail):
    r"""Cluster rows some of which belong to several clusters, and some to none.

    Choose it when only part of the rows overlap: it puts the extra memberships where
    they cost least, instead of giving each row as many. It cannot leave out a row
    without assigning another one twice, so outliers without overlap are beyond it, and
    with one cluster it finds no outlier at all. A step costs O(n k d).

    It minimizes

    .. math:: \sum_i \sum_j u_{ij} \lVert x_i - c_j \rVert^2

    over centers and memberships :math:`u_{ij}` in {0, 1}, of which there are
    :math:`(1 + \alpha) n`, with at most :math:`\beta n` rows that have none [1]_.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters (k in [1]_).
    overlap : float, default=0.1
        Memberships beyond one a row, per row (alpha in [1]_), at most k - 1; rounded
        half up to whole memberships. :func:`estimate_neo_parameters` suggests a value.
    contamination : float in [0, 1) or int, default=0.1
        Most outliers there may be (beta in [1]_): a share of the rows, rounded half up
        to whole rows, or a number of rows.
    init : str, array-like or callable, default="robust-k-means++"
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
        Cluster of each row, the nearest if it is in several; -1 for outliers.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Number of rows with each label.
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Membership weights (u above); computed when asked for.
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
    standing_out_mask_ : ndarray of shape (n_samples,)
        Whether a row is farther out than the shape of its cluster explains, however
        many rows were trimmed.
    n_standing_out_ : int
        Number of such rows.
    reach_ : float
        Largest squared distance of a membership that was not a row's first.
    objective_ : float
        Final value of the objective.
    inertia_ : float
        Same as ``objective_``, by its name in :class:`sklearn.cluster.KMeans`.
    objective_path_ : ndarray of shape (n_values,)
        The objective at the start, after every step, and after every swap that lowered
        it.
    offset_ : float
        Score between inliers and outliers, see :meth:`decision_function`: where the
        tail of the clusters ends, but between the last row kept and the first one
        trimmed. It is -inf, and no new row an outlier, if none were asked for.
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
    estimate_neo_parameters : Suggests ``overlap`` and ``contamination``.
    RTKM : Outliers with or without overlap, the same number of clusters for each row.

    Notes
    -----
    Starting centers are first turned into labels, and these into means, since [1]_
    starts from an assignment. Equal distances go to the first row, then to the first
    cluster. An empty cluster keeps its center. A negative ``overlap``, down to minus
    the share of outliers, is an extension: there the method becomes k-means--.

    New rows belong to their nearest cluster and to all others within ``reach_``.

    References
    ----------
    .. [1] J. J. Whang, I. S. Dhillon, D. F. Gleich, "Non-exhaustive, overlapping
       k-means", SDM 2015, 936-944.

    Examples
    --------
    >>> from rtkm import NEOKMeans
    >>> X = [[0.0], [1.0], [4.0], [7.0], [8.0], [30.0]]
    >>> model = NEOKMeans(2, overlap=1/6, contamination=1, init=[[1.0], [8.0]]).fit(X)
    >>> model.assignments_.astype(int).tolist()
    [[1, 0], [1, 0], [1, 1], [1, 1], [0, 1], [0, 0]]
    >>> round(model.objective_, 6)
    38.666667
    """

    _learned: ClassVar[Learned] = {"reach_": Scalar(Tolerance)}

    overlap: Overlap = 0.1
    contamination: OutlierRows = 0.1
    init: Init = "robust-k-means++"

    def _start(self, X: Table, C: NDArray[Any]) -> NEOState:
        return self._assign(X, X.concentrate(C, 1, X.mass).means)

    def _step(self, X: Table, state: NEOState) -> NEOState:
        means = X.further_means(state.sure, state.rows, state.clusters)
        return self._assign(X, means, last=state)

    def _assign(
        self, X: Table, C: NDArray[Any], last: NEOState | None = None
    ) -> NEOState:
        n_left_out = self._n_trimmed(X)
        sure = X.concentrate(
            C, 1, X.mass - n_left_out, last=last.sure if last else None
        )
        # a trimmed row may come back to its nearest center
        not_nearer = np.where(sure.kept, X.other_lower(sure), 0.0)
        n_further = self._n_extra(X) + n_left_out
        # a little more than last time spares a second look at most rows
        reach = 1.05 * last.reach if last else expected_reach(not_nearer, n_further)
        rows, clusters, reach, cost = cheapest_further(
            X, sure, not_nearer, n_further, reach
        )
        return NEOState(C, sure, rows, clusters, reach, sure.objective + cost)

    def _n_trimmed(self, X: Table) -> int:
        return whole_rows(self.contamination, X.mass)

    def _n_extra(self, X: Table) -> int:
        """Return the number of memberships beyond one a row."""
        if self.n_clusters == 1 and self.overlap > 0:
            return 0
        extra = int(np.floor(abs(self.overlap) * X.n_rows + 0.5 + 1e-9))
        return extra if self.overlap > 0 else -extra

    def _check(self, X: Table) -> None:
        n_extra, k = self._n_extra(X), self.n_clusters
        if k == 1 and self.overlap > 0:
            warn(
                f"overlap={self.overlap!r} has no effect at n_clusters=1, which leaves "
                "no second cluster to be in."
            )
        if n_extra > (k - 1) * X.n_rows:
            raise ValueError(
                f"overlap={self.overlap!r} asks for more than every row in each of "
                f"n_clusters={k}; expected at most {k - 1}."
            )
        if n_extra < -self._n_trimmed(X):
            raise ValueError(
                f"overlap={self.overlap!r} leaves out {-n_extra} of {X.n_rows} rows, "
                f"contamination={self.contamination!r} only {self._n_trimmed(X)}; "
                "raise either."
            )

    def _learn(self, X: Table, state: NEOState) -> None:
        self.reach_ = state.reach

    def _rule(self) -> NEORule:
        return NEORule(**self._judged_by(), reach=self.reach_)


@dataclass(frozen=True, eq=False, kw_only=True)
class NEORule(FittedRule):
    """The nearest cluster, and further ones within the reach of the fit."""

    reach: float

    def memberships(self, rows: RowResults) -> NDArray[np.float64]:
        """Return the nearest cluster and all within reach."""
        D = rows.squared_distances
        nearest = one_hot(D.argmin(axis=1), D.shape[1])
        return (nearest | (D <= self.reach)).astype(np.float64)

    def costs(self, rows: RowResults) -> NDArray[np.float64]:
        """Return the squared distances to all clusters of each row."""
        costs: NDArray[np.float64] = rows.memberships * rows.squared_distances
        return costs.sum(axis=1)


@dataclass(frozen=True, eq=False)
class NEOState:
    """An iterate: rows that are sure of their nearest cluster, and further ones.

    Row ``rows[i]`` is in cluster ``clusters[i]`` besides, in the order of the rows;
    `reach` is the largest squared distance of these.
    """

    C: NDArray[Any]
    sure: TrimmedState
    rows: NDArray[np.intp]
    clusters: NDArray[np.int32]
    reach: float
    objective: float
    n_iter: int = 0

    @property
    def W(self) -> NDArray[np.float64]:  # noqa: N802
        """Memberships (n, k)."""
        return self.compact_memberships().toarray()

    @property
    def v(self) -> NDArray[np.float64]:
        """Inlier weights (n,)."""
        return self.inlier_mask.astype(np.float64)

    @property
    def level(self) -> float:
        """What iterates are compared by."""
        return self.objective

    @property
    def n_memberships(self) -> int:
        """Nearest centers that a row sits on if it sits on any."""
        return 1

    @property
    def inlier_mask(self) -> NDArray[np.bool_]:
        """Rows that are in any cluster."""
        mask = self.sure.kept.copy()
        mask[self.rows] = True
        return mask

    @property
    def n_partial(self) -> int:
        """Rows that are kept or shared in part only because it ended too early."""
        return 0

    def compact_memberships(self) -> sparse.csr_array:
        """Return the memberships, those that are not zero."""
        kept = np.flatnonzero(self.sure.kept)
        rows = np.concatenate([kept, self.rows])
        clusters = np.concatenate([self.sure.clusters[kept, 0], self.clusters])
        shape = len(self.sure.kept), len(self.C)
        return sparse.csr_array((np.ones(len(rows)), (rows, clusters)), shape)

    def labels(self, X: Table) -> NDArray[np.int32]:
        """Return the nearest center, which a row in any cluster belongs to."""
        return self.sure.labels(X)

    def renumbered(self, order: NDArray[np.intp]) -> Self:
        """Return the same iterate with its clusters in another order."""
        return replace(
            self,
            C=self.C[order],
            sure=self.sure.renumbered(order),
            clusters=places_in(order)[self.clusters],
        )

    def settled(self, last: NEOState, tol: float) -> bool:
        """Whether no membership changed, or only rounding still moves rows."""
        if self.objective >= last.objective:
            return True
        same = (self.rows, last.rows), (self.clusters, last.clusters)
        return not self.sure.n_changed and all(np.array_equal(*pair) for pair in same)


def expected_reach(not_nearer: NDArray[np.float64], n_further: int) -> float:
    """Return about how far the cheapest further memberships will reach."""
    if n_further >= len(not_nearer):
        return np.inf
    return float(np.partition(not_nearer, n_further)[n_further])


def cheapest_further(
    X: Table,
    sure: TrimmedState,
    not_nearer: NDArray[np.float64],
    n_further: int,
    reach: float,
) -> tuple[NDArray[np.intp], NDArray[np.int32], float, float]:
    """Return rows and clusters of the cheapest further memberships, reach and cost.

    They are sought among the rows of which a further center can be within reach. If
    that does not hold enough of them, what it holds tells how far to look.
    """
    if n_further == 0:
        return np.empty(0, np.intp), np.empty(0, np.int32), 0.0, 0.0
    while True:
        rows = np.flatnonzero(not_nearer <= reach)
        D = X.part(rows).squared_distances(sure.C).astype(np.float64, copy=False)
        is_sure = sure.kept[rows]
        D[is_sure, sure.clusters[rows[is_sure], 0]] = np.inf
        if D.size - is_sure.sum() < n_further:
            reach = np.inf
            continue
        chosen = smallest(D.ravel(), n_further).reshape(D.shape)
        costs = D[chosen]
        if costs.max() <= reach:
            break
        reach = float(costs.max())
    places, clusters = np.nonzero(chosen)
    return (
        rows[places],
        clusters.astype(np.int32),
        float(costs.max()),
        float(costs.sum()),
    )
