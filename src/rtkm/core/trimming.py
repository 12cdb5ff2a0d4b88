"""The cut of a table that is cut into partitions, found without gathering all values.

Every partition tells how much weight its values have up to a few of them; together that
leaves an interval in which the cut must be. It gets narrower in every round, until what
is left in it is few enough to be gathered. The answer is the one that a table in memory
finds, to the last bit: masses are added with twice the digits, and ties go to the first
row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtkm import _native
from rtkm.core.columns import Node
from rtkm.core.parts import Part
from rtkm.core.states import Cut
from rtkm.core.table import exact_pair

# values that are told of in one round, and gathered at the end, of all partitions
MOST_MARKS, MOST_GATHERED = 8192, 8192
LEAST_MARKS = 8
# what sums of weights may be off by, as a share
ROUNDING = 1e-12


class Exact(NamedTuple):
    """A sum with twice the digits."""

    sum: float = 0.0
    lost: float = 0.0


NOTHING = Exact()


def exact_sum(values: NDArray[np.float64] | None, count: int = 0) -> Exact:
    """Return a sum with twice the digits; without values, of so many ones."""
    return Exact(float(count)) if values is None else Exact(*exact_pair(values))


def add_up(sums: Iterable[Exact]) -> Exact:
    """Return the sum of sums, with twice the digits."""
    terms = [term for one in sums for term in one]
    total = math.fsum(terms)
    return Exact(total, math.fsum([*terms, -total]))


class Candidates(NamedTuple):
    """Values among which the cut is: rows of the table, and their weights if any."""

    values: NDArray[np.float64]
    rows: NDArray[np.int64]
    weights: NDArray[np.float64] | None


class Marks(NamedTuple):
    """Some values of an interval, sorted, and the mass of it up to each of them.

    Masses may be rounded.
    """

    table: NDArray[np.float64]  # (3, n), as one array takes less to send

    @property
    def values(self) -> NDArray[np.float64]:
        """The values."""
        return self.table[0]

    @property
    def below(self) -> NDArray[np.float64]:
        """The mass of smaller ones."""
        return self.table[1]

    @property
    def reached(self) -> NDArray[np.float64]:
        """The mass of those up to each."""
        return self.table[2]


class Told(NamedTuple):
    """What a partition tells of an interval."""

    below: Exact  # mass of the values below it
    n_values: int
    marks: Marks
    candidates: Candidates | None  # all of them, if they are few


@dataclass(frozen=True)
class Interval:
    """Asks for values above `low` and up to `high`.

    `values` is a node of (values, local rows or None for all rows).
    """

    values: Node
    low: float
    high: float
    n_left: float  # about so many values are in it, in all partitions
    n_parts: int

    def __call__(self, part: Part) -> Told:
        """Tell of the values that weigh anything."""
        values, rows = part.value(self.values)
        weights = part.weights
        if weights is not None and rows is not None:
            weights = weights[rows]
        inside = (values > self.low) & (values <= self.high)
        under = values <= self.low
        if weights is not None:
            inside &= weights > 0
            below = exact_sum(weights[under])
        else:
            below = Exact(float(np.count_nonzero(under)))
        places = np.flatnonzero(inside)
        found = Candidates(
            values[places],
            part.first + (places if rows is None else rows[places].astype(np.int64)),
            None if weights is None else weights[places],
        )
        n = len(places)
        is_few = self.n_left <= MOST_GATHERED or n <= MOST_GATHERED // self.n_parts
        # where there are more values, more is told of them
        n_marks = max(LEAST_MARKS, int(MOST_MARKS * n / max(self.n_left, 1)))
        return Told(below, n, marks_of(found, n_marks), found if is_few else None)


def marks_of(some: Candidates, n_marks: int) -> Marks:
    """Return marks that are spread evenly over some values, the extremes included."""
    n = len(some.values)
    if some.weights is None:
        values, sums = np.sort(some.values), np.arange(n + 1.0)
    else:
        order = np.argsort(some.values)
        values = some.values[order]
        sums = np.concatenate([[0.0], np.cumsum(some.weights[order])])
    at = np.unique(values[np.linspace(0, n - 1, min(n, n_marks)).astype(np.intp)])
    first, last = (np.searchsorted(values, at, side=side) for side in ("left", "right"))
    return Marks(np.array([at, sums[first], sums[last]]))


def find_cut(
    run: Callable[..., list[Any]],
    n_parts: int,
    n_values: int,
    values: Node,
    mass: float,
    sure: Exact = NOTHING,
) -> Cut:
    """Return where the smallest values reach a mass, `sure` being reached anyway.

    There are so many values, at most, in so many partitions.
    """
    low, high, n_left = -np.inf, np.inf, float(n_values)
    while True:
        told = run(Interval(values, low, high, n_left, n_parts))
        if all(t.candidates is not None for t in told):
            below = add_up([sure, *(t.below for t in told)])
            return cut_among([t.candidates for t in told], below, mass)
        last = low, high
        low, high = narrowed(told, mass, sure, low, high)
        if (low, high) == last:  # rounding hides on which of two values the cut is
            high = min(float(t.marks.values[0]) for t in told if len(t.marks.values))
        elif low < high:
            n_left = sum(values_between(t, low, high) for t in told)
            continue
        # rows of one value may be more than can be gathered
        cut = cut_at(run, values, high, mass, sure)
        if cut is not None:
            return cut
        low, high = high, last[1]


def values_between(told: Told, low: float, high: float) -> float:
    """Return how many values of a partition are in an interval, at most about."""
    if told.n_values == 0:
        return 0.0
    _, least, most = mass_bounds(told.marks, np.array([low, high]))
    return told.n_values * float((most[1] - least[0]) / told.marks.reached[-1])


def narrowed(
    told: list[Told], mass: float, sure: Exact, low: float, high: float
) -> tuple[float, float]:
    """Return an interval that holds the cut; one of no width where it is known."""
    at = np.unique(np.concatenate([t.marks.values for t in told]))
    reached_before = add_up([sure, *(t.below for t in told)]).sum
    under, least, most = (np.full(len(at), reached_before) for _ in range(3))
    for t in told:
        bounds = mass_bounds(t.marks, at)
        for total, bound in zip((under, least, most), bounds, strict=True):
            total += bound
    slack = ROUNDING * max(mass, reached_before)
    reaches, misses = least >= mass + slack, most < mass - slack
    # where no mass is left for more, the cut is at the last value
    highest = int(reaches.argmax()) if reaches.any() else len(at) - 1
    if under[highest] < mass - slack:
        return float(at[highest]), float(at[highest])
    lowest = np.flatnonzero(misses)
    return float(at[lowest[-1]]) if len(lowest) else low, float(at[highest])


def mass_bounds(
    marks: Marks, at: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the most mass below some values, and the least and the most up to them."""
    n = len(marks.values)
    if n == 0:
        nothing = np.zeros(len(at))
        return nothing, nothing, nothing
    place = np.searchsorted(marks.values, at, side="left")
    here = np.minimum(place, n - 1)
    is_mark = marks.values[here] == at
    before = np.where(place > 0, marks.reached[np.maximum(place, 1) - 1], 0.0)
    after = np.where(place < n, marks.below[here], marks.reached[-1])
    reached = marks.reached[here]
    return (
        after,
        np.where(is_mark, reached, before),
        np.where(is_mark, reached, after),
    )


@dataclass(frozen=True)
class Ties:
    """Asks for the mass below a value and of it, or for the row where it is reached."""

    values: Node
    at: float
    mass: float | None = None
    below: Exact = NOTHING

    def __call__(self, part: Part) -> Any:
        """Return both masses; or the cut."""
        values, rows = part.value(self.values)
        weights = part.weights
        if weights is not None and rows is not None:
            weights = weights[rows]
        tied = np.flatnonzero(values == self.at)
        own = None if weights is None else weights[tied]
        if self.mass is None:
            under = values < self.at
            below = exact_sum(
                None if weights is None else weights[under], int(under.sum())
            )
            return below, exact_sum(own, len(tied))
        numbers = tied if rows is None else rows[tied]
        found = Candidates(values[tied], part.first + numbers.astype(np.int64), own)
        return cut_among([found], self.below, self.mass)


def cut_at(
    run: Callable[..., list[Any]], values: Node, at: float, mass: float, sure: Exact
) -> Cut | None:
    """Return the cut among the rows that tie at a value, unless it is beyond them."""
    told = run(Ties(values, at))
    below = add_up([sure, *(under for under, _ in told)])
    if add_up([below, *(tied for _, tied in told)]).sum < mass:
        return None
    for number, (_, tied) in enumerate(told):
        reached = add_up([below, tied])
        if reached.sum >= mass:
            [cut] = run(Ties(values, at, mass, below), [number])
            return Cut(*cut)
        below = reached
    raise AssertionError("the masses of ties add up in every order")


def cut_among(some: list[Any], below: Exact, mass: float) -> Cut:
    """Return the cut among all candidates."""
    values = np.concatenate([c.values for c in some])
    rows = np.concatenate([c.rows for c in some])
    weights = None
    if some[0].weights is not None:
        weights = np.concatenate([c.weights for c in some])
    cut = Cut(*_native.find_cut(values, weights, mass, *below, n_threads=1))
    return cut if cut.row >= len(rows) else cut._replace(row=int(rows[cut.row]))
