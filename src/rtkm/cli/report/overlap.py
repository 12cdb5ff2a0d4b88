"""How many rows each two clusters share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rtkm.cli.messages import counted
from rtkm.cli.report.clusters import BLOCK
from rtkm.cli.report.parts import cell, head, in_blocks, row_head, swatch, table

MOST = 40
N_SHADES = 4

Matrix = list[list[int]]


def draw(overlap: dict[str, Any]) -> str:
    """Return the matrix, in as many tables as it takes."""
    matrix: Matrix = overlap["matrix"]
    shown = most_shared(matrix)
    several = overlap["several"]
    belong = "belongs" if several == 1 else "belong"
    note = f"{counted(several, 'row')} {belong} to several clusters."
    if len(shown) < len(matrix):
        note += (
            f" Shown are the {len(shown)} of {len(matrix):,} clusters that share most "
            "rows."
        )
    blocks = in_blocks(shown, BLOCK)
    tables = "".join(
        block_table(f"overlap-{i}", matrix, shown, block)
        for i, block in enumerate(blocks)
    )
    return f"<p>{note}</p>\n{tables}"


def shared(matrix: Matrix, label: int) -> int:
    """Return how many rows a cluster shares, counted once for each cluster."""
    return sum(matrix[label]) - matrix[label][label]


def most_shared(matrix: Matrix) -> list[int]:
    """Return the clusters that share most rows, in their own order."""
    ranked = sorted(range(len(matrix)), key=lambda label: -shared(matrix, label))
    return sorted(ranked[:MOST])


def block_table(
    name: str, matrix: Matrix, shown: Sequence[int], block: Sequence[int]
) -> str:
    """Return some columns of the matrix."""
    pairs = [matrix[i][j] for i in shown for j in shown if i != j]
    most = max(pairs, default=0)
    heads = head("cluster") + "".join(
        head(f"{swatch(label)} {label}", "number") for label in block
    )
    rows = [
        f"<tr>{row_head(f'{swatch(i)} {i}', 'short')}"
        + "".join(
            cell(f"{matrix[i][j]:,}", f"number {shade(matrix[i][j], most, i == j)}")
            for j in block
        )
        + "</tr>"
        for i in shown
    ]
    caption = (
        "Rows that two clusters share; where a cluster meets itself, in italics, all "
        "of its rows."
    )
    return table(name, caption, heads, rows, "heat")


def shade(count: int, most: int, itself: bool) -> str:
    """Return the class of a cell: darker for more rows."""
    if itself:
        return "itself"
    return f"h{-(-N_SHADES * count // most)}" if most else "h0"
