"""The report: one HTML page that shows what was found and needs nothing from outside.

`render` draws it from the findings alone. Here they are put into the order and the
words of the page; `templates/report.html` lays them out. What a page cannot do without
a program, it shows without: pictures are SVG and tables are HTML before `report.js`
adds a tip, an order and a search.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

from rtkm._number_text import alike, all_known, counted, known, multiple, ordinal
from rtkm.report.choice_pictures import draw_curves, draw_gap, draw_plateau, draw_scores
from rtkm.report.findings import (
    Between,
    Cluster,
    ColumnPreparation,
    Findings,
    Number,
    OutlierRow,
    Outliers,
    Overlap,
    RowBetween,
    SortedScores,
)
from rtkm.report.group_sentences import differences
from rtkm.report.pictures import ScatterPicture, draw_path, lay_out
from rtkm.report.strips import HistogramPicture, draw_histogram, draw_shares
from rtkm.report.summary import how_many, n_numbers
from rtkm.report.templating import (
    N_COLORS,
    UNKNOWN,
    cell,
    number,
    percent,
    render_page,
    shortened,
)

# more than these make pictures and tables that nobody reads
MOST_CLUSTERS = 50
MOST_STRIPS = 12
MOST_OVERLAPPING = 40
MOST_COLUMNS = 40
MOST_OUTLIERS = 500
MOST_BETWEEN = 200
BLOCK = 12  # clusters side by side; more do not fit on paper
FEATURE = 30  # letters of a feature in the table of outliers
NAME_OF_POINT = 24
N_SHADES = 4  # of cells that tell how many rows clusters share
# steps of color of a center, and how many spreads from the middle each of them begins
STEPS = (0.25, 0.5, 1.0, 2.0)
MINUS = "\N{MINUS SIGN}"

Item = TypeVar("Item")


def render(findings: Findings) -> str:
    """Draw the report.

    Parameters
    ----------
    findings : Findings
        What was found, as ``--json`` writes it.

    Returns
    -------
    str
        A complete HTML document, to be written as UTF-8. The same findings give the
        same document. It requests nothing from outside, and runs no program but its
        own, whatever names, identifiers and cells hold.
    """
    clusters = findings["clusters"]
    shown = largest(clusters, MOST_CLUSTERS)
    told, objective = findings["scatter"], findings["objective"]
    choice, outliers = findings["choice"], findings["outliers"]
    # the values of a single feature stand below its histogram
    histogram = next(iter(findings["distributions"]["features"]), None)
    scatter = lay_out(told, shown, histogram) if told else None
    return render_page(
        "report.html",
        styles=("colors.css", "base.css", "report.css"),
        program="report.js",
        findings=findings,
        sections=sections(findings, scatter),
        key_figures=key_figures(findings),
        scatter=scatter,
        n_colors=N_COLORS,
        n_clusters=len(clusters),
        n_shown=len(shown),
        sizes=[SizeBar.of(cluster, shown) for cluster in shown],
        centers=center_tables(findings, shown),
        steps=STEPS,
        histograms=histograms(findings),
        plateau=draw_plateau(choice) if choice else None,
        gap=draw_gap(choice) if choice else None,
        curves=draw_curves(choice) if choice else None,
        how_many_outliers=how_many(findings),
        scores=draw_scores(scores_to_draw(findings), outliers["cutoff"]),
        outliers=outlier_table(outliers),
        feature_width=FEATURE,
        between=between_table(findings["between"]) if findings["between"] else None,
        differences=differences(findings["left_out"], {c["label"] for c in shown}),
        overlap=overlap_tables(findings["overlap"]) if findings["overlap"] else None,
        objective_path=draw_path(objective) if objective else None,
        parameters=parameters(findings),
        seconds=seconds(findings),
        preparation=preparation_table(findings["preparation"]),
        most_columns=MOST_COLUMNS,
        drawn=for_program(findings, scatter),
    )


def scores_to_draw(findings: Findings) -> SortedScores | None:
    """Return the scores, with all outliers alike where the choice says who stands out.

    Trimmed rows that do not stand out are told from the others only where a number was
    asked for: the shapes of the fitted clusters would judge a second time, by another
    tail than the one that the choice and its sentences tell of.
    """
    scores = findings["sorted_scores"]
    if scores is None or findings["outliers"]["decided_by"] != "choice":
        return scores
    return {**scores, "stands_out": None}


def sections(findings: Findings, scatter: ScatterPicture | None) -> dict[str, str]:
    """Return ids and titles of the sections that there is something to show in."""
    titles = {
        "summary": ("Summary", True),
        "map": ("The rows at a glance", scatter is not None and scatter.points),
        "choice": ("How many clusters, how many outliers?", findings["choice"]),
        "clusters": ("Clusters", findings["clusters"]),
        "distributions": ("Features", findings["distributions"]["features"]),
        "outliers": ("Outliers", True),
        "between": ("Rows between clusters", findings["between"]),
        "overlap": ("Rows in several clusters", findings["overlap"]),
        "objective": ("How the fit went", findings["objective"]),
        "method": ("How it was done", True),
        "table": ("The table", True),
    }
    return {id: title for id, (title, is_there) in titles.items() if is_there}


def largest(clusters: Sequence[Cluster], most: int) -> list[Cluster]:
    """Return the largest clusters, in their own order; ties go to the first."""
    ranked = sorted(clusters, key=lambda cluster: -cluster["size"])[:most]
    chosen = {cluster["label"] for cluster in ranked}
    return [cluster for cluster in clusters if cluster["label"] in chosen]


def in_blocks(items: Sequence[Item], most: int) -> list[Sequence[Item]]:
    """Cut a sequence into blocks of nearly equal length, none longer than `most`."""
    n_blocks = max(1, -(-len(items) // most))
    cuts = [len(items) * i // n_blocks for i in range(n_blocks + 1)]
    return [items[a:b] for a, b in pairwise(cuts)]


# Summary


@dataclass(frozen=True)
class KeyFigure:
    """A number, what it counts, and what is said beside it."""

    count: str
    noun: str
    beside: str | None

    @classmethod
    def of(cls, count: int, noun: str, beside: str | None = None) -> KeyFigure:
        """Write a number of things."""
        written, nouns = counted(count, noun).split(" ", 1)
        return cls(written, nouns, beside)


def key_figures(findings: Findings) -> list[KeyFigure]:
    """Return the few numbers that tell most."""
    source, outliers = findings["source"], findings["outliers"]
    clusters = findings["clusters"]
    of_all = f"of {source['n_rows']:,}" if source["n_dropped"] else None
    share = percent(outliers["share"]) if outliers["count"] else None
    figures = [
        KeyFigure.of(source["n_used"], "row", of_all),
        KeyFigure.of(len(findings["features"]), "feature"),
    ]
    if clusters:
        n_there = sum(cluster["size"] > 0 for cluster in clusters)
        figures.append(KeyFigure.of(n_there, "cluster"))
    figures.append(KeyFigure.of(outliers["count"], "outlier", share))
    if clusters:
        between = KeyFigure.of(findings["n_doubtful"], "row")
        figures.append(replace(between, noun=f"{between.noun} between clusters"))
    return figures


# Clusters: how large they are, and where their centers lie


@dataclass(frozen=True)
class BarPart:
    """Part of a bar: rows of one kind, where it begins and how wide it is."""

    kind: str
    start: float
    width: float


@dataclass(frozen=True)
class SizeBar:
    """A bar as long as a cluster is large, in parts of falling certainty."""

    cluster: Cluster
    parts: list[BarPart]
    told: str

    @classmethod
    def of(cls, cluster: Cluster, among: Sequence[Cluster]) -> SizeBar:
        """Draw the bar of a cluster."""
        most = max(other["size"] for other in among)
        sure = cluster["confidence"]
        counts = {kind: sure[kind] for kind in ("core", "border", "doubtful")}
        parts, start = [], 0.0
        for kind, count in counts.items():
            width = 100 * count / most if most else 0.0
            if width > 0:
                parts.append(BarPart(kind, start, width))
            start += width
        told = ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
        return cls(cluster, parts, f"{counted(cluster['size'], 'row')}: {told}")


@dataclass(frozen=True)
class Shaded:
    """A cell of a table: what is written, the class that shades it, and a remark."""

    text: str
    shade: str
    beside: str = ""


@dataclass(frozen=True)
class ShadedRow:
    """A row of a table of shaded cells: its name, or the label of its cluster."""

    head: str | int
    cells: list[Shaded]


@dataclass(frozen=True)
class ShadedTable:
    """A table with a column for each of some clusters."""

    labels: list[int]
    rows: list[ShadedRow]


def center_tables(findings: Findings, clusters: Sequence[Cluster]) -> list[ShadedTable]:
    """Return the centers, side by side as many as fit on paper."""
    rows = [center_row(findings, clusters, j) for j in chosen_features(findings)]
    if not rows or not clusters:
        return []
    return [
        ShadedTable(
            [clusters[i]["label"] for i in block],
            [ShadedRow(row.head, [row.cells[i] for i in block]) for row in rows],
        )
        for block in in_blocks(range(len(clusters)), BLOCK)
    ]


def chosen_features(findings: Findings) -> list[int]:
    """Return the positions of the features whose distributions are shown."""
    position: dict[str, int] = {}
    for i, name in enumerate(findings["features"]):
        position.setdefault(name, i)
    listed = [told["feature"] for told in findings["distributions"]["features"]]
    return [position[name] for name in listed if name in position]


def center_row(
    findings: Findings, clusters: Sequence[Cluster], feature: int
) -> ShadedRow:
    """Return the centers of all clusters in one feature, written and colored."""
    values = [cluster["center"][feature] for cluster in clusters]
    middle, spread = whole_of(findings["clusters"], feature)
    # what a difference means depends on the spread, and not on how far from zero it is
    size = spread or max(map(abs, all_known(values)), default=0.0)
    if feature < n_numbers(findings["preparation"]):
        written = alike(values, size, unknown=UNKNOWN)
    else:  # shares of the rows, up to rounding
        written = [UNKNOWN if v is None else percent(round(v, 9)) for v in values]
    away = [deviation(value, middle, spread) for value in values]
    is_alone = len(findings["clusters"]) == 1  # and the mean of all its own
    cells = [
        Shaded(text, f"h{step_of(times)}", "" if is_alone else signed(times))
        for text, times in zip(written, away, strict=True)
    ]
    return ShadedRow(findings["features"][feature], cells)


def whole_of(clusters: Sequence[Cluster], feature: int) -> tuple[float, float]:
    """Return mean and standard deviation of the rows of all clusters in a feature."""
    told = [
        (cluster["size"], known(cluster["center"][feature]), cluster["spread"][feature])
        for cluster in clusters
    ]
    parts = [(n, c, known(s) or 0.0) for n, c, s in told if c is not None and n]
    unit = max((max(abs(c), s) for _, c, s in parts), default=0.0)
    if unit == 0:
        return 0.0, 0.0
    # in units of the largest, whose squares are numbers
    total = sum(n for n, _, _ in parts)
    middle = sum(n / total * (c / unit) for n, c, _ in parts)
    square = sum(
        n / total * ((s / unit) ** 2 + (c / unit - middle) ** 2) for n, c, s in parts
    )
    return unit * middle, unit * math.sqrt(square)


def deviation(value: Number, middle: float, spread: float) -> float:
    """Return how many spreads a center is from the middle; 0 if it is not known."""
    if value is None or spread == 0:
        return 0.0
    # in halves, since a difference may be more than a number can hold
    return (value / 2 - middle / 2) / (spread / 2)


def signed(times: float) -> str:
    """Write a number of spreads with its sign."""
    return f"{times:+.1f}".replace("-", MINUS) if abs(times) >= 0.05 else "0"


def step_of(times: float) -> int:
    """Return the step of color of a center: 0 in the middle, at most 4 to each side."""
    passed = sum(abs(times) >= step for step in STEPS)
    return passed if times > 0 else -passed


# Distributions


def histograms(findings: Findings) -> list[HistogramPicture | None]:
    """Return a picture for each feature; None if there is nothing to draw."""
    shown = largest(findings["clusters"], MOST_STRIPS)
    labels = [cluster["label"] for cluster in shown] or [0]
    categories = findings["features"][n_numbers(findings["preparation"]) :]
    return [
        (draw_shares if feature["feature"] in categories else draw_histogram)(
            feature, labels, bool(shown)
        )
        for feature in findings["distributions"]["features"]
    ]


# Outliers


@dataclass(frozen=True)
class OutlierLine:
    """An outlier, its score as it is written, and the number to sort it by."""

    row: OutlierRow
    score: str
    beside: str
    sort_by: str | None


@dataclass(frozen=True)
class OutlierTable:
    """The outliers, a line for each, and which columns have something to tell."""

    lines: list[OutlierLine]
    columns: list[str]
    has_doubtful: bool


def outlier_table(outliers: Outliers) -> OutlierTable:
    """Return the outliers that are listed."""
    rows = outliers["rows"][:MOST_OUTLIERS]
    scores = [row["score"] for row in rows]
    sizes = [abs(score) for score in all_known(scores)]
    typical = statistics.median(sizes) if sizes else 0.0
    has_something = {
        "row": True,
        "id": any(row["id"] is not None for row in rows),
        "score": True,
        "nearest": any(row["nearest"] is not None for row in rows),
        "confidence": any(row["confidence"] is not None for row in rows),
        "why": any(row["reasons"] for row in rows),
        "change": any(row["change"] for row in rows),
    }
    written = alike(scores, typical, 4, UNKNOWN)
    return OutlierTable(
        lines=[
            OutlierLine(row, score, beside_score(row), exactly(row["score"]))
            for row, score in zip(rows, written, strict=True)
        ],
        columns=[name for name, is_there in has_something.items() if is_there],
        has_doubtful=any(row["confidence"] == "doubtful" for row in rows),
    )


def beside_score(row: OutlierRow) -> str:
    """Return what a score means: how many cut-offs it is, and its place in the order.

    That is said in one line, since scores alone tell nobody anything.
    """
    times = row["times_cutoff"]
    told = [] if times is None else [f"{multiple(times)} times the cut-off"]
    return ", ".join([*told, *([] if row["rank"] is None else [ordinal(row["rank"])])])


def exactly(score: Number) -> str | None:
    """Return a score as it is sorted by."""
    return None if known(score) is None else repr(known(score))


def main_reason(row: OutlierRow) -> str:
    """Return in one line what counts most."""
    beside = beside_score(row)
    if not row["reasons"]:
        return f"score {number(row['score'])}" + (f": {beside}" if beside else "")
    reason = row["reasons"][0]
    told = (
        f"{shortened(reason['feature'], FEATURE)} {cell(reason['value'])}, center "
        f"{cell(reason['center'])}: {percent(reason['share'])} of its squared "
        "distance"
    )
    return f"{beside}; {told}" if beside else told


# Rows between clusters


@dataclass(frozen=True)
class BetweenTable:
    """The rows that are listed, and which columns have something to tell."""

    rows: list[RowBetween]
    has_ids: bool
    has_far: bool


def between_table(between: Between) -> BetweenTable:
    """Return the most doubtful rows."""
    rows = between["rows"][:MOST_BETWEEN]
    return BetweenTable(
        rows,
        any(row["id"] is not None for row in rows),
        any(row["times_as_far"] is not None for row in rows),
    )


# Rows in several clusters


def overlap_tables(overlap: Overlap) -> list[ShadedTable]:
    """Return how many rows each two clusters share, in as many tables as it takes."""
    matrix = overlap["matrix"]
    shared = [sum(row) - row[label] for label, row in enumerate(matrix)]
    ranked = sorted(range(len(matrix)), key=lambda label: -shared[label])
    shown = sorted(ranked[:MOST_OVERLAPPING])
    most = max((matrix[i][j] for i in shown for j in shown if i != j), default=0)
    return [
        ShadedTable(
            list(block),
            [
                ShadedRow(i, [shared_rows(matrix[i][j], most, i == j) for j in block])
                for i in shown
            ],
        )
        for block in in_blocks(shown, BLOCK)
    ]


def shared_rows(count: int, most: int, itself: bool) -> Shaded:
    """Return a cell: darker for more rows."""
    shade = f"h{-(-N_SHADES * count // most)}" if most else "h0"
    return Shaded(f"{count:,}", "itself" if itself else shade)


# How it was done


def parameters(findings: Findings) -> dict[str, str]:
    """Return every parameter as it is written in files; text without its quotes."""
    return {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in findings["method"]["parameters"].items()
    }


def seconds(findings: Findings) -> dict[str, str]:
    """Return the time that each stage took."""
    return {
        stage: UNKNOWN if known(taken) is None else f"{taken:,.2f}"
        for stage, taken in findings["seconds"].items()
    }


@dataclass(frozen=True)
class PreparationTable:
    """What became of each column before the fit."""

    heads: list[str]
    rows: list[tuple[str, list[str]]]


def preparation_table(prepared: ColumnPreparation) -> PreparationTable:
    """Return the numbers by column: those that were used, if there are any."""
    numbers: dict[str, list[Number]] = {}
    if prepared["scale"] != "none" or prepared["categories"]:
        numbers |= {"center": prepared["center"], "spread": prepared["spread"]}
    ways = prepared["missing"]
    if "median" in ([ways] if isinstance(ways, str) else ways.values()):
        numbers["if missing"] = prepared["fill"]
    names = prepared["columns"][:MOST_COLUMNS]
    return PreparationTable(
        heads=list(numbers),
        rows=[
            (name, [number(values[j]) for values in numbers.values()])
            for j, name in enumerate(names)
        ],
    )


# What the program needs beside the page


def for_program(
    findings: Findings, scatter: ScatterPicture | None
) -> dict[str, object]:
    """Return whom the points stand for."""
    points = scatter.points if scatter else []
    rows = [point.row for point in points]
    drawn = set(rows)
    has_ids = any(point.id is not None for point in points)
    ids = [
        None if point.id is None else shortened(point.id, NAME_OF_POINT)
        for point in points
    ]
    return {
        "clusters": bool(findings["clusters"]),
        "rows": rows,
        "ids": ids if has_ids else None,
        "reasons": {
            row["row"]: main_reason(row)
            for row in findings["outliers"]["rows"]
            if row["row"] in drawn
        },
    }
