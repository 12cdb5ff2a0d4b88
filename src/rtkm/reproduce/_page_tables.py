"""The tables of numbers on the page."""

from __future__ import annotations

from html import escape
from typing import Any

from rtkm.reproduce._figures import CURVES, TABLE
from rtkm.reproduce._pictures import (
    SHARES,
    TRIVIAL,
    f1_score,
    label,
    sorted_curve,
)
from rtkm.reproduce._summary import curve

NOTHING = '<td class="number">&ndash;</td>'
SCORES = {"me": "M_e", "f1": "Average F1", "f1_micro": "Micro F1"}


def value_cell(mean: float, low: float, high: float, kind: str = "number") -> str:
    """Return a mean, with the range below it where there is one."""
    told = f"{low:.4f} to {high:.4f}"
    spread = f'<span class="range">{told}</span>' if high - low > 5e-5 else ""
    return f'<td class="{kind}">{mean:.4f}{spread}</td>'


def heads(names: list[str], *, kind: str = "number") -> str:
    """Return the heads of columns."""
    return "".join(
        f'<th scope="col" class="{kind}">{escape(label(name))}</th>' for name in names
    )


def make_table(name: str, caption: str, head: str, rows: list[str]) -> str:
    """Return a table in a box that scrolls sideways by itself."""
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f'<table id="{escape(name)}">\n'
        f"<caption><span>{escape(caption)}</span></caption>\n"
        f"<thead>{head}</thead>\n<tbody>\n{body}\n</tbody></table></div>\n"
    )


def sensitivity_tables(cells: dict[str, Any], experiment: str, protocol: str) -> str:
    """Return the numbers behind a figure: a table for each of its two scores."""
    slug = f"{experiment}-{protocol}".replace(" ", "-")
    return "".join(
        sensitivity_table(cells, experiment, protocol, score, f"numbers-{slug}-{score}")
        for score in ("me", f1_score(experiment, protocol))
    )


def sensitivity_table(
    cells: dict[str, Any], experiment: str, protocol: str, score: str, name: str
) -> str:
    """Return a row for each share of outliers: ours, then the published."""
    ours = sorted_curve(cells, experiment, protocol, score)
    published = CURVES[experiment]
    by_method = {m: {p.setting: p for p in points} for m, points in ours.items()}
    settings = sorted({s for points in by_method.values() for s in points}, key=float)
    shares = {repr(share): i for i, share in enumerate(SHARES[experiment])}
    rows = []
    for setting in settings:
        row = f'<th scope="row" class="number">{float(setting):.4g}</th>'
        for points in by_method.values():
            point = points.get(setting)
            row += value_cell(*point[1:4]) if point else NOTHING
        for scores in published.values():
            triples, i = scores[score.removesuffix("_micro")], shares.get(setting)
            row += NOTHING if i is None else value_cell(*triples[i])
        rows.append(row)
    head = (
        '<tr><th rowspan="2" scope="col">share</th>'
        f'<th colspan="{len(ours)}" scope="colgroup">ours</th>'
        f'<th colspan="{len(published)}" scope="colgroup">published</th></tr>'
        f"<tr>{heads(list(ours))}{heads(list(published))}</tr>"
    )
    caption = f"{SCORES[score]}: mean over the starts, and lowest to highest value"
    return make_table(name, caption, head, rows)


def overlap_table(
    cells: dict[str, Any], table: str, trivial: dict[str, float] | None
) -> str:
    """Return the F1 and the cardinality of every method, and of the trivial answer."""
    scores = {
        score: {
            method: point
            for method, points in curve(cells, "overlap", "as described", score).items()
            for point in points
            if point.setting == table
        }
        for score in ("f1", "cardinality")
    }
    rows = []
    for method, point in scores["f1"].items():
        told = TABLE[table].get(method)
        spread = scores["cardinality"].get(method)
        rows.append(
            f'<th scope="row">{escape(label(method))}</th>{value_cell(*point[1:4])}'
            + (NOTHING if told is None else f'<td class="number">{told:.3f}</td>')
            + (value_cell(*spread[1:4]) if spread else NOTHING)
        )
    if trivial is not None:
        score, size = (f'<td class="number">{trivial[key]:.4f}</td>' for key in scores)
        rows.append(f'<th scope="row">({TRIVIAL})</th>{score}{NOTHING}{size}')
    head = (
        '<tr><th scope="col">method</th>'
        + heads(["average F1", "published", "clusters per row"])
        + "</tr>"
    )
    caption = f"{table.capitalize()}: average F1 and clusters per row (cardinality)"
    return make_table(f"numbers-overlap-{table}", caption, head, rows)
