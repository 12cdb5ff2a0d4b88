"""The outliers, a line for each: why it is one, and what would mend it."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from rtkm.cli.figures import known
from rtkm.cli.report.parts import cell, classed, row_head, swatch, table
from rtkm.cli.report.words import (
    REPEATED,
    UNKNOWN,
    alike,
    all_known,
    number,
    own,
    percent,
    shortened,
)

MOST_LINES = 500
FEATURE = 30
NAME_OF_ROW = 32
ARROW = "\N{NO-BREAK SPACE}\N{RIGHTWARDS ARROW}\N{NO-BREAK SPACE}"

Outlier = dict[str, Any]

SEARCH = (
    '<div class="controls" id="controls" hidden><label for="search">Search the '
    'outliers</label> <input type="search" id="search" autocomplete="off" '
    'spellcheck="false"> <span id="found" role="status" aria-live="polite"></span>'
    "</div>\n"
)


@dataclass(frozen=True)
class Column:
    """A column of the table: its head, how it is sorted, and its cells."""

    name: str
    sorts: str  # "number" or "text"
    make: Callable[[Outlier], str]


def draw(outliers: dict[str, Any]) -> str:
    """Return the table with what is to be known about it."""
    rows = outliers["rows"]
    if not outliers["count"] or not rows:
        none = "No row is an outlier." if not outliers["count"] else "None is listed."
        return f"<p>{none}</p>\n"
    shown = rows[:MOST_LINES]
    columns = columns_of(shown)
    heads = "".join(sortable_head(column) for column in columns)
    lines = [line(i, row, columns) for i, row in enumerate(shown)]
    note = f"<p>{introduction(outliers, len(shown))}</p>\n"
    made = table("outlier-rows", caption(shown), heads, lines, "tall")
    return note + SEARCH + made


def sortable_head(column: Column) -> str:
    """Return the head of a column, which tells the program how to sort it."""
    kind = classed("number" if column.sorts == "number" else "")
    return f'<th scope="col"{kind} data-sorts="{column.sorts}">{column.name}</th>'


def introduction(outliers: dict[str, Any], n_shown: int) -> str:
    """Return how many there are, and from which score on."""
    count = outliers["count"]
    told = [f"{count:,} of the rows used ({percent(outliers['share'])})"]
    told[0] += " is an outlier." if count == 1 else " are outliers."
    if n_shown < count:
        told.append(f"The {n_shown:,} with the largest scores are listed.")
    if known(outliers.get("cutoff")) is not None:
        told.append(
            f"A row is an outlier if its score is beyond {number(outliers['cutoff'])}."
        )
    return " ".join(told)


def caption(shown: Sequence[Outlier]) -> str:
    """Return how the lines are to be read."""
    told = "Outliers, the largest scores first. Rows are counted from 1."
    if any(row["confidence"] == "doubtful" for row in shown):
        told += " Doubtful ones are nearly inliers."
    if any(row["reasons"] for row in shown):
        told += (
            " Why: the share of the squared distance to the nearest center that a "
            "feature makes up, the value, and that of the center."
        )
    if any(row["change"] for row in shown):
        told += (
            " Change: the smallest one, of a single feature, that would make the row "
            f"an inlier, and of which cluster; {UNKNOWN} where none would, or none is "
            "known."
        )
    return told


def columns_of(shown: Sequence[Outlier]) -> list[Column]:
    """Return the columns that have something to tell."""
    scores = written_scores([row["score"] for row in shown])
    columns = []
    if any(row["id"] is not None for row in shown):
        columns.append(Column("id", "text", lambda row: id_cell(row["id"])))
    columns.append(Column("score", "number", lambda row: score_cell(row, scores)))
    if any(row["nearest"] is not None for row in shown):
        columns.append(Column("nearest", "number", nearest_cell))
    if any(row["confidence"] is not None for row in shown):
        columns.append(Column("confidence", "text", confidence_cell))
    if any(row["reasons"] for row in shown):
        columns.append(Column("why", "text", why_cell))
    if any(row["change"] for row in shown):
        columns.append(Column("change", "text", lambda row: change_cell(row["change"])))
    first = Column(
        "row", "number", lambda row: row_head(f"{row['row']:,}", "number short")
    )
    return [first, *columns]


def line(position: int, row: Outlier, columns: Sequence[Column]) -> str:
    """Return the line of an outlier."""
    cells = "".join(column.make(row) for column in columns)
    return f'<tr id="outlier-{position}" data-row="{int(row["row"])}">{cells}</tr>'


def written_scores(scores: Sequence[Any]) -> dict[Any, str]:
    """Return every score as it is written, with decimals that suit most of them."""
    sizes = [abs(score) for score in all_known(scores)]
    typical = statistics.median(sizes) if sizes else 0.0
    return dict(zip(scores, alike(scores, typical, 4), strict=True))


def score_cell(row: Outlier, written: dict[Any, str]) -> str:
    """Return the score; the number to sort by is not rounded."""
    score = known(row["score"])
    by = "" if score is None else f' data-value="{score!r}"'
    return f'<td class="number"{by}>{written[row["score"]]}</td>'


def id_cell(id: Any) -> str:
    """Return the identifier of a row."""
    return cell(UNKNOWN if id is None else own(id, NAME_OF_ROW, REPEATED), "id")


def nearest_cell(row: Outlier) -> str:
    """Return the cluster that an outlier is nearest to."""
    label = row["nearest"]
    return cell(UNKNOWN if label is None else f"{swatch(label)} {label}", "number")


def confidence_cell(row: Outlier) -> str:
    """Return how sure it is."""
    return cell(escape(str(row["confidence"] or UNKNOWN)))


def why_cell(row: Outlier) -> str:
    """Return the features that make a row an outlier."""
    reasons = row["reasons"]
    if not reasons:
        return cell(UNKNOWN)
    items = "".join(
        f"<li><b>{percent(reason['share'])}</b> "
        f"<span>{own(reason['feature'], FEATURE, REPEATED)} "
        f"{number(reason['value'])}, <i>center {number(reason['center'])}</i></span>"
        "</li>"
        for reason in reasons
    )
    if row["filled"]:
        names = ", ".join(own(name, FEATURE, REPEATED) for name in row["filled"])
        items += f"<li><b></b> <span><i>filled in: {names}</i></span></li>"
    return cell(f"<ul>{items}</ul>", "why")


def change_cell(change: dict[str, Any] | None) -> str:
    """Return the smallest change that makes an inlier."""
    if change is None:
        return cell(UNKNOWN)
    return cell(
        f"{own(change['feature'], FEATURE, REPEATED)} "
        f'<span class="nowrap">{number(change["from"])}{ARROW}'
        f"{number(change['to'])}</span> "
        f'<span class="nowrap">{swatch(change["cluster"])} {change["cluster"]}</span>'
    )


def main_reason(row: Outlier) -> str:
    """Return in one line, which is not HTML, what counts most."""
    if not row["reasons"]:
        score = number(row["score"])
        return f"score {score}"
    reason = row["reasons"][0]
    return (
        f"{shortened(reason['feature'], FEATURE)} {number(reason['value'])}, center "
        f"{number(reason['center'])}: {percent(reason['share'])} of its squared "
        "distance"
    )
