"""The report of a run: its pictures, and the page that shows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rtkm.reproduce._gallery import draw_all
from rtkm.reproduce._page import write_page
from rtkm.reproduce._pictures_style import new_figure


def check_drawing() -> None:
    """Fail before the work rather than after it if nothing can be drawn."""
    new_figure(1, 1)


def write_report(folder: Path, results: dict[str, Any]) -> Path:
    """Draw all pictures, write the page, and return where it is."""
    pictures = folder / "pictures"
    pictures.mkdir(exist_ok=True)
    page = folder / "index.html"
    write_page(page, results, draw_all(results, pictures))
    return page
