"""Overlapping k-means, and its forms that hold overlaps small."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from rtkm.clusterers._overlap import (
    Charges,
    Covered,
    Floats,
    OverlappingClusterer,
    Sets,
    normal_equations,
    squared_gaps,
)
from rtkm.core.params import Number, Rule, is_name
from rtkm.core.sets import grow_sets
from rtkm.core.table import Table

Penalty = Annotated[
    Literal["size", "distance"],
    Rule("'size' or 'distance'", is_name("size", "distance")),
]


@dataclass(eq=False, repr=False, kw_only=True)
class OKM(OverlappingClusterer):
    r"""Cluster rows that lie between clusters into all of these.

    Choose it when a row in two clusters should look like the middle of their centers.
    Overlaps come out large; :class:`ROKM` holds them small. There are no outliers: one
    far row takes a center of its own, or drags several. A step costs O(n k d + n k
    log k).

    It minimizes

    .. math:: \sum_i \Big\lVert x_i - \frac{1}{|A_i|} \sum_{j \in A_i} c_j \Big\rVert^2

    over centers and non-empty sets :math:`A_i` of clusters [1]_.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters (k in [1]_).
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
    ROKM : The same with a price on overlaps.
    ESP : The same with a limit on overlaps, and an exhaustive search.

    Notes
    -----
    A row takes its nearest cluster and adds the next nearest while its distance to the
    mean falls; it keeps its last set where that is better, so the objective never
    rises. New rows have no last set, so ``predict`` on the training rows can differ
    from ``labels_``. The centers then move one after the other, each to where it is
    best for the others as they are. An empty cluster keeps its center.

    References
    ----------
    .. [1] G. Cleuziou, "An extended version of the k-means method for overlapping
       clustering", ICPR 2008.

    Examples
    --------
    >>> from rtkm import OKM
    >>> model = OKM(2, init=[[0.0], [10.0]]).fit([[0.0], [1.0], [5.0], [9.0], [10.0]])
    >>> model.assignments_.astype(int).tolist()
    [[1, 0], [1, 0], [1, 1], [0, 1], [0, 1]]
    >>> model.cluster_centers_.round(2)
    array([[0.5],
           [9.5]])
    """

    def _find_sets(self, X: Table, C: NDArray[Any], charges: Charges) -> Sets:
        D = X.squared_distances(C)
        return grow_sets(D, squared_gaps(C), self._prices(len(C), charges))

    def _move(self, X: Table, state: Covered) -> Floats:
        B, charges = self._mix(state.sets), state.charges
        size = state.sets.sum(axis=1)
        G, residual = normal_equations(X, B, state.C, size**charges.exponent)
        if charges.distance:
            sums, masses = X.weighted_sums(charges.distance * B)
            G += np.diag(masses)
            residual += sums - masses[:, None] * state.C
        return sweep(G, residual, state.C)


@dataclass(eq=False, repr=False, kw_only=True)
class ROKM(OKM):
    r"""Cluster rows that lie between clusters into all of these, at a price.

    Choose it where :class:`OKM` puts too many rows into too many clusters. The larger
    the price the smaller the overlaps, down to those of k-means; the right one has to
    be found by trying. A step costs O(n k d + n k log k).

    With the image :math:`\bar x_i` of a row, the mean of the centers of its clusters
    :math:`A_i`, it minimizes [1]_

    .. math:: \sum_i |A_i|^{\alpha} \lVert x_i - \bar x_i \rVert^2
              \quad \text{or} \quad
              \sum_i \Big( \lVert x_i - \bar x_i \rVert^2 + \frac{\lambda}{|A_i|}
              \sum_{j \in A_i} \lVert x_i - c_j \rVert^2 \Big) .

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    overlap_penalty : float, default=1.0
        The price of overlap (alpha or lambda in [1]_). 0 is :class:`OKM`; below 0, for
        ``"size"`` only, overlaps grow.
    penalty : {"size", "distance"}, default="size"
        What the price is on: the number of a row's clusters (R1-OKM), or its distances
        from them (R2-OKM).
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
    ISP : A price on every membership, and an exhaustive search.

    Notes
    -----
    Published tables say "rokm" without its form or price; ours is by size, 1.

    References
    ----------
    .. [1] C.-E. Ben N'Cir, G. Cleuziou, N. Essoussi, "Identification of non-disjoint
       clusters with small and parameterizable overlaps", ICCAT 2013.

    Examples
    --------
    >>> from rtkm import ROKM
    >>> X = [[0.0], [1.0], [4.0], [9.0], [10.0]]
    >>> for overlap_penalty in (1.0, 4.0):
    ...     model = ROKM(2, overlap_penalty=overlap_penalty, init=[[0.0], [10.0]])
    ...     print(model.fit(X).assignments_[2])
    [ True  True]
    [ True False]
    """

    overlap_penalty: Number = 1.0
    penalty: Penalty = "size"

    def _charges(self, X: Table, C: NDArray[Any]) -> Charges:
        if self.penalty == "size":
            return Charges(exponent=float(self.overlap_penalty))
        return Charges(distance=float(self.overlap_penalty))

    def _check(self, X: Table) -> None:
        if self.penalty == "distance" and self.overlap_penalty < 0:
            raise ValueError(
                f"overlap_penalty={self.overlap_penalty!r} is not valid for ROKM with "
                "penalty='distance'; expected a number of at least 0."
            )


def sweep(G: Floats, residual: Floats, C: NDArray[Any]) -> Floats:
    """Solve for one center after the other, once, with the others as they are by then.

    `residual` is that of the normal equations at C.
    """
    C, residual = C.astype(np.float64), residual.copy()
    for j in np.flatnonzero(np.diag(G) > 0):
        move = residual[j] / G[j, j]
        C[j] += move
        residual -= np.outer(G[:, j], move)
    return C
