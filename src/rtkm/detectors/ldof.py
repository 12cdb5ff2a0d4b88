"""The local distance-based outlier factor."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from rtkm.core.fields import ANSWERS_BY_ROWS, NOT_SAVED, Learned
from rtkm.core.params import Auto, Flag, Rule, is_integer
from rtkm.core.table import Table
from rtkm.detectors._base import CountingDetector
from rtkm.detectors._neighbors import (
    Neighbors,
    make_tree,
    nearest_rows,
    other_neighbors,
)

AtLeastTwo = Annotated[
    int, Rule("an integer of at least 2", lambda v: is_integer(v, 2))
]


def judges_training_rows(detector: LDOF) -> bool:
    """Whether `fit_predict` may be called."""
    if detector.novelty:
        raise AttributeError(
            "fit_predict is not available when novelty=True; use novelty=False to "
            "judge the training rows."
        )
    return True


def judges_new_rows(detector: LDOF) -> bool:
    """Whether `predict` and its like may be called."""
    if not detector.novelty:
        raise AttributeError(
            "predict, score_samples and decision_function are not available when "
            "novelty=False; use fit_predict to judge the training rows, or "
            "novelty=True to judge new ones."
        )
    return True


@dataclass(eq=False, repr=False, kw_only=True)
class LDOF(CountingDetector):
    r"""Score rows by how far they lie outside the cloud of their neighbors.

    Choose it when normal rows are scattered: in clusters of different density, of odd
    shape, or too many to name. The factor has no units. It fails where more than
    ``n_neighbors`` outliers sit together, as each then lies inside the cloud of the
    others, and for few neighbors it is noisy: take more than there are features. It
    costs a neighbor search, O(n log n) for few features and O(n^2 d) otherwise, and
    O(n k^2 d).

    With N(x) the k nearest rows, the factor of a row is [1]_

    .. math:: \text{LDOF}(x) =
        \frac{1}{k} \sum_{q \in N(x)} \lVert x - q \rVert \bigg/
        \frac{1}{k (k - 1)} \sum_{q \ne q' \in N(x)} \lVert q - q' \rVert ,

    about 1/2 deep inside a cloud, and above 1 outside of it.

    Parameters
    ----------
    n_neighbors : "auto" or int of at least 2, default="auto"
        Neighbors to compare with (k in [1]_). A number needs more rows than that;
        ``"auto"`` is 20, or all others in a table of fewer rows.
    contamination : float in [0, 1) or int, default=0.1
        Outliers to mark (n in [1]_): a share of the rows, rounded half up to whole
        rows, or a number of rows.
    novelty : bool, default=False
        As in :class:`sklearn.neighbors.LocalOutlierFactor`. False finds the outliers
        among the training rows, by ``fit_predict``; True judges new rows by their
        neighbors among the training rows, by ``predict``, ``score_samples`` and
        ``decision_function``. These would take a training row for its own neighbor.

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

    See Also
    --------
    CBLOF : Compares with large clusters instead of neighbors.

    Notes
    -----
    A row is not its own neighbor, but rows equal to it are. Where all neighbors
    coincide the factor is infinite, or 1 if the row lies there too. Rows at equal
    distance become neighbors in their order, and always ``n_neighbors`` of them, so
    only among such ties does the order of the rows matter.

    References
    ----------
    .. [1] K. Zhang, M. Hutter, H. Jin, "A new local distance-based outlier detection
       approach for scattered real-world data", PAKDD 2009, Lecture Notes in Computer
       Science 5476, 813-822.

    Examples
    --------
    >>> from rtkm import LDOF
    >>> X = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [4.0, 4.0]]
    >>> model = LDOF(n_neighbors=3, contamination=1)
    >>> model.fit_predict(X)
    array([ 1,  1,  1,  1, -1])
    >>> model.outlier_scores_.round(6)
    array([1.      , 1.      , 1.      , 1.      , 4.171573])

    New rows:

    >>> model = LDOF(n_neighbors=3, contamination=1, novelty=True).fit(X)
    >>> model.predict([[0.5, 0.5], [-9.0, 0.0]])
    array([ 1, -1])
    """

    _learned: ClassVar[Learned] = {
        "_rows": ANSWERS_BY_ROWS,
        "_tree": NOT_SAVED,
        "_k": NOT_SAVED,
    }

    n_neighbors: Auto | AtLeastTwo = field(default="auto", kw_only=False)
    novelty: Flag = False

    def _check_row_count(self, n_rows: int) -> None:
        k = self._count_neighbors(n_rows)
        if n_rows < k + 1:
            way_out = "" if k == 2 else ", so lower n_neighbors"
            raise ValueError(
                f"n_neighbors={self.n_neighbors!r} needs at least {k + 1} rows; X has "
                f"n_samples={n_rows}{way_out}."
            )
        super()._check_row_count(n_rows)

    def _count_neighbors(self, n_rows: int) -> int:
        """Return the number of neighbors to compare with."""
        if self.n_neighbors == "auto":
            return max(2, min(20, n_rows - 1))
        return self.n_neighbors

    def _fit_factor(self, X: Table) -> NDArray[np.float64]:
        self._rows = X.X
        self._tree = make_tree(X)
        self._k = self._count_neighbors(X.n_rows)
        return outlyingness(X, other_neighbors(X, self._k, self._tree))

    def _factor(self, X: Table) -> NDArray[np.float64]:
        among = Table(self._rows, None)
        return outlyingness(among, nearest_rows(X, among, self._k, self._tree))

    fit_predict = available_if(judges_training_rows)(CountingDetector.fit_predict)
    predict = available_if(judges_new_rows)(CountingDetector.predict)
    score_samples = available_if(judges_new_rows)(CountingDetector.score_samples)
    decision_function = available_if(judges_new_rows)(
        CountingDetector.decision_function
    )


def outlyingness(among: Table, neighbors: Neighbors) -> NDArray[np.float64]:
    """Divide the mean distance to the neighbors by the mean distance among them."""
    numbers, distances = neighbors
    to_them, among_them = distances.mean(axis=1), among.mean_pair_distances(numbers)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = to_them / among_them
    factor[(to_them == 0) & (among_them == 0)] = 1.0
    return factor
