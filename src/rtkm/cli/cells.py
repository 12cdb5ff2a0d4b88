"""What the cells of a text table tell about it."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from rtkm.cli.messages import InputError, shown
from rtkm.cli.numerals import (
    DECIMALS,
    NUMBER,
    THOUSANDS,
    is_code,
    is_missing,
    is_number,
)

N_VOTES = 20_000  # cells that decide on the decimal mark


def find_header(records: list[list[str]]) -> bool:
    """Whether the first record names the columns.

    It does where it holds no number, where some column has a word on top and nothing
    but numbers below, or where its numbers are years in their order.
    """
    first, rows = records[0], records[1:]
    numbers = [cell for cell in first if is_number(cell)]
    if not numbers:
        return not all(is_missing(cell) for cell in first)
    words = [j for j, x in enumerate(first) if not is_number(x) and not is_missing(x)]
    if words and len(numbers) > 1 and are_years(numbers):
        return True
    return any(holds_numbers(rows, j) for j in words)


def are_years(cells: list[str]) -> bool:
    """Whether cells are years, one after the other."""
    in_order = all(a < b for a, b in pairwise(cells))
    return in_order and all(re.fullmatch("(?:1[89]|20)[0-9]{2}", x) for x in cells)


def holds_numbers(rows: list[list[str]], j: int) -> bool:
    """Whether a column has numbers, and hardly anything else that is not missing."""
    cells = [row[j] for row in rows if len(row) > j and not is_missing(row[j])]
    return sum(map(is_number, cells)) > 0.9 * len(cells)  # more than none, too


def find_decimal(name: str, rows: list[list[str]], sep: str) -> str:
    """Find the decimal mark by what cells can only mean.

    Where all that there is can be read both ways, such as ``1,234``, a table separated
    by commas has decimal points; of another we do not know.
    """
    cells = [cell.strip() for row in rows for cell in row if "," in cell]
    if not any(NUMBER[","].match(cell) for cell in cells):
        return "."
    dotted = (cell.strip() for row in rows for cell in row if "." in cell)
    votes = Counter({".": 0, ",": 0})
    doubtful = ""
    for cell in (*cells[:N_VOTES], *list(dotted)[:N_VOTES]):
        readings = [mark for mark in DECIMALS if NUMBER[mark].match(cell)]
        if len(readings) == 1:
            votes[readings[0]] += 1
        elif readings and "," in cell:
            doubtful = cell
    if doubtful and not votes.total() and sep != ",":
        raise InputError(
            f"{name} holds {shown(doubtful)}, which can be "
            f"{doubtful.replace(',', '.')} or {doubtful.replace(',', '')}; say "
            "--decimal , or --decimal . to decide."
        )
    return "," if votes[","] > votes["."] else "."


def find_doubtful(rows: list[list[str]], sep: str) -> str:
    """Find a point that may part thousands: all have three digits behind them."""
    if sep == ",":  # who writes decimal commas parts cells by something else
        return ""
    dotted = [cell.strip() for row in rows for cell in row if "." in cell]
    numbers = [cell for cell in dotted[:N_VOTES] if NUMBER["."].match(cell)]
    is_clear = not all(THOUSANDS.fullmatch(cell) for cell in numbers)
    has_commas = any(NUMBER[","].match(c.strip()) for r in rows for c in r if "," in c)
    return "" if is_clear or has_commas or not numbers else numbers[0]


def find_codes(rows: list[list[str]]) -> tuple[int, ...]:
    """Find columns of nothing but digits, some of which numbers would not keep."""
    found = {j for row in rows for j, cell in enumerate(row) if is_code(cell)}
    mixed = {
        j
        for row in rows
        for j in found
        if j < len(row) and not row[j].isdecimal() and not is_missing(row[j])
    }
    return tuple(sorted(found - mixed))
