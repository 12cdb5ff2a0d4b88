"""What the cells of a text table tell about it."""

from __future__ import annotations

from collections import Counter

from rtkm.tables.messages import InputError, shown
from rtkm.tables.numerals import (
    DECIMALS,
    NUMBER,
    THOUSANDS,
    is_code,
    is_missing,
    is_number,
)

N_VOTES = 20_000  # cells that decide on the decimal mark


def holds_numbers(rows: list[list[str]], j: int) -> bool:
    """Whether a column has numbers, and hardly anything else that is not missing."""
    cells = [row[j] for row in rows if len(row) > j and not is_missing(row[j])]
    return sum(map(is_number, cells)) > 0.9 * len(cells)  # more than none, too


def is_single_column(name: str, lines: list[str]) -> bool:
    """Whether lines such as ``1,5`` are numbers, not pairs of cells, or ask.

    Pairs have as many commas in each line. Digits behind a comma that differ in number
    are decimals if one begins with zero, as no number does, and are none if one ends
    with zero, which would not have been written.
    """
    if not all(NUMBER[","].match(line.strip()) for line in lines):
        return False
    pairs = [line.strip().partition(",")[2] for line in lines]
    if not all(pairs):
        return True
    if len({len(second) for second in pairs}) > 1 and all(map(str.isdecimal, pairs)):
        if any(second[0] == "0" and len(second) > 1 for second in pairs):
            return True
        if any(second[-1] == "0" and len(second) > 1 for second in pairs):
            return False
    line = lines[0].strip()
    raise InputError(
        f"{name} begins with {shown(line)}, which can be one number or two cells; say "
        "--decimal , or --sep , to decide."
    )


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
