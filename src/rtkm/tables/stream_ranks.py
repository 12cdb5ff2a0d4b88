"""Numbers at places in the order of a column that comes in parts.

No column is sorted. A pass counts how many of its numbers begin with which bits, in an
encoding that orders them; that brackets each place by more bits, until the numbers
inside of all brackets have room and are gathered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Keys = NDArray[np.uint64]
Parts = Callable[[], Iterator[Floats]]
Pick = Callable[[Floats], Floats]

BITS = 64
DIGIT = 12  # bits that a pass tells more
FEWEST_GATHERED = 2**16  # numbers, which always have room


class Bracket(NamedTuple):
    """The numbers of a column that begin with some bits."""

    column: int
    n_bits: int
    start: int

    def inside(self, keys: Keys) -> Keys:
        """Return those among keys of the column."""
        if not self.n_bits:
            return keys
        shift = np.uint64(BITS - self.n_bits)
        return keys[(keys >> shift) == np.uint64(self.start)]

    @property
    def n_more(self) -> int:
        """How many bits the next pass tells."""
        return min(DIGIT, BITS - self.n_bits)

    def digits(self, keys: Keys) -> NDArray[np.intp]:
        """Return the next bits of keys inside."""
        shift = np.uint64(BITS - self.n_bits - self.n_more)
        return ((keys >> shift) & np.uint64(2**self.n_more - 1)).astype(np.intp)


@dataclass(frozen=True)
class Wanted:
    """A number that is looked for: its place, and where it can only be."""

    bracket: Bracket
    place: int  # among the numbers in the bracket
    n_inside: int


def order_statistics(
    parts: Parts,
    picks: Sequence[Pick],
    places_of: Callable[[int], Sequence[int]],
    room: int,
) -> list[list[float]]:
    """Return the numbers at places in the order of each column.

    Parameters
    ----------
    parts : callable
        Yields the rows, part by part, each time that it is called.
    picks : sequence of callable
        Each takes a part to the numbers of a column, as many as it likes, none NaN.
    places_of : callable
        From how many numbers a column has to the places that are asked for.
    room : int
        How many numbers may be gathered.

    Returns
    -------
    list of list of float
        The numbers of each column, in the order of the places.

    Examples
    --------
    >>> parts = lambda: iter([np.array([[3.0], [1.0]]), np.array([[2.0]])])
    >>> order_statistics(parts, [lambda X: X[:, 0]], lambda n: (0, n - 1), 10)
    [[1.0, 3.0]]
    """
    whole = [Bracket(j, 0, 0) for j in range(len(picks))]
    counts, _ = look(parts, picks, whole, ())
    wanted: dict[tuple[int, int], Wanted] = {}
    for bracket in whole:
        n = int(counts[bracket].sum())
        for i, place in enumerate(places_of(n)):
            start = Wanted(bracket, place, n)
            wanted[bracket.column, i] = narrowed(start, counts[bracket])
    found: dict[tuple[int, int], float] = {}
    while wanted:
        small = gathered_next(list(wanted.values()), room)
        large = {each.bracket for each in wanted.values()} - small
        counts, values = look(parts, picks, large, small)
        for key, each in list(wanted.items()):
            if each.bracket in small:
                found[key] = values[each.bracket][each.place]
                del wanted[key]
            else:
                wanted[key] = narrowed(each, counts[each.bracket])
    return [
        [found[key] for key in sorted(found) if key[0] == j] for j in range(len(picks))
    ]


def narrowed(wanted: Wanted, counts: NDArray[np.int64]) -> Wanted:
    """Return a number with more bits known, given how many have which next bits."""
    ends = np.cumsum(counts)
    digit = int(np.searchsorted(ends, wanted.place, side="right"))
    before = int(ends[digit] - counts[digit])
    old = wanted.bracket
    return replace(
        wanted,
        bracket=Bracket(
            old.column, old.n_bits + old.n_more, (old.start << old.n_more) + digit
        ),
        place=wanted.place - before,
        n_inside=int(counts[digit]),
    )


def gathered_next(wanted: Sequence[Wanted], room: int) -> set[Bracket]:
    """Return the brackets, small ones first, whose numbers have room together."""
    sizes = {each.bracket: each.n_inside for each in wanted}
    small, n_left = set(), max(room, FEWEST_GATHERED)
    for bracket in sorted(sizes, key=lambda bracket: (sizes[bracket], bracket)):
        n_left -= sizes[bracket]
        if n_left >= 0 or bracket.n_bits == BITS:
            small.add(bracket)
    return small


def look(
    parts: Parts,
    picks: Sequence[Pick],
    large: Sequence[Bracket] | set[Bracket],
    small: Sequence[Bracket] | set[Bracket],
) -> tuple[dict[Bracket, NDArray[np.int64]], dict[Bracket, list[float]]]:
    """Count the next bits in large brackets, and gather what is in small ones, sorted.

    In a bracket of which all bits are known one number stands for all.
    """
    counts = {bracket: np.zeros(2**bracket.n_more, np.int64) for bracket in large}
    gathered: dict[Bracket, list[Keys]] = {bracket: [] for bracket in small}
    columns = sorted({bracket.column for bracket in (*large, *small)})
    for part in parts():
        for j in columns:
            keys = keys_of(picks[j](part))
            for bracket, total in counts.items():
                if bracket.column == j:
                    digits = bracket.digits(bracket.inside(keys))
                    total += np.bincount(digits, minlength=len(total))
            for bracket, some in gathered.items():
                if bracket.column == j:
                    some.append(bracket.inside(keys))
    values = {
        bracket: values_of(np.sort(np.concatenate(some))).tolist()
        for bracket, some in gathered.items()
    }
    return counts, values


SIGN = np.uint64(2**63)


def keys_of(values: Floats) -> Keys:
    """Return whole numbers in the order of numbers; both zeros have the same."""
    bits = (values + 0.0).view(np.uint64)
    return np.where(bits & SIGN, ~bits, bits | SIGN)


def values_of(keys: Keys) -> Floats:
    """Return the numbers of keys."""
    return np.where(keys & SIGN, keys ^ SIGN, ~keys).view(np.float64)


# Medians and quantiles, as `Values` has them


def median_places(n: int) -> Sequence[int]:
    """Return the one or two places in the middle."""
    return ((n - 1) // 2, n // 2) if n else ()


def medians_of(parts: Parts, picks: Sequence[Pick], room: int) -> list[float]:
    """Return the median of each column, 0 where there is no number."""
    found = order_statistics(parts, picks, median_places, room)
    return [float(np.array(pair).mean()) if pair else 0.0 for pair in found]


def quantiles_of(
    parts: Parts, picks: Sequence[Pick], shares: tuple[float, ...], room: int
) -> list[list[float]]:
    """Return the numbers of each column below which the shares of all lie."""
    sizes: list[int] = []

    def places(n: int) -> Sequence[int]:
        sizes.append(n)
        exact = np.array(shares) * max(n - 1.0, 0.0)
        return np.append(np.floor(exact), np.ceil(exact)).astype(int).tolist()

    found = order_statistics(parts, picks, places, room)
    quantiles = []
    for n, values in zip(sizes, found, strict=True):
        exact = np.array(shares) * max(n - 1.0, 0.0)
        below, above = np.array(values).reshape(2, len(shares))
        quantiles.append((below + (above - below) * (exact % 1)).tolist())
    return quantiles
