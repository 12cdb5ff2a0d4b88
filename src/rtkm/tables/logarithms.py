"""Columns whose logarithm is used: those of sizes, from very small to very large."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtkm._number_text import counted, figure
from rtkm.tables.columns import Column
from rtkm.tables.messages import InputError, listed, nearest, shown
from rtkm.tables.missing import Missing, fault

Floats = NDArray[np.float64]
Log = Sequence[str] | Literal["auto"]

TAIL = 0.05  # share of the rows beyond the quantiles that skewness compares
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
    low, middle, high = np.quantile(values, [TAIL, 0.5, 1 - TAIL]).tolist()
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
    positive = values[values > 0]
    is_needed = 0 < len(positive) < len(values)
    return float(positive.min()) if is_needed else 0.0


def is_very_skewed(values: Floats) -> bool:
    """Whether numbers are very skewed, and their logarithms far less."""
    if not len(values) or values.min() < 0 or not values.max() > 0:
        return False
    raw = skewness(values)
    return raw > VERY_SKEWED and abs(skewness_of_log(values)) < MUCH_LESS * raw


def find_logarithms(log: Log, columns: Sequence[Column], X: Floats) -> Logarithms:
    """Decide of which columns to take logarithms, and say so."""
    names = [column.name for column in columns]
    if isinstance(log, str):
        places = [
            j
            for j, column in enumerate(columns)
            if column.kind == "number" and is_very_skewed(X[:, j])
        ]
    else:
        places = [place_of(name, names) for name in dict.fromkeys(log)]
    offset = np.zeros(len(names))
    for j in places:
        refuse_negative(names[j], X[:, j])
        offset[j] = offset_of(X[:, j])
    chosen = tuple(names[j] for j in places)
    if not chosen:
        notes = ["No column is so skewed that its logarithm is used."] * (log == "auto")
        return Logarithms((), offset, notes)
    told = (
        shown(names[j]) + f" (plus {figure(offset[j])}, for zeros)" * bool(offset[j])
        for j in places
    )
    note = f"Logarithms are taken of {listed(told, len(places), most=10)}."
    return Logarithms(chosen, offset, [note])


def place_of(name: str, names: list[str]) -> int:
    """Return the place of a column that is used."""
    if name not in names:
        raise InputError(
            f"log={name!r}: this column is not used; {nearest(name, names)}"
        )
    return names.index(name)


def refuse_negative(name: str, values: Floats) -> None:
    """Refuse numbers that have no logarithm, with or without an offset."""
    if values.min() < 0 or not values.max() > 0:
        raise InputError(
            f"log={name!r}: the column holds numbers such as {values.min():g}, and "
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
