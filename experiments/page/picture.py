"""A picture by matplotlib as part of a page."""

from __future__ import annotations

import re
from typing import NamedTuple

# that of all pictures by matplotlib; templates/paper.css has it for all of them
STYLE = '<style type="text/css">*{stroke-linejoin: round; stroke-linecap: butt}</style>'
SVG = re.compile(
    r'<svg[^>]* width="([\d.]+)pt"[^>]* viewBox="([-\d. ]+)"[^>]*>(.*)</svg>', re.DOTALL
)


class Picture(NamedTuple):
    """An SVG: how wide it was drawn, in points, its view box, and what is inside."""

    width: float
    view_box: str
    drawing: str


def read_picture(svg: str, prefix: str) -> Picture:
    """Take a picture apart, as the page writes the <svg> around it.

    Parameters
    ----------
    svg : str
        The picture as a file.
    prefix : str
        What all ids of the picture get, as no two elements of a page may share an id.
    """
    found = SVG.search(svg)
    if found is None:
        raise ValueError(f"{svg[:60]!r} is no picture; expected an SVG by matplotlib.")
    drawing = found[3].replace(STYLE, "", 1)
    used = set(re.findall(r'(?:url\(|href=")#([^")]+)', drawing))
    for unused in set(re.findall(r' id="([^"]*)"', drawing)) - used:
        drawing = drawing.replace(f' id="{unused}"', "")
    drawing = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{prefix}-", drawing)
    return Picture(float(found[1]), found[2], drawing)
