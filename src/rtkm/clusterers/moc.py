"""Model-based overlapping clustering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from rtkm._learned import Array, Learned, Scalar
from rtkm._overlap import Charges, Covered, Floats, LeastSquaresClusterer, Sets
from rtkm._params import Number
from rtkm._sets import Prices, search_sets
from rtkm._table import Table

MOST_CLUSTERS = 64


@dataclass(eq=False, repr=False, kw_only=True)
class MOC(LeastSquaresClusterer):
    r"""Explain every row as the sum of the vectors of its clusters.

    Choose it where effects add up, as in gene expression: a row in two clusters shows
    the activity of both. Since sums count from the origin, shifting the table changes
    the answer; decide what zero means first. There are no outliers. A step costs
    O(n k d) and, for each row, one look at every set of clusters; from 13 clusters on,
    sets are built up greedily.

    The model is :math:`X \approx M A` with memberships :math:`m_{ij}` in {0, 1} and
    Gaussian noise [1]_. It minimizes

    .. math:: \sum_i \Big\lVert x_i - \sum_{j \in A_i} a_j \Big\rVert^2

    over activities :math:`a_j` and non-empty sets :math:`A_i` of clusters.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters (k in [1]_), at most 64.
    init, n_init, max_iter, tol, random_state, verbose, on_step : shared
        As in :class:`PrototypeClusterer`; ``init`` is ``"k-means++"``. The fit starts
        from the best of ``n_init`` runs of k-means.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The activities (A in [1]_).
    assignments_ : ndarray of shape (n_samples, n_clusters)
        The memberships (M in [1]_).
    shares_ : ndarray of shape (n_clusters,)
        Share of the rows in each cluster (pi in [1]_).
    log_likelihood_ : float
        Minus the objective, plus the log probability of the memberships under
        ``shares_``: L in [1]_ up to its scale.
    labels_ : ndarray of shape (n_samples,)
        The cluster, of those a row is in, whose activity alone is nearest to it.
    outlier_scores_ : ndarray of shape (n_samples,)
        Squared distance to the sum of the activities.
    memberships_, objective_, ... : shared
        As in :class:`PrototypeClusterer`; there are no outliers.

    See Also
    --------
    OKM : Rows are compared with the mean of their centers, not the sum.

    Notes
    -----
    Memberships are chosen by the squared error alone, without the prior terms of [1]_,
    as the public program does; a row keeps its set where none better is found, so the
    error never rises. Where sets are built up greedily, ``predict`` on the training
    rows, which knows no last sets, can differ from ``labels_``. Activities are the
    least-squares solution for the memberships; where it is not unique, the one nearest
    to the last activities instead of the shortest, so that of an unused cluster stays.

    References
    ----------
    .. [1] A. Banerjee, C. Krumpelman, S. Basu, R. J. Mooney, J. Ghosh, "Model-based
       overlapping clustering", KDD 2005, 532-537.

    Examples
    --------
    >>> from rtkm import MOC
    >>> X = [[1.0, 0.0], [0.0, 2.0], [1.0, 2.0], [1.1, 0.0], [0.0, 1.9]]
    >>> model = MOC(2, init=[[1.0, 0.0], [0.0, 2.0]]).fit(X)
    >>> model.assignments_.astype(int).tolist()
    [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1]]
    >>> model.cluster_centers_.round(4)
    array([[ 1.0375,  0.0125],
           [-0.0125,  1.9625]])
    """

    _learned: ClassVar[Learned] = {
        "shares_": Array(("clusters",), least=0),
        "log_likelihood_": Scalar(Number),
    }

    def _mix(self, sets: Sets) -> Floats:
        return sets.astype(np.float64)

    def _find_sets(self, X: Table, C: NDArray[Any], charges: Charges) -> Sets:
        # |x - sum a|^2 = |x|^2 + sum (|x - a_j|^2 - |x|^2) + 2 sum a_j a_l over pairs
        origin = np.zeros((1, X.n_features), dtype=X.dtype)
        linear = X.squared_distances(C) - X.squared_distances(origin)
        one = np.ones(len(C) + 1)
        C = C.astype(np.float64)
        return search_sets(linear, C @ C.T, Prices(one, 2 * one, 0 * one), len(C))

    def _check(self, X: Table) -> None:
        if self.n_clusters > MOST_CLUSTERS:
            raise ValueError(
                f"n_clusters={self.n_clusters} is not valid for MOC; expected at most "
                f"{MOST_CLUSTERS}, since every cluster doubles the sets to choose from."
            )

    def _learn(self, X: Table, state: Covered) -> None:
        super()._learn(X, state)
        M = state.W
        self.shares_ = M.mean(axis=0)
        log_prior = xlogy(M, self.shares_) + xlogy(1 - M, 1 - self.shares_)
        self.log_likelihood_ = float(log_prior.sum() - state.objective)
