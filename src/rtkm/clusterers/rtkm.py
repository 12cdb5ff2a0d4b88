"""Robust Trimmed k-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from rtkm._base import WeightedClusterer
from rtkm._descent import Concentrated, Relaxed
from rtkm._params import (
    Auto,
    Count,
    OutlierRows,
    Positive,
    Tally,
    check_memberships,
    whole_rows,
)
from rtkm._table import Table
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
        Clusters a row belongs to (s in [1]_).
    step : "auto" or float, default="auto"
        ``"auto"`` looks for the best minimum: robust seeding, exact alternation, and
        swaps. A number, 1.1 in [1]_, is the proximal step (d and e there) of the
        published algorithm, followed to the letter; it has the units of a squared
        distance.
    n_swaps : "auto" or int, default="auto"
        Swaps to try after the descent: a center that is cheap to lose moves to where
        the trimmed cost falls most, and stays if a few steps later the objective is
        lower. With several memberships every other try moves all centers of a row at
        once. ``"auto"`` goes on until 2 n_clusters swaps in a row, but at least 12 and
        at most 64, brought nothing; 0 turns swaps off. A fixed ``step`` never swaps.
    init, n_init, max_iter, tol, random_state, verbose, on_step : shared
        As in :class:`PrototypeClusterer`; ``init`` is ``"robust-k-means++"``, and
        ``tol`` goes with a fixed step.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centers.
    labels_ : ndarray of shape (n_samples,)
        Nearest cluster of each row, -1 for outliers.
    memberships_, inlier_weights_ : ndarrays
        The weights w and v.
    outlier_mask_, outlier_scores_, assignments_, objective_, ... : shared
        As in :class:`PrototypeClusterer`.

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
    least as many as asked for.

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
    array([ 1,  1,  0,  0, -1], dtype=int32)
    >>> model.cluster_centers_.round(6)
    array([[1.1],
           [0.1]])
    >>> model.predict([[0.9], [-500.0]])
    array([ 0, -1], dtype=int32)

    The published iteration, watched:

    >>> path = []
    >>> model = RTKM(2, contamination=1, step=1.1, init=[[0.0], [1.0]],
    ...              on_step=lambda state: path.append(state.W[1, 0].round(6)))
    >>> round(model.fit(X).objective_, 6)
    0.04
    >>> [float(w) for w in path[:3]]
    [0.718182, 0.959178, 1.0]
    """

    contamination: OutlierRows = 0.1
    n_memberships: Count = 1
    step: Auto | Positive = "auto"
    n_swaps: Auto | Tally = "auto"
    init: Init = "robust-k-means++"

    def _start(self, X: Table, C: NDArray[Any]) -> Concentrated | Relaxed:
        s, h = self.n_memberships, self._kept_mass(X)
        if self.step == "auto":
            return X.concentrate(C, s, h)
        return X.relax(C, s, h, self.step)

    def _step(self, X: Table, state: Any) -> Concentrated | Relaxed:
        s, h = self.n_memberships, self._kept_mass(X)
        if self.step == "auto":
            return X.concentrate(state.means, s, h, last=state)
        return X.relax(state.means, s, h, self.step, last=state)

    def _n_trimmed(self, X: Table) -> int:
        return whole_rows(self.contamination, X.mass)

    def _n_nearest(self) -> int:
        return self.n_memberships

    def _check(self, X: Table) -> None:
        check_memberships(self.n_memberships, self.n_clusters)

    def _n_swaps(self) -> int | str:
        return self.n_swaps if self.step == "auto" else 0
