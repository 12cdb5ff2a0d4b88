"""Which figures a run has: their names, captions, and how each is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from experiments.claims.figures import TABLE
from experiments.claims.names import label
from experiments.claims.summary import curve
from experiments.drawing.curves import (
    draw_sensitivity,
    draw_table,
    draw_units,
    f1_score,
    table_points,
)
from experiments.drawing.rows import draw_clouds, draw_outlier_maps, draw_process
from experiments.drawing.style import house_style, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = {
    "wbc": "Breast Cancer Wisconsin",
    "shuttle": "Shuttle",
    "yeast_noise": "Yeast with noise",
}


class Exhibit(NamedTuple):
    """A figure of a run: file name, experiment, protocol, what it shows, caption.

    `tables` are the ids of the tables that the page puts under it.
    """

    name: str
    experiment: str
    protocol: str
    shows: str
    caption: str
    draw: Callable[[], Figure]
    tables: tuple[str, ...] = ()


def exhibits(results: dict[str, Any]) -> list[Exhibit]:
    """Return the figures that the finished cells allow, in the paper's order."""
    cells = results["cells"]
    found = list(dict.fromkeys(tuple(key.split("/")[:3]) for key in cells))
    pairs = sorted({(name, protocol) for name, protocol, _ in found})
    return [
        exhibit
        for name, make in MAKERS.items()
        for of_name, protocol in pairs
        if of_name == name
        for exhibit in make(results, name, protocol)
    ]


def draw_all(results: dict[str, Any], folder: Path) -> dict[str, str]:
    """Draw every figure into a folder, and return their SVG by name."""
    with house_style():
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


def clouds(
    results: dict[str, Any], experiment: str, protocol: str
) -> Iterator[Exhibit]:
    """Yield what outliers do to k-means."""
    _, record = next(cells_of(results, experiment, protocol))
    caption = (
        f"Three clouds and {record['truth'].count(-1)} outliers: the data (top), "
        "k-means (middle) and RTKM (bottom). Colors are clusters, black crosses are "
        "centers, red crosses the true outliers (top) and the rows that RTKM trims "
        "(bottom). The paper's figure has the first two panels; its rows are not "
        "available, and these were drawn to look alike."
    )
    shows = "Three clouds with outliers, and the clusters of k-means and of RTKM"

    def draw() -> Figure:
        return draw_clouds(record)

    tables = (f"numbers-{experiment}",)
    yield Exhibit(experiment, experiment, protocol, shows, caption, draw, tables)


def process(
    results: dict[str, Any], experiment: str, protocol: str
) -> Iterator[Exhibit]:
    """Yield the stages of relaxed k-means."""
    _, record = next(cells_of(results, experiment, protocol))
    caption = (
        "Relaxed k-means on two clouds that touch. Colors between blue and green are "
        "weights: rows of a color in between belong to both clusters. Crosses are the "
        "centers. Weights start at 1/2 each, not at random as in the paper. The last "
        f"panel is iteration {record['iterations'][-1]}, the end of the run (the paper "
        "shows 20). The rows of the published figure are not available; the scale of "
        "these was chosen so that the weights take a while: in much larger units they "
        "are crisp at once, in much smaller ones not even after 1000 iterations."
    )
    shows = "Four stages of relaxed k-means, from shared weights to crisp clusters"

    def draw() -> Figure:
        return draw_process(record)

    yield Exhibit(experiment, experiment, protocol, shows, caption, draw)


def sensitivity(
    results: dict[str, Any], experiment: str, protocol: str
) -> Iterator[Exhibit]:
    """Yield the two curves of an experiment."""
    scores = ["me", f1_score(experiment)]
    words = "micro F1" if "f1_micro" in scores else "average F1"
    shows = f"{NAMES[experiment]}, {protocol}: M_e and {words} by share of outliers"
    caption = (
        f"{NAMES[experiment]}, protocol “{protocol}”: M_e (left) and {words} (right) "
        "against the share of outliers asked for. Solid lines are our means over "
        f"{starts(results, experiment, protocol, 'me')}, with bars from the lowest to "
        "the highest start. Dashed lines are the published means, dotted bars their "
        "ranges; the paper's text says ten starts."
    )
    if protocol == "as described":
        caption += " Hard trimming without swaps is left to the tables."
    if "f1_micro" in scores:
        caption += (
            " The paper describes an average over clusters, but the published F1 of "
            "this table is a micro average, and so is ours in the figure; the average "
            "has a table of its own."
        )
        scores.append("f1")

    def draw() -> Figure:
        return draw_sensitivity(results["cells"], experiment, protocol)

    name = slug(experiment, protocol)
    tables = tuple(f"numbers-{name}-{score}" for score in scores)
    yield Exhibit(name, experiment, protocol, shows, caption, draw, tables)


def overlap(
    results: dict[str, Any], experiment: str, protocol: str
) -> Iterator[Exhibit]:
    """Yield a figure for each table; what was run as published has tables alone."""
    if protocol == "as published":
        return
    n_starts = starts(results, experiment, protocol, "f1")
    found = {setting for setting, _ in cells_of(results, experiment, protocol)}
    again = {setting for setting, _ in cells_of(results, experiment, "as published")}
    for table in (table for table in TABLE if table in found):
        trivial = results.get("trivial", {}).get(table)
        caption = (
            f"{table.capitalize()}, protocol “{protocol}”: average F1 of every method. "
            f"Dots are our means over {n_starts} with a bar from the lowest to the "
            "highest start, black ticks the start with the best objective, which is "
            "what the paper reports; diamonds are the published values."
        )
        if trivial:
            caption += " The dashed line is the score of putting every row in every "
            caption += "cluster, which takes no method at all."
        caption += "".join(f" {text}" for text in on_sizes(results, table))

        def draw(table: str = table, trivial: Any = trivial) -> Figure:
            score = trivial["f1"] if trivial else None
            return draw_table(results["cells"], table, score)

        shows = f"{table.capitalize()}: average F1 of the methods, ours and published"
        name = slug(experiment, table)
        tables = [f"numbers-{name}"]
        if table in again:
            tables.append(f"numbers-{name}-as-published")
        yield Exhibit(name, experiment, protocol, shows, caption, draw, tuple(tables))


def on_sizes(results: dict[str, Any], table: str) -> Iterator[str]:
    """Yield what a reader must know of the numbers of clusters that rows are in."""
    sizes = table_points(results["cells"], table, "as described", "cardinality")
    single = [
        label(method)
        for method, size in sizes.items()
        if size.at_best == 1 and not method.startswith(("RTKM", "KMOR"))
    ]
    if single:
        yield (
            f"At the best objective {' and '.join(single)} "
            f"{'have' if len(single) > 1 else 'has'} 1.00 clusters per row: k-means in "
            "effect."
        )
    if "fuzzy" in sizes:
        yield "The sets of fuzzy c-means are shares of at least 1/k."
    if "NEO" in sizes:
        again = table_points(results["cells"], table, "as published", "cardinality")
        others = f"; as published {again['NEO'].mean - 1:.2f}" if "NEO" in again else ""
        yield (
            f"The overlap of NEO-k-means, clusters per row beyond the first, is "
            f"{sizes['NEO'].at_best - 1:.2f}{others}."
        )


def outlier_maps(
    results: dict[str, Any], experiment: str, protocol: str
) -> Iterator[Exhibit]:
    """Yield what each method took for outliers."""
    share, record = next(cells_of(results, experiment, protocol))
    if protocol == "as published":
        starting = "RTKM from a random start, the others from the centers it ends with"
    else:
        starting = "all from one start but the default solver, which has its own"
    caption = (
        f"Yeast with noise, protocol “{protocol}”: rows on their first two principal "
        f"components, and what each method takes for outliers, asked for a share of "
        f"{share}; {starting}. Red crosses are true outliers, blue ones false alarms; "
        "the numbers say how many there are of both together, and how many of them are "
        "true. It is the first of the ten starts that shows what the paper's figure "
        "shows; from most starts some of the others find outliers, too."
    )
    shows = (
        f"Yeast with noise, {protocol}: maps of the true outliers and of those that "
        "each method found"
    )

    def draw() -> Figure:
        return draw_outlier_maps(record, protocol)

    yield Exhibit(
        slug(experiment, protocol), experiment, protocol, shows, caption, draw
    )


def units(results: dict[str, Any], experiment: str, protocol: str) -> Iterator[Exhibit]:
    """Yield what other units do to the published step and to the default one."""
    caption = (
        "Breast Cancer Wisconsin with two clusters, all of its numbers multiplied by "
        "the same factor, from the same start: M_e (left), the objective in the "
        "original units relative to the lowest one (middle) and the share of rows that "
        "end with fractional weights (right). The published step of 1.1 is a squared "
        "distance, so that its answer depends on units; the default solver's does not."
    )
    shows = "M_e, objective and fractional weights of two solvers by unit of the table"

    def draw() -> Figure:
        return draw_units(results["cells"])

    tables = (f"numbers-{experiment}",)
    yield Exhibit(experiment, experiment, protocol, shows, caption, draw, tables)


# in the paper's order, and then what it does not have
MAKERS: dict[str, Callable[..., Iterator[Exhibit]]] = {
    "clouds": clouds,
    "process": process,
    "wbc": sensitivity,
    "shuttle": sensitivity,
    "overlap": overlap,
    "yeast_noise": sensitivity,
    "outlier_maps": outlier_maps,
    "units": units,
}
