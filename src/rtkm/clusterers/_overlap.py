"""What the methods share that explain a row by the centers of a set of clusters."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from rtkm.clusterers._base import PrototypeClusterer
from rtkm.clusterers._lloyd import StartsFromKMeans
from rtkm.clusterers._rule import Chosen, FittedRule, RowResults
from rtkm.core.fields import Learned, Record
from rtkm.core.params import Count, Number, Tolerance
from rtkm.core.sets import Prices, search_sets
from rtkm.core.states import DUST, State
from rtkm.core.table import Table, one_hot

Floats = NDArray[np.float64]
Sets = NDArray[np.bool_]


class Charges(NamedTuple):
    """What a set of s clusters costs a row, and how large it may be.

    The cost is ``s**exponent`` times the squared distance to the image, `distance`
    times the mean squared distance to the centers, and `membership` for each cluster
    beyond the first. No set has more than `most` clusters.
    """

    exponent: Number = 0.0
    distance: Tolerance = 0.0
    membership: Tolerance = 0.0
    most: Count = sys.maxsize


@dataclass(frozen=True, eq=False, kw_only=True)
class Covered(State):
    """A state in which every row has a set of clusters, found at these charges."""

    charges: Charges

    @property
    def sets(self) -> Sets:
        """The clusters of each row, (n, k)."""
        return self.W > DUST


@dataclass(eq=False, repr=False, kw_only=True)
class OverlappingClusterer(PrototypeClusterer):
    """Base of the clusterers that explain a row by a set of clusters.

    The centers of the set make an image of the row: their mean, unless `_mix` says
    otherwise. A subclass tells how to look for a cheap set (`_find_sets`) and how
    centers follow the sets (`_move`).

    Attributes
    ----------
    outlier_scores_ : ndarray of shape (n_samples,)
        Squared distance of each row to the mean of its clusters' centers; larger is
        more outlying.
    """

    _learned: ClassVar[Learned] = {"_charges_fitted": Record(Charges)}

    def _charges(self, X: Table, C: NDArray[Any]) -> Charges:
        """Return what sets cost, for all of a descent."""
        return Charges()

    def _find_sets(self, X: Table, C: NDArray[Any], charges: Charges) -> Sets:
        """Return a cheap set of clusters for every row."""
        raise NotImplementedError

    def _move(self, X: Table, state: Covered) -> Floats:
        """Return centers at which the sets cost no more."""
        raise NotImplementedError

    def _mix(self, sets: Sets) -> Floats:
        """Return what each center counts for in each row's image."""
        return sets / sets.sum(axis=1, keepdims=True)

    def _prices(self, n_clusters: int, charges: Charges) -> Prices:
        """Return the charges in terms of distances, by the size of the set.

        The squared residual of a mean of s centers is the mean of their squared
        distances less the sum of those between them divided by s squared.
        """
        s = np.maximum(np.arange(n_clusters + 1.0), 1.0)  # no set is empty
        with np.errstate(over="ignore"):  # what is too dear for a float is not bought
            linear = s ** (charges.exponent - 1) + charges.distance / s
            pair = -(s ** (charges.exponent - 2))
            return Prices(linear, pair, charges.membership * (s - 1))

    def _costs(self, X: Table, C: NDArray[Any], sets: Sets, charges: Charges) -> Floats:
        """Return what each row adds to the objective."""
        B, size = self._mix(sets), sets.sum(axis=1)
        # the dearest float, not infinity: at any price, no distance costs nothing
        with np.errstate(over="ignore"):
            price = np.minimum(size**charges.exponent, np.finfo(float).max)
            cost = price * X.squared_residuals(B, C)
        if charges.distance:
            cost += charges.distance * (B * X.squared_distances(C)).sum(axis=1)
        return cost + charges.membership * (size - 1)

    def _start(self, X: Table, C: NDArray[Any]) -> Covered:
        charges = self._charges(X, C)
        return covered(C, charges, *self._choose(X, C, charges))

    def _step(self, X: Table, state: Covered) -> Covered:
        C = np.ascontiguousarray(self._move(X, state), dtype=X.dtype)
        sets, costs = self._choose(X, C, state.charges, state.sets)
        return covered(C, state.charges, sets, costs)

    def _choose(
        self, X: Table, C: NDArray[Any], charges: Charges, *others: Sets
    ) -> tuple[Sets, Floats]:
        """Return the cheapest set of each row, and its cost.

        A search may miss the best, or lose its digits where centers lie far out: the
        nearest cluster alone, and any other sets, get a chance as well.
        """
        sets = self._find_sets(X, C, charges)
        costs = self._costs(X, C, sets, charges)
        for other in (nearest_alone(X, C), *others):
            other_costs = self._costs(X, C, other, charges)
            sets = np.where((other_costs < costs)[:, None], other, sets)
            costs = np.minimum(costs, other_costs)
        return sets, costs

    def _learn(self, X: Table, state: Covered) -> None:
        self._charges_fitted = state.charges

    def _rule(self) -> OverlapRule:
        return OverlapRule(
            **self._judged_by(), method=self, charges=self._charges_fitted
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class OverlapRule(FittedRule):
    """Rows by the image that the centers of their cheapest set make of them."""

    method: OverlappingClusterer
    charges: Charges

    def choose(self, rows: RowResults) -> Chosen:
        """Return the cheapest sets."""
        return Chosen(*self.method._choose(rows.X, self.centers, self.charges))

    def clusters(self, rows: RowResults) -> NDArray[np.int32]:
        """Return the nearest cluster of each row's set."""
        D = np.where(rows.chosen.sets, rows.squared_distances, np.inf)
        return D.argmin(axis=1).astype(np.int32)

    def scores(self, rows: RowResults) -> Floats:
        """Return the squared distances to the images."""
        B = self.method._mix(rows.chosen.sets)
        return rows.X.squared_residuals(B, self.centers)

    def costs(self, rows: RowResults) -> Floats:
        """Return what the sets cost."""
        return rows.chosen.costs

    def targets(self, rows: RowResults) -> Floats:
        """Return the images."""
        return self.method._mix(rows.chosen.sets) @ self.centers.astype(np.float64)

    def parts(self, rows: RowResults) -> Floats:
        """Return what features add to the squared distance to the image."""
        return np.square(rows.dense - self.targets(rows))

    def margins(self, rows: RowResults) -> Floats:
        """Return what the cheapest set that differs by one cluster costs more."""
        return self._second(rows).costs - rows.chosen.costs

    def second_best(self, rows: RowResults) -> NDArray[np.bool_]:
        """Return the cheapest sets that differ by one cluster."""
        return self._second(rows).sets

    def times_as_far(self, rows: RowResults) -> Floats:
        """Return NaN: it is not one center that decides."""
        return np.full(rows.X.n_rows, np.nan)

    def _second(self, rows: RowResults) -> Chosen:
        """Return the cheapest sets that differ by one cluster, and their costs."""
        sets, costs = rows.chosen.sets.copy(), np.full(rows.X.n_rows, np.inf)
        for at, others in neighbors(rows.chosen.sets, self.charges.most):
            other_costs = self.method._costs(
                rows.X.part(at), self.centers, others, self.charges
            )
            lower = other_costs < costs[at]
            sets[at[lower]], costs[at[lower]] = others[lower], other_costs[lower]
        return Chosen(sets, costs)


@dataclass(eq=False, repr=False, kw_only=True)
class LeastSquaresClusterer(OverlappingClusterer, StartsFromKMeans):
    """Base of those that start from k-means, search all sets and solve for centers."""

    def _start(self, X: Table, C: NDArray[Any]) -> Covered:
        charges, alone = self._charges(X, C), nearest_alone(X, C)
        return covered(C, charges, alone, self._costs(X, C, alone, charges))

    def _find_sets(self, X: Table, C: NDArray[Any], charges: Charges) -> Sets:
        prices = self._prices(len(C), charges)
        D = X.squared_distances(C)
        return search_sets(D, squared_gaps(C), prices, min(charges.most, len(C)))

    def _move(self, X: Table, state: Covered) -> Floats:
        G, residual = normal_equations(X, self._mix(state.sets), state.C)
        # where the sets do not determine the centers, these move no more than needed
        return state.C + np.linalg.pinv(G, rcond=1e-12, hermitian=True) @ residual


def covered(C: NDArray[Any], charges: Charges, sets: Sets, costs: Floats) -> Covered:
    """Return the state in which rows have these sets."""
    return Covered(
        C=C,
        W=sets.astype(np.float64),
        v=np.ones(len(sets)),
        objective=float(costs.sum()),
        charges=charges,
    )


def neighbors(sets: Sets, most: int) -> Iterator[tuple[NDArray[np.int64], Sets]]:
    """Yield rows with their sets, but for one cluster more, one less or one exchanged.

    No set is empty or has more than `most` clusters.
    """
    nobody = sets.shape[1]  # a further cluster, for rows that leave or join none
    padded = np.pad(sets, ((0, 0), (0, 1)))
    can_leave, can_join = padded.copy(), ~padded
    can_leave[:, nobody] = True
    sizes = sets.sum(axis=1)
    for leaves, joins in itertools.permutations(range(nobody + 1), 2):
        size = sizes - (leaves != nobody) + (joins != nobody)
        is_allowed = (size >= 1) & (size <= most)
        at = np.flatnonzero(can_leave[:, leaves] & can_join[:, joins] & is_allowed)
        if len(at):
            others = padded[at]
            others[:, leaves], others[:, joins] = False, True
            yield at, others[:, :nobody]


def nearest_alone(X: Table, C: NDArray[Any]) -> Sets:
    """Return sets of the nearest cluster."""
    return one_hot(X.nearest(C, 1).labels[:, 0], len(C))


def squared_gaps(C: NDArray[Any]) -> Floats:
    """Return the squared distances between the centers."""
    return cdist(C, C, "sqeuclidean").astype(np.float64)


def normal_equations(
    X: Table, B: Floats, C: NDArray[Any], weights: Floats | float = 1.0
) -> tuple[Floats, Floats]:
    """Return the matrix and the residual at C of the equations for the best centers.

    They minimize the weighted squared distances of the rows to their images ``B C``.
    """
    weighted = B * np.reshape(weights, (-1, 1))
    # a product of NumPy would be rounded by the number of threads
    G, _ = Table(np.ascontiguousarray(B), None).weighted_sums(weighted)
    sums, _ = X.weighted_sums(weighted)
    return G, sums - G @ C
