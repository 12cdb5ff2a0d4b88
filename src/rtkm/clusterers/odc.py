"""Outlier detection and clustering."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from rtkm.clusterers._base import PrototypeClusterer
from rtkm.clusterers._rule import FittedRule, RowResults
from rtkm.core.fields import Array, Learned, Scalar
from rtkm.core.params import AboveOne
from rtkm.core.states import CyclingState
from rtkm.core.table import Table


@dataclass(eq=False, repr=False, kw_only=True)
class ODC(PrototypeClusterer):
    r"""Cluster rows; those too far from their center, for their cluster, are outliers.

    Choose it when clusters differ in width and the number of outliers is unknown: each
    cluster has a cut-off of its own, ``cutoff_factor`` times the mean distance of its
    inliers. In few dimensions raise it to 3: each round of removal lowers the mean, and
    at 2 most of a clean Gaussian in one dimension goes that way. A lone outlier that
    got a center of its own is never found, nor are outliers so many that they set the
    mean. A step costs O(n k d).

    It repeats [1]_: assign every row to its nearest center; row :math:`i` of cluster
    :math:`j` is an outlier if

    .. math:: \lVert x_i - c_j \rVert > p \, \frac{1}{|I_j|}
              \sum_{l \in I_j} \lVert x_l - c_j \rVert ,

    where :math:`I_j` are the last inliers among the rows of the cluster; average the
    inliers.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    cutoff_factor : float above 1, default=2.0
        Multiple of the mean inlier distance beyond which a row is an outlier (p in
        [1]_).
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
        Distance of each row to the nearest center, in mean inlier distances of its
        cluster: above ``cutoff_factor`` is an outlier. 0 where that mean is 0.
    inlier_weights_ : ndarray of shape (n_samples,)
        Share of each row that is kept: 1 for inliers, 0 for outliers, and between them
        for a row that is kept in part.
    n_outliers_ : int
        Number of outliers.
    mean_distances_ : ndarray of shape (n_clusters,)
        Mean distance of each cluster's inliers.
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
    KMOR : One cut-off for all clusters, and a limit to the number of outliers.

    Notes
    -----
    The rule lowers no objective and can go in circles. A fit ends when rows and
    outliers repeat, and returns the iterate of the circle with the lowest mean squared
    inlier distance; for the same reason starts are compared by that mean, whereas
    ``objective_`` is the sum. [1]_ leaves open whether the mean is taken by cluster or
    over all rows and whether outliers may come back; here it is by cluster, and they
    may. A cluster whose inliers all sit on its center flags nothing; so outliers of
    repeated rows come back, and a center need not be the mean of its inliers.

    References
    ----------
    .. [1] M. Ahmed, A. N. Mahmood, "A novel approach for outlier detection and
       clustering improvement", ICIEA 2013, 577-582.

    Examples
    --------
    >>> from rtkm import ODC
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [19.0]]
    >>> model = ODC(2, init=[[0.0], [10.0]]).fit(X)
    >>> model.labels_
    array([ 0,  0,  0,  1,  1,  1, -1], dtype=int32)
    >>> model.cluster_centers_
    array([[ 1.],
           [11.]])
    """

    _learned: ClassVar[Learned] = {
        "mean_distances_": Array(("clusters",), least=0),
        "_cutoff_fitted": Scalar(AboveOne),
    }

    cutoff_factor: AboveOne = 2.0

    def _start(self, X: Table, C: NDArray[Any]) -> ODCState:
        return self._drop(X, C, inliers=np.ones(X.n_rows, dtype=bool))

    def _step(self, X: Table, state: ODCState) -> ODCState:
        return self._drop(X, state.means, state.kept, state.longer_trail)

    def _drop(
        self, X: Table, C: NDArray[Any], inliers: NDArray[np.bool_], trail: Any = ()
    ) -> ODCState:
        nearest = X.nearest(C, 1)
        labels, distance = nearest.labels[:, 0], np.sqrt(nearest.cost)
        sizes = np.bincount(labels[inliers], minlength=len(C))
        sums = np.bincount(labels[inliers], distance[inliers], minlength=len(C))
        scales = sums / np.maximum(sizes, 1)
        scales[scales <= X.least_distances(C)] = 0.0
        kept = relative(distance, scales[labels]) <= self.cutoff_factor
        return ODCState(
            C=C,
            clusters=nearest.labels,
            kept=kept,
            means=X.label_means(labels, kept, fallback=C),
            objective=float(nearest.cost[kept].sum()),
            trail=trail,
            scales=scales,
        )

    def _learn(self, X: Table, state: ODCState) -> None:
        self.mean_distances_ = state.scales
        self._cutoff_fitted = self.cutoff_factor

    def _offset(self, X: Table) -> float:
        return -self._cutoff_fitted

    def _rule(self) -> ODCRule:
        scales, factor = self.mean_distances_, self._cutoff_fitted
        return ODCRule(**self._judged_by(), scales=scales, factor=factor)


@dataclass(frozen=True, eq=False, kw_only=True)
class ODCRule(FittedRule):
    """Scores in units of the mean distance in each cluster."""

    scales: NDArray[np.float64]
    factor: float

    def scores(self, rows: RowResults) -> NDArray[np.float64]:
        """Return distances divided by their mean in the cluster."""
        return relative(np.sqrt(rows.nearest.cost), self.scales[rows.clusters])

    def squared_cutoffs(self) -> NDArray[np.float64]:
        """Return a cut for each cluster; one without a scale has none."""
        cutoffs = np.square(self.factor * self.scales)
        return np.where(self.scales > 0, cutoffs, np.inf)

    def variances(self) -> NDArray[np.float64]:
        """Return the variance that the mean distance of each cluster stands for."""
        return np.square(self.scales) / self.centers.shape[1]


@dataclass(frozen=True, eq=False, kw_only=True)
class ODCState(CyclingState):
    """An iterate, and the mean distances that its outliers were found by."""

    scales: NDArray[np.float64]

    def renumbered(self, order: NDArray[np.intp]) -> Self:
        """Return the same iterate with its clusters in another order."""
        return replace(super().renumbered(order), scales=self.scales[order])

    @property
    def level(self) -> float:
        """The mean squared distance of the inliers."""
        return self.objective / max(int(self.kept.sum()), 1)


def relative(
    distances: NDArray[np.float64], scales: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Divide, but a cluster all of whose inliers sit on its center flags nothing."""
    return np.divide(distances, scales, out=np.zeros_like(distances), where=scales > 0)
