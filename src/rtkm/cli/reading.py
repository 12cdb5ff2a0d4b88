"""Tables of any common format, as columns."""

from __future__ import annotations

import os

from rtkm.cli.binary_tables import MAGIC, read_binary
from rtkm.cli.dialect import SAMPLE_BYTES, find_dialect
from rtkm.cli.messages import InputError
from rtkm.cli.sheet import Sheet
from rtkm.cli.source import Source, find_source
from rtkm.cli.text_tables import read_text

LARGEST_SAMPLE = 2**26
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
