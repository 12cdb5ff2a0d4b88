"""The lexicographic order of a table in partitions, as far as it is needed.

Random draws run along that order. Rows are dealt into buckets by pivots, some rows of
the table; only buckets that something is drawn from are gathered and sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rtkm import _native
from rtkm.core.columns import Node
from rtkm.core.parts import Part
from rtkm.core.table import Table
from rtkm.core.trimming import exact_sum

# rows of a bucket, about, for each root of the rows of the table
PIVOTS_PER_ROOT = 2
MOST_PIVOTS = 1 << 16
# rows of the table that are looked at for each pivot
SAMPLED_PER_PIVOT = 4
# rows that are gathered at a time, of which more would be refined first
MOST_GATHERED = 1 << 17
PIVOTS_PER_BUCKET = 16


@dataclass(frozen=True, eq=False)
class Buckets(Node):
    """The bucket of each row: the number of pivots that are not beyond it."""

    pivots: Any  # rows in lexicographic order
    share_of_room = 1.0
    is_large = True

    @property
    def count(self) -> int:
        """The number of buckets."""
        return int(self.pivots.shape[0]) + 1

    def compute(self, part: Part) -> NDArray[np.uint32]:
        """Find it for every row."""
        return part.table.buckets(Table(self.pivots, None))


@dataclass(frozen=True)
class Sampled:
    """Asks for rows, evenly among those of some buckets, or of all."""

    share: float
    buckets: Node | None = None
    wanted: NDArray[np.bool_] | None = None

    def __call__(self, part: Part) -> Any:
        """Return about such a share of them, but one at least."""
        numbers = np.arange(part.n_rows)
        if self.buckets is not None and self.wanted is not None:
            numbers = numbers[self.wanted[part.value(self.buckets)]]
        n = min(len(numbers), int(np.ceil(self.share * len(numbers))))
        places = ((np.arange(n) + 0.5) * (len(numbers) / max(n, 1))).astype(np.intp)
        return part.X[numbers[places]]


@dataclass(frozen=True)
class BucketSums:
    """Asks for the sum of some chances of the rows of each bucket."""

    buckets: Buckets
    chances: Node | None  # None: weights

    def __call__(self, part: Part) -> NDArray[np.float64]:
        """Return them, (n_buckets,)."""
        chances = part.weights if self.chances is None else part.value(self.chances)
        buckets = part.value(self.buckets)
        return np.bincount(buckets, chances, self.buckets.count).astype(np.float64)


@dataclass(frozen=True)
class ExactBucketSums:
    """Asks for the weight of the rows of each bucket, with twice the digits."""

    buckets: Buckets

    def __call__(self, part: Part) -> NDArray[np.float64]:
        """Return sums and what they lost, (2, n_buckets)."""
        buckets, n_buckets = part.value(self.buckets), self.buckets.count
        sums = np.zeros((2, n_buckets))
        if part.weights is None:
            sums[0] = np.bincount(buckets, minlength=n_buckets)
            return sums
        order = np.argsort(buckets, kind="stable")
        ends = np.searchsorted(buckets[order], np.arange(n_buckets + 1))
        for bucket in np.flatnonzero(np.diff(ends)):
            rows = order[ends[bucket] : ends[bucket + 1]]
            sums[:, bucket] = exact_sum(part.weights[rows])
        return sums


class Members(NamedTuple):
    """Rows of some buckets: their numbers in the table, buckets, chances and values."""

    numbers: NDArray[np.int64]
    buckets: NDArray[np.uint32]
    chances: NDArray[np.float64]
    X: Any


@dataclass(frozen=True)
class Gathered:
    """Asks for the rows of some buckets that have a chance."""

    buckets: Buckets
    wanted: NDArray[np.bool_]
    chances: Node | None

    def __call__(self, part: Part) -> Members:
        """Return them, in the order of the table."""
        buckets = part.value(self.buckets)
        chances = part.weights if self.chances is None else part.value(self.chances)
        is_wanted = self.wanted[buckets]
        if chances is not None:
            is_wanted &= chances > 0
        rows = np.flatnonzero(is_wanted)
        each = np.ones(len(rows)) if chances is None else chances[rows]
        return Members(part.first + rows, buckets[rows], each, part.X[rows])


class Order:
    """Finds rows along the lexicographic order of a table."""

    def __init__(self, ask: Callable[..., Iterator[Any]], n_rows: int) -> None:
        self._ask, self._n_rows = ask, n_rows
        n_pivots = min(MOST_PIVOTS, int(PIVOTS_PER_ROOT * np.sqrt(n_rows)))
        share = min(1.0, SAMPLED_PER_PIVOT * n_pivots / n_rows)
        samples = self._run(Sampled(share))
        self.buckets = Buckets(pivots_among(samples, SAMPLED_PER_PIVOT))

    def _run(self, task: Any) -> list[Any]:
        """Return the answers of all partitions."""
        return list(self._ask(task))

    def draw(self, u: NDArray[np.float64], chances: Node | None) -> Any:
        """Return the rows drawn by numbers in [0, 1), if any has a chance."""
        # one partition after the other: there may be many of both
        sums = np.zeros(self.buckets.count)
        for part in self._ask(BucketSums(self.buckets, chances)):
            sums += part
        reached = np.cumsum(sums)
        targets = u * reached[-1]
        if not reached[-1] > 0:
            return None
        filled = np.flatnonzero(sums)
        of = filled[places_among(reached[filled], targets)]
        rows = self._sorted(of, self.buckets, chances)
        drawn = np.empty(len(u), np.int64)
        for i, (target, bucket) in enumerate(zip(targets, of, strict=True)):
            start, stop = np.searchsorted(rows.buckets, [bucket, bucket + 1])
            ends = reached[bucket] - sums[bucket] + np.cumsum(rows.chances[start:stop])
            drawn[i] = rows.numbers[start + places_among(ends, target)]
        return drawn

    def all(self) -> NDArray[np.int64]:
        """Return all rows that weigh anything."""
        return self._sorted(np.arange(self.buckets.count), self.buckets, None).numbers

    def at(self, places: NDArray[np.float64], total: float) -> NDArray[np.int64]:
        """Return the rows at some rising shares of the total weight."""
        targets = places * total
        buckets, ends = self._buckets_of(targets)
        of = places_among(ends[0], targets)
        found = np.empty(len(places), np.int64)
        wanted, first = np.unique(of, return_index=True)
        last = np.append(first[1:], len(of))
        # some buckets at a time, as all may be more than can be gathered
        turns = np.array_split(np.arange(len(wanted)), self._n_turns(wanted, ends[0]))
        for group in turns:
            rows = self._sorted(wanted[group], buckets, None)
            sides = wanted[group], wanted[group] + 1
            starts, stops = (np.searchsorted(rows.buckets, side) for side in sides)
            for g, start, stop in zip(group, starts, stops, strict=True):
                mine = slice(first[g], last[g])
                before = ends[:, wanted[g] - 1] if wanted[g] else (0.0, 0.0)
                reached = _native.running_sums(rows.chances[start:stop], *before)[0]
                place = places_among(reached, targets[mine])
                found[mine] = rows.numbers[start + place]
        return found

    def _buckets_of(
        self, targets: NDArray[np.float64]
    ) -> tuple[Buckets, NDArray[np.float64]]:
        """Return buckets that are small where rows are wanted, and where they end."""
        buckets = self.buckets
        while True:
            sums = np.zeros((2, buckets.count))
            for part in self._ask(ExactBucketSums(buckets)):
                sums = _native.add_exactly([sums, part])
            ends = _native.running_pairs(sums)
            wanted = np.zeros(buckets.count, bool)
            wanted[places_among(ends[0], targets)] = True
            share = np.diff(ends[0], prepend=0.0)[wanted].sum() / ends[0, -1]
            if buckets is not self.buckets or share * self._n_rows <= MOST_GATHERED:
                return buckets, ends
            n_sampled = PIVOTS_PER_BUCKET * SAMPLED_PER_PIVOT * wanted.sum()
            some = Sampled(
                min(1.0, n_sampled / (share * self._n_rows)), buckets, wanted
            )
            pivots = pivots_among(self._run(some), SAMPLED_PER_PIVOT)
            both = stacked([buckets.pivots, pivots])
            buckets = Buckets(in_order(both, distinct=True))

    def _n_turns(self, wanted: NDArray[np.intp], ends: NDArray[np.float64]) -> int:
        share = np.diff(ends, prepend=0.0)[wanted].sum() / ends[-1]
        return int(min(len(wanted), np.ceil(share * self._n_rows / MOST_GATHERED)))

    def _sorted(
        self, wanted: NDArray[np.intp], buckets: Buckets, chances: Node | None
    ) -> Members:
        """Return the rows of some buckets in lexicographic order."""
        is_wanted = np.zeros(buckets.count, bool)
        is_wanted[wanted] = True
        parts = self._run(Gathered(buckets, is_wanted, chances))
        numbers, of, each = (
            np.concatenate([part[i] for part in parts]) for i in range(3)
        )
        X = stacked([part.X for part in parts])
        order = Table(X, None).order
        return Members(numbers[order], of[order], each[order], None)


def places_among(ends: NDArray[np.float64], targets: Any) -> Any:
    """Return the first end beyond each target; rounding may leave one at the last."""
    return np.minimum(np.searchsorted(ends, targets, side="right"), len(ends) - 1)


def stacked(parts: list[Any]) -> Any:
    """Return rows of several tables as those of one."""
    if sparse.issparse(parts[0]):
        X = sparse.csr_array(sparse.vstack(parts, format="csr"))
        places = (a.astype(np.int32, copy=False) for a in (X.indices, X.indptr))
        return sparse.csr_array((X.data, *places), shape=X.shape)
    return np.ascontiguousarray(np.concatenate(parts))


def in_order(X: Any, distinct: bool = False) -> Any:
    """Return rows in lexicographic order, if wanted each but once."""
    table = Table(stacked([X]), None)
    if distinct:
        return table.X[table.distinct_rows(X.shape[0])]
    return table.X[table.order]


def pivots_among(samples: list[Any], every: int) -> Any:
    """Return one in so many rows of a sample, in lexicographic order, each but once.

    The sample goes on the way, as no more than two of it may fit.
    """
    X = stacked(samples)
    samples.clear()
    order = Table(X, None).order
    return in_order(X[order[every // 2 :: every]], distinct=True)
