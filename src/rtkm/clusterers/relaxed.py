"""Relaxed k-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from rtkm._base import WeightedClusterer
from rtkm._descent import Concentrated, Relaxed
from rtkm._params import (
    Auto,
    Count,
    Positive,
    check_memberships,
)
from rtkm._table import Table


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
        Clusters a row belongs to (s in [1]_).
    step : "auto" or float, default="auto"
        ``"auto"`` alternates exactly between nearest centers and means. A number, 1.1
        in [1]_ (d there), is the proximal step of the published algorithm.
    init, n_init, max_iter, tol, random_state, verbose, on_step : shared
        As in :class:`PrototypeClusterer`; ``init`` is ``"k-means++"``, and ``tol``
        goes with a fixed step.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centers.
    memberships_ : ndarray of shape (n_samples, n_clusters)
        The weights w.
    labels_, assignments_, objective_, ... : shared
        As in :class:`PrototypeClusterer`; there are no outliers.

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

    n_memberships: Count = 1
    step: Auto | Positive = "auto"

    def _start(self, X: Table, C: NDArray[Any]) -> Concentrated | Relaxed:
        if self.step == "auto":
            return X.concentrate(C, self.n_memberships, X.mass)
        return X.relax(C, self.n_memberships, X.mass, self.step)

    def _step(self, X: Table, state: Any) -> Concentrated | Relaxed:
        s = self.n_memberships
        if self.step == "auto":
            return X.concentrate(state.means, s, X.mass, last=state)
        return X.relax(state.means, s, X.mass, self.step, last=state)

    def _n_nearest(self) -> int:
        return self.n_memberships

    def _check(self, X: Table) -> None:
        check_memberships(self.n_memberships, self.n_clusters)
