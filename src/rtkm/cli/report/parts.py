"""Elements that several parts of the page are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise
from typing import Any

N_COLORS = 12
# more clusters than these make pictures and tables nobody reads
MOST_CLUSTERS = 50
OUTLIERS = -1
CROSS = "\N{MULTIPLICATION SIGN}"


def section(name: str, title: str, content: str) -> str:
    """Return a part of the page under its heading."""
    return (
        f'<section id="{name}" aria-labelledby="{name}-heading">\n'
        f'<h2 id="{name}-heading">{escape(title)}</h2>\n{content}</section>\n'
    )


def picture(
    name: str, size: tuple[int, int], title: str, told: str, drawn: str, kind: str = ""
) -> str:
    """Return an SVG that also says in words what it shows.

    Parameters
    ----------
    name : str
        Its id.
    size : (width, height)
        In its own units, which are pixels at full size.
    title, told : str
        What it is, and what there is to see; neither is HTML.
    drawn : str
        What is drawn, as SVG.
    kind : str
        Its class.
    """
    width, height = size
    return (
        f'<svg id="{name}" class="{kind}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-labelledby="{name}-title {name}-told">'
        f'<title id="{name}-title">{escape(title)}</title>'
        f'<desc id="{name}-told">{escape(told)}</desc>\n{drawn}</svg>\n'
    )


def table(
    name: str, caption: str, head: str, rows: Iterable[str], kind: str = ""
) -> str:
    """Return a table in a box that scrolls by itself.

    Parameters
    ----------
    name : str
        Its id.
    caption : str
        What it holds; HTML.
    head : str
        The cells of its first line.
    rows : iterable of str
        The other lines.
    kind : str
        Its class.
    """
    body = "\n".join(rows)
    return (
        f'<div class="wide {kind}" tabindex="0" role="region" '
        f'aria-labelledby="{name}-caption">\n<table id="{name}">\n'
        f'<caption id="{name}-caption"><span>{caption}</span></caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>\n"
    )


def head(name: str, kind: str = "") -> str:
    """Return the head of a column; the name is HTML."""
    return f'<th scope="col"{classed(kind)}>{name}</th>'


def row_head(name: str, kind: str = "") -> str:
    """Return the head of a row; the name is HTML."""
    return f'<th scope="row"{classed(kind)}>{name}</th>'


def cell(content: str, kind: str = "") -> str:
    """Return a cell; the content is HTML."""
    return f"<td{classed(kind)}>{content}</td>"


def number_cell(written: str) -> str:
    """Return a cell with a number."""
    return cell(written, "number")


def classed(kind: str) -> str:
    """Return the class of an element that has one."""
    return f' class="{kind}"' if kind else ""


def color(label: int) -> str:
    """Return the class with the color of a cluster, or of the outliers."""
    return "outlying" if label == OUTLIERS else f"c{label % N_COLORS}"


def swatch(label: int) -> str:
    """Return a dot in the color of a cluster."""
    return f'<span class="swatch {color(label)}" aria-hidden="true"></span>'


def largest(clusters: Sequence[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Return the largest clusters, in their own order; ties go to the first."""
    ranked = sorted(clusters, key=lambda cluster: -cluster["size"])[:most]
    chosen = {cluster["label"] for cluster in ranked}
    return [cluster for cluster in clusters if cluster["label"] in chosen]


def in_blocks(items: Sequence[Any], most: int) -> list[Sequence[Any]]:
    """Cut a sequence into blocks of nearly equal length, none longer than `most`."""
    n_blocks = max(1, -(-len(items) // most))
    cuts = [len(items) * i // n_blocks for i in range(n_blocks + 1)]
    return [items[a:b] for a, b in pairwise(cuts)]
