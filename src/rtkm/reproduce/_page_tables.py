"""The tables of numbers on the page."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape
from typing import Any

import numpy as np

from rtkm.reproduce._figures import NOTEBOOK, TABLE
from rtkm.reproduce._pictures import (
    SENSITIVITY,
    TRIVIAL,
    f1_score,
    published_curves,
    sorted_curve,
    table_points,
    unit_curves,
)
from rtkm.reproduce._pictures_style import label, published_name
from rtkm.reproduce._summary import Point

NOTHING = '<td class="number">&ndash;</td>'
SCORES = {"me": "M_e", "f1": "Average F1", "f1_micro": "Micro F1"}


def prose(text: str) -> str:
    """Return a text as HTML, with the one symbol that all of them use."""
    return escape(text).replace("M_e", "M<sub>e</sub>")


def number_cell(value: float | None, digits: int = 4) -> str:
    """Return a number, or a dash where it is not known."""
    if value is None or math.isnan(value):
        return NOTHING
    return f'<td class="number">{value:.{digits}f}</td>'


def range_cell(mean: float, low: float, high: float) -> str:
    """Return a mean, with the range below it where there is one."""
    told = f"{low:.4f} to {high:.4f}"
    spread = f'<span class="range">{told}</span>' if high - low > 5e-5 else ""
    return f'<td class="number">{mean:.4f}{spread}</td>'


def point_cell(point: Point | None) -> str:
    """Return what is known of a score over the starts."""
    return range_cell(point.mean, point.low, point.high) if point else NOTHING


def heads(names: Iterable[str], kind: str = "number") -> str:
    """Return the heads of columns."""
    return "".join(
        f'<th scope="col" class="{kind}">{prose(name)}</th>' for name in names
    )


def group(name: str, width: int) -> str:
    """Return a head over several columns."""
    return f'<th colspan="{width}" scope="colgroup" class="group">{prose(name)}</th>'


def row_head(name: str, kind: str = "") -> str:
    """Return the head of a row."""
    return f'<th scope="row" class="{kind}">{prose(name)}</th>'


def make_table(name: str, caption: str, head: str, rows: list[str]) -> str:
    """Return a table in a box that scrolls sideways by itself."""
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f'<table id="{escape(name)}">\n'
        f"<caption><span>{prose(caption)}</span></caption>\n"
        f"<thead>{head}</thead>\n<tbody>\n{body}\n</tbody></table></div>\n"
    )


def sensitivity_table(
    cells: dict[str, Any], experiment: str, protocol: str, score: str, name: str
) -> str:
    """Return a row for each share of outliers: ours, then the published."""
    ours = sorted_curve(cells, experiment, protocol, score)
    told = score in ("me", f1_score(experiment))
    published = published_curves(experiment) if told else {}
    by_method = {m: {p.setting: p for p in points} for m, points in ours.items()}
    settings = sorted({s for points in by_method.values() for s in points}, key=float)
    shares = {repr(share): i for i, share in enumerate(SENSITIVITY[experiment].shares)}
    rows = []
    for setting in settings:
        row = row_head(f"{float(setting):.4g}", "number")
        for points in by_method.values():
            row += point_cell(points.get(setting))
        for scores in published.values():
            triples, i = scores[score.removesuffix("_micro")], shares.get(setting)
            row += NOTHING if i is None else range_cell(*triples[i])
        rows.append(row)
    methods = [label(method, protocol) for method in ours]
    methods += [label(method, "as published") for method in published]
    groups = group("ours", len(ours))
    groups += group("published", len(published)) if published else ""
    head = (
        f'<tr><th rowspan="2" scope="col">share</th>{groups}</tr>'
        f"<tr>{heads(methods)}</tr>"
    )
    caption = f"{SCORES[score]}: mean over the starts, and lowest to highest value"
    return make_table(name, caption, head, rows)


def overlap_table(
    cells: dict[str, Any],
    table: str,
    name: str,
    trivial: dict[str, float] | None = None,
) -> str:
    """Return the F1 and the cardinality of every method, and of the trivial answer."""
    f1 = table_points(cells, table, "as described", "f1")
    sizes = table_points(cells, table, "as described", "cardinality")
    rows = []
    for method, point in f1.items():
        told = TABLE[table].get(published_name(method, "as described") or "")
        row = row_head(label(method)) + point_cell(point) + number_cell(point.at_best)
        rows.append(row + number_cell(told, 3) + point_cell(sizes.get(method)))
    if trivial is not None:
        row = row_head(f"({TRIVIAL})") + number_cell(trivial["f1"]) + NOTHING * 2
        rows.append(row + number_cell(trivial["cardinality"]))
    columns = (
        *("average F1", "at the best objective", "published", "clusters per row"),
    )
    head = f'<tr><th scope="col">method</th>{heads(columns)}</tr>'
    return make_table(name, overlap_caption(table, "as described"), head, rows)


def published_overlap_table(results: dict[str, Any], table: str, name: str) -> str:
    """Return the same as published, which tells no objective, by two sources."""
    f1 = table_points(results["cells"], table, "as published", "f1")
    sizes = table_points(results["cells"], table, "as published", "cardinality")
    rows = []
    for method, point in f1.items():
        told = TABLE[table].get(published_name(method, "as published") or "")
        row = row_head(label(method, "as published")) + point_cell(point)
        row += number_cell(told, 3) + notebook_cells(results, table, method)
        rows.append(row + point_cell(sizes.get(method)))
    columns = (
        *("average F1", "paper's table", "authors' notebook", "ours, likewise"),
        "clusters per row",
    )
    head = f'<tr><th scope="col">method</th>{heads(columns)}</tr>'
    return make_table(name, overlap_caption(table, "as published"), head, rows)


def notebook_cells(results: dict[str, Any], table: str, method: str) -> str:
    """Return a value of the authors' notebook and ours, where they started alike."""
    told = NOTEBOOK[table].get(method)
    if told is None:
        return NOTHING * 2
    starts = range(5) if told.start is None else [told.start]
    keys = [f"overlap/as published/{table}/{start}" for start in starts]
    found = [results["cells"].get(key, {}).get(method) for key in keys]
    alike = results.get("starts") == "the authors'" and None not in found
    ours = max(record["f1"] for record in found) if alike else None
    words = "best of five" if told.start is None else f"start {told.start}"
    return (
        f'<td class="number">{told.f1:.5f}<span class="range">{words}</span></td>'
        f"{number_cell(ours, 5)}"
    )


def overlap_caption(table: str, protocol: str) -> str:
    """Return what a table of overlapping methods holds."""
    return (
        f"{table.capitalize()}, {protocol}: average F1, mean over the starts with the "
        "lowest and highest value, and clusters per row (cardinality)"
    )


def clouds_table(record: dict[str, Any], name: str) -> str:
    """Return how far the clouds are from the centers, and how many rows are trimmed."""
    X, truth = np.array(record["X"]), np.array(record["truth"])
    means = np.array([X[truth == i].mean(axis=0) for i in range(truth.max() + 1)])
    rows = []
    for method, centers in record["centers"].items():
        gaps = np.linalg.norm(means[:, None] - np.array(centers), axis=2).min(axis=1)
        n_trimmed = record["labels"][method].count(-1)
        cells = "".join(number_cell(gap, 2) for gap in gaps)
        rows.append(f"{row_head(label(method))}{cells}{number_cell(n_trimmed, 0)}")
    columns = [f"cloud {i + 1}" for i in range(len(means))] + ["rows trimmed"]
    head = f'<tr><th scope="col">method</th>{heads(columns)}</tr>'
    caption = "Distance from the mean of each cloud, without outliers, to a center"
    return make_table(name, caption, head, rows)


def units_table(cells: dict[str, Any], name: str) -> str:
    """Return a row for each unit: three scores of each solver."""
    scores = {"me": "M_e", "objective": "objective", "fractional": "fractional"}
    curves = {score: unit_curves(cells, score) for score in scores}
    found = {
        score: {m: {p.setting: p for p in points} for m, points in of_score.items()}
        for score, of_score in curves.items()
    }
    methods = list(curves["me"])
    settings = [point.setting for point in curves["me"][methods[0]]]
    rows = [
        row_head(f"{float(setting):g}", "number")
        + "".join(
            point_cell(found[score][method].get(setting))
            for method in methods
            for score in scores
        )
        for setting in settings
    ]
    groups = "".join(group(label(method), len(scores)) for method in methods)
    head = (
        f'<tr><th rowspan="2" scope="col">factor</th>{groups}</tr>'
        f"<tr>{heads(list(scores.values()) * len(methods))}</tr>"
    )
    caption = (
        "By the factor that multiplies the table: M_e, objective relative to the "
        "lowest one, and share of rows with fractional weights"
    )
    return make_table(name, caption, head, rows)
