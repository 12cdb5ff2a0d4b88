"""The tables of numbers on the page: what stands in each cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from experiments.claims.figures import NOTEBOOK, TABLE
from experiments.claims.names import label, published_name
from experiments.claims.summary import Point
from experiments.drawing.curves import (
    SENSITIVITY,
    TRIVIAL,
    f1_score,
    published_curves,
    sorted_curve,
    table_points,
    unit_curves,
)

SCORES = {"me": "M_e", "f1": "Average F1", "f1_micro": "Micro F1"}


class Cell(NamedTuple):
    """A number, None where it is not known, and below it a range or where it is from.

    Parameters
    ----------
    value : float, default=None
        The number.
    decimals : int
        How many decimals it is written with.
    span : pair of floats, default=None
        The lowest and the highest of the numbers that `value` is the mean of.
    source : str
        Where it is from.
    """

    value: float | None = None
    decimals: int = 4
    span: tuple[float, float] | None = None
    source: str = ""


class Row(NamedTuple):
    """A line of a table: its head is a name or a number."""

    head: str | float
    cells: list[Cell]


class Table(NamedTuple):
    """A table of numbers.

    Parameters
    ----------
    id : str
        What it is called on the page.
    caption : str
        What it holds.
    first : str
        What the heads of the rows are.
    columns : sequence of str
        The heads of the columns of numbers.
    rows : list of Row
        The lines.
    groups : list of (str, int) pairs
        Heads above those of the columns, and over how many columns each of them
        stands; empty ones are left out.
    """

    id: str
    caption: str
    first: str
    columns: Sequence[str]
    rows: list[Row]
    groups: Sequence[tuple[str, int]] = ()


def range_cell(mean: float, low: float, high: float) -> Cell:
    """Return a mean, with the range below it where there is one."""
    return Cell(mean, span=(low, high) if high - low > 5e-5 else None)


def point_cell(point: Point | None) -> Cell:
    """Return what is known of a score over the starts."""
    return range_cell(point.mean, point.low, point.high) if point else Cell()


def sensitivity_table(
    cells: dict[str, Any], experiment: str, protocol: str, score: str, id: str
) -> Table:
    """Return a row for each share of outliers: ours, then the published."""
    ours = sorted_curve(cells, experiment, protocol, score)
    told = score in ("me", f1_score(experiment))
    published = published_curves(experiment) if told else {}
    by_method = {m: {p.setting: p for p in points} for m, points in ours.items()}
    settings = sorted({s for points in by_method.values() for s in points}, key=float)
    shares = {repr(share): i for i, share in enumerate(SENSITIVITY[experiment].shares)}
    rows = []
    for setting in settings:
        row = [point_cell(points.get(setting)) for points in by_method.values()]
        for scores in published.values():
            triples, i = scores[score.removesuffix("_micro")], shares.get(setting)
            row.append(Cell() if i is None else range_cell(*triples[i]))
        rows.append(Row(float(setting), row))
    methods = [label(method, protocol) for method in ours]
    methods += [label(method, "as published") for method in published]
    caption = f"{SCORES[score]}: mean over the starts, and lowest to highest value"
    groups = [("ours", len(ours)), ("published", len(published))]
    return Table(id, caption, "share", methods, rows, groups)


def overlap_table(
    cells: dict[str, Any],
    table: str,
    id: str,
    trivial: dict[str, float] | None = None,
) -> Table:
    """Return the F1 and the cardinality of every method, and of the trivial answer."""
    f1 = table_points(cells, table, "as described", "f1")
    sizes = table_points(cells, table, "as described", "cardinality")
    rows = []
    for method, point in f1.items():
        told = TABLE[table].get(published_name(method, "as described") or "")
        row = [point_cell(point), Cell(point.at_best), Cell(told, 3)]
        rows.append(Row(label(method), [*row, point_cell(sizes.get(method))]))
    if trivial is not None:
        row = [Cell(trivial["f1"]), Cell(), Cell(), Cell(trivial["cardinality"])]
        rows.append(Row(f"({TRIVIAL})", row))
    columns = ("average F1", "at the best objective", "published", "clusters per row")
    return Table(id, overlap_caption(table, "as described"), "method", columns, rows)


def published_overlap_table(results: dict[str, Any], table: str, id: str) -> Table:
    """Return the same as published, which tells no objective, by two sources."""
    f1 = table_points(results["cells"], table, "as published", "f1")
    sizes = table_points(results["cells"], table, "as published", "cardinality")
    rows = []
    for method, point in f1.items():
        told = TABLE[table].get(published_name(method, "as published") or "")
        row = [point_cell(point), Cell(told, 3)]
        row += notebook_cells(results, table, method)
        name = label(method, "as published")
        rows.append(Row(name, [*row, point_cell(sizes.get(method))]))
    columns = (
        *("average F1", "paper's table", "authors' notebook", "ours, likewise"),
        "clusters per row",
    )
    return Table(id, overlap_caption(table, "as published"), "method", columns, rows)


def notebook_cells(results: dict[str, Any], table: str, method: str) -> list[Cell]:
    """Return a value of the authors' notebook and ours, where they started alike."""
    told = NOTEBOOK[table].get(method)
    if told is None:
        return [Cell(), Cell()]
    starts = range(5) if told.start is None else [told.start]
    keys = [f"overlap/as published/{table}/{start}" for start in starts]
    found = [results["cells"].get(key, {}).get(method) for key in keys]
    alike = results.get("starts") == "the authors'" and None not in found
    ours = max(record["f1"] for record in found) if alike else None
    source = "best of five" if told.start is None else f"start {told.start}"
    return [Cell(told.f1, 5, source=source), Cell(ours, 5)]


def overlap_caption(table: str, protocol: str) -> str:
    """Return what a table of overlapping methods holds."""
    return (
        f"{table.capitalize()}, {protocol}: average F1, mean over the starts with the "
        "lowest and highest value, and clusters per row (cardinality)"
    )


def clouds_table(record: dict[str, Any], id: str) -> Table:
    """Return how far the clouds are from the centers, and how many rows are trimmed."""
    X, truth = np.array(record["X"]), np.array(record["truth"])
    means = np.array([X[truth == i].mean(axis=0) for i in range(truth.max() + 1)])
    rows = []
    for method, centers in record["centers"].items():
        gaps = np.linalg.norm(means[:, None] - np.array(centers), axis=2).min(axis=1)
        n_trimmed = record["labels"][method].count(-1)
        row = [*(Cell(gap, 2) for gap in gaps), Cell(n_trimmed, 0)]
        rows.append(Row(label(method), row))
    columns = [f"cloud {i + 1}" for i in range(len(means))] + ["rows trimmed"]
    caption = "Distance from the mean of each cloud, without outliers, to a center"
    return Table(id, caption, "method", columns, rows)


def units_table(cells: dict[str, Any], id: str) -> Table:
    """Return a row for each unit: three scores of each solver."""
    scores = {"me": "M_e", "objective": "objective", "fractional": "fractional"}
    curves = {score: unit_curves(cells, score) for score in scores}
    found = {
        score: {m: {p.setting: p for p in points} for m, points in of_score.items()}
        for score, of_score in curves.items()
    }
    methods = list(curves["me"])
    settings = [point.setting for point in curves["me"][methods[0]]]
    rows = []
    for setting in settings:
        row = [
            point_cell(found[score][method].get(setting))
            for method in methods
            for score in scores
        ]
        rows.append(Row(float(setting), row))
    caption = (
        "By the factor that multiplies the table: M_e, objective relative to the "
        "lowest one, and share of rows with fractional weights"
    )
    columns = list(scores.values()) * len(methods)
    groups = [(label(method), len(scores)) for method in methods]
    return Table(id, caption, "factor", columns, rows, groups)
