"""A table as it was read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from rtkm._number_text import counted
from rtkm.tables.columns import Column, holds_codes, look_at
from rtkm.tables.dialects import Dialect
from rtkm.tables.messages import InputError, listed, shown
from rtkm.tables.source import Source


class AnyTable(Protocol):
    """What columns are chosen from: a table that was read, or one in memory."""

    @property
    def name(self) -> str:
        """What the user calls it."""

    @property
    def format(self) -> str:
        """What it is, such as CSV."""

    @property
    def names(self) -> list[str]:
        """The names of the columns."""

    @property
    def places(self) -> dict[str, int]:
        """The place of each column by its name."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    @property
    def dialect(self) -> Dialect | None:
        """How a text table is written."""

    def look(self, name: str) -> Column:
        """Find out what a column holds."""

    def cells(self, name: str) -> Any:
        """Return the cells of a column."""


@dataclass(frozen=True)
class Sheet:
    """A table as it was read, and what was found out about it.

    Attributes
    ----------
    name : str
        What the user calls it.
    format : str
        ``"CSV"``, ``"Excel"``, ``"ODS"``, ``"JSON"``, ``"JSON lines"``, ``"Parquet"``,
        ``"Arrow"``, ``"Arrow stream"`` or ``"npy"``.
    columns : pyarrow.Table
        The columns, under names that are unique.
    dialect : Dialect or None
        How a text table is written; None for the other formats.
    notes : tuple of str
        What the user should know, in sentences.
    source : Source
        Where the bytes are.
    has_header : bool or None
        Whether the first row of a workbook names the columns; None for other formats.
    """

    name: str
    format: str
    columns: Any
    dialect: Dialect | None
    notes: tuple[str, ...]
    source: Source
    has_header: bool | None = None

    @cached_property
    def names(self) -> list[str]:
        """Return the names of the columns."""
        return self.columns.column_names

    @cached_property
    def places(self) -> dict[str, int]:
        """Return the place of each column by its name."""
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def codes(self) -> set[str]:
        """Return the columns of digits that are kept as text."""
        if self.dialect is None:
            return {name for name in self.names if holds_codes(self.cells(name))}
        return {self.names[j] for j in self.dialect.codes if j < len(self.names)}

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return self.columns.num_rows

    @property
    def decimal(self) -> str:
        """Return the decimal mark of cells that are text."""
        return self.dialect.decimal if self.dialect else "."

    def look(self, name: str) -> Column:
        """Find out what a column holds."""
        return look_at(
            self.cells(name), name, decimal=self.decimal, is_code=name in self.codes
        )

    def cells(self, name: str) -> Any:
        """Return the cells of a column."""
        return self.columns.column(self.places[name])

    def summary(self) -> str:
        """Return what was read, in a sentence."""
        size = f"{counted(self.n_rows, 'row')} of {counted(len(self.names), 'column')}"
        text = f"Read {size} from {self.name} ({self.format}"
        if self.source.packing is not None:
            text += f", compressed by {self.source.packing.name}"
        if self.has_header is not None:
            text += f", {'with' if self.has_header else 'without'} a header"
        if self.dialect is not None:
            header = "with" if self.dialect.has_header else "without"
            comma = ", decimal comma" if self.dialect.decimal == "," else ""
            text += f", separated by {self.dialect.separator_name}{comma}"
            text += f", {self.dialect.encoding_text}, {header} a header"
        return text + ")."


def default_names(n_columns: int) -> list[str]:
    """Name columns by their place."""
    return [f"column_{j}" for j in range(1, n_columns + 1)]


def unique_names(names: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Make names unique: repeated ones get a number, missing ones their place.

    Examples
    --------
    >>> unique_names(["a", "", "a", "a_2"])[0]
    ['a', 'column_2', 'a_3', 'a_2']
    """
    taken = {name for name in names if name}
    seen: set[str] = set()
    numbers: dict[str, int] = {}
    unique, renamed = [], []
    for place, name in enumerate(names, start=1):
        wanted = name or f"column_{place}"
        new = wanted
        while new in seen or (new in taken and new != name):
            # going on from the last number keeps many repetitions linear
            numbers[wanted] = numbers.get(wanted, 1) + 1
            new = f"{wanted}_{numbers[wanted]}"
        if name and new != name:
            renamed.append(f"{shown(name)} became {shown(new)}")
        seen.add(new)
        unique.append(new)
    if not renamed:
        return unique, ()
    return unique, (f"Names came twice: {listed(renamed, len(renamed))}.",)


def check_size(name: str, table: Any) -> None:
    """Refuse a table without content."""
    if table.num_columns == 0:
        raise InputError(f"{name} has no columns; expected a table of numbers.")
    if table.num_rows == 0:
        raise InputError(
            f"{name} has {counted(table.num_columns, 'column')} but no rows; expected "
            "a table of numbers."
        )
