"""How numbers, missing cells and dates are written in text."""

from __future__ import annotations

import re

# missing values: cells that say nothing
MISSING = (
    *("", "-", "--", "?", ".", "NA", "N/A", "na", "n/a", "#N/A", "#NA", "<NA>"),
    *("NaN", "nan", "-nan", "NAN", "NaT", "null", "NULL", "Null", "None", "none"),
)

DECIMALS = (".", ",")
LONGEST_EXACT = 15  # digits of whole numbers that float64 surely keeps

# Thousands are in groups of three; the mark that is not for decimals, an apostrophe or
# some kind of space stands between. A first group of zeros is that of a code.
GROUPING = {".": ",'\u2019 \u00a0\u202f", ",": ".'\u2019 \u00a0\u202f"}
THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:\.[0-9]{3})+")


# what may stand before or behind a number without changing it
UNIT = "(?:[\u20ac$\u00a3\u00a5%]|EUR|USD|GBP|CHF)"


def number_pattern(decimal: str) -> str:
    """Return a regular expression, for Python and RE2, of all of a number."""
    mark, grouping = re.escape(decimal), f"[{GROUPING[decimal]}]"
    whole = rf"(?:[1-9][0-9]{{0,2}}(?:{grouping}[0-9]{{3}})+|[0-9]+)"
    finite = rf"(?:{whole}(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?"
    sign, space = "[+\u2212-]?", "[ \u00a0\u202f]?"
    value = f"(?:{finite}|[iI]nf(?:inity)?|INF)"
    return f"^{sign}(?:{UNIT}{space}{sign})?{value}(?:{space}{UNIT})?$"


def has_unit(cell: str) -> bool:
    """Whether a cell has more to it than a number.

    Examples
    --------
    >>> has_unit("1.234,50 \u20ac"), has_unit("1.5")
    (True, False)
    """
    return re.search(UNIT, cell) is not None


NUMBER = {mark: re.compile(number_pattern(mark)) for mark in DECIMALS}

DATE_PATTERN = (
    r"^(?:[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.]"
    r"[0-9]{2}(?:[0-9]{2})?)(?:[T ,]+[0-9]{1,2}:[0-9]{2}.*)?$"
)


def is_number(cell: str) -> bool:
    """Whether a cell is a number by either decimal mark.

    Examples
    --------
    >>> [is_number(cell) for cell in ("-1.5e3", "1.234,5", "1,2,3", "x1", "NA")]
    [True, True, False, False, False]
    """
    cell = cell.strip()
    return any(NUMBER[mark].match(cell) for mark in DECIMALS)


def is_missing(cell: str) -> bool:
    """Whether a cell stands for no value."""
    return cell.strip() in MISSING


def is_code(cell: str) -> bool:
    """Whether a cell is made of digits that a number would not keep.

    Examples
    --------
    >>> [is_code(cell) for cell in ("007", "12345678901234567", "7", "0", "0.5")]
    [True, True, False, False, False]
    """
    has_leading_zero = cell[:1] == "0" and len(cell) > 1
    return (has_leading_zero or len(cell) > LONGEST_EXACT) and cell.isdecimal()
