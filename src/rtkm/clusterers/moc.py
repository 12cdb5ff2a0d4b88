"""Model-based overlapping clustering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from rtkm.clusterers._overlap import (
    Charges,
    Covered,
    Floats,
    LeastSquaresClusterer,
    Sets,
)
from rtkm.core.fields import Array, Learned, Scalar
from rtkm.core.params import Number
from rtkm.core.sets import Prices, search_sets
from rtkm.core.table import Table

MOST_CLUSTERS = 64


@dataclass(eq=False, repr=False, kw_only=True)
class MOC(LeastSquaresClusterer):
    r"""Explain every row as the sum of the vectors of its clusters.

    Choose it where effects add up, as in gene expression: a row in two clusters shows
    the activity of both. Since sums count from the origin, shifting the table changes
    the answer; decide what zero means first. There are no outliers. A step costs
    O(n k d) and, for each row, one look at every set of clusters; from 13 clusters on,
    sets are built up greedily.

    The model is :math:`X \approx M A` with memberships :math:`m_{ij}` in {0, 1} and
    Gaussian noise [1]_. It minimizes

    .. math:: \sum_i \Big\lVert x_i - \sum_{j \in A_i} a_j \Big\rVert^2

    over activities :math:`a_j` and non-empty sets :math:`A_i` of clusters.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters (k in [1]_), at most 64.
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
        Activities of the clusters (A in [1]_), of which a row is the sum.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, the nearest if it is in several; -1 for outliers.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Number of rows with each label.
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Membership weights; computed when asked for.
    assignments_ : ndarray of shape (n_samples, n_clusters)
        Whether a row belongs to a cluster (M in [1]_); outliers belong to none.
        Computed when asked for.
    outlier_mask_ : ndarray of shape (n_samples,)
        Whether a row is an outlier.
    outlier_scores_ : ndarray of shape (n_samples,)
        Squared distance of each row to the sum of its clusters' activities; larger is
        more outlying.
    inlier_weights_ : ndarray of shape (n_samples,)
        Share of each row that is kept: 1 for inliers, 0 for outliers, and between them
        for a row that is kept in part.
    n_outliers_ : int
        Number of outliers.
    shares_ : ndarray of shape (n_clusters,)
        Share of the rows in each cluster (pi in [1]_).
    log_likelihood_ : float
        Minus the objective, plus the log probability of the memberships under
        ``shares_``: L in [1]_ up to its scale.
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
    OKM : Rows are compared with the mean of their centers, not the sum.

    Notes
    -----
    Memberships are chosen by the squared error alone, without the prior terms of [1]_,
    as the public program does; a row keeps its set where none better is found, so the
    error never rises. Where sets are built up greedily, ``predict`` on the training
    rows, which knows no last sets, can differ from ``labels_``. Activities are the
    least-squares solution for the memberships; where it is not unique, the one nearest
    to the last activities instead of the shortest, so that of an unused cluster stays.

    References
    ----------
    .. [1] A. Banerjee, C. Krumpelman, S. Basu, R. J. Mooney, J. Ghosh, "Model-based
       overlapping clustering", KDD 2005, 532-537.

    Examples
    --------
    >>> from rtkm import MOC
    >>> X = [[1.0, 0.0], [0.0, 2.0], [1.0, 2.0], [1.1, 0.0], [0.0, 1.9]]
    >>> model = MOC(2, init=[[1.0, 0.0], [0.0, 2.0]]).fit(X)
    >>> model.assignments_.astype(int).tolist()
    [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1]]
    >>> model.cluster_centers_.round(4)
    array([[ 1.0375,  0.0125],
           [-0.0125,  1.9625]])
    """

    _learned: ClassVar[Learned] = {
        "shares_": Array(("clusters",), least=0),
        "log_likelihood_": Scalar(Number),
    }

    def _mix(self, sets: Sets) -> Floats:
        return sets.astype(np.float64)

    def _find_sets(self, X: Table, C: NDArray[Any], charges: Charges) -> Sets:
        # |x - sum a|^2 = |x|^2 + sum (|x - a_j|^2 - |x|^2) + 2 sum a_j a_l over pairs
        origin = np.zeros((1, X.n_features), dtype=X.dtype)
        linear = X.squared_distances(C) - X.squared_distances(origin)
        one = np.ones(len(C) + 1)
        C = C.astype(np.float64)
        return search_sets(linear, C @ C.T, Prices(one, 2 * one, 0 * one), len(C))

    def _check(self, X: Table) -> None:
        if self.n_clusters > MOST_CLUSTERS:
            raise ValueError(
                f"n_clusters={self.n_clusters} is not valid for MOC; expected at most "
                f"{MOST_CLUSTERS}, since every cluster doubles the sets to choose from."
            )

    def _learn(self, X: Table, state: Covered) -> None:
        super()._learn(X, state)
        M = state.W
        self.shares_ = M.mean(axis=0)
        log_prior = xlogy(M, self.shares_) + xlogy(1 - M, 1 - self.shares_)
        self.log_likelihood_ = float(log_prior.sum() - state.objective)
