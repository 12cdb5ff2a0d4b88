"""Relaxed k-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from rtkm.clusterers._base import WeightedClusterer
from rtkm.core.params import (
    Auto,
    Count,
    Positive,
    check_memberships,
)
from rtkm.core.states import ProximalState, TrimmedState
from rtkm.core.table import Table


@dataclass(eq=False, repr=False, kw_only=True)
class RelaxedKMeans(WeightedClusterer):
    r"""Cluster rows that may belong to several clusters, without outliers.

    Choose it for clean tables, or to watch memberships form; a single far outlier takes
    a center of its own, so use :class:`RTKM` where there may be any. A step costs
    O(n k d).

    It minimizes

    .. math:: \sum_i \sum_j w_{ij} \lVert x_i - c_j \rVert^2

    over centers and memberships :math:`w_i` in [0, 1] that sum to ``n_memberships``
    [1]_; with one membership this is k-means.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters (k in [1]_).
    n_memberships : int, default=1
        Number of clusters each row belongs to (s in [1]_).
    step : "auto" or float, default="auto"
        ``"auto"`` alternates exactly between nearest centers and means. A number, 1.1
        in [1]_ (d there), is the proximal step of the published algorithm.
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
        centers stop when no row changes its cluster, and ignore it; with
        ``step="auto"`` this is one of them.
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
        Membership weights (w above); computed when asked for.
    assignments_ : ndarray of shape (n_samples, n_clusters)
        Whether a row belongs to a cluster; outliers belong to none. Computed when asked
        for.
    outlier_mask_ : ndarray of shape (n_samples,)
        Whether a row is an outlier.
    outlier_scores_ : ndarray of shape (n_samples,)
        Sum of the squared distances of each row to its ``n_memberships`` nearest
        centers; larger is more outlying.
    inlier_weights_ : ndarray of shape (n_samples,)
        Share of each row that is kept: 1 for inliers, 0 for outliers, and between them
        for a row that is kept in part.
    n_outliers_ : int
        Number of outliers.
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
    RTKM : The same with outliers.

    Notes
    -----
    The first iteration leaves the centers where they are: averaging under equal
    memberships would put all of them on the mean, for ever. The memberships are
    projected onto the capped simplex of sum ``n_memberships``; the published listing
    says 1, its text says s.

    References
    ----------
    .. [1] O. Dorabiala, J. N. Kutz, A. Y. Aravkin, "Robust trimmed k-means", Pattern
       Recognition Letters (2022), Algorithm 2.

    Examples
    --------
    >>> from rtkm import RelaxedKMeans
    >>> X = [[0.0], [0.4], [1.0], [1.4]]
    >>> model = RelaxedKMeans(2, init=[[0.0], [1.0]], step=1.1).fit(X)
    >>> model.cluster_centers_.round(6)
    array([[0.2],
           [1.2]])
    >>> model.memberships_
    array([[1., 0.],
           [1., 0.],
           [0., 1.],
           [0., 1.]])
    """

    _runs_in_partitions: ClassVar[bool] = True

    n_memberships: Count = 1
    step: Auto | Positive = "auto"

    def _start(self, X: Table, C: NDArray[Any]) -> TrimmedState | ProximalState:
        if self.step == "auto":
            return X.concentrate(C, self.n_memberships, X.mass)
        return X.proximal_step(C, self.n_memberships, X.mass, self.step)

    def _step(self, X: Table, state: Any) -> TrimmedState | ProximalState:
        s = self.n_memberships
        if self.step == "auto":
            return X.concentrate(state.means, s, X.mass, last=state)
        return X.proximal_step(state.means, s, X.mass, self.step, last=state)

    def _check_partitions(self) -> None:
        super()._check_partitions()
        if self.step != "auto":
            raise TypeError(
                f"step={self.step!r} does not run on rows in partitions; pass them as "
                "an array, or use step='auto'."
            )

    def _n_nearest(self) -> int:
        return self.n_memberships

    def _check(self, X: Table) -> None:
        check_memberships(self.n_memberships, self.n_clusters)
