"""How sure the answers of a fitted clusterer are."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rtkm._answers import Answers
from rtkm._learned import Learned, Scalar
from rtkm._params import Tolerance
from rtkm._table import Table

Floats = NDArray[np.float64]

CONFIDENCES = np.array(["core", "border", "doubtful", "outlier"])
CORE, BORDER, DOUBTFUL, OUTLIER = range(4)

# odds, as logarithms: those of another label that make the label doubtful, as in
# tclust, and those of a row at the cut that put an inlier on the border
DOUBTFUL_ODDS = float(np.log(1 / 10))
BORDER_ODDS = float(np.log(1 / 2))


class Judgement(NamedTuple):
    """Answers for rows, and how sure they are; `ranks` are places in CONFIDENCES."""

    labels: NDArray[np.int32]
    scores: Floats
    outliers: NDArray[np.bool_]
    factors: Floats
    ranks: NDArray[np.int8]


class Confidence(Answers):
    """Answers with the odds against them."""

    # set by a fit
    inlier_weights_: Floats
    outlier_scores_: Floats
    _variance_fitted: float

    _learned: ClassVar[Learned] = {"_variance_fitted": Scalar(Tolerance)}

    # What a method may have rules of its own for

    def _squared_cutoffs(self) -> Floats:
        """Return the largest squared distance of an inlier, by its nearest cluster."""
        return np.full(len(self.cluster_centers_), -self.offset_)

    def _margins(self, X: Table) -> Floats:
        """Return what the second-best assignment costs rows more than the best."""
        nearest = X.nearest(self.cluster_centers_, self._n_nearest_fitted)
        return nearest.spare - nearest.squared[:, -1]

    def _variances(self) -> Floats:
        """Return the variance of a feature in each cluster."""
        return np.full(len(self.cluster_centers_), self._variance_fitted)

    def _inlier_variance(self, X: Table) -> float:
        """Return the variance of a feature over what is kept, when fitted."""
        kept = self.inlier_weights_
        n_squares = X.total(kept) * X.n_features * self._n_nearest_fitted
        return X.total(kept * self.outlier_scores_) / n_squares

    # Answers

    def discriminant_factors(self, X: ArrayLike) -> Floats:
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
        return self._judge(self._admit_new(X)).factors

    def predict_confidence(self, X: ArrayLike) -> NDArray[np.str_]:
        """Return how sure the label of each row is.

        With the odds of :meth:`discriminant_factors`:

        - ``"doubtful"``: another cluster is at least a tenth as likely for an inlier,
          or an outlier at least a tenth as likely, in its nearest cluster, as a row
          where outliers begin;
        - ``"outlier"``: any other outlier;
        - ``"border"``: an inlier whose cluster is clear, but which is less than twice
          as likely in it as a row where outliers begin;
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
        return CONFIDENCES[self._judge(self._admit_new(X)).ranks]

    def _judge(self, X: Table) -> Judgement:
        labels, scores, _ = self._rate(X)
        outliers = -scores < self.offset_
        nearest = X.nearest(self.cluster_centers_, self._n_nearest_fitted)
        beyond = nearest.cost - self._squared_cutoffs()[labels]
        ahead = np.where(outliers, beyond, self._margins(X))
        unit = 2 * self._variances()[labels]
        # by rounding, or where sets are not searched through, another may be better
        factors = 0.0 - ratio(np.maximum(ahead, 0.0), unit)
        ranks = np.where(outliers, OUTLIER, CORE).astype(np.int8)
        near_the_cut = ratio(beyond, unit) > BORDER_ODDS
        # on its center a row is in the core, even if nothing else is an inlier
        ranks[~outliers & near_the_cut & (nearest.cost > 0)] = BORDER
        ranks[factors > DOUBTFUL_ODDS] = DOUBTFUL
        return Judgement(labels, scores, outliers, factors, ranks)


def ratio(differences: Floats, units: Floats) -> Floats:
    """Divide; without a unit no difference is small, but for none at all."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotients = differences / units
    return np.where(differences == 0, 0.0, quotients)
