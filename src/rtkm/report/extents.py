"""Which range of numbers an axis shows, so that a few rows do not flatten the rest."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rtkm.report.axes import Axis
from rtkm.report.findings import Extent, finite

Floats = NDArray[np.float64]

LARGEST = float(np.finfo(np.float64).max)
BULK = 0.9  # share of the rows that must not be flattened
ROOM = 0.5  # beside the narrowest interval that holds them, in widths of it
FLAT = 3.0  # times as wide as that, an axis is no longer plain throughout
FARTHEST = 1000.0  # halves of the plain part; rows farther out are drawn at the edge
MOST_LOOKED_AT = 20_000
N_BINS, MOST_WHOLE_BINS = 30, 40


def extent_of(values: Floats) -> Extent:
    """Return the range that shows all of some numbers, and most of them well.

    It is plain throughout, unless the narrowest interval that holds nine of ten rows
    would be lost in it. Then only that interval, with some room, is plain, and the
    scale beyond it is logarithmic.
    """
    if not len(values):
        return as_extent(0.0, 1.0, 0.0, 1.0)
    low, high = float(values.min()), float(values.max())
    if max(abs(low), abs(high)) > LARGEST / 8:  # what is added up must be finite
        inner = extent_of(values / 2**13)
        return as_extent(
            *(min(max(end * 2.0**13, -LARGEST), LARGEST) for end in ends_of(inner))
        )
    first, last = bulk_of(values)
    room = ROOM * (last - first)
    near = values[(values >= first - room) & (values <= last + room)]
    first, last = float(near.min()), float(near.max())
    room = ROOM * (last - first)
    first = low if first - low <= room else first
    last = high if high - last <= room else last
    half = (last - first) / 2
    if half / 2 <= 0 or high - low <= FLAT * (last - first):
        return as_extent(low, high, low, high)
    middle = first + half
    return as_extent(
        max(low, middle - FARTHEST * half),
        min(high, middle + FARTHEST * half),
        first,
        last,
    )


def bulk_of(values: Floats) -> tuple[float, float]:
    """Return the narrowest interval that holds most rows, or of ties most numbers."""
    some = values
    if len(values) > MOST_LOOKED_AT:
        some = np.random.default_rng(0).choice(values, MOST_LOOKED_AT)
    for distinct in (False, True):
        candidates = np.unique(values) if distinct else np.sort(some)
        n = len(candidates)
        # of very few rows, one may lie apart
        most = max(min(math.ceil(BULK * n), n - 1), min(n, 2))
        widths = candidates[most - 1 :] - candidates[: n - most + 1]
        start = int(widths.argmin())
        if widths[start] > 0:
            break
    return float(candidates[start]), float(candidates[start + most - 1])


def as_extent(low: float, high: float, plain_low: float, plain_high: float) -> Extent:
    """Return a range as findings hold it."""
    return {
        "low": finite(low),
        "high": finite(high),
        "plain_low": finite(plain_low),
        "plain_high": finite(plain_high),
    }


def ends_of(extent: Extent) -> tuple[float, float, float, float]:
    """Return the four numbers of a range, 0 where one is not known."""
    low, high = extent["low"] or 0.0, extent["high"] or 0.0
    return low, high, extent["plain_low"] or 0.0, extent["plain_high"] or 0.0


def axis_of(extent: Extent, start: float, end: float) -> Axis:
    """Return the axis that shows a range."""
    low, high, plain_low, plain_high = ends_of(extent)
    is_plain = (low, high) == (plain_low, plain_high) or plain_low >= plain_high
    return Axis(low, high, start, end, None if is_plain else (plain_low, plain_high))


# Bins


def bins_of(values: Floats) -> tuple[Extent, Floats]:
    """Return the range of a histogram, and the edges of bins that are drawn as wide.

    There is a bin around each whole number if there are few of them.
    """
    extent = extent_of(values)
    low, high, plain_low, plain_high = ends_of(extent)
    axis = axis_of(extent, 0.0, 1.0)
    few = plain_high - plain_low < MOST_WHOLE_BINS
    is_whole = few and len(values) > 0 and are_whole(values)
    if is_whole and axis.plain is None:
        edges = np.arange(np.round(low), np.round(high) + 2) - 0.5
        return as_extent(edges[0], edges[-1], edges[0], edges[-1]), edges
    if not low < high:
        half = 0.5 + abs(low) / 2
        low, high = max(low - half, -LARGEST), min(high + half, LARGEST)
        extent, axis = as_extent(low, high, low, high), Axis(low, high, 0.0, 1.0)
    inner = [axis.value_at(i / N_BINS) for i in range(1, N_BINS)]
    edges = np.unique(np.clip([low, *inner, high], low, high))
    if is_whole:  # an edge between two numbers, never a bin between them
        halves = np.floor(edges[1:-1]) + 0.5
        edges = np.unique(np.r_[low, halves[(halves > low) & (halves < high)], high])
    return extent, edges


def are_whole(values: Floats) -> bool:
    """Whether values are whole numbers, but for the rounding of scaling to and fro."""
    rounded = np.round(values)
    near = np.abs(values - rounded) < 1e-9
    return bool((near & (np.abs(values) < 2**31)).all())
