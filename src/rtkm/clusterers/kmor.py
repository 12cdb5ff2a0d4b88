"""k-means with outlier removal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from rtkm.clusterers._base import PrototypeClusterer
from rtkm.clusterers._rule import FittedRule, RowResults
from rtkm.core.fields import Learned, Scalar
from rtkm.core.params import Flag, OutlierRows, Rule, Tolerance, is_name, whole_rows
from rtkm.core.states import CyclingState, TrimmedState
from rtkm.core.table import Table
from rtkm.seeding import Init

OutlierStep = Annotated[
    Literal["exact", "published"],
    Rule("'exact' or 'published'", is_name("exact", "published")),
]


@dataclass(eq=False, repr=False, kw_only=True)
class KMOR(PrototypeClusterer):
    r"""Cluster rows and decide, up to a limit, how many of them are outliers.

    Choose it when outliers stand out clearly but nobody knows how many there are: a row
    is one if its squared distance is large against the mean of the inliers, and there
    are never more than ``max_outliers``. Raise ``cutoff_factor`` to 9 or so for clean
    tables: at 3 the tails of Gaussian clusters alone use up the limit. With one cluster
    much wider than the others its own rows look like outliers. A step costs O(n k d).

    It minimizes

    .. math:: S \left( 1 + \gamma \frac{m}{n - m} \right), \qquad
              S = \sum_{i \text{ inlier}} \min_j \lVert x_i - c_j \rVert^2

    over centers and a set of :math:`m \le n_0` outliers [1]_.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters (k in [1]_).
    max_outliers : int or float in [0, 1), default=0.1
        Most outliers there may be (n0 in [1]_): a number of rows, or a share, rounded
        half up to rows.
    cutoff_factor : float, default=3.0
        Price of an outlier in mean squared inlier distances (gamma in [1]_). At 0 all
        ``max_outliers`` are used, at 1 nearly always; the larger, the fewer.
    outlier_step : {"exact", "published"}, default="exact"
        How outliers are chosen for given centers: the best number of them, or all rows
        beyond a cut-off found from the last outliers, as in [1]_.
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
        Membership weights; computed when asked for.
    assignments_ : ndarray of shape (n_samples, n_clusters)
        Whether a row belongs to a cluster; outliers belong to none. Computed when asked
        for.
    outlier_mask_ : ndarray of shape (n_samples,)
        Whether a row is an outlier.
    outlier_scores_ : ndarray of shape (n_samples,)
        Squared distance of each row to the nearest center, in mean squared inlier
        distances; larger is more outlying. The published step cuts at ``cutoff_factor``
        g, the exact one lower, at about g / (1 + (g - 1) m / n) for m outliers.
    inlier_weights_ : ndarray of shape (n_samples,)
        Share of each row that is kept: 1 for inliers, 0 for outliers, and between them
        for a row that is kept in part.
    n_outliers_ : int
        Number of outliers.
    mean_inlier_cost_ : float
        Mean squared distance of the inliers.
    at_limit_ : bool
        Whether as many outliers were found as ``max_outliers`` allows, so that there
        may be more.
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
    KMeansMinusMinus : The number of outliers is given.
    ODC : A cut-off for each cluster, and no limit.

    Notes
    -----
    The published step can raise the objective when fewer outliers are found than
    before, and can then go in circles; of a circle the lowest iterate is returned. The
    exact step tries every number of outliers and never raises it; it can end lower
    from the same start. An empty cluster keeps its center.

    References
    ----------
    .. [1] G. Gan, M. K.-P. Ng, "k-means clustering with outlier removal", Pattern
       Recognition Letters 90 (2017), 8-14.

    Examples
    --------
    >>> from rtkm import KMOR
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [40.0]]
    >>> model = KMOR(2, max_outliers=2, cutoff_factor=9, random_state=0).fit(X)
    >>> model.labels_
    array([ 0,  0,  0,  1,  1,  1, -1], dtype=int32)
    >>> model.outlier_scores_[-1] > 9
    np.True_
    """

    _outliers_by: ClassVar[str] = "max_outliers"
    _learned: ClassVar[Learned] = {
        "mean_inlier_cost_": Scalar(Tolerance),
        "at_limit_": Scalar(Flag, optional=True),
    }

    max_outliers: OutlierRows = 0.1
    cutoff_factor: Tolerance = 3.0
    outlier_step: OutlierStep = "exact"
    init: Init = "robust-k-means++"

    def _start(self, X: Table, C: NDArray[Any]) -> TrimmedState:
        return self._drop(X, C, last=None)

    def _step(self, X: Table, state: TrimmedState) -> TrimmedState:
        return self._drop(X, state.means, last=state)

    def _drop(self, X: Table, C: NDArray[Any], last: Any) -> TrimmedState:
        cost = X.nearest(C, 1).cost
        published = self.outlier_step == "published"
        m = self._n_beyond(X, cost, last) if published else self._best_count(X, cost)
        state = X.concentrate(C, 1, X.mass - m, last=last)
        P = state.objective * (1 + self.cutoff_factor * m / (X.mass - m))
        if not published:
            return replace(state, objective=P)
        trail = last.longer_trail if last else ()
        return PublishedState(**{**vars(state), "objective": P}, trail=trail)

    def _n_beyond(self, X: Table, cost: NDArray[np.float64], last: Any) -> int:
        """Count the rows beyond the cut-off of the last inliers, up to the limit."""
        inliers = last.kept if last else np.ones(X.n_rows, dtype=bool)
        cutoff = self.cutoff_factor * float(cost[inliers].mean())
        return min(int((cost > cutoff).sum()), self._n_trimmed(X))

    def _best_count(self, X: Table, cost: NDArray[np.float64]) -> int:
        """Return the number of costliest rows whose loss pays most."""
        n, n0 = X.n_rows, self._n_trimmed(X)
        n_sure = n - n0
        cost = np.partition(cost, n_sure - 1)
        rest = np.cumsum(np.sort(cost[n_sure:]))
        S = cost[:n_sure].sum() + np.concatenate([[0.0], rest])[::-1]
        m = np.arange(n0 + 1)
        # the dearest float, not infinity: at any price, no distance costs nothing
        with np.errstate(over="ignore"):
            dearest = np.finfo(float).max
            price = np.minimum(1 + self.cutoff_factor * m / (n - m), dearest)
            return int(np.argmin(S * price))

    def _n_trimmed(self, X: Table) -> int:
        return whole_rows(self.max_outliers, X.mass)

    def _wanted_cut(self, X: Table) -> float | None:
        n0 = self._n_trimmed(X)
        self.at_limit_ = bool(0 < n0 <= self.outlier_mask_.sum())
        return float(self.cutoff_factor) if n0 and self.mean_inlier_cost_ else None

    @property
    def _outliers_decided_by(self) -> str:  # type: ignore[override]
        return "limit" if self.at_limit_ else "rule"

    def _learn(self, X: Table, state: TrimmedState) -> None:
        self.mean_inlier_cost_ = float(X.nearest(state.C, 1).cost[state.kept].mean())

    def _rule(self) -> KMORRule:
        return KMORRule(**self._judged_by(), mean_cost=self.mean_inlier_cost_)

    def _inlier_variance(self, X: Table) -> float:
        return self.mean_inlier_cost_ / X.n_features


@dataclass(frozen=True, eq=False, kw_only=True)
class KMORRule(FittedRule):
    """Scores in units of the mean cost of the inliers."""

    mean_cost: float

    def scores(self, rows: RowResults) -> NDArray[np.float64]:
        """Return costs divided by their mean; no cost is no score."""
        cost = rows.nearest.cost
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = cost / self.mean_cost
        return np.where(cost > 0, ratio, 0.0)

    def squared_cutoffs(self) -> NDArray[np.float64]:
        """Return the cut in the units of squared distances."""
        cutoffs = super().squared_cutoffs()
        return cutoffs if self.cut == np.inf else cutoffs * self.mean_cost


@dataclass(frozen=True, eq=False, kw_only=True)
class PublishedState(CyclingState, TrimmedState):
    """An iterate of the published step, which may end in a cycle."""
