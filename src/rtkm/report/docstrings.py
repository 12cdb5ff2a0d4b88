"""What docstrings say of methods and their parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from inspect import cleandoc
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """A parameter or attribute as a docstring documents it."""

    name: str
    kind: str
    words: str


@cache
def explain_parameters(documented_by: Any) -> dict[str, str]:
    """Return what the docstring of a class or function says of its parameters."""
    documented = entries(own_docstring(documented_by), "Parameters")
    return {entry.name: plain(entry.words) for entry in documented}


def own_docstring(cls: Any) -> str:
    """Return the docstring written in a class or function, or "" under ``python -OO``.

    A dataclass without a docstring gets its signature for one, which explains nothing.
    """
    doc = (vars(cls).get("__doc__") if isinstance(cls, type) else cls.__doc__) or ""
    return "" if doc.startswith(f"{cls.__name__}(") else cleandoc(doc)


def entries(doc: str, section: str) -> Iterator[Entry]:
    r"""Yield the entries of a section of a numpydoc docstring, however indented.

    Examples
    --------
    >>> doc = "Parameters\n---\nn_rows, n_columns : int, default=1\n    How many."
    >>> [entry.name for entry in entries(doc, "Parameters")]
    ['n_rows', 'n_columns']
    """
    body = re.search(
        rf"^{section}\n-+\n((?s:.*?))(?=^\S.*\n---+$|\Z)", cleandoc(doc), re.M
    )
    # an entry begins where a line does; its words are indented
    for text in re.split(r"^(?=\S)", body[1], flags=re.M)[1:] if body else []:
        head, _, words = text.partition("\n")
        names, _, kind = head.partition(" : ")
        for name in names.split(","):
            yield Entry(name.strip(), kind.strip(), cleandoc(words))


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
    """Return the first line of a method's docstring, and the paragraph below it.

    Without docstrings, as under ``python -OO``, both are empty.
    """
    paragraphs = own_docstring(method).split("\n\n")
    return plain(paragraphs[0]), plain(paragraphs[1]) if len(paragraphs) > 1 else ""
