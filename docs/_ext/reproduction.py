"""The report of the paper's re-run, laid out anew from the numbers that are kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

RESULTS = Path(__file__).parents[2] / "experiments" / "results"


def write_reproduction(app: Sphinx, error: Exception | None) -> None:
    """Write the page and its pictures beside the pages of the site."""
    if error or app.builder.format != "html":
        return
    from experiments.page.page import write_page

    results = json.loads((RESULTS / "results.json").read_text(encoding="utf-8"))
    pictures = {
        path.stem: path.read_text(encoding="utf-8")
        for path in sorted((RESULTS / "pictures").glob("*.svg"))
    }
    folder = Path(app.outdir) / "reproduction"
    folder.mkdir(exist_ok=True)
    write_page(folder / "index.html", results, pictures)


def setup(app: Sphinx) -> dict[str, Any]:
    """Write it when all pages are there."""
    app.connect("build-finished", write_reproduction)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
