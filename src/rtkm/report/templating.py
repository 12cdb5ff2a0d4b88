"""Pages from templates, and the user's text and numbers as pages show them.

`render_page` fills a template that extends `templates/base.html`, the layout that all
pages share: the report of a fit, and in the source tree that of the re-run paper.
Whatever a template prints is escaped; only the style and the program, which are files
of ours, are put in as they are, by `base.html`.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

from rtkm import _number_text as number_text
from rtkm._number_text import counted
from rtkm._optional import import_optional

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"

OUTLIERS = -1  # the label of outliers
N_COLORS = 12  # of clusters, in templates/colors.css; further clusters repeat them

UNKNOWN = "\N{EN DASH}"
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
NAME = 40  # the widest that a name is shown, in letters
# what a page may not hold, and what would turn the text that follows around
UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufffe\uffff"
    "\ud800-\udfff]"
)


def render_page(
    template: str,
    *,
    styles: Sequence[str],
    program: str | None = None,
    folder: Path = TEMPLATES,
    style_attributes: bool = False,
    **view: object,
) -> str:
    """Return a page: one HTML document that needs nothing from outside.

    Parameters
    ----------
    template : str
        Name of a template that extends ``base.html``.
    styles : sequence of str
        Names of the CSS files, in order.
    program : str, default=None
        Name of the JavaScript file, if the page has one.
    folder : Path
        Where these files are; those of this package are found too.
    style_attributes : bool, default=False
        Whether elements may have a ``style`` of their own, as those of matplotlib's
        pictures do.
    **view
        What the template shows. ``base.html`` asks for ``sections``, a dict from the id
        to the title of each section.
    """
    environment = make_environment(folder)
    style = "".join(read(name, folder) for name in styles)
    code = None if program is None else read(program, folder)
    return environment.get_template(template).render(
        style=style,
        program=code,
        policy=policy(style, code, style_attributes),
        **view,
    )


@cache
def make_environment(folder: Path = TEMPLATES) -> Environment:
    """Return what fills templates: it escapes everything and knows our filters."""
    jinja2 = import_optional("jinja2", needed_by="a report")
    made: Environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, TEMPLATES]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "cell": cell,
        "color_class": color_class,
        "counted": counted,
        "fixed": fixed,
        "number": number,
        "percent": percent,
        "printable": printable,
        "shortened": shortened,
        "tenths": "{:.1f}".format,
        "thousands": "{:,}".format,
    }
    made.policies["json.dumps_kwargs"] = {
        "allow_nan": False,
        "ensure_ascii": False,
        "separators": (",", ":"),
    }
    return made


def read(name: str, folder: Path) -> str:
    """Return a style or a program."""
    path = folder / name
    return (path if path.exists() else TEMPLATES / name).read_text(encoding="utf-8")


def policy(style: str, program: str | None, style_attributes: bool = False) -> str:
    """Return what the browser may do: show this style, run this program, no more."""
    allowed = "'none'" if program is None else f"'{digest(program)}'"
    attributes = "style-src-attr 'unsafe-inline'; " if style_attributes else ""
    return (
        f"default-src 'none'; style-src '{digest(style)}'; {attributes}"
        f"script-src {allowed}; img-src data:; base-uri 'none'; form-action 'none'"
    )


def digest(text: str) -> str:
    """Return the name by which a policy knows a text."""
    sha256 = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(sha256).decode()


# Filters


def color_class(label: int | None) -> str:
    """Return the CSS class with the color of a cluster or, for -1, of outliers.

    None stands for several clusters together. The colors are in templates/colors.css.
    """
    if label is None:
        return "together"
    return "outlying" if label == OUTLIERS else f"c{label % N_COLORS}"


def number(value: object, digits: int = 4) -> str:
    """Write a number for people."""
    return number_text.figure(value, digits, UNKNOWN)


def cell(value: object, digits: int = 4) -> str:
    """Write a cell of a table: a number, or a category."""
    return shortened(value) if isinstance(value, str) else number(value, digits)


def fixed(value: object, decimals: int = 4) -> str:
    """Write a number with so many decimals."""
    return number_text.fixed(value, decimals, UNKNOWN)


def percent(share: object) -> str:
    """Write a share in percent, in one piece."""
    return number_text.percent(share, UNKNOWN).replace(" ", "\N{NO-BREAK SPACE}")


def printable(text: object) -> str:
    r"""Replace what cannot be shown, or would change how other text is shown.

    Examples
    --------
    >>> printable("tab\x00le")
    'tab\ufffdle'
    """
    return UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", str(text))


def shortened(text: object, most: int = NAME) -> str:
    """Keep both ends of a text that is wider than `most` letters, in one line.

    Examples
    --------
    >>> shortened("mean radius of all cells", 12)
    'mean ra…ells'
    """
    text = " ".join(printable(text).split())
    if len(text) <= most and sum(map(width_of, text)) <= most:
        return text
    n_last = most // 3
    start, end = fitting(text, most - 1 - n_last), fitting(text[::-1], n_last)
    return start + ELLIPSIS + end[::-1]


def fitting(text: str, most: int) -> str:
    """Return as much of the start of a text as fits."""
    width = 0
    for position, character in enumerate(text[: 2 * most]):
        width += width_of(character)
        if width > most:
            return text[:position]
    return text[: 2 * most]


def width_of(character: str) -> int:
    """Return how many letters wide a character is."""
    if combining(character):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1
