"""The report of a run: one HTML page that needs nothing from outside."""

from __future__ import annotations

import re
from collections import Counter
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from rtkm.reproduce._cells import write_atomically
from rtkm.reproduce._gallery import MAPS, Exhibit, exhibits
from rtkm.reproduce._page_style import CSS
from rtkm.reproduce._page_tables import make_table, overlap_table, sensitivity_tables
from rtkm.reproduce._pictures import SHARES

PAPER = "https://arxiv.org/abs/2108.07186"
CODE = "https://github.com/OlgaD400/Robust-Trimmed-K-Means"

PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Robust trimmed k-means, reproduced</title>
<style>$style</style>
</head>
<body>
<header>
<h1>Robust trimmed k-means, reproduced</h1>
$summary
<nav aria-label="Contents"><ul>$contents</ul></nav>
</header>
<main>
$main
</main>
</body>
</html>
""")

SECTIONS = {
    "verdicts": "Which claims hold",
    "process": "The clustering process",
    "wbc": "Breast Cancer Wisconsin",
    "shuttle": "Shuttle",
    "overlap": "Overlapping clusters",
    "yeast_noise": "Yeast with noise",
    MAPS: "Where the outliers are",
    "repeat": "How to repeat this",
}


def write_page(
    path: Path,
    results: dict[str, Any],
    pictures: dict[str, str],
    claims: list[dict[str, str]],
) -> None:
    """Write the report.

    Parameters
    ----------
    path : Path
        The HTML file.
    results : dict
        {"rtkm": version, "quick": bool, "cells": {key: {method: record}}}, and if
        known "versions": {package: version} and "trivial": {table: {"f1": score,
        "cardinality": clusters per row}}.
    pictures : dict
        The SVG of every figure by name, as draw_all returns them.
    claims : list of dict
        {"claim", "verdict", "evidence"} each, the verdict "reproduced", "not
        reproduced" or "true only under ...".
    """
    write_atomically(path, make_page(results, pictures, claims))


def make_page(
    results: dict[str, Any], pictures: dict[str, str], claims: list[dict[str, str]]
) -> str:
    """Return the page."""
    shown = exhibits(results)
    missing = [exhibit.name for exhibit in shown if exhibit.name not in pictures]
    if missing:
        raise ValueError(f"No picture of {', '.join(missing)}; draw all of them first.")
    parts = {"verdicts": verdicts(claims)}
    for exhibit in shown:
        made = figure(exhibit, pictures[exhibit.name]) + numbers(exhibit, results)
        parts[exhibit.experiment] = parts.get(exhibit.experiment, "") + made
    parts["repeat"] = repeat(results)
    ordered = {name: parts[name] for name in SECTIONS if name in parts}
    return PAGE.substitute(
        style=CSS,
        summary=summary(results, claims),
        contents="".join(
            f'<li><a href="#{name}">{escape(SECTIONS[name])}</a></li>'
            for name in ordered
        ),
        main="\n".join(section(name, content) for name, content in ordered.items()),
    )


def section(name: str, content: str) -> str:
    """Return a part of the page under its heading."""
    return (
        f'<section id="{name}" aria-labelledby="{name}-heading">\n'
        f'<h2 id="{name}-heading">{escape(SECTIONS[name])}</h2>\n{content}</section>'
    )


def summary(results: dict[str, Any], claims: list[dict[str, str]]) -> str:
    """Return what this page is, and what came out."""
    counts = Counter(kind(claim["verdict"]) for claim in claims)
    text = (
        "<p>Every figure and table of "
        f'<a href="{PAPER}">Dorabiala, Kutz and Aravkin, <cite>Robust trimmed '
        "k-means</cite></a> (Pattern Recognition Letters 161, 2022), computed again by "
        f"rtkm {escape(str(results['rtkm']))} and drawn beside the numbers behind the "
        f'published figures, from the <a href="{CODE}">repository of its authors</a>. '
        "“As described” runs every method as its paper describes it, “as published” as "
        f"the authors' code ran it.</p>\n<p>Claims of the paper: {len(claims)}. "
        f"Reproduced: {counts['good']}; not reproduced: {counts['bad']}; true only "
        f"under a condition: {counts['half']}.</p>\n"
    )
    if results.get("quick"):
        text += (
            '<p class="warning">This was a quick run with few starts: its ranges are '
            "too narrow and its means unsteady. The full run takes ten starts.</p>\n"
        )
    return text


def kind(verdict: str) -> str:
    """Return how a verdict is colored."""
    return {"reproduced": "good", "not reproduced": "bad"}.get(verdict, "half")


def verdicts(claims: list[dict[str, str]]) -> str:
    """Return the claims of the paper, and whether they hold."""
    signs = {"good": "&check;", "bad": "&cross;", "half": "&asymp;"}
    rows = []
    for claim in claims:
        of_kind = kind(claim["verdict"])
        rows.append(
            f'<th scope="row">{escape(claim["claim"])}</th>'
            f'<td class="verdict {of_kind}"><span aria-hidden="true">{signs[of_kind]}'
            f"</span> {escape(claim['verdict'])}</td>"
            f"<td>{escape(claim['evidence'])}</td>"
        )
    head = "".join(
        f'<th scope="col">{name}</th>' for name in ("claim", "verdict", "evidence")
    )
    caption = "Claims of the paper, our verdict, and the numbers it rests on"
    table = make_table("claims", caption, f"<tr>{head}</tr>", rows)
    return f'<div class="verdicts">{table}</div>\n'


def figure(exhibit: Exhibit, svg: str) -> str:
    """Return a picture with its caption."""
    shows = escape(exhibit.shows)
    return (
        f'<figure id="figure-{exhibit.name}">\n<div class="picture" tabindex="0" '
        f'role="group" aria-label="{shows}">\n'
        f"{inline(svg, exhibit.name, shows)}\n</div>\n<figcaption>"
        f'{escape(exhibit.caption)} <span class="swipe">(Swipe the picture sideways to '
        "see all of it.)</span></figcaption>\n</figure>\n"
    )


def inline(svg: str, name: str, shows: str) -> str:
    """Return a picture as part of a page, where no two elements may share an id."""
    svg = svg[svg.index("<svg") :].strip()
    used = set(re.findall(r'(?:url\(|href=")#([^")]+)', svg))
    for unused in set(re.findall(r' id="([^"]*)"', svg)) - used:
        svg = svg.replace(f' id="{unused}"', "")
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    svg = svg.replace("*{", f"#picture-{name} *{{", 1)
    return svg.replace(
        "<svg", f'<svg id="picture-{name}" role="img" aria-label="{shows}"', 1
    )


def numbers(exhibit: Exhibit, results: dict[str, Any]) -> str:
    """Return the numbers behind a figure; those of the paper's table are in sight."""
    cells, experiment = results["cells"], exhibit.experiment
    if experiment in SHARES:
        tables = sensitivity_tables(cells, experiment, exhibit.protocol)
        words = f"The numbers, {escape(exhibit.protocol)}"
        return f"<details>\n<summary>{words}</summary>\n{tables}</details>\n"
    if experiment == "overlap":
        table = exhibit.name.removeprefix("overlap-")
        return overlap_table(cells, table, results.get("trivial", {}).get(table))
    return ""


def repeat(results: dict[str, Any]) -> str:
    """Return the command, and what it ran with."""
    command = "rtkm reproduce" + (" --quick" if results.get("quick") else "")
    versions = {"rtkm": results["rtkm"]} | results.get("versions", {})
    rows = [
        f'<th scope="row">{escape(str(name))}</th><td>{escape(str(version))}</td>'
        for name, version in versions.items()
    ]
    head = '<tr><th scope="col">package</th><th scope="col">version</th></tr>'
    return (
        f"<pre><code>pip install &quot;rtkm=={escape(str(results['rtkm']))}&quot;\n"
        f"{command}</code></pre>\n<p>Start number i uses random_state=i, so that the "
        "same versions give the same numbers. Every number, also of every single "
        f"start, is in <code>results.json</code>, {len(results['cells'])} cells.</p>\n"
        + make_table("versions", "Versions of this run", head, rows)
    )
