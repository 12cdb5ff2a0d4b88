"""What the columns of a stream hold, found in few passes.

What is decided here of cells that come in parts, `look_at` decides of all at once: both
come to the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm.tables.arrow import pa, pc
from rtkm.tables.cells import find_codes
from rtkm.tables.columns import (
    IDENTIFIER_NAME,
    LARGEST_EXACT,
    Column,
    Likeness,
    Readings,
    count,
    floats_of,
    glanced_rows,
    is_missing,
    is_string,
    likeness_of,
    matches,
    parse,
    text_of,
    trim,
)
from rtkm.tables.identifiers import TARGET_NAMES, words_of
from rtkm.tables.numerals import (
    DECIMALS,
    is_missing as is_missing_text,
    is_number as is_number_text,
    number_pattern,
)
from rtkm.tables.progress import progress
from rtkm.tables.stream_numbers import Steps, StreamFacts, first_there, with_classes
from rtkm.tables.streams import Stream

Floats = NDArray[np.float64]
N_SHOWN = 3  # cells that a message names


@dataclass(frozen=True)
class StreamColumn(Column):
    """A column whose cells come in parts.

    Attributes
    ----------
    mark : str
        The decimal mark of numbers that are written as text; empty for others.
    n_strange : int
        How many cells are neither a number nor missing.
    strange_cells : tuple of (int, str)
        The first of them, by row.
    stream : Stream
        Where the cells are.
    """

    mark: str = ""
    n_strange: int = 0
    strange_cells: tuple[tuple[int, str], ...] = ()
    stream: Any = None

    def floats(self) -> Floats:
        """Return nothing: the numbers come in parts."""
        raise NotImplementedError(f"{self.name} comes in parts")

    def floats_in(self, cells: Any) -> Floats:
        """Return the numbers of some cells, NaN where there is none."""
        return numbers_in(cells, self.mark)

    def first_text(self) -> tuple[int, str]:
        """Return the first row of a text column that holds no number, and its cell."""
        for start, table in numbered(self.stream, [self.name]):
            for row, cell in enumerate(table.column(0)):
                text = text_of(cell) or ""
                if not (is_number_text(text) or is_missing_text(text)):
                    return start + row, text
        raise AssertionError("a column of text holds some")


def numbers_in(cells: Any, mark: str) -> Floats:
    """Return the numbers of cells, which are text if there is a decimal mark."""
    if mark:
        cells = trim(cells)
        cells = parse(cells, matches(cells, number_pattern(mark)), mark)
    elif pa.types.is_decimal(cells.type):
        cells = cells.cast(pa.float64())
    return floats_of(cells)


def numbered(stream: Stream, names: Sequence[str]) -> Iterator[tuple[int, Any]]:
    """Yield the parts of a stream, each with the number of its first row."""
    start, what = 0, f"reading {stream.name}"
    with progress(what, stream.n_rows, " rows", is_quiet=stream.is_quiet) as tell:
        for part in stream.partitions:
            yield start, part.read(names)
            start += part.n_rows
            tell(start)


class StreamTable:
    """A stream under the words of a table; its columns are looked at when asked for.

    Parameters
    ----------
    stream : Stream
        The rows, in parts.
    """

    is_named = True

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.names, self.n_rows = stream.names, stream.n_rows
        self.name, self.format, self.dialect = (
            stream.name,
            stream.format,
            stream.dialect,
        )
        self.places = {name: place for place, name in enumerate(self.names)}
        self._columns: dict[str, Column] = {}

    def look(self, name: str) -> Column:
        """Find out what a column holds."""
        self.look_at([name])
        return self._columns[name]

    def look_at(self, names: Sequence[str]) -> None:
        """Find out what some columns hold, in the same passes."""
        unknown = [n for n in dict.fromkeys(names) if n not in self._columns]
        unknown = [name for name in unknown if name in self.places]
        if unknown:
            self._columns |= look_at_columns(self.stream, unknown)

    def cells(self, name: str) -> Any:
        """Return nothing: the cells come in parts."""
        raise NotImplementedError(f"{name} comes in parts")


# First pass: types, and a glance at text


def look_at_columns(stream: Stream, names: Sequence[str]) -> dict[str, Column]:
    """Find out what columns hold."""
    seen = [make_look(stream, name) for name in names]
    for start, table in numbered(stream, names):
        for look, cells in zip(seen, table.columns, strict=True):
            look.add(cells, start)
    texts = [look for look in seen if isinstance(look, TextLook) and look.is_open]
    if texts:
        look_at_cells(stream, texts)
    return {name: look.column() for name, look in zip(names, seen, strict=True)}


def make_look(stream: Stream, name: str) -> AnyLook:
    """Return what looks at a column of a type."""
    kind = stream.schema.field(name).type
    if is_string(kind):
        return TextLook(stream, name)
    is_of_numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if is_of_numbers or pa.types.is_boolean(kind) or pa.types.is_decimal(kind):
        return NumberLook(stream, name)
    return OtherLook(stream, name)


class AnyLook:
    """What is seen of a column, part by part."""

    def __init__(self, stream: Stream, name: str) -> None:
        self.stream, self.name = stream, name
        self.type = stream.schema.field(name).type
        self.example = ""
        self.n_there = 0

    def add(self, cells: Any, start: int) -> None:
        """Look at the next cells."""
        n_before, self.n_there = self.n_there, self.n_there + len(cells)
        self.n_there -= cells.null_count
        if not n_before and self.n_there:
            self.example = text_of(cells.drop_null()[0]) or ""

    def column(self) -> Column:
        """Return what the column holds."""
        if not self.n_there:
            return Column(self.name, "empty")
        return self.column_with_cells()

    def column_with_cells(self) -> Column:
        """Return what a column holds that is not empty."""
        raise NotImplementedError


class OtherLook(AnyLook):
    """Dates, or what is no column of a table."""

    def column_with_cells(self) -> Column:
        """Return what a column holds that is not empty."""
        if pa.types.is_temporal(self.type):
            return Column(self.name, "date", self.example)
        return Column(self.name, "nested", str(self.type))


class NumberLook(AnyLook):
    """Numbers, or truth values."""

    def __init__(self, stream: Stream, name: str, mark: str = "") -> None:
        super().__init__(stream, name)
        self.mark = mark
        self.steps: Steps | None = None
        self.largest = 0
        is_target = " ".join(words_of(name)) in TARGET_NAMES
        self.classes = np.empty(0) if is_target else None
        self.first = ""

    def add(self, cells: Any, start: int) -> None:
        """Look at the next cells."""
        super().add(cells, start)
        values = numbers_in(cells, self.mark)
        steps = Steps.of(values)
        self.steps = steps if self.steps is None else self.steps.and_of(steps)
        self.classes = with_classes(self.classes, values)
        self.first = self.first or first_there(values)
        if pa.types.is_integer(self.type) and cells.null_count < len(cells):
            ends = pc.min_max(cells).as_py()
            self.largest = max(self.largest, -ends["min"], ends["max"])

    def facts(self) -> StreamFacts:
        """Return what tells the numbers from those of rows."""
        assert self.steps is not None
        keys = partial(there_in, self.stream, self.name, self.mark)
        memory = self.stream.memory // 4
        return StreamFacts(self.steps, self.classes, self.first, keys, memory)

    def column_with_cells(self) -> Column:
        """Return what a column holds that is not empty."""
        facts = self.facts()
        column = StreamColumn(self.name, "number", facts=facts, stream=self.stream)
        if pa.types.is_boolean(self.type):
            return replace(column, kind="truth")
        if pa.types.is_integer(self.type) and (
            IDENTIFIER_NAME.search(self.name)
            or self.largest > LARGEST_EXACT
            or facts.counts_rows()
        ):
            return replace(column, kind="identifier", example=self.example)
        return column


def there_in(stream: Stream, name: str, mark: str) -> Iterator[Floats]:
    """Yield the numbers that are there, part by part."""
    for _, table in numbered(stream, [name]):
        values = numbers_in(table.column(0), mark)
        yield values[~np.isnan(values)]


# Text


class TextLook(AnyLook):
    """Text, some of which is numbers or dates as people write them."""

    def __init__(self, stream: Stream, name: str) -> None:
        super().__init__(stream, name)
        self.glanced = glanced_rows(stream.n_rows)
        self.glance: list[str | None] = []
        self.likeness = Likeness()
        self.of_all = Likeness()
        self.readings = Readings()
        self.odd: dict[str, list[tuple[int, str]]] = {mark: [] for mark in DECIMALS}
        self.mark = ""
        self.numbers: NumberLook | None = None

    def add(self, cells: Any, start: int) -> None:
        """Take the cells that a glance falls on."""
        super().add(cells, start)
        low, high = np.searchsorted(self.glanced, [start, start + len(cells)])
        self.glance += cells.take(pa.array(self.glanced[low:high] - start)).to_pylist()

    @property
    def is_open(self) -> bool:
        """Whether all cells must tell; the glance is complete then."""
        self.likeness = likeness_of(trim(pa.array(self.glance, pa.large_string())))
        return bool(self.n_there) and self.likeness.kind in ("empty", "number")

    def add_all(self, cells: Any, start: int) -> None:
        """Look at all cells of the next part."""
        cells, given = trim(cells), cells
        if not self.likeness.n_there:
            self.of_all = self.of_all.and_of(likeness_of(cells))
        missing = is_missing(cells)
        n_numbers = []
        for mark in DECIMALS:
            is_number = matches(cells, number_pattern(mark))
            n_numbers.append(count(is_number))
            if len(self.odd[mark]) < N_SHOWN:
                strange = pc.and_not(pc.invert(is_number), missing)
                rows = np.flatnonzero(strange.to_numpy())[:N_SHOWN].tolist()
                self.odd[mark] += [(start + i, given[i].as_py()) for i in rows]
        found = Readings(len(cells), count(missing), tuple(n_numbers))
        self.readings = self.readings.and_of(found)

    def settle(self) -> bool:
        """Decide whether it is one of numbers, of which more must be known."""
        if not self.likeness.n_there:
            self.likeness = self.of_all
        mark = self.readings.mark(self.stream.decimal)
        if self.likeness.kind != "number" or self.readings.are_text(mark):
            return False
        self.mark = mark
        self.numbers = NumberLook(self.stream, self.name, mark)
        return True

    @property
    def is_code(self) -> bool:
        """Whether the cells are digits that numbers would not keep."""
        for file in self.stream.files:
            if file.dialect is not None:
                places = [j for j in file.dialect.codes if j < len(file.names)]
                if self.name in {file.names[j] for j in places}:
                    return True
        if self.stream.dialect is not None:
            return False
        return bool(find_codes([[(cell or "").strip()] for cell in self.glance]))

    def column_with_cells(self) -> Column:
        """Return what a column holds that is not empty."""
        kind, example = self.likeness.kind, self.likeness.example
        column = StreamColumn(self.name, kind, example, stream=self.stream)
        if kind == "number" and self.numbers is None:
            mark = self.readings.mark(self.stream.decimal)
            column = replace(column, kind="text", example=self.odd[mark][0][1].strip())
        if column.kind == "text":
            return replace(column, raw=self.stream)  # which is not taken apart
        if self.numbers is None:
            return column
        return replace(
            column,
            kind="identifier" if self.is_code else "number",
            raw=self.stream,
            facts=self.numbers.facts(),
            mark=self.mark,
            n_strange=self.readings.n_strange(self.mark),
            strange_cells=tuple(self.odd[self.mark][:N_SHOWN]),
        )


def look_at_cells(stream: Stream, looks: Sequence[TextLook]) -> None:
    """Look at all cells of text that may be numbers, and at the numbers they are."""
    for start, table in numbered(stream, [look.name for look in looks]):
        for look, cells in zip(looks, table.columns, strict=True):
            look.add_all(cells, start)
    some = [look for look in looks if look.settle()]
    if some:
        for start, table in numbered(stream, [look.name for look in some]):
            for look, cells in zip(some, table.columns, strict=True):
                if look.numbers is not None:
                    look.numbers.add(cells, start)
