"""The rows of a part as numbers, by what was decided about the columns of the whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm._number_text import counted
from rtkm.tables.categories import no_categories, place_among
from rtkm.tables.coding import (
    NO_CODE,
    Codes,
    code_dates,
    code_numbers,
    code_text,
    first_rows,
    shown_value,
)
from rtkm.tables.columns import Column, Kind, is_string, trim
from rtkm.tables.messages import InputError, listed, shown
from rtkm.tables.missing import Lost, Missing, count_lost, fault
from rtkm.tables.stream_columns import (
    N_SHOWN,
    StreamColumn,
    StreamTable,
    numbers_in,
)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NumberReader:
    """Reads a column of numbers, written as text if it has a decimal mark.

    Where logarithms are taken, numbers that have none count as missing.
    """

    name: str
    mark: str = ""
    offset: float | None = None  # added before the logarithm, if one is taken

    def read(self, cells: Any) -> Floats:
        """Return the numbers, infinite ones too, NaN where there is none."""
        return numbers_in(cells, self.mark)

    def unusable(self, values: Floats) -> NDArray[np.bool_]:
        """Return which numbers have no logarithm, if one is taken."""
        if self.offset is None:
            return np.zeros(len(values), dtype=bool)
        return (values < 0) | (values + self.offset == 0)


@dataclass(frozen=True)
class CategoryReader:
    """Reads a column of categories, of a kind that the whole column has."""

    name: str
    kind: Kind
    mark: str
    values: tuple[str, ...]

    def coded(self, cells: Any) -> tuple[Codes, list[Any], list[str]]:
        """Return the code of each cell, and a key and the text of each code."""
        if self.kind == "date":
            found = code_dates(cells)
            assert found is not None
            codes = found[0]
            keys = texts = [shown_value(cells[row]) for row in places_of(codes)]
        elif self.kind == "text":
            codes = code_text(cells)
            keys = trim(cells.take(first_rows(codes))).to_pylist()
            texts = [shown_value(key) for key in keys]
        else:
            values = numbers_in(cells, self.mark)
            codes = code_numbers(values)
            keys = (values[places_of(codes)] + 0.0).tolist()
            is_truth = self.kind == "truth"
            texts = [shown_value(key == 1 if is_truth else key) for key in keys]
        return codes, keys, texts

    def read(self, cells: Any) -> Floats:
        """Return the place of each cell, -1 in none of the values, NaN if missing."""
        codes, _, texts = self.coded(cells)
        return place_among(codes, texts, self.values)


def places_of(codes: Codes) -> list[int]:
    """Return the first row of each code."""
    return first_rows(codes).tolist()


def category_reader(
    table: StreamTable, name: str, values: tuple[str, ...] = ()
) -> CategoryReader:
    """Return what reads a column of categories."""
    column = table.look(name)
    if column.kind in ("empty", "nested"):
        raise no_categories(column)
    kind: Kind = column.kind
    if kind == "date":
        if is_string(table.stream.schema.field(name).type):
            raise InputError(
                f"column {shown(name)} holds dates as text, which are no categories of "
                "a table that is read in parts; convert it to dates, or leave it out."
            )
        first = table.stream.partitions[0].read([name])
        if code_dates(first.column(0)) is None:
            raise no_categories(column)
    if kind == "identifier" and column.raw is not None:
        kind = "text"
    return CategoryReader(name, kind, mark_of(column), values)


def mark_of(column: Column) -> str:
    """Return the decimal mark of numbers that are text; empty for others."""
    return column.mark if isinstance(column, StreamColumn) else ""


@dataclass(frozen=True)
class RowReader:
    """How the cells of a part become numbers, and the places of categories.

    Attributes
    ----------
    numbers : tuple of NumberReader
        Columns of numbers, which come first.
    categories : tuple of CategoryReader
        Columns of categories.
    ways : tuple of "error", "drop" or "median"
        What becomes of missing cells, by column.
    fill : tuple of float
        What stands for them where they are filled in.
    """

    numbers: tuple[NumberReader, ...]
    categories: tuple[CategoryReader, ...] = ()
    ways: tuple[Missing, ...] = ()
    fill: tuple[float, ...] = ()

    @property
    def columns(self) -> list[NumberReader | CategoryReader]:
        """What reads each column."""
        return [*self.numbers, *self.categories]

    @property
    def names(self) -> list[str]:
        """The columns of the table that are read."""
        return [reader.name for reader in self.columns]

    def raw(self, table: Any) -> Floats:
        """Return the numbers and places of the rows of a part."""
        X = np.empty((table.num_rows, len(self.names)))
        for j, reader in enumerate(self.columns):
            X[:, j] = reader.read(table.column(reader.name))
        return X

    def with_gaps(self, table: Any) -> Floats:
        """Return the same, NaN where a number cannot be used."""
        X = self.raw(table)
        X[np.isinf(X)] = np.nan
        for j, reader in enumerate(self.numbers):
            if reader.offset is not None:
                X[reader.unusable(X[:, j]), j] = np.nan
        return X

    def whole(self, table: Any) -> WholeRows:
        """Return the rows that are kept, without gaps."""
        X = self.with_gaps(table)
        gaps, way = np.isnan(X), np.array(self.ways)
        lost, filled = gaps * (way == "drop"), gaps * (way == "median")
        kept = ~lost.any(axis=1)
        if filled.any():
            np.copyto(X, np.array(self.fill), where=filled)
        return WholeRows(X if kept.all() else X[kept], kept, lost, filled)


@dataclass(frozen=True)
class WholeRows:
    """Rows without gaps, which rows of a part they are, and which gaps there were."""

    X: Floats
    kept: NDArray[np.bool_]
    lost: NDArray[np.bool_]
    filled: NDArray[np.bool_]


# Counting


class CellCounts:
    """How many cells of the columns of numbers cannot be used, and where the first are.

    Parameters
    ----------
    n_columns : int
        How many columns there are.
    """

    def __init__(self, n_columns: int) -> None:
        self.n_infinite = [0] * n_columns
        self.infinite: list[list[int]] = [[] for _ in range(n_columns)]
        self.n_unusable = [0] * n_columns
        self.unusable: list[list[tuple[int, float]]] = [[] for _ in range(n_columns)]

    def add(self, reader: RowReader, X: Floats, start: int) -> None:
        """Count those of the next rows."""
        for j, column in enumerate(reader.numbers):
            infinite = np.flatnonzero(np.isinf(X[:, j]))
            self.n_infinite[j] += len(infinite)
            self.infinite[j] += (start + infinite[:N_SHOWN]).tolist()
            if column.offset is not None:
                # infinite ones are missing already
                unusable = column.unusable(X[:, j]) & ~np.isinf(X[:, j])
                rows = np.flatnonzero(unusable)
                self.n_unusable[j] += len(rows)
                self.unusable[j] += [
                    (start + i, float(X[i, j])) for i in rows[:N_SHOWN].tolist()
                ]

    def notes(self, columns: Sequence[Column], ways: Sequence[Missing]) -> list[str]:
        """Say of cells that no number can be read from that they are missing."""
        told = []
        for j, (column, way) in enumerate(zip(columns, ways, strict=True)):
            if isinstance(column, StreamColumn) and column.n_strange:
                n_strange, cells = column.n_strange, column.strange_cells
                what = f"{counted(n_strange, 'cell')} that no number can be read from"
                shown_cells = (f"{shown(c)} in row {i + 1}" for i, c in cells)
                told.append(fault_in(column, what, shown_cells, n_strange, way))
            if self.n_infinite[j]:
                rows = (f"row {i + 1}" for i in self.infinite[j])
                what = counted(self.n_infinite[j], "infinite cell")
                told.append(fault_in(column, what, rows, self.n_infinite[j], way))
        return told

    def notes_on_logarithms(
        self, columns: Sequence[Column], ways: Sequence[Missing]
    ) -> list[str]:
        """Say of new numbers without a logarithm that they are missing."""
        told = []
        for j, (column, way) in enumerate(zip(columns, ways, strict=True)):
            n_unusable = self.n_unusable[j]
            if n_unusable:
                cells = (f"{x:g} in row {i + 1:,}" for i, x in self.unusable[j])
                what = f"{counted(n_unusable, 'cell')} without a logarithm"
                told.append(fault_in(column, what, cells, n_unusable, way))
        return told


def fault_in(
    column: Column, what: str, cells: Iterable[str], n_cells: int, way: Missing
) -> str:
    """Refuse cells of a column, or say that they count as missing; name the first."""
    return fault(column, what, listed(cells, n_cells, N_SHOWN), way)


class GapCounts:
    """Missing cells by column, and the rows that they make useless.

    Parameters
    ----------
    ways : sequence
        What becomes of the missing cells of each column.
    """

    def __init__(self, ways: Sequence[Missing]) -> None:
        self._way = np.array(ways)
        none = np.zeros(len(ways), dtype=np.int64)
        self.n_missing = none
        self.lost = Lost(0, 0, none, none)
        self.wrong = Lost(0, 0, none, none)
        self.first: int | None = None  # row with a gap that is an error

    def add(self, X: Floats, start: int) -> None:
        """Count those of the next rows."""
        gaps = np.isnan(X)
        self.n_missing = self.n_missing + gaps.sum(axis=0)
        self.lost = self.lost.and_of(count_lost(gaps * (self._way == "drop")))
        wrong = gaps * (self._way == "error")
        self.wrong = self.wrong.and_of(count_lost(wrong))
        if self.first is None and wrong.any():
            self.first = start + int(wrong.any(axis=1).argmax())

    def of_way(self, way: Missing) -> NDArray[np.int64]:
        """Return the missing cells of the columns of which that becomes."""
        return self.n_missing * (self._way == way)


def texts_seen(codes: Codes, n_codes: int) -> list[int]:
    """Return how many cells each code has."""
    return np.bincount(codes[codes != NO_CODE], minlength=n_codes).tolist()
