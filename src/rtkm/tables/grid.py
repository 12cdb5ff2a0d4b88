"""The table among the cells of a sheet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import takewhile
from statistics import median
from typing import Any, NamedTuple

from rtkm._number_text import counted
from rtkm.tables.arrow import pa
from rtkm.tables.dialects import N_JUDGED
from rtkm.tables.header import find_header
from rtkm.tables.messages import listed, shown
from rtkm.tables.sheet import Sheet, check_size, default_names, unique_names
from rtkm.tables.source import Source
from rtkm.tables.typed_cells import column_of, written

# what stands in a cell whose formula went wrong
ERRORS = {
    *("#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"),
    *("#SPILL!", "#CALC!", "#FIELD!", "#BLOCKED!", "#CONNECT!", "#GETTING_DATA"),
}

Row = Sequence[Any]


class Asked(NamedTuple):
    """What the user said of a table whose cells know what they are."""

    sheet: str | None
    header: bool | None
    skip: int


class Grid(NamedTuple):
    """Columns of cells, None where one is empty, and what to say about them."""

    names: list[str]
    columns: list[list[Any]]
    has_header: bool | None  # None where names need none
    notes: tuple[str, ...]


def find_grid(name: str, rows: list[Row], asked: Asked) -> Grid:
    """Find the table in a sheet: its header, and the cells below it.

    Rows and columns without any cell are left out, as empty lines of text are, and so
    are titles above the table.
    """
    full = [row for row in rows[asked.skip :] if count_cells(row)]
    n_titles = 0 if asked.skip else count_titles(full[:N_JUDGED])
    titles, full = full[:n_titles], full[n_titles:]
    places = filled_places(full)
    start = [[written(cell_at(row, j)) for j in places] for row in full[:N_JUDGED]]
    notes = note_titles(titles)
    has_header = bool(asked.header and start)
    if asked.header is None and start:
        found = find_header(name, start)
        has_header = found.is_there
        notes += [found.note] if found.note else []
    names = default_names(len(places))
    if has_header:
        names = [cell.strip() for cell in start[0]]
    body = full[has_header:]
    columns = [[cell_at(row, j) for row in body] for j in places]
    notes += take_errors(names, columns)
    return Grid(names, columns, has_header, tuple(notes))


def table_of(source: Source, kind: str, grid: Grid, name: str = "") -> Sheet:
    """Return a grid as a table that was read."""
    names, renamed = unique_names(grid.names)
    table = pa.table([column_of(cells) for cells in grid.columns], names=names)
    check_size(name or source.name, table)
    notes = renamed + grid.notes
    return Sheet(name or source.name, kind, table, None, notes, source, grid.has_header)


def cell_at(row: Row, j: int) -> Any:
    """Return a cell, None behind the end of a row."""
    return row[j] if j < len(row) else None


def count_cells(row: Row) -> int:
    """Count the cells that are not empty."""
    return len(row) - row.count(None)


def filled_places(rows: list[Row]) -> list[int]:
    """Return the places of columns that are not empty throughout."""
    width = max(map(len, rows), default=0)
    is_filled = [False] * width
    for row in rows:
        for j, cell in enumerate(row):
            if cell is not None:
                is_filled[j] = True
    return [j for j in range(width) if is_filled[j]]


# Titles


def count_titles(rows: list[Row]) -> int:
    """Count the rows above the table: at most half as full as it mostly is.

    Whatever stands above a row of nothing but words is no part of a table; above
    others, which hold data, the last such row of words must be the header.
    """
    usual = median(map(count_cells, rows)) if rows else 0
    thin = list(takewhile(lambda row: count_cells(row) <= usual / 2, rows))
    if not thin or are_words(rows[len(thin)]):
        return len(thin)
    n_words = len(list(takewhile(are_words, thin)))
    return max(n_words - 1, 0)


def are_words(row: Row) -> bool:
    """Whether all cells of a row that are not empty are text."""
    return all(isinstance(cell, str) for cell in row if cell is not None)


def note_titles(rows: list[Row]) -> list[str]:
    """Say what stood above the table."""
    cells = [shown(written(cell)) for row in rows for cell in row if cell is not None]
    if not cells:
        return []
    return [
        f"Left out {counted(len(rows), 'row')} above the table: "
        f"{listed(cells, len(cells), most=3)}."
    ]


# Errors


def take_errors(names: list[str], columns: list[list[Any]]) -> list[str]:
    """Empty the cells whose formula went wrong, and say where they are."""
    kinds: Counter[str] = Counter()
    counts = {}
    for name, cells in zip(names, columns, strict=True):
        if str not in set(map(type, cells)):
            continue
        places = [i for i, cell in enumerate(cells) if is_error(cell)]
        if places:
            kinds.update(cells[i] for i in places)
            counts[name] = len(places)
            for i in places:
                cells[i] = None
    if not counts:
        return []
    total = sum(counts.values())
    where = (f"{n:,} in {shown(name)}" for name, n in counts.items())
    count_as = "counts" if total == 1 else "count"
    return [
        f"{counted(total, 'cell')} with an error ({listed(kinds, len(kinds))}) "
        f"{count_as} as missing: {listed(where, len(counts))}."
    ]


def is_error(cell: Any) -> bool:
    """Whether a formula went wrong in a cell."""
    return isinstance(cell, str) and cell in ERRORS
