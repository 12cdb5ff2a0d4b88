"""From a sheet to a matrix of numbers, and the same again for new rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from rtkm.cli.columns import Column, look_at, shown_cell
from rtkm.cli.messages import InputError, counted, listed, nearest, shown
from rtkm.cli.numerals import has_unit
from rtkm.cli.reading import Sheet
from rtkm.cli.scaling import SCALES, Scale, find_scaling

Missing = Literal["error", "drop", "median"]
POLICIES: tuple[Missing, ...] = get_args(Missing)

KIND_NAMES = {
    "text": "text",
    "date": "dates",
    "identifier": "identifiers",
    "nested": "values of other types",
}


@dataclass(frozen=True)
class Preparation:
    """What was done to a table, so that it can be done to new rows.

    Attributes
    ----------
    columns : tuple of str
        Names of the features, in the order of the matrix.
    missing : "error", "drop" or "median"
        What becomes of missing cells.
    fill : tuple of float
        Median of each column, which stands for missing cells.
    scale : "none", "standard" or "robust"
        How columns are scaled.
    center, spread : tuple of float
        A number x of a column becomes ``(x - center) / spread``.
    """

    columns: tuple[str, ...]
    missing: Missing
    fill: tuple[float, ...]
    scale: Scale
    center: tuple[float, ...]
    spread: tuple[float, ...]

    def repeat(
        self, sheet: Sheet, *, id: str | None = None, missing: Missing | None = None
    ) -> Prepared:
        """Prepare new rows as those were that a model was fitted to."""
        policy = self.missing if missing is None else missing
        check_choice("--missing", policy, POLICIES)
        chosen = [ask_for(sheet, name) for name in self.columns]
        X, notes = as_matrix(chosen, policy)
        settled = settle_missing(X, chosen, policy, self.fill, notes)
        return finished(settled, self, find_ids(sheet, id), notes)

    def scaled(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Put numbers into the units of the matrix; changes X, which is returned."""
        if self.scale != "none":
            X -= np.array(self.center)
            X /= np.array(self.spread)
        return X

    def in_data_units(self, centers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Put rows of the matrix, such as centers, back into the data's own units."""
        return centers * np.array(self.spread) + np.array(self.center)

    def to_json(self) -> dict[str, Any]:
        """Return the preparation as plain lists, numbers and text."""
        return {
            "columns": list(self.columns),
            "missing": self.missing,
            "fill": list(self.fill),
            "scale": self.scale,
            "center": list(self.center),
            "spread": list(self.spread),
        }

    @classmethod
    def from_json(cls, content: Any) -> Preparation:
        """Make a preparation of what `to_json` returned, which may be damaged."""
        if not is_preparation(content):
            raise InputError("the preparation of the model is damaged; fit it again.")
        parts: dict[str, Any] = {
            key: tuple(part) if isinstance(part, list) else part
            for key, part in content.items()
        }
        return cls(**parts)


@dataclass(frozen=True)
class Prepared:
    """A table ready for a model.

    Attributes
    ----------
    X : ndarray of shape (n_kept, n_features)
        The rows that are kept.
    preparation : Preparation
        What was done.
    kept : ndarray of shape (n_rows,)
        Whether a row of the sheet is in X.
    reasons : dict
        Why a row, by its place in the sheet, is not, or is not as it was.
    filled : ndarray of shape (n_kept, n_features) or None
        Which numbers of X stand for missing cells; None where there are none.
    ids : list of str or None
        What the rows of the sheet are called, if a column says so.
    notes : tuple of str
        What was done, in sentences.
    """

    X: NDArray[np.float64]
    preparation: Preparation
    kept: NDArray[np.bool_]
    reasons: Mapping[int, str]
    filled: NDArray[np.bool_] | None
    ids: Any
    notes: tuple[str, ...]


class Settled(NamedTuple):
    """Numbers without gaps, which rows they are of, and what became of the gaps."""

    X: NDArray[np.float64]
    kept: NDArray[np.bool_]
    reasons: dict[int, str]
    filled: NDArray[np.bool_] | None


def prepare(
    sheet: Sheet,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    id: str | None = None,
    missing: Missing = "error",
    scale: Scale | None = None,
) -> Prepared:
    """Choose columns, settle missing cells and scale.

    Without `columns`, all columns of numbers are used; text, dates and identifiers are
    left out and named. Identifiers are whole numbers in a column named so (``id``,
    ``customer_id``), that count the rows, or with digits that a number would not keep;
    `columns` can ask for them. A column of which at least nine cells in ten are numbers
    is one of numbers: what else is in there is an error, or missing.

    Parameters
    ----------
    sheet : Sheet
        The table.
    columns : sequence of str, default=None
        The columns to use, in this order.
    drop : sequence of str, default=()
        Columns not to use.
    id : str, default=None
        The column that says what rows are called; it is not used unless `columns`
        names it.
    missing : "error", "drop" or "median", default="error"
        What becomes of missing cells, of infinite ones and of those that are no number.
    scale : "none", "standard" or "robust", default=None
        How columns are scaled; None decides, see `find_scaling`.

    Returns
    -------
    Prepared
        The matrix, and all that is needed to go back.

    Raises
    ------
    InputError
        If there is nothing to compute with, with what to do about it.
    """
    check_choice("--missing", missing, POLICIES)
    if scale is not None:
        check_choice("--scale", scale, SCALES)
    ids = find_ids(sheet, id)
    for name in drop:
        check_known(sheet, name, "--drop")
    if columns is None:
        chosen, notes = choose(sheet, unused={*drop, id})
    else:
        chosen, notes = choose_named(sheet, columns, unused=set(drop)), []
    X, faults = as_matrix(chosen, missing)
    notes += faults
    fill = medians(X) if missing == "median" else ()
    settled = settle_missing(X, chosen, missing, fill, notes)
    fill = fill or medians(settled.X)
    names = tuple(column.name for column in chosen)
    scaling = find_scaling(settled.X, names, np.array(fill), scale)
    notes += scaling.notes
    preparation = Preparation(
        columns=names,
        missing=missing,
        fill=fill,
        scale=scaling.method,
        center=tuple(scaling.center.tolist()),
        spread=tuple(scaling.spread.tolist()),
    )
    return finished(settled, preparation, ids, notes)


def finished(
    settled: Settled, preparation: Preparation, ids: Any, notes: Sequence[str]
) -> Prepared:
    """Scale what is settled."""
    X, kept, reasons, filled = settled
    return Prepared(
        preparation.scaled(X), preparation, kept, reasons, filled, ids, tuple(notes)
    )


# Columns


def choose(sheet: Sheet, unused: set[str | None]) -> tuple[list[Column], list[str]]:
    """Return all columns of numbers, and say what is left out."""
    looked_at = [look(sheet, name) for name in sheet.names if name not in unused]
    chosen = [c for c in looked_at if c.kind in ("number", "truth")]
    notes = note_left_out(looked_at)
    if not chosen:
        reason = " ".join(notes) or "Every column was dropped."
        if sheet.dialect and [column.kind for column in looked_at] == ["text"]:
            reason += (
                " Say --skip if lines above the header are no part of it, or --sep."
            )
        raise InputError(f"{sheet.name} has no column of numbers to use. {reason}")
    used = listed((shown(c.name) for c in chosen), len(chosen))
    notes.insert(0, f"Used {counted(len(chosen), 'column')}: {used}.")
    truths = [shown(c.name) for c in chosen if c.kind == "truth"]
    if truths:
        notes.append(f"True counts as 1, false as 0: {listed(truths, len(truths))}.")
    with_units = [c for c in chosen if has_unit(c.example)]
    if with_units:
        named = (f"{shown(c.name)} (such as {shown(c.example)})" for c in with_units)
        text = listed(named, len(with_units))
        notes.append(f"Read as numbers, without their signs: {text}.")
    return chosen, notes


def choose_named(
    sheet: Sheet, columns: Sequence[str], unused: set[str]
) -> list[Column]:
    """Return the columns asked for."""
    chosen = []
    for name in dict.fromkeys(columns):
        check_known(sheet, name, "--columns")
        if name not in unused:
            chosen.append(ask_for(sheet, name))
    if not chosen:
        raise InputError("--columns leaves no column to use; name some of numbers.")
    return chosen


def ask_for(sheet: Sheet, name: str) -> Column:
    """Return a column that must be there and hold numbers."""
    if name not in sheet.places:
        raise InputError(
            f"{sheet.name} has no column {shown(name)}, which the model needs; "
            f"{nearest(name, sheet.names)}"
        )
    column = look(sheet, name)
    if column.kind == "empty":
        raise InputError(f"column {shown(name)} is empty; expected numbers.")
    if not column.is_numeric:
        raise InputError(
            f"column {shown(name)} holds {KIND_NAMES[column.kind]}, such as "
            f"{shown(column.example)}; expected numbers."
        )
    return column


def look(sheet: Sheet, name: str) -> Column:
    """Find out what a column of the sheet holds."""
    values = sheet.columns.column(sheet.places[name])
    return look_at(values, name, decimal=sheet.decimal, is_code=name in sheet.codes)


def check_known(sheet: Sheet, name: str, option: str) -> None:
    """Refuse a name that no column has."""
    if name not in sheet.places:
        raise InputError(
            f"{option} {name}: {sheet.name} has no such column; "
            f"{nearest(name, sheet.names)}"
        )


def check_choice(option: str, value: str, choices: Sequence[str]) -> None:
    """Refuse a value that is not among the choices."""
    if value not in choices:
        raise InputError(
            f"{option} {value} is not valid; expected {', '.join(choices)}."
        )


def note_left_out(columns: Sequence[Column]) -> list[str]:
    """Name what is left out, by kind, each with an example."""
    notes = []
    for kind, words in KIND_NAMES.items():
        some = [c for c in columns if c.kind == kind]
        if some:
            named = (f"{shown(c.name)} (such as {shown(c.example)})" for c in some)
            hint = " Name them in --columns to use them." * (kind == "identifier")
            notes.append(f"Left out {words}: {listed(named, len(some))}.{hint}")
    empty = [shown(c.name) for c in columns if c.kind == "empty"]
    if empty:
        notes.append(f"Left out empty columns: {listed(empty, len(empty))}.")
    return notes


def find_ids(sheet: Sheet, name: str | None) -> Any:
    """Return the column that names the rows."""
    if name is None:
        return None
    check_known(sheet, name, "--id")
    return sheet.columns.column(sheet.places[name])


# Missing cells


def as_matrix(
    columns: Sequence[Column], missing: Missing
) -> tuple[NDArray[np.float64], list[str]]:
    """Return the numbers, NaN where there is none that can be used, and notes."""
    X = np.empty((len(columns[0].numbers), len(columns)))
    notes = []
    for j, column in enumerate(columns):
        X[:, j] = column.floats()
        strange = column.strange_rows()
        infinite = np.flatnonzero(np.isinf(X[:, j]))
        if len(strange):
            cells = (f"{shown_cell(column, i)} in row {i + 1}" for i in strange)
            what = f"{counted(len(strange), 'cell')} that no number can be read from"
            notes.append(fault(column, what, listed(cells, len(strange), 3), missing))
        if len(infinite):
            rows = (f"row {i + 1}" for i in infinite)
            what = counted(len(infinite), "infinite cell")
            notes.append(fault(column, what, listed(rows, len(infinite), 3), missing))
            X[infinite, j] = np.nan
    return X, notes


def fault(column: Column, what: str, where: str, missing: Missing) -> str:
    """Refuse cells of a column, or say that they count as missing."""
    text = f"column {shown(column.name)} has {what} ({where})"
    if missing == "error":
        raise InputError(
            f"{text}; correct the file, leave the column out with --drop, or count "
            "such cells as missing with --missing drop or --missing median."
        )
    return f"{text[0].upper()}{text[1:]}; counted as missing."


def medians(X: NDArray[np.float64]) -> tuple[float, ...]:
    """Return the median of what is there in each column."""
    return tuple(median(X[:, j]) for j in range(X.shape[1]))


def median(values: NDArray[np.float64]) -> float:
    """Return the median of what is there, or 0 where nothing is."""
    there = values[~np.isnan(values)]
    return float(np.median(there)) if len(there) else 0.0


def settle_missing(
    X: NDArray[np.float64],
    columns: Sequence[Column],
    missing: Missing,
    fill: Sequence[float],
    notes: list[str],
) -> Settled:
    """Leave rows with gaps out, or fill them in."""
    gaps = np.isnan(X)
    kept = np.logical_not(gaps.any(axis=1))
    if kept.all():
        return Settled(X, kept, {}, None)
    where = where_missing(gaps, columns)
    if missing == "error":
        raise InputError(
            f"{counted(int(gaps.sum()), 'cell')} missing ({where}); choose --missing "
            "drop to leave such rows out or --missing median to fill them in."
        )
    if missing == "median":
        np.copyto(X, np.array(fill), where=gaps)
        notes.append(f"Filled in medians where cells are missing: {where}.")
        told = tell_gaps(gaps, columns, "filled in")
        return Settled(X, np.ones_like(kept), told, gaps)
    if not kept.any():
        raise InputError(
            f"every row has a cell missing ({where}); choose --missing median, or "
            "leave columns out with --drop."
        )
    rows = counted(int((~kept).sum()), "row")
    notes.append(f"Left out {rows} with missing cells: {where}.")
    return Settled(X[kept], kept, tell_gaps(gaps, columns, "no number in"), None)


def where_missing(gaps: NDArray[np.bool_], columns: Sequence[Column]) -> str:
    """Count missing cells by column."""
    counts = gaps.sum(axis=0)
    some = np.flatnonzero(counts).tolist()
    named = (f"{counts[j]:,} in {shown(columns[j].name)}" for j in some)
    return listed(named, len(some), most=10)


def tell_gaps(
    gaps: NDArray[np.bool_], columns: Sequence[Column], what: str
) -> dict[int, str]:
    """Tell for each row with gaps in which columns they are."""
    rows = np.flatnonzero(gaps.any(axis=1))
    # few patterns of gaps, many rows: words are made once for each pattern
    patterns, which = np.unique(
        np.packbits(gaps[rows], axis=1), axis=0, return_inverse=True
    )
    words = []
    for bits in np.unpackbits(patterns, axis=1, count=len(columns)):
        places = np.flatnonzero(bits).tolist()
        named = (shown(columns[j].name) for j in places)
        words.append(f"{what} {listed(named, len(places))}")
    return {
        row: words[pattern]
        for row, pattern in zip(rows.tolist(), which.ravel().tolist(), strict=True)
    }


# What was saved


PARTS = {field.name for field in fields(Preparation)}


def is_preparation(content: Any) -> bool:
    """Whether plain data are a preparation, whole and sound."""
    if not isinstance(content, dict) or content.keys() != PARTS:
        return False
    columns = content["columns"]
    if not is_list_of(columns, str) or len(set(columns)) != len(columns) or not columns:
        return False
    lists = [content[key] for key in ("fill", "center", "spread")]
    return (
        content["missing"] in POLICIES
        and content["scale"] in SCALES
        and all(is_list_of(numbers, float) for numbers in lists)
        and all(len(numbers) == len(columns) for numbers in lists)
        and all(math.isfinite(number) for numbers in lists for number in numbers)
        and all(number > 0 for number in lists[-1])
    )


def is_list_of(value: Any, kind: type) -> bool:
    """Whether a value is a list of nothing but the type."""
    return isinstance(value, list) and all(type(item) is kind for item in value)
