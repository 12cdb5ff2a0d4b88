"""The columns to use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rtkm._number_text import counted
from rtkm.tables.columns import Column
from rtkm.tables.identifiers import as_chosen, cells_of, find_row_names
from rtkm.tables.messages import InputError, listed, nearest, shown
from rtkm.tables.numerals import has_unit
from rtkm.tables.sheet import AnyTable

KIND_NAMES = {
    "text": "text",
    "date": "dates",
    "identifier": "identifiers",
    "target": "labels to compare with",
    "nested": "values of other types",
}
TAKES_TEXT = " (categories= takes text)"


def choose(
    sheet: AnyTable, unused: set[str | None], *, may_be_none: bool = False
) -> tuple[list[Column], list[str]]:
    """Return all columns of numbers, and say what is left out."""
    looked_at = [sheet.look(name) for name in sheet.names if name not in unused]
    if getattr(sheet, "is_named", True):
        looked_at = [as_chosen(column) for column in looked_at]
    chosen = [c for c in looked_at if c.kind in ("number", "truth")]
    notes = note_left_out(looked_at)
    if not chosen and not may_be_none:
        reason = " ".join(notes) or "Every column was dropped."
        if sheet.dialect and [column.kind for column in looked_at] == ["text"]:
            reason += (
                " Say --skip if lines above the header are not part of it, or --sep."
            )
        raise InputError(f"{sheet.name} has no column of numbers to use. {reason}")
    truths = [shown(c.name) for c in chosen if c.kind == "truth"]
    if truths:
        notes.append(f"True counts as 1, false as 0: {listed(truths, len(truths))}.")
    with_units = [c for c in chosen if has_unit(c.example)]
    if with_units:
        named = (f"{shown(c.name)} (such as {shown(c.example)})" for c in with_units)
        text = listed(named, len(with_units))
        notes.append(f"Read as numbers, without their signs: {text}.")
    return chosen, notes


def note_used(columns: Sequence[Column]) -> str:
    """Name the columns that are used."""
    named = listed((shown(column.name) for column in columns), len(columns))
    return f"Used {counted(len(columns), 'column')}: {named}."


def choose_named(
    sheet: AnyTable,
    columns: Sequence[str],
    unused: Sequence[str],
    *,
    may_be_none: bool = False,
) -> list[Column]:
    """Return the columns asked for."""
    chosen = []
    for name in dict.fromkeys(columns):
        check_known(sheet, name, "columns")
        if name not in unused:
            chosen.append(ask_for(sheet, name, TAKES_TEXT))
    if not chosen and not may_be_none:
        raise InputError("columns= leaves no column to use; name some of numbers.")
    return chosen


def ask_for(sheet: AnyTable, name: str, takes_text: str = "") -> Column:
    """Return a column that must be there and hold numbers.

    `takes_text` says what else text could be given to.
    """
    if name not in sheet.places:
        raise InputError(
            f"{sheet.name} has no column {shown(name)}, which the model needs; "
            f"{nearest(name, sheet.names, 'it has')}"
        )
    column = sheet.look(name)
    if column.kind == "empty":
        raise InputError(f"column {shown(name)} is empty; expected numbers.")
    if not column.is_numeric:
        example = shown(column.example)
        if column.raw is not None:
            row, cell = column.first_text()
            example = f"{shown(cell)} in row {row + 1:,}"
        raise InputError(
            f"column {shown(name)} holds {KIND_NAMES[column.kind]}, such as "
            f"{example}; expected numbers{takes_text * (column.kind == 'text')}."
        )
    return column


def check_known(sheet: AnyTable, name: str, parameter: str) -> None:
    """Refuse a name that no column has."""
    if name not in sheet.places:
        raise InputError(
            f"{parameter}={name!r}: {sheet.name} has no such column; "
            f"{nearest(name, sheet.names)}"
        )


def check_logged(sheet: AnyTable, names: Sequence[str], used: Sequence[str]) -> None:
    """Refuse logarithms of columns that are not used, and say why they are not."""
    for name in names:
        if name in used:
            continue
        check_known(sheet, name, "log")
        column = as_chosen(sheet.look(name))
        if column.kind in KIND_NAMES:
            can_be_used = column.kind in ("identifier", "target")
            way_out = "name it in columns= to use it" if can_be_used else "take it out"
            raise InputError(
                f"log={name!r}: the column holds {KIND_NAMES[column.kind]}, such as "
                f"{shown(column.example)}, and is not used; {way_out}."
            )


def note_left_out(columns: Sequence[Column]) -> list[str]:
    """Name what is left out, by kind, each with an example."""
    notes = []
    for kind, words in KIND_NAMES.items():
        some = [c for c in columns if c.kind == kind]
        if some:
            named = (f"{shown(c.name)} (such as {shown(c.example)})" for c in some)
            can_be_used = kind in ("identifier", "target")
            hint = " Name them in columns= to use them." * can_be_used
            notes.append(f"Left out {words}: {listed(named, len(some))}.{hint}")
    empty = [shown(c.name) for c in columns if c.kind == "empty"]
    if empty:
        notes.append(f"Left out empty columns: {listed(empty, len(empty))}.")
    return notes


def find_ids(sheet: AnyTable, name: str | None) -> Any:
    """Return the column that names the rows."""
    if name is None:
        return None
    check_known(sheet, name, "id")
    return cells_of(sheet, name)


def choose_id(sheet: AnyTable, used: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the column that names the rows where nobody said which, and say so."""
    name = find_row_names(sheet, used)
    if name is None:
        return None, []
    return name, [f"Row names are from {shown(name)} (id= for another column)."]
