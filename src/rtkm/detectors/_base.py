"""What every detector shares: fitting, the cut between scores, and new rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, OutlierMixin, is_clusterer
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from rtkm.core.fields import PRECISION, SCORES, Array, Learned, Savable
from rtkm.core.params import OutlierRows, Rule, check_params, is_number, whole_rows
from rtkm.core.sketch import sketch_of
from rtkm.core.table import Table, column_ends, smallest
from rtkm.core.threshold import boundary, is_outlier, margins
from rtkm.core.validation import validate, validate_new


def has_clusters(value: Any) -> bool:
    """Whether the value is a clusterer: an object, not its class."""
    is_estimator = hasattr(value, "__sklearn_tags__") and not isinstance(value, type)
    return is_estimator and is_clusterer(value)


Clusterer = Annotated[
    Any,
    Rule(
        "None or a clusterer, such as RTKM(n_clusters=5)",
        lambda v: v is None or has_clusters(v),
    ),
]
OpenShare = Annotated[
    float,
    Rule("a number above 0 and below 1", lambda v: is_number(v, above=0) and v < 1),
]


@dataclass(eq=False, repr=False, kw_only=True)
class OutlierDetector(OutlierMixin, Savable, BaseEstimator):
    """Base of all detectors.

    A subclass is a dataclass whose fields are its parameters. It gives three methods:
    ``_fit_factor(X)`` learns from the rows and returns their outlier factors,
    ``_decide(X, factors)`` says which of them are outliers, and ``_factor(X)`` returns
    the factors of new rows.

    Attributes
    ----------
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
    """

    _learned: ClassVar[Learned] = {
        **SCORES,
        "_ends": Array((2, "features"), PRECISION),
    }

    # What a method is made of

    def _fit_factor(self, X: Table) -> NDArray[np.float64]:
        """Learn from the rows and return their outlier factors."""
        raise NotImplementedError

    def _decide(
        self, X: Table, factors: NDArray[np.float64]
    ) -> tuple[NDArray[np.bool_], float]:
        """Return the outliers, and the factor above which new rows are outliers."""
        raise NotImplementedError

    def _factor(self, X: Table) -> NDArray[np.float64]:
        """Return the outlier factors of new rows."""
        raise NotImplementedError

    def _check_row_count(self, n_rows: int) -> None:
        """Refuse tables with too few rows."""

    # Fitting

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn what is normal, and find the outliers.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows; float32 stays float32. :class:`CBOD` takes no CSR matrix, nor does
            a detector whose ``clusterer`` takes none.
        y : ignored
            For pipelines.

        Returns
        -------
        self
            The same object, fitted.

        Examples
        --------
        >>> from rtkm import CBLOF, TrimmedKMeans
        >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [20.0], [21.0]]
        >>> clusterer = TrimmedKMeans(2, contamination=0, random_state=0)
        >>> detector = CBLOF(clusterer, size_ratio=3, contamination=2)
        >>> detector.fit(X).n_outliers_
        2
        """
        check_params(self)
        rows = validate(self, X)
        self._check_row_count(rows.n_rows)
        factors = self._fit_factor(rows)
        self._ends = column_ends(rows.X).astype(rows.dtype)
        self.outlier_scores_ = factors
        self.outlier_mask_, cut = self._decide(rows, factors)
        self.n_outliers_ = int(self.outlier_mask_.sum())
        self.offset_ = -cut
        labels = np.where(self.outlier_mask_, -1, 0)
        no_centers = np.empty((0, rows.n_features))
        self._sketch = sketch_of(rows, self.outlier_mask_, labels, no_centers)
        return self

    def fit_predict(self, X: ArrayLike, y: object = None) -> NDArray[np.int64]:
        """Fit, and return 1 for inliers and -1 for outliers among these rows.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows, as for :meth:`fit`.
        y : ignored
            For pipelines.

        Returns
        -------
        ndarray of shape (n_samples,)
            1 or -1 for each row; ``outlier_mask_`` says the same.

        Examples
        --------
        >>> from rtkm import CBLOF, TrimmedKMeans
        >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [20.0], [21.0]]
        >>> clusterer = TrimmedKMeans(2, contamination=0, random_state=0)
        >>> CBLOF(clusterer, size_ratio=3, contamination=2).fit_predict(X)
        array([ 1,  1,  1,  1,  1,  1, -1, -1])
        """
        return np.where(self.fit(X).outlier_mask_, -1, 1)

    # New rows

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return 1 for inliers and -1 for outliers.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows, in the form that :meth:`fit` takes.

        Returns
        -------
        ndarray of shape (n_samples,)
            1 or -1 for each row.

        Examples
        --------
        >>> from rtkm import CBLOF, TrimmedKMeans
        >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [20.0], [21.0]]
        >>> clusterer = TrimmedKMeans(2, contamination=0, random_state=0)
        >>> detector = CBLOF(clusterer, size_ratio=3, contamination=2).fit(X)
        >>> detector.predict([[2.5], [-20.0]])
        array([ 1, -1])
        """
        return np.where(is_outlier(-self.score_samples(X), -self.offset_), -1, 1)

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return minus the outlier factor of each row: higher is more normal.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows, in the form that :meth:`fit` takes.

        Returns
        -------
        ndarray of shape (n_samples,)
            The scores, in the units of ``outlier_scores_``.

        Examples
        --------
        >>> from rtkm import CBLOF, TrimmedKMeans
        >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [20.0], [21.0]]
        >>> clusterer = TrimmedKMeans(2, contamination=0, random_state=0)
        >>> detector = CBLOF(clusterer, size_ratio=3, contamination=2).fit(X)
        >>> detector.score_samples([[3.5], [-20.0]])
        array([ -1. , -22.5])
        """
        check_is_fitted(self)
        return -self._factor(validate_new(self, X, near=self._ends))

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return ``score_samples(X) - offset_``: below 0 is an outlier.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows, in the form that :meth:`fit` takes.

        Returns
        -------
        ndarray of shape (n_samples,)
            How far rows are from the cut-off, in units of the score.

        Examples
        --------
        >>> from rtkm import CBLOF, TrimmedKMeans
        >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [20.0], [21.0]]
        >>> clusterer = TrimmedKMeans(2, contamination=0, random_state=0)
        >>> detector = CBLOF(clusterer, size_ratio=3, contamination=2).fit(X)
        >>> detector.decision_function([[3.5], [-20.0]]) < 0
        array([False,  True])
        """
        return margins(self.score_samples(X), self.offset_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@dataclass(eq=False, repr=False, kw_only=True)
class CountingDetector(OutlierDetector):
    """Base of detectors that are told how many outliers to expect.

    Parameters
    ----------
    contamination : float in [0, 1) or int, default=0.1
        Outliers to mark: a share of the rows, rounded half up to whole rows, or a
        number of rows.
    """

    contamination: OutlierRows = 0.1

    def _n_outliers(self, n_rows: int) -> int:
        """Return the number of rows to call outliers."""
        return whole_rows(self.contamination, n_rows)

    def _check_row_count(self, n_rows: int) -> None:
        asked = self._n_outliers(n_rows)
        if asked >= n_rows:
            raise ValueError(
                f"contamination={self.contamination!r} asks for {asked} outliers; X "
                f"has n_samples={n_rows}, so ask for fewer."
            )

    def _decide(
        self, X: Table, factors: NDArray[np.float64]
    ) -> tuple[NDArray[np.bool_], float]:
        return mark_largest(factors, self._n_outliers(X.n_rows))


def mark_largest(
    factors: NDArray[np.float64], count: int
) -> tuple[NDArray[np.bool_], float]:
    """Mark the largest factors, and return a cut below them; ties keep the first."""
    kept = smallest(factors, len(factors) - count)
    return ~kept, boundary(factors, kept, ~kept)


def default_size(X: Table, most: int = 8) -> int:
    """Return the clusters to look for by default: no more than distinct rows."""
    return min(X.count_distinct(most), most)


def takes_sparse(clusterer: Any) -> bool:
    """Whether a clusterer accepts CSR rows, as those used by default do."""
    return not has_clusters(clusterer) or get_tags(clusterer).input_tags.sparse


def centers_of(clusterer: Any, X: Table) -> NDArray[Any] | None:
    """Return the centers of a fitted clusterer, if it has any, as the table's type."""
    centers = getattr(clusterer, "cluster_centers_", None)
    if centers is None:
        return None
    dense = centers.toarray() if sparse.issparse(centers) else centers
    return np.ascontiguousarray(dense, dtype=X.dtype) if len(dense) else None
