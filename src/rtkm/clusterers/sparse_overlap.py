"""Overlapping clustering with explicit and implicit sparseness: a limit, or a price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from rtkm._learned import Learned, Scalar
from rtkm._overlap import Charges, Covered, LeastSquaresClusterer
from rtkm._params import Auto, Count, Tolerance
from rtkm._table import Table

# price of a membership, in mean squared distances of k-means
PRICE = 0.1


@dataclass(eq=False, repr=False, kw_only=True)
class ESP(LeastSquaresClusterer):
    r"""Cluster rows that lie between clusters into these, up to so many.

    Choose it over :class:`OKM` when rows belong to two or three clusters at most: sets
    of clusters are searched through instead of grown, and the centers solved for, which
    ends lower. There are no outliers. A step costs O(n k d) and, for each row, one look
    at every allowed set; above 5000 of these they are built up greedily.

    With the image :math:`\bar x_i` of a row, the mean of the centers of its clusters
    :math:`A_i`, it minimizes

    .. math:: \sum_i \lVert x_i - \bar x_i \rVert^2
              \quad \text{subject to} \quad 1 \le |A_i| \le s .

    This is a **reconstruction**: of [1]_ little more than the idea is publicly
    described, and this is our reading of it.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_memberships : int, default=2
        Most clusters of a row (s above); 1 is k-means, and more than there are is all.
    init, n_init, max_iter, tol, random_state, verbose, on_step : shared
        As in :class:`PrototypeClusterer`; ``init`` is ``"k-means++"``. The fit starts
        from the best of ``n_init`` runs of k-means.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centers.
    assignments_ : ndarray of shape (n_samples, n_clusters)
        The sets A.
    labels_, memberships_, outlier_scores_, objective_, ... : shared
        As in :class:`OKM`.

    See Also
    --------
    ISP : A price on memberships instead of a limit.

    Notes
    -----
    The centers are the least-squares solution for the sets; where it is not unique, the
    one nearest to the last centers, so an unused center stays. A row keeps its set
    where none better is found; where sets are built up greedily, ``predict`` on the
    training rows, which knows no last sets, can differ from ``labels_``.

    References
    ----------
    .. [1] H. Lu, Y. Hong, W. N. Street, F. Wang, H. Tong, "Overlapping clustering with
       sparseness constraints", ICDM Workshops 2012, 486-494.

    Examples
    --------
    >>> from rtkm import ESP
    >>> X = [[0.0], [1.0], [4.0], [9.0], [10.0]]
    >>> model = ESP(2, random_state=0).fit(X)
    >>> model.assignments_.sum(axis=1)
    array([1, 1, 2, 1, 1])
    >>> round(model.objective_, 6)
    1.8
    """

    n_memberships: Count = 2

    def _charges(self, X: Table, C: NDArray[Any]) -> Charges:
        return Charges(most=self.n_memberships)


@dataclass(eq=False, repr=False, kw_only=True)
class ISP(LeastSquaresClusterer):
    r"""Cluster rows that lie between clusters into these, at a price for each.

    Choose it over :class:`ESP` when some rows belong to many clusters and most to one.
    There are no outliers. A step costs O(n k d) and, for each row, one look at every
    set of clusters; from 13 clusters on, sets are built up greedily.

    With the image :math:`\bar x_i` of a row, the mean of the centers of its clusters
    :math:`A_i`, it minimizes

    .. math:: \sum_i \big( \lVert x_i - \bar x_i \rVert^2
              + \lambda (|A_i| - 1) \big) .

    This is a **reconstruction**: of [1]_ little more than the idea is publicly
    described, and this is our reading of it.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    overlap_penalty : "auto" or float, default="auto"
        Price of a further cluster (lambda above), a squared distance; ``"auto"`` is a
        tenth of the mean squared distance of k-means.
    init, n_init, max_iter, tol, random_state, verbose, on_step : shared
        As in :class:`PrototypeClusterer`; ``init`` is ``"k-means++"``. The fit starts
        from the best of ``n_init`` runs of k-means.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centers.
    assignments_ : ndarray of shape (n_samples, n_clusters)
        The sets A.
    overlap_penalty_ : float
        The price that was used.
    labels_, memberships_, outlier_scores_, objective_, ... : shared
        As in :class:`OKM`.

    See Also
    --------
    ESP : A limit on memberships instead of a price.
    ROKM : Prices without units.

    Notes
    -----
    As for :class:`ESP`.

    References
    ----------
    .. [1] H. Lu, Y. Hong, W. N. Street, F. Wang, H. Tong, "Overlapping clustering with
       sparseness constraints", ICDM Workshops 2012, 486-494.

    Examples
    --------
    >>> from rtkm import ISP
    >>> X = [[0.0], [1.0], [4.0], [9.0], [10.0]]
    >>> for overlap_penalty in (0.5, 20.0):
    ...     model = ISP(2, overlap_penalty=overlap_penalty, random_state=0).fit(X)
    ...     print(model.assignments_.sum(axis=1))
    [1 1 2 1 1]
    [1 1 1 1 1]
    """

    _learned: ClassVar[Learned] = {"overlap_penalty_": Scalar(Tolerance)}

    overlap_penalty: Auto | Tolerance = "auto"

    def _charges(self, X: Table, C: NDArray[Any]) -> Charges:
        if self.overlap_penalty == "auto":
            return Charges(membership=PRICE * float(X.nearest(C, 1).cost.mean()))
        return Charges(membership=float(self.overlap_penalty))

    def _learn(self, X: Table, state: Covered) -> None:
        super()._learn(X, state)
        self.overlap_penalty_ = state.charges.membership
