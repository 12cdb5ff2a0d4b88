"""Outlier removal clustering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rtkm._descent import Vertex, are_equal
from rtkm._learned import OF_ROWS, Learned
from rtkm._lloyd import StartsFromKMeans, lloyd
from rtkm._params import Tally, UpToOne
from rtkm._table import Table


@dataclass(eq=False, repr=False, kw_only=True)
class ORC(StartsFromKMeans):
    r"""Cluster by k-means, remove the farthest rows, and cluster what is left again.

    Choose it to compare with published results. Every round removes at least one row,
    good or bad, so more rounds than outliers deserve eat into the clusters; the
    farthest rows are mostly those of the widest cluster; and an outlier so extreme that
    k-means gives it a center of its own is never removed, but good rows in its stead.
    A round costs one k-means.

    It runs k-means, and then ``n_rounds`` times [1]_ removes every row with

    .. math:: \lVert x_i - c_{j(i)} \rVert >
              T \max_l \lVert x_l - c_{j(l)} \rVert

    among those left, and runs k-means on the others, from the last centers.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    threshold : float in (0, 1], default=0.9
        Share of the largest distance beyond which a row is removed (T in [1]_); 1
        removes nothing.
    n_rounds : int, default=1
        Rounds of removal (I in [1]_).
    init, n_init, max_iter, tol, random_state, verbose, on_step : shared
        As in :class:`PrototypeClusterer`; ``init`` is ``"k-means++"``. The best of
        ``n_init`` runs of k-means, each of ``max_iter`` steps at most, is cleaned.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centers.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, -1 for the removed ones.
    removal_round_ : ndarray of shape (n_samples,)
        The round in which a row was removed, 0 for those left.
    outlier_mask_, outlier_scores_, objective_, ... : shared
        As in :class:`PrototypeClusterer`; ``n_iter_`` counts the rounds, at least 1.

    See Also
    --------
    KMeansMinusMinus : Outliers may come back while the centers move.

    Notes
    -----
    The largest distance is that over all clusters; [1]_ can also be read as one for
    each. A removed row may end up nearer to the last centers than one that was left, so
    ``predict`` on the training rows can differ from ``labels_``. A round that would
    leave fewer rows than clusters does not happen, nor one in which all rows sit on
    their centers.

    References
    ----------
    .. [1] V. Hautamaki, S. Cherednichenko, I. Karkkainen, T. Kinnunen, P. Franti,
       "Improving k-means by outlier removal", SCIA 2005, LNCS 3540, 978-987.

    Examples
    --------
    >>> from rtkm import ORC
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [20.0]]
    >>> model = ORC(2, threshold=0.8, init=[[0.0], [10.0]]).fit(X)
    >>> model.labels_
    array([ 0,  0,  0,  1,  1,  1, -1], dtype=int32)
    >>> model.cluster_centers_
    array([[ 1.],
           [11.]])
    """

    _learned: ClassVar[Learned] = {"removal_round_": OF_ROWS}

    threshold: UpToOne = 0.9
    n_rounds: Tally = 1

    def _start(self, X: Table, C: NDArray[Any]) -> ORCState:
        return self._at(X, C, removal_round=np.zeros(X.n_rows, dtype=np.int32))

    def _step(self, X: Table, state: ORCState) -> ORCState:
        removed = state.removal_round.copy()
        removed[self._far_rows(X, state)] = state.n_iter + 1
        if np.array_equal(removed, state.removal_round):
            return state
        C = lloyd(X.X[removed == 0], state.C, self.max_iter).cluster_centers_
        return self._at(X, np.ascontiguousarray(C, dtype=X.dtype), removed)

    def _far_rows(self, X: Table, state: ORCState) -> NDArray[np.bool_]:
        """Return the rows to be removed next."""
        distance = np.sqrt(state.cost)
        farthest = distance[state.kept].max()
        far = state.kept & (distance > self.threshold * farthest)
        done = (
            state.n_iter >= self.n_rounds
            or farthest <= X.least_distance
            or (state.kept & ~far).sum() < self.n_clusters
        )
        return far & (not done)

    def _at(
        self, X: Table, C: NDArray[Any], removal_round: NDArray[np.int32]
    ) -> ORCState:
        kept = removal_round == 0
        # means to the last digit: those of k-means are summed in the rows' precision
        C = X.label_means(X.nearest(C, 1).labels[:, 0], kept, fallback=C)
        nearest = X.nearest(C, 1)
        return ORCState(
            C=C,
            clusters=nearest.labels,
            cost=nearest.cost,
            kept=kept,
            means=C,
            objective=float(nearest.cost[kept].sum()),
            removal_round=removal_round,
            n_rounds=self.n_rounds,
        )

    def _n_steps(self) -> int:
        return max(self.n_rounds, 1)

    def _learn(self, X: Table, state: ORCState) -> None:
        self.removal_round_ = state.removal_round


@dataclass(frozen=True, eq=False, kw_only=True)
class ORCState(Vertex):
    """What k-means makes of the rows that are left."""

    cost: NDArray[np.float64]
    removal_round: NDArray[np.int32]
    n_rounds: int

    def settled(self, last: Vertex, tol: float) -> bool:
        """Whether that was the last round, or removed nothing."""
        return self.n_iter >= self.n_rounds or are_equal(self.kept, last.kept)
