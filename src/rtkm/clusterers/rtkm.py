"""Robust Trimmed k-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rtkm.clusterers._base import WeightedClusterer
from rtkm.core.descent import Run
from rtkm.core.params import (
    Auto,
    Count,
    OutlierRows,
    Positive,
    Tally,
    check_memberships,
    whole_rows,
)
from rtkm.core.states import DUST, ProximalState, TrimmedState
from rtkm.core.table import Table
from rtkm.core.threshold import boundary
from rtkm.seeding import Init


@dataclass(eq=False, repr=False, kw_only=True)
class RTKM(WeightedClusterer):
    r"""Find clusters, rows that belong to several of them, and outliers, in one fit.

    The method to start with when a table may hold outliers. Say about how large a share
    they are; a little too high costs little, too low leaves outliers inside. Clusters
    are round and of similar width, as in k-means, and columns count by their units:
    scale them first if those differ. A step costs O(n k d).

    It minimizes

    .. math:: \sum_i v_i \sum_j w_{ij} \lVert x_i - c_j \rVert^2

    over centers :math:`c_j`, memberships :math:`w_i` in [0, 1] that sum to
    ``n_memberships``, and inlier weights :math:`v` in [0, 1] that sum to the number of
    rows to be kept [1]_.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters (k in [1]_).
    contamination : float in [0, 1) or int, default=0.1
        Outliers to expect (alpha in [1]_): a share of the rows, rounded half up to
        whole rows, or a number of rows.
    n_memberships : int, default=1
        Number of clusters each row belongs to (s in [1]_).
    step : "auto" or float, default="auto"
        ``"auto"`` looks for the best minimum: robust seeding, exact alternation, and
        swaps. A number, 1.1 in [1]_, is the proximal step (d and e there) of the
        published algorithm, followed to the letter; it has the units of a squared
        distance.
    n_swaps : "auto" or int, default="auto"
        Number of swaps to try after the descent: a center that is cheap to lose moves
        to where the trimmed cost falls most, and stays there if the objective is lower
        a few steps later. With several memberships every other try moves all centers of
        a row at once. ``"auto"`` stops after 2 n_clusters swaps in a row, but at least
        12 and at most 64, without improvement; 0 turns swaps off. A fixed ``step``
        never swaps.
    init : str, array-like or callable, default="robust-k-means++"
        Starting centers: ``"robust-k-means++"``, ``"k-means++"``, ``"random"`` or
        ``"robin"`` (see :mod:`rtkm.seeding`), the centers themselves, of shape
        (n_clusters, n_features), or a callable ``init(X, n_clusters, random_state)``
        that returns them.
    n_init : "auto" or int, default="auto"
        Number of starts, of which the one with the lowest objective is kept. ``"auto"``
        is 1 where swaps run or the starting centers are fixed, and 10 otherwise.
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
        Share of each row that is kept (v above): 1 for inliers, 0 for outliers, and
        between them for a row that is kept in part.
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
    TrimmedKMeans : The same for one membership a row.
    RelaxedKMeans : The same without outliers.

    Notes
    -----
    The objective is affine in the memberships and in the inlier weights, so its minima
    lie at vertices: each row in its nearest clusters, the costliest rows trimmed. That
    is what ``step="auto"`` alternates between, and why its results do not depend on the
    units of the table.

    With a fixed step four misprints of [1]_ are corrected: the inlier weights sum to
    the number of rows kept, not of those trimmed; they use the new memberships;
    memberships are projected onto the capped simplex of sum ``n_memberships``; and the
    first iteration, which has no weights to average with, leaves the centers alone.
    A trimmed row keeps the memberships it had, as published, so the result can be
    slightly worse than that of ``"auto"``. If the squared distances are large against
    the step this is hard trimming from the first iteration on; if they are small it
    takes thousands of iterations. Rows whose inlier weight is below 1 are outliers: at
    least as many as asked for. Where a fit ends before the weights have settled, a
    warning says so, and the outliers are those of least weight, as many as asked for.

    References
    ----------
    .. [1] O. Dorabiala, J. N. Kutz, A. Y. Aravkin, "Robust trimmed k-means", Pattern
       Recognition Letters (2022).

    Examples
    --------
    >>> from rtkm import RTKM
    >>> X = [[0.0], [0.2], [1.0], [1.2], [50.0]]
    >>> model = RTKM(2, contamination=1, random_state=0).fit(X)
    >>> model.labels_
    array([ 0,  0,  1,  1, -1], dtype=int32)
    >>> model.cluster_centers_.round(6)
    array([[0.1],
           [1.1]])
    >>> model.predict([[0.9], [-500.0]])
    array([ 1, -1], dtype=int32)

    The published iteration, watched:

    >>> path = []
    >>> model = RTKM(2, contamination=1, step=1.1, init=[[0.0], [1.0]],
    ...              on_step=lambda state: path.append(state.W[1, 0].round(6)))
    >>> round(model.fit(X).objective_, 6)
    0.04
    >>> [float(w) for w in path[:3]]
    [0.718182, 0.959178, 1.0]
    """

    _warns_of_scale: ClassVar[bool] = True

    contamination: OutlierRows = 0.1
    n_memberships: Count = 1
    step: Auto | Positive = "auto"
    n_swaps: Auto | Tally = "auto"
    init: Init = "robust-k-means++"

    def _start(self, X: Table, C: NDArray[Any]) -> TrimmedState | ProximalState:
        s, h = self.n_memberships, self._kept_mass(X)
        if self.step == "auto":
            return X.concentrate(C, s, h)
        return X.proximal_step(C, s, h, self.step)

    def _step(self, X: Table, state: Any) -> TrimmedState | ProximalState:
        s, h = self.n_memberships, state.kept_mass
        if self.step == "auto":
            return X.concentrate(state.means, s, h, last=state)
        return X.proximal_step(state.means, s, h, self.step, last=state)

    def _n_trimmed(self, X: Table) -> int:
        return whole_rows(self.contamination, X.mass)

    def _n_nearest(self) -> int:
        return self.n_memberships

    def _check(self, X: Table) -> None:
        check_memberships(self.n_memberships, self.n_clusters)

    def _inliers(self, X: Table, run: Run[Any]) -> NDArray[np.bool_]:
        v, whole = run.state.v, super()._inliers(X, run)
        partly = X.counts & ~whole & (v > DUST)
        if self.step == "auto" or not partly.any():
            return whole
        # a fixed step settles where all rows that are kept in part cost the same
        costs = self.outlier_scores_[partly]
        nothing = np.square(X.least_distances(run.state.C).min())
        if run.converged and np.ptp(costs) <= max(1e-3 * costs.max(), nothing):
            return whole
        # until then those of least weight are outliers, at equal weights the costliest
        n_trimmed = self._n_trimmed(X)
        least = X.cut(v, n_trimmed).threshold
        lighter, tied = v < least - DUST, np.abs(v - least) <= DUST
        costliest_first = np.where(tied, -self.outlier_scores_, np.inf)
        n_left = n_trimmed - X.total(lighter.astype(np.float64))
        cut = X.cut(costliest_first, n_left).threshold if n_left > 0 else -np.inf
        return whole | ~(lighter | (costliest_first <= cut))

    def _has_stalled(self, X: Table) -> bool:
        partly = X.counts & (self.inlier_weights_ < 1 - DUST)
        return self.step != "auto" and bool((partly & ~self.outlier_mask_).any())

    def _offset(self, X: Table) -> float:
        if not self._has_stalled(X):
            return super()._offset(X)
        # weights that are still on their way may not be in the order of the scores
        scores, counts = self.outlier_scores_, X.counts
        kept_mass = X.total((~self.outlier_mask_).astype(np.float64))
        kept = scores <= X.cut(scores, kept_mass).threshold
        return -boundary(scores[counts], kept[counts], ~kept[counts])

    def _n_swaps(self) -> int | str:
        return self.n_swaps if self.step == "auto" else 0
