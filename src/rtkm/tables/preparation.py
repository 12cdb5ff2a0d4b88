"""From a table to a matrix of numbers, and the same again for new rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rtkm.tables.columns import Column
from rtkm.tables.logarithms import Log, blank_unusable, find_logarithms
from rtkm.tables.messages import InputError, listed, shown
from rtkm.tables.missing import (
    OTHERS,
    Imputed,
    MissingPolicy,
    as_matrix,
    by_column,
    impute,
    impute_sparse,
    is_policy,
    leave_out_mostly_empty,
    medians,
    ways_for,
)
from rtkm.tables.repeats import note_on_repeats
from rtkm.tables.scaling import SCALES, Scale, find_scaling, sparse_spreads
from rtkm.tables.select import (
    ask_for,
    check_known,
    choose,
    choose_id,
    choose_named,
    find_ids,
    note_used,
)
from rtkm.tables.sheet import AnyTable

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Preparation:
    """What was done to a table, so that it can be done to new rows.

    Attributes
    ----------
    columns : tuple of str
        Names of the features, in the order of the matrix.
    missing : "error", "drop" or "median", or dict
        How missing values are handled, in all columns or by name.
    fill : tuple of float
        Median of each column, which stands for missing values.
    scale : "none", "standard" or "robust"
        How columns are scaled.
    log : tuple of str
        The columns whose logarithm is used: there x becomes ``log(x + offset)``.
    offset : tuple of float
        What is added before, by column; 0 in others.
    center, spread : tuple of float
        A number x of a column then becomes ``(x - center) / spread``.
    n_unnamed : int
        How many columns a table without names must have; 0 if this one had names.
    id : str
        The column that names the rows, given or found; empty if there is none.
    """

    columns: tuple[str, ...]
    missing: MissingPolicy
    fill: tuple[float, ...]
    scale: Scale
    center: tuple[float, ...]
    spread: tuple[float, ...]
    n_unnamed: int = 0
    id: str = ""
    log: tuple[str, ...] = ()
    offset: tuple[float, ...] = ()

    def repeat(
        self,
        table: AnyTable | sparse.csr_array,
        *,
        id: str | None = None,
        missing: MissingPolicy | None = None,
    ) -> Prepared:
        """Prepare new rows as those were that a model was fitted to."""
        policy = self.missing if missing is None else missing
        check_policy(policy)
        if not isinstance(policy, str):
            policy = {**by_column(self.missing), **policy}
        self._check_names(table)
        if sparse.issparse(table):
            imputed, notes = impute_sparse(table, policy, self.fill)
            return finished(imputed, self, None, notes)
        names = self.columns
        if self.n_unnamed:
            places = [int(name[1:]) for name in names]
            names = tuple(table.names[place] for place in places)
        chosen = [ask_for(table, name) for name in names]
        ways, ids = ways_for(policy, chosen), find_ids(table, id)
        X, notes = as_matrix(chosen, ways)
        if self.log:
            offset = np.array(self.offset)
            notes += blank_unusable(X, chosen, ways, self.is_logged, offset)
        imputed = impute(X, chosen, ways, self.fill, notes, ids=ids)
        return finished(imputed, self, ids, notes)

    def _check_names(self, table: Any) -> None:
        """Refuse a table without names where the model knows some."""
        is_named = getattr(table, "is_named", not sparse.issparse(table))
        if not is_named and not self.n_unnamed:
            features = listed(map(shown, self.columns), len(self.columns))
            raise InputError(
                f"the model was fitted to columns by name ({features}), and this table "
                "has none; pass a frame with these names."
            )
        n_columns = table.shape[1] if sparse.issparse(table) else len(table.names)
        if self.n_unnamed and n_columns != self.n_unnamed:
            # in the words of scikit-learn, whose checks look for them
            raise InputError(
                f"X has {n_columns} features, but TableModel is expecting "
                f"{self.n_unnamed} features as input."
            )

    @cached_property
    def is_logged(self) -> NDArray[np.bool_]:
        """Of which columns logarithms are used."""
        return np.array([name in self.log for name in self.columns])

    def scaled(self, X: Any) -> Any:
        """Put numbers into the units of the matrix; changes X, which is returned."""
        for j in np.flatnonzero(self.is_logged):
            X[:, j] = np.log(X[:, j] + self.offset[j])
        if self.scale == "none":
            return X
        if sparse.issparse(X):
            return (X @ sparse.diags_array(1 / np.array(self.spread))).tocsr()
        X -= np.array(self.center)
        X /= np.array(self.spread)
        return X

    def to_json(self) -> dict[str, Any]:
        """Return the preparation as plain lists, numbers and text."""
        return {
            "columns": list(self.columns),
            "missing": self.missing,
            "fill": list(self.fill),
            "scale": self.scale,
            "center": list(self.center),
            "spread": list(self.spread),
            "log": list(self.log),
            "offset": list(self.offset),
        }

    def in_data_units(self, values: NDArray[Any], columns: Any = slice(None)) -> Floats:
        """Put numbers of the matrix, such as centers, back into the data's own units.

        They are rows of it, or numbers of the columns whose places are given.
        """
        numbers = self.unscaled(values, columns)
        if not self.log:
            return numbers
        with np.errstate(over="ignore"):
            sizes = np.exp(numbers) - np.array(self.offset)[columns]
        return np.where(self.is_logged[columns], sizes, numbers)

    def unscaled(self, values: NDArray[Any], columns: Any = slice(None)) -> Floats:
        """Undo the scaling only, so that logarithms stay such."""
        spread, center = np.array(self.spread)[columns], np.array(self.center)[columns]
        return values * spread + center

    def in_matrix_units(self, values: Floats, columns: Any) -> Floats:
        """Put numbers of the table, of the columns at places, in the matrix's units."""
        if self.log:
            is_logged = self.is_logged[columns]
            sizes = np.where(is_logged, values + np.array(self.offset)[columns], 1.0)
            sizes = np.maximum(sizes, np.finfo(float).tiny)
            values = np.where(is_logged, np.log(sizes), values)
        spread, center = np.array(self.spread)[columns], np.array(self.center)[columns]
        return (values - center) / spread


@dataclass(frozen=True)
class Prepared:
    """A table ready for a model.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n_kept, n_features)
        The rows that are kept.
    preparation : Preparation
        What was done.
    kept : ndarray of shape (n_rows,)
        Whether a row of the table is in X.
    reasons : dict
        Why a row, by its place in the table, is not, or is not as it was.
    filled : ndarray of shape (n_kept, n_features) or None
        Which numbers of X stand for missing values; None where there are none.
    ids : sequence or None
        What the rows of the table are called, if a column says so.
    notes : tuple of str
        What was done, in sentences.
    weights : ndarray of shape (n_kept,) or None
        What the rows of X count for.
    """

    X: Any
    preparation: Preparation
    kept: NDArray[np.bool_]
    reasons: Mapping[int, str]
    filled: NDArray[np.bool_] | None
    ids: Any
    notes: tuple[str, ...]
    weights: Floats | None = field(default=None, kw_only=True)


def prepare(
    table: AnyTable | sparse.csr_array,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    id: str | None = None,
    missing: MissingPolicy = "error",
    scale: Scale = "auto",
    log: Log = (),
    weights: Floats | str | None = None,
) -> Prepared:
    """Choose columns, treat missing values and scale.

    Without `columns`, all columns of numbers are used; text, dates, identifiers and
    labels are left out and named. Identifiers are whole numbers in a column named so
    (``id``, ``customer_id``, or ``Sample Number`` if nearly all differ), that count the
    rows, also if some rows are gone, or with digits that a number would not keep;
    labels are few whole numbers in a column called ``class``, ``label``, ``target`` and
    the like. `columns` can ask for both. A column of which at least nine cells in ten
    are numbers is one of numbers: what else is in there is an error, or missing. A
    table without names, an array, is used whole but for text and row numbers.

    Parameters
    ----------
    table : Sheet, Frame or CSR matrix
        The table.
    columns : sequence of str, default=None
        The columns to use, in this order.
    drop : sequence of str, default=()
        Columns not to use.
    id : str, default=None
        The column that holds the names of the rows; it is not used unless `columns`
        names it. None takes the first column of short text that differs in all rows.
    missing : "error", "drop" or "median", or dict, default="error"
        How missing values, infinite ones and those that are not numbers are handled,
        in all columns or by name, where ``"*"`` stands for all others. Where rows are
        dropped, columns that are mostly empty are left out, unless they are named.
    scale : "auto", "none", "standard" or "robust", default="auto"
        How columns are scaled, see `find_scaling`.
    log : sequence of str or "auto", default=()
        Columns whose logarithm is used, see `find_logarithms`.
    weights : ndarray of shape (n_rows,) or str, default=None
        What rows count for, or the column that says so, which is then not used.

    Returns
    -------
    Prepared
        The matrix, and all that is needed to go back.

    Raises
    ------
    InputError
        If there is nothing to compute with, with what to do about it.
    """
    check_policy(missing)
    check_choice("scale", scale, SCALES)
    if sparse.issparse(table):
        by_name = None if isinstance(missing, str) else [*missing]
        refuse_names(
            columns=columns,
            drop=drop,
            id=id,
            missing=by_name,
            log=log,
            sample_weight=weights,
        )
        return prepare_sparse(table, missing, scale, weights)
    check_names_known(table, drop, id, missing)
    unused: set[str | None] = {*drop, id}
    if isinstance(weights, str):
        unused.add(weights)
        weights = weights_in(table, weights)
    if columns is None:
        X, chosen, notes = choose_numbers(table, unused, missing)
    else:
        chosen = choose_named(table, columns, drop)
        X, notes = as_matrix(chosen, ways_for(missing, chosen))
    if id is None:
        used = [column.name for column in chosen]
        id, told = choose_id(table, [*used, *filter(None, unused)])
        notes += told
    ids = find_ids(table, id)
    ways = ways_for(missing, chosen)
    fill = medians(X, weights) if "median" in ways else ()
    imputed = impute(
        X, chosen, ways, fill, notes, ids=ids, are_named=columns is not None
    )
    notes += note_on_repeats(imputed.X)
    if weights is not None:
        weights = weights[imputed.kept]
    fill = fill or medians(imputed.X, weights)
    found, told = find_units(chosen, imputed.X, fill, weights, log=log, scale=scale)
    preparation = replace(
        found,
        missing=missing,
        n_unnamed=0 if getattr(table, "is_named", True) else len(table.names),
        id=id or "",
    )
    return finished(imputed, preparation, ids, [*notes, *told], weights)


def find_units(
    columns: Sequence[Column],
    X: Floats,
    fill: tuple[float, ...],
    weights: Floats | None,
    *,
    log: Log,
    scale: Scale,
) -> tuple[Preparation, list[str]]:
    """Decide on logarithms and on scaling, and say so."""
    names = tuple(column.name for column in columns)
    logs = find_logarithms(log, columns, X)
    found = unscaled(names, log=logs.names, offset=logs.offset)
    middles = found.scaled(np.array([fill]))[0]
    if logs.names:
        X = found.scaled(X.copy())
    scaling = find_scaling(X, names, middles, scale, weights)
    found = replace(
        found,
        fill=fill,
        scale=scaling.method,
        center=tuple(scaling.center.tolist()),
        spread=tuple(scaling.spread.tolist()),
    )
    return found, [*logs.notes, *scaling.notes]


def choose_numbers(
    table: AnyTable, unused: set[str | None], missing: MissingPolicy
) -> tuple[Floats, list[Column], list[str]]:
    """Return all columns of numbers, and say what is left out."""
    chosen, notes = choose(table, unused)
    X, faults = as_matrix(chosen, ways_for(missing, chosen))
    X, chosen, told = leave_out_mostly_empty(X, chosen, missing)
    return X, chosen, [note_used(chosen), *notes, *faults, *told]


def check_names_known(
    table: AnyTable, drop: Sequence[str], id: str | None, missing: MissingPolicy
) -> None:
    """Refuse names that no column has."""
    find_ids(table, id)
    for name in drop:
        check_known(table, name, "drop")
    for name in by_column(missing).keys() - {OTHERS}:
        check_known(table, name, "missing")


def weights_in(table: AnyTable, name: str) -> Floats:
    """Return the weights that a column holds."""
    check_known(table, name, "sample_weight")
    column = ask_for(table, name)
    X, _ = as_matrix([column], ["error"])
    impute(X, [column], ["error"], (), [])
    if X.min() < 0:
        raise InputError(
            f"sample_weight={name!r} holds {X.min():g} in row {int(X.argmin()) + 1:,}; "
            "expected weights of at least 0."
        )
    return X[:, 0].copy()


def refuse_names(**parameters: Any) -> None:
    """Refuse names where there are no columns that could have them."""
    for parameter, value in parameters.items():
        if isinstance(value, str) or (isinstance(value, Sequence) and value):
            raise InputError(
                f"{parameter}={value!r} names columns, and a CSR matrix has no names; "
                f"leave {parameter} out, or pass a frame."
            )


def prepare_sparse(
    X: sparse.csr_array, missing: MissingPolicy, scale: Scale, weights: Any
) -> Prepared:
    """Prepare a CSR matrix, whose zeros stay zeros: it is scaled but never shifted.

    ``scale="auto"`` leaves it as it is, since entries of a sparse matrix, such as
    counts of words, mostly share one unit.
    """
    n_columns = X.shape[1]
    imputed, notes = impute_sparse(X, missing, None, weights)
    if weights is not None:
        weights = weights[imputed.kept]
    method: Scale = "none" if scale == "auto" else scale
    preparation = Preparation(
        columns=tuple(f"x{j}" for j in range(n_columns)),
        missing=missing,
        fill=imputed.fill,
        scale=method,
        center=(0.0,) * n_columns,
        spread=sparse_spreads(imputed.X, method, weights),
        n_unnamed=n_columns,
        offset=(0.0,) * n_columns,
    )
    return finished(imputed, preparation, None, notes, weights)


def finished(
    imputed: Imputed,
    preparation: Preparation,
    ids: Any,
    notes: Sequence[str],
    weights: Floats | None = None,
) -> Prepared:
    """Scale what has no missing values any more."""
    return Prepared(
        preparation.scaled(imputed.X),
        preparation,
        imputed.kept,
        imputed.reasons,
        imputed.filled,
        ids,
        tuple(notes),
        weights=weights,
    )


def check_policy(missing: MissingPolicy) -> None:
    """Refuse what does not say what becomes of missing values."""
    if not is_policy(missing):
        raise InputError(
            f"missing={missing!r} is not valid; expected error, drop or median, or one "
            "of these by the name of a column."
        )


def check_choice(parameter: str, value: str, choices: Sequence[str]) -> None:
    """Refuse a value that is not among the choices."""
    if value not in choices:
        raise InputError(
            f"{parameter}={value!r} is not valid; expected {', '.join(choices)}."
        )


def unscaled(
    columns: Sequence[str],
    n_unnamed: int = 0,
    *,
    log: tuple[str, ...] = (),
    offset: Sequence[float] | Floats = (),
) -> Preparation:
    """Return the preparation of a table whose numbers are used as they are.

    Or their logarithms, in some columns.
    """
    n = len(columns)
    return Preparation(
        columns=tuple(columns),
        missing="error",
        fill=(0.0,) * n,
        scale="none",
        center=(0.0,) * n,
        spread=(1.0,) * n,
        n_unnamed=n_unnamed,
        log=log,
        offset=tuple(map(float, offset)) or (0.0,) * n,
    )


PARTS = {part.name for part in fields(Preparation)}
LISTS = ("fill", "offset", "center", "spread")


def is_preparation(content: Any) -> bool:
    """Whether plain data are a preparation, whole and sound."""
    if not isinstance(content, dict) or content.keys() != PARTS:
        return False
    columns, n_unnamed = content["columns"], content["n_unnamed"]
    if not isinstance(content["id"], str) or not is_list_of(content["log"], str):
        return False
    if not set(content["log"]) <= set(columns):
        return False
    if not is_list_of(columns, str) or len(set(columns)) != len(columns) or not columns:
        return False
    if type(n_unnamed) is not int or n_unnamed < 0:
        return False
    if n_unnamed and not set(columns) <= {f"x{j}" for j in range(n_unnamed)}:
        return False
    lists = [content[key] for key in LISTS]
    return (
        is_policy(content["missing"])
        and content["scale"] in SCALES
        and content["scale"] != "auto"
        and all(is_list_of(numbers, float) for numbers in lists)
        and all(len(numbers) == len(columns) for numbers in lists)
        and all(math.isfinite(number) for numbers in lists for number in numbers)
        and all(number > 0 for number in content["spread"])
        and all(number >= 0 for number in content["offset"])
    )


def is_list_of(value: Any, kind: type) -> bool:
    """Whether a value is a list of nothing but the type."""
    return isinstance(value, list) and all(type(item) is kind for item in value)
