"""The page: its parts in order, how it looks, and what it may do."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from rtkm.cli.messages import counted
from rtkm.cli.report import (
    clusters,
    distributions,
    method,
    objective,
    outlier_table,
    overlap,
    scatter,
)
from rtkm.cli.report.layout import Plot, lay_out
from rtkm.cli.report.outlier_table import main_reason
from rtkm.cli.report.parts import section
from rtkm.cli.report.words import (
    embedded,
    own,
    percent,
    printable,
    shortened,
)

PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="$policy">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>$title</title>
<style>$style</style>
</head>
<body>
<a class="skip" href="#content">Skip to the findings</a>
<header>
<p class="kind">Report of rtkm</p>
<h1>$name</h1>
<p class="method">$method</p>
<nav aria-label="Contents"><ul>$contents</ul></nav>
</header>
<main id="content" tabindex="-1">
$main</main>
<footer><p>Made by rtkm $version. This page is complete: it loads nothing, and sends
nothing.</p></footer>
<script type="application/json" id="drawn">$drawn</script>
<script>$program</script>
</body>
</html>
""")

Part = tuple[str, str, str]  # id, title and content
NAME_OF_FILE = 80
NAME_OF_POINT = 24


def render(findings: dict[str, Any]) -> str:
    """Draw the report.

    Parameters
    ----------
    findings : dict
        What was found, as ``--json`` writes it.

    Returns
    -------
    str
        A complete HTML document, to be written as UTF-8. The same findings give the
        same document. It requests nothing from outside, and runs no program but its
        own, whatever names, identifiers and cells hold.
    """
    told = findings["scatter"]
    plot = lay_out(told) if told else None
    parts = list(parts_of(findings, plot))
    style, program = resource("page.css"), resource("page.js")
    return PAGE.substitute(
        policy=policy(style, program),
        title=document_title(findings),
        style=style,
        name=own(findings["source"]["name"], NAME_OF_FILE),
        method=method_line(findings["method"]),
        contents="".join(
            f'<li><a href="#{name}">{escape(title)}</a></li>'
            for name, title, _ in parts
        ),
        main="".join(section(*part) for part in parts),
        version=own(findings["versions"].get("rtkm", "")),
        drawn=embedded(for_program(findings, plot)),
        program=program,
    )


def resource(name: str) -> str:
    """Return a file that lies beside this one."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def policy(style: str, program: str) -> str:
    """Return what the browser may do: show this style, run this program, no more."""
    return (
        f"default-src 'none'; style-src '{digest(style)}'; "
        f"script-src '{digest(program)}'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


def digest(text: str) -> str:
    """Return the name by which a policy knows a text."""
    sha256 = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(sha256).decode()


def document_title(findings: dict[str, Any]) -> str:
    """Return what the browser shows on its tab."""
    name = shortened(findings["source"]["name"], NAME_OF_FILE)
    return escape(f"{name}: {shortened(findings['method']['name'])}")


def method_line(used: dict[str, Any]) -> str:
    """Return which method it was, and what it does."""
    return f"<strong>{own(used['name'])}</strong> {escape(printable(used['title']))}"


def parts_of(findings: dict[str, Any], plot: Plot | None) -> Iterator[Part]:
    """Yield the parts that there is something to show of."""
    yield "summary", "Summary", summary(findings)
    if plot is not None and plot.points:
        drawn = scatter.draw(findings["scatter"], findings["clusters"], plot)
        yield "map", "The rows at a glance", drawn
    if findings["clusters"]:
        yield "clusters", "Clusters", clusters.draw(findings)
    if findings["distributions"]["features"]:
        yield "distributions", "Features", distributions.draw(findings)
    yield "outliers", "Outliers", outlier_table.draw(findings["outliers"])
    if findings["overlap"]:
        yield "overlap", "Rows in several clusters", overlap.draw(findings["overlap"])
    if findings["objective"]:
        yield "objective", "How the fit went", objective.draw(findings["objective"])
    yield "method", "How it was done", method.draw(findings)


def summary(findings: dict[str, Any]) -> str:
    """Return the key figures, and what they mean in words."""
    figures = key_figures(findings)
    sentences = "".join(
        f"<p><bdi>{escape(printable(sentence))}</bdi></p>\n"
        for sentence in findings["summary"]
    )
    return f'<dl class="figures">{figures}</dl>\n<div class="lead">{sentences}</div>\n'


def key_figures(findings: dict[str, Any]) -> str:
    """Return the few numbers that tell most."""
    source, outliers = findings["source"], findings["outliers"]
    of_all = ""
    if source["n_dropped"]:
        of_all = f" <small>of {source['n_rows']:,}</small>"
    found = findings["clusters"]
    figures = [
        figure(source["n_used"], "row", of_all),
        figure(len(findings["features"]), "feature"),
    ]
    if found:
        there = sum(cluster["size"] > 0 for cluster in found)
        figures.append(figure(there, "cluster"))
    share = f" <small>{percent(outliers['share'])}</small>" * bool(outliers["count"])
    figures.append(figure(outliers["count"], "outlier", share))
    sure = [cluster["confidence"] for cluster in found if cluster.get("confidence")]
    if sure:
        doubtful = sum(counts.get("doubtful", 0) for counts in sure)
        figures.append(figure(doubtful, "doubtful row"))
    return "".join(figures)


def figure(count: int, noun: str, more: str = "") -> str:
    """Return a number with what it counts below it."""
    number, what = counted(count, noun).split(" ", 1)
    return f"<div><dt>{what}</dt><dd>{number}{more}</dd></div>"


def for_program(findings: dict[str, Any], plot: Plot | None) -> dict[str, Any]:
    """Return what the program needs beside the page: whom the points stand for."""
    points = plot.points if plot else []
    rows = [point.row for point in points]
    drawn = set(rows)
    named = any(point.id is not None for point in points)
    return {
        "clusters": bool(findings["clusters"]),
        "rows": rows,
        "ids": [point_name(point.id) for point in points] if named else None,
        "reasons": {
            row["row"]: main_reason(row)
            for row in findings["outliers"]["rows"]
            if row["row"] in drawn
        },
    }


def point_name(id: object) -> str | None:
    """Return the identifier of a point for its tip."""
    return None if id is None else shortened(id, NAME_OF_POINT)
