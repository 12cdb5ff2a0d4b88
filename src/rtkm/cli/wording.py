"""What docstrings say of methods and their parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from inspect import getdoc


@cache
def explain_parameters(method: type) -> dict[str, str]:
    """Return what the docstrings of a method and its bases say of parameters."""
    explained: dict[str, str] = {}
    for cls in method.__mro__:
        for name, words in parameter_entries(cls.__doc__ or ""):
            if words and not words.startswith("As in "):
                explained.setdefault(name, words)
    return explained


def parameter_entries(doc: str) -> Iterator[tuple[str, str]]:
    """Return names and words of the section Parameters of a docstring."""
    section = re.search(r"\n *Parameters\n *-+\n(.*?)(?:\n\n|\Z)", doc, re.DOTALL)
    if not section:
        return
    entries = re.split(r"\n(?=    \S)", "\n" + section[1])
    for entry in entries[1:]:
        names, _, words = entry.partition("\n")
        for name in names.partition(" : ")[0].split(","):
            yield name.strip(), plain(words)


def plain(words: str) -> str:
    """Take the markup out of a text, and its lines together.

    Examples
    --------
    >>> plain("Rows (n in [1]_) of :class:`RTKM`, ``1.1`` in [1]_.")
    'Rows of RTKM, 1.1 in the paper.'
    """
    words = " ".join(words.split()).replace("``", "")
    words = re.sub(r":\w+:`~?([^`]+)`", r"\1", words)
    words = re.sub(r" \([^()]*\[\d+\]_[^()]*\)", "", words)
    return re.sub(r"\[\d+\]_", "the paper", words)


def first_sentence(words: str) -> str:
    """Return a text up to its first full stop."""
    return re.split(r"(?<=\.) |; ", words)[0].rstrip(".")


def purpose(method: type) -> tuple[str, str]:
    """Return the first line of a method's docstring, and the paragraph below it."""
    paragraphs = (getdoc(method) or "").split("\n\n")
    return plain(paragraphs[0]), plain(paragraphs[1]) if len(paragraphs) > 1 else ""
