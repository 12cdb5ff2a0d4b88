"""How the columns of rows that come in parts are scaled: logarithms and spreads.

Each number found here is the one that `find_logarithms`, `find_scaling` and
`with_categories` find of all rows at once, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtkm.tables.category_features import root_mean_square
from rtkm.tables.columns import Column
from rtkm.tables.exact_sums import ExactSum
from rtkm.tables.fitted_preparation import Preparation, unscaled
from rtkm.tables.logarithms import (
    SKEWNESS_SHARES,
    VERY_SKEWED,
    Extent,
    Log,
    Logarithms,
    is_far_less,
    logarithms_of,
    places_of,
    skewness_by,
)
from rtkm.tables.scaling import (
    DEVIATIONS_PER_IQR,
    MIDDLE,
    Scale,
    Scaling,
    Values,
    densest_spread,
    settle_scaling,
    spread_of_middle,
    stride_of,
)
from rtkm.tables.stream_ranks import Pick, medians_of, quantiles_of

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RowsInParts:
    """Rows of numbers without gaps, that can be gone through again and again.

    Attributes
    ----------
    parts : callable
        Yields the rows, part by part; none may be changed.
    n_rows, n_columns : int
        How many there are.
    room : int
        How many numbers may be gathered.
    """

    parts: Callable[[], Iterator[Floats]]
    n_rows: int
    n_columns: int
    room: int

    def mapped(self, change: Callable[[Floats], Floats]) -> RowsInParts:
        """Return the rows with something done to a copy of each part."""
        return replace(self, parts=partial(changed, self.parts, change))

    def picks(self, columns: Sequence[int]) -> list[Pick]:
        """Return what takes a part to each of some columns."""
        return [partial(column_of, j) for j in columns]

    def extents(self) -> list[Extent]:
        """Return how far the numbers of each column reach."""
        columns = range(self.n_columns)
        start = [Extent.of(np.empty(0))] * self.n_columns
        for X in self.parts():
            start = [start[j].and_of(Extent.of(X[:, j])) for j in columns]
        return start

    def sums(self, change: Callable[[Floats, int], Floats]) -> list[ExactSum]:
        """Return the exact sums of what is made of each column."""
        sums = [ExactSum()] * self.n_columns
        for X in self.parts():
            sums = [
                s.and_of(ExactSum.of(change(X[:, j], j))) for j, s in enumerate(sums)
            ]
        return sums

    def thinned(self, stride: int) -> Floats:
        """Return every so many-th row."""
        start, some = 0, [np.empty((0, self.n_columns))]
        for X in self.parts():
            some.append(X[-start % stride :: stride].copy())  # not all of X
            start += len(X)
        return np.concatenate(some)


def column_of(j: int, X: Floats) -> Floats:
    """Return a column."""
    return X[:, j]


def changed(
    parts: Callable[[], Iterator[Floats]], change: Callable[[Floats], Floats]
) -> Iterator[Floats]:
    """Yield parts with something done to a copy of each."""
    return (change(X.copy()) for X in parts())


# Logarithms


def find_stream_logarithms(
    log: Log, columns: Sequence[Column], rows: RowsInParts
) -> Logarithms:
    """Decide of which columns to take logarithms, and say so."""
    names = [column.name for column in columns]
    if not isinstance(log, str) and not log:
        return logarithms_of(log, names, {})
    extents = rows.extents()
    if isinstance(log, str):
        of_numbers = [j for j, c in enumerate(columns) if c.kind == "number"]
        can_be = [j for j in of_numbers if extents[j].has_logarithms]
        places = very_skewed(rows, can_be, extents)
    else:
        places = places_of(log, columns)
    return logarithms_of(log, names, {j: extents[j] for j in places})


def very_skewed(
    rows: RowsInParts, places: Sequence[int], extents: Sequence[Extent]
) -> list[int]:
    """Return which columns are very skewed, and their logarithms far less."""
    raw = skewness_in(rows, rows.picks(places))
    skewed = {
        j: value for j, value in zip(places, raw, strict=True) if value > VERY_SKEWED
    }
    picks = [partial(logarithm_of, j, extents[j].offset) for j in skewed]
    of_logs = skewness_in(rows, picks)
    return [
        j
        for j, of_log in zip(skewed, of_logs, strict=True)
        if is_far_less(of_log, skewed[j])
    ]


def logarithm_of(j: int, offset: float, X: Floats) -> Floats:
    """Return the logarithms of a column."""
    logarithms: Floats = np.log(X[:, j] + offset)
    return logarithms


def skewness_in(rows: RowsInParts, picks: Sequence[Pick]) -> list[float]:
    """Return the skewness of columns."""
    found = quantiles_of(rows.parts, picks, SKEWNESS_SHARES, rows.room)
    return [skewness_by(*quantiles) for quantiles in found]


# Spreads


class Range(NamedTuple):
    """The smallest and the largest number of each column, and if there are others."""

    least: Floats
    most: Floats
    has_others: NDArray[np.bool_]

    @classmethod
    def of(cls, X: Floats) -> Range:
        """Return that of a part, which has a row at least."""
        least, most = X.min(axis=0), X.max(axis=0)
        return cls(least, most, ((X != least) & (X != most)).any(axis=0))

    def and_of(self, more: Range) -> Range:
        """Return that of these rows and of more."""
        least = np.minimum(self.least, more.least)
        most = np.maximum(self.most, more.most)
        inside = [
            (ends != least) & (ends != most)
            for ends in (self.least, self.most, more.least, more.most)
        ]
        others = self.has_others | more.has_others | np.any(inside, axis=0)
        return Range(least, most, others)


def find_stream_scaling(
    rows: RowsInParts, names: Sequence[str], medians: Floats, scale: Scale
) -> Scaling:
    """Find how to scale rows without missing values, as `find_scaling` does."""
    if not names:
        none = np.empty(0)
        return settle_scaling(scale, names, none, none, none > 0, lambda j: 0.0)
    reach = reduce(Range.and_of, map(Range.of, rows.parts()))
    with np.errstate(over="ignore", invalid="ignore"):
        if scale == "standard":
            center = np.array([s.mean() for s in rows.sums(lambda x, j: x)])
            squares = rows.sums(lambda x, j: np.square(x - center[j]))
            raw = np.sqrt(np.array([s.mean() for s in squares]))
        else:
            center, raw = medians, robust_spreads(rows, medians, reach)
        judged = np.empty((0, len(names)))
        if scale == "auto":
            judged = rows.thinned(stride_of(rows.n_rows))
    differ = reach.least < reach.most
    return settle_scaling(
        scale,
        names,
        center,
        raw,
        differ,
        lambda j: densest_spread(Values(judged[:, j], None)),
    )


def robust_spreads(rows: RowsInParts, centers: Floats, reach: Range) -> Floats:
    """Return the robust spread of each column, see `robust_spread`."""
    spreads = DEVIATIONS_PER_IQR * (reach.most - reach.least)
    places = np.flatnonzero(reach.has_others).tolist()
    found = quantiles_of(rows.parts, rows.picks(places), MIDDLE, rows.room)
    middles = dict(zip(places, found, strict=True))
    wide = [j for j in places if middles[j][0] != middles[j][1]]
    picks = [partial(distance_of, j, centers[j]) for j in wide]
    usual = dict(zip(wide, medians_of(rows.parts, picks, rows.room), strict=True))
    # where half of the numbers are the center, the others tell
    again = [j for j in places if not usual.get(j)]
    picks = [partial(positive_distance_of, j, centers[j]) for j in again]
    usual |= zip(again, medians_of(rows.parts, picks, rows.room), strict=True)
    for j in places:
        low, high = middles[j]
        if low == high:
            spreads[j] = DEVIATIONS_PER_IQR * usual[j]
        else:
            spreads[j] = spread_of_middle(low, high, usual[j])
    return spreads


def distance_of(j: int, center: float, X: Floats) -> Floats:
    """Return the distances of a column to its center."""
    distances: Floats = np.abs(X[:, j] - center)
    return distances


def positive_distance_of(j: int, center: float, X: Floats) -> Floats:
    """Return those distances that are not 0."""
    distances = distance_of(j, center, X)
    return distances[distances > 0]


def mean_spread_in(rows: RowsInParts, numbers: Preparation) -> float:
    """Return the root mean square spread of columns of numbers in the matrix."""
    if numbers.scale != "none" or not rows.n_columns:
        return 1.0
    scaled = rows.mapped(numbers.scaled)
    reach = reduce(Range.and_of, map(Range.of, scaled.parts()))
    medians = medians_of(scaled.parts, scaled.picks(range(rows.n_columns)), rows.room)
    spreads = robust_spreads(scaled, np.array(medians), reach)
    return root_mean_square(spreads[reach.least < reach.most])


def find_stream_units(
    columns: Sequence[Column],
    rows: RowsInParts,
    fill: tuple[float, ...],
    *,
    log: Log,
    scale: Scale,
) -> tuple[Preparation, list[str]]:
    """Decide on logarithms and on scaling, and say so."""
    names = tuple(column.name for column in columns)
    logs = find_stream_logarithms(log, columns, rows)
    found = unscaled(names, log=logs.names, offset=logs.offset)
    middles = found.scaled(np.array([fill]))[0]
    scaled = rows.mapped(found.scaled) if logs.names else rows
    scaling = find_stream_scaling(scaled, names, middles, scale)
    found = replace(
        found,
        fill=fill,
        scale=scaling.method,
        center=tuple(scaling.center.tolist()),
        spread=tuple(scaling.spread.tolist()),
    )
    return found, [*logs.notes, *scaling.notes]
