"""Missing values: cells without a number, and what becomes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rtkm._number_text import counted
from rtkm.tables.columns import Column, shown_cell
from rtkm.tables.messages import InputError, listed, shown
from rtkm.tables.scaling import Values

Missing = Literal["error", "drop", "median"]
POLICIES: tuple[Missing, ...] = get_args(Missing)


class Imputed(NamedTuple):
    """Numbers without gaps, which rows they are of, and what became of the gaps."""

    X: Any
    kept: NDArray[np.bool_]
    reasons: dict[int, str]
    filled: NDArray[np.bool_] | None
    fill: tuple[float, ...] = ()


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
            f"{text}; correct the table, leave the column out with drop=, or count "
            "such cells as missing with missing='drop' or missing='median'."
        )
    return f"{text[0].upper()}{text[1:]}; counted as missing."


def medians(
    X: NDArray[np.float64], weights: NDArray[np.float64] | None = None
) -> tuple[float, ...]:
    """Return the median of what is there in each column."""
    return tuple(median(X[:, j], weights) for j in range(X.shape[1]))


def median(
    values: NDArray[np.float64], weights: NDArray[np.float64] | None = None
) -> float:
    """Return the median of what is there, or 0 where nothing is."""
    there = ~np.isnan(values)
    column = Values.of(values[there], None if weights is None else weights[there])
    return column.median() if len(column.values) else 0.0


def impute(
    X: NDArray[np.float64],
    columns: Sequence[Column],
    missing: Missing,
    fill: Sequence[float],
    notes: list[str],
) -> Imputed:
    """Leave rows with missing values out, or fill them in."""
    gaps = np.isnan(X)
    kept = np.logical_not(gaps.any(axis=1))
    if kept.all():
        return Imputed(X, kept, {}, None)
    where = where_missing(gaps, columns)
    if missing == "error":
        first = int(np.flatnonzero(~kept)[0]) + 1
        raise InputError(
            f"{counted(int(gaps.sum()), 'missing value')} (NaN): {where}, the first in "
            f"row {first:,}; choose missing='drop' to leave such rows out or "
            "missing='median' to fill them in."
        )
    if missing == "median":
        np.copyto(X, np.array(fill), where=gaps)
        notes.append(f"Filled in medians for missing values: {where}.")
        told = tell_gaps(gaps, columns, "filled in")
        return Imputed(X, np.ones_like(kept), told, gaps)
    if not kept.any():
        raise InputError(
            f"every row has a missing value ({where}); choose missing='median', or "
            "leave columns out with drop=."
        )
    rows = counted(int((~kept).sum()), "row")
    notes.append(f"Left out {rows} with missing values: {where}.")
    return Imputed(X[kept], kept, tell_gaps(gaps, columns, "no number in"), None)


def where_missing(gaps: NDArray[np.bool_], columns: Sequence[Column]) -> str:
    """Count missing values by column."""
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


# CSR matrices


def impute_sparse(
    X: sparse.csr_array,
    missing: Missing,
    fill: Sequence[float] | None,
    weights: NDArray[np.float64] | None = None,
) -> tuple[Imputed, list[str]]:
    """Leave rows of a CSR matrix with missing values out, or fill them in.

    Without `fill`, medians are those of the columns, zeros included.
    """
    n_rows, n_columns = X.shape
    bad = ~np.isfinite(X.data)
    kept = np.ones(n_rows, dtype=bool)
    medians = (0.0,) * n_columns if fill is None else tuple(fill)
    if not bad.any():
        return Imputed(X, kept, {}, None, medians), []
    rows = np.repeat(np.arange(n_rows), np.diff(X.indptr))[bad]
    columns = X.indices[bad]
    where = f"first in row {rows[0] + 1:,}, column {columns[0]}"
    count = counted(len(rows), "missing value")
    if missing == "error":
        raise InputError(
            f"{count} (NaN or infinite), {where}; choose missing='drop' to leave such "
            "rows out or missing='median' to fill them in."
        )
    if missing == "median":
        X = X.copy()
        if fill is None:
            medians = sparse_medians(X, set(columns.tolist()), weights)
        X.data[bad] = np.array(medians)[columns]
        return Imputed(X, kept, {}, None, medians), [f"Filled in {count}: {where}."]
    kept[rows] = False
    if not kept.any():
        raise InputError("every row has a missing value; choose missing='median'.")
    notes = [f"Left out {counted(int((~kept).sum()), 'row')} with {count}: {where}."]
    reasons = dict.fromkeys(rows.tolist(), "a missing value")
    return Imputed(X[kept], kept, reasons, None, medians), notes


def sparse_medians(
    X: sparse.csr_array, columns: set[int], weights: NDArray[np.float64] | None
) -> tuple[float, ...]:
    """Return the medians of some columns of a CSR matrix, and 0 for the others."""
    by_column = X.tocsc()
    found = [0.0] * X.shape[1]
    for j in columns:
        values = by_column[:, [j]].toarray().ravel()
        values[np.isinf(values)] = np.nan
        found[j] = median(values, weights)
    return tuple(found)
