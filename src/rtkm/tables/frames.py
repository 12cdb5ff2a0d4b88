"""Tables in memory: frames of pandas and polars, arrays, and CSR matrices.

Nothing here needs pandas or pyarrow to be installed, but for one thing: text whose
cells are numbers is read by pyarrow.
"""

from __future__ import annotations

import datetime
import os
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from importlib.util import find_spec
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array

from rtkm.tables.arrow import pa
from rtkm.tables.cells import find_codes
from rtkm.tables.columns import (
    IDENTIFIER_NAME,
    LARGEST_EXACT,
    Column,
    counts_rows,
    glanced_rows,
    is_null,
    look_at,
    text_of,
)
from rtkm.tables.messages import InputError, shown
from rtkm.tables.numerals import is_number
from rtkm.tables.reading import read_table
from rtkm.tables.sheet import AnyTable, Sheet, check_size
from rtkm.tables.source import Source

NAME = "the table"


@dataclass(frozen=True)
class Frame:
    """A table in memory, under the names of its columns or, without any, x0, x1, ..."""

    columns: list[Any]  # something that NumPy makes an array of, for each column
    names: list[str]
    is_named: bool
    n_rows: int
    index: Any = None  # of a pandas frame

    name = NAME
    format = "in memory"
    dialect = None

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each column by its name."""
        return {name: place for place, name in enumerate(self.names)}

    def look(self, name: str) -> Column:
        """Find out what a column holds."""
        return look_at_values(*as_array(self.cells(name)), name)

    def cells(self, name: str) -> Any:
        """Return the cells of a column."""
        return self.columns[self.places[name]]


def as_table(given: Any) -> AnyTable | sparse.csr_array:
    """Return a table of any kind that a user may have, with its columns by name.

    Parameters
    ----------
    given : frame, array-like, CSR matrix, pyarrow.Table or path
        The table. A path is read as the command line does.
    """
    if isinstance(given, Sheet | Frame):
        return given
    if isinstance(given, str | os.PathLike):
        return read_table(given)
    if sparse.issparse(given):
        options = {"accept_sparse": "csr", "dtype": np.float64}
        return check_array(given, **options, ensure_all_finite=False)
    if hasattr(given, "column_names") and hasattr(given, "to_batches"):
        check_names(given.column_names)
        check_size(NAME, given)
        return Sheet(NAME, "Arrow", given, None, (), Source(NAME))
    if hasattr(given, "columns") and hasattr(given, "__getitem__"):
        return frame_of(given)
    X = check_array(given, dtype=None, ensure_all_finite=False)
    columns = [X[:, j] for j in range(X.shape[1])]
    names = [f"x{j}" for j in range(len(columns))]
    return Frame(columns, names, is_named=False, n_rows=len(X))


def frame_of(given: Any) -> Frame:
    """Return a frame of pandas or polars; like in scikit-learn, names are text."""
    names = list(given.columns)
    n_rows = len(given)
    if not names or not n_rows:
        raise InputError(
            f"{NAME} has {n_rows} rows and {len(names)} columns; expected at least "
            "one of each."
        )
    is_named = any(isinstance(name, str) for name in names)
    texts = [str(name) if is_named else f"x{j}" for j, name in enumerate(names)]
    check_names(texts)
    if hasattr(given, "iloc"):
        columns = [given.iloc[:, j] for j in range(len(names))]
    else:
        columns = [given[name] for name in names]
    return Frame(columns, texts, is_named, n_rows, getattr(given, "index", None))


def check_names(names: list[str]) -> None:
    """Refuse a name that two columns have."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(
                f"{NAME} has more than one column {shown(name)}; rename or drop one."
            )
        seen.add(name)


def as_array(cells: Any) -> tuple[NDArray[Any], str]:
    """Return a column as an array, NaN for what is missing, and what it holds.

    That is the kind of its type in NumPy's letters, also where missing values keep
    whole numbers and flags from being an array of such.
    """
    dtype: Any = getattr(cells, "dtype", None)
    kind = getattr(dtype, "kind", None)
    if kind in ("b", "i", "u", "f") and not isinstance(dtype, np.dtype):
        # a nullable type of pandas
        values = cells.to_numpy(dtype=np.float64, na_value=np.nan)
        whole = kind in ("i", "u") and not np.isnan(values).any()
        return (cells.to_numpy(dtype=np.int64) if whole else values), kind
    values = np.asarray(cells)
    if isinstance(dtype, np.dtype) or kind is not None:
        return values, values.dtype.kind
    if hasattr(dtype, "is_integer") and dtype.is_integer():  # polars
        return values, "i"
    return values, values.dtype.kind


def look_at_values(values: NDArray[Any], kind: str, name: str) -> Column:
    """Find out what a column in memory holds, by the rules of those in files."""
    if kind == "O" or values.dtype.kind == "O":
        return look_at_objects(values, name)
    if kind in ("U", "S", "T"):
        return look_at_cells([str(cell) for cell in values], name)
    if kind in ("M", "m"):
        return Column(name, "date", str(values[0]))
    if kind not in ("b", "i", "u", "f"):
        return Column(name, "nested", str(values.dtype))
    if values.dtype.kind == "f" and np.isnan(values).all():
        return Column(name, "empty")
    if kind == "b":
        return Column(name, "truth", numbers=values)
    if is_identifier(values, kind, name):
        return Column(name, "identifier", text_of(values[0]) or "", numbers=values)
    return Column(name, "number", numbers=values)


def is_identifier(values: NDArray[Any], kind: str, name: str) -> bool:
    """Whether whole numbers only name their rows.

    With a missing value among them, pandas makes floats of whole numbers.
    """
    if kind == "f" or values.dtype.kind == "f":
        there = values[~np.isnan(values)]
        has_gaps = len(there) < len(values)
        is_whole = has_gaps and bool((there == np.floor(there)).all())
        return is_whole and IDENTIFIER_NAME.search(name) is not None
    if IDENTIFIER_NAME.search(name):
        return True
    largest = max(-int(values.min()), int(values.max()))
    return largest > LARGEST_EXACT or counts_rows(values)


def look_at_objects(values: NDArray[Any], name: str) -> Column:
    """Find out what a column of Python objects holds."""
    there = [value for value in values if not is_null(value)]
    if not there:
        return Column(name, "empty")
    if all(isinstance(value, bool | np.bool_) for value in there):
        return Column(name, "truth", numbers=as_floats(values))
    if all(isinstance(value, Real | Decimal) for value in there):
        numbers = as_floats(values)
        whole = all(float(value).is_integer() for value in there)
        if whole and len(there) == len(values):
            largest = max(abs(int(value)) for value in there)
            if largest > LARGEST_EXACT:
                return Column(name, "identifier", str(there[0]), numbers=numbers)
            if all(isinstance(value, int | np.integer) for value in there):
                return look_at_values(numbers.astype(np.int64), "i", name)
        return Column(name, "number", numbers=numbers)
    if all(isinstance(value, datetime.date | datetime.time) for value in there):
        return Column(name, "date", str(there[0]))
    if all(isinstance(value, str | Real | Decimal) for value in there):
        return look_at_cells(
            [None if is_null(value) else str(value) for value in values], name
        )
    return Column(name, "nested", type(there[0]).__name__)


def as_floats(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return objects that are numbers, or missing, as floats."""
    return np.array([np.nan if is_null(v) else float(v) for v in values])


def look_at_cells(cells: list[str | None], name: str) -> Column:
    """Find out whether text is numbers, as people write them."""
    glance = [cells[row] or "" for row in glanced_rows(len(cells))]
    if find_spec("pyarrow") is None:
        there = [cell for cell in glance if cell.strip()]
        n_numbers = sum(map(is_number, there))
        if there and n_numbers < len(there) / 2:
            return Column(name, "text", there[0], raw=cells)
    codes = find_codes([[cell.strip()] for cell in glance])
    values = pa.chunked_array([pa.array(cells, pa.large_string())])
    return look_at(values, name, is_code=bool(codes))
