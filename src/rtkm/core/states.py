"""Iterates: what a step hands to the next, and when it has settled."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rtkm import _native
from rtkm.core.columns import Column, Node, look_up, rowwise
from rtkm.core.threads import n_threads

if TYPE_CHECKING:
    from rtkm.core.table import Table

# weights closer than this to 0 or 1 are rounding dust
DUST = 1e-10


class Iterate(Protocol):
    """What every state is: an iterate that steps are made from, and compared by.

    A step of a method takes and returns states of its own class, which are dataclasses.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def C(self) -> NDArray[Any]:  # noqa: N802
        """Centers (k, d)."""

    @property
    def W(self) -> NDArray[np.float64]:  # noqa: N802
        """Memberships (n, k)."""

    @property
    def v(self) -> NDArray[np.float64]:
        """Inlier weights (n,)."""

    @property
    def objective(self) -> float:
        """What the method minimizes."""

    @property
    def n_iter(self) -> int:
        """Steps so far."""

    @property
    def level(self) -> float:
        """What iterates are compared by: the objective, or a mean of it."""

    @property
    def n_memberships(self) -> int:
        """Nearest centers that a row sits on if it sits on any."""

    @property
    def inlier_mask(self) -> NDArray[np.bool_]:
        """Rows that are inliers."""

    @property
    def n_partial(self) -> int:
        """Rows that are kept or shared in part only because it ended too early."""

    def compact_memberships(self) -> sparse.csr_array | Memberships:
        """Return the memberships without zeros."""

    def labels(self, X: Table) -> NDArray[np.int32]:
        """Return the nearest of the centers each row belongs to."""

    def renumbered(self, order: NDArray[np.intp]) -> Self:
        """Return the same iterate with its clusters in another order.

        It is to be read, and no step can start from it: what only steps need is freed.
        """

    def settled(self, last: Any, tol: float) -> bool:
        """Whether the descent has come to rest."""


@dataclass(frozen=True, eq=False, kw_only=True)
class State:
    """One iterate of a method with weights: what a step hands to the next.

    `C` are the centers (k, d), `W` the memberships (n, k), `v` the inlier weights (n,).
    """

    C: NDArray[Any]
    W: NDArray[np.float64]
    v: NDArray[np.float64]
    objective: float
    n_iter: int = 0

    @property
    def level(self) -> float:
        """What iterates are compared by."""
        return self.objective

    @property
    def n_memberships(self) -> int:
        """Nearest centers that a row sits on if it sits on any."""
        return 1

    @property
    def inlier_mask(self) -> NDArray[np.bool_]:
        """Rows that are kept whole."""
        return self.v >= 1 - DUST

    @property
    def n_partial(self) -> int:
        """Rows that are kept or shared in part only because it ended too early."""
        return 0

    def compact_memberships(self) -> sparse.csr_array:
        """Return the weights that are not zero."""
        return sparse.csr_array(np.where(self.W > DUST, self.W, 0.0))

    def labels(self, X: Table) -> NDArray[np.int32]:
        """Return the nearest of the centers each row belongs to."""
        D = np.where(self.W > DUST, X.squared_distances(self.C), np.inf)
        return D.argmin(axis=1).astype(np.int32)

    def renumbered(self, order: NDArray[np.intp]) -> Self:
        """Return the same iterate with its clusters in another order."""
        return replace(self, C=self.C[order], W=self.W[:, order])

    def settled(self, last: State, tol: float) -> bool:
        """Whether the objective has stopped falling."""
        return last.objective - self.objective <= tol * abs(last.objective)


class Nearest(NamedTuple):
    """Each row's nearest centers: their numbers and squared distances, (n, s) each.

    `cost` is the sum of those distances, `spare` the distance of the next center.
    """

    labels: NDArray[np.int32]
    squared: NDArray[np.float64]
    cost: NDArray[np.float64]
    spare: NDArray[np.float64]


class Cut(NamedTuple):
    """Where trimming falls: `row` keeps `share` of itself, costlier rows nothing."""

    threshold: float
    row: int
    share: float


NO_CUT = Cut(np.inf, np.iinfo(np.int64).max, 1.0)


class Memberships(NamedTuple):
    """Memberships of rows that mostly belong to s `clusters` (n, s) whole.

    Rows whose clusters are below 0 share themselves; their weights are the lines of
    `shares`, in order.
    """

    clusters: NDArray[np.int32]
    shares: sparse.csr_array

    def toarray(self) -> NDArray[np.float64]:
        """Return the weights (n, k)."""
        if not isinstance(self.clusters, np.ndarray):
            # hard states alone have columns
            return rowwise(whole_memberships, self.clusters, k=self.shares.shape[1])
        W = np.zeros((len(self.clusters), self.shares.shape[1]))
        is_whole = self.clusters[:, 0] >= 0
        W[np.flatnonzero(is_whole)[:, None], self.clusters[is_whole]] = 1.0
        W[~is_whole] = self.shares.toarray()
        return W

    def masses(self, X: Table, kept: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what each cluster has of rows of which so much is kept."""
        k = self.shares.shape[1]
        masses = X.label_sums(kept, self.clusters, k)[0]
        if self.shares.shape[0]:
            parts = np.repeat(
                kept[self.clusters[:, 0] < 0], np.diff(self.shares.indptr)
            )
            labels = self.shares.indices.astype(np.int32, copy=False)[:, None]
            parts *= self.shares.data
            masses += _native.label_sums(parts, labels, k, n_threads())[0]
        return masses

    def tocsr(self) -> sparse.csr_array:
        """Return the weights that are not zero."""
        n, s = self.clusters.shape
        is_whole = self.clusters[:, 0] >= 0
        counts = np.full(n, s)
        counts[~is_whole] = np.diff(self.shares.indptr)
        ends = np.concatenate([[0], np.cumsum(counts)])
        from_shares = np.repeat(~is_whole, counts)
        columns = np.empty(ends[-1], dtype=np.int32)
        columns[~from_shares] = self.clusters[is_whole].ravel()
        columns[from_shares] = self.shares.indices
        weights = np.ones(ends[-1])
        weights[from_shares] = self.shares.data
        return sparse.csr_array((weights, columns, ends), (n, self.shares.shape[1]))


def whole_memberships(clusters: NDArray[np.int32], *, k: int) -> NDArray[np.float64]:
    """Return the weights (n, k) of rows that belong whole to (n, s) clusters."""
    return Memberships(clusters, sparse.csr_array((0, k))).toarray()


@dataclass(frozen=True, eq=False, kw_only=True)
class HardState:
    """An iterate at a vertex: rows in their nearest clusters, and kept or trimmed.

    It reads like a `State`, but `W` and `v` are made when asked for. `clusters` (n, s)
    are those of each row, in any order; `means` are the centers of the next step.
    """

    C: NDArray[Any]
    clusters: NDArray[np.int32]
    kept: NDArray[np.bool_]
    means: NDArray[Any]
    objective: float
    cut: Cut = NO_CUT
    n_iter: int = 0

    @property
    def W(self) -> NDArray[np.float64]:  # noqa: N802
        """Memberships (n, k)."""
        return self.compact_memberships().toarray()

    @property
    def v(self) -> NDArray[np.float64]:
        """Inlier weights (n,)."""
        v = self.kept.astype(np.float64)
        if self.cut.row < len(v):
            v[self.cut.row] = self.cut.share
        return v

    @property
    def level(self) -> float:
        """What iterates are compared by."""
        return self.objective

    @property
    def n_memberships(self) -> int:
        """Clusters of each row."""
        return self.clusters.shape[1]

    @property
    def inlier_mask(self) -> NDArray[np.bool_]:
        """Rows of which any part is kept."""
        return self.kept

    @property
    def n_partial(self) -> int:
        """Rows that are kept or shared in part only because it ended too early."""
        return 0

    def compact_memberships(self) -> Memberships:
        """Return the memberships, none of them shared."""
        return Memberships(self.clusters, sparse.csr_array((0, len(self.C))))

    def renumbered(self, order: NDArray[np.intp]) -> Self:
        """Return the same iterate with its clusters in another order."""
        numbers = look_up(places_in(order), self.clusters)
        return replace(self, C=self.C[order], means=self.means[order], clusters=numbers)

    def labels(self, X: Table) -> NDArray[np.int32]:
        """Return each row's nearest center."""
        several = self.clusters.shape[1] > 1
        return X.nearest(self.C, 1).labels[:, 0] if several else self.clusters[:, 0]


@dataclass(frozen=True, eq=False, kw_only=True)
class TrimmedState(HardState):
    """An iterate of the concentration steps.

    `kept_mass` is the weight that is not trimmed; `n_changed` rows are not where they
    were in the last iterate; `native` is what spares the next step most of its work.
    """

    kept_mass: float
    n_changed: int
    native: Any  # a _native.TrimmedPass, but for an iterate that is only to be read

    def renumbered(self, order: NDArray[np.intp]) -> Self:
        """Return the same iterate with its clusters in another order."""
        return replace(super().renumbered(order), native=None)

    def settled(self, last: TrimmedState, tol: float) -> bool:
        """Whether no row changed its clusters or its side of the cut, at any tol."""
        if self.objective >= last.objective:
            # only rounding can still move rows then, and it might for ever
            return True
        same_cut = self.cut.share == 1 or self.cut.row == last.cut.row
        return self.n_changed == 0 and same_cut


@dataclass(frozen=True, eq=False, kw_only=True)
class ProximalState:
    """An iterate of the proximal steps, which may be small while much is to come.

    It reads like a `State`, but `W` is made when asked for. `clusters` (n, s) are those
    of each row in any order, or numbers below 0 where its memberships are not all 0 or
    1; these are the lines of `shares`. `means` are the centers of the next
    step, `change` is the most that any weight moved, `kept_mass` the weight that is not
    trimmed, `squared_scale` that of the table, for centers to be measured by; `native`
    is what spares the next step most of its work.
    """

    C: NDArray[Any]
    clusters: NDArray[np.int32]
    v: NDArray[np.float64]
    means: NDArray[Any]
    objective: float
    change: float
    squared_scale: float
    kept_mass: float
    native: Any  # a _native.ProximalPass; the shares, if it is only to be read
    n_iter: int = 1  # the start is an iteration

    @property
    def shares(self) -> NDArray[np.float64]:
        """Memberships of the rows that are not all 0 or 1, in the order of the rows."""
        of = self.native
        return of if isinstance(of, np.ndarray) else of.shares()

    @property
    def W(self) -> NDArray[np.float64]:  # noqa: N802
        """Memberships (n, k)."""
        W = np.zeros((len(self.v), len(self.C)))
        at_vertex = self.clusters[:, 0] >= 0
        W[np.flatnonzero(at_vertex)[:, None], self.clusters[at_vertex]] = 1.0
        W[~at_vertex] = self.shares
        return W

    @property
    def level(self) -> float:
        """What iterates are compared by."""
        return self.objective

    @property
    def n_memberships(self) -> int:
        """Clusters of each row."""
        return self.clusters.shape[1]

    @property
    def inlier_mask(self) -> NDArray[np.bool_]:
        """Rows that are kept whole."""
        return self.v >= 1 - DUST

    @property
    def n_partial(self) -> int:
        """Rows kept in part, or shared by more clusters than they may have whole."""
        partly = (self.v > DUST) & (self.v < 1 - DUST)
        return int((partly | (self.clusters[:, 0] < 0)).sum())

    def compact_memberships(self) -> Memberships:
        """Return the memberships, those of rounding dust left out."""
        weights = self.shares
        shares = sparse.csr_array(np.where(weights > DUST, weights, 0.0))
        return Memberships(self.clusters, shares)

    def labels(self, X: Table) -> NDArray[np.int32]:
        """Return the nearest of the centers each row belongs to."""
        labels = self.clusters[:, 0].copy()
        belongs = self.shares > DUST
        for rows, some in blocks_of(np.flatnonzero(labels < 0)):
            D = X.part(rows).squared_distances(self.C)
            labels[rows] = np.where(belongs[some], D, np.inf).argmin(axis=1)
        if self.clusters.shape[1] == 1:
            return labels
        for rows, _ in blocks_of(np.flatnonzero(self.clusters[:, 0] >= 0)):
            D = X.part(rows).squared_distances(self.C)
            none = sparse.csr_array((0, len(self.C)))
            belongs = Memberships(self.clusters[rows], none).toarray() > 0
            labels[rows] = np.where(belongs, D, np.inf).argmin(axis=1)
        return labels

    def renumbered(self, order: NDArray[np.intp]) -> Self:
        """Return the same iterate with its clusters in another order."""
        places = places_in(order)[np.maximum(self.clusters, 0)]
        return replace(
            self,
            C=self.C[order],
            means=self.means[order],
            clusters=np.where(self.clusters < 0, np.int32(-1), places),
            v=self.v.copy(),  # the pass keeps its own
            native=self.shares[:, order],
        )

    def settled(self, last: ProximalState, tol: float) -> bool:
        """Whether objective, memberships, inlier weights and centers all rest."""
        squared_shift = np.square(self.C - last.C, dtype=np.float64).sum()
        return (
            last.objective - self.objective <= tol * abs(last.objective)
            and self.change <= tol
            and bool(squared_shift <= tol**2 * self.squared_scale)
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class CyclingState(HardState):
    """An iterate of a rule that need not lower anything, and may end in a cycle.

    `trail` holds marks and levels of the earlier ones.
    """

    trail: tuple[tuple[bytes, float], ...] = ()

    @cached_property
    def mark(self) -> bytes:
        """What tells apart iterates that lead to different ones."""
        rows = hashlib.blake2b(self.clusters.tobytes(), digest_size=16)
        rows.update(self.kept.tobytes())
        return rows.digest()

    @property
    def longer_trail(self) -> tuple[tuple[bytes, float], ...]:
        """The trail of the next iterate."""
        return (*self.trail, (self.mark, self.level))

    def settled(self, last: HardState, tol: float) -> bool:
        """Whether this was here before, and is the lowest of the cycle it closed."""
        marks = [mark for mark, _ in self.trail]
        if self.mark not in marks:
            return False
        cycle = self.trail[marks.index(self.mark) :]
        lowest = min(level for _, level in cycle)
        # the second time round, rounding alone keeps the lowest from coming back
        return self.level <= lowest or marks.count(self.mark) > 1


def read_only(value: Any) -> Any:
    """Return arrays, matrices and states as views that cannot be written to.

    Nothing is copied, and what was given stays as it is.
    """
    if isinstance(value, np.ndarray):
        view = value.view()
        view.flags.writeable = False
        return view
    if isinstance(value, Node):  # which says what to compute, and holds nothing
        return value
    if isinstance(value, Column):
        return value.copy()
    if sparse.issparse(value):
        parts = map(read_only, (value.data, value.indices, value.indptr))
        return type(value)(tuple(parts), shape=value.shape)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(read_only, value))
    if is_dataclass(value):
        shown = {f.name: read_only(getattr(value, f.name)) for f in fields(value)}
        return replace(value, **shown)  # type: ignore[type-var]
    return value


def places_in(order: NDArray[np.intp]) -> NDArray[np.int32]:
    """Return where each number stands in an order of them."""
    places = np.empty(len(order), dtype=np.int32)
    places[order] = np.arange(len(order))
    return places


def largest_first(X: Table, state: Iterate) -> NDArray[np.intp]:
    """Return the order of clusters by the weight they keep, then by their centers."""
    kept = state.v
    # that of a hard state is made anew, and may be changed
    if isinstance(state, HardState) and state.cut.threshold < np.inf:
        # which of the rows that tie at the cut are kept depends on their order
        kept = X.with_ties(kept, state)
    if X.weights is not None:
        kept = kept * X.weights
    memberships = state.compact_memberships()
    if isinstance(memberships, Memberships):
        masses = memberships.masses(X, kept)
    else:
        masses = memberships.T @ kept
    # sums of weights may differ in their last digit
    by_size = -np.round(masses / X.mass, 12)
    return np.lexsort([*state.C.T[::-1], by_size])


def blocks_of(
    rows: NDArray[np.intp], size: int = 4096
) -> Iterator[tuple[NDArray[np.intp], slice]]:
    """Yield some rows at a time, and where they are in the list.

    What is made of a block is small, where k numbers for every row may be more than
    the table.
    """
    for first in range(0, len(rows), size):
        some = slice(first, first + size)
        yield rows[some], some


def are_equal(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Compare arrays of one shape, the first rows first: they mostly tell."""
    return np.array_equal(a[:4096], b[:4096]) and np.array_equal(a, b)
