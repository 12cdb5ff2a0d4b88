"""Tables of text, as their dialect says."""

from __future__ import annotations

import csv
import io
from contextlib import suppress
from itertools import islice
from typing import Any

from rtkm._number_text import counted
from rtkm.tables.arrow import pa, pa_csv
from rtkm.tables.dialects import Dialect, cells_of_any_length
from rtkm.tables.messages import InputError, shown
from rtkm.tables.numerals import MISSING
from rtkm.tables.sheet import Sheet, check_size, default_names, unique_names
from rtkm.tables.source import Source
from rtkm.tables.text_stream import TextStream, check_records

BLOCK_BYTES = 2**22  # read at a time; a record must fit in
LARGEST_BLOCK = 2**30


def read_text(source: Source, dialect: Dialect) -> Sheet:
    """Read a text table as its dialect says; a UnicodeError if it does not."""
    raw = names_for(dialect)
    names, notes = unique_names(raw)
    try:
        table = parse(source, dialect, names)
    except (pa.ArrowException, OSError) as error:
        raise why_not(source, dialect, error) from None
    check_size(source.name, table)
    if dialect.header_note:
        notes += (dialect.header_note,)
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
            with pa.PythonFile(TextStream(source, dialect), mode="r") as stream:
                return pa_csv.read_csv(stream, *csv_options(dialect, names, block))
        except pa.ArrowInvalid as error:
            check_records(source, dialect)  # the likeliest reason is a quote
            if "straddling" not in str(error) or block >= LARGEST_BLOCK:
                raise
            block = min(16 * block, LARGEST_BLOCK)


def csv_options(dialect: Dialect, names: list[str], block: int) -> tuple[Any, Any, Any]:
    """Return the dialect in the words of pyarrow."""
    return (
        pa_csv.ReadOptions(
            column_names=names,
            skip_rows_after_names=int(dialect.has_header),
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


def why_not(source: Source, dialect: Dialect, error: Exception) -> InputError:
    """Find the line that pyarrow stumbled over; slow, but only done once."""
    with suppress(OSError):
        return find_fault(source, dialect)
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
        )
        for record in records:
            is_header = line == first and dialect.has_header
            if record and len(record) != dialect.n_columns and not is_header:
                title = ", --skip if lines above the header are not part of it"
                return InputError(
                    f"{source.name} has {counted(len(record), 'cell')} in line "
                    f"{line}; expected {dialect.n_columns} as in line {first}, "
                    f"separated by {dialect.separator_name} (--sep for another"
                    f"{title * (dialect.n_columns == 1)})."
                )
            line = first + records.line_num
    return InputError(f"{source.name} cannot be read; expected a table.")


def open_text(source: Source, dialect: Dialect) -> io.TextIOWrapper:
    """Open a text table as text, its ends of lines as they are."""
    return io.TextIOWrapper(source.open(), encoding=dialect.encoding, newline="")


def names_for(dialect: Dialect) -> list[str]:
    """Return a name for each column, empty ones where the header has none."""
    n_columns = dialect.n_columns
    if not dialect.has_header:
        return default_names(n_columns)
    missing = n_columns - len(dialect.names)
    return [""] * missing + [name.strip() for name in dialect.names]
