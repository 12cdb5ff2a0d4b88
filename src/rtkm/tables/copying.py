"""The records of a text table, each with its answers behind it."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import Any, BinaryIO, Protocol

from rtkm.tables.arrow import pa, pc
from rtkm.tables.dialects import Dialect, cells_of_any_length
from rtkm.tables.messages import InputError
from rtkm.tables.source import Source
from rtkm.tables.text import open_text

BATCH = 2**15  # rows written at a time


class Copied(Protocol):
    """A text table whose bytes can be read again."""

    @property
    def name(self) -> str:
        """What the user calls it."""

    @property
    def names(self) -> list[str]:
        """The names of the columns."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    @property
    def source(self) -> Source:
        """Where the bytes are."""


def copy_with(
    stream: BinaryIO, sheet: Copied, dialect: Dialect, answers: Any, separator: str
) -> None:
    """Copy the records of a text table, each with its answers behind it.

    The answers are a table, or what has the names of its columns and gives batches.
    """
    sheet.source.check_unchanged()
    written = replace(dialect, separator=separator)
    # writes a mark of byte order once, as the table has it
    encode = codecs.getincrementalencoder(dialect.encoding)().encode
    names = [quoted(name, written) for name in (*sheet.names, *answers.column_names)]
    with open_text(sheet.source, dialect) as given, cells_of_any_length():
        records = records_of(given, dialect)
        if separator != dialect.separator:
            records = ((parted(r, dialect, written), end) for r, end in records)
        n_written = 0
        first, newline = next(records)
        stream.write(encode(separator.join(names) + newline))
        if not dialect.has_header:
            records = chain([(first, newline)], records)
        for batch in answers.to_batches(max_chunksize=BATCH):
            some = islice(records, batch.num_rows)
            pairs = list(zip(some, as_text(batch, written), strict=False))
            n_written += len(pairs)
            text = (f"{record}{cells}{end}" for (record, end), cells in pairs)
            stream.write(encode("".join(text)))
        if n_written < sheet.n_rows or next(records, None) is not None:
            raise InputError(f"{sheet.name} has changed while it was used; run again.")


def records_of(lines: Iterator[str], dialect: Dialect) -> Iterator[tuple[str, str]]:
    """Return each record as it is written, and the end of its line."""
    newline = "\n"
    for line in islice(lines, dialect.n_skipped, None):
        record = line
        if dialect.quote in line:
            record = whole_record(line, lines, dialect)
        text = record.rstrip("\r\n")
        newline = record[len(text) :] or newline  # the last line may have none
        if text:
            yield text, newline


def parted(record: str, dialect: Dialect, written: Dialect) -> str:
    """Write a record with another separator."""
    lines = io.StringIO(record, newline="")
    reader = csv.reader(lines, delimiter=dialect.separator, quotechar=dialect.quote)
    return written.separator.join(quoted(cell, written) for cell in next(reader))


def whole_record(line: str, lines: Iterator[str], dialect: Dialect) -> str:
    """Add the lines that a quoted cell goes on to."""
    parts: list[str] = []

    def seen() -> Iterator[str]:
        for part in chain([line], lines):
            parts.append(part)
            yield part

    next(csv.reader(seen(), delimiter=dialect.separator, quotechar=dialect.quote))
    return "".join(parts)


def as_text(batch: Any, dialect: Dialect) -> list[str]:
    """Write the answers of some rows as they follow a record."""
    columns = [cells_of(column, dialect) for column in batch.columns]
    joined = pc.binary_join_element_wise(
        *["", *columns], dialect.separator, null_handling="replace"
    )
    return joined.to_pylist()


def cells_of(column: Any, dialect: Dialect) -> Any:
    """Write a column of answers, decimal mark and quotes as in the table."""
    if pa.types.is_string(column.type):
        cells = column.dictionary_encode()
        words = [quoted(word, dialect) for word in cells.dictionary.to_pylist()]
        return pa.array(words, pa.string()).take(cells.indices)
    cells = column.cast(pa.string())
    return pc.replace_substring(cells, ".", dialect.decimal)


def quoted(text: str, dialect: Dialect) -> str:
    """Quote a cell if it must be."""
    if not re.search(f"[{re.escape(dialect.separator + dialect.quote)}\r\n]", text):
        return text
    doubled = text.replace(dialect.quote, 2 * dialect.quote)
    return f"{dialect.quote}{doubled}{dialect.quote}"
