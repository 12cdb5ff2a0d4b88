"""From a sheet to a matrix of numbers, and the same again for new rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm.cli.choosing import ask_for, check_known, choose, choose_named, find_ids
from rtkm.cli.gaps import POLICIES, Missing, Settled, as_matrix, medians, settle_missing
from rtkm.cli.messages import InputError
from rtkm.cli.scaling import SCALES, Scale, find_scaling
from rtkm.cli.sheet import Sheet


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


def check_choice(option: str, value: str, choices: Sequence[str]) -> None:
    """Refuse a value that is not among the choices."""
    if value not in choices:
        raise InputError(
            f"{option} {value} is not valid; expected {', '.join(choices)}."
        )


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
