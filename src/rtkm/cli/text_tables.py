"""Tables of text, as their dialect says."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from itertools import islice
from typing import Any

from rtkm.cli.arrow import pa, pa_csv
from rtkm.cli.decoding import SINGLE_BYTE
from rtkm.cli.dialect import Dialect, cells_of_any_length
from rtkm.cli.messages import InputError, counted, shown
from rtkm.cli.numerals import MISSING
from rtkm.cli.sheet import Sheet, check_size, default_names, unique_names
from rtkm.cli.source import Source

BLOCK_BYTES = 2**22  # read at a time; a record must fit in
LARGEST_BLOCK = 2**30


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


def names_for(dialect: Dialect) -> list[str]:
    """Return a name for each column, empty ones where the header has none."""
    n_columns = dialect.n_columns
    if not dialect.has_header:
        return default_names(n_columns)
    missing = n_columns - len(dialect.names)
    return [""] * missing + [name.strip() for name in dialect.names]
