"""The formats of tables: names, endings, how they begin, and what reads them.

A new input format is a reader and a line in `FORMATS`, and one less in `OTHERS` of
`reading.py`, if that has refused it so far. Which format a table has is told by how its
content begins, so that it is the same through a pipe; endings are for names of files.
Text tables begin in no way of their own, and have `text.py` to themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rtkm.tables.arrow import pa, pa_parquet
from rtkm.tables.damage import told_as_damage
from rtkm.tables.grid import Asked
from rtkm.tables.json_tables import begins_json, read_json
from rtkm.tables.messages import InputError
from rtkm.tables.packing import packing_for
from rtkm.tables.sheet import Sheet, check_size, default_names, unique_names
from rtkm.tables.source import Source
from rtkm.tables.workbooks import is_zip, read_workbook


class Format(NamedTuple):
    """A format that says itself what is in a table, or text."""

    name: str
    endings: tuple[str, ...]
    begins: Callable[[bytes], object] = lambda sample: True
    reader: Callable[[Source, Asked], Sheet] | None = None


def format_of(sample: bytes) -> Format:
    """Return the format of a table that begins so."""
    return next(f for f in FORMATS if f.begins(sample))


def binary(
    name: str, endings: tuple[str, ...], magic: bytes, reader: Callable[[Source], Any]
) -> Format:
    """Return a format whose reader makes a table of pyarrow."""

    def read(source: Source, _: Asked) -> Sheet:
        with told_as_damage(source.name, name):
            table = reader(source.in_memory())
        names, notes = unique_names(table.column_names)
        check_size(source.name, table)
        return Sheet(
            source.name, name, table.rename_columns(names), None, notes, source
        )

    return Format(name, endings, re.compile(re.escape(magic)).match, read)


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
    binary("Parquet", (".parquet", ".pq"), b"PAR1", read_parquet),
    binary("Arrow", (".arrow", ".feather", ".ipc"), b"ARROW1", read_arrow),
    binary("Arrow stream", (".arrows",), b"\xff\xff\xff\xff", read_stream),
    binary("npy", (".npy",), b"\x93NUMPY", read_npy),
    Format("workbook", (".xlsx", ".xlsm", ".ods"), is_zip, read_workbook),
    Format("JSON", (".json", ".jsonl", ".ndjson"), begins_json, read_json),
    Format("CSV", (".csv", ".tsv", ".txt")),
)
PARQUET_ENDINGS = FORMATS[0].endings


def is_named_table(name: str) -> bool:
    """Whether a file is a table by its name, compressed or not."""
    path = Path(name)
    if packing_for(path) is not None:
        path = path.with_suffix("")
    return any(path.suffix.lower() in each.endings for each in FORMATS)
