"""Trimmed k-means and k-means--: one step, two ways to say how much to trim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from rtkm.clusterers._base import WeightedClusterer
from rtkm.clusterers._tail_cut import CutByTail
from rtkm.core.params import Auto, OutlierRows, Tally, whole_rows
from rtkm.core.states import TrimmedState
from rtkm.core.table import Table
from rtkm.seeding import Init


@dataclass(eq=False, repr=False, kw_only=True)
class _HardTrimming(CutByTail, WeightedClusterer):
    """The concentration step: nearest centers, cheapest rows, means."""

    _runs_in_partitions: ClassVar[bool] = True

    init: Init = "robust-k-means++"

    def _start(self, X: Table, C: NDArray[Any]) -> TrimmedState:
        return X.concentrate(C, 1, self._kept_mass(X))

    def _step(self, X: Table, state: TrimmedState) -> TrimmedState:
        return X.concentrate(state.means, 1, state.kept_mass, last=state)


@dataclass(eq=False, repr=False, kw_only=True)
class TrimmedKMeans(_HardTrimming):
    r"""Cluster all but a given share of the rows; the costliest are the outliers.

    The classic of robust clustering: k-means in which, in every step, the rows farthest
    from their center are left out. Choose it when each row belongs to one cluster and
    about so many are outliers. The trimmed rows lie outside balls of one common radius,
    so clusters of very different widths lose unequal shares. A step costs O(n k d).

    It minimizes

    .. math:: \sum_{i \text{ kept}} \min_j \lVert x_i - c_j \rVert^2

    over centers and the rows to be kept [1]_, by concentration steps and trimmed swaps.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    contamination : float in [0, 1) or int, default=0.1
        Rows to trim (alpha in [1]_): a share, rounded half up to whole rows, or a
        number of rows.
    n_swaps : "auto" or int, default="auto"
        Number of swaps to try after the descent: a center that is cheap to lose moves
        to where the trimmed cost falls most, in turn to a row and to half of a cluster,
        and stays there if the objective is lower a few steps later. ``"auto"`` stops
        after 2 n_clusters swaps in a row, but at least 18 and at most 48, without
        improvement; 0 turns swaps off.
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
    KMeansMinusMinus : The same steps from several starts, without swaps.
    RTKM : Rows in several clusters.

    Notes
    -----
    The objective is the sum over the rows kept; divide by their number for the mean of
    [1]_. An empty cluster keeps its center. At equal cost the first rows are kept.

    References
    ----------
    .. [1] J. A. Cuesta-Albertos, A. Gordaliza, C. Matran, "Trimmed k-means: an attempt
       to robustify quantizers", Annals of Statistics 25 (1997), 553-576.

    Examples
    --------
    >>> from rtkm import TrimmedKMeans
    >>> X = [[0.0], [1.0], [10.0], [11.0], [100.0]]
    >>> model = TrimmedKMeans(2, contamination=0.2, random_state=0).fit(X)
    >>> model.labels_
    array([ 0,  0,  1,  1, -1], dtype=int32)
    >>> model.objective_
    1.0
    """

    _warns_of_scale: ClassVar[bool] = True

    contamination: OutlierRows = 0.1
    n_swaps: Auto | Tally = "auto"

    def _n_trimmed(self, X: Table) -> int:
        return whole_rows(self.contamination, X.mass)

    def _n_swaps(self) -> int | str:
        return self.n_swaps


@dataclass(eq=False, repr=False, kw_only=True)
class KMeansMinusMinus(_HardTrimming):
    r"""Cluster all but a given number of rows, from several starts.

    The algorithm of [1]_: the steps of :class:`TrimmedKMeans`, the number of outliers
    given, the best of ``n_init`` starts. It can end in a poor minimum where
    :class:`TrimmedKMeans`, which swaps centers, does not; choose it to compare with
    published results. A step costs O(n k d).

    It minimizes

    .. math:: \sum_{i \text{ kept}} \min_j \lVert x_i - c_j \rVert^2

    over centers and the rows to be kept.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters (k in [1]_).
    n_outliers : int or float in [0, 1), default=0.1
        Outliers (l in [1]_): a number of rows, or a share, rounded half up to rows.
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
    TrimmedKMeans : The same objective, minimized further.

    Notes
    -----
    Exactly ``n_outliers`` rows are outliers; at equal cost the first rows are kept.
    Some published programs drop all rows that tie with the last one, or stop on an
    objective that counts the outliers too.

    References
    ----------
    .. [1] S. Chawla, A. Gionis, "k-means--: a unified approach to clustering and
       outlier detection", SDM 2013, 189-197.

    Examples
    --------
    >>> from rtkm import KMeansMinusMinus
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [30.0], [-20.0]]
    >>> model = KMeansMinusMinus(2, n_outliers=2, random_state=0).fit(X)
    >>> model.labels_
    array([ 0,  0,  0,  1,  1,  1, -1, -1], dtype=int32)
    >>> model.objective_
    4.0
    """

    _outliers_by: ClassVar[str] = "n_outliers"

    n_outliers: OutlierRows = 0.1

    def _n_trimmed(self, X: Table) -> int:
        return whole_rows(self.n_outliers, X.mass)
