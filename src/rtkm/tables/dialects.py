"""How a text table is written, found out from its first megabyte."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from rtkm.tables.cells import (
    find_codes,
    find_decimal,
    find_doubtful,
    holds_numbers,
    is_single_column,
)
from rtkm.tables.decoding import Encoding, decode_start
from rtkm.tables.header import Header, find_header
from rtkm.tables.messages import InputError, shown
from rtkm.tables.numerals import DECIMALS, is_missing, is_number

SAMPLE_BYTES = 2**20
MOST_COLUMNS = 200_000
N_JUDGED = 1000  # records that decide on the separator and the header
# in the order of preference where several would do; a decimal comma comes with others
SEPARATORS = ("\t", ";", "|", ",", " ")
LINE_END = re.compile(r"\r\n|\r|\n")
SEPARATOR_NAMES = {"\t": "tabs", " ": "spaces"}


@dataclass(frozen=True)
class Dialect:
    """How the records of a text table are told apart, and what is in them."""

    separator: str
    decimal: str
    quote: str
    encoding: str
    encoding_doubt: str  # "guessed", "uncertain", or nothing
    has_header: bool
    header_note: str  # what to say about it, or nothing
    n_skipped: int  # lines before the first record
    names: tuple[str, ...]  # as they are written, or empty where there is no header
    n_columns: int
    codes: tuple[int, ...]  # columns of digits that numbers would not keep
    doubtful: str  # a cell whose point may part thousands, or nothing

    @property
    def separator_name(self) -> str:
        """Return the separator in words."""
        return SEPARATOR_NAMES.get(self.separator, shown(self.separator))

    @property
    def encoding_text(self) -> str:
        """Return the encoding in words, with what to do where it was guessed."""
        if not self.encoding_doubt:
            return self.encoding
        doubt = ", perhaps wrong" if self.encoding_doubt == "uncertain" else ""
        return f"encoding guessed: {self.encoding}{doubt} (--encoding for another)"


def find_dialect(
    name: str,
    sample: bytes,
    is_whole: bool,
    *,
    sep: str | None,
    decimal: str | None,
    quote: str | None,
    encoding: Encoding,
    header: bool | None,
    skip: int,
) -> Dialect:
    """Find out how a table is written, except for what the user insists on."""
    check_options(sep, decimal, quote)
    text = decode_start(name, sample, encoding.name, is_whole)
    start, hint = find_start(text, skip)
    text = text[start.place :]
    if not text:
        raise InputError(f"{name} is empty; expected a table.")
    quote = quote or find_quote(text)
    sep = sep or hint
    check_options(sep, decimal, quote)  # which the file may have added to
    check_width(name, text, sep)
    if sep is None:
        may_be_single = decimal is None and not header
        sep = find_separator(name, text, quote, decimal, may_be_single)
    records = records_of(text, sep, quote)
    if not is_whole and len(records) > 1:
        records.pop()  # cut off by the end of the sample
    found = find_header(name, records[:N_JUDGED]) if header is None else Header(header)
    rows = records[1:] if found.is_there else records
    return Dialect(
        separator=sep,
        decimal=decimal or find_decimal(name, rows, sep),
        quote=quote,
        encoding=encoding.name,
        encoding_doubt=encoding.doubt,
        has_header=found.is_there,
        header_note=found.note,
        n_skipped=start.line,
        names=tuple(records[0]) if found.is_there else (),
        n_columns=count_columns(records[:N_JUDGED], found.is_there),
        codes=find_codes(rows),
        doubtful="" if decimal else find_doubtful(rows, sep),
    )


def check_options(sep: str | None, decimal: str | None, quote: str | None) -> None:
    """Refuse marks that no table can be written with."""
    for option, mark in (("--sep", sep), ("--quote", quote)):
        if mark is not None and (
            len(mark) != 1 or not mark.isascii() or mark in "\r\n\0"
        ):
            raise InputError(f"{option} {mark!r} is not valid; expected one character.")
    if decimal is not None and decimal not in DECIMALS:
        raise InputError(f"--decimal {decimal!r} is not valid; expected '.' or ','.")
    if sep is not None and sep in (decimal, quote):
        raise InputError(
            f"--sep {sep!r} is also another mark; expected them to differ."
        )


def lines_of(text: str) -> Iterator[str]:
    """Split where a file has new lines, which are kept, and nowhere else."""
    place = 0
    for end in LINE_END.finditer(text):
        yield text[place : end.end()]
        place = end.end()
    if place < len(text):
        yield text[place:]


def records_of(text: str, sep: str, quote: str) -> list[list[str]]:
    """Split text into records of cells; empty lines do not count."""
    with cells_of_any_length():
        reader = csv.reader(lines_of(text), delimiter=sep, quotechar=quote)
        return [record for record in reader if record]


@contextmanager
def cells_of_any_length() -> Iterator[None]:
    """Lift the limit of Python's reader, for which 10,000 columns may be one cell."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


class Start(NamedTuple):
    """Where the first record is: its line, and its place in the text."""

    line: int
    place: int


def find_start(text: str, skip: int) -> tuple[Start, str | None]:
    """Find the first record, behind empty lines, and Excel's ``sep=;`` if it is there.

    Where all lines are empty, the record is at the end.
    """
    hint = None
    line, place = 0, 0
    for content in lines_of(text):
        written = content.rstrip("\r\n")
        if written and line >= skip:
            if hint is not None or not re.fullmatch("sep=.", written):
                break
            hint = written[-1]
        line, place = line + 1, place + len(content)
    return Start(line, place), hint


def check_width(name: str, text: str, sep: str | None) -> None:
    """Refuse more columns than can be handled, before they are taken apart."""
    first = next(lines_of(text))
    n_columns = max(first.count(mark) for mark in sep or SEPARATORS) + 1
    if n_columns > MOST_COLUMNS:
        raise InputError(
            f"{name} has {n_columns:,} cells in its first line; expected at most "
            f"{MOST_COLUMNS:,} columns of a text table: leave some out, or pass the "
            "table to rtkm in Python as a sparse matrix."
        )


def find_quote(text: str) -> str:
    """Find what quotes cells: double quotes, unless single ones surround some.

    A cell that begins with a single quote but does not end with one, such as 'n Sync,
    shows that they are part of the text.
    """
    start, edge = text[:100_000], "[" + "".join(SEPARATORS) + "\r\n]"
    if len(text) > len(start):  # the last cell may be cut in two
        start = start[: start.rfind("\n") + 1] or start
    if re.search(f'(?:^|{edge})"', start):
        return '"'
    n_opened = len(re.findall(f"(?:^|{edge})'", start))
    whole = rf"(?:^|{edge})'(?:[^']|'')*'(?={edge}|\Z)"
    return "'" if n_opened and len(re.findall(whole, start)) == n_opened else '"'


def find_separator(
    name: str, text: str, quote: str, decimal: str | None, may_be_single: bool
) -> str:
    """Find the separator that makes records alike, and most cells numbers."""
    judged = list(judged_lines(text))
    start = "".join(judged)
    lines = [line.rstrip("\r\n") for line in judged if line.rstrip("\r\n")]
    if may_be_single and "," in start and is_single_column(name, lines):
        return "\t"
    # lines that are numbers, of 1,5 perhaps, are a single column and hold no tab
    is_single = "," in start and holds_numbers([[line] for line in lines[1:]], 0)
    best, best_score = "\t" if is_single else ",", (0.0, 0.0)
    for sep in SEPARATORS:
        if sep in start and sep != decimal:
            score = separator_score(records_of(start, sep, quote))
            if score > best_score:
                best, best_score = sep, score
    return best


def judged_lines(text: str) -> Iterator[str]:
    """Return the lines that decide on the separator: few, if they are long."""
    n_characters = 0
    for i, line in enumerate(lines_of(text)):
        if i > N_JUDGED or (i > 2 and n_characters > SAMPLE_BYTES):
            return
        n_characters += len(line)
        yield line


def separator_score(records: list[list[str]]) -> tuple[float, float]:
    """Rate records by how many have the commonest length, then by their numbers."""
    n_cells, n_alike = Counter(map(len, records)).most_common(1)[0]
    # a first line in one piece is the name of a single column, of 1,5 perhaps
    if min(n_cells, len(records[0])) < 2 or n_alike < 0.5 * len(records):
        return 0.0, 0.0
    cells = [cell for record in records[-100:] for cell in record]
    n_useful = sum(is_number(cell) or is_missing(cell) for cell in cells)
    return n_alike / len(records), n_useful / len(cells)


def count_columns(records: list[list[str]], has_header: bool) -> int:
    """Return the width of the table, for which its header speaks.

    R leaves out the name of the first column, that of the row names; then all other
    records have one cell more.
    """
    width = len(records[0])
    if has_header and len(records) > 1 and {len(r) for r in records[1:]} == {width + 1}:
        return width + 1
    return width
