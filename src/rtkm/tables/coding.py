"""Columns as codes: which rows hold the same value, be it text, a date or a number."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm.tables.arrow import pa, pc
from rtkm.tables.columns import (
    Column,
    Kind,
    count,
    glanced_rows,
    is_missing,
    is_string,
    matches,
    text_of,
    trim,
)
from rtkm.tables.numerals import is_missing as is_missing_text
from rtkm.tables.sheet import AnyTable

Codes = NDArray[np.intp]

NO_CODE = -1  # of a cell that is missing
MIDNIGHT = " 00:00:00"  # which a date without a time of day is shown with
FIRST_OF_2_DIGITS = 69  # the year 1969; those below are in this century

YEAR_FIRST = "^(?P<y>[0-9]{4})[-/.](?P<m>[0-9]{1,2})[-/.](?P<d>[0-9]{1,2})"
YEAR_LAST = "^(?P<a>[0-9]{1,2})[-/.](?P<b>[0-9]{1,2})[-/.](?P<y>[0-9]{2,4})"


@dataclass(frozen=True)
class Coded:
    """The values of a column by number.

    Attributes
    ----------
    codes : ndarray of shape (n_rows,)
        The number of the value of each row, -1 where it is missing.
    first : ndarray of shape (n_values,)
        The first row that holds each value.
    cells : sequence
        The cells.
    kind : Kind
        What the column holds. Dates and numbers are numbered in their order.
    """

    codes: Codes
    first: Codes
    cells: Any
    kind: Kind

    @property
    def n_values(self) -> int:
        """The number of different values."""
        return len(self.first)

    @property
    def texts(self) -> list[str]:
        """The values as they are shown, by code."""
        return [self.text(number) for number in range(self.n_values)]

    def text(self, code: int) -> str:
        """Return a value as it is shown."""
        return shown_value(self.cells[int(self.first[code])])


def shown_value(cell: Any) -> str:
    """Return a cell as the value that it stands for is shown."""
    return (text_of(cell) or "").strip().removesuffix(MIDNIGHT)


def code(table: AnyTable, column: Column) -> Coded | None:
    """Give each value of a column a number; text has them as it comes.

    It is None where there are none to compare: cells of other types, and dates of
    which nobody knows whether the day or the month comes first.
    """
    if column.kind in ("empty", "nested"):
        return None
    if column.kind == "date":
        found = code_dates(table.cells(column.name))
        if found is None:
            return None
        codes, cells = found
    elif column.kind == "text" or (column.kind == "identifier" and column.raw):
        is_list, cells = isinstance(column.raw, list), column.raw
        codes = code_objects(cells) if is_list else code_text(cells)
    else:
        values = column.floats()
        codes, cells = code_numbers(values), values
        if column.kind == "truth":
            cells = values == 1
    return Coded(codes, first_rows(codes), cells, column.kind)


def has_more_than(most: int, column: Column) -> bool:
    """Whether a few cells show that text has more than so many different ones."""
    if column.kind != "text":
        return False
    cells = column.raw
    glance = [text_of(cells[row]) for row in glanced_rows(len(cells)).tolist()]
    return len({(cell or "").strip() for cell in glance}) > most


def first_rows(codes: Codes) -> Codes:
    """Return the first row of each code."""
    first = np.zeros(int(codes.max(initial=NO_CODE)) + 1, dtype=np.intp)
    rows = np.flatnonzero(codes != NO_CODE)[::-1]
    first[codes[rows]] = rows  # the first row is written last
    return first


def code_numbers(values: NDArray[Any]) -> Codes:
    """Give numbers their places by size, NaN that of missing cells."""
    there = ~np.isnan(values)
    codes = np.full(len(values), NO_CODE, dtype=np.intp)
    codes[there] = np.unique(values[there], return_inverse=True)[1]
    return codes


def code_text(cells: Any) -> Codes:
    """Give each text of pyarrow a number; spaces around it do not count."""
    # few texts in many rows: each is looked at once
    found = cells.cast(pa.large_string()).combine_chunks().dictionary_encode()
    texts = trim(found.dictionary)
    merged = texts.dictionary_encode()
    missing = is_missing(merged.dictionary).to_numpy(zero_copy_only=False)
    numbers = np.where(missing, NO_CODE, np.cumsum(~missing) - 1)
    by_text = np.append(numbers[merged.indices.to_numpy()], NO_CODE)
    codes: Codes = by_text[found.indices.fill_null(len(texts)).to_numpy()]
    return codes


def code_objects(cells: list[str | None]) -> Codes:
    """Give each text in a list a number."""
    numbers: dict[str, int] = {}
    codes = [
        NO_CODE
        if cell is None or is_missing_text(cell)
        else numbers.setdefault(cell.strip(), len(numbers))
        for cell in cells
    ]
    return np.array(codes, dtype=np.intp)


# Dates


def code_dates(cells: Any) -> tuple[Codes, Any] | None:
    """Return the places of dates in their order; text counts by its days."""
    if not hasattr(cells, "combine_chunks"):
        if find_spec("pyarrow") is None:
            return None
        try:
            cells = pa.chunked_array([pa.array(cells, from_pandas=True)])
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # dates among times of day
            return None
    if pa.types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    if not is_string(cells.type):
        if pa.types.is_interval(cells.type):  # months are not as long as each other
            return None
        values = pc.rank(cells, tiebreaker="dense").to_numpy()
        codes = np.where(
            cells.is_null().to_numpy(), NO_CODE, values.astype(np.intp) - 1
        )
        return codes, cells
    days = days_of_text(trim(cells))
    return None if days is None else (code_numbers(days), cells)


def days_of_text(cells: Any) -> NDArray[np.float64] | None:
    """Return numbers that rise with the dates that text holds, NaN for other text.

    They are None where it is not clear which number is the day.
    """
    if count(matches(cells, YEAR_FIRST)):
        year, month, day = numbers_in(cells, YEAR_FIRST, "ymd")
    else:
        first, second, year = numbers_in(cells, YEAR_LAST, "aby")
        has_day_first, has_day_second = (
            np.nanmax(numbers, initial=0) > 12 for numbers in (first, second)
        )
        has_points = count(matches(cells, "^[0-9]+[.]")) > 0
        if has_day_first or (has_points and not has_day_second):
            day, month = first, second
        elif has_day_second:
            day, month = second, first
        else:
            return None
        year = year + np.select([year < FIRST_OF_2_DIGITS, year < 100], [2000, 1900], 0)
    if np.nanmax(month, initial=0) > 12:
        return None
    return (year * 12 + month) * 31 + day


def numbers_in(cells: Any, pattern: str, names: str) -> list[NDArray[np.float64]]:
    """Return the numbers that the groups of a pattern match, NaN where it does not."""
    found = pc.extract_regex(cells, pattern)
    return [
        pc.struct_field(found, name).cast(pa.float64()).to_numpy() for name in names
    ]
