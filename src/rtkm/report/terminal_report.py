"""The findings on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol
from unicodedata import category

from rtkm._number_text import UNKNOWN, counted, figure, fixed, multiple, percent
from rtkm.report.findings import Cell, Findings, ListedOutliers, OutlierRow
from rtkm.report.summary import center_text
from rtkm.tables.messages import LONGEST_SHOWN

MOST_CLUSTERS = 20
MOST_OUTLIERS = 10
WIDEST_CELL = 100  # letters
NAME_WIDTH = 16  # letters of a feature
COMMANDS = ("Cc", "Cf", "Cs", "Zl", "Zp")  # categories of letters that do not show


class Terminal(Protocol):
    """Where findings are told."""

    @property
    def width(self) -> int:
        """Return how many letters go on a line."""

    def say(self, text: str) -> None:
        """Print a text, folded to the width of the terminal."""

    def skip(self) -> None:
        """Leave a line empty."""

    def table(self, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Print a table."""


def tell_findings(terminal: Terminal, findings: Findings) -> None:
    """Print what was found: sentences, clusters, and the farthest outliers."""
    terminal.skip()
    terminal.say("\n".join(findings["summary"]))
    tell_clusters(terminal, findings)
    tell_outliers(terminal, findings["outliers"])
    terminal.skip()


def tell_clusters(terminal: Terminal, findings: Findings) -> None:
    """Print size, share and center of each cluster."""
    clusters, features = findings["clusters"], findings["features"]
    if not clusters:
        return
    stable = [] if findings["resampling"] is None else ["stable"]
    shown, prepared = most_telling(findings, terminal.width), findings["preparation"]
    terminal.skip()
    terminal.table(
        ["cluster", "rows", "share", *stable, *(short(features[j]) for j in shown)],
        [
            [
                str(cluster["label"]),
                f"{cluster['size']:,}",
                percent(cluster["share"]),
                *[fixed(cluster["stability"], 2)] * len(stable),
                *(center_text(prepared, j, cluster["center"][j]) for j in shown),
            ]
            for cluster in clusters[:MOST_CLUSTERS]
        ],
    )
    left = [
        counted(n_left, f"more {noun}")
        for n_left, noun in (
            (len(clusters) - MOST_CLUSTERS, "cluster"),
            (len(features) - len(shown), "feature"),
        )
        if n_left > 0
    ]
    if left:
        terminal.say(f"  ({', '.join(left)}: see --report or --json)")


def most_telling(findings: Findings, width: int) -> list[int]:
    """Return the features that fit in, of those that tell clusters apart most."""
    features = findings["features"]
    places: list[int] = []
    left = width - 38  # for label, size, share and stability
    for contrast in findings["contrasts"]:
        left -= max(len(short(contrast["feature"])), 8) + 2
        if left < 0 and places:
            break
        places.append(features.index(contrast["feature"]))
    return places


def short(feature: str) -> str:
    """Return a name that fits over a column."""
    return on_one_line(feature, NAME_WIDTH)


def tell_outliers(terminal: Terminal, outliers: ListedOutliers) -> None:
    """Print the farthest outliers, and what makes them so."""
    rows = outliers["rows"][:MOST_OUTLIERS]
    if not rows:
        return
    has_ids = any(row["id"] is not None for row in rows)
    has_clusters = any(row["nearest"] is not None for row in rows)
    has_reasons = any(map(because, rows))
    terminal.skip()
    terminal.table(
        [
            *("rank", "outlier", *["id"] * has_ids, "score", "times cut-off"),
            *[*["nearest"] * has_clusters, *["because of"] * has_reasons],
        ],
        [
            [
                UNKNOWN if row["rank"] is None else f"{row['rank']:,}",
                f"row {row['row']:,}",
                *[on_one_line("" if row["id"] is None else row["id"], 20)] * has_ids,
                figure(row["score"]),
                multiple(row["times_cutoff"]),
                *["-" if row["nearest"] is None else str(row["nearest"])]
                * has_clusters,
                *[because(row)] * has_reasons,
            ]
            for row in rows
        ],
    )
    if outliers["count"] > len(rows):
        terminal.say(f"  ({outliers['count'] - len(rows):,} more)")


def because(row: OutlierRow) -> str:
    """Return the features that make a row an outlier, in few words."""
    named = [
        f"{short(reason['feature'])} {cell(reason['value'])} "
        f"({percent(reason['share'])})"
        for reason in row["reasons"][:2]
    ]
    filled = [f"{short(feature)} filled in" for feature in row["filled"][:1]]
    return ", ".join(named + filled)


def cell(value: Cell, digits: int = 4) -> str:
    """Write a cell of a table: a number, or a category."""
    return short(value) if isinstance(value, str) else figure(value, digits)


# Tables


def table_lines(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Return the lines of a table: words to the left, numbers to the right.

    Examples
    --------
    >>> for line in table_lines(["cluster", "size"], [["a", "1,000"], ["b", "7"]]):
    ...     print(line)
      cluster   size
      a        1,000
      b            7
    """
    cells = [[on_one_line(cell, WIDEST_CELL) for cell in row] for row in rows]
    columns = list(zip(header, *cells, strict=True))
    widths = [max(map(len, column)) for column in columns]
    is_number = [all(map(looks_numeric, column[1:])) for column in columns]
    for row in (header, *cells):
        padded = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, is_number, strict=True)
        )
        yield "  " + "  ".join(padded).rstrip()


def looks_numeric(cell: str) -> bool:
    """Whether a cell belongs to the right."""
    return not cell or cell in "-<>" or cell.lstrip("-<> ")[:1].isdigit()


# Text of the user's


def on_one_line(text: object, most: int = LONGEST_SHOWN) -> str:
    r"""Shorten a text, and show what would move the cursor or hide something.

    Examples
    --------
    >>> print(on_one_line("red \x1b[31m\n"), len(on_one_line("a" * 99)))
    red \x1b[31m\n 40
    """
    text = harmless(str(text).replace("\n", "\\n"))
    return text if len(text) <= most else text[: most - 3] + "..."


def harmless(text: str) -> str:
    r"""Spell out letters that command a terminal, or hide others.

    Examples
    --------
    >>> print(harmless("a\x1b[31mb\u202ec"))
    a\x1b[31mb\u202ec
    """
    return "".join(
        c if c == "\n" or category(c) not in COMMANDS else escaped(c) for c in text
    )


def escaped(letter: str) -> str:
    """Spell a letter out."""
    return letter.encode("unicode_escape").decode()
