"""Axes of the pictures: where a number is drawn, and which numbers stand beside it."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from rtkm.report.templating import number

# the longest logarithmic part of an axis, on either side of a plain part of length 2
TAIL = 1.0


@dataclass(frozen=True)
class Tick:
    """A number at an axis."""

    at: float
    text: str


@dataclass(frozen=True)
class Frame:
    """The size of a picture, and where the frame within it lies, in pixels."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int


@dataclass(frozen=True)
class Axis:
    """A range of numbers along a line from `start` to `end` of a picture.

    Its scale is plain between the numbers of `plain`, if there are any, and logarithmic
    further out: there the distance from the middle counts.
    """

    low: float
    high: float
    start: float
    end: float
    plain: tuple[float, float] | None = None

    @property
    def half(self) -> float:
        """Half the range: the whole may be more than a number can hold."""
        return self.high / 2 - self.low / 2

    @property
    def bends(self) -> list[float]:
        """The places where the scale becomes logarithmic."""
        if self.plain is None:
            return []
        ends = zip(self.plain, (self.low, self.high), strict=True)
        return [self.at(bend) for bend, end in ends if bend != end]

    def share(self, value: float) -> float:
        """Return how far along the range a number lies; 0.5 if all are equal."""
        if self.plain is None:
            return (value / 2 - self.low / 2) / self.half if self.half > 0 else 0.5
        below, above = self._tails
        place = self._distance(value)
        if abs(place) > 1:
            tail, end = (below, self.low) if place < 0 else (above, self.high)
            # what lies beyond the end has nowhere else to go
            farthest = math.log(max(abs(self._distance(end)), abs(place)))
            place = math.copysign(1 + tail * math.log(abs(place)) / farthest, place)
        # rounding may lead out of the range
        return min(max((place + 1 + below) / (below + 2 + above), 0.0), 1.0)

    def value_at(self, share: float) -> float:
        """Return the number that lies so far along the range."""
        if self.plain is None:
            return self.low * (1 - share) + self.high * share
        below, above = self._tails
        place = share * (below + 2 + above) - 1 - below
        tail, end = (below, self.low) if place < 0 else (above, self.high)
        if abs(place) > 1 and tail > 0:
            farthest = math.log(abs(self._distance(end)))
            out = math.exp(min((abs(place) - 1) / tail, 1.0) * farthest)
            place = math.copysign(out, place)
        low, high = self.plain
        return low / 2 + high / 2 + place * (high / 2 - low / 2)

    @property
    def _tails(self) -> tuple[float, float]:
        """How long the logarithmic parts are, where the plain one has length 2."""
        low, high = (
            min(math.log(max(abs(self._distance(end)), 1.0)), TAIL)
            for end in (self.low, self.high)
        )
        return low, high

    def _distance(self, value: float) -> float:
        """Return how far a number is from the middle, in halves of the plain part."""
        assert self.plain is not None
        low, high = self.plain
        middle = low / 2 + high / 2
        distance = (value / 2 - middle / 2) / (high / 4 - low / 4)
        # the largest numbers may be more halves away than a number can hold
        return min(max(distance, -sys.float_info.max), sys.float_info.max)

    def at(self, value: float) -> float:
        """Return where a number is drawn."""
        return self.start + (self.end - self.start) * self.share(value)

    def holds(self, value: float) -> bool:
        """Tell whether a number lies within."""
        return self.low <= value <= self.high

    def round_numbers(self, most: int = 6) -> list[float]:
        """Return round numbers within, at most `most` of them, or the ends."""
        ends = [self.low, self.high] if self.half > 0 else [self.low]
        for step in round_steps(2 * (self.half / most)):
            # beyond this, steps are too small for numbers to tell them apart
            if max(abs(self.low), abs(self.high)) / step > 1e12:
                break
            first, last = math.ceil(self.low / step), math.floor(self.high / step)
            if last - first < most:
                found = [i * step for i in range(first, last + 1)]
                return found if len(found) > 1 else ends
        return ends

    def ticks(self, most: int, room: float = 40.0) -> list[Tick]:
        """Return where round numbers lie; logarithmic parts have some `room` apart."""
        plain = self.plain
        if plain is None:
            return [Tick(self.at(v), number(v)) for v in self.round_numbers(most)]
        shown = Axis(*plain, 0.0, 1.0).round_numbers(most - 1)
        places = [self.at(value) for value in shown]
        for value in self._outer_numbers():
            place = self.at(value)
            is_outer = self.holds(value) and not plain[0] <= value <= plain[1]
            # a number at an end stands beside its place, toward the others
            needed = 1.5 * room if value in (self.low, self.high) else room
            if is_outer and all(abs(place - other) >= needed for other in places):
                shown.append(value)
                places.append(place)
        return [
            Tick(at, number(v)) for at, v in sorted(zip(places, shown, strict=True))
        ]

    def _outer_numbers(self) -> Iterator[float]:
        """Yield what may stand at logarithmic parts: powers of ten first, ends last."""
        largest = max(abs(self.low), abs(self.high))
        last = math.floor(math.log10(largest)) if largest else 0
        for factor in (1, 2, 5):
            for power in range(last, last - 6, -1):
                for sign in (1, -1):
                    yield sign * factor * 10.0**power
        yield from (self.low, self.high)


def round_steps(size: float) -> Iterator[float]:
    """Yield a few of 1, 2, 5, 10, 20, ... from a size on."""
    if 1e-290 < size < 1e290:  # others have no power of ten that can be held
        power = 10.0 ** math.floor(math.log10(size))
        yield from (f * power for f in (1, 2, 5, 10, 20, 50) if f * power >= size)


def padded(low: float, high: float, start: float, end: float) -> Axis:
    """Return an axis with some room beside the smallest and the largest number."""
    room = (high / 2 - low / 2) / 10
    if not math.isfinite((low - room) + (high + room)):
        room = 0.0
    return Axis(low - room, high + room, start, end)


def log_ticks(up: Axis) -> list[Tick]:
    """Return whole powers of ten, no more than six."""
    # the room above the line may be more than a number can hold
    first, last = math.ceil(up.low), min(math.floor(up.high), sys.float_info.max_10_exp)
    stride = max(1, -(-(last - first + 1) // 6))
    powers = range(first, last + 1, stride)
    # all zeros of larger numbers have no room beside a picture
    return [
        Tick(up.at(power), f"1e{power}" if power > 4 else number(10.0**power))
        for power in powers
    ]
