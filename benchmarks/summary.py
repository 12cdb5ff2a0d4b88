"""What the README says of quality, speed and the paper, from the figures that are kept.

``python benchmarks/summary.py`` puts it there; so do the programs that measure.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

import numpy as np
from lines import Line
from report import lines_by_part
from results import ROOT, fill, read

LARGE = 40_000  # rows, from which on fixed costs hardly weigh
PLAIN, LLOYD = "TrimmedKMeans(contamination=0)", "KMeans lloyd"
SEARCH, RESTARTED = "RTKM()", "KMeans(n_init=10)"


def quality() -> str:
    """Say how good the minima are."""
    records = read("quality")["records"]
    header, *rows = records["table"]
    kinds = [row[0] for row in rows].index("all of these")
    overall = dict(zip(header, rows[kinds], strict=True))
    worst = spaced(f"{float(overall['worst']) - 1:.1%}")
    return (
        f"**Quality.** On {records['problems']} problems of each of {kinds} "
        "kinds, `RTKM(k, contamination=share)` comes\n"
        "within 0.1 % of the least objective known in "
        f"{spaced(overall['at most 1.001'])} of the cases; 50 restarts do in "
        f"{spaced(overall['50 restarts: at most 1.001'])}.\n"
        f"In the worst case it ends {worst} above it."
    )


def spaced(share: str) -> str:
    """Write a percentage as everywhere else."""
    return share.replace("%", " %")


def speed() -> str:
    """Say how long fits take."""
    parts = lines_by_part()
    plain, small_plain = ratios(parts["descents"], PLAIN, LLOYD)
    search, small_search = ratios(parts["defaults"], SEARCH, RESTARTED)
    worst = max(small_plain + small_search)
    return (
        "**Speed.** Without trimming, from the same starting centers, a fit takes "
        f"{spread(plain)} of\nthe time of scikit-learn's k-means; with trimming and "
        f"the search for the least objective,\n{spread(search)} of that of "
        f"`{RESTARTED}`: median (range) over tables of {LARGE:,} rows\nand more. On "
        f"small ones it takes up to {worst:.1f} times as long."
    )


def ratios(
    lines: list[Line], method: str, against: str
) -> tuple[list[float], list[float]]:
    """Return the ratios of times on large tables, and on small ones."""
    found = [
        (line.shape.rows >= LARGE, line.ratio)
        for line in lines
        if line.method == method and line.against == against
    ]
    return [r for large, r in found if large], [r for large, r in found if not large]


def spread(ratios: list[float]) -> str:
    """Return the median and the range."""
    return f"{np.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def paper() -> str:
    """Say how many of the claims hold."""
    kept = ROOT / "experiments" / "results" / "results.json"
    claims = json.loads(kept.read_text())["claims"]
    counts = Counter(
        "in part" if claim["verdict"].startswith("true only") else claim["verdict"]
        for claim in claims
    )
    return (
        f"`make paper` computes its figures and tables again and judges {len(claims)} "
        f"of its claims: {counts['reproduced']}\n"
        f"are reproduced, {counts['in part']} hold in part, "
        f"{counts['not reproduced']} do not. [What came out](docs/paper.md), and why."
    )


SUMMARIES: dict[str, Callable[[], str]] = {
    "figures": lambda: f"{quality()}\n\n{speed()}",
    "paper": paper,
}


def write_summaries() -> None:
    """Put them into the README."""
    for name, summarize in SUMMARIES.items():
        fill(ROOT / "README.md", name, summarize())


if __name__ == "__main__":
    write_summaries()
