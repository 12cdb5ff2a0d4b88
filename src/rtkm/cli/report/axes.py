"""Where numbers of any size lie on an axis."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """A range of numbers along a line from `start` to `end` of a picture."""

    low: float
    high: float
    start: float
    end: float

    @property
    def half(self) -> float:
        """Half the range: the whole may be more than a number can hold."""
        return self.high / 2 - self.low / 2

    def share(self, value: float) -> float:
        """Return how far along the range a number lies; 0.5 if all are equal."""
        return (value / 2 - self.low / 2) / self.half if self.half > 0 else 0.5

    def at(self, value: float) -> float:
        """Return where a number is drawn."""
        return self.start + (self.end - self.start) * self.share(value)

    def holds(self, value: float) -> bool:
        """Tell whether a number lies within."""
        return self.low <= value <= self.high

    def ticks(self, most: int = 6) -> list[float]:
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
