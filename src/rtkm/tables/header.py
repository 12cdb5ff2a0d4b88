"""Whether the first record of a text table names its columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from rtkm.tables.cells import holds_numbers
from rtkm.tables.messages import InputError, listed, shown
from rtkm.tables.numerals import UNIT, is_missing, is_number

YEAR = re.compile("(?:1[89]|20)[0-9]{2}")  # that a column may be named by
ANY_YEAR = re.compile("(?:1[0-9]|2[01])[0-9]{2}")  # that a table may hold
# how far numbers that count lie outside their columns, in ranges of these
FAR = 10


@dataclass(frozen=True)
class Header:
    """Whether there is one, and what to say about it."""

    is_there: bool
    note: str = ""


@dataclass(frozen=True)
class FirstRecord:
    """The first record, and what is below it."""

    cells: list[str]
    rows: list[list[str]]

    @cached_property
    def numbers(self) -> dict[int, str]:
        """Return the cells that are numbers, by their places."""
        return {j: cell.strip() for j, cell in enumerate(self.cells) if is_number(cell)}

    @cached_property
    def words(self) -> dict[int, str]:
        """Return the cells that are neither numbers nor missing, by their places."""
        return {
            j: cell.strip()
            for j, cell in enumerate(self.cells)
            if j not in self.numbers and not is_missing(cell)
        }

    @cached_property
    def n_named(self) -> int:
        """Count words above nothing but numbers, and an empty corner as one.

        The corner is what pandas writes above the names of rows.
        """
        is_corner = not self.cells[0].strip() and all(r[0].strip() for r in self.rows)
        n_words = sum(holds_numbers(self.rows, j) for j in self.words)
        return n_words + (is_corner and bool(self.rows))

    def below(self, j: int) -> list[str]:
        """Return the cells of a column, missing ones left out."""
        cells = (row[j].strip() for row in self.rows if len(row) > j)
        return [cell for cell in cells if not is_missing(cell)]

    def repeats(self) -> list[bool]:
        """Tell of each word if it comes again in its column, as no name would."""
        return [word in self.below(j) for j, word in self.words.items()]


def find_header(name: str, records: list[list[str]]) -> Header:
    """Decide whether the first record names the columns, or ask.

    Words above numbers are names. Numbers can be names, too: years, or numbers that
    count, if what is below them is of another kind.
    """
    first = FirstRecord(records[0], records[1:])
    verdict = judge_numbers(first) if first.numbers else judge_words(first)
    if verdict is None:
        raise InputError(
            f"{name} begins with {begins_with(records[0])}, which can be names of "
            "columns or a row; say --header or --no-header."
        )
    begins = begins_with(records[0])
    if verdict and first.numbers:
        note = f"The first line, {begins}, was taken for names of columns; if it is a "
        return Header(True, note + "row, say --no-header.")
    if not verdict and first.n_named:
        note = f"The first line, {begins}, was taken for a row; if it names columns, "
        return Header(False, note + "say --header.")
    return Header(verdict)


def begins_with(record: Sequence[str]) -> str:
    """Show a record in a sentence."""
    return listed(map(shown, record), len(record), most=3)


def judge_words(first: FirstRecord) -> bool | None:
    """Judge a first record without numbers."""
    if not first.words:
        return False
    if any(holds_numbers(first.rows, j) for j in first.words):
        return True
    width = len(first.cells)
    if first.rows and {len(row) for row in first.rows} == {width + 1}:
        return True  # R leaves out the name of the row names
    if any(holds_numbers(first.rows, j) for j in range(width)):
        return False if any(first.repeats()) else None
    return not any(first.repeats())


def judge_numbers(first: FirstRecord) -> bool | None:
    """Judge a first record with numbers."""
    if not first.n_named and any(first.repeats()):
        return False
    numbers = list(first.numbers.values())
    if are_years(numbers):
        return judge_years(first)
    if counts(numbers) and len(numbers) >= 3:
        return judge_counting(first)
    n_named, n_numbers = first.n_named, len(numbers)
    if are_labels(numbers) and is_foreign(first, FAR):
        if n_named:
            return True
        return None if are_rising(numbers) else False  # a row of outliers, perhaps
    if n_named == n_numbers or (n_named and are_rising(numbers)):
        return None
    return n_named > n_numbers


def judge_years(first: FirstRecord) -> bool | None:
    """Judge years, one after the other, and words perhaps."""
    below = [cell for j in first.numbers for cell in first.below(j)]
    share = sum(map(is_year, below)) / max(len(below), 1)
    numbers = list(first.numbers.values())
    if not below or share >= 0.9:
        return None if first.n_named else False
    if first.n_named or (len(numbers) >= 3 and counts(numbers) and share < 0.5):
        return True
    foreign = is_foreign(first, 0)
    if len(numbers) == 1:
        return None if foreign else False
    return True if foreign else None


def judge_counting(first: FirstRecord) -> bool | None:
    """Judge numbers at equal steps, such as 0, 1, 2 or 400, 410, 420."""
    if first.n_named or is_foreign(first, FAR):
        return True
    numbers = list(first.numbers.values())
    others = [[row[j] for j in first.numbers if j < len(row)] for row in first.rows]
    n_alike = sum(len(other) == len(numbers) and counts(other) for other in others)
    if n_alike >= 0.5 * len(others):
        return False  # all rows count here
    is_index = numbers[0] in ("0", "1") and value(numbers[1]) == value(numbers[0]) + 1
    n_least = 3 if first.words else 5
    return None if is_index and len(numbers) >= n_least else False


def is_year(cell: str) -> bool:
    """Whether a cell can be a year."""
    return ANY_YEAR.fullmatch(cell) is not None


def are_years(cells: list[str]) -> bool:
    """Whether cells are years, one after the other."""
    if not all(YEAR.fullmatch(cell) for cell in cells):
        return False
    rises = [a < b for a, b in pairwise(cells)]
    return len(set(cells)) == len(cells) and (all(rises) or not any(rises))


def are_labels(cells: list[str]) -> bool:
    """Whether cells are different whole numbers."""
    return all(cell.isdecimal() for cell in cells) and len(set(cells)) == len(cells)


def are_rising(cells: list[str]) -> bool:
    """Whether cells are several whole numbers, each larger than the one before."""
    is_rising = all(value(a) < value(b) for a, b in pairwise(cells))
    return is_rising and are_labels(cells) and len(cells) > 1


def counts(cells: list[str]) -> bool:
    """Whether cells are numbers at equal steps."""
    numbers = [value(cell) for cell in cells]
    steps = [b - a for a, b in pairwise(numbers)]
    return all(
        step != 0 and abs(step - steps[0]) <= 1e-6 * abs(steps[0]) for step in steps
    )


def is_foreign(first: FirstRecord, far: float) -> bool:
    """Whether the numbers of the first record are of another kind than those below.

    They are whole numbers above fractions, or outside the range of their columns by
    `far` times its width.
    """
    judged = []
    for j, cell in first.numbers.items():
        below = [text for text in first.below(j) if is_number(text)]
        if not below or (far and len(below) < 3):
            return False
        values = [value(text) for text in below]
        low, high = min(values), max(values)
        distance = max(low - value(cell), value(cell) - high)
        is_whole = cell.isdecimal() and all(has_fraction(text) for text in below)
        judged.append(is_whole or distance > far * (high - low))
    return bool(judged) and all(judged)


def has_fraction(cell: str) -> bool:
    """Whether a number is written with decimals."""
    return "." in cell or "," in cell


def value(cell: str) -> float:
    """Return a number, near enough to compare it with others."""
    digits = re.sub(f"{UNIT}|[' \u00a0\u202f\u2019]", "", cell).replace("\u2212", "-")
    *whole, last = re.split("[.,]", digits)
    try:
        return float("".join(whole) + "." + last if whole else last)
    except ValueError:
        return float("nan")
