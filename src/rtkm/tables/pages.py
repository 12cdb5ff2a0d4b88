"""A sheet of a workbook, whoever reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from rtkm.tables.grid import Row
from rtkm.tables.messages import InputError

MOST_CELLS = 2**27  # of a sheet, empty ones between others counted


class Page(NamedTuple):
    """A sheet: its name, whether it is shown, and what goes through its rows."""

    name: str
    is_visible: bool
    rows: Callable[[], Iterator[Row]]


def shortened(row: tuple[Any, ...] | list[Any]) -> Row:
    """Return a row without the empty cells at its end."""
    end = len(row)
    while end and row[end - 1] is None:
        end -= 1
    return row[:end]


def check_cells(n_cells: int) -> None:
    """Refuse a sheet that has no place in memory."""
    if n_cells > MOST_CELLS:
        raise InputError(
            f"the workbook has a sheet of more than {MOST_CELLS:,} cells, empty ones "
            "between others counted; save the part that is the table as CSV."
        )
