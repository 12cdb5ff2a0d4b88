"""Cells that know what they are, such as those of a workbook, as columns."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from typing import Any

from rtkm.tables.arrow import pa

LARGEST_INTEGER = 2**63
NUMBERS = {int, float}
DATES = {datetime.date, datetime.datetime}


def column_of(cells: Sequence[Any]) -> Any:
    """Return cells as a column, of their own type if they have one in common.

    Others become text, which is looked at as that of any text table is.
    """
    kinds = set(map(type, cells)) - {type(None)}
    if not kinds:
        return pa.nulls(len(cells))
    if kinds == {int} and all_fit(cells):
        return pa.array(cells, pa.int64())
    if kinds <= NUMBERS and float in kinds:
        numbers = (None if cell is None else float(cell) for cell in cells)
        return pa.array(numbers, pa.float64(), size=len(cells))
    if kinds == {bool}:
        return pa.array(cells, pa.bool_())
    if kinds <= DATES:
        days = [None if cell is None else as_moment(cell) for cell in cells]
        return pa.array(days, pa.timestamp("us"))
    if kinds == {str}:
        return pa.array(cells, pa.large_string())
    texts = [None if cell is None else written(cell) for cell in cells]
    return pa.array(texts, pa.large_string())


def all_fit(cells: Sequence[Any]) -> bool:
    """Whether whole numbers have a place in 64 bits."""
    there = [cell for cell in cells if cell is not None]
    return -LARGEST_INTEGER <= min(there) and max(there) < LARGEST_INTEGER


def as_moment(cell: datetime.date) -> datetime.datetime:
    """Return the moment that a date begins with, or the moment itself."""
    if isinstance(cell, datetime.datetime):
        return cell
    return datetime.datetime.combine(cell, datetime.time())


def written(cell: Any) -> str:
    """Return a cell as it would be written in a text table.

    Examples
    --------
    >>> [written(cell) for cell in (None, 2.0, 0.5, True, "x", [1])]
    ['', '2', '0.5', 'TRUE', 'x', '[1]']
    """
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(sep=" ")
    if isinstance(cell, dict | list):
        return json.dumps(cell, ensure_ascii=False)
    return str(cell)
