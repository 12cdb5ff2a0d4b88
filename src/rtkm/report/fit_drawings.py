"""How the pictures of a fit are drawn; `plot_fits.py` says what they show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rtkm.report.collect import members_of
from rtkm.report.extents import axis_of, bins_of, ends_of
from rtkm.report.of_model import answers_for
from rtkm.report.plot_axes import COLORS, GRAY, RED, new_axes, say
from rtkm.report.plots import scatter
from rtkm.report.table_results import TableResults

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rtkm.report.axes import Axis
    from rtkm.report.findings import Scatter

MOST_NAMED = 12  # clusters in a legend
MOST_FEATURES = 40
MOST_DOTS = 1500
LONG_NUMBER = 8  # letters; longer ones would run into each other
# how many rows lie beyond a side of the frame, and where that is written
SIDES = (
    *(("← {}", (0.01, 0.5)), ("{} →", (0.93, 0.5))),
    *(("↓ {}", (0.5, 0.02)), ("↑ {}", (0.5, 0.95))),
)


def draw_clusters(model: Any, X: Any, ax: Axes | None) -> Axes:
    """Draw rows by cluster, as the report does."""
    ax = new_axes(ax)
    answers, _ = answers_for(model, X)
    found = scatter(answers)
    if found is None:
        return say(ax, "There are too few inliers to draw.")
    if len(found["directions"]) == 1:
        draw_histogram(ax, answers)
    else:
        draw_points(ax, found, bool(answers.n_clusters))
    if len(ax.get_legend_handles_labels()[0]) > 1:
        ax.legend(frameon=False)
    return ax


def draw_points(ax: Axes, found: Scatter, has_clusters: bool) -> None:
    """Draw a dot for each row, a cross for each outlier, and the centers."""
    told = found["points"]
    labels = np.array(told["label"])
    # what is beyond the frame is drawn at its edge
    places = []
    for given, extent in zip((told["x"], told["y"]), found["axes"], strict=True):
        low, high, *_ = ends_of(extent)
        places.append(np.clip(np.array(given, dtype=np.float64), low, high))
    for label in [*range(labels.max() + 1), -1]:
        x, y = (place[labels == label] for place in places)
        if len(x):
            size = 3 if label >= 0 else 5
            ax.plot(x, y, **look_of(label, has_clusters), ms=size, clip_on=False)
    for label, (x, y) in enumerate(found["centers"]):
        color = COLORS[label % len(COLORS)]
        ring = {"boxstyle": "circle", "fc": "white", "ec": color, "lw": 1.5}
        ax.annotate(str(label), (x, y), ha="center", va="center", bbox=ring)
    counts = [beyond[end] for beyond in found["beyond"] for end in ("low", "high")]
    for (words, place), count in zip(SIDES, counts, strict=True):
        if count:  # so many rows lie beyond the frame
            ax.annotate(words.format(f"{count:,}"), place, xycoords="axes fraction")
    for name, extent, direction in zip(
        "xy", found["axes"], found["directions"], strict=True
    ):
        features = [part["feature"] for part in direction["loadings"][:2]]
        words = direction["feature"] or f"mostly {', '.join(features)}"
        ax.set(**{f"{name}label": words})
        bend(ax, name, axis_of(extent, 0.0, 1.0))


def look_of(label: int, has_clusters: bool) -> dict[str, Any]:
    """Return how the rows of a label are drawn, and what they are called."""
    if label < 0:
        return {"marker": "x", "ls": "", "color": "black", "label": "outliers"}
    name = f"cluster {label}" if has_clusters else "inliers"
    color = COLORS[label % len(COLORS)]
    shown = name if label < MOST_NAMED else None
    return {"marker": "o", "ls": "", "color": color, "label": shown, "mew": 0}


def bend(ax: Axes, name: str, axis: Axis) -> None:
    """Make an axis logarithmic, beyond dotted lines, where a few rows lie far out."""
    if axis.plain is None:
        return
    there, back = (
        np.vectorize(place, otypes=[float]) for place in (axis.share, axis.value_at)
    )
    getattr(ax, f"set_{name}scale")("function", functions=(there, back))
    getattr(ax, f"set_{name}lim")(axis.low, axis.high)
    ticks = axis.ticks(6, room=0.1)
    getattr(ax, f"set_{name}ticks")(
        [axis.value_at(tick.at) for tick in ticks], [tick.text for tick in ticks]
    )
    if name == "x" and max(len(tick.text) for tick in ticks) > LONG_NUMBER:
        ax.tick_params(axis="x", labelrotation=30)
    line = ax.axvline if name == "x" else ax.axhline
    for place in axis.bends:
        line(axis.value_at(place), color=GRAY, ls=":", lw=1)


def draw_histogram(ax: Axes, answers: TableResults) -> None:
    """Draw how many rows have which value of the only feature, by cluster."""
    preparation = answers.prepared.preparation
    values = preparation.in_data_units(answers.prepared.X)[:, 0]
    extent, edges = bins_of(values)
    base = np.zeros(len(edges) - 1)
    for label in [*range(max(answers.n_clusters, 1)), -1]:
        counts = np.histogram(values[answers.labels == label], edges)[0]
        look = look_of(label, bool(answers.n_clusters))
        if counts.any():
            ax.bar(
                edges[:-1],
                counts,
                np.diff(edges),
                base,
                align="edge",
                color=look["color"],
                label=look["label"],
            )
        base += counts
    ax.set(xlabel=preparation.columns[0], ylabel="rows")
    bend(ax, "x", axis_of(extent, 0.0, 1.0))


def draw_scores(model: Any, X: Any, ax: Axes | None) -> Axes:
    """Draw the outlier scores of rows, the largest first, and the cut-off."""
    ax = new_axes(ax)
    answers, _ = answers_for(model, X)
    order = np.argsort(-answers.scores, kind="stable")
    ranks = np.unique(np.geomspace(1, len(order), MOST_DOTS).round().astype(np.intp))
    rows = order[ranks - 1]
    for name, mask, color, marker in (
        ("inliers", ~answers.outliers, GRAY, "o"),
        ("outliers", answers.outliers, RED, "x"),
    ):
        some = mask[rows]
        if some.any():
            label = f"{name}: {mask.sum():,}"
            places = ranks[some], answers.scores[rows[some]]
            ax.plot(*places, marker, color=color, ms=4, label=label)
    cut = -answers.model.offset_
    if np.isfinite(cut):
        ax.axhline(cut, color=GRAY, ls="--", lw=1.4, label="cut-off")
    if (answers.scores > 0).any() and answers.scores.min() >= 0:
        ax.set_yscale("log", nonpositive="mask")
    ax.set(xscale="log", xlabel="rows, the largest score first", ylabel="outlier score")
    ax.legend(frameon=False)
    return ax


def draw_profiles(model: Any, X: Any, ax: Axes | None) -> Axes:
    """Draw the mean of each cluster in each feature, in spreads from that of all."""
    answers = with_clusters(model, X, "profiles")
    ax = new_axes(ax)
    rows, inside = answers.prepared.X, ~answers.outliers
    middle, spread = rows[inside].mean(axis=0), rows[inside].std(axis=0)
    members = members_of(answers, answers.assignments())
    means = np.array(
        [rows[some].mean(axis=0) if len(some) else middle for some in members]
    )
    units = np.where(spread > 0, spread, 1.0)
    heights = (means - middle) / units
    # the most telling first
    shown = np.argsort(-np.ptp(heights, axis=0), kind="stable")[:MOST_FEATURES]
    most = np.abs(heights).max() or 1.0
    image = ax.imshow(
        heights[:, shown].T, cmap="RdBu_r", vmin=-most, vmax=most, aspect="auto"
    )
    columns = answers.prepared.preparation.columns
    ax.set_xticks(range(len(means)))
    ax.set_yticks(range(len(shown)), [columns[j] for j in shown])
    ax.set(xlabel="cluster", title="Mean of each cluster, in spreads from that of all")
    ax.figure.colorbar(image, ax=ax)
    return ax


def draw_overlap(model: Any, X: Any, ax: Axes | None) -> Axes:
    """Draw how many rows any two clusters share."""
    answers = with_clusters(model, X, "overlap")
    ax = new_axes(ax)
    assignments = answers.assignments()
    common = (assignments.T @ assignments).toarray().astype(int)
    image = ax.imshow(common, cmap="Blues", vmin=0)
    ax.set_xticks(range(len(common)))
    ax.set_yticks(range(len(common)))
    if len(common) <= MOST_NAMED:
        for (i, j), count in np.ndenumerate(common):
            color = "white" if count > common.max() / 2 else "black"
            ax.text(j, i, f"{count:,}", ha="center", va="center", color=color)
    ax.set(xlabel="cluster", ylabel="cluster", title="Rows that clusters share")
    ax.figure.colorbar(image, ax=ax)
    return ax


def with_clusters(model: Any, X: Any, what: str) -> TableResults:
    """Return the answers of a model that has clusters."""
    answers, _ = answers_for(model, X)
    if not answers.n_clusters:
        name = type(answers.model).__name__
        raise ValueError(f"{name} has no clusters, which {what} draws.")
    return answers
