"""Tables of any common format, as columns."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from rtkm.tables.decoding import (
    Encoding,
    check_encoding,
    find_encoding,
    find_mark,
    judge_all,
)
from rtkm.tables.dialects import SAMPLE_BYTES, Dialect, find_dialect
from rtkm.tables.formats import format_of
from rtkm.tables.grid import Asked
from rtkm.tables.messages import InputError, shown
from rtkm.tables.packing import packing_of
from rtkm.tables.sheet import Sheet
from rtkm.tables.source import Source, find_source
from rtkm.tables.text import read_text
from rtkm.tables.workbooks import old_workbook, read_workbook

T = TypeVar("T")

LARGEST_SAMPLE = 2**26
OLE = b"\xd0\xcf\x11\xe0"  # what old Excel and encryption put around a workbook
OTHERS = {
    b"FEA1": "a Feather file of the old version 1; write it again as version 2",
    b"%PDF": "a PDF; expected a table",
    b"SQLite format 3": "a database; export the table as CSV",
    b"<!DOCTYPE": "a web page; expected a table",
    b"<html": "a web page; expected a table",
    b"<?xml": "XML; export the table as CSV",
}


def read_table(
    source: str | os.PathLike[str],
    *,
    sep: str | None = None,
    decimal: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    skip: int = 0,
    sheet: str | None = None,
) -> Sheet:
    """Read a table; what is not said about it is found out.

    The format is told by how the content begins, not by the name, so that it is the
    same through a pipe; so is compression by gzip, zstd, bzip2 or xz. Text tables are
    judged by their first megabyte. Nothing is left out or converted beyond the types
    that all cells of a column have: that is for `prepare`. But cells with an error of a
    formula are empty, and titles above a table in a workbook are left out.

    Parameters
    ----------
    source : path or "-"
        A CSV, TSV, Excel (``.xlsx``), ODS, JSON, JSON lines, Parquet, Arrow, Feather or
        ``.npy`` file; ``"-"`` is standard input.
    sep, decimal, quote, encoding : str, default=None
        How a text table is written.
    header : bool, default=None
        Whether the first record of a text table, or row of a workbook, names the
        columns.
    skip : int, default=0
        Lines of a text table, or rows of a workbook, above the first record.
    sheet : str, default=None
        Which sheet of a workbook; None is the first that is not empty.

    Returns
    -------
    Sheet
        The columns, and what was found out.

    Raises
    ------
    InputError
        If there is no table, with what to do about it.
    """
    origin, sample, is_whole = begin(source)
    kind = format_of(sample)
    if sheet is not None and kind.reader is not read_workbook:
        raise InputError(
            f"--sheet {shown(sheet)}: {origin.name} is {kind.name} and has no sheets."
        )
    if kind.reader is not None:
        return kind.reader(origin, Asked(sheet, header, skip))
    return find_and_read(
        origin,
        sample,
        is_whole,
        encoding,
        {
            "sep": sep,
            "decimal": decimal,
            "quote": quote,
            "header": header,
            "skip": skip,
        },
        read_text,
    )


def begin(given: str | os.PathLike[str]) -> tuple[Source, bytes, bool]:
    """Find a table; return how it begins, and whether that is all."""
    origin = find_source(given)
    try:
        origin = origin.unpacked()
        sample, is_whole = take_sample(origin)
    except OSError as error:
        raise InputError(f"{origin.name} cannot be read ({error.strerror}).") from None
    if not sample:
        raise InputError(f"{origin.name} is empty; expected a table.")
    check_format(origin, sample)
    return origin, sample, is_whole


def check_format(source: Source, sample: bytes) -> None:
    """Refuse a file that begins as those do that are no tables, or not readable."""
    if sample.startswith(OLE):
        raise InputError(f"{source.name} is {old_workbook(source)}.")
    if packing_of(sample):
        raise InputError(f"{source.name} is compressed twice; unpack it once.")
    for magic, what in OTHERS.items():
        if sample.startswith(magic):
            raise InputError(f"{source.name} is {what}.")


def find_and_read(
    source: Source,
    sample: bytes,
    is_whole: bool,
    given: str | None,
    options: Mapping[str, Any],
    read: Callable[[Source, Dialect], T],
) -> T:
    """Read a text table; its encoding, if it is not given, is found out."""

    def attempt(encoding: Encoding) -> T:
        dialect = find_dialect(
            source.name, sample, is_whole, encoding=encoding, **options
        )
        return read(source, dialect)

    if given is not None:
        encoding = check_encoding(given, sample)
    else:
        encoding = find_encoding(source.name, sample, is_whole)
    with suppress(UnicodeError):
        return attempt(encoding)
    if given is not None:
        raise InputError(
            f"{source.name} is not written in {given}; leave out --encoding to have it "
            "found."
        )
    if not encoding.name.startswith(("utf-16", "utf-32")) and not find_mark(sample):
        # letters that tell the encoding came after the sample
        encoding = judge_all(source)
        with suppress(UnicodeError):
            return attempt(encoding)
    raise InputError(
        f"{source.name} is not written in {encoding.name} throughout; correct it, or "
        "say with --encoding how it is written."
    )


def take_sample(source: Source) -> tuple[bytes, bool]:
    """Return the first megabyte, or more if lines are longer, and if that is all."""
    n_bytes = SAMPLE_BYTES
    while True:
        sample = source.start(n_bytes + 1)
        is_whole = len(sample) <= n_bytes
        n_lines = max(sample.count(b"\n"), sample.count(b"\r"))
        if is_whole or n_bytes >= LARGEST_SAMPLE or n_lines > 1:
            return sample[:n_bytes], is_whole
        n_bytes *= 8
