"""Where measured tables go: a JSON file each, and their place in a page."""

from __future__ import annotations

import json
import os
import platform
import re
from pathlib import Path
from typing import Any

from peers import installed

from rtkm import _native
from rtkm._version import versions
from rtkm.core.table import n_threads

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks" / "results"


def setting() -> dict[str, Any]:
    """Return what a figure depends on besides the code."""
    return {
        "machine": processor(),
        "cores": os.cpu_count(),
        **versions(),
        "instructions": _native.instruction_set(),
        "threads": n_threads(),
        **installed(),
    }


def processor() -> str:
    """Return the processor's name, where the system tells it."""
    path = Path("/proc/cpuinfo")
    text = path.read_text() if path.is_file() else ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, flags=re.MULTILINE)
    return found[1] if found else platform.processor() or platform.machine()


def markdown_table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def publish(name: str, records: Any, table: str) -> None:
    """Write the records, and put the table into the documentation."""
    write(name, records)
    fill_page(name, table)


def write(name: str, records: Any) -> None:
    """Write the records, with what they depend on."""
    FOLDER.mkdir(exist_ok=True)
    content = {"setting": setting(), "records": records}
    (FOLDER / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")


def read(name: str) -> dict[str, Any] | None:
    """Return what was written last, if anything was."""
    path = FOLDER / f"{name}.json"
    return json.loads(path.read_text()) if path.is_file() else None


def fill_page(name: str, table: str) -> None:
    """Put a table between its marks in the page on performance."""
    fill(ROOT / "docs" / "performance.md", name, table)


def fill(page: Path, name: str, table: str) -> None:
    """Put a table between its marks in a page."""
    marks = f"<!-- {name} -->", f"<!-- end of {name} -->"
    pattern = f"{marks[0]}.*?{marks[1]}"
    text = page.read_text()
    if not re.search(pattern, text, flags=re.DOTALL):
        raise ValueError(f"{page.name} has no place marked {marks[0]!r}.")
    filled = f"{marks[0]}\n\n{table}\n\n{marks[1]}"
    page.write_text(re.sub(pattern, lambda _: filled, text, flags=re.DOTALL))
    print(table)
