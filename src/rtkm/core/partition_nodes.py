"""What rows in partitions have, as descriptions of how to compute it from the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtkm.core.columns import Node
from rtkm.core.parts import Part
from rtkm.core.states import Cut, Nearest

# of the room of a partition: what takes less is remembered after it
PASS_SHARE = 0.75


@dataclass(frozen=True, eq=False)
class NearestNode(Node):
    """The nearest centers of each row."""

    C: NDArray[Any]
    n_memberships: int
    share_of_room = 1.0

    def compute(self, part: Part) -> Nearest:
        """Find them."""
        return part.table.nearest(self.C, self.n_memberships)


@dataclass(frozen=True, eq=False)
class Distances(Node):
    """The squared distances of each row to all centers."""

    C: NDArray[Any]

    def compute(self, part: Part) -> NDArray[Any]:
        """Measure them."""
        return part.table.squared_distances(self.C)


@dataclass(frozen=True, eq=False)
class Lowered(Node):
    """Costs, lowered to the squared distances of some centers."""

    costs: Node
    centers: tuple[NDArray[Any], ...]
    last: int | None  # the same without the last center
    share_of_room = 1.0

    def compute(self, part: Part) -> NDArray[np.float64]:
        """Lower them by the last center, or if they are lost by all."""
        costs: NDArray[np.float64] = part.recall(self.last)
        if costs is None:
            nearest = part.table.nearest(np.concatenate(self.centers), 1)
            return np.minimum(part.value(self.costs), nearest.cost)
        costs = costs.copy()
        part.table.lower(costs, self.centers[-1])
        return costs


class Before(NamedTuple):
    """The last pass, by name: what became of it, if a partition remembers."""

    settled: int
    opened: int
    cut: Cut
    n_memberships: int

    def recalled(self, part: Part) -> Any:
        """Return what it left, settled now if it is still open."""
        half = part.recall(self.opened)
        if part.recall(self.settled) is not None or half is None:
            return part.recall(self.settled)
        part.forget([self.opened])
        settled = settled_pass(part, half, self)
        part.remember(self.settled, settled, PASS_SHARE)
        return settled


def settled_pass(part: Part, half: Native, of: Any) -> Native:
    """Keep or trim the undecided rows of an open pass, which ends it."""
    settled = half.of.settle(*local_cut(of.cut, part))
    return Native(settled, part.n_rows * (4 * of.n_memberships + 13))


@dataclass(frozen=True, eq=False)
class OpenPass(Node):
    """The first half of a step: all but the rows that depend on the cut.

    With the last pass only rows that may have changed are looked at; what comes out
    does not depend on it.
    """

    C: NDArray[Any]
    n_memberships: int
    window: tuple[float, float]
    last: Before | None
    share_of_room = PASS_SHARE

    def compute(self, part: Part) -> Any:
        """Look at the rows."""
        last = self.last.recalled(part) if self.last else None
        opened = part.table.bounded_pass(
            self.C, self.n_memberships, self.window, None if last is None else last.of
        )
        return Native(opened, part.n_rows * (4 * self.n_memberships + 25))


@dataclass(frozen=True, eq=False)
class Undecided(Node):
    """What the rows cost that depend on the cut, and their numbers."""

    pass_: OpenPass
    share_of_room = 1.0

    def compute(self, part: Part) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
        """List them."""
        rows, costs, _ = part.value(self.pass_).of.undecided()
        return costs, rows


@dataclass(frozen=True, eq=False)
class Settled(Node):
    """The other half of a step: what the cut leaves.

    A half that is settled is not open any more, and neither is known by the name of the
    other: nothing can start from a pass whose cut was not known.
    """

    pass_: OpenPass
    cut: Cut
    share_of_room = PASS_SHARE

    @property
    def n_memberships(self) -> int:
        """Clusters of each row."""
        return self.pass_.n_memberships

    def compute(self, part: Part) -> Native:
        """Keep or trim the undecided rows."""
        half = part.value(self.pass_)
        part.forget([self.pass_.key])
        return settled_pass(part, half, self)


@dataclass(frozen=True, eq=False)
class Clusters(Node):
    """The clusters of each row after a step, or which rows are kept."""

    of: Settled
    name: str

    def compute(self, part: Part) -> NDArray[Any]:
        """Look them up."""
        found: NDArray[Any] = getattr(part.value(self.of).of, self.name)
        return found


class Native(NamedTuple):
    """Something of the native core, and the bytes that it takes."""

    of: Any
    nbytes: int


def local_cut(cut: Cut, part: Part) -> Cut:
    """Return the cut as a partition sees it; ties before its row are kept."""
    if cut.threshold == np.inf:
        return Cut(np.inf, part.n_rows, 1.0)
    if cut.row < part.first:
        return Cut(float(np.nextafter(cut.threshold, -np.inf)), part.n_rows, 1.0)
    if cut.row >= part.first + part.n_rows:
        return Cut(cut.threshold, part.n_rows, 1.0)
    return cut._replace(row=cut.row - part.first)


@dataclass(frozen=True, eq=False)
class EachRow(Node):
    """What a function makes of a table, row by row."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    share_of_room = 1.0

    def compute(self, part: Part) -> Any:
        """Call it with the rows of the partition."""
        return self.function(part.table, *self.arguments)


@dataclass(frozen=True, eq=False)
class Weights(Node):
    """The weights of the rows."""

    def compute(self, part: Part) -> Any:
        """Return those of the partition."""
        return part.weights


def with_all_rows(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], None]:
    """Return values as those of all rows."""
    return values, None
