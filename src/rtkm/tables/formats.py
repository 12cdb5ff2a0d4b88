"""The formats of tables: names, endings, how they begin, and what reads them.

A new input format is a reader and a line in `FORMATS`, and one less in `OTHERS` of
`reading.py`, if that has refused it so far (as Excel's). Which format a table has is
told by how its content begins, so that it is the same through a pipe; endings are for
names of files. Text tables begin in no way of their own, and have `text.py` to
themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rtkm.tables.arrow import pa, pa_parquet
from rtkm.tables.messages import InputError
from rtkm.tables.sheet import Sheet, check_size, default_names, unique_names
from rtkm.tables.source import Source

# what damaged files make their readers raise, besides what pyarrow has for it
DAMAGE = (OSError, ValueError, KeyError, MemoryError, OverflowError, EOFError)


class Format(NamedTuple):
    """A format that says itself what is in a table, or text."""

    name: str
    endings: tuple[str, ...]
    magic: bytes = b""
    reader: Callable[[Source], Any] | None = None


def format_of(sample: bytes) -> Format:
    """Return the format of a table that begins so."""
    return next(f for f in FORMATS if sample.startswith(f.magic))


def read_binary(source: Source, reader: Callable[[Source], Any], kind: str) -> Sheet:
    """Read a table that says itself what is in it."""
    try:
        table = reader(source)
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


# text last, since any content begins as it does
FORMATS = (
    Format("Parquet", (".parquet", ".pq"), b"PAR1", read_parquet),
    Format("Arrow", (".arrow", ".feather", ".ipc"), b"ARROW1", read_arrow),
    Format("Arrow stream", (".arrows",), b"\xff\xff\xff\xff", read_stream),
    Format("npy", (".npy",), b"\x93NUMPY", read_npy),
    Format("CSV", (".csv", ".tsv", ".txt")),
)
ENDINGS = tuple(ending for each in FORMATS for ending in each.endings)
PARQUET_ENDINGS = next(f.endings for f in FORMATS if f.name == "Parquet")
