"""Tables of any common format, as columns."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from rtkm.cli.arrow import pa, pa_csv, pa_parquet
from rtkm.cli.dialect import (
    SAMPLE_BYTES,
    SINGLE_BYTE,
    Dialect,
    cells_of_any_length,
    find_dialect,
)
from rtkm.cli.messages import InputError, counted, listed, shown
from rtkm.cli.numerals import MISSING
from rtkm.cli.source import Source, find_source

BLOCK_BYTES = 2**22  # read at a time; a record must fit in
LARGEST_BLOCK = 2**30
LARGEST_SAMPLE = 2**26

# what damaged files make their readers raise, besides what pyarrow has for it
DAMAGE = (OSError, ValueError, KeyError, MemoryError, OverflowError, EOFError)

MAGIC = {
    b"PAR1": "Parquet",
    b"ARROW1": "Arrow",
    b"\xff\xff\xff\xff": "Arrow stream",
    b"\x93NUMPY": "npy",
}
OTHERS = {
    b"FEA1": "a Feather file of the old version 1; write it again as version 2",
    b"PK\x03\x04": "a zip archive or a workbook; save the sheet as CSV",
    b"\x1f\x8b": "compressed by gzip; unpack it first",
    b"BZh": "compressed by bzip2; unpack it first",
    b"\xfd7zXZ": "compressed by xz; unpack it first",
    b"\x28\xb5\x2f\xfd": "compressed by zstd; unpack it first",
    b"\xd0\xcf\x11\xe0": "an old workbook; save the sheet as CSV",
    b"%PDF": "a PDF; expected a table",
    b"SQLite format 3": "a database; export the table as CSV",
    b'{"': "JSON; export the table as CSV",
    b"[{": "JSON; export the table as CSV",
    b"[[": "JSON; export the table as CSV",
    b"<!DOCTYPE": "a web page; expected a table",
    b"<html": "a web page; expected a table",
    b"<?xml": "XML; export the table as CSV",
}


@dataclass(frozen=True)
class Sheet:
    """A table as it was read, and what was found out about it.

    Attributes
    ----------
    name : str
        What the user calls it.
    format : str
        ``"CSV"``, ``"Parquet"``, ``"Arrow"``, ``"Arrow stream"`` or ``"npy"``.
    columns : pyarrow.Table
        The columns, under names that are unique.
    dialect : Dialect or None
        How a text table is written; None for the other formats.
    notes : tuple of str
        What the user should know, in sentences.
    source : Source
        Where the bytes are.
    """

    name: str
    format: str
    columns: Any
    dialect: Dialect | None
    notes: tuple[str, ...]
    source: Source

    @cached_property
    def names(self) -> list[str]:
        """Return the names of the columns."""
        return self.columns.column_names

    @cached_property
    def places(self) -> dict[str, int]:
        """Return the place of each column by its name."""
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def codes(self) -> set[str]:
        """Return the columns of digits that are kept as text."""
        places = self.dialect.codes if self.dialect else ()
        return {self.names[j] for j in places if j < len(self.names)}

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return self.columns.num_rows

    @property
    def decimal(self) -> str:
        """Return the decimal mark of cells that are text."""
        return self.dialect.decimal if self.dialect else "."

    def summary(self) -> str:
        """Return what was read, in a sentence."""
        size = f"{counted(self.n_rows, 'row')} of {counted(len(self.names), 'column')}"
        text = f"Read {size} from {self.name} ({self.format}"
        if self.dialect is not None:
            header = "" if self.dialect.has_header else ", without a header"
            comma = ", decimal comma" if self.dialect.decimal == "," else ""
            text += f", separated by {self.dialect.separator_name}{comma}"
            text += f", {self.dialect.encoding}{header}"
        return text + ")."


def read_table(
    source: str | os.PathLike[str],
    *,
    sep: str | None = None,
    decimal: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    skip: int = 0,
) -> Sheet:
    """Read a table; what is not said about a text table is found out.

    The format is told by how the content begins, not by the name, so that it is the
    same through a pipe. Text tables are judged by their first megabyte. Nothing is left
    out or converted beyond what pyarrow infers: that is for `prepare`.

    Parameters
    ----------
    source : path or "-"
        A CSV, TSV, Parquet, Arrow, Feather or ``.npy`` file; ``"-"`` is standard input.
    sep, decimal, quote, encoding : str, default=None
        How a text table is written.
    header : bool, default=None
        Whether its first record names the columns.
    skip : int, default=0
        Lines of a text table above its first record.

    Returns
    -------
    Sheet
        The columns, and what was found out.

    Raises
    ------
    InputError
        If there is no table, with what to do about it.
    """
    origin = find_source(source)
    try:
        sample, is_whole = take_sample(origin)
    except OSError as error:
        raise InputError(f"{origin.name} cannot be read ({error.strerror}).") from None
    if not sample:
        raise InputError(f"{origin.name} is empty; expected a table.")
    for magic, what in OTHERS.items():
        if sample.startswith(magic):
            raise InputError(f"{origin.name} is {what}.")
    for magic, kind in MAGIC.items():
        if sample.startswith(magic):
            return read_binary(origin, kind)
    dialect = find_dialect(
        origin.name,
        sample,
        is_whole,
        sep=sep,
        decimal=decimal,
        quote=quote,
        encoding=encoding,
        header=header,
        skip=skip,
    )
    return read_text(origin, dialect, may_reconsider=encoding is None)


def take_sample(source: Source) -> tuple[bytes, bool]:
    """Return the first megabyte, or more if lines are longer, and if that is all."""
    n_bytes = SAMPLE_BYTES
    while True:
        sample = source.start(n_bytes + 1)
        is_whole = len(sample) <= n_bytes
        if is_whole or n_bytes >= LARGEST_SAMPLE or sample.count(b"\n") > 1:
            return sample[:n_bytes], is_whole
        n_bytes *= 8


# Binary tables


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


# Text tables


def read_text(source: Source, dialect: Dialect, may_reconsider: bool) -> Sheet:
    """Read a text table as its dialect says."""
    raw = names_for(dialect)
    names, notes = unique_names(raw)
    try:
        table = parse(source, dialect, names)
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise why_not(source, dialect, error) from None
    if holds_undecodable(table):
        if dialect.encoding != "utf-8" or not may_reconsider:
            raise InputError(
                f"{source.name} is not written in {dialect.encoding}; leave out "
                "--encoding to have it found."
            )
        # letters that are not UTF-8 came after the sample
        return read_text(source, replace(dialect, encoding=SINGLE_BYTE), False)
    check_size(source.name, table)
    if dialect.doubtful:
        notes += (
            f"{shown(dialect.doubtful)} was read as {float(dialect.doubtful):g}; if it "
            f"means {dialect.doubtful.replace('.', '')}, say --decimal ,.",
        )
    return Sheet(source.name, "CSV", table, dialect, notes, source)


def parse(source: Source, dialect: Dialect, names: list[str]) -> Any:
    """Let pyarrow read the table, in larger blocks where a record is very long."""
    block = BLOCK_BYTES
    while True:
        try:
            with source.open_for_arrow() as stream:
                return pa_csv.read_csv(stream, *csv_options(dialect, names, block))
        except pa.ArrowInvalid as error:
            if "straddling" not in str(error) or block >= LARGEST_BLOCK:
                raise
            block *= 16


def csv_options(dialect: Dialect, names: list[str], block: int) -> tuple[Any, Any, Any]:
    """Return the dialect in the words of pyarrow."""
    # pyarrow skips the mark of UTF-8 itself and is faster where nothing is decoded
    encoding = dialect.encoding.replace("utf-8-sig", "utf-8")
    return (
        pa_csv.ReadOptions(
            column_names=names,
            skip_rows=dialect.n_skipped,
            skip_rows_after_names=int(dialect.has_header),
            encoding=encoding,
            block_size=block,
        ),
        pa_csv.ParseOptions(
            delimiter=dialect.separator,
            quote_char=dialect.quote,
            newlines_in_values=True,
        ),
        pa_csv.ConvertOptions(
            null_values=list(MISSING),
            true_values=["true", "True", "TRUE"],
            false_values=["false", "False", "FALSE"],
            decimal_point=dialect.decimal,
            # a code would lose its zeros
            column_types={
                names[j]: pa.string() for j in dialect.codes if j < len(names)
            },
        ),
    )


def holds_undecodable(table: Any) -> bool:
    """Whether pyarrow found bytes that are no text."""
    return any(pa.types.is_binary(field.type) for field in table.schema)


def why_not(source: Source, dialect: Dialect, error: Exception) -> InputError:
    """Find the line that pyarrow stumbled over; slow, but only done once."""
    try:
        return find_fault(source, dialect)
    except (OSError, UnicodeError):
        pass
    if isinstance(error, UnicodeError):
        return InputError(
            f"{source.name} is not written in {dialect.encoding}; say with --encoding "
            "how it is."
        )
    reason = str(error).splitlines()[0].rstrip(".")
    return InputError(f"{source.name} cannot be read ({reason[:200]}).")


def find_fault(source: Source, dialect: Dialect) -> InputError:
    """Return what is wrong with the first record that does not fit."""
    first = line = 1 + dialect.n_skipped
    with open_text(source, dialect) as text, cells_of_any_length():
        records = csv.reader(
            islice(text, dialect.n_skipped, None),
            delimiter=dialect.separator,
            quotechar=dialect.quote,
            strict=True,
        )
        try:
            for record in records:
                is_header = line == first and dialect.has_header
                if record and len(record) != dialect.n_columns and not is_header:
                    title = ", --skip if lines above the header are no part of it"
                    return InputError(
                        f"{source.name} has {counted(len(record), 'cell')} in line "
                        f"{line}; expected {dialect.n_columns} as in line {first}, "
                        f"separated by {dialect.separator_name} (--sep for another"
                        f"{title * (dialect.n_columns == 1)})."
                    )
                line = first + records.line_num
        except csv.Error:
            return InputError(
                f"{source.name} has a quoted cell in line {line} that does not end as "
                f"it should; close it with {dialect.quote} (--quote for another mark)."
            )
    return InputError(f"{source.name} cannot be read; expected a table.")


def open_text(source: Source, dialect: Dialect) -> io.TextIOWrapper:
    """Open a text table as text, its ends of lines as they are."""
    return io.TextIOWrapper(source.open(), encoding=dialect.encoding, newline="")


# Names and sizes


def names_for(dialect: Dialect) -> list[str]:
    """Return a name for each column, empty ones where the header has none."""
    n_columns = dialect.n_columns
    if not dialect.has_header:
        return default_names(n_columns)
    missing = n_columns - len(dialect.names)
    return [""] * missing + [name.strip() for name in dialect.names]


def default_names(n_columns: int) -> list[str]:
    """Name columns by their place."""
    return [f"column_{j}" for j in range(1, n_columns + 1)]


def unique_names(names: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Make names unique: repeated ones get a number, missing ones their place.

    Examples
    --------
    >>> unique_names(["a", "", "a", "a_2"])[0]
    ['a', 'column_2', 'a_3', 'a_2']
    """
    taken = {name for name in names if name}
    seen: set[str] = set()
    numbers: dict[str, int] = {}
    unique, renamed = [], []
    for place, name in enumerate(names, start=1):
        wanted = name or f"column_{place}"
        new = wanted
        while new in seen or (new in taken and new != name):
            # going on from the last number keeps many repetitions linear
            numbers[wanted] = numbers.get(wanted, 1) + 1
            new = f"{wanted}_{numbers[wanted]}"
        if name and new != name:
            renamed.append(f"{shown(name)} became {shown(new)}")
        seen.add(new)
        unique.append(new)
    if not renamed:
        return unique, ()
    return unique, (f"Names came twice: {listed(renamed, len(renamed))}.",)


def check_size(name: str, table: Any) -> None:
    """Refuse a table without content."""
    if table.num_columns == 0:
        raise InputError(f"{name} has no columns; expected a table of numbers.")
    if table.num_rows == 0:
        raise InputError(
            f"{name} has {counted(table.num_columns, 'column')} but no rows; expected "
            "a table of numbers."
        )
