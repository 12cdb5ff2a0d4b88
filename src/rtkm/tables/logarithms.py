"""Columns whose logarithm is used: those of sizes, from very small to very large."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtkm._number_text import counted, figure
from rtkm.tables.columns import Column
from rtkm.tables.messages import InputError, listed, nearest, shown
from rtkm.tables.missing import Missing, fault
from rtkm.tables.scaling import Values

Floats = NDArray[np.float64]
Log = Sequence[str] | Literal["auto"]

TAIL = 0.05  # share of the rows beyond the quantiles that skewness compares
SKEWNESS_SHARES = (TAIL, 0.5, 1 - TAIL)
VERY_SKEWED = 0.7  # an exponential distribution has 0.56, a log-normal tanh(0.82 sigma)
MUCH_LESS = 0.5  # of the skewness is left, at most, where a logarithm pays


class Logarithms(NamedTuple):
    """The columns, by name, and what is added to each column of all before."""

    names: tuple[str, ...]
    offset: Floats
    notes: list[str]


def skewness(values: Floats) -> float:
    """Return how much farther the upper tail reaches than the lower, from -1 to 1.

    It compares the quantiles at 5 and 95 % with the median, so that no single value
    decides. Where both quantiles are the same it is 0.

    Examples
    --------
    >>> skewness(np.arange(101.0)), round(skewness(2.0 ** np.arange(101)), 2)
    (0.0, 1.0)
    """
    return skewness_by(*Values(values, None).quantiles(SKEWNESS_SHARES))


def skewness_by(low: float, middle: float, high: float) -> float:
    """Return the skewness, given the quantiles that it compares."""
    if not low < high:
        return 0.0
    return float((high / 2 - middle + low / 2) / (high / 2 - low / 2))


def skewness_of_log(values: Floats) -> float:
    """Return the skewness of the logarithms of numbers of at least 0."""
    return skewness(np.log(values + offset_of(values)))


def offset_of(values: Floats) -> float:
    """Return what is to be added before taking logarithms.

    Nothing, unless there are zeros: then the smallest number above, so that the result
    does not depend on the unit.
    """
    return Extent.of(values).offset


class Extent(NamedTuple):
    """How far numbers reach, and how many there are above 0."""

    n: int
    least: float
    most: float
    n_positive: int
    least_positive: float

    @classmethod
    def of(cls, values: Floats) -> Extent:
        """Return that of some numbers; of none it is empty."""
        positive = values[values > 0]
        return cls(
            len(values),
            float(values.min(initial=np.inf)) + 0.0,  # both zeros are one number
            float(values.max(initial=-np.inf)),
            len(positive),
            float(positive.min(initial=np.inf)),
        )

    def and_of(self, more: Extent) -> Extent:
        """Return that of these numbers and of more."""
        return Extent(
            self.n + more.n,
            min(self.least, more.least),
            max(self.most, more.most),
            self.n_positive + more.n_positive,
            min(self.least_positive, more.least_positive),
        )

    @property
    def has_logarithms(self) -> bool:
        """Whether the numbers have logarithms, with an offset if there are zeros."""
        return self.least >= 0 and self.most > 0

    @property
    def offset(self) -> float:
        """What is to be added before, so that zeros have one, too."""
        return self.least_positive if 0 < self.n_positive < self.n else 0.0


def is_very_skewed(values: Floats) -> bool:
    """Whether numbers are very skewed, and their logarithms far less."""
    if not len(values) or not Extent.of(values).has_logarithms:
        return False
    raw = skewness(values)
    return raw > VERY_SKEWED and is_far_less(skewness_of_log(values), raw)


def is_far_less(of_log: float, raw: float) -> bool:
    """Whether logarithms are so much less skewed that it pays to take them."""
    return abs(of_log) < MUCH_LESS * raw


def find_logarithms(log: Log, columns: Sequence[Column], X: Floats) -> Logarithms:
    """Decide of which columns to take logarithms, and say so."""
    if isinstance(log, str):
        places = [
            j
            for j, column in enumerate(columns)
            if column.kind == "number" and is_very_skewed(X[:, j])
        ]
    else:
        places = places_of(log, columns)
    extents = {j: Extent.of(X[:, j]) for j in places}
    return logarithms_of(log, [column.name for column in columns], extents)


def places_of(log: Sequence[str], columns: Sequence[Column]) -> list[int]:
    """Return the places of the columns that are named."""
    names = [column.name for column in columns]
    return [place_of(name, names) for name in dict.fromkeys(log)]


def logarithms_of(
    log: Log, names: Sequence[str], extents: Mapping[int, Extent]
) -> Logarithms:
    """Take logarithms of columns, by their places, and say so."""
    offset = np.zeros(len(names))
    for j, extent in extents.items():
        refuse_negative(names[j], extent)
        offset[j] = extent.offset
    chosen = tuple(names[j] for j in extents)
    if not chosen:
        notes = ["No column is so skewed that its logarithm is used."] * (log == "auto")
        return Logarithms((), offset, notes)
    told = (
        shown(names[j]) + f" (plus {figure(offset[j])}, for zeros)" * bool(offset[j])
        for j in extents
    )
    note = f"Logarithms are taken of {listed(told, len(extents), most=10)}."
    return Logarithms(chosen, offset, [note])


def place_of(name: str, names: list[str]) -> int:
    """Return the place of a column that is used."""
    if name not in names:
        raise InputError(
            f"log={name!r}: this column is not used; {nearest(name, names)}"
        )
    return names.index(name)


def refuse_negative(name: str, extent: Extent) -> None:
    """Refuse numbers that have no logarithm, with or without an offset."""
    if not extent.has_logarithms:
        raise InputError(
            f"log={name!r}: the column holds numbers such as {extent.least:g}, and "
            "logarithms need numbers of at least 0, not all 0; leave it out of log=."
        )


def blank_unusable(
    X: Floats,
    columns: Sequence[Column],
    ways: Sequence[Missing],
    is_logged: NDArray[np.bool_],
    offset: Floats,
) -> list[str]:
    """Refuse new numbers that have no logarithm, or count them as missing; changes X.

    Zeros have one where there were zeros when the model was fitted.
    """
    notes = []
    for j in np.flatnonzero(is_logged).tolist():
        unusable = np.flatnonzero((X[:, j] < 0) | (X[:, j] + offset[j] == 0))
        if len(unusable):
            cells = (f"{X[row, j]:g} in row {row + 1:,}" for row in unusable.tolist())
            what = f"{counted(len(unusable), 'cell')} without a logarithm"
            where = listed(cells, len(unusable), 3)
            notes.append(fault(columns[j], what, where, ways[j]))
            X[unusable, j] = np.nan
    return notes
