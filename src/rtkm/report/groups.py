"""How clusters and outliers differ in columns that had no part in finding them.

A group is the rows of a cluster, or the outliers; the others are all other rows that
were used. If a column had nothing to do with the features, its cells would be as in
rows drawn at random, whatever the method did: that is what is tested, for each column
and group. A column with m tests has m chances in each group, so that its smallest
p-value is multiplied by m; these of all columns and groups go through Benjamini and
Hochberg's procedure. What is found then must be large enough to matter, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rtkm.choosing.tails import benjamini_hochberg
from rtkm.report.findings import Category, DescribedGroup, LeftOut, Shift
from rtkm.report.group_tests import (
    Counts,
    count,
    count_chances,
    from_middle,
    rank_sums,
)
from rtkm.report.table_results import Floats, Places, TableResults
from rtkm.tables.coding import NO_CODE, Coded, code, has_more_than
from rtkm.tables.identifiers import as_chosen
from rtkm.tables.sheet import AnyTable

OUTLIERS = -1
LEVEL = 0.05  # share of the differences told that are expected to be due to chance
FEWEST_ROWS = 5  # in a group, and of a category, to be tested
MOST_CATEGORIES = 200
ROWS_PER_CATEGORY = 3  # at least, on average
MOST_NUMBERS = 12  # or dates that are told one by one, as categories are

# what is large enough to matter: points between shares, or a share that is so many
# times that of all rows and a few points above it; and how often a row of the group
# is the larger one, or the one farther from the middle, of two
MANY_POINTS = 0.2
FEW_POINTS = 0.05
MANY_TIMES = 2.0
OFTEN_LARGER = 0.7


@dataclass(frozen=True)
class OrderTests:
    """Whether the dates or numbers of g groups are larger, or farther from the middle.

    Attributes
    ----------
    larger, farther : ndarrays of shape (g,)
        How often a row of the group is, compared with another.
    chances : ndarray of shape (g, 2)
        Their p-values.
    """

    larger: Floats
    farther: Floats
    chances: Floats


@dataclass(frozen=True)
class Tests:
    """What the tests of a column say of g groups, by m categories and by order.

    Attributes
    ----------
    name : str
        The column.
    coded : Coded
        Its cells.
    places : ndarray of shape (m,)
        The codes of the categories, -1 for missing cells.
    totals, counts : ndarrays of shapes (m,) and (g, m)
        How often each is there, in all rows that were used and in each group.
    chances : ndarray of shape (g, m)
        P-values of the counts.
    order : OrderTests or None
        None where the categories tell it all.
    """

    name: str
    coded: Coded
    places: Counts
    totals: Counts
    counts: Counts
    chances: Floats
    order: OrderTests | None

    @property
    def n_tests(self) -> int:
        """How many tests each group has: one of two categories tells of both."""
        n_categories = len(self.places)
        is_pair = n_categories == 2 and self.totals.sum() == self.n_rows
        return (1 if is_pair else n_categories) + 2 * (self.order is not None)

    @property
    def n_rows(self) -> int:
        """The number of rows that were used."""
        return len(self.coded.codes)

    def corrected(self) -> Floats:
        """Return for each group the smallest p-value, corrected for their number."""
        chances = [self.chances, *([self.order.chances] if self.order else [])]
        return np.minimum(1.0, self.n_tests * np.hstack(chances).min(axis=1))


def describe_groups(
    answers: TableResults, table: AnyTable, members: Sequence[Places]
) -> LeftOut:
    """Find how groups differ in the columns that were left out."""
    groups = groups_of(answers, members)
    labels, rows = list(groups), list(groups.values())
    tested, untested = [], []
    for name in answers.prepared.left_out:
        coded = look_at(table, name, answers.prepared.kept) if rows else None
        tests = None if coded is None else run_tests(name, coded, rows)
        if tests is None:
            untested.append(name)
        else:
            tested.append(tests)
    limit = largest_told(tested)
    return {
        "tested": [tests.name for tests in tested],
        "untested": untested,
        "groups": [
            group
            for i, label in enumerate(labels)
            if (group := describe(label, rows[i], i, tested, limit)) is not None
        ],
    }


def groups_of(answers: TableResults, members: Sequence[Places]) -> dict[int, Places]:
    """Return the rows of each group that may be told from others, by its label."""
    groups = dict(enumerate(members)) if answers.n_clusters else {}
    groups[OUTLIERS] = np.flatnonzero(answers.outliers)
    n_rows = len(answers.outliers)
    return {
        label: rows
        for label, rows in groups.items()
        if FEWEST_ROWS <= len(rows) <= n_rows - FEWEST_ROWS
    }


def largest_told(tested: Sequence[Tests]) -> float:
    """Return the largest corrected p-value that is not put down to chance.

    Where a column tells a group from others, all of its tests may be told that are no
    larger (Y. Benjamini, M. Bogomolov, "Selective inference on multiple families of
    hypotheses", Journal of the Royal Statistical Society B 76 (2014), 297-318).
    """
    if not tested:
        return -1.0
    chances = np.concatenate([tests.corrected() for tests in tested])
    limit = benjamini_hochberg(chances, np.count_nonzero, len(chances), LEVEL)
    found = chances <= limit
    return LEVEL * float(found.mean()) if found.any() else -1.0


# Tests


def look_at(table: AnyTable, name: str, kept: NDArray[np.bool_]) -> Coded | None:
    """Return the cells of a column, unless there is nothing to compare."""
    column = table.look(name)
    if getattr(table, "is_named", True):
        column = as_chosen(column)
    # many texts are seen at a glance, which saves large tables of them the counting
    coded = None if has_more_than(MOST_CATEGORIES, column) else code(table, column)
    if coded is None:
        return None
    coded = replace(coded, codes=coded.codes[kept])
    most = min(MOST_CATEGORIES, len(coded.codes) / ROWS_PER_CATEGORY)
    return coded if has_order(coded) or coded.n_values <= most else None


def has_order(coded: Coded) -> bool:
    """Whether cells are compared by their order: many numbers or dates."""
    return coded.kind in ("number", "date") and coded.n_values > MOST_NUMBERS


def run_tests(name: str, coded: Coded, groups: Sequence[Places]) -> Tests | None:
    """Test a column, unless it is constant."""
    codes, n_rows = coded.codes, len(coded.codes)
    # of many numbers, only whether they are missing is a matter of categories
    labels = np.minimum(codes, 0) if has_order(coded) else codes
    n_labels = 1 + (1 if has_order(coded) else coded.n_values)
    totals = count(labels, n_labels)
    counts = np.array([count(labels[rows], n_labels) for rows in groups])
    told = (totals >= FEWEST_ROWS) & (totals <= n_rows - FEWEST_ROWS)
    if has_order(coded):
        told[0] = False
    elif not told.any():
        return None
    sizes = np.array([len(rows) for rows in groups])
    return Tests(
        name,
        coded,
        np.append(np.arange(n_labels - 1), NO_CODE)[told],
        totals[told],
        counts[:, told],
        count_chances(counts[:, told], sizes, totals[told], n_rows),
        test_order(codes, groups) if has_order(coded) else None,
    )


def test_order(codes: Counts, groups: Sequence[Places]) -> OrderTests:
    """Test dates or numbers by their order."""
    larger, of_size = rank_sums(codes, groups)
    farther, of_distance = rank_sums(from_middle(codes), groups)
    return OrderTests(larger, farther, np.column_stack([of_size, of_distance]))


# What is told


def describe(
    label: int, rows: Places, i: int, tested: Sequence[Tests], limit: float
) -> DescribedGroup | None:
    """Return how a group differs from all rows, the largest differences first."""
    categories: list[Category] = []
    shifts: list[Shift] = []
    for tests in tested:
        categories += telling_categories(tests, i, len(rows), limit)
        shifts += telling_shift(tests, i, rows, limit)
    if not categories and not shifts:
        return None
    return {
        "label": label,
        "size": len(rows),
        "categories": sorted(categories, key=weight, reverse=True),
        "shifts": sorted(shifts, key=weight_of_shift, reverse=True),
    }


def weight(category: Category) -> float:
    """Return how large a difference is, from 0 to 1."""
    return abs(category["share"] - category["share_of_all"])


def weight_of_shift(shift: Shift) -> float:
    """Return how large a difference is, from 0 to 1."""
    return 2 * max(abs(shift["larger"] - 0.5), abs(shift["farther"] - 0.5))


def telling_categories(tests: Tests, i: int, size: int, limit: float) -> list[Category]:
    """Return the categories of which a group has many more than all rows, or fewer.

    Fewer are told only where there is none of which it has more: that follows.
    """
    found: list[Category] = []
    for j, place in enumerate(tests.places.tolist()):
        share = int(tests.counts[i, j]) / size
        of_all = int(tests.totals[j]) / tests.n_rows
        chance = tests.n_tests * float(tests.chances[i, j])
        if chance <= limit and matters(share, of_all):
            found.append(
                {
                    "column": tests.name,
                    "category": None if place == NO_CODE else tests.coded.text(place),
                    "count": int(tests.counts[i, j]),
                    "share": share,
                    "share_of_all": of_all,
                    "chance": min(chance, 1.0),
                }
            )
    more = [each for each in found if each["share"] > each["share_of_all"]]
    return more or found


def matters(share: float, of_all: float) -> bool:
    """Whether a share differs enough from that in all rows to be told."""
    gain = share - of_all
    return abs(gain) >= MANY_POINTS or (
        gain >= FEW_POINTS and share >= MANY_TIMES * of_all
    )


def telling_shift(tests: Tests, i: int, rows: Places, limit: float) -> list[Shift]:
    """Return where the dates or numbers of a group are, if that differs much."""
    if tests.order is None:
        return []
    larger, farther = float(tests.order.larger[i]), float(tests.order.farther[i])
    chances = tests.n_tests * tests.order.chances[i]
    is_much = [max(often, 1 - often) >= OFTEN_LARGER for often in (larger, farther)]
    if not ((chances <= limit) & is_much).any():
        return []
    codes = tests.coded.codes
    return [
        {
            "column": tests.name,
            "larger": larger,
            "farther": farther,
            "quartiles": quartiles(tests.coded, codes[rows]),
            "quartiles_of_all": quartiles(tests.coded, codes),
            "chance": min(float(chances.min()), 1.0),
        }
    ]


def quartiles(coded: Coded, codes: Counts) -> list[str]:
    """Return the values at a quarter, half and three quarters of the rows."""
    there = codes[codes != NO_CODE]
    places = np.quantile(there, (0.25, 0.5, 0.75), method="inverted_cdf")
    return [coded.text(int(place)) for place in places]
