"""Which figures a run has: their names, captions, and how each is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rtkm.reproduce._figures import TABLE
from rtkm.reproduce._pictures import (
    SHARES,
    draw_outlier_maps,
    draw_process,
    draw_sensitivity,
    draw_table,
    f1_score,
    save,
)
from rtkm.reproduce._summary import curve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAPS = "outlier_maps"  # the experiment whose cells are records of draw_outlier_maps
NAMES = {
    "wbc": "Breast Cancer Wisconsin",
    "shuttle": "Shuttle",
    "yeast_noise": "Yeast with noise",
}


class Exhibit(NamedTuple):
    """A figure of a run: file name, experiment, protocol, what it shows, caption."""

    name: str
    experiment: str
    protocol: str
    shows: str
    caption: str
    draw: Callable[[], Figure]


def exhibits(results: dict[str, Any]) -> list[Exhibit]:
    """Return the figures that the finished cells allow, in the paper's order."""
    cells = results["cells"]
    found = list(dict.fromkeys(tuple(key.split("/")[:3]) for key in cells))
    order = ("process", "wbc", "shuttle", "overlap", "yeast_noise", MAPS)
    pairs = sorted({(name, protocol) for name, protocol, _ in found})
    return [
        exhibit
        for name in order
        for of_name, protocol in pairs
        if of_name == name
        for exhibit in makers[name](results, name, protocol)
    ]


def draw_all(results: dict[str, Any], folder: Path) -> dict[str, str]:
    """Draw every figure into a folder, and return their SVG by name."""
    return {
        exhibit.name: save(exhibit.draw(), folder, exhibit.name)
        for exhibit in exhibits(results)
    }


def cells_of(
    results: dict[str, Any], experiment: str, protocol: str
) -> Iterator[tuple[str, Any]]:
    """Yield setting and result of the cells of an experiment."""
    for key, result in results["cells"].items():
        name, of_protocol, setting, _ = key.split("/")
        if (name, of_protocol) == (experiment, protocol):
            yield setting, result


def slug(*words: str) -> str:
    """Return a name for a file."""
    return "-".join(words).replace(" ", "-")


def starts(results: dict[str, Any], experiment: str, protocol: str, score: str) -> str:
    """Return from how many starts the points come, in words."""
    curves = curve(results["cells"], experiment, protocol, score)
    counts = {point.n_starts for points in curves.values() for point in points}
    if not counts:
        return "no starts"
    low, high = min(counts), max(counts)
    if low < high:
        return f"{low} to {high} starts"
    return f"{high} start{'s' if high > 1 else ''}"


def sensitivity(
    results: dict[str, Any], experiment: str, protocol: str
) -> Iterator[Exhibit]:
    """Yield the two curves of an experiment."""
    f1 = f1_score(experiment, protocol)
    words = "micro F1" if f1 == "f1_micro" else "average F1"
    shows = f"{NAMES[experiment]}, {protocol}: M_e and {words} by share of outliers"
    caption = (
        f"{NAMES[experiment]}, protocol “{protocol}”: M_e (left) and {words} (right) "
        "against the share of outliers asked for. Solid lines are our means over "
        f"{starts(results, experiment, protocol, f1)}, bands reach from the lowest to "
        "the highest start. Dashed lines are the published means over ten starts; thin "
        "dotted lines bound the published starts where they differ."
    )
    if (experiment, protocol) == ("shuttle", "as described"):
        caption += (
            " The published F1 on this table is a micro average, ours the average over "
            "clusters that the paper describes: the right panel compares two "
            "different scores."
        )

    def draw() -> Figure:
        return draw_sensitivity(results["cells"], experiment, protocol)

    yield Exhibit(
        slug(experiment, protocol), experiment, protocol, shows, caption, draw
    )


def overlap(
    results: dict[str, Any], experiment: str, protocol: str
) -> Iterator[Exhibit]:
    """Yield a figure for each table of the methods for overlapping clusters."""
    n_starts = starts(results, experiment, protocol, "f1")
    found = {setting for setting, _ in cells_of(results, experiment, protocol)}
    for table in (table for table in TABLE if table in found):
        trivial = results.get("trivial", {}).get(table)
        caption = (
            f"{table.capitalize()}, protocol “{protocol}”: average F1 of every method. "
            f"Dots are our means over {n_starts} with a bar from the lowest to the "
            "highest start, diamonds are the published values."
        )
        if trivial:
            caption += " The dashed line is the score of putting every row in every "
            caption += "cluster, which takes no method at all."

        def draw(table: str = table, trivial: Any = trivial) -> Figure:
            score = trivial["f1"] if trivial else None
            return draw_table(results["cells"], table, score)

        shows = f"{table.capitalize()}: average F1 of the methods, ours and published"
        name = slug(experiment, table)
        yield Exhibit(name, experiment, protocol, shows, caption, draw)


def process(
    results: dict[str, Any], experiment: str, protocol: str
) -> Iterator[Exhibit]:
    """Yield the stages of relaxed k-means."""
    _, record = next(cells_of(results, experiment, protocol))
    caption = (
        "Relaxed k-means on two clouds that touch. Colors are weights: gray rows "
        "belong to both clusters. Crosses are the centers. The last panel is iteration "
        f"{record['iterations'][-1]}, the end of the run; nothing is dashed, since the "
        "rows of the published figure are not available."
    )
    shows = "Four stages of relaxed k-means, from shared weights to crisp clusters"

    def draw() -> Figure:
        return draw_process(record)

    yield Exhibit(experiment, experiment, protocol, shows, caption, draw)


def outlier_maps(
    results: dict[str, Any], experiment: str, protocol: str
) -> Iterator[Exhibit]:
    """Yield what each method took for outliers."""
    _, record = next(cells_of(results, experiment, protocol))
    caption = (
        f"Yeast with noise, protocol “{protocol}”: rows on their first two principal "
        "components; crosses are the true outliers (first panel) and what each method "
        "takes for outliers, all from the same start. In brackets their number."
    )
    shows = "Maps of the true outliers and of those that each method found"

    def draw() -> Figure:
        return draw_outlier_maps(record)

    yield Exhibit(
        slug(experiment, protocol), experiment, protocol, shows, caption, draw
    )


makers: dict[str, Callable[..., Iterator[Exhibit]]] = {
    "process": process,
    "overlap": overlap,
    MAPS: outlier_maps,
} | dict.fromkeys(SHARES, sensitivity)
