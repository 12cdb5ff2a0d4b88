"""From a table to a matrix of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rtkm.tables.categories import find_categories
from rtkm.tables.category_features import usual_cells, with_categories
from rtkm.tables.columns import Column
from rtkm.tables.fitted_preparation import (
    Preparation,
    Prepared,
    beside,
    finished,
    unscaled,
)
from rtkm.tables.logarithms import Log, find_logarithms
from rtkm.tables.messages import InputError, shown
from rtkm.tables.missing import (
    OTHERS,
    MissingPolicy,
    as_matrix,
    by_column,
    check_policy,
    impute,
    impute_sparse,
    leave_out_mostly_empty,
    ways_for,
)
from rtkm.tables.repeats import note_on_repeats
from rtkm.tables.scaling import SCALES, Scale, find_scaling, sparse_spreads
from rtkm.tables.select import (
    ask_for,
    check_known,
    check_logged,
    choose,
    choose_id,
    choose_named,
    find_ids,
    note_used,
)
from rtkm.tables.sheet import AnyTable

Floats = NDArray[np.float64]


def prepare(
    table: AnyTable | sparse.csr_array,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    id: str | None = None,
    missing: MissingPolicy = "error",
    scale: Scale = "auto",
    log: Log = (),
    categories: Sequence[str] = (),
    weights: Floats | str | None = None,
) -> Prepared:
    """Choose columns, treat missing values and scale.

    Without `columns`, all columns of numbers are used; text, dates, identifiers and
    labels are left out and named. Identifiers are whole numbers in a column named so
    (``id``, ``customer_id``, or ``Sample Number`` if nearly all differ or count up,
    perhaps group by group), that count the rows, also if some rows are gone, or with
    digits that a number would not keep; labels are few whole numbers in a column called
    ``class``, ``label``, ``target`` and the like. `columns` can ask for both. A column
    of which at least nine cells in ten are numbers is one of numbers: what else is in
    there is an error, or missing. A table without names, an array, is used whole but
    for text and row numbers.

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
    categories : sequence of str, default=()
        Columns of which each category becomes a feature, see `with_categories`.
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
        refuse_names(
            columns=columns,
            drop=drop,
            id=id,
            log=log,
            categories=categories,
            sample_weight=weights,
        )
        return prepare_sparse(table, missing, scale, weights)
    check_names_known(table, drop, id, missing)
    weights_name = weights if isinstance(weights, str) else None
    logged = () if isinstance(log, str) else log
    refuse_two_uses(
        categories, drop=drop, id=id, log=logged, sample_weight=weights_name
    )
    unused = {*drop, id, weights_name, *categories}
    if isinstance(weights, str):
        weights = weights_in(table, weights)
    if columns is None:
        X, numbers, notes = choose_numbers(table, unused, missing, categories)
    else:
        X, numbers, notes = take_named(table, columns, drop, missing, categories)
    check_logged(table, logged, [column.name for column in numbers])
    found = find_categories(table, categories)
    chosen = [*numbers, *found.columns]
    X = beside(X, found.places)
    if id is None:
        used = [column.name for column in chosen]
        id, told = choose_id(table, [*used, *filter(None, unused)])
        notes += told
    ids = find_ids(table, id)
    ways = ways_for(missing, chosen)
    fill = usual_cells(X, found, weights) if "median" in ways else ()
    imputed = impute(
        X, chosen, ways, fill, notes, ids=ids, are_named=columns is not None
    )
    notes += note_on_repeats(imputed.X)
    if weights is not None:
        weights = weights[imputed.kept]
    fill = fill or usual_cells(imputed.X, found, weights)
    n = len(numbers)
    X = imputed.X[:, :n]
    units, told = find_units(numbers, X, fill[:n], weights, log=log, scale=scale)
    if categories:
        units, more = with_categories(units, found, imputed.X, fill, weights)
        told = [*(told if numbers else []), *more]
    preparation = replace(
        units,
        missing=missing,
        n_unnamed=0 if getattr(table, "is_named", True) else len(table.names),
        id=id or "",
    )
    has_part = {*preparation.sources, id, weights_name}
    left_out = [name for name in table.names if name not in has_part]
    return finished(imputed, preparation, ids, [*notes, *told], weights, left_out)


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


def refuse_two_uses(categories: Sequence[str], **others: Any) -> None:
    """Refuse a column of categories that is to be something else, too."""
    for parameter, value in others.items():
        names = [value] if isinstance(value, str) else value or ()
        twice = [name for name in categories if name in names]
        if twice:
            raise InputError(
                f"column {shown(twice[0])} is named in both categories= and "
                f"{parameter}=; take it out of one."
            )


def take_named(
    table: AnyTable,
    columns: Sequence[str],
    drop: Sequence[str],
    missing: MissingPolicy,
    categories: Sequence[str],
) -> tuple[Floats, list[Column], list[str]]:
    """Return the columns of numbers asked for, and say what counts as missing."""
    unused = [*drop, *categories]
    chosen = choose_named(table, columns, unused, may_be_none=bool(categories))
    X, faults = as_matrix(chosen, ways_for(missing, chosen), table.n_rows)
    return X, chosen, faults


def choose_numbers(
    table: AnyTable,
    unused: set[str | None],
    missing: MissingPolicy,
    categories: Sequence[str],
) -> tuple[Floats, list[Column], list[str]]:
    """Return all columns of numbers, and say what is left out.

    There may be none if there are categories.
    """
    chosen, notes = choose(table, unused, may_be_none=bool(categories))
    X, faults = as_matrix(chosen, ways_for(missing, chosen), table.n_rows)
    X, chosen, told = leave_out_mostly_empty(X, chosen, missing)
    used = [note_used(chosen)] if chosen else []
    return X, chosen, [*used, *notes, *faults, *told]


def check_names_known(
    table: AnyTable, drop: Sequence[str], id: str | None, missing: MissingPolicy
) -> None:
    """Refuse names that no column has."""
    if id is not None:
        check_known(table, id, "id")
    for name in drop:
        check_known(table, name, "drop")
    for name in by_column(missing).keys() - {OTHERS}:
        check_known(table, name, "missing")


def weights_in(table: AnyTable, name: str) -> Floats:
    """Return the weights that a column holds."""
    check_known(table, name, "sample_weight")
    column = ask_for(table, name)
    X, _ = as_matrix([column], ["error"], table.n_rows)
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
    if not isinstance(missing, str):
        refuse_names(missing=[*missing])
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


def check_choice(parameter: str, value: str, choices: Sequence[str]) -> None:
    """Refuse a value that is not among the choices."""
    if value not in choices:
        raise InputError(
            f"{parameter}={value!r} is not valid; expected {', '.join(choices)}."
        )
