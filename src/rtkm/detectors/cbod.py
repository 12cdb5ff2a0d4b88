"""Clustering-based outlier detection: the outlier factor of a cluster."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rtkm.core.fields import NOT_SAVED, PRECISION, Array, Learned, Scalar, Size
from rtkm.core.params import Auto, Positive
from rtkm.core.table import Table
from rtkm.core.threshold import halfway
from rtkm.detectors._base import OpenShare, OutlierDetector
from rtkm.detectors._spread import mean_distances, scales, usual_radius


@dataclass(eq=False, repr=False, kw_only=True)
class CBOD(OutlierDetector):
    r"""Find whole clusters that lie far from everything else, in one pass.

    Choose it when outliers come in groups and one pass has to do. Clusters grow in the
    order of the rows, so shuffling them changes the result: try several orders. It
    fails where one radius does not suit all clusters, and it finds outliers wherever it
    finds two clusters, many if the last of them to be taken is large. The cost is
    O(n K d) for K clusters, at worst O(n^2 d) where the radius is too small.

    A row joins the cluster of the nearest center within ``radius``, or opens one;
    centers are running means. The factor of a cluster is [1]_

    .. math:: \text{OF}(C_i) = \sum_{j \ne i} \frac{|C_j|}{n} \lVert c_i - c_j \rVert .

    The clusters of largest factor are outliers: as few as hold ``min_outlier_share`` of
    the rows together, but never all.

    Parameters
    ----------
    radius : "auto" or float, default="auto"
        Greatest distance at which a row joins a cluster (r in [1]_), in standard
        deviations: columns are standardized. ``"auto"`` is the mean of the distances
        between rows less half their standard deviation, but at least their 5 %
        quantile; beyond 1000 rows, of a fixed sample of so many.
    min_outlier_share : float in (0, 1), default=0.1
        Least share of the rows in outlying clusters (epsilon in [1]_).

    Attributes
    ----------
    cluster_labels_ : ndarray of shape (n_samples,)
        The cluster each row joined in the pass.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centers at the end of the pass, in the units of the table.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Rows that joined each cluster.
    cluster_factors_ : ndarray of shape (n_clusters,)
        Outlier factor of each cluster, in standard deviations.
    outlier_clusters_ : ndarray of shape (n_clusters,)
        Whether a cluster is an outlier.
    n_clusters_ : int
        Number of clusters.
    radius_ : float
        The radius that was used, in standard deviations.
    outlier_scores_ : ndarray of shape (n_samples,)
        Outlier factor of each row; larger is more outlying.
    outlier_mask_ : ndarray of shape (n_samples,)
        Whether a row is an outlier.
    n_outliers_ : int
        Number of outliers.
    offset_ : float
        Score between inliers and outliers, see :meth:`decision_function`.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen during fit; set only if all of them are strings.

    See Also
    --------
    CBLOF : Scores single rows, by clusters of any kind.

    Notes
    -----
    This is our reading of [1]_, for numbers only: Euclidean distances of columns with
    mean 0 and standard deviation 1, constant columns left out. The rule for
    ``"auto"``, that one cluster always remains, and what follows are ours. At equal
    factors the cluster that was opened first stays.

    Centers move during the pass, so a row may end nearer to another cluster than the
    one it joined. Clusters are judged by the rows that joined them; rows, training rows
    as well as new ones, by the cluster with the nearest center within the radius. Then
    equal rows have equal scores, and ``fit_predict`` is ``predict`` on the training
    rows; ``outlier_clusters_[cluster_labels_]`` is the decision by the cluster joined.
    A row with no center within the radius is a cluster of its own, of factor
    :math:`\sum_j |C_j| / n \, \lVert x - c_j \rVert`. One cluster has no outliers.

    References
    ----------
    .. [1] S. Jiang, Q. An, "Clustering-based outlier detection method", Fifth
       International Conference on Fuzzy Systems and Knowledge Discovery (2008), vol. 2,
       429-433, doi:10.1109/FSKD.2008.244.

    Examples
    --------
    >>> from rtkm import CBOD
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [30.0]]
    >>> model = CBOD(radius=0.3)
    >>> model.fit_predict(X)
    array([ 1,  1,  1,  1,  1, -1])
    >>> model.cluster_labels_
    array([0, 0, 0, 1, 1, 2], dtype=int32)
    >>> model.cluster_centers_.round(6)
    array([[ 1. ],
           [10.5],
           [30. ]])
    >>> model.cluster_factors_.round(6)
    array([0.774597, 0.774597, 2.033316])
    """

    _learned: ClassVar[Learned] = {
        "_mean": Array(("features",), PRECISION),
        "_inverse_std": Array(("features",), PRECISION, least=0),
        "n_clusters_": Size("clusters"),
        "_centers": Array(("clusters", "features"), PRECISION),
        "_shares": Array(("clusters",), least=0),
        "radius_": Scalar(Positive),
        "cluster_centers_": Array(("clusters", "features"), PRECISION),
        "cluster_sizes_": Array(("clusters",), "int64", least=1),
        "cluster_factors_": Array(("clusters",), least=0),
        "outlier_clusters_": Array(("clusters",), "bool"),
        "cluster_labels_": NOT_SAVED,
    }

    radius: Auto | Positive = field(default="auto", kw_only=False)
    min_outlier_share: OpenShare = 0.1

    def _fit_factor(self, X: Table) -> NDArray[np.float64]:
        mean, std = scales(X)
        self._mean, self._inverse_std = mean.astype(X.dtype), np.zeros_like(X.X[0])
        np.divide(1, std, out=self._inverse_std, where=std > 0)
        Z = self._standardized(X)
        self.radius_ = usual_radius(Z) if self.radius == "auto" else float(self.radius)
        self.cluster_labels_, C, sizes = Z.leaders(self.radius_)
        self.n_clusters_ = len(C)
        self.cluster_centers_ = (mean + C * std).astype(X.dtype)
        self.cluster_sizes_ = sizes.astype(np.int64)
        self._centers, self._shares = C, sizes / X.n_rows
        self.cluster_factors_ = mean_distances(C, C, self._shares)
        self.outlier_clusters_ = self._outlying(sizes)
        return self._factor(X)

    def _outlying(self, sizes: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return the clusters of largest factor that hold enough rows together."""
        order = np.argsort(self.cluster_factors_, kind="stable")[::-1]
        enough = self.min_outlier_share * sizes.sum() - 1e-9
        count = int((sizes[order].cumsum() >= enough).argmax()) + 1
        outlying = np.zeros(len(sizes), dtype=bool)
        outlying[order[: min(count, len(sizes) - 1)]] = True
        return outlying

    def _decide(
        self, X: Table, factors: NDArray[np.float64]
    ) -> tuple[NDArray[np.bool_], float]:
        outlying = self.outlier_clusters_
        if not outlying.any():
            return np.zeros(X.n_rows, dtype=bool), np.inf
        factor = self.cluster_factors_
        cut = halfway(factor[~outlying].max(), factor[outlying].min())
        label, alone = self._nearest(self._standardized(X))
        return np.where(alone, factors > cut, outlying[label]), cut

    def _standardized(self, X: Table) -> Table:
        with np.errstate(over="ignore"):  # a new row may be infinitely many away
            return Table((X.X - self._mean) * self._inverse_std, None)

    def _nearest(self, Z: Table) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Return the nearest cluster of each row, and whether it is out of reach."""
        nearest = Z.nearest(self._centers, 1)
        return nearest.labels[:, 0], nearest.cost > self.radius_ * self.radius_

    def _factor(self, X: Table) -> NDArray[np.float64]:
        Z = self._standardized(X)
        label, alone = self._nearest(Z)
        factor = self.cluster_factors_[label]
        factor[alone] = mean_distances(Z.X[alone], self._centers, self._shares)
        return factor

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
