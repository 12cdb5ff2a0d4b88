"""What tells numbers of rows from measurements, where they come in parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtkm.tables.columns import FEWEST_COUNTED, MOSTLY, text_of
from rtkm.tables.identifiers import MOST_CLASSES, ROWS_PER_CLASS, are_ends_of_rows

Floats = NDArray[np.float64]
Keys = NDArray[np.uint64]
# yields some part of a column, as often as it is called
Parts = Callable[[], Iterator[Any]]

KEY_BYTES = 32  # that counting different keys takes for each

MULTIPLIERS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93))


class Steps(NamedTuple):
    """How numbers go from row to row."""

    n_rows: int
    n_there: int
    first: float
    last: float
    smallest: float  # step; NaN where there is one of none
    n_ones: int  # steps of 1
    are_whole: bool  # all that are there

    @classmethod
    def of(cls, values: Floats) -> Steps:
        """Return those of some rows, at least one."""
        there = values[~np.isnan(values)]
        with np.errstate(invalid="ignore"):
            steps = np.diff(values)
        return cls(
            len(values),
            len(there),
            float(values[0]),
            float(values[-1]),
            float(steps.min(initial=np.inf)),
            int((steps == 1).sum()),
            bool((there == np.floor(there)).all()),
        )

    def and_of(self, more: Steps) -> Steps:
        """Return those of these rows and of the next."""
        with np.errstate(invalid="ignore"):
            between = np.float64(more.first) - np.float64(self.last)
        smallest = np.min([self.smallest, between, more.smallest])
        return Steps(
            self.n_rows + more.n_rows,
            self.n_there + more.n_there,
            self.first,
            more.last,
            float(smallest),
            self.n_ones + int(between == 1) + more.n_ones,
            self.are_whole and more.are_whole,
        )


class StreamFacts:
    """What `NumberFacts` tells, of a column in parts.

    Parameters
    ----------
    steps : Steps
        How the numbers go from row to row.
    classes : ndarray or None
        The different numbers, None where they are more than classes may be.
    example : str
        The first number, as it is shown.
    keys : callable
        Yields the numbers that are there, part by part.
    memory : int
        Bytes that counting different ones may take.
    """

    def __init__(
        self,
        steps: Steps,
        classes: Floats | None,
        example: str,
        keys: Parts,
        memory: int,
    ) -> None:
        self._steps, self._classes, self._example = steps, classes, example
        self._keys, self._memory = keys, memory

    def are_classes(self) -> bool:
        """Whether they are whole and few, each of them in several rows."""
        n_there = self._steps.n_there
        if self._classes is None or not n_there or not self._steps.are_whole:
            return False
        return len(self._classes) <= min(MOST_CLASSES, n_there / ROWS_PER_CLASS)

    def mostly_differ(self) -> bool:
        """Whether they are whole, and nearly all different."""
        n_there = self._steps.n_there
        if not n_there or not self._steps.are_whole:
            return False
        n_different = count_different(self._keys, n_there, self._memory)
        return n_different >= MOSTLY * n_there

    def counts_up(self) -> bool:
        """Whether they nearly always rise by 1 from a row to the next."""
        n_rows = self._steps.n_rows
        if n_rows < FEWEST_COUNTED:
            return False
        return self._steps.n_ones / (n_rows - 1) >= MOSTLY

    def counts_some_rows(self) -> bool:
        """Whether they are those of the rows of a table that lost some of them."""
        steps = self._steps
        if not are_ends_of_rows(steps.n_rows, steps.first, steps.last):
            return False
        is_whole = steps.are_whole and steps.n_there == steps.n_rows
        return is_whole and steps.smallest == 1

    def counts_rows(self) -> bool:
        """Whether they are 1, 2, 3 or the like, from any number on."""
        steps = self._steps
        if steps.n_rows < FEWEST_COUNTED or steps.n_there < steps.n_rows:
            return False
        return steps.n_ones == steps.n_rows - 1

    def first(self) -> str:
        """Return the first number, as it is shown."""
        return self._example


def with_classes(known: Floats | None, values: Floats) -> Floats | None:
    """Return the different numbers, with more of them; None once they are many."""
    if known is None:
        return None
    found = np.unique(np.append(known, values[~np.isnan(values)]))
    return found if len(found) <= MOST_CLASSES else None


def first_there(values: Floats) -> str:
    """Return the first number that is there, as it is shown; empty if none is."""
    there = ~np.isnan(values)
    return (text_of(float(values[there.argmax()])) or "") if there.any() else ""


# Different ones


def count_different(keys: Parts, n_keys: int, memory: int) -> int:
    """Count different keys, in as many passes as it takes to have room for each.

    `keys` yields arrays of numbers, or pairs of arrays of hashes.
    """
    n_passes = max(1, -(-n_keys * KEY_BYTES // memory))
    total = 0
    for turn in range(n_passes):
        chosen = [some_keys(part, turn, n_passes) for part in keys()]
        total += count_pairs(np.concatenate(chosen, axis=1))
    return total


def some_keys(part: Any, turn: int, n_passes: int) -> Keys:
    """Return the keys of a part, as pairs, whose turn it is."""
    pair = part if isinstance(part, tuple) else keys_of_numbers(part)
    keys = np.stack(pair)
    if n_passes == 1:
        return keys
    mixed = (keys[0] * MULTIPLIERS[1]) >> np.uint64(32)
    return keys[:, mixed % np.uint64(n_passes) == turn]


def count_pairs(keys: Keys) -> int:
    """Count different pairs."""
    if not keys.shape[1]:
        return 0
    order = np.lexsort(keys[::-1])
    some = keys[:, order]
    return 1 + int((some[:, 1:] != some[:, :-1]).any(axis=0).sum())


def keys_of_numbers(values: Floats) -> tuple[Keys, Keys]:
    """Return the bits of numbers, and nothing else; of two zeros they are the same."""
    bits = (values + 0.0).view(np.uint64)
    return bits, np.zeros(len(bits), np.uint64)


def keys_of_text(cells: Any) -> tuple[Keys, Keys]:
    """Return two hashes of each cell of a chunk of large text; null has its own.

    Each is a polynomial of the bytes, modulo 2**64, mixed with the length. Different
    texts share both with a chance far below 1 in 10**18 for 10**9 rows.
    """
    offsets = np.frombuffer(
        cells.buffers()[1], np.int64, len(cells) + 1, 8 * cells.offset
    )
    data = cells.buffers()[2]
    letters = np.frombuffer(data if data is not None else b"", np.uint8)
    codes = letters[offsets[0] : offsets[-1]].astype(np.uint64) + np.uint64(1)
    starts, ends = offsets[:-1] - offsets[0], offsets[1:] - offsets[0]
    is_null = cells.is_null().to_numpy(zero_copy_only=False)
    return (
        hashed(codes, starts, ends, is_null, *MULTIPLIERS),
        hashed(codes, starts, ends, is_null, *MULTIPLIERS[::-1]),
    )


def hashed(
    codes: Keys,
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    is_null: NDArray[np.bool_],
    base: np.uint64,
    mixer: np.uint64,
) -> Keys:
    """Return a hash of each run of codes."""
    # odd numbers have an inverse, by which each sum begins at the first power
    inverse = np.uint64(pow(int(base), -1, 2**64))
    powers = np.full(len(codes), base)
    backward = np.full(len(codes) + 1, inverse)
    backward[0] = 1
    np.multiply.accumulate(powers, out=powers)
    np.multiply.accumulate(backward, out=backward)
    sums = np.append(np.uint64(0), np.cumsum(codes * powers, dtype=np.uint64))
    keys = (sums[ends] - sums[starts]) * backward[starts]
    keys += (ends - starts).astype(np.uint64) * mixer
    for _ in range(2):
        keys ^= keys >> np.uint64(32)
        keys *= mixer
    keys[is_null] = mixer
    return keys
