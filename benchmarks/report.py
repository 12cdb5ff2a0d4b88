"""The tables of ``make bench``: `docs/speed.md`, and the page on performance."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import footprint
from lines import Cell, Line, full_table, worst_table
from parts import PARTS
from results import ROOT, fill_page, read

TITLES = {
    "descents": "Whole fits from the same centers",
    "defaults": "Fits as users call them",
    "passes": "Single iterations",
    "threads": "Two threads",
    "small": "R's trimcluster",
}
ABOUT = {
    "descents": "`RTKM(step=1.1)`, faiss, scikit-learn-intelex and fastkmeans run for "
    "as many iterations as lloyd, the others until they come to rest; fastkmeans "
    "starts at random rows of its own. RTKM leaves out a tenth of the rows, so its "
    "objective is no rival of theirs.",
    "defaults": "Every round has a random state of its own. The objectives of RTKM and "
    "`KMeansMinusMinus` are of the same kind, that of `KMeans` trims nothing.",
    "passes": "Eleven iterations less one. In `RTKM, fractional weights` the step is "
    "fifty times the spread of the table, so that weights stay between 0 and 1.",
    "threads": "Twenty iterations; the ratio is how many times as fast two threads are "
    "as one.",
    "small": "Its iterations are not told; its time is without that of starting R.",
}
HEAD = """# Speed

Written by `make bench`: ratios of times, each the median over rounds in which all took
turns on the same table; figures that miss a goal are bold. Iterations and objectives
are those of the first, then of the second; bytes a row are those of the first, beside
the table. "Overlapping" blobs have centers four standard deviations apart, "separated"
ones twenty; "x20" are the same in a smaller unit, which only a fixed step notices.
"""


def lines_by_part() -> dict[str, list[Line]]:
    """Return what has been measured, with memory beside it."""
    content = read("memory")
    memory = content["records"] if content else []
    found = {}
    for name, part in PARTS.items():
        content = read(name)
        cells = map(Cell.from_json, content["records"]) if content else ()
        lines = [line for cell in cells for line in part.lines(cell)]
        found[name] = [with_memory(line, memory) for line in lines]
    return found


def with_memory(line: Line, memory: list[dict[str, Any]]) -> Line:
    where = line.shape, line.kind, line.dtype
    return replace(line, bytes_a_row=footprint.look_up(memory, line.method, *where))


def write_report() -> None:
    """Write the full tables, and the worst lines into the page on performance."""
    parts = lines_by_part()
    sections = [HEAD]
    for name, lines in parts.items():
        if lines:
            about = f"## {TITLES[name]}\n\n{ABOUT[name]}\n\n{told(name)}"
            sections.append(f"{about}\n\n{full_table(lines)}\n")
    memory = read("memory")
    if memory:
        about = f"## Memory\n\nBytes a row beside the table.\n\n{told('memory')}"
        sections.append(f"{about}\n\n{footprint.table(memory['records'])}\n")
    (ROOT / "docs" / "speed.md").write_text("\n".join(sections))
    judged = [
        line
        for name in ("descents", "defaults", "threads")
        for line in parts[name]
        if line.goal
    ]
    if judged:
        fill_page("speed", worst_table(judged))


def told(name: str) -> str:
    """Return machine and versions in a sentence."""
    setting = read(name)["setting"]
    return "; ".join(f"{key} {value}" for key, value in setting.items()) + "."
