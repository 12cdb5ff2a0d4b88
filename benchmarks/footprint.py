"""Memory beside the table of everybody who is timed."""

from __future__ import annotations

import sys
from typing import Any

import goals
from memory import CAN_MEASURE, bytes_a_row
from models import (
    DEFAULT,
    FAMILY,
    FIXED,
    FRACTIONAL,
    SEVERAL,
    SEVERAL_FIXED,
    SEVERAL_RELAXED,
    TRIMMED,
    UNTRIMMED,
)
from peers import ELKAN, LLOYD
from problems import DTYPES, SHAPES, Shape
from results import markdown_table

MILLION = Shape(1_000_000, 8, 10)
OVERLAPPING, LARGE_UNIT = "overlapping", "overlapping, x20"
# what is kept while weights are fractional comes on top of the goal
JUDGED = ((FIXED, LARGE_UNIT), (UNTRIMMED, OVERLAPPING), (DEFAULT, OVERLAPPING))
OTHERS = (
    TRIMMED,
    *FAMILY,
    FRACTIONAL,
    SEVERAL,
    SEVERAL_RELAXED,
    SEVERAL_FIXED,
    LLOYD,
    ELKAN,
)


def wanted() -> list[tuple[str, str, Shape]]:
    """Return method, kind of data and shape of what is measured."""
    everywhere = (*JUDGED, (FIXED, OVERLAPPING))
    found = [(name, kind, shape) for name, kind in everywhere for shape in SHAPES]
    return found + [(name, OVERLAPPING, MILLION) for name in OTHERS]


def measure_all(options: Any) -> list[dict[str, Any]]:
    """Measure in both types, each fit in a process of its own."""
    records = []
    for name, kind, shape in wanted() if CAN_MEASURE else ():
        if kind not in options.kinds or shape not in (options.shapes or SHAPES):
            continue
        print(name, shape, kind, sep=", ", file=sys.stderr)
        record = {"method": name, "shape": list(shape), "kind": kind}
        for dtype in options.dtypes:
            record[dtype] = bytes_a_row(name, shape, kind, dtype)
        records.append(record)
    return records


def look_up(
    records: list[dict[str, Any]], method: str, shape: Shape, kind: str, dtype: str
) -> float | None:
    """Return the bytes a row of a fit; units matter to a fixed step alone."""
    for record in records:
        same_kind = method != FIXED or (kind == OVERLAPPING) == (
            record["kind"] == OVERLAPPING
        )
        if (record["method"], record["shape"]) == (method, list(shape)) and same_kind:
            return record.get(dtype)
    return None


def table(records: list[dict[str, Any]]) -> str:
    """Show the bytes a row, beside the goal where there is one."""
    header = ["fit", "rows x features, clusters", "data", *DTYPES, "goal"]
    rows = []
    for record in records:
        judged = (record["method"], record["kind"]) in JUDGED
        rows.append(
            [
                f"`{record['method']}`",
                str(Shape(*record["shape"])),
                record["kind"],
                *(shown(record.get(dtype), judged) for dtype in DTYPES),
                str(goals.BYTES_A_ROW) if judged else "",
            ]
        )
    return markdown_table(header, rows)


def shown(value: float | None, judged: bool) -> str:
    if value is None:
        return ""
    missed = judged and not goals.BYTES_A_ROW.met(value)
    return f"**{value:.0f}**" if missed else f"{value:.0f}"
