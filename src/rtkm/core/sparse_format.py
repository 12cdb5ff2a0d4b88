"""Whether a sparse matrix is what it says: its parts can be set to anything."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_COLUMNS = np.iinfo(np.int32).max


def check_sparse_format(X: Any) -> None:
    """Refuse a sparse matrix whose parts contradict each other or its shape.

    Compiled code, SciPy's and scikit-learn's too, would read and write beyond them.
    """
    name = f"X is a malformed {X.format.upper()} matrix"
    if X.ndim != 2:
        raise ValueError(
            f"X is a sparse array of {X.ndim} dimensions; expected rows and columns."
        )
    if X.shape[1] > MOST_COLUMNS:
        raise ValueError(
            f"X has {X.shape[1]} columns; expected at most 2**31 - 1, so drop those "
            "without entries."
        )
    fault = CHECKS[X.format](X)
    if fault:
        raise ValueError(f"{name}: {fault}; build it anew from its entries.")


def is_canonical(X: Any) -> bool:
    """Whether the columns of each CSR row ascend, whatever the matrix says of it."""
    ascends = np.diff(X.indices[: X.indptr[-1]]) > 0
    first_of_row = X.indptr[1:-1]
    inside = (first_of_row > 0) & (first_of_row <= len(ascends))
    ascends[first_of_row[inside] - 1] = True
    return bool(ascends.all())


def fault_in_compressed(X: Any) -> str:
    """Say what is wrong with a matrix of rows, columns or blocks one after another."""
    blocks = getattr(X, "blocksize", (1, 1))
    shape = [size // of for size, of in zip(X.shape, blocks, strict=True)]
    n_major, n_minor = reversed(shape) if X.format == "csc" else shape
    what = "row" if X.format == "csc" else "column"
    return (
        fault_in_indptr(X.indptr, n_major)
        or fault_in_lengths(X, int(X.indptr[-1]))
        or fault_in_indices(X.indices[: X.indptr[-1]], n_minor, f"{what} index")
    )


def fault_in_indptr(indptr: Any, n_major: int) -> str:
    """Say what is wrong with the places where rows begin."""
    if np.ndim(indptr) != 1 or np.asarray(indptr).dtype.kind not in "iu":
        return f"its indptr is {described(indptr)}, expected integers"
    if len(indptr) != n_major + 1:
        return f"its indptr has length {len(indptr)}, expected {n_major + 1}"
    if indptr[0] != 0:
        return f"its indptr starts at {indptr[0]}, expected 0"
    falls = np.flatnonzero(indptr[1:] < indptr[:-1])
    if len(falls):
        i = falls[0]
        return f"its indptr falls from {indptr[i]} to {indptr[i + 1]} at {i + 1}"
    return ""


def fault_in_lengths(X: Any, n_entries: int) -> str:
    """Say which part is shorter than the indptr says."""
    for part in ("indices", "data"):
        array = getattr(X, part)
        if np.ndim(array) == 0 or len(array) < n_entries:
            return f"its {part} is {described(array)}, expected {n_entries} entries"
    return ""


def fault_in_indices(indices: Any, n: int, what: str) -> str:
    """Say which index is out of range."""
    if np.ndim(indices) != 1 or np.asarray(indices).dtype.kind not in "iu":
        return f"a {what} is {described(indices)}, expected integers"
    if len(indices) == 0:
        return ""
    low, high = int(np.min(indices)), int(np.max(indices))
    if low >= 0 and high < n:
        return ""
    return f"a {what} is {low if low < 0 else high}, expected 0 to {n - 1}"


def fault_in_coordinates(X: Any) -> str:
    """Say what is wrong with entries that come with their rows and columns."""
    coords = X.coords if X.format == "coo" else keys_of(X)
    for index, n, what in zip(coords, X.shape, ("row", "column"), strict=True):
        if X.format == "coo" and len(index) != len(X.data):
            return f"it has {len(X.data)} entries and {len(index)} {what} indices"
        fault = fault_in_indices(index, n, f"{what} index")
        if fault:
            return fault
    return ""


def keys_of(X: Any) -> NDArray[Any]:
    """Return the coordinates of the entries of a dictionary."""
    return np.array(list(X.keys()), dtype=np.int64).reshape(-1, 2).T


def fault_in_lists(X: Any) -> str:
    """Say what is wrong with a list of columns and one of values for each row."""
    if not len(X.rows) == len(X.data) == X.shape[0]:
        return f"it has {len(X.rows)} and {len(X.data)} lists for {X.shape[0]} rows"
    for i, (columns, values) in enumerate(zip(X.rows, X.data, strict=True)):
        if len(columns) != len(values):
            return f"row {i} has {len(columns)} columns and {len(values)} values"
        fault = fault_in_indices(
            np.array(columns, np.int64), X.shape[1], "column index"
        )
        if fault:
            return fault
    return ""


def fault_in_diagonals(X: Any) -> str:
    """Say what is wrong with a matrix of diagonals."""
    if np.ndim(X.data) != 2 or np.shape(X.offsets) != (len(X.data),):
        return f"it has {np.size(X.offsets)} offsets for {described(X.data)}"
    return ""


def described(array: Any) -> str:
    """Return the dtype and the shape of something like an array."""
    array = np.asarray(array)
    return f"{array.dtype} of shape {array.shape}"


CHECKS = {
    "csr": fault_in_compressed,
    "csc": fault_in_compressed,
    "bsr": fault_in_compressed,
    "coo": fault_in_coordinates,
    "dok": fault_in_coordinates,
    "lil": fault_in_lists,
    "dia": fault_in_diagonals,
}
