"""What a table asks its partitions, and what they answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rtkm import _native
from rtkm.core.columns import Node
from rtkm.core.partition_nodes import Settled, Undecided
from rtkm.core.parts import Frame, Part
from rtkm.core.states import Cut, blocks_of
from rtkm.core.table import Table
from rtkm.core.trimming import Candidates, Exact, exact_sum


class Sent(NamedTuple):
    """Rows that depend on the cut, sent to where it is found."""

    costs: NDArray[np.float64]
    rows: NDArray[np.uint32]  # in the partition
    labels: NDArray[np.int32]
    X: Any
    weights: NDArray[np.float64] | None
    moments: NDArray[np.float64]  # of all other rows
    digest: int


class Looked(NamedTuple):
    """What a partition saw in the first half of a step."""

    sure: Exact
    open_: Exact
    n_open: int
    sent: Sent | None  # nothing if the rows are too many


@dataclass(frozen=True)
class Look:
    """Asks for the first half of a step."""

    undecided: Undecided
    most: int

    def __call__(self, part: Part) -> Looked:
        """Return masses, and if they are few the undecided rows themselves."""
        opened = part.value(self.undecided.pass_).of
        # they may be remembered where there is no room for the pass
        costs, rows = part.value(self.undecided)
        weights = None if part.weights is None else part.weights[rows]
        open_ = exact_sum(weights, len(rows))
        seen = Looked(Exact(*opened.sure_mass), open_, len(rows), None)
        if len(rows) > self.most:
            return seen
        X = part.X[rows]
        *_, labels = opened.undecided()
        sent = Sent(costs, rows, labels, X, weights, *opened.decided())
        return seen._replace(sent=sent)


@dataclass(frozen=True)
class Settle:
    """Asks for the sums of the clusters once the cut is known."""

    of: Settled

    def __call__(self, part: Part) -> tuple[list[NDArray[np.float64]], int]:
        """Return them, and the digest of the pass."""
        settled = part.value(self.of).of
        return [part.table.kept_moments(settled)], settled.digest


@dataclass(frozen=True)
class KeptCost:
    """Asks for what the kept rows cost, row by row."""

    of: Settled

    def __call__(self, part: Part) -> Exact:
        """Return the sum."""
        return Exact(*part.table.kept_cost(part.value(self.of).of))


@dataclass(frozen=True)
class EveryRow:
    """Asks for every so many rows of the table, and their weights if there are any."""

    stride: int

    def __call__(self, part: Part) -> tuple[Any, Any]:
        """Return those that are here."""
        rows = np.arange(-part.first % self.stride, part.n_rows, self.stride)
        return part.X[rows], None if part.weights is None else part.weights[rows]


@dataclass(frozen=True)
class Rows:
    """Asks for some rows."""

    numbers: NDArray[np.int64]  # sorted, in the table

    def __call__(self, part: Part) -> Any:
        """Return those that are here."""
        return part.X[local_numbers(self.numbers, part)]


@dataclass(frozen=True)
class Entries:
    """Asks for the entries of some rows."""

    node: Node
    numbers: NDArray[np.int64]  # sorted, in the table

    def __call__(self, part: Part) -> NDArray[Any]:
        """Return those that are here."""
        entries: NDArray[Any] = part.value(self.node)[local_numbers(self.numbers, part)]
        return entries


def local_numbers(numbers: NDArray[np.int64], part: Part) -> NDArray[np.int64]:
    """Return which of some sorted rows of the table are here, as numbers from 0."""
    first, last = np.searchsorted(numbers, [part.first, part.first + part.n_rows])
    return numbers[first:last] - part.first


@dataclass(frozen=True)
class Total:
    """Asks for the weighted sum of one value a row."""

    node: Node

    def __call__(self, part: Part) -> Exact:
        """Return it."""
        return Exact(*part.table.exact_total(part.value(self.node)))


@dataclass(frozen=True)
class Word:
    """Asks for what a word of the table answers, some arguments being columns."""

    name: str
    arguments: tuple[Any, ...]

    def __call__(self, part: Part) -> Any:
        """Say the word to the rows of the partition."""
        of = [part.value(a) if isinstance(a, Node) else a for a in self.arguments]
        return getattr(part.table, self.name)(*of)


@dataclass(frozen=True)
class TrueRows:
    """Asks for rows by their ranks among those for which a mask is true."""

    mask: Node
    ranks: NDArray[np.intp]  # sorted, in the table
    ends: NDArray[np.intp]  # how many there are before each partition

    def __call__(self, part: Part) -> NDArray[np.intp]:
        """Return those that are here."""
        first, last = self.ends[part.number], self.ends[part.number + 1]
        mine = self.ranks[(self.ranks >= first) & (self.ranks < last)] - first
        return part.first + np.flatnonzero(part.value(self.mask))[mine]


@dataclass(frozen=True)
class WeightedSquares:
    """Asks for weighted sums of the columns and of their squares, from the origin."""

    weights: Node

    def __call__(self, part: Part) -> tuple[float, Any, Any]:
        """Return them after the mass."""
        weights, X, frame = part.value(self.weights), part.X, part.frame
        sums, squares = np.zeros((2, X.shape[1]))
        for rows, place in blocks_of(np.arange(part.n_rows)):
            some = X[rows].toarray() if sparse.issparse(X) else X[rows]
            away = some - (frame.origin if frame else 0.0)
            sums += weights[place] @ away
            squares += weights[place] @ np.square(away)
        return weights.sum(), sums, squares


@dataclass(frozen=True)
class Attribute:
    """Asks for an attribute of the table."""

    name: str

    def __call__(self, part: Part) -> Any:
        """Return that of the rows of the partition."""
        return getattr(part.table, self.name)


@dataclass(frozen=True)
class Distinct:
    """Asks for rows that differ."""

    enough: int

    def __call__(self, part: Part) -> Any:
        """Return the first of each."""
        table = part.table
        return table.X[table.distinct_rows(self.enough)]


def candidates(sent: Sent, first: int) -> Candidates:
    """Return the rows that were sent along and weigh anything."""
    rows = first + sent.rows.astype(np.int64)
    if sent.weights is None:
        return Candidates(sent.costs, rows, None)
    counts = sent.weights > 0
    return Candidates(sent.costs[counts], rows[counts], sent.weights[counts])


def sums_with(
    sent: Sent, cut: Cut, first: int, frame: Frame, n_clusters: int
) -> tuple[list[NDArray[np.float64]], int]:
    """Return the sums of the clusters of a partition, and its digest, under a cut."""
    if not len(sent.rows):
        return [sent.moments], sent.digest
    rows = first + sent.rows.astype(np.int64)
    kept = (sent.costs < cut.threshold) | (
        (sent.costs == cut.threshold) & (rows <= cut.row)
    )
    table = Table(sent.X, sent.weights, frame)
    # as in one table: all that is kept of the row of the cut is taken back in part
    shares = kept.astype(np.float64), np.where(rows == cut.row, cut.share - 1, 0.0)
    moments = [table.moments(sent.labels, share, n_clusters) for share in shares]
    digest = sent.digest + _native.digest_of_rows(sent.rows, sent.labels, kept)
    return [sent.moments, *moments], digest % 2**64
