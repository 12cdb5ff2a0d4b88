"""Trimmed k-means and k-means--: one step, two ways to say how much to trim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from rtkm._base import WeightedClusterer
from rtkm._descent import Concentrated
from rtkm._params import Auto, OutlierRows, Tally, whole_rows
from rtkm._table import Table
from rtkm.seeding import Init


@dataclass(eq=False, repr=False, kw_only=True)
class _HardTrimming(WeightedClusterer):
    """The concentration step: nearest centers, cheapest rows, means."""

    init: Init = "robust-k-means++"

    def _start(self, X: Table, C: NDArray[Any]) -> Concentrated:
        return X.concentrate(C, 1, self._kept_mass(X))

    def _step(self, X: Table, state: Concentrated) -> Concentrated:
        return X.concentrate(state.means, 1, self._kept_mass(X), last=state)


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
        Swaps to try after the descent, as in :class:`RTKM`; 0 turns them off.
    init, n_init, max_iter, tol, random_state, verbose, on_step : shared
        As in :class:`PrototypeClusterer`; ``init`` is ``"robust-k-means++"``.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centers.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, -1 for the trimmed ones.
    outlier_mask_, outlier_scores_, objective_, ... : shared
        As in :class:`PrototypeClusterer`.

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
    array([ 1,  1,  0,  0, -1], dtype=int32)
    >>> model.objective_
    1.0
    """

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
    init, n_init, max_iter, tol, random_state, verbose, on_step : shared
        As in :class:`PrototypeClusterer`; ``init`` is ``"robust-k-means++"``.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centers.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, -1 for outliers.
    outlier_mask_, outlier_scores_, objective_, ... : shared
        As in :class:`PrototypeClusterer`.

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
    array([ 1,  1,  1,  0,  0,  0, -1, -1], dtype=int32)
    >>> model.objective_
    4.0
    """

    _outliers_by: ClassVar[str] = "n_outliers"

    n_outliers: OutlierRows = 0.1

    def _n_trimmed(self, X: Table) -> int:
        return whole_rows(self.n_outliers, X.mass)
