"""The report of a run: one HTML page that needs nothing from outside.

Here the results are put into the order and the words of the page;
`templates/paper.html` lays them out, on the layout that it shares with the report of
a fit.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from experiments.drawing.curves import SENSITIVITY
from experiments.drawing.gallery import Exhibit, cells_of, exhibits
from experiments.page.picture import Picture, read_picture
from experiments.page.tables import (
    Table,
    clouds_table,
    overlap_table,
    published_overlap_table,
    sensitivity_table,
    units_table,
)
from rtkm._files import replacing
from rtkm.report.templating import render_page

TEMPLATES = Path(__file__).parent / "templates"

SECTIONS = {
    "verdicts": "Which claims hold",
    "unsaid": "What the paper does not say",
    "program": "What the program did otherwise than the paper says",
    "clouds": "k-means and outliers",
    "process": "The clustering process",
    "wbc": "Breast Cancer Wisconsin",
    "shuttle": "Shuttle",
    "overlap": "Overlapping clusters",
    "yeast_noise": "Yeast with noise",
    "outlier_maps": "Where the outliers are",
    "units": "The same table in other units",
    "repeat": "How to repeat this",
}

# what a run may have had to draw by itself, and what hangs on it
DRAWN = {
    "noise": ("The noise in yeast", ("yeast_noise", "outlier_maps")),
    "starts": ("The starts on yeast and scene", ("overlap",)),
}


class Figure(NamedTuple):
    """A picture, and the tables of the numbers behind it.

    Parameters
    ----------
    exhibit : Exhibit
        What it shows.
    picture : Picture
        The picture.
    heading : str
        Its heading, if it shares a section with others.
    tables : list of Table
        The numbers, ours beside the published ones.
    repeated : list of Table
        The numbers of a second protocol that has no picture of its own.
    """

    exhibit: Exhibit
    picture: Picture
    heading: str
    tables: list[Table]
    repeated: list[Table]

    @property
    def folded(self) -> bool:
        """Tell whether the tables are long and have to be unfolded."""
        return self.exhibit.experiment in SENSITIVITY


def write_page(path: Path, results: dict[str, Any], pictures: dict[str, str]) -> None:
    """Write the report.

    Parameters
    ----------
    path : Path
        The HTML file.
    results : dict
        {"quick": bool, "versions": {package: version}, rtkm among them, "cells": {key:
        {method: record}}}, and if known "noise" and "starts", each "the authors'" or
        "drawn anew"; "claims": a list of {"claim", "verdict", "evidence"}, the
        verdict "reproduced", "not reproduced" or "true only ..."; "findings": a list of
        {"finding", "evidence"}; "trivial": {table: {"f1": score, "cardinality":
        clusters per row}}. Evidence is a text, or a list of texts.
    pictures : dict
        The SVG of every figure by name, as draw_all returns them.
    """
    page = make_page(results, pictures)
    with replacing(path) as file:
        file.write(page.encode())


def make_page(results: dict[str, Any], pictures: dict[str, str]) -> str:
    """Return the page."""
    figures = make_figures(results, pictures)
    claims = [
        claim | {"kind": kind(claim["verdict"])} for claim in results.get("claims", [])
    ]
    findings = results.get("findings", [])
    there = {"verdicts": claims, "unsaid": findings, "program": True, "repeat": True}
    there |= figures
    return render_page(
        "paper.html",
        styles=("colors.css", "base.css", "paper.css"),
        folder=TEMPLATES,
        style_attributes=True,
        sections={id: title for id, title in SECTIONS.items() if there.get(id)},
        figures=figures,
        claims=claims,
        counts=Counter(claim["kind"] for claim in claims),
        findings=findings,
        quick=results.get("quick", False),
        drawn_anew=drawn_anew(results),
        sources={
            name: results[what] for what, (name, _) in DRAWN.items() if what in results
        },
        versions=results["versions"],
        n_cells=len(results["cells"]),
    )


def make_figures(
    results: dict[str, Any], pictures: dict[str, str]
) -> dict[str, list[Figure]]:
    """Return the figures of every experiment."""
    shown = exhibits(results)
    missing = [exhibit.name for exhibit in shown if exhibit.name not in pictures]
    if missing:
        raise ValueError(f"No picture of {', '.join(missing)}; draw all of them first.")
    figures: dict[str, list[Figure]] = {}
    for position, exhibit in enumerate(shown):
        figures.setdefault(exhibit.experiment, []).append(
            Figure(
                exhibit,
                read_picture(pictures[exhibit.name], prefix=f"picture-{position}"),
                heading(exhibit),
                tables(exhibit, results),
                repeated_tables(exhibit, results),
            )
        )
    return figures


def drawn_anew(results: dict[str, Any]) -> list[str]:
    """Return what some numbers hang on and was not the authors' own."""
    there = {key.split("/")[0] for key in results["cells"]}
    return [
        name
        for what, (name, experiments) in DRAWN.items()
        if results.get(what) == "drawn anew" and there.intersection(experiments)
    ]


def kind(verdict: str) -> str:
    """Return how a verdict is colored."""
    return {"reproduced": "good", "not reproduced": "bad"}.get(verdict, "half")


def heading(exhibit: Exhibit) -> str:
    """Return a heading for figures that share a section."""
    if exhibit.experiment in (*SENSITIVITY, "outlier_maps"):
        return exhibit.protocol.capitalize()
    if exhibit.experiment == "overlap":
        return exhibit.name.split("-")[-1].capitalize()
    return ""


def tables(exhibit: Exhibit, results: dict[str, Any]) -> list[Table]:
    """Return the numbers behind a figure."""
    cells, experiment, protocol = results["cells"], exhibit.experiment, exhibit.protocol
    if experiment in SENSITIVITY:
        return [
            sensitivity_table(cells, experiment, protocol, id.split("-")[-1], id)
            for id in exhibit.tables
        ]
    if experiment == "overlap":
        table = exhibit.name.removeprefix("overlap-")
        trivial = results.get("trivial", {}).get(table)
        return [overlap_table(cells, table, exhibit.tables[0], trivial)]
    if experiment == "clouds":
        _, record = next(cells_of(results, experiment, protocol))
        return [clouds_table(record, *exhibit.tables)]
    return [units_table(cells, *exhibit.tables)] if experiment == "units" else []


def repeated_tables(exhibit: Exhibit, results: dict[str, Any]) -> list[Table]:
    """Return the numbers as published of a figure that shows those as described."""
    if exhibit.experiment != "overlap":
        return []
    table = exhibit.name.removeprefix("overlap-")
    return [published_overlap_table(results, table, id) for id in exhibit.tables[1:]]
