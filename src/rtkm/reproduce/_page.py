"""The report of a run: one HTML page that needs nothing from outside."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from rtkm._files import replacing
from rtkm.reproduce._gallery import Exhibit, cells_of, exhibits
from rtkm.reproduce._page_program import departures, items
from rtkm.reproduce._page_style import CSS
from rtkm.reproduce._page_tables import (
    clouds_table,
    heads,
    make_table,
    overlap_table,
    prose,
    published_overlap_table,
    row_head,
    sensitivity_table,
    units_table,
)
from rtkm.reproduce._pictures import SENSITIVITY

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


QUOTED = (
    '<p class="note">The published value of NEO-k-means is quoted by the paper from an '
    "earlier one. The authors' program starts it from the centers that RTKM ends with; "
    "“raw start” is from those that RTKM starts with. The authors' notebook holds runs "
    "from one of five saved starts, numbered from 0, or the best of all five; “ours, "
    "likewise” is our value for the same.</p>\n"
)


ON_REPEATING = (
    "<p>The paper's tables are found in the folder that <code>RTKM_DATA</code> names, "
    "or else fetched from OpenML. The authors' noise and saved starts are not there: "
    "for these very numbers they must be in the folder, and "
    "<code>help(rtkm.datasets)</code> tells how it is laid out. A full run takes about "
    "ten minutes on two processors.</p>\n"
)


def write_page(path: Path, results: dict[str, Any], pictures: dict[str, str]) -> None:
    """Write the report.

    Parameters
    ----------
    path : Path
        The HTML file.
    results : dict
        {"rtkm": version, "quick": bool, "cells": {key: {method: record}}}, and if
        known "versions": {package: version}; "noise" and "starts", each "the authors'"
        or "drawn anew"; "claims": a list of {"claim", "verdict", "evidence"}, the
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
    shown = exhibits(results)
    missing = [exhibit.name for exhibit in shown if exhibit.name not in pictures]
    if missing:
        raise ValueError(f"No picture of {', '.join(missing)}; draw all of them first.")
    parts = {"program": departures(), "repeat": repeat(results)}
    if results.get("claims"):
        parts["verdicts"] = verdicts(results["claims"])
    if results.get("findings"):
        parts["unsaid"] = findings(results["findings"])
    for exhibit in shown:
        made = heading(exhibit) + figure(exhibit, pictures[exhibit.name])
        made += numbers(exhibit, results)
        parts[exhibit.experiment] = parts.get(exhibit.experiment, "") + made
    ordered = {name: parts[name] for name in SECTIONS if name in parts}
    return PAGE.substitute(
        style=CSS,
        summary=summary(results),
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


def summary(results: dict[str, Any]) -> str:
    """Return what this page is, and what came out."""
    text = (
        "<p>Every figure and table of "
        f'<a href="{PAPER}">Dorabiala, Kutz and Aravkin, <cite>Robust trimmed '
        "k-means</cite></a> (Pattern Recognition Letters 161, 2022), computed again by "
        f"rtkm {escape(str(results['rtkm']))} and drawn beside the numbers behind the "
        f'published figures, from the <a href="{CODE}">repository of its authors</a>.'
        "</p>\n<p>“As published” runs the methods as the authors' program did, with "
        '<a href="#program">its departures from the paper</a>, “as described” as their '
        "papers describe them. There, “RTKM as described (step 1.1)” is the "
        "paper's algorithm; “RTKM, default solver” is what this library does unless "
        "told otherwise: the same objective, with seeds of its own, steps that fit any "
        "units, and swaps of centers; “hard trimming, no swaps” does without the "
        "relaxed weights and without the swaps.</p>\n"
    )
    claims = results.get("claims")
    if claims:
        counts = Counter(kind(claim["verdict"]) for claim in claims)
        text += (
            f"<p>Claims of the paper: {len(claims)}. Reproduced: {counts['good']}; not "
            f"reproduced: {counts['bad']}; true only under a condition: "
            f"{counts['half']}.</p>\n"
        )
    return text + "".join(f'<p class="warning">{w}</p>\n' for w in warnings(results))


def warnings(results: dict[str, Any]) -> Iterator[str]:
    """Yield why the numbers of this run are not to be taken for the paper's."""
    if results.get("quick"):
        yield (
            "This was a quick run with few starts: its ranges are too narrow and its "
            "means unsteady. Leave out <code>--quick</code> for as many as the "
            "paper's text tells of."
        )
    there = {key.split("/")[0] for key in results["cells"]}
    for what, (name, experiments) in DRAWN.items():
        if results.get(what) == "drawn anew" and there.intersection(experiments):
            yield (
                f"{name} had to be drawn anew, since the authors' own files were not "
                "at hand: the numbers that hang on it cannot equal the published ones."
            )


def kind(verdict: str) -> str:
    """Return how a verdict is colored."""
    return {"reproduced": "good", "not reproduced": "bad"}.get(verdict, "half")


def verdicts(claims: list[dict[str, Any]]) -> str:
    """Return the claims of the paper, and whether they hold."""
    signs = {"good": "&check;", "bad": "&cross;", "half": "&asymp;"}
    rows = []
    for claim in claims:
        of_kind = kind(claim["verdict"])
        rows.append(
            f"{row_head(claim['claim'])}"
            f'<td class="verdict {of_kind}"><span aria-hidden="true">{signs[of_kind]}'
            f"</span> {escape(claim['verdict'])}</td>"
            f"<td>{evidence(claim['evidence'])}</td>"
        )
    head = f"<tr>{heads(('claim', 'verdict', 'evidence'), '')}</tr>"
    caption = "Claims of the paper, our verdict, and the numbers it rests on"
    return f'<div class="prose">{make_table("claims", caption, head, rows)}</div>\n'


def evidence(told: str | list[str]) -> str:
    """Return numbers that come as one text, or as a list of parts."""
    return prose(told) if isinstance(told, str) else f"<ul>{items(told)}</ul>"


def findings(found: list[dict[str, Any]]) -> str:
    """Return what else came out."""
    rows = [
        f"{row_head(one['finding'])}<td>{evidence(one['evidence'])}</td>"
        for one in found
    ]
    head = f"<tr>{heads(('finding', 'evidence'), '')}</tr>"
    caption = "What else came out, and the numbers it rests on"
    return f'<div class="prose">{make_table("findings", caption, head, rows)}</div>\n'


def heading(exhibit: Exhibit) -> str:
    """Return a heading for figures that share a section."""
    if exhibit.experiment in (*SENSITIVITY, "outlier_maps"):
        return f"<h3>{escape(exhibit.protocol.capitalize())}</h3>\n"
    if exhibit.experiment == "overlap":
        return f"<h3>{escape(exhibit.name.split('-')[-1].capitalize())}</h3>\n"
    return ""


def figure(exhibit: Exhibit, svg: str) -> str:
    """Return a picture with its caption."""
    shows = escape(exhibit.shows)
    return (
        f'<figure id="figure-{exhibit.name}">\n<div class="picture" tabindex="0" '
        f'role="group" aria-label="{shows}">\n'
        f"{inline(svg, exhibit.name, shows)}\n</div>\n<figcaption>"
        f'{prose(exhibit.caption)} <span class="swipe">(Swipe the picture sideways to '
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
    # no narrower than drawn, a pixel for a point: letters stay readable on a phone
    drawn = re.search(r'<svg[^>]* width="([\d.]+)pt"', svg)
    width = f' style="--width: {float(drawn[1]):.0f}px"' if drawn else ""
    return svg.replace(
        "<svg", f'<svg id="picture-{name}" role="img" aria-label="{shows}"{width}', 1
    )


def numbers(exhibit: Exhibit, results: dict[str, Any]) -> str:
    """Return the numbers behind a figure; the long ones have to be unfolded."""
    cells, experiment, protocol = results["cells"], exhibit.experiment, exhibit.protocol
    if experiment in SENSITIVITY:
        tables = "".join(
            sensitivity_table(cells, experiment, protocol, name.split("-")[-1], name)
            for name in exhibit.tables
        )
        words = f"The numbers, {escape(protocol)}"
        return f"<details>\n<summary>{words}</summary>\n{tables}</details>\n"
    if experiment == "overlap":
        table = exhibit.name.removeprefix("overlap-")
        own, *others = exhibit.tables
        trivial = results.get("trivial", {}).get(table)
        return overlap_table(cells, table, own, trivial) + "".join(
            published_overlap_table(results, table, name) + QUOTED for name in others
        )
    if experiment == "clouds":
        _, record = next(cells_of(results, experiment, protocol))
        return clouds_table(record, *exhibit.tables)
    return units_table(cells, *exhibit.tables) if experiment == "units" else ""


def repeat(results: dict[str, Any]) -> str:
    """Return the command, and what it ran with."""
    command = "RTKM_DATA=folder rtkm reproduce" + (
        " --quick" if results.get("quick") else ""
    )
    versions = {"rtkm": results["rtkm"]} | results.get("versions", {})
    rows = [
        f"{row_head(str(name))}<td>{escape(str(version))}</td>"
        for name, version in versions.items()
    ]
    sources = "".join(
        f"<li>{name}: {escape(results[what])}</li>"
        for what, (name, _) in DRAWN.items()
        if what in results
    )
    return (
        f"<p>With rtkm {escape(str(results['rtkm']))} and matplotlib:</p>\n"
        f"<pre><code>{command}</code></pre>\n{ON_REPEATING}<p>Start number i uses "
        "random_state=i, or the authors' saved start number i, so that the same "
        "versions give the same numbers. Every number, also of every single start, is "
        f"in <code>results.json</code>, {len(results['cells'])} cells.</p>\n"
        + (f"<ul>{sources}</ul>\n" if sources else "")
        + make_table(
            "versions",
            "Versions of this run",
            f"<tr>{heads(('package', 'version'), '')}</tr>",
            rows,
        )
    )
