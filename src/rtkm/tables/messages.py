"""What went wrong, in words for the person who caused it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from itertools import islice

LONGEST_SHOWN = 40


class InputError(ValueError):
    """Something the user gave cannot be used; the message alone is shown."""


def shown(text: object) -> str:
    r"""Quote a name or a cell on one line, shortened if it is long.

    Examples
    --------
    >>> shown("age"), len(shown("a" * 1000))
    ("'age'", 45)
    >>> print(shown("two\nlines"))
    'two\nlines'
    """
    text = str(text)
    return repr(text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "...")


def listed(items: Iterable[str], n_items: int, most: int = 5) -> str:
    """Join the first of `n_items` items and count the others.

    Examples
    --------
    >>> listed("abc", 3), listed("abcdefgh", 8, most=3)
    ('a, b, c', 'a, b, c and 5 more')
    """
    text = ", ".join(islice(items, most))
    return f"{text} and {n_items - most:,} more" if n_items > most else text


def nearest(name: str, names: Sequence[str], choice: str = "expected one of") -> str:
    """Suggest the name that was meant, in words that follow a semicolon.

    Examples
    --------
    >>> nearest("hieght", ["age", "height"])
    "did you mean 'height'?"
    >>> nearest("x", ["age", "height"])
    "expected one of 'age', 'height'."
    >>> nearest("x", ["age", "height"], "it has")
    "it has 'age', 'height'."
    """
    folded = {other.casefold(): other for other in names}
    close = get_close_matches(name.casefold(), folded, n=1)
    if close:
        return f"did you mean {shown(folded[close[0]])}?"
    return f"{choice} {listed(map(shown, names), len(names), most=10)}."
