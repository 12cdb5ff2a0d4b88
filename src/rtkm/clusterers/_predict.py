"""What a fitted clusterer answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from rtkm._optional import import_optional
from rtkm.clusterers._confidence import CONFIDENCES, confidence_of
from rtkm.clusterers._explain import Reasons, narrower, reasons_for
from rtkm.clusterers._rule import FittedRule, PartitionedResults, RowResults
from rtkm.core.columns import look_up
from rtkm.core.fields import (
    NOT_SAVED,
    PRECISION,
    SCORES,
    Array,
    Learned,
    Level,
    Savable,
    Scalar,
    UpTo,
)
from rtkm.core.params import Flag, Number, Rule, Tally, Tolerance
from rtkm.core.sources import in_partitions, new_partitioned
from rtkm.core.table import Table
from rtkm.core.threshold import margins
from rtkm.core.validation import validate_new

if TYPE_CHECKING:
    import pandas as pd

OutputConfig = Annotated[
    dict[str, str],
    Rule(
        "what set_output takes",
        lambda v: v in [{"transform": t} for t in ("default", "pandas", "polars")],
    ),
]


class PredictMixin(
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
    _variance_fitted: float
    _largest_kept: float

    _learned: ClassVar[Learned] = {
        **SCORES,
        "cluster_centers_": Array(("clusters", "features"), PRECISION),
        "_n_nearest_fitted": UpTo("clusters"),
        "objective_": Scalar(Number),
        "objective_path_": Array(("steps",)),
        "n_iter_": Scalar(Tally),
        "converged_": Scalar(Flag),
        "_sklearn_output_config": Scalar(OutputConfig, optional=True),
        "_variance_fitted": Scalar(Tolerance),
        "_largest_kept": Scalar(Level, optional=True),
        # files from before version 0.2 do not have it
        "cluster_sizes_": Array(("clusters",), "int64", least=0, optional=True),
        "labels_": NOT_SAVED,
        "inlier_weights_": NOT_SAVED,
        "_memberships": NOT_SAVED,
        "memberships_": NOT_SAVED,
        "assignments_": NOT_SAVED,
    }

    # What a method may have a rule of its own for

    def _rule(self) -> FittedRule:
        """Return how the fitted model judges rows."""
        return FittedRule(**self._judged_by())

    def _judged_by(self) -> dict[str, Any]:
        """Return what every rule is made of."""
        return {
            "centers": self.cluster_centers_,
            "n_nearest": self._n_nearest_fitted,
            "cut": -self.offset_,
            "variance": self._variance_fitted,
            # files from before version 0.2 do not have it
            "largest_kept": self.__dict__.get("_largest_kept", np.inf),
        }

    # Fitted attributes that are built when asked for

    @property
    def memberships_(self) -> NDArray[np.float64]:
        """Membership weights, (n_samples, n_clusters).

        Examples
        --------
        >>> from rtkm import TrimmedKMeans
        >>> X = [[0.0], [1.0], [10.0], [11.0], [100.0]]
        >>> model = TrimmedKMeans(2, contamination=1, random_state=0).fit(X)
        >>> model.memberships_
        array([[1., 0.],
               [1., 0.],
               [0., 1.],
               [0., 1.],
               [0., 1.]])
        """
        check_is_fitted(self)
        return self._memberships.toarray().astype(np.float64, copy=False)

    @property
    def assignments_(self) -> NDArray[np.bool_]:
        """Clusters of the rows that are not outliers, (n_samples, n_clusters).

        Examples
        --------
        >>> from rtkm import TrimmedKMeans
        >>> X = [[0.0], [1.0], [10.0], [11.0], [100.0]]
        >>> model = TrimmedKMeans(2, contamination=1, random_state=0).fit(X)
        >>> model.assignments_
        array([[ True, False],
               [ True, False],
               [False,  True],
               [False,  True],
               [False, False]])
        """
        clusters = self._rule().assignments(self.memberships_)
        return clusters & ~self.outlier_mask_[:, None]

    @property
    def inertia_(self) -> float:
        """The objective, by its name in :class:`sklearn.cluster.KMeans`.

        Examples
        --------
        >>> from rtkm import TrimmedKMeans
        >>> X = [[0.0], [1.0], [10.0], [11.0], [100.0]]
        >>> model = TrimmedKMeans(2, contamination=1, random_state=0).fit(X)
        >>> model.inertia_ == model.objective_ == 1.0
        True
        """
        check_is_fitted(self)
        return self.objective_

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    # New rows

    def _validate_new(self, X: ArrayLike) -> Table:
        """Check new rows, in the precision of the centers."""
        check_is_fitted(self)
        return validate_new(self, X)

    def _results(self, X: ArrayLike) -> Any:
        """Return what the model makes of new rows."""
        rows = in_partitions(X)
        if rows is None:
            return RowResults(self._validate_new(X), self._rule())
        check_is_fitted(self)
        table = new_partitioned(self, rows, self.cluster_centers_)
        return PartitionedResults(table, self._rule())

    def predict(self, X: ArrayLike) -> NDArray[np.int32]:
        """Return the nearest cluster of each row, or -1 for an outlier.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows. They are all taken for new ones; ``labels_`` holds what the fit
            made of the training rows, which a few methods label otherwise.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.

        Examples
        --------
        >>> from rtkm import TrimmedKMeans
        >>> X = [[0.0], [1.0], [10.0], [11.0], [100.0]]
        >>> model = TrimmedKMeans(2, contamination=1, random_state=0).fit(X)
        >>> model.predict([[0.2], [9.0], [-100.0]])
        array([ 0,  1, -1], dtype=int32)
        """
        return self._results(X).labels

    def predict_memberships(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return membership weights of new rows, those of outliers included.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            1 for each cluster a row is in and 0 for the others; in :class:`FuzzyCMeans`
            shares that sum to 1.

        Examples
        --------
        >>> from rtkm import FuzzyCMeans
        >>> model = FuzzyCMeans(2, random_state=0).fit([[0.0], [1.0], [10.0], [11.0]])
        >>> model.predict_memberships([[0.5], [4.0], [5.5]]).round(2)
        array([[1.  , 0.  ],
               [0.78, 0.22],
               [0.5 , 0.5 ]])
        """
        return self._results(X).memberships

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Return the distances to the centers, (n_samples, n_clusters).

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Euclidean distances, float32 where the model was fitted to float32. A frame
            where ``set_output`` asked for one.

        Examples
        --------
        >>> from rtkm import TrimmedKMeans
        >>> X = [[0.0], [1.0], [10.0], [11.0], [100.0]]
        >>> model = TrimmedKMeans(2, contamination=1, random_state=0).fit(X)
        >>> model.transform([[0.5], [4.5]])
        array([[ 0., 10.],
               [ 4.,  6.]])
        """
        return np.sqrt(self._results(X).squared_distances)

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return minus the outlier score of each row: higher is more normal.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The scores; those of the training rows are ``-outlier_scores_``.

        Examples
        --------
        >>> from rtkm import TrimmedKMeans
        >>> X = [[0.0], [1.0], [10.0], [11.0], [100.0]]
        >>> model = TrimmedKMeans(2, contamination=1, random_state=0).fit(X)
        >>> model.score_samples([[1.5], [12.5], [-9.5]])
        array([  -1.,   -4., -100.])
        """
        return -self._results(X).scores

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return ``score_samples(X) - offset_``: below 0 is an outlier.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            How far rows are from the cut-off, in units of the score; infinity where no
            new row is ever an outlier.

        Examples
        --------
        >>> from rtkm import TrimmedKMeans
        >>> X = [[0.0], [1.0], [10.0], [11.0], [100.0]]
        >>> model = TrimmedKMeans(2, contamination=1, random_state=0).fit(X)
        >>> model.decision_function([[0.5], [10.5], [-99.5]]) < 0
        array([False, False,  True])
        """
        return margins(self.score_samples(X), self.offset_)

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Return minus the cost, as in the objective, of the rows that are kept.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows.
        y : ignored
            For pipelines.

        Returns
        -------
        float
            Minus the sum of the costs; 0 if no row is kept.

        Examples
        --------
        >>> from rtkm import TrimmedKMeans
        >>> X = [[0.0], [1.0], [10.0], [11.0], [100.0]]
        >>> model = TrimmedKMeans(2, contamination=1, random_state=0).fit(X)
        >>> model.score([[1.5], [12.5], [-99.5]])
        -5.0
        """
        rows = self._results(X)
        return -rows.X.total(np.where(rows.outliers, 0.0, rows.costs))

    def discriminant_factors(self, X: ArrayLike) -> NDArray[np.float64]:
        r"""Return the log odds of the second-best answer against the label of each row.

        They are 0 where another label is as good, and the lower the surer it is [1]_.
        For Gaussian clusters with one variance :math:`\sigma^2` in all directions,
        :math:`D_1 \le D_2` the squared distances to the nearest centers and T the one
        at which outliers begin, the factors are

        .. math:: \frac{D_1 - D_2}{2 \sigma^2} \text{ for inliers,} \qquad
                  \frac{T - D_1}{2 \sigma^2} \text{ for outliers.}

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            At most 0; minus infinity where there is no second answer.

        Notes
        -----
        :math:`\sigma^2` is the mean squared distance of the inliers divided by the
        number of features; in :class:`ODC` every cluster has its own, from its mean
        distance. Where rows belong to several clusters each, sums of squared distances
        take the place of these, and the second-best answer exchanges the farthest of
        the clusters. Where a set of clusters explains a row, as in :class:`OKM`, costs
        are those of the method, and the second-best answer is the cheapest set with one
        cluster more, one less, or one exchanged.

        References
        ----------
        .. [1] L. A. Garcia-Escudero, A. Gordaliza, C. Matran, A. Mayo-Iscar,
           "Exploring the number of groups in robust model-based clustering",
           Statistics and Computing 21 (2011), 585-599.

        Examples
        --------
        >>> from rtkm import TrimmedKMeans
        >>> X = [[0.0], [1.0], [10.0], [11.0], [100.0]]
        >>> model = TrimmedKMeans(2, contamination=1, random_state=0).fit(X)
        >>> model.discriminant_factors([[0.5], [5.0], [5.5]])
        array([-200.,  -20.,    0.])
        """
        return self._results(X).made_by(confidence_of).factors

    def predict_confidence(self, X: ArrayLike) -> NDArray[np.str_]:
        """Return how sure the label of each row is.

        With the odds of :meth:`discriminant_factors`:

        - ``"doubtful"``: another cluster is at least a tenth as likely for an inlier,
          or an outlier at least a tenth as likely, in its nearest cluster, as a row
          where outliers begin;
        - ``"outlier"``: any other outlier;
        - ``"border"``: an inlier whose cluster is clear, but which is less than twice
          as likely in it as a row where outliers begin, or farther out than all inliers
          of the fit;
        - ``"core"``: any other inlier.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows; like :meth:`predict`, it takes them all for new ones.

        Returns
        -------
        ndarray of str of shape (n_samples,)
            The confidences.

        Examples
        --------
        >>> from rtkm import TrimmedKMeans
        >>> X = [[0.0], [1.0], [4.0], [5.0], [8.0]]
        >>> model = TrimmedKMeans(2, contamination=1, random_state=0).fit(X)
        >>> model.predict_confidence([[0.0], [-1.95], [2.4], [8.0]])
        array(['core', 'border', 'doubtful', 'outlier'], dtype='<U8')
        """
        return look_up(CONFIDENCES, self._results(X).made_by(confidence_of).ranks)

    def explain(self, X: ArrayLike) -> pd.DataFrame:
        """Return, for each row, what its answer comes from and what would change it.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows; like :meth:`predict`, it takes them all for new ones. The frame
            has a number for every feature of every row: where that is too much, pass
            the rows in question.

        Returns
        -------
        pandas.DataFrame
            A line for each row, under the index of a pandas frame:

            ``score``, ``outlier``, ``nearest_cluster``
                The outlier score, whether it makes the row an outlier, and the nearest
                cluster, of an outlier too.
            ``confidence``, ``discriminant_factor``
                As in :meth:`predict_confidence` and :meth:`discriminant_factors`.
            ``change_feature``, ``change_from``, ``change_to``
                The smallest change of one feature that would make ``predict`` call an
                outlier an inlier, in the units of the table. Missing for inliers, and
                for outliers that no single feature can mend.
            ``part_`` and the name of a feature, for all of them
                What it adds to the score: the parts of a row sum to that.

        Notes
        -----
        The parts are those of the squared distance that the score comes from: to the
        nearest center; summed over the nearest centers where rows belong to several
        clusters each; to the mix of centers that explains the row in :class:`OKM` and
        its kin. They are scaled to sum to the score where that is something else, in
        mean squared distances for :class:`KMOR` and in mean distances for
        :class:`ODC`, or has fewer digits, as for float32 rows. Features without names
        are x0, x1, ...

        Examples
        --------
        >>> from rtkm import TrimmedKMeans
        >>> X = [[0, 0], [0, 2], [8, 0], [8, 2], [3, 8]]
        >>> model = TrimmedKMeans(2, contamination=1, random_state=0).fit(X)
        >>> frame = model.explain([[0, 2], [3, 8]])
        >>> frame[["score", "outlier", "confidence", "part_x0", "part_x1"]]
           score  outlier confidence  part_x0  part_x1
        0    1.0    False       core      0.0      1.0
        1   58.0     True    outlier      9.0     49.0
        >>> mended = ["change_feature", "change_from", "change_to"]
        >>> frame.loc[frame["outlier"], mended].round(3)
          change_feature  change_from  change_to
        1             x1          8.0      5.528
        """
        pd = import_optional("pandas", needed_by="explain")
        found = self._reasons(X)
        unnamed = [f"x{j}" for j in range(found.parts.shape[1])]
        names = getattr(self, "feature_names_in_", unnamed)
        return found.frame(names, X.index if isinstance(X, pd.DataFrame) else None)

    def _reasons(self, X: ArrayLike) -> Reasons:
        """Return what the answers for new rows come from."""
        rows = self._validate_new(X)
        return reasons_for(rows, self._rule(), narrower(rows.dtype, X))
