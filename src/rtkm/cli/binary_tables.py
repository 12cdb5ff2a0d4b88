"""Tables that say themselves what is in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rtkm.cli.arrow import pa, pa_parquet
from rtkm.cli.messages import InputError
from rtkm.cli.sheet import Sheet, check_size, default_names, unique_names
from rtkm.cli.source import Source

# what damaged files make their readers raise, besides what pyarrow has for it
DAMAGE = (OSError, ValueError, KeyError, MemoryError, OverflowError, EOFError)
MAGIC = {
    b"PAR1": "Parquet",
    b"ARROW1": "Arrow",
    b"\xff\xff\xff\xff": "Arrow stream",
    b"\x93NUMPY": "npy",
}


def read_binary(source: Source, kind: str) -> Sheet:
    """Read a table that says itself what is in it."""
    try:
        table = BINARY_READERS[kind](source)
    except InputError:
        raise
    except (pa.ArrowException, *DAMAGE) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        raise InputError(
            f"{source.name} cannot be read as {kind} ({reason[:200]}); it may be "
            "damaged or cut short."
        ) from None
    names, notes = unique_names(table.column_names)
    check_size(source.name, table)
    return Sheet(source.name, kind, table.rename_columns(names), None, notes, source)


def read_parquet(source: Source) -> Any:
    """Read a Parquet file."""
    with source.open_for_arrow() as stream:
        return pa_parquet.ParquetFile(stream).read()


def read_arrow(source: Source) -> Any:
    """Read an Arrow file, which is what Feather files are."""
    with source.open_for_arrow() as stream, pa.ipc.open_file(stream) as batches:
        return batches.read_all()


def read_stream(source: Source) -> Any:
    """Read Arrow's format for pipes."""
    with source.open_for_arrow() as stream, pa.ipc.open_stream(stream) as batches:
        return batches.read_all()


def read_npy(source: Source) -> Any:
    """Read an array of NumPy, without running what a pickle says."""
    with source.open() as stream:
        array = np.load(stream, allow_pickle=False)
    if array.dtype.names is not None and array.ndim == 1:
        return pa.table({n: np.ascontiguousarray(array[n]) for n in array.dtype.names})
    if array.dtype.kind not in "biuf" or array.ndim not in (1, 2):
        raise InputError(
            f"{source.name} holds an array of {array.dtype} and shape "
            f"{array.shape}; expected numbers in rows and columns."
        )
    array = array.reshape(len(array), -1) if array.ndim == 1 else array
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    columns = [np.ascontiguousarray(native[:, j]) for j in range(native.shape[1])]
    return pa.table(columns, names=default_names(len(columns)))


BINARY_READERS = {
    "Parquet": read_parquet,
    "Arrow": read_arrow,
    "Arrow stream": read_stream,
    "npy": read_npy,
}
