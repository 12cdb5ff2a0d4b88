"""What a fitted clusterer answers."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from rtkm._admission import admit_new
from rtkm._descent import DUST
from rtkm._learned import OF_ROWS, PRECISION, Array, Learned, Savable, Scalar, UpTo
from rtkm._offset import margins
from rtkm._params import Flag, Number, Rule, Tally
from rtkm._table import Table


class Rating(NamedTuple):
    """What a model makes of rows.

    Their nearest clusters, their outlier scores, and what they would add to the
    objective.
    """

    labels: NDArray[np.int32]
    scores: NDArray[np.float64]
    costs: NDArray[np.float64]


OutputConfig = Annotated[
    dict[str, str],
    Rule(
        "what set_output takes",
        lambda v: v in [{"transform": t} for t in ("default", "pandas", "polars")],
    ),
]


class Answers(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    Savable,
    BaseEstimator,
):
    """Answers by the fitted centers, for training rows and new ones."""

    # set by a fit
    cluster_centers_: NDArray[Any]
    outlier_mask_: NDArray[np.bool_]
    objective_: float
    offset_: float
    _memberships: Any
    _n_nearest_fitted: int

    _learned: ClassVar[Learned] = {
        "cluster_centers_": Array(("clusters", "features"), PRECISION),
        "_n_nearest_fitted": UpTo("clusters"),
        "objective_": Scalar(Number),
        "objective_path_": Array(("steps",)),
        "n_iter_": Scalar(Tally),
        "converged_": Scalar(Flag),
        "_sklearn_output_config": Scalar(OutputConfig, optional=True),
        "labels_": OF_ROWS,
        "inlier_weights_": OF_ROWS,
        "_memberships": OF_ROWS,
        "memberships_": OF_ROWS,
        "assignments_": OF_ROWS,
    }

    # What a method may have rules of its own for

    def _rate(self, X: Table) -> Rating:
        """Return what the fitted model makes of rows."""
        nearest = X.nearest(self.cluster_centers_, self._n_nearest_fitted)
        return Rating(nearest.labels[:, 0], nearest.cost, nearest.cost)

    def _belong(self, X: Table) -> NDArray[np.float64]:
        """Return the memberships of rows by the fitted model."""
        nearest = X.nearest(self.cluster_centers_, self._n_nearest_fitted)
        memberships = np.zeros((X.n_rows, len(self.cluster_centers_)))
        np.put_along_axis(memberships, nearest.labels.astype(np.intp), 1.0, axis=1)
        return memberships

    def _crisp(self, memberships: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return the clusters that membership weights stand for."""
        return memberships > DUST

    # Fitted attributes that are built when asked for

    @property
    def memberships_(self) -> NDArray[np.float64]:
        """Membership weights, (n_samples, n_clusters)."""
        check_is_fitted(self)
        return self._memberships.toarray().astype(np.float64, copy=False)

    @property
    def assignments_(self) -> NDArray[np.bool_]:
        """Clusters of the rows that are not outliers, (n_samples, n_clusters)."""
        return self._crisp(self.memberships_) & ~self.outlier_mask_[:, None]

    @property
    def inertia_(self) -> float:
        """The objective, by its name in :class:`sklearn.cluster.KMeans`."""
        check_is_fitted(self)
        return self.objective_

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    # New rows

    def _admit_new(self, X: ArrayLike) -> Table:
        """Check new rows, in the precision of the centers."""
        check_is_fitted(self)
        return admit_new(self, X)

    def predict(self, X: ArrayLike) -> NDArray[np.int32]:
        """Return the nearest cluster of each row, or -1 for an outlier."""
        rating = self._rate(self._admit_new(X))
        return np.where(-rating.scores < self.offset_, np.int32(-1), rating.labels)

    def predict_memberships(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return membership weights of new rows, those of outliers included."""
        return self._belong(self._admit_new(X))

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Return the distances to the centers, (n_samples, n_clusters)."""
        return np.sqrt(self._admit_new(X).squared_distances(self.cluster_centers_))

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return minus the outlier score of each row: higher is more normal."""
        return -self._rate(self._admit_new(X)).scores

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return ``score_samples(X) - offset_``: below 0 is an outlier."""
        return margins(self.score_samples(X), self.offset_)

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Return minus the cost, as in the objective, of the rows that are kept."""
        rating = self._rate(self._admit_new(X))
        return -float(rating.costs[-rating.scores >= self.offset_].sum())
