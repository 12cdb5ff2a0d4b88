"""Tables of any common format, as columns."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from rtkm.tables.decoding import (
    Encoding,
    check_encoding,
    find_encoding,
    find_mark,
    judge_all,
)
from rtkm.tables.dialects import SAMPLE_BYTES, find_dialect
from rtkm.tables.formats import format_of, read_binary
from rtkm.tables.messages import InputError
from rtkm.tables.sheet import Sheet
from rtkm.tables.source import Source, find_source
from rtkm.tables.text import read_text

LARGEST_SAMPLE = 2**26
OTHERS = {
    b"FEA1": "a Feather file of the old version 1; write it again as version 2",
    b"PK\x03\x04": "a zip archive or an Excel workbook (xlsx); save the sheet as CSV",
    b"\x1f\x8b": "compressed by gzip; unpack it first",
    b"BZh": "compressed by bzip2; unpack it first",
    b"\xfd7zXZ": "compressed by xz; unpack it first",
    b"\x28\xb5\x2f\xfd": "compressed by zstd; unpack it first",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook (xls); save the sheet as CSV",
    b"%PDF": "a PDF; expected a table",
    b"SQLite format 3": "a database; export the table as CSV",
    b'{"': "JSON; export the table as CSV",
    b"[{": "JSON; export the table as CSV",
    b"[[": "JSON; export the table as CSV",
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
    kind = format_of(sample)
    if kind.reader is not None:
        return read_binary(origin, kind.reader, kind.name)
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
    )


def find_and_read(
    source: Source,
    sample: bytes,
    is_whole: bool,
    given: str | None,
    options: Mapping[str, Any],
) -> Sheet:
    """Read a text table; its encoding, if it is not given, is found out."""

    def attempt(encoding: Encoding) -> Sheet:
        dialect = find_dialect(
            source.name, sample, is_whole, encoding=encoding, **options
        )
        return read_text(source, dialect)

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
