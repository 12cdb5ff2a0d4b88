"""The cluster-based local outlier factor."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from rtkm.clusterers._lloyd import best_lloyd
from rtkm.core.fields import PRECISION, Array, Fitted, Learned
from rtkm.core.params import AboveOne, Flag, Rule, is_name
from rtkm.core.table import Table
from rtkm.detectors._base import (
    Clusterer,
    CountingDetector,
    OpenShare,
    centers_of,
    default_size,
    takes_sparse,
)
from rtkm.seeding import SEEDINGS

Boundary = Annotated[
    Literal["he", "pyod"], Rule("'he' or 'pyod'", is_name("he", "pyod"))
]


@dataclass(eq=False, repr=False, kw_only=True)
class CBLOF(CountingDetector):
    r"""Score rows by the distance to the nearest large cluster.

    Choose it when most rows fall into a few large clusters and outliers come alone or
    in small groups: a group that has won a center of its own still lies far from the
    large ones. It fails where a true cluster is small, all of whose rows then look
    outlying, and clusters of different widths share one scale. The cost is that of the
    clusterer and O(n k d).

    Clusters are sorted by size. The first of them are large: as few as hold
    ``large_share`` of the rows, or fewer if the next one is ``size_ratio`` times
    smaller. With the centers :math:`c_j`, the factor of a row is [1]_

    .. math:: \text{CBLOF}(x) = \begin{cases}
        \lVert x - c_{j(x)} \rVert & \text{if its cluster } j(x) \text{ is large} \\
        \min_{j \text{ large}} \lVert x - c_j \rVert & \text{if it is small.}
        \end{cases}

    Parameters
    ----------
    clusterer : clusterer with centers, default=None
        Any clusterer of this library or of scikit-learn that has ``cluster_centers_``;
        a copy of it is fitted. None is scikit-learn's ``KMeans(8, n_init=10,
        random_state=0)`` from :func:`rtkm.seeding.k_means_plus_plus`, whose draws do
        not depend on the order of the rows, and with fewer clusters if the table has
        fewer distinct rows.
    large_share : float in (0, 1), default=0.9
        Share of the rows that large clusters hold together (alpha in [1]_).
    size_ratio : float above 1, default=5.0
        How many times smaller the largest of the small clusters is (beta in [1]_).
    boundary : "he" or "pyod", default="he"
        How many clusters are large. ``"he"``: the first that meets the share or the
        ratio, as published; all of them if none does. ``"pyod"``: short of all, the
        first that meets both, else the first that meets the share, else the ratio, as
        in [2]_; an error if none does.
    weighted : bool, default=False
        Whether to multiply by the size of the row's cluster, as in [1]_.
    contamination : float in [0, 1) or int, default=0.1
        Outliers to mark: a share of the rows, rounded half up to whole rows, or a
        number of rows.

    Attributes
    ----------
    clusterer_ : clusterer
        The copy that was fitted.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centers of the clusters that are not empty.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Rows nearest to each of these centers.
    large_mask_ : ndarray of shape (n_clusters,)
        Whether a cluster is large.
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
    ClusterDetector : The distance to the nearest center, be its cluster large or small.

    Notes
    -----
    [1]_ clusters categories by Squeezer; any centers do here. A row belongs to its
    nearest center, also where the clusterer trimmed it or put it elsewhere, so that new
    rows are judged as the training rows are. Weights make the rows of small clusters
    look less outlying, which is why they are off by default, as in [2]_. Clusters of
    equal size keep their order.

    References
    ----------
    .. [1] Z. He, X. Xu, S. Deng, "Discovering cluster-based local outliers", Pattern
       Recognition Letters 24 (2003), 1641-1650.
    .. [2] Y. Zhao, Z. Nasrullah, Z. Li, "PyOD: a Python toolbox for scalable outlier
       detection", Journal of Machine Learning Research 20 (2019), 1-7.

    Examples
    --------
    >>> from rtkm import CBLOF, TrimmedKMeans
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [20.0], [21.0]]
    >>> model = CBLOF(TrimmedKMeans(2, contamination=0), size_ratio=3, contamination=2)
    >>> model.fit_predict(X)
    array([ 1,  1,  1,  1,  1,  1, -1, -1])
    >>> model.outlier_scores_
    array([ 2.5,  1.5,  0.5,  0.5,  1.5,  2.5, 17.5, 18.5])
    >>> model.score_samples([[2.5], [-7.5]])
    array([ -0., -10.])
    """

    _learned: ClassVar[Learned] = {
        "cluster_centers_": Array(("clusters", "features"), PRECISION),
        "cluster_sizes_": Array(("clusters",), "int64", least=1),
        "large_mask_": Array(("clusters",), "bool", some_true=True),
        "_weights": Array(("clusters",), least=0, or_none=True),
        "clusterer_": Fitted(centers="cluster_centers_"),
    }

    clusterer: Clusterer = field(default=None, kw_only=False)
    large_share: OpenShare = 0.9
    size_ratio: AboveOne = 5.0
    boundary: Boundary = "he"
    weighted: Flag = False

    def _fit_factor(self, X: Table) -> NDArray[np.float64]:
        fitted = self._fit_clusterer(X)
        C = centers_of(fitted, X)
        if C is None:
            raise ValueError(
                f"clusterer={self.clusterer!r} left no cluster_centers_; expected a "
                "clusterer with centers, such as KMeans."
            )
        sizes = np.bincount(X.nearest(C, 1).labels[:, 0], minlength=len(C))
        filled = sizes > 0
        large = self._large(sizes[filled])
        self.clusterer_ = fitted
        self.cluster_centers_ = C[filled]
        self.cluster_sizes_ = sizes[filled]
        self.large_mask_ = large
        self._weights = sizes[filled].astype(np.float64) if self.weighted else None
        return self._factor(X)

    def _fit_clusterer(self, X: Table) -> Any:
        """Return a fitted copy of the clusterer, or k-means."""
        if self.clusterer is not None:
            return clone(self.clusterer).fit(X.X)
        rng, k = np.random.RandomState(0), default_size(X)
        starts = (SEEDINGS["k-means++"](X, k, 0, rng) for _ in range(10))
        return best_lloyd(X.X, starts, max_iter=300)

    def _large(self, sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell large clusters from small ones."""
        order = np.argsort(-sizes, kind="stable")
        ordered = sizes[order]
        # equality counts, whatever the last bit of a product says
        by_share = ordered.cumsum() >= self.large_share * sizes.sum() - 1e-9
        by_ratio = ordered >= self.size_ratio * np.append(ordered[1:], np.inf) - 1e-9
        if self.boundary == "he":
            last = int((by_share | by_ratio).argmax())  # all of them meet the share
        else:
            tests = (by_share & by_ratio, by_share, by_ratio)
            met = [test[:-1].argmax() for test in tests if test[:-1].any()]
            if not met:
                raise ValueError(
                    f"boundary='pyod' finds no boundary between clusters of sizes "
                    f"{ordered.tolist()} with large_share={self.large_share!r} and "
                    f"size_ratio={self.size_ratio!r}; lower one of them or use "
                    "boundary='he'."
                )
            last = int(met[0])
        large = np.zeros(len(sizes), dtype=bool)
        large[order[: last + 1]] = True
        return large

    def _factor(self, X: Table) -> NDArray[np.float64]:
        own = X.nearest(self.cluster_centers_, 1)
        label = own.labels[:, 0]
        to_large = X.nearest(self.cluster_centers_[self.large_mask_], 1).cost
        factor = np.sqrt(np.where(self.large_mask_[label], own.cost, to_large))
        return factor if self._weights is None else self._weights[label] * factor

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = takes_sparse(self.clusterer)
        return tags
