"""Formulas as MathML, which browsers show by themselves, without a script to load."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def visit_math(self: Any, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def visit_math_block(self: Any, node: nodes.math_block) -> None:
    """Write a formula in a line of its own."""
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(convert(node.astext(), display="block"))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Make it the renderer of formulas."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.connect(
        "config-inited",
        lambda _, config: config.__setattr__("html_math_renderer", "mathml"),
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
