"""A table that is cut into partitions, with the words of one in memory.

The words are those of `Table`, and so are their answers, to the last bit. What every
row has is a `Column` and stays where the rows are; sums come back with twice the digits
and are added in the order of the partitions.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rtkm import _native
from rtkm.core.columns import Column, Elementwise, Full, Item, Node, Summary
from rtkm.core.lexicographic import Order, stacked
from rtkm.core.partition_nodes import (
    Before,
    Clusters,
    Distances,
    EachRow,
    Lowered,
    NearestNode,
    OpenPass,
    Settled,
    Undecided,
    Weights,
    with_all_rows,
)
from rtkm.core.partition_tasks import (
    Attribute,
    Distinct,
    Entries,
    EveryRow,
    KeptCost,
    Look,
    Looked,
    Rows,
    Settle,
    Total,
    TrueRows,
    WeightedSquares,
    Word,
    candidates,
    sums_with,
)
from rtkm.core.parts import Engine, Frame, Part
from rtkm.core.states import Cut, Nearest, TrimmedState
from rtkm.core.table import Table
from rtkm.core.trimming import (
    add_up,
    cut_among,
    find_cut,
)

Followed = TypeVar("Followed", bound=Node)

# rows that the frame of a table is made of
FRAME_ROWS = 33
# undecided rows that are sent along with the sums of the others, in bytes
MOST_SENT = 1 << 18
# rows that tell where the cut may be, and how wide of it it may be then
N_SAMPLED, LEAST_SAMPLED = 4096, 512
# the same in bytes
MOST_SAMPLED = 1 << 24
ALL_UNDECIDED, ALL_KEPT = (-np.inf, np.inf), (np.inf, np.inf)


class PassMade(NamedTuple):
    """What a step leaves to the next: the `native` of its state."""

    of: Settled
    means: NDArray[Any]
    digests: list[int]
    window: tuple[float, float]  # where the next cut is expected

    @property
    def name(self) -> Before:
        """What partitions know it by."""
        of = self.of
        return Before(of.key, of.pass_.key, of.cut, of.n_memberships)


class PartitionedTable(Table):
    """Rows that are cut into partitions, wherever these are.

    Parameters
    ----------
    engine : Engine
        What sends tasks to the partitions.
    n_features : int
        The number of columns.
    dtype : dtype
        The type of the rows.
    is_weighted : bool
        Whether rows have weights.
    """

    def __init__(
        self, engine: Engine, n_features: int, dtype: np.dtype[Any], is_weighted: bool
    ) -> None:
        self.engine = engine
        self.n_rows, self.n_features = int(sum(engine.n_rows)), n_features
        self.dtype = np.dtype(dtype)
        self._firsts = np.cumsum([0, *engine.n_rows])
        self._is_weighted = is_weighted
        self._unused: list[int] = []
        self.weights: Any = None
        if is_weighted:
            self.weights = self.column(Weights(), np.zeros(1))
        places = np.arange(min(self.n_rows, FRAME_ROWS))
        numbers = places * (self.n_rows // len(places))
        # loaded without a frame, as what it is made of is not known yet
        sample = Table(stacked([self._ask_for(numbers, Rows)]), None)
        self.frame = Frame(sample.origin, sample.unit)
        self._is_sparse = sparse.issparse(sample.X)
        engine.set_frame(self.frame)

    # Tasks and columns

    def map(
        self, task: Callable[[Part], Any], which: Sequence[int] | None = None
    ) -> list[Any]:
        """Return what a task answers for each partition, in their order."""
        return list(self.map_each(task, which))

    def map_each(
        self, task: Callable[[Part], Any], which: Sequence[int] | None = None
    ) -> Iterator[Any]:
        """Yield what a task answers for each partition, in their order."""
        n_unused = len(self._unused)
        yield from self.engine.map_each(task, which)
        # only now, as what is asked for may be made of what was there before
        if n_unused:
            self.engine.forget(self._unused[:n_unused])
            del self._unused[:n_unused]  # the same list, as others append to it

    def column(self, node: Node, like: Any) -> Column:
        """Return the column that a node describes."""
        self._follow(node)
        return Column(self, node, np.asarray(like))

    def _follow(self, node: Followed) -> Followed:
        """Let partitions forget a value when nobody can ask for it any more."""
        weakref.finalize(node, self._unused.append, node.key).atexit = False
        return node

    def gather(self, node: Node, numbers: NDArray[np.int64]) -> NDArray[Any]:
        """Return the entries of some rows."""
        found: NDArray[Any] = self._ask_for(numbers, partial(Entries, node))
        return found

    def _ask_for(
        self, numbers: NDArray[np.integer], task: Callable[[NDArray[np.int64]], Any]
    ) -> Any:
        """Return what is said of some rows, in their order, where these are."""
        sorted_, places = np.unique(numbers, return_inverse=True)
        of = np.searchsorted(self._firsts, sorted_, side="right") - 1
        which = np.unique(of).tolist() or [0]
        return stacked(self.map(task(sorted_.astype(np.int64)), which))[places]

    # What rows are

    @property
    def X(self) -> Any:  # noqa: N802
        """Refuse what needs all rows at once."""
        raise TypeError(
            "this needs all rows in memory, and the table is cut into partitions; load "
            "it as an array."
        )

    @property
    def unit(self) -> float:
        """What bounds of distances are measured in, about the width of the rows."""
        return self.frame.unit

    @property
    def origin(self) -> NDArray[np.float64]:
        """What sums are measured from."""
        return self.frame.origin

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are CSR."""
        return self._is_sparse

    def release(self) -> None:
        """Partitions free what they kept of earlier passes after every task."""

    def close(self) -> None:
        """Let partitions forget all, once a fit is over."""
        vars(self).pop("_sample", None)
        self.engine.forget(None)

    @cached_property
    def mass(self) -> float:
        """The total weight."""
        if not self._is_weighted:
            return float(self.n_rows)
        return self.exact_total(self.full(1.0))[0]

    @property
    def counts(self) -> Any:
        """Which rows weigh anything."""
        return self.full(True) if self.weights is None else self.weights > 0

    @cached_property
    def ends(self) -> NDArray[np.float64]:
        """The smallest and the largest value of each column, (2, n_features)."""
        ends = np.array(self.map(Attribute("ends")))
        return np.array([ends[:, 0].min(axis=0), ends[:, 1].max(axis=0)])

    def full(self, entry: Any) -> Any:
        """Return one value for every row."""
        return self.column(Full(entry), np.full(1, entry))

    def sums(self, word: str, *arguments: Any) -> NDArray[np.float64]:
        """Return what a word of the native core adds up over the rows."""
        nodes = [a._node if isinstance(a, Column) else a for a in arguments]
        parts = self.map(Word("sums", (word, *nodes)))
        flat = [part.reshape(2, -1) for part in parts]
        total: NDArray[np.float64] = _native.add_exactly(flat)
        return total.reshape(parts[0].shape)

    def exact_total(self, values: Any) -> tuple[float, float]:
        """Return the weighted sum of one value a row, with twice the digits."""
        return add_up(self.map(Total(values._node)))

    def rows(self, numbers: NDArray[np.int64]) -> NDArray[Any]:
        """Return some rows as a dense array."""
        rows = self._ask_for(numbers, Rows)
        return np.ascontiguousarray(rows.toarray() if sparse.issparse(rows) else rows)

    def part(
        self, numbers: NDArray[np.integer], weights: NDArray[np.float64] | None = None
    ) -> Table:
        """Return a table in memory of some rows, with weights if they are given."""
        rows = self._ask_for(numbers, Rows)
        return Table(stacked([rows]), weights)

    # Words

    def squared_distances(self, C: NDArray[Any]) -> Any:
        """Return the (n, k) squared distances, summed from differences."""
        return self.column(Distances(C), np.zeros((1, len(C)), self.dtype))

    def nearest(self, C: NDArray[Any], n_memberships: int) -> Nearest:
        """Return the nearest centers of every row; ties go to the lowest number."""
        node = self._follow(NearestNode(C, n_memberships))
        like: Any = Table(C[:1], None).nearest(C, n_memberships)
        columns: Any = (
            self.column(Item(node, i), entry) for i, entry in enumerate(like)
        )
        return Nearest(*columns)

    def lower(self, cost: Any, C: NDArray[Any]) -> None:
        """Lower each cost, in place, to the squared distance of one center."""
        last = cost._node
        is_lowered = isinstance(last, Lowered)
        costs, centers = (last.costs, last.centers) if is_lowered else (last, ())
        cost._node = self._follow(
            Lowered(costs, (*centers, C), last.key if is_lowered else None)
        )

    def cut(self, values: Any, mass: float) -> Cut:
        """Return where the rows of smallest values reach the mass."""
        node = Elementwise(with_all_rows, (values._node,))
        return find_cut(self.map, len(self.engine.n_rows), self.n_rows, node, mass)

    def column_reach(
        self, C: NDArray[Any], labels: Any, counts: Any
    ) -> NDArray[np.float64]:
        """Return how far, in each column, the rows that count get from each center."""
        word = Word("column_reach", (C, labels._node, counts._node))
        reach: NDArray[np.float64] = np.max(self.map(word), axis=0)
        return reach

    def count_labels(self, labels: Any, n_clusters: int) -> NDArray[np.int64]:
        """Return how many rows have each label."""
        word = Word("count_labels", (labels._node, n_clusters))
        counts: NDArray[np.int64] = np.sum(self.map(word), axis=0)
        return counts

    def with_ties(self, kept: Any, state: Any) -> Any:
        """Keep all rows whole that tie at the cut of a state."""
        costs = self.nearest(state.C, state.n_memberships).cost
        return np.where((kept < 1) & (costs <= state.cut.threshold), 1.0, kept)

    def label_sums(self, values: Any, labels: Any, n_clusters: int) -> Any:
        """Return sums of the values for each of (n, s) labels, and what these lost."""
        word = Word("label_sums", (values._node, labels._node, n_clusters))
        return _native.add_exactly(self.map(word))

    def true_rows(
        self, mask: Any, ranks: Callable[[int], NDArray[np.intp]]
    ) -> NDArray[np.intp]:
        """Return some of the rows for which a mask is true, by their ranks."""
        counts = self.map(Summary(mask._node, "sum", None))
        ends = np.cumsum([count or 0 for count in counts])
        wanted, places = np.unique(ranks(int(ends[-1])), return_inverse=True)
        which = np.unique(np.searchsorted(ends, wanted, side="right")).tolist()
        found = self.map(TrueRows(mask._node, wanted, np.append(0, ends)), which)
        rows: NDArray[np.intp] = np.concatenate([np.empty(0, np.intp), *found])[places]
        return rows

    def column_variances(self, weights: Any) -> NDArray[np.float64]:
        """Return the weighted variance of each column."""
        told = self.map(WeightedSquares(weights._node))
        mass, sums, squares = (np.sum([part[i] for part in told], 0) for i in range(3))
        if not mass > 0:
            return np.zeros(self.n_features)
        variances: NDArray[np.float64] = squares / mass - np.square(sums / mass)
        return np.maximum(variances, 0.0)

    def each_row(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a function makes of a table, row by row."""
        node = self._follow(EachRow(function, arguments))
        like = function(self.part(np.zeros(1, np.int64)), *arguments)
        if isinstance(like, tuple):
            items = [self.column(Item(node, i), one) for i, one in enumerate(like)]
            return type(like)(*items) if hasattr(like, "_fields") else tuple(items)
        return self.column(node, like)

    @cached_property
    def n_positive(self) -> int:
        """The number of rows that weigh anything."""
        return self.n_rows if self.weights is None else int(self.counts.sum())

    @cached_property
    def lightest(self) -> float:
        """The least weight of a row that weighs anything."""
        if self.weights is None:
            return 1.0
        return float(self.weights.min(where=self.weights > 0, initial=np.inf))

    # Steps

    def concentrate(
        self,
        C: NDArray[Any],
        n_memberships: int,
        mass: float,
        last: TrimmedState | None = None,
    ) -> TrimmedState:
        """Assign rows to their nearest centers, keep the cheapest, and average those.

        The cut is looked for in a window. Where the rows in it are few they come with
        the sums of the others, and that is all there is to ask for.
        """
        before: PassMade | None = last.native if last is not None else None
        seen, undecided = self._look(C, n_memberships, mass, last)
        cut = self._cut_of(seen, undecided, mass)
        settled = self._follow(Settled(undecided.pass_, cut))
        sums, digests = self._sums_of(seen, settled, len(C))
        means, objective, is_exact = _native.combine_moments(sums, C, self.origin)
        if not is_exact:
            objective = add_up(self.map(KeptCost(settled))).sum
        expected = ALL_UNDECIDED
        if last is not None:
            thresholds = cut.threshold, last.cut.threshold
            expected = _native.expected_window(*thresholds)
        labels = np.zeros((1, n_memberships), np.int32)
        clusters: Any = self.column(Clusters(settled, "clusters"), labels)
        kept: Any = self.column(Clusters(settled, "kept"), np.zeros(1, bool))
        return TrimmedState(
            C=C,
            clusters=clusters,
            kept=kept,
            means=means,
            objective=objective,
            cut=cut,
            kept_mass=mass,
            n_changed=int(before is None or digests != before.digests),
            native=PassMade(settled, means, digests, expected),
        )

    def _look(
        self, C: NDArray[Any], s: int, mass: float, last: TrimmedState | None
    ) -> tuple[list[Looked], Undecided]:
        """Do the first half of a step, in a window that holds the cut."""
        row_bytes = 40 + 4 * s + self.n_features * self.dtype.itemsize
        most = MOST_SENT // row_bytes // len(self.engine.n_rows)
        before = None if last is None else last.native.name
        for window in self._windows(C, s, mass, last):
            opened = self._follow(OpenPass(C, s, window, before))
            undecided = self._follow(Undecided(opened))
            seen: list[Looked] = self.map(Look(undecided, most))
            sure = add_up(looked.sure for looked in seen)
            reached = add_up([sure, *(looked.open_ for looked in seen)])
            if window in (ALL_KEPT, ALL_UNDECIDED) or sure.sum < mass <= reached.sum:
                break
        return seen, undecided

    def _cut_of(self, seen: list[Looked], undecided: Undecided, mass: float) -> Cut:
        """Return the cut, which may be among rows that were sent along."""
        if not mass < self.mass:
            return Cut(np.inf, self.n_rows, 1.0)
        sure = add_up(looked.sure for looked in seen)
        some = [
            candidates(looked.sent, int(first))
            for looked, first in zip(seen, self._firsts, strict=False)
            if looked.sent is not None
        ]
        if len(some) == len(seen):
            return cut_among(some, sure, mass)
        n_open = sum(looked.n_open for looked in seen)
        return find_cut(self.map, len(seen), n_open, undecided, mass, sure)

    def _sums_of(
        self, seen: list[Looked], settled: Settled, n_clusters: int
    ) -> tuple[list[NDArray[np.float64]], list[int]]:
        """Return sums of the clusters that make up those of a step, and its digests."""
        sent = [looked.sent for looked in seen if looked.sent is not None]
        if len(sent) < len(seen):
            told = self.map(Settle(settled))
        else:
            told = [
                sums_with(some, settled.cut, first, self.frame, n_clusters)
                for some, first in zip(sent, self._firsts, strict=False)
            ]
        return [sums for part, _ in told for sums in part], [d for _, d in told]

    def _windows(
        self, C: NDArray[Any], s: int, mass: float, last: TrimmedState | None
    ) -> Iterator[tuple[float, float]]:
        """Yield windows for the cut, the narrowest first, and last one of all."""
        if not mass < self.mass:
            yield ALL_KEPT
            return
        made: PassMade | None = None if last is None else last.native
        if made and C is made.means and np.isfinite(made.window[0]):
            yield made.window
        yield self._sampled_window(C, s, mass)
        yield ALL_UNDECIDED

    @property
    def _n_sampled(self) -> int:
        """How many rows are kept here, at least, to tell where the cut may be."""
        row_bytes = self.n_features * self.dtype.itemsize
        return min(N_SAMPLED, max(LEAST_SAMPLED, MOST_SAMPLED // row_bytes))

    @cached_property
    def _sample(self) -> tuple[Table, NDArray[np.float64]]:
        """Rows from everywhere, and their weights: asked for once."""
        told = self.map(EveryRow(self.n_rows // self._n_sampled))
        X = stacked([rows for rows, _ in told])
        weights = [w for _, w in told] if self._is_weighted else [np.ones(X.shape[0])]
        return Table(X, None, self.frame), np.concatenate(weights)

    def _sampled_window(
        self, C: NDArray[Any], s: int, mass: float
    ) -> tuple[float, float]:
        """Return a window that holds the cut if a sample of the rows tells of all."""
        if self.n_rows < 2 * self._n_sampled:
            return ALL_UNDECIDED
        sample, weights = self._sample
        costs = sample.nearest(C, s).cost
        order = np.argsort(costs, kind="stable")
        reached = np.cumsum(weights[order])
        share = mass / self.mass
        # as of rows drawn at random, a few of which may be alike
        error = 4 * np.sqrt(share * (1 - share) / (self._n_sampled / 4)) + 1e-3

        def cost_at(share: float) -> float:
            place = np.searchsorted(reached, share * reached[-1])
            return float(costs[order[min(place, len(order) - 1)]])

        low = cost_at(share - error) if share > error else -np.inf
        return low, cost_at(share + error) if share + error < 1 else np.inf

    # The order of the rows

    @cached_property
    def _order(self) -> Order:
        order = Order(self.map_each, self.n_rows)
        self._follow(order.buckets)
        return order

    @property
    def order(self) -> Any:
        """Refuse the whole order."""
        raise TypeError("a table that is cut into partitions is never sorted.")

    def along_order(self, places: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the rows at some rising shares of the weight, in their order."""
        return self._order.at(places, self.mass)

    def sorted_rows(self) -> NDArray[np.int64]:
        """Return the rows that weigh anything in lexicographic order."""
        return self._order.all()

    def draw(
        self,
        rng: np.random.RandomState,
        size: int = 1,
        cost: Any = None,
        cap: float = np.inf,
    ) -> NDArray[np.int64]:
        """Draw rows with chances weight * min(cost, cap), or by weight alone."""
        u = rng.random_sample(size)
        if cost is not None:
            chances = np.minimum(cost, cap)
            if self.weights is not None:
                chances = self.weights * chances
            drawn = self._order.draw(u, chances._node)
            if drawn is not None:
                return drawn
        by_weight = None if self.weights is None else self.weights._node
        drawn = self._order.draw(u, by_weight)
        return drawn

    def count_distinct(self, enough: int) -> int:
        """Return the number of distinct rows, counted no further than enough."""
        rows = stacked(self.map(Distinct(enough)))
        return len(Table(rows, None).distinct_rows(enough))
