"""k-means with outlier removal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from rtkm._answers import Rating
from rtkm._base import PrototypeClusterer
from rtkm._descent import Concentrated, Wanderer
from rtkm._learned import Learned, Scalar
from rtkm._params import OutlierRows, Rule, Tolerance, is_name, whole_rows
from rtkm._table import Table
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
    init, n_init, max_iter, tol, random_state, verbose, on_step : shared
        As in :class:`PrototypeClusterer`; ``init`` is ``"robust-k-means++"``.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centers.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, -1 for outliers.
    outlier_scores_ : ndarray of shape (n_samples,)
        Squared distance to the nearest center, in mean squared inlier distances. The
        published step cuts at ``cutoff_factor`` g, the exact one lower, at about
        g / (1 + (g - 1) m / n) for m outliers.
    mean_inlier_cost_ : float
        Mean squared distance of the inliers.
    outlier_mask_, n_outliers_, objective_, ... : shared
        As in :class:`PrototypeClusterer`.

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
    array([ 1,  1,  1,  0,  0,  0, -1], dtype=int32)
    >>> model.outlier_scores_[-1] > 9
    np.True_
    """

    _outliers_by: ClassVar[str] = "max_outliers"
    _learned: ClassVar[Learned] = {"mean_inlier_cost_": Scalar(Tolerance)}

    max_outliers: OutlierRows = 0.1
    cutoff_factor: Tolerance = 3.0
    outlier_step: OutlierStep = "exact"
    init: Init = "robust-k-means++"

    def _start(self, X: Table, C: NDArray[Any]) -> Concentrated:
        return self._drop(X, C, last=None)

    def _step(self, X: Table, state: Concentrated) -> Concentrated:
        return self._drop(X, state.means, last=state)

    def _drop(self, X: Table, C: NDArray[Any], last: Any) -> Concentrated:
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
        cutoff = self.cutoff_factor * cost[inliers].mean()
        return min(int((cost > cutoff).sum()), self._n_trimmed(X))

    def _best_count(self, X: Table, cost: NDArray[np.float64]) -> int:
        """Return the number of costliest rows whose loss pays most."""
        n, n0 = X.n_rows, self._n_trimmed(X)
        n_sure = n - n0
        cost = np.partition(cost, n_sure - 1)
        rest = np.cumsum(np.sort(cost[n_sure:]))
        S = cost[:n_sure].sum() + np.concatenate([[0.0], rest])[::-1]
        m = np.arange(n0 + 1)
        return int(np.argmin(S * (1 + self.cutoff_factor * m / (n - m))))

    def _n_trimmed(self, X: Table) -> int:
        return whole_rows(self.max_outliers, X.mass)

    def _learn(self, X: Table, state: Concentrated) -> None:
        self.mean_inlier_cost_ = float(X.nearest(state.C, 1).cost[state.kept].mean())

    def _rate(self, X: Table) -> Rating:
        labels, cost, _ = super()._rate(X)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = cost / self.mean_inlier_cost_
        return Rating(labels, np.where(cost > 0, ratio, 0.0), cost)

    def _squared_cutoffs(self) -> NDArray[np.float64]:
        cutoffs = super()._squared_cutoffs()
        return cutoffs if self.offset_ == -np.inf else cutoffs * self.mean_inlier_cost_

    def _inlier_variance(self, X: Table) -> float:
        return self.mean_inlier_cost_ / X.n_features


@dataclass(frozen=True, eq=False, kw_only=True)
class PublishedState(Wanderer, Concentrated):
    """An iterate of the published step, which may end in a cycle."""
