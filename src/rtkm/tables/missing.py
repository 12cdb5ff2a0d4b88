"""Missing values: cells without a number, and what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rtkm._number_text import counted, percent
from rtkm.tables.columns import Column, shown_cell, text_of
from rtkm.tables.messages import InputError, listed, shown
from rtkm.tables.scaling import Values

Missing = Literal["error", "drop", "median"]
WAYS: tuple[Missing, ...] = get_args(Missing)
# one way for all columns, or one for each by its name
MissingPolicy = Missing | Mapping[str, Missing]
OTHERS = "*"  # the columns that no other name stands for

MOSTLY_EMPTY = 0.5  # share of missing values from which on a column is left out
MUCH_LOST = 0.1  # share of rows from which on a message says how to keep them


class Imputed(NamedTuple):
    """Numbers without gaps, which rows they are of, and what became of the gaps."""

    X: Any
    kept: NDArray[np.bool_]
    reasons: dict[int, str]
    filled: NDArray[np.bool_] | None
    n_missing: NDArray[np.int64]
    fill: tuple[float, ...] = ()


# What is to become of missing values


def is_policy(value: Any) -> bool:
    """Whether a value says what becomes of missing values."""
    if isinstance(value, str):
        return value in WAYS
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and isinstance(way, str) and way in WAYS
        for name, way in value.items()
    )


def check_policy(missing: MissingPolicy) -> None:
    """Refuse what does not say what becomes of missing values."""
    if not is_policy(missing):
        raise InputError(
            f"missing={missing!r} is not valid; expected error, drop or median, or one "
            "of these by the name of a column."
        )


def by_column(policy: MissingPolicy) -> dict[str, Missing]:
    """Return a policy by the names of columns, and for all others.

    Examples
    --------
    >>> by_column("drop"), by_column({"age": "median"})
    ({'*': 'drop'}, {'*': 'error', 'age': 'median'})
    """
    if isinstance(policy, str):
        return {OTHERS: policy}
    return {OTHERS: "error", **policy}


def ways_for(policy: MissingPolicy, columns: Sequence[Column]) -> list[Missing]:
    """Return what is to become of the missing values of each column."""
    ways = by_column(policy)
    return [ways.get(column.name, ways[OTHERS]) for column in columns]


def as_matrix(
    columns: Sequence[Column], ways: Sequence[Missing], n_rows: int
) -> tuple[NDArray[np.float64], list[str]]:
    """Return the numbers, NaN where there is none that can be used, and notes."""
    X = np.empty((n_rows, len(columns)))
    notes = []
    for j, (column, way) in enumerate(zip(columns, ways, strict=True)):
        X[:, j] = column.floats()
        strange = column.strange_rows()
        infinite = np.flatnonzero(np.isinf(X[:, j]))
        if len(strange):
            cells = (f"{shown_cell(column, i)} in row {i + 1}" for i in strange)
            what = f"{counted(len(strange), 'cell')} that no number can be read from"
            notes.append(fault(column, what, listed(cells, len(strange), 3), way))
        if len(infinite):
            rows = (f"row {i + 1}" for i in infinite)
            what = counted(len(infinite), "infinite cell")
            notes.append(fault(column, what, listed(rows, len(infinite), 3), way))
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


def leave_out_mostly_empty(
    X: NDArray[np.float64], columns: Sequence[Column], policy: MissingPolicy
) -> tuple[NDArray[np.float64], list[Column], list[str]]:
    """Leave out columns, rather than most of the rows, and say so."""
    kept, notes = enough_there(np.isnan(X).sum(axis=0), len(X), columns, policy)
    if len(kept) == len(columns):
        return X, list(columns), notes
    return X[:, kept], [columns[j] for j in kept], notes


def enough_there(
    counts: NDArray[np.int64],
    n_rows: int,
    columns: Sequence[Column],
    policy: MissingPolicy,
) -> tuple[list[int], list[str]]:
    """Return the places of columns that are not mostly empty, and name the others.

    Those stay that the policy names, and all where all of them are mostly empty.
    """
    named = () if isinstance(policy, str) else policy
    is_to_drop = np.array(
        [
            way == "drop" and column.name not in named
            for way, column in zip(ways_for(policy, columns), columns, strict=True)
        ],
        dtype=bool,
    )
    empty = are_mostly_empty(counts, n_rows) & is_to_drop
    if not empty.any() or empty.all():
        return [*range(len(columns))], []
    places = np.flatnonzero(empty).tolist()
    cells = (
        f"{shown(columns[j].name)} ({counts[j]:,} of {counted(n_rows, 'cell')} missing)"
        for j in places
    )
    note = (
        f"Left out mostly empty columns: {listed(cells, len(places))}. Name them in "
        "columns= or missing= to keep them."
    )
    return np.flatnonzero(~empty).tolist(), [note]


def mostly_empty(X: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return the columns of which most cells are missing."""
    return are_mostly_empty(np.isnan(X).sum(axis=0), len(X))


def are_mostly_empty(counts: NDArray[np.int64], n_rows: int) -> NDArray[np.bool_]:
    """Return the columns of which most cells are missing, given how many are."""
    return np.asarray(counts / n_rows > MOSTLY_EMPTY)


def impute(
    X: NDArray[np.float64],
    columns: Sequence[Column],
    ways: Sequence[Missing],
    fill: Sequence[float],
    notes: list[str],
    *,
    ids: Any = None,
    are_named: bool = True,
) -> Imputed:
    """Leave rows with missing values out, or fill them in.

    `ids` are what rows are called, if anything. Of columns that nobody named, those
    that are mostly empty can be left out.
    """
    gaps = np.isnan(X)
    n_missing = gaps.sum(axis=0)
    if not n_missing.any():
        return Imputed(X, np.ones(len(X), dtype=bool), {}, None, n_missing)
    way = np.array(ways)
    if gaps[:, way == "error"].any():
        spared = np.zeros(len(columns), dtype=bool) if are_named else mostly_empty(X)
        refuse_gaps(gaps * (way == "error"), spared, columns, ids)
    lost, filled = gaps * (way == "drop"), gaps * (way == "median")
    kept = ~lost.any(axis=1)
    if not kept.any():
        raise no_row_left(lost.sum(axis=0), columns)
    told: dict[int, str] = {}
    if filled.any():
        np.copyto(X, np.array(fill), where=filled)
        notes.append(note_on_filled(filled.sum(axis=0), columns))
        told |= tell_gaps(filled, columns, "filled in")
    if not kept.all():
        notes.append(note_on_lost_rows(count_lost(lost), columns))
        told |= tell_gaps(lost, columns, "no number in")
        X = X[kept]
    return Imputed(X, kept, told, filled[kept] if filled.any() else None, n_missing)


def refuse_gaps(
    gaps: NDArray[np.bool_],
    spared: NDArray[np.bool_],
    columns: Sequence[Column],
    ids: Any,
) -> None:
    """Refuse missing values, and tell what each way to treat them would cost.

    To drop rows would leave out the columns that are spared, if not all are.
    """
    spared = spared & ~spared.all()
    first = int(np.argmax(gaps.any(axis=1)))
    name = "" if ids is None else f" ({shown(text_of(ids[first]))})"
    n_lost = int(gaps[:, ~spared].any(axis=1).sum())
    raise too_many_gaps(
        Lost(len(gaps), n_lost, gaps.sum(axis=0)),
        f"{first + 1:,}{name}",
        spared,
        columns,
    )


class Lost(NamedTuple):
    """Rows that cells without a number make useless, and these cells by column."""

    n_rows: int
    n_lost: int
    counts: Any
    n_alone: Any = 0  # rows lost for nothing but a column, by column

    def and_of(self, more: Lost) -> Lost:
        """Return those of these rows and of more."""
        return Lost(*(a + b for a, b in zip(self, more, strict=True)))


def count_lost(lost: NDArray[np.bool_]) -> Lost:
    """Count rows of which some cells are useless."""
    n_of_row = lost.sum(axis=1)
    n_alone = lost[n_of_row == 1].sum(axis=0)
    return Lost(len(lost), int((n_of_row > 0).sum()), lost.sum(axis=0), n_alone)


def too_many_gaps(
    gaps: Lost, first: str, spared: NDArray[np.bool_], columns: Sequence[Column]
) -> InputError:
    """Return what is said of missing values that nobody said what to do with."""
    n_gaps = int(gaps.counts.sum())
    rows = counted(gaps.n_rows, "row")
    costs = [f"{gaps.n_lost:,} of {rows}"] if gaps.n_lost else []
    if spared.any():
        names = [shown(columns[j].name) for j in np.flatnonzero(spared).tolist()]
        costs.append(f"{listed(names, len(names))}, mostly empty")
    where = where_missing(gaps.counts, columns)
    return InputError(
        f"{counted(n_gaps, 'missing value')} (NaN): {where}, the first in row {first}; "
        f"choose missing='drop' to leave out {' and '.join(costs)}, or "
        f"missing='median' to fill in {counted(n_gaps, 'cell')}."
    )


def no_row_left(counts: NDArray[np.int64], columns: Sequence[Column]) -> InputError:
    """Return what is said of a table without a single whole row."""
    return InputError(
        f"every row has a missing value ({where_missing(counts, columns)}); choose "
        "missing='median', or leave columns out with drop=."
    )


def note_on_filled(counts: NDArray[np.int64], columns: Sequence[Column]) -> str:
    """Say where medians were filled in."""
    where = where_missing(counts, columns)
    return f"Filled in medians for missing values: {where}."


def note_on_lost_rows(lost: Lost, columns: Sequence[Column]) -> str:
    """Say how many rows are left out, and where they are many how to keep them."""
    text = f"Left out {counted(lost.n_lost, 'row')} with missing values: "
    text += f"{where_missing(lost.counts, columns)}."
    if lost.n_lost <= MUCH_LOST * lost.n_rows:
        return text
    worst = int(lost.counts.argmax())
    text += (
        f" That is {percent(lost.n_lost / lost.n_rows)} of all rows; missing='median' "
        f"would fill in {counted(int(lost.counts.sum()), 'cell')} instead"
    )
    if not lost.n_alone[worst]:
        return f"{text}."
    n_without = lost.n_lost - int(lost.n_alone[worst])
    rows = counted(n_without, "row") if n_without else "no row"
    return f"{text}, and without {shown(columns[worst].name)} {rows} would be left out."


def where_missing(counts: NDArray[np.int64], columns: Sequence[Column]) -> str:
    """Tell missing values by column."""
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
    missing: MissingPolicy,
    fill: Sequence[float] | None,
    weights: NDArray[np.float64] | None = None,
) -> tuple[Imputed, list[str]]:
    """Leave rows of a CSR matrix with missing values out, or fill them in.

    Without `fill`, medians are those of the columns, zeros included.
    """
    n_rows, n_columns = X.shape
    bad = ~np.isfinite(X.data)
    kept = np.ones(n_rows, dtype=bool)
    n_missing = np.bincount(X.indices[bad], minlength=n_columns)
    medians = (0.0,) * n_columns if fill is None else tuple(fill)
    if not bad.any():
        return Imputed(X, kept, {}, None, n_missing, medians), []
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
        told = [f"Filled in {count}: {where}."]
        return Imputed(X, kept, {}, None, n_missing, medians), told
    kept[rows] = False
    if not kept.any():
        raise InputError("every row has a missing value; choose missing='median'.")
    notes = [f"Left out {counted(int((~kept).sum()), 'row')} with {count}: {where}."]
    reasons = dict.fromkeys(rows.tolist(), "a missing value")
    return Imputed(X[kept], kept, reasons, None, n_missing, medians), notes


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
