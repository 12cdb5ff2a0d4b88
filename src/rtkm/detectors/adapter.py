"""Any clusterer as a detector."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from rtkm.clusterers.rtkm import RTKM
from rtkm.core.fields import PRECISION, Array, Fitted, Learned
from rtkm.core.params import Auto, OutlierRows
from rtkm.core.table import Table
from rtkm.detectors._base import (
    Clusterer,
    CountingDetector,
    centers_of,
    default_size,
    takes_sparse,
)


@dataclass(eq=False, repr=False, kw_only=True)
class ClusterDetector(CountingDetector):
    """Make an outlier detector of any clusterer.

    Choose it where a pipeline or a search wants a detector, answering 1 and -1, and
    the clusters of a method of this library say what is normal. It is as good as those
    clusters: one that has formed around outliers hides them, see :class:`CBLOF`. The
    cost is that of the clusterer.

    The score of a row is that of the clusterer, ``score_samples``. A clusterer without
    one, such as :class:`sklearn.cluster.KMeans`, scores by the distance to the nearest
    of its centers.

    Parameters
    ----------
    clusterer : clusterer, default=None
        Any clusterer with ``score_samples`` or ``cluster_centers_``; a copy of it is
        fitted. None is ``RTKM(random_state=0)``, which chooses the number of clusters
        and of outliers; where a contamination is given, it is ``RTKM(8)`` with that,
        and with fewer clusters if the table has fewer distinct rows.
    contamination : "auto", float in [0, 1) or int, default="auto"
        ``"auto"``: the clusterer's own outliers, and its ``offset_`` for new rows.
        Otherwise the rows with the worst scores: a share, rounded half up to whole
        rows, or a number of rows.

    Attributes
    ----------
    clusterer_ : clusterer
        The copy that was fitted.
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
    RTKM : The clusterer used by default; its ``predict`` returns clusters.
    CBLOF : The distance to the nearest large cluster.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rtkm import RTKM, ClusterDetector
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [40.0]]
    >>> detector = ClusterDetector(RTKM(2, contamination=1, random_state=0))
    >>> detector.fit_predict(X)
    array([ 1,  1,  1,  1,  1,  1, -1])
    >>> detector.outlier_scores_
    array([  1.,   0.,   1.,   1.,   0.,   1., 841.])
    >>> make_pipeline(StandardScaler(), detector).fit(X).predict([[1.5], [-30.0]])
    array([ 1, -1])
    """

    _learned: ClassVar[Learned] = {
        "_centers": Array(("clusters", "features"), PRECISION, or_none=True),
        "clusterer_": Fitted(centers="_centers"),
    }

    clusterer: Clusterer = field(default=None, kw_only=False)
    contamination: Auto | OutlierRows = "auto"  # type: ignore[assignment]

    def _n_outliers(self, n_rows: int) -> int:
        return 0 if self.contamination == "auto" else super()._n_outliers(n_rows)

    def _fit_factor(self, X: Table) -> NDArray[np.float64]:
        fitted = self._unfitted(X).fit(X.X)
        centers = None if hasattr(fitted, "score_samples") else centers_of(fitted, X)
        if centers is None and not hasattr(fitted, "score_samples"):
            raise ValueError(
                f"clusterer={self.clusterer!r} has neither score_samples nor "
                "cluster_centers_; expected a clusterer with one of them, such as RTKM."
            )
        own = hasattr(fitted, "outlier_mask_") and hasattr(fitted, "offset_")
        if self.contamination == "auto" and not own:
            raise ValueError(
                f"contamination='auto' takes the outliers of the clusterer, and "
                f"{self.clusterer!r} finds none; give a share or a number of rows."
            )
        self.clusterer_ = fitted
        self._centers = centers
        return self._factor(X)

    def _unfitted(self, X: Table) -> Any:
        """Return the clusterer to fit, a copy of what the caller owns."""
        if self.clusterer is not None:
            return clone(self.clusterer)
        if self.contamination == "auto":
            return RTKM(random_state=0)
        n_kept = X.n_rows - super()._n_outliers(X.n_rows)
        k = min(default_size(X), n_kept)
        return RTKM(k, contamination=self.contamination, random_state=0)

    def _decide(
        self, X: Table, factors: NDArray[np.float64]
    ) -> tuple[NDArray[np.bool_], float]:
        if self.contamination == "auto":
            return self.clusterer_.outlier_mask_.copy(), -float(self.clusterer_.offset_)
        return super()._decide(X, factors)

    def _factor(self, X: Table) -> NDArray[np.float64]:
        if self._centers is None:
            return -np.asarray(self.clusterer_.score_samples(X.X), dtype=np.float64)
        return np.sqrt(X.nearest(self._centers, 1).cost)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = takes_sparse(self.clusterer)
        return tags
