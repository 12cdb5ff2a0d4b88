"""Names that end in an underscore, which reStructuredText takes for links."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

SHAPE = re.compile(r"(?<=[(, ])(\w+_)(?=[,)])")


def quote_shapes(
    app: Sphinx, what: str, name: str, item: Any, options: Any, lines: Any
):
    """Quote such names in the shapes of parameters and attributes."""
    for number, line in enumerate(lines):
        if " of shape (" in line and "``" not in line:
            lines[number] = SHAPE.sub(r"``\1``", line)


def setup(app: Sphinx) -> dict[str, Any]:
    """Read docstrings after numpydoc has."""
    app.connect("autodoc-process-docstring", quote_shapes, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
