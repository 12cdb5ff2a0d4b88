"""Links to scikit-learn's pages by the names of its classes, without its inventory."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

PAGES = "https://scikit-learn.org/stable/modules/generated/"


def resolve(app: Sphinx, env: Any, node: nodes.Element, content: Any) -> Any:
    """Return a link to a class or function of scikit-learn."""
    target = node.get("reftarget", "")
    if not target.startswith("sklearn.") or node.get("reftype") == "meth":
        return None
    link = nodes.reference("", "", internal=False, refuri=f"{PAGES}{target}.html")
    link += content
    return link


def setup(app: Sphinx) -> dict[str, Any]:
    """Answer where Sphinx finds nothing."""
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
