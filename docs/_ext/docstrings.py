"""Docstrings as they are written: attributes in the words of their class."""

from __future__ import annotations

import re
from typing import Any

from numpydoc.docscrape_sphinx import SphinxDocString
from sphinx.application import Sphinx

CLASS = re.compile(r":class:`(\w+)`")
# a name that ends in an underscore is a link to reStructuredText
SHAPE = re.compile(r"(?<=[(, ])(\w+_)(?=[,)])")


def quote_shapes(
    app: Sphinx, what: str, name: str, item: Any, options: Any, lines: Any
):
    """Quote such names in the shapes of parameters and attributes."""
    for number, line in enumerate(lines):
        if " of shape (" in line and "``" not in line:
            lines[number] = SHAPE.sub(r"``\1``", line)


def find_plain_twins(
    app: Sphinx, what: str, name: str, item: Any, options: Any, lines: Any
):
    """Let what estimators on a cluster inherit link to the plain ones."""
    if name.startswith("rtkm.dask."):
        for number, line in enumerate(lines):
            lines[number] = CLASS.sub(r":class:`~rtkm.\1`", line)


def keep_words_of_attributes() -> None:
    """Let numpydoc describe properties, too, as their class does.

    It would take the first line of the property instead.
    """
    write = SphinxDocString._str_param_list
    SphinxDocString._str_param_list = lambda self, name, **_: write(self, name)


def setup(app: Sphinx) -> dict[str, Any]:
    """Read docstrings after numpydoc has."""
    keep_words_of_attributes()
    app.connect("autodoc-process-docstring", quote_shapes, priority=900)
    app.connect("autodoc-process-docstring", find_plain_twins, priority=901)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
