"""Overlapping clustering with explicit and implicit sparseness: a limit, or a price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from rtkm.clusterers._overlap import Charges, Covered, LeastSquaresClusterer
from rtkm.core.fields import Learned, Scalar
from rtkm.core.params import Auto, Count, Tolerance
from rtkm.core.table import Table

# price of a membership, in mean squared distances of k-means
PRICE = 0.1


@dataclass(eq=False, repr=False, kw_only=True)
class ESP(LeastSquaresClusterer):
    r"""Cluster rows that lie between clusters into these, up to so many.

    Choose it over :class:`OKM` when rows belong to two or three clusters at most: sets
    of clusters are searched through instead of grown, and the centers solved for, which
    ends lower. There are no outliers. A step costs O(n k d) and, for each row, one look
    at every allowed set; above 5000 of these they are built up greedily.

    With the image :math:`\bar x_i` of a row, the mean of the centers of its clusters
    :math:`A_i`, it minimizes

    .. math:: \sum_i \lVert x_i - \bar x_i \rVert^2
              \quad \text{subject to} \quad 1 \le |A_i| \le s .

    This is a **reconstruction**: of [1]_ little more than the idea is publicly
    described, and this is our reading of it.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_memberships : int, default=2
        Most clusters of a row (s above); 1 is k-means, and more than there are is all.
    init : str, array-like or callable, default="k-means++"
        Starting centers: ``"robust-k-means++"``, ``"robust-k-means||"``,
        ``"k-means++"``, ``"random"`` or ``"robin"`` (see :mod:`rtkm.seeding`), the
        centers themselves, of shape (n_clusters, n_features), or a callable
        ``init(X, n_clusters, random_state)`` that returns them.
    n_init : "auto" or int, default="auto"
        Number of runs of k-means, the best of which the fit starts from. ``"auto"`` is
        1 where the starting centers are fixed, and 10 otherwise.
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
        Whether a row belongs to a cluster (A above); outliers belong to none. Computed
        when asked for.
    outlier_mask_ : ndarray of shape (n_samples,)
        Whether a row is an outlier.
    outlier_scores_ : ndarray of shape (n_samples,)
        Squared distance of each row to the mean of its clusters' centers; larger is
        more outlying.
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
    ISP : A price on memberships instead of a limit.

    Notes
    -----
    The centers are the least-squares solution for the sets; where it is not unique, the
    one nearest to the last centers, so an unused center stays. A row keeps its set
    where none better is found; where sets are built up greedily, ``predict`` on the
    training rows, which knows no last sets, can differ from ``labels_``.

    References
    ----------
    .. [1] H. Lu, Y. Hong, W. N. Street, F. Wang, H. Tong, "Overlapping clustering with
       sparseness constraints", ICDM Workshops 2012, 486-494.

    Examples
    --------
    >>> from rtkm import ESP
    >>> X = [[0.0], [1.0], [4.0], [9.0], [10.0]]
    >>> model = ESP(2, random_state=0).fit(X)
    >>> model.assignments_.sum(axis=1)
    array([1, 1, 2, 1, 1])
    >>> round(model.objective_, 6)
    1.8
    """

    n_memberships: Count = 2

    def _charges(self, X: Table, C: NDArray[Any]) -> Charges:
        return Charges(most=self.n_memberships)


@dataclass(eq=False, repr=False, kw_only=True)
class ISP(LeastSquaresClusterer):
    r"""Cluster rows that lie between clusters into these, at a price for each.

    Choose it over :class:`ESP` when some rows belong to many clusters and most to one.
    There are no outliers. A step costs O(n k d) and, for each row, one look at every
    set of clusters; from 13 clusters on, sets are built up greedily.

    With the image :math:`\bar x_i` of a row, the mean of the centers of its clusters
    :math:`A_i`, it minimizes

    .. math:: \sum_i \big( \lVert x_i - \bar x_i \rVert^2
              + \lambda (|A_i| - 1) \big) .

    This is a **reconstruction**: of [1]_ little more than the idea is publicly
    described, and this is our reading of it.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    overlap_penalty : "auto" or float, default="auto"
        Price of a further cluster (lambda above), a squared distance; ``"auto"`` is a
        tenth of the mean squared distance of k-means.
    init : str, array-like or callable, default="k-means++"
        Starting centers: ``"robust-k-means++"``, ``"robust-k-means||"``,
        ``"k-means++"``, ``"random"`` or ``"robin"`` (see :mod:`rtkm.seeding`), the
        centers themselves, of shape (n_clusters, n_features), or a callable
        ``init(X, n_clusters, random_state)`` that returns them.
    n_init : "auto" or int, default="auto"
        Number of runs of k-means, the best of which the fit starts from. ``"auto"`` is
        1 where the starting centers are fixed, and 10 otherwise.
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
        Whether a row belongs to a cluster (A above); outliers belong to none. Computed
        when asked for.
    outlier_mask_ : ndarray of shape (n_samples,)
        Whether a row is an outlier.
    outlier_scores_ : ndarray of shape (n_samples,)
        Squared distance of each row to the mean of its clusters' centers; larger is
        more outlying.
    inlier_weights_ : ndarray of shape (n_samples,)
        Share of each row that is kept: 1 for inliers, 0 for outliers, and between them
        for a row that is kept in part.
    n_outliers_ : int
        Number of outliers.
    overlap_penalty_ : float
        The price that was used.
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
    ESP : A limit on memberships instead of a price.
    ROKM : Prices without units.

    Notes
    -----
    As for :class:`ESP`.

    References
    ----------
    .. [1] H. Lu, Y. Hong, W. N. Street, F. Wang, H. Tong, "Overlapping clustering with
       sparseness constraints", ICDM Workshops 2012, 486-494.

    Examples
    --------
    >>> from rtkm import ISP
    >>> X = [[0.0], [1.0], [4.0], [9.0], [10.0]]
    >>> for overlap_penalty in (0.5, 20.0):
    ...     model = ISP(2, overlap_penalty=overlap_penalty, random_state=0).fit(X)
    ...     print(model.assignments_.sum(axis=1))
    [1 1 2 1 1]
    [1 1 1 1 1]
    """

    _learned: ClassVar[Learned] = {"overlap_penalty_": Scalar(Tolerance)}

    overlap_penalty: Auto | Tolerance = "auto"

    def _charges(self, X: Table, C: NDArray[Any]) -> Charges:
        if self.overlap_penalty == "auto":
            return Charges(membership=PRICE * float(X.nearest(C, 1).cost.mean()))
        return Charges(membership=float(self.overlap_penalty))

    def _learn(self, X: Table, state: Covered) -> None:
        super()._learn(X, state)
        self.overlap_penalty_ = state.charges.membership
