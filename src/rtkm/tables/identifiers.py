"""Columns that name or number their rows, or hold the labels one wants to find."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm.tables.columns import (
    FEWEST_COUNTED,
    MOSTLY,
    Column,
    glanced_rows,
    text_of,
)
from rtkm.tables.messages import LONGEST_SHOWN
from rtkm.tables.numerals import DATE_PATTERN, is_missing, is_number
from rtkm.tables.sheet import AnyTable

Floats = NDArray[np.float64]

# Names of columns, as words in lower case. A number *of* things ("number of rooms",
# "rooms") is a count; the number of *a* thing ("room number") is its name.
NUMBERS = {"number", "num", "no", "nr", "code", "index", "idx", "key", "serial"}
THINGS = {
    *("account", "case", "client", "customer", "employee", "entry", "invoice", "item"),
    *("line", "member", "obs", "observation", "order", "participant", "passenger"),
    *("patient", "person", "product", "record", "respondent", "row", "sample"),
    *("serial", "specimen", "student", "subject", "ticket", "transaction", "user"),
}
ROW_NAMES = {"idx", "index", "nr", "obs", "row", "rowname", "rownames", "unnamed 0"}

TARGET_NAMES = {
    *("anomaly", "class", "classes", "diagnosis", "ground truth", "label", "labels"),
    *("outcome", "outlier", "species", "target"),
}
MOST_CLASSES = 30
ROWS_PER_CLASS = 3  # at least, on average

LARGEST_START = 10  # a row number begins at 0 or 1, or where a few rows are gone
MEAN_STEP = 2  # of row numbers, at most: half of the rows may be gone


class NumberFacts:
    """What tells numbers of rows, and of classes, from measurements."""

    def __init__(self, column: Column) -> None:
        self.values = column.floats()

    def are_classes(self) -> bool:
        """Whether they are whole and few, each of them in several rows."""
        return are_classes(self.values)

    def mostly_differ(self) -> bool:
        """Whether they are whole, and nearly all different."""
        return mostly_differ(self.values)

    def counts_up(self) -> bool:
        """Whether they nearly always rise by 1 from a row to the next."""
        return counts_up(self.values)

    def counts_some_rows(self) -> bool:
        """Whether they are those of the rows of a table that lost some of them."""
        return counts_some_rows(self.values)

    def first(self) -> str:
        """Return the first number, as it is shown."""
        there = float(self.values[np.argmax(~np.isnan(self.values))])
        return text_of(there) or ""


def as_chosen(column: Column) -> Column:
    """Return a column of numbers as what it is, if it is nothing to cluster by."""
    if column.kind not in ("number", "truth"):
        return column
    name = " ".join(words_of(column.name))
    facts = NumberFacts(column) if column.facts is None else column.facts
    if name in TARGET_NAMES and facts.are_classes():
        return replace(column, kind="target", example=facts.first())
    if column.kind == "truth":
        return column
    is_number_of_rows = is_row_name(name) and (
        facts.mostly_differ() or facts.counts_up()
    )
    if facts.counts_some_rows() or is_number_of_rows:
        return replace(column, kind="identifier", example=facts.first())
    return column


def words_of(name: str) -> list[str]:
    """Return the words of a name, in lower case.

    Examples
    --------
    >>> words_of("Sample code number"), words_of("patientNo."), words_of("ROW_2")
    (['sample', 'code', 'number'], ['patient', 'no'], ['row', '2'])
    """
    apart = re.sub("([a-z])([A-Z])", r"\1 \2", name)
    return re.findall("[^\\W_]+", apart.casefold())


def is_row_name(name: str) -> bool:
    """Whether a column, by the words of its name, numbers things such as rows.

    Examples
    --------
    >>> [is_row_name(name) for name in ("sample number", "index", "unnamed 0")]
    [True, True, True]
    >>> [is_row_name(name) for name in ("number of samples", "heat index", "code")]
    [False, False, False]
    """
    *before, last = name.split() or [""]
    return name in ROW_NAMES or (last in NUMBERS and not THINGS.isdisjoint(before))


def mostly_differ(values: Floats) -> bool:
    """Whether numbers are whole, and nearly all different, as those of things are."""
    there = values[~np.isnan(values)]
    if not are_whole(there):
        return False
    return len(np.unique(there)) >= MOSTLY * len(there)


def counts_up(values: Floats) -> bool:
    """Whether numbers nearly always rise by 1 from a row to the next.

    So do those of things that are counted group by group, each from 1.

    Examples
    --------
    >>> counts_up(np.r_[1:21, 1:31]), counts_up(np.repeat([1.0, 2.0, 3.0], 9))
    (True, False)
    """
    if len(values) < FEWEST_COUNTED:
        return False
    return float((np.diff(values) == 1).mean()) >= MOSTLY


def are_whole(values: Floats) -> bool:
    """Whether all numbers are whole; there is at least one."""
    return len(values) > 0 and bool((values == np.floor(values)).all())


def are_classes(values: Floats) -> bool:
    """Whether numbers are whole and few, each of them in several rows."""
    there = values[~np.isnan(values)]
    if not are_whole(there):
        return False
    n_classes = len(np.unique(there))
    return n_classes <= min(MOST_CLASSES, len(there) / ROWS_PER_CLASS)


def counts_some_rows(values: Floats) -> bool:
    """Whether numbers are those of the rows of a table that lost some of them.

    They begin near 0, rise from each row to the next, by 2 on average at most, and
    somewhere by 1: equal steps of 2 were chosen by somebody. Measurements that were
    sorted begin elsewhere, have ties or leave more room between them.
    """
    # the ends tell at once for nearly all columns
    if not are_ends_of_rows(len(values), values[0], values[-1]):
        return False
    steps = np.diff(values)
    return are_whole(values) and bool(steps.min() == 1)


def are_ends_of_rows(n_rows: int, first: float, last: float) -> bool:
    """Whether the first number and the last can be those of rows."""
    if n_rows < FEWEST_COUNTED or not 0 <= first <= LARGEST_START:
        return False
    return bool(n_rows - 1 <= last - first <= MEAN_STEP * (n_rows - 1))


# Text that names rows


def find_row_names(table: AnyTable, unused: Sequence[str]) -> str | None:
    """Return the first column of short text that differs in every row, if any.

    In a table of fewer than ten rows that may be an accident.
    """
    if table.n_rows < FEWEST_COUNTED:
        return None
    for name in table.names:
        if name not in unused and names_rows(cells_of(table, name)):
            return name
    return None


def cells_of(table: AnyTable, name: str) -> Any:
    """Return the cells of a column, by place also where a frame has another index."""
    cells = table.cells(name)
    return cells.array if hasattr(cells, "iloc") else cells


def names_rows(cells: Any) -> bool:
    """Whether cells are short texts that all differ, and neither numbers nor dates."""
    glance = [python_object(cells[row]) for row in glanced_rows(len(cells)).tolist()]
    if not are_names(glance):
        return False
    unique = cells.unique() if hasattr(cells, "to_pylist") else set(cells)
    return len(unique) == len(cells)


def are_names(cells: Sequence[object]) -> bool:
    """Whether some cells may be what rows are called, and all differ."""
    if not all(isinstance(cell, str) and is_name(cell) for cell in cells):
        return False
    return len(set(cells)) == len(cells)


def python_object(cell: Any) -> Any:
    """Return a cell as Python has it, also of pyarrow."""
    return cell.as_py() if hasattr(cell, "as_py") else cell


def is_name(cell: str) -> bool:
    """Whether a cell may be what a row is called."""
    is_other = is_missing(cell) or is_number(cell) or re.match(DATE_PATTERN, cell)
    return not is_other and len(cell) <= LONGEST_SHOWN
