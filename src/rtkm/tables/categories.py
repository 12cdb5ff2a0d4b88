"""Columns of categories as features: one indicator for each category.

An indicator is 1 in the rows of its category and 0 elsewhere. They are all divided by
one number, so that a column of categories has the variance of a column of numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rtkm._number_text import counted, percent
from rtkm.tables.coding import NO_CODE, Coded, Codes, code
from rtkm.tables.columns import Column
from rtkm.tables.messages import InputError, listed, nearest, shown
from rtkm.tables.select import check_known
from rtkm.tables.sheet import AnyTable

Floats = NDArray[np.float64]

MOST_CATEGORIES = 40  # of a column; the rarest of more than that share an indicator
OTHER = "(other)"
MANY_CATEGORIES = 0.5  # of the rows: so many different cells name rows, not groups


@dataclass(frozen=True)
class Categories:
    """The categories of some columns, and in which of them each row is.

    Attributes
    ----------
    names : tuple of str
        The columns.
    values : tuple of tuple of str
        The categories of each column.
    places : ndarray of shape (n_rows, n_columns)
        The place of each cell among them, NaN where it is missing, -1 where it is in
        none of them.
    """

    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    places: Floats

    @property
    def columns(self) -> list[Column]:
        """The columns, as messages about missing values need them."""
        return [Column(name, "text") for name in self.names]


def find_categories(table: AnyTable, names: Sequence[str]) -> Categories:
    """Return the categories of some columns, the most frequent first."""
    values, places = [], []
    for name in dict.fromkeys(names):
        check_known(table, name, "categories")
        coded = code_cells(table, name)
        n_rows = int((coded.codes != NO_CODE).sum())
        check_few(coded.n_values, n_rows, table.look(name))
        counts = np.bincount(coded.codes[coded.codes != NO_CODE])
        some = most_frequent(coded.texts, counts.tolist())
        values.append(some)
        places.append(place_among(coded.codes, coded.texts, some))
    return joined(tuple(dict.fromkeys(names)), tuple(values), places, table.n_rows)


def find_known(
    table: AnyTable, known: Mapping[str, tuple[str, ...]]
) -> tuple[Categories, list[str]]:
    """Return in which known categories new rows are, and say where in none of them."""
    places, notes = [], []
    for name, values in known.items():
        check_has(table, name)
        coded = code_cells(table, name)
        places.append(place_among(coded.codes, coded.texts, values))
        new = unknown_among(coded.texts, values)
        if new:
            notes.append(note_on_unknown(name, int((places[-1] < 0).sum()), new))
    return joined(tuple(known), tuple(known.values()), places, table.n_rows), notes


def check_has(table: AnyTable, name: str) -> None:
    """Refuse a table without a column of categories that a model needs."""
    if name not in table.places:
        raise InputError(
            f"{table.name} has no column {shown(name)}, whose categories the model "
            f"needs; {nearest(name, table.names, 'it has')}"
        )


def unknown_among(texts: Iterable[str], values: Sequence[str]) -> list[str]:
    """Return the categories that are none of the values."""
    return [text for text in texts if text not in values and OTHER not in values]


def note_on_unknown(name: str, n_cells: int, new: Sequence[str]) -> str:
    """Say how many cells have categories that a model does not know."""
    told = listed(map(shown, new), len(new), 3)
    return (
        f"Column {shown(name)} has {counted(n_cells, 'cell')} with categories the "
        f"model has not seen ({told}); they belong to none that it knows."
    )


def joined(
    names: tuple[str, ...],
    values: tuple[tuple[str, ...], ...],
    places: Sequence[Floats],
    n_rows: int,
) -> Categories:
    """Put columns side by side; there may be none."""
    return Categories(names, values, np.array(places).reshape(len(names), n_rows).T)


def code_cells(table: AnyTable, name: str) -> Coded:
    """Give each category of a column a number."""
    column = table.look(name)
    coded = code(table, column)
    if coded is not None:
        return coded
    raise no_categories(column)


def no_categories(column: Column) -> InputError:
    """Return what is said of a column whose cells are no categories."""
    name = shown(column.name)
    if column.kind == "empty":
        return InputError(f"column {name} is empty; expected categories.")
    return InputError(
        f"column {name} holds values that are not categories, such as "
        f"{shown(column.example)}; leave it out of categories=."
    )


def check_few(n_values: int, n_rows: int, column: Column) -> None:
    """Refuse a column in which nearly every row has a category of its own."""
    if n_values > max(MOST_CATEGORIES, MANY_CATEGORIES * n_rows):
        numbers = ", or use it as numbers in columns=" * column.is_numeric
        raise InputError(
            f"column {shown(column.name)} has {n_values:,} different values in "
            f"{counted(n_rows, 'row')}, too many for categories; leave it out of "
            f"categories={numbers}."
        )


def most_frequent(texts: Sequence[str], counts: Sequence[int]) -> tuple[str, ...]:
    """Return the categories, the most frequent first; the rarest of many are one.

    Equally frequent ones come in the order of their text, so that the order of the rows
    does not matter.
    """
    order = sorted(range(len(texts)), key=lambda i: (-counts[i], texts[i]))
    ranked = list(dict.fromkeys(texts[i] for i in order))
    if len(ranked) <= MOST_CATEGORIES:
        return tuple(ranked)
    others = [text for text in ranked if text != OTHER]  # as a cell may say, too
    return (*others[: MOST_CATEGORIES - 1], OTHER)


def place_among(codes: Codes, texts: Sequence[str], values: Sequence[str]) -> Floats:
    """Return the place of each cell among categories, -1 if none, NaN if missing."""
    known = {text: place for place, text in enumerate(values)}
    other = known.get(OTHER, -1)
    by_code = [known.get(text, other) for text in texts]
    return np.array([*by_code, np.nan], dtype=float)[codes]


def shares_of(codes: Codes, n_values: int, weights: Floats | None) -> Floats:
    """Return the share of the rows that is in each category."""
    counts = np.bincount(codes, weights, n_values)
    return counts / counts.sum()


def spread_of(shares: Floats, unit: float) -> float:
    """Return what indicators are divided by, so that their variances sum to unit².

    Examples
    --------
    >>> round(float(spread_of(np.array([0.5, 0.5]), unit=2.0)), 3)
    0.354
    """
    variance = 1.0 - float(np.square(shares).sum())
    return np.sqrt(variance) / unit if variance > 0 else 1.0


def feature_names(name: str, values: Sequence[str]) -> list[str]:
    """Return what the indicators of a column are called."""
    return [f"{name}={value}" for value in values]


def indicators(places: Floats, n_values: int) -> Floats:
    """Return an indicator for each category; a row in none of them has only zeros."""
    return (places[:, None] == np.arange(n_values)).astype(np.float64)


def note_on_categories(
    found: Mapping[str, tuple[str, ...]], shares: Sequence[Floats]
) -> list[str]:
    """Say which columns are used as categories."""
    told = []
    for (name, values), of_all in zip(found.items(), shares, strict=True):
        most = f"{shown(values[0])} {percent(float(of_all[0]))}"
        told.append(f"{shown(name)} ({len(values):,}, most often {most})")
    if not told:
        return []
    return [f"Used as categories: {listed(told, len(told))}."]
