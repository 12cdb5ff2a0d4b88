"""How a text table is written, found out from its first megabyte."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rtkm.cli.cells import (
    find_codes,
    find_decimal,
    find_doubtful,
    find_header,
    holds_numbers,
)
from rtkm.cli.decoding import decode_start, find_encoding
from rtkm.cli.messages import InputError, shown
from rtkm.cli.numerals import DECIMALS, is_missing, is_number

SAMPLE_BYTES = 2**20
N_JUDGED = 1000  # records that decide on the separator and the header
# in the order of preference where several would do; a decimal comma comes with others
SEPARATORS = ("\t", ";", "|", ",", " ")
SEPARATOR_NAMES = {"\t": "tabs", " ": "spaces"}


@dataclass(frozen=True)
class Dialect:
    """How the records of a text table are told apart, and what is in them."""

    separator: str
    decimal: str
    quote: str
    encoding: str
    has_header: bool
    n_skipped: int  # lines before the first record
    names: tuple[str, ...]  # as they are written, or empty where there is no header
    n_columns: int
    codes: tuple[int, ...]  # columns of digits that numbers would not keep
    doubtful: str  # a cell whose point may part thousands, or nothing

    @property
    def separator_name(self) -> str:
        """Return the separator in words."""
        return SEPARATOR_NAMES.get(self.separator, shown(self.separator))


def find_dialect(
    name: str,
    sample: bytes,
    is_whole: bool,
    *,
    sep: str | None,
    decimal: str | None,
    quote: str | None,
    encoding: str | None,
    header: bool | None,
    skip: int,
) -> Dialect:
    """Find out how a table is written, except for what the user insists on."""
    check_options(sep, decimal, quote)
    encoding = encoding or find_encoding(name, sample)
    text = decode_start(name, sample, encoding, is_whole)
    n_skipped, hint = find_start(text, skip)
    text = "\n".join(lines_of(text)[n_skipped:])
    if not text:
        raise InputError(f"{name} is empty; expected a table.")
    quote = quote or find_quote(text)
    sep = sep or hint or find_separator(text, quote, decimal)
    records = records_of(text, sep, quote)
    if not is_whole and len(records) > 1:
        records.pop()  # cut off by the end of the sample
    if header is None:
        header = find_header(records[:N_JUDGED])
    rows = records[1:] if header else records
    return Dialect(
        separator=sep,
        decimal=decimal or find_decimal(name, rows, sep),
        quote=quote,
        encoding=encoding,
        has_header=header,
        n_skipped=n_skipped,
        names=tuple(records[0]) if header else (),
        n_columns=count_columns(records[:N_JUDGED], header),
        codes=find_codes(rows),
        doubtful="" if decimal else find_doubtful(rows, sep),
    )


def check_options(sep: str | None, decimal: str | None, quote: str | None) -> None:
    """Refuse marks that no table can be written with."""
    for option, mark in (("--sep", sep), ("--quote", quote)):
        if mark is not None and (
            len(mark) != 1 or not mark.isascii() or mark in "\r\n"
        ):
            raise InputError(f"{option} {mark!r} is not valid; expected one character.")
    if decimal is not None and decimal not in DECIMALS:
        raise InputError(f"--decimal {decimal!r} is not valid; expected '.' or ','.")
    if sep is not None and sep in (decimal, quote):
        raise InputError(
            f"--sep {sep!r} is also another mark; expected them to differ."
        )


def lines_of(text: str) -> list[str]:
    """Split where a file has new lines, and nowhere else as ``splitlines`` would."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def records_of(text: str, sep: str, quote: str) -> list[list[str]]:
    """Split text into records of cells; empty lines do not count."""
    lines = (line + "\n" for line in text.split("\n"))
    with cells_of_any_length():
        return [r for r in csv.reader(lines, delimiter=sep, quotechar=quote) if r]


@contextmanager
def cells_of_any_length() -> Iterator[None]:
    """Lift the limit of Python's reader, for which 10,000 columns may be one cell."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def find_start(text: str, skip: int) -> tuple[int, str | None]:
    """Count the lines before the first record: empty ones, and Excel's ``sep=;``."""
    lines = lines_of(text)
    n_skipped = next(
        (i for i, line in enumerate(lines) if line and i >= skip), len(lines)
    )
    if n_skipped < len(lines) and re.fullmatch("sep=.", lines[n_skipped]):
        hint = lines[n_skipped][-1]
        rest = lines[n_skipped + 1 :]
        return n_skipped + 1 + next((i for i, x in enumerate(rest) if x), 0), hint
    return n_skipped, None


def find_quote(text: str) -> str:
    """Find what quotes cells: double quotes, unless single ones surround some."""
    start, edge = text[:100_000], "[" + "".join(SEPARATORS) + "\n]"
    if re.search(f'(?:^|{edge})"', start):
        return '"'
    singles = re.search(f"(?:^|{edge})'[^'\n]*'(?:{edge}|$)", start)
    return "'" if singles else '"'


def find_separator(text: str, quote: str, decimal: str | None = None) -> str:
    """Find the separator that makes records alike, and most cells numbers."""
    lines = text.split("\n")[: N_JUDGED + 1]
    start = "\n".join(lines)
    # lines that are numbers, of 1,5 perhaps, are a single column and hold no tab
    is_single = "," in start and holds_numbers([[line] for line in lines[1:]], 0)
    best, best_score = "\t" if is_single else ",", (0.0, 0.0)
    for sep in SEPARATORS:
        if sep in start and sep != decimal:
            score = separator_score(records_of(start, sep, quote))
            if score > best_score:
                best, best_score = sep, score
    return best


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
