"""What a column holds: numbers, or something that is left out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtkm.tables.arrow import pa, pc
from rtkm.tables.cells import find_codes
from rtkm.tables.messages import shown
from rtkm.tables.numerals import (
    DATE_PATTERN,
    DECIMALS,
    GROUPING,
    MISSING,
    UNIT,
    is_missing as is_missing_text,
    is_number as is_number_text,
    number_pattern,
)

Kind = Literal[
    "number", "truth", "identifier", "target", "date", "text", "empty", "nested"
]
NUMERIC = ("number", "truth", "identifier", "target")

N_GLANCED = 1000  # cells that tell text from numbers, before all are looked at
MOSTLY = 0.9  # share of numbers that makes a column one of numbers, with faults
FEWEST_COUNTED = 10  # rows from which on 1, 2, 3, ... is no accident
LARGEST_EXACT = 2**53

# id, customer_id, customerId; neither acid nor grid
IDENTIFIER_NAME = re.compile(r"(?:^|[^a-zA-Z])(?i:id|uuid|guid)$|[a-z](?:Id|ID)$")


@dataclass(frozen=True)
class Column:
    """A column, what it holds, and its numbers if it has any."""

    name: str
    kind: Kind
    example: str = ""
    numbers: Any = None  # an arrow or a NumPy array of numbers or booleans
    strange: Any = None  # an arrow array, true for cells that are no number
    raw: Any = None  # the cells as they were, where they are text
    facts: Any = None  # what is known of the numbers where they are not here

    @property
    def is_numeric(self) -> bool:
        """Whether the column can be used if it is asked for."""
        return self.kind in NUMERIC

    def floats(self) -> NDArray[np.float64]:
        """Return the numbers, NaN where there is none."""
        if isinstance(self.numbers, np.ndarray):
            return self.numbers.astype(np.float64, copy=False)
        return floats_of(self.numbers)

    def strange_rows(self) -> NDArray[np.int64]:
        """Return the rows whose cell is neither a number nor missing."""
        if self.strange is None:
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero(self.strange.to_numpy())

    def first_text(self) -> tuple[int, str]:
        """Return the first row of a text column that holds no number, and its cell."""
        cells = ((row, text_of(cell) or "") for row, cell in enumerate(self.raw))
        return next(
            (row, cell)
            for row, cell in cells
            if not (is_number_text(cell) or is_missing_text(cell))
        )


def look_at(
    values: Any, name: str, *, decimal: str = ".", is_code: bool = False
) -> Column:
    """Find out what a column holds; `values` is a chunked array of pyarrow."""
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    kind = values.type
    if values.null_count == len(values):
        return Column(name, "empty")
    if is_string(kind):
        return look_at_text(values, name, decimal, is_code)
    if pa.types.is_boolean(kind):
        return Column(name, "truth", numbers=values)
    if pa.types.is_temporal(kind):
        return Column(name, "date", example_of(values))
    if pa.types.is_integer(kind) and is_identifier(values, name):
        return Column(name, "identifier", example_of(values), numbers=values)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return Column(name, "number", numbers=values)
    if pa.types.is_decimal(kind):
        return Column(name, "number", numbers=values.cast(pa.float64()))
    return Column(name, "nested", str(kind))


def floats_of(numbers: Any) -> NDArray[np.float64]:
    """Return numbers of pyarrow, or booleans, as those of NumPy; NaN for none."""
    floats: NDArray[np.float64] = numbers.cast(pa.float64(), safe=False).to_numpy()
    return floats


def is_string(kind: Any) -> bool:
    """Whether a type is text."""
    return (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
    )


def example_of(values: Any) -> str:
    """Return a cell that is there, as text."""
    valid = values.drop_null()
    return text_of(valid[0]) or "" if len(valid) else ""


def text_of(scalar: Any) -> str | None:
    """Return a cell as text; a whole number is written so, whatever its type."""
    value = scalar
    if hasattr(scalar, "as_py"):
        try:
            value = scalar.as_py()
        except (ArithmeticError, ValueError):  # a date that Python has no word for
            return str(scalar.value)
    if is_null(value):
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def is_null(value: Any) -> bool:
    """Whether an object stands for no value: None, NaN, NaT or pandas' NA."""
    is_nan = isinstance(value, float) and value != value
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def is_identifier(values: Any, name: str) -> bool:
    """Whether whole numbers only name their rows.

    They do where the column says so, where they count the rows, or where they are so
    long that a number does not keep all their digits.
    """
    if IDENTIFIER_NAME.search(name):
        return True
    ends = pc.min_max(values).as_py()
    if max(-ends["min"], ends["max"]) > LARGEST_EXACT:
        return True
    return not values.null_count and counts_rows(values.to_numpy())


def counts_rows(values: NDArray[Any]) -> bool:
    """Whether whole numbers count the rows, from any number on."""
    first, n_rows = int(values[0]), len(values)
    # the ends tell at once for nearly all columns that they count nothing
    if n_rows < FEWEST_COUNTED or int(values[-1]) - first != n_rows - 1:
        return False
    return bool((np.diff(values) == 1).all())


# Text


class Likeness(NamedTuple):
    """How many of some cells of text are there, are dates, and are numbers."""

    n_there: int = 0
    n_dates: int = 0
    n_numbers: tuple[int, ...] = (0, 0)  # by either decimal mark
    example: str = ""

    def and_of(self, more: Likeness) -> Likeness:
        """Return that of these cells and of more that come later."""
        return Likeness(
            self.n_there + more.n_there,
            self.n_dates + more.n_dates,
            tuple(map(sum, zip(self.n_numbers, more.n_numbers, strict=True))),
            self.example if self.n_there else more.example,
        )

    @property
    def kind(self) -> Kind:
        """What a column seems to hold of which these are cells."""
        if not self.n_there:
            return "empty"
        if self.n_dates > MOSTLY * self.n_there:
            return "date"
        return "text" if max(self.n_numbers) < self.n_there / 2 else "number"


def likeness_of(cells: Any) -> Likeness:
    """Count what trimmed cells look like."""
    there = cells.filter(pc.invert(is_missing(cells)))
    if len(there) == 0:
        return Likeness()
    return Likeness(
        len(there),
        count(matches(there, DATE_PATTERN)),
        tuple(count(matches(there, number_pattern(mark))) for mark in DECIMALS),
        there[0].as_py(),
    )


def look_at_text(values: Any, name: str, decimal: str, is_code: bool) -> Column:
    """Find out whether text is numbers, as people write them."""
    found = likeness_of(trim(values.take(glanced_rows(len(values)))))
    if not found.n_there:  # then all cells must tell
        found = likeness_of(trim(values))
    if found.kind == "number":
        return convert(values, name, decimal, is_code, found.example)
    raw = values if found.kind == "text" else None
    return Column(name, found.kind, found.example, raw=raw)


class Readings(NamedTuple):
    """How many cells of text are missing, and are numbers by either decimal mark."""

    n_cells: int = 0
    n_missing: int = 0
    n_numbers: tuple[int, ...] = (0, 0)

    def and_of(self, more: Readings) -> Readings:
        """Return those of these cells and of more."""
        return Readings(
            self.n_cells + more.n_cells,
            self.n_missing + more.n_missing,
            tuple(map(sum, zip(self.n_numbers, more.n_numbers, strict=True))),
        )

    def mark(self, decimal: str) -> str:
        """Return the mark of the file, unless most are written with the other."""
        counts = dict(zip(DECIMALS, self.n_numbers, strict=True))
        return max(DECIMALS, key=lambda mark: (counts[mark], mark == decimal))

    def n_strange(self, mark: str) -> int:
        """Return how many cells are neither a number nor missing."""
        return self.n_cells - self.n_missing - self.n_numbers[DECIMALS.index(mark)]

    def are_text(self, mark: str) -> bool:
        """Whether so many cells are no number that the column is not one of numbers."""
        return self.n_strange(mark) > (1 - MOSTLY) * (self.n_cells - self.n_missing)


def convert(
    values: Any, name: str, decimal: str, is_code: bool, example: str
) -> Column:
    """Convert all cells, unless too many are no numbers."""
    cells = trim(values)
    missing = is_missing(cells)
    readings = {mark: matches(cells, number_pattern(mark)) for mark in DECIMALS}
    counts = tuple(map(count, readings.values()))
    found = Readings(len(cells), count(missing), counts)
    mark = found.mark(decimal)
    is_number = readings[mark]
    strange = pc.and_not(pc.invert(is_number), missing)
    if found.are_text(mark):
        odd = cells[pc.index(strange, True).as_py()].as_py()
        return Column(name, "text", odd, raw=values)
    numbers = parse(cells, is_number, mark)
    kind: Kind = "identifier" if is_code else "number"
    return Column(name, kind, example, numbers, strange, raw=values)


def parse(cells: Any, is_number: Any, mark: str) -> Any:
    """Make numbers of cells that are some."""
    plain = pc.if_else(is_number, cells, pa.scalar(None, pa.large_string()))
    plain = pc.replace_substring_regex(plain, f"[+{GROUPING[mark]}]|{UNIT}", "")
    plain = pc.replace_substring(plain, "\u2212", "-")
    plain = pc.replace_substring(plain, ",", ".")
    return plain.cast(pa.float64())


def trim(cells: Any) -> Any:
    """Take away spaces around cells; a null becomes empty text."""
    # large, for replacing may make more than two gigabytes of one chunk
    return pc.utf8_trim_whitespace(cells.cast(pa.large_string()).fill_null(""))


def matches(cells: Any, pattern: str) -> Any:
    """Return which cells match."""
    return pc.match_substring_regex(cells, pattern)


def is_missing(cells: Any) -> Any:
    """Return which cells stand for no value."""
    return pc.is_in(cells, pa.array(MISSING, pa.large_string()))


def count(mask: Any) -> int:
    """Count what is true."""
    return pc.sum(mask).as_py() or 0


def holds_codes(values: Any) -> bool:
    """Whether a column of text holds digits that numbers would not keep."""
    if not is_string(values.type):
        return False
    glance = values.take(glanced_rows(len(values))).to_pylist()
    return bool(find_codes([[(cell or "").strip()] for cell in glance]))


def glanced_rows(n_rows: int) -> NDArray[np.int64]:
    """Return rows from all over the table."""
    return np.unique(np.linspace(0, n_rows - 1, N_GLANCED).astype(np.int64))


def shown_cell(column: Column, row: int) -> str:
    """Quote a cell as it was given."""
    return shown(column.raw[row].as_py())
