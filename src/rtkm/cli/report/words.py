"""The user's text and numbers, made safe and readable for a page."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from html import escape
from typing import Any
from unicodedata import combining, east_asian_width

from rtkm.cli import figures
from rtkm.cli.figures import known

UNKNOWN = "\N{EN DASH}"
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
NAME = 40  # the widest that a name is shown, in letters
REPEATED = 200  # the longest title of a text that may stand on the page many times
# what a page may not hold, and what would turn the text that follows around
UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufffe\uffff"
    "\ud800-\udfff]"
)


def printable(text: object) -> str:
    r"""Replace what cannot be shown, or would change how other text is shown.

    Examples
    --------
    >>> printable("tab\x00le")
    'tab\ufffdle'
    """
    return UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", str(text))


def width_of(character: str) -> int:
    """Return how many letters wide a character is."""
    if combining(character):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


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


def own(text: object, most: int = NAME, longest: int | None = None) -> str:
    """Return a text of the user's as HTML: shortened, all of it in the title.

    Parameters
    ----------
    text : object
        A name, an identifier, a cell.
    most : int
        The widest that is shown.
    longest : int, optional
        The longest title: for text that many lines repeat.
    """
    short = shortened(text, most)
    whole = printable(text)
    title = ""
    if short != whole:
        title = f' title="{escape(whole if longest is None else whole[:longest])}"'
    return f"<bdi{title}>{escape(short)}</bdi>"


def all_known(values: Sequence[Any]) -> list[float]:
    """Return the numbers among values."""
    return [found for found in map(known, values) if found is not None]


def number(value: Any, digits: int = 4) -> str:
    """Write a number for people."""
    return figures.figure(value, digits, UNKNOWN)


def alike(values: Sequence[Any], size: float, digits: int = 3) -> list[str]:
    """Write numbers that are read together with the same number of decimals.

    Parameters
    ----------
    values : sequence
        The numbers; None where there is none.
    size : float
        How large a difference matters: it is written with `digits` digits.
    digits : int
        Digits of a number as large as `size`.

    Examples
    --------
    >>> alike([1, 12.345], size=11), alike([0.25, 1e-9], size=1)
    (['1.0', '12.3'], ['0.25', '1e-9'])
    """
    sizes = [abs(value) for value in all_known(values) if value != 0]
    if not sizes or min(sizes) < 1e-4 or max(sizes) >= 1e7 or size <= 0:
        return [number(value) for value in values]
    decimals = max(0, min(6, digits - 1 - math.floor(math.log10(size))))
    return [
        # adding nothing makes a rounded -0 a 0
        UNKNOWN
        if known(value) is None
        else f"{round(value, decimals) + 0.0:,.{decimals}f}"
        for value in values
    ]


def percent(share: Any) -> str:
    """Write a share in percent, in one piece."""
    return figures.percent(share, UNKNOWN).replace(" ", "\N{NO-BREAK SPACE}")


def embedded(value: Any) -> str:
    r"""Write JSON that can stand in a page: no letter of it can end its element.

    Examples
    --------
    >>> embedded(["</script>"])
    '["\\u003c/script\\u003e"]'
    """
    text = json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
