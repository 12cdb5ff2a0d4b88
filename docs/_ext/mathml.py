"""Formulas as MathML, which browsers show by themselves, without a script to load."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

# sizes of delimiters that have a name, which the converter does not know
SIZES = re.compile(r"\\[bB]igg?[lr]?(?=\\)")


def mathml(formula: str, display: str = "inline") -> str:
    """Return a formula as MathML."""
    text = convert(SIZES.sub("", formula), display=display)
    # the bars of a norm are as high as its letters, and so is an exponent after them
    return text.replace("<mo>&#x02016;</mo>", '<mo stretchy="false">&#x02016;</mo>')


def visit_math(self: Any, node: nodes.math) -> None:
    """Write a formula in a line of text."""
    self.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def visit_math_block(self: Any, node: nodes.math_block) -> None:
    """Write a formula in a line of its own."""
    formula = mathml(node.astext(), "block")
    self.body.append(f'<div class="formula">{formula}</div>\n')
    raise nodes.SkipNode


def choose_renderer(app: Sphinx, config: Any) -> None:
    """Take this renderer for all formulas."""
    config.html_math_renderer = "mathml"


def setup(app: Sphinx) -> dict[str, Any]:
    """Offer the renderer, and choose it."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.connect("config-inited", choose_renderer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
