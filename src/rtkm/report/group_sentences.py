"""How groups differ in columns that were not used, in plain language."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rtkm._number_text import counted, figure, percent
from rtkm.report.findings import Category, DescribedGroup, LeftOut, Shift
from rtkm.report.groups import OUTLIERS, weight, weight_of_shift
from rtkm.tables.messages import shown

MOST_GROUPS = 4  # told in the summary
MOST_COLUMNS = 2  # of each
MOST_ON_PAGE = 20  # differences of a group
SHORT = 4  # as years are, which are written without a comma
COUNTED = 100  # rows up to which counts are told instead of percent


def about_groups(left_out: LeftOut) -> list[str]:
    """Tell of the groups that differ most, the outliers among them, and in what."""
    groups = left_out["groups"]
    if not groups:
        return []
    ranked = sorted(groups, key=lambda g: (g["label"] != OUTLIERS, -most_telling(g)))
    told = [group for group in groups if group in ranked[:MOST_GROUPS]]
    sentences = [
        "Columns that were not used tell the groups apart, too:",
        *(f"{title(group)}: {in_short(group)}." for group in told),
    ]
    n_left = len(groups) - len(told)
    if n_left:
        verb = "differs" if n_left == 1 else "differ"
        sentences.append(f"{counted(n_left, 'more cluster')} {verb} in some of them.")
    return sentences


def title(group: DescribedGroup) -> str:
    """Return what a group is called."""
    is_cluster = group["label"] != OUTLIERS
    return f"Cluster {group['label']}" if is_cluster else "Outliers"


def in_short(group: DescribedGroup) -> str:
    """Tell the largest differences, one for each of a few columns."""
    by_column: dict[str, str] = {}
    for column, words in in_full(group):
        by_column.setdefault(column, words)
    told = list(by_column.values())[:MOST_COLUMNS]
    n_left = len(by_column) - len(told)
    if n_left:
        told.append(f"and {counted(n_left, 'more column')}")
    return "; ".join(told)


def in_full(group: DescribedGroup) -> Iterator[tuple[str, str]]:
    """Yield all differences, the largest first, each with its column."""
    differences = [
        *((weight(c), c["column"], of_category(c, group)) for c in group["categories"]),
        *((weight_of_shift(s), s["column"], of_shift(s)) for s in group["shifts"]),
    ]
    for _, column, words in sorted(differences, key=lambda told: -told[0]):
        yield column, words


@dataclass(frozen=True)
class Differences:
    """How a group differs, as the page shows it."""

    label: int
    told: list[str]
    n_left: int


def differences(left_out: LeftOut, labels: set[int]) -> dict[int, Differences]:
    """Return how some clusters differ, and the outliers, by their labels."""
    found = {}
    for group in left_out["groups"]:
        if group["label"] in {OUTLIERS, *labels}:
            words = [words for _, words in in_full(group)]
            n_left = max(0, len(words) - MOST_ON_PAGE)
            told = words[:MOST_ON_PAGE]
            found[group["label"]] = Differences(group["label"], told, n_left)
    return found


def most_telling(group: DescribedGroup) -> float:
    """Return the largest difference of a group."""
    weights = [*map(weight, group["categories"])]
    return max([*weights, *map(weight_of_shift, group["shifts"])])


def of_category(category: Category, group: DescribedGroup) -> str:
    """Tell how many rows of a group hold a category, or do not hold anything."""
    count, of_all = category["count"], category["share_of_all"]
    column, name = shown(category["column"]), category["category"]
    if name is not None:
        verbs, what = ("is", "are"), f"{column} = {shown(name)}"
    elif category["share"] > of_all:
        verbs, what = ("has", "have"), f"no {column}"
    else:  # rather than that none has none
        verbs, what = ("has", "have"), column
        count, of_all = group["size"] - count, 1 - of_all
    rows, is_one = how_many(count, group["size"])
    return f"{rows} {verbs[0 if is_one else 1]} {what} ({percent(of_all)} of all)"


def how_many(count: int, size: int) -> tuple[str, bool]:
    """Write how many rows of a group it are, and whether the verb is one of one row."""
    if count == 0:
        return "none", True
    if size <= COUNTED:
        return f"{count:,} of {size:,}", count == 1
    return percent(count / size), False


def of_shift(shift: Shift) -> str:
    """Tell where the middle half of a group lies, in dates or numbers."""
    low, _, high = map(in_words, shift["quartiles"])
    low_of_all, _, high_of_all = map(in_words, shift["quartiles_of_all"])
    return (
        f"half have {shown(shift['column'])} between {low} and {high} (half of all "
        f"between {low_of_all} and {high_of_all})"
    )


def in_words(cell: str) -> str:
    """Write a date as it is, and a long number with few digits and thousands apart."""
    try:
        number = float(cell)
    except ValueError:
        return cell
    return cell if len(cell) <= SHORT else figure(number)
