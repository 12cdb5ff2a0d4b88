"""Pictures of fits, choices and curves, by matplotlib.

Each function draws on the axes it is given, or on new ones, and returns them; only
:func:`choice` draws several pictures, and returns their figure. Those of a fitted model
take the rows, which no model keeps.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from rtkm._number_text import counted
from rtkm.choosing.choice import Choice, FittedTail
from rtkm.choosing.curves import Curves
from rtkm.choosing.outliers import fit_tail
from rtkm.core.validation import make_table
from rtkm.report.plot_axes import BLUE, GRAY, ORANGE, RED, new_axes, pyplot, say
from rtkm.report.plot_fits import clusters, overlap, profiles, scores

__all__ = [
    "choice",
    "clusters",
    "curves",
    "overlap",
    "plateau",
    "profiles",
    "scores",
    "tail",
    "weakest_pair",
]

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# dots that a picture of a million rows is drawn with
MOST_DOTS = 1500


def choice(choice: Choice) -> Figure:
    """Draw what decided on the number of clusters, in one figure.

    Parameters
    ----------
    choice : Choice
        What :func:`rtkm.choose` returned, or ``choice_`` of a fit.

    Returns
    -------
    matplotlib.figure.Figure
        :func:`plateau` on the left, :func:`weakest_pair` on the right.

    Examples
    --------
    >>> from rtkm import choose, plot
    >>> from rtkm.datasets import make_outlier_blobs
    >>> X, labels, centers = make_outlier_blobs(200, random_state=0)
    >>> choice = choose(X, random_state=0)
    >>> for ax in plot.choice(choice).axes:
    ...     print(ax.get_title())
    3 clusters: how many trials agree
    The weakest gap: between clusters 1 and 2
    """
    figure, (left, right) = pyplot().subplots(
        1, 2, figsize=(11, 4.4), layout="constrained"
    )
    plateau(choice, left)
    weakest_pair(choice, right)
    return figure


def plateau(choice: Choice, ax: Axes | None = None) -> Axes:
    """Draw how many groups each number of cells makes, and how many trials agree.

    Parameters
    ----------
    choice : Choice
        What :func:`rtkm.choose` returned.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> from rtkm import choose, plot
    >>> from rtkm.datasets import make_outlier_blobs
    >>> X, labels, centers = make_outlier_blobs(200, random_state=0)
    >>> choice = choose(X, random_state=0)
    >>> plot.plateau(choice).get_title()
    '3 clusters: how many trials agree'
    """
    ax = new_axes(ax)
    ax.set_title(f"{counted(choice.n_clusters, 'cluster')}: how many trials agree")
    if not choice.table:
        return say(ax, "There are too few rows\nto look for gaps.")
    cells, groups = (
        np.array([line[name] for line in choice.table])
        for name in ("n_cells", "n_groups")
    )
    votes = Counter(groups.tolist())
    most = max(votes, key=lambda number: (votes[number], number))
    ax.plot(cells, groups, "o", color=BLUE, ms=5, label="groups with gaps between")
    agreeing = groups == most
    words = f"{counted(most, 'group')}, in {votes[most]} of {len(groups)} trials"
    ax.plot(cells[agreeing], groups[agreeing], "o", color=ORANGE, ms=10, label=words)
    if choice.n_clusters != most:
        # small groups count as outliers, and numbers may be given to choose from
        words = f"chosen: {counted(choice.n_clusters, 'cluster')}"
        ax.axhline(choice.n_clusters, color=RED, ls="--", lw=1.2, label=words)
    ax.set(xlabel="cells the rows were cut into", ylabel="groups the cells make up")
    ax.set_ylim(0, 1.25 * max(groups.max(), choice.n_clusters) + 0.5)
    for axis in ax.xaxis, ax.yaxis:
        locator: Any = axis.get_major_locator()
        locator.set_params(integer=True)
    ax.legend(loc="upper left", frameon=False)
    return ax


def weakest_pair(choice: Choice, ax: Axes | None = None) -> Axes:
    """Draw the rows on the way between the two clusters that are hardest to tell apart.

    Parameters
    ----------
    choice : Choice
        What :func:`rtkm.choose` returned.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> from rtkm import choose, plot
    >>> from rtkm.datasets import make_outlier_blobs
    >>> X, labels, centers = make_outlier_blobs(200, random_state=0)
    >>> choice = choose(X, random_state=0)
    >>> plot.weakest_pair(choice).get_title()
    'The weakest gap: between clusters 1 and 2'
    """
    ax = new_axes(ax)
    if not choice.pairs:
        ax.set_title("Rows between clusters")
        if choice.n_clusters == 1:
            return say(ax, "There is a single cluster,\nso there is no gap to show.")
        return say(ax, "There are no gaps between\nas many clusters.")
    pair = choice.pairs[0]
    heights = np.array(pair["histogram"])
    places = (np.arange(len(heights)) + 0.5 - len(heights) / 2) * pair["bin_width"]
    ax.bar(places, heights, pair["bin_width"], color=BLUE, alpha=0.75, lw=0)
    a, b = pair["clusters"]
    low = lowest_window(heights, pair["bin_width"], pair["between"])
    ax.axvspan(*low, color=ORANGE, alpha=0.3, lw=0)
    top = 1.3 * max(heights.max(), 1.0)
    words = f"gap: {pair['between']:.0f} rows,\n{min(pair['around']):.0f} around either"
    ax.text(sum(low) / 2, 0.97 * top, words, ha="center", va="top")
    for place in (-0.5, 0.5):
        ax.axvline(place, color=GRAY, ls=":", lw=1.2)
    ax.set(
        title=f"The weakest gap: between clusters {a} and {b}",
        xlabel="along the line through two neighboring centers",
        ylabel="rows",
        ylim=(0, top),
    )
    ax.set_xticks([-0.5, 0, 0.5], [f"center in {a}", "halfway", f"center in {b}"])
    return ax


def lowest_window(
    heights: NDArray[np.float64], width: float, between: float
) -> tuple[float, float]:
    """Return where the gap is: the window between the centers with its few rows.

    Windows are a quarter of the way between the centers wide, as they are counted.
    """
    n_bins = round(0.25 / width)
    totals = np.concatenate([[0.0], np.cumsum(heights)])
    middle, half = len(heights) // 2, round(0.5 / width)
    starts = np.arange(middle - half, middle + half - n_bins + 1)
    rows = totals[starts + n_bins] - totals[starts]
    # of windows that hold as many, the one nearest to the middle
    far = np.abs(starts + n_bins / 2 - middle)
    first = starts[np.lexsort([far, np.abs(rows - between)])[0]]
    return (first - middle) * width, (first + n_bins - middle) * width


def tail(
    model: Any,
    X: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw how far out rows lie, against the tail that clusters have, and the cut.

    Both axes are logarithmic, so that the bulk of the rows and the few far out are both
    seen. The curve counts the rows that stand out and, of all others, those that the
    shape of clusters lets lie so far out; it is level where only the former are left.

    Parameters
    ----------
    model : RTKM or another clusterer with ``standing_out_mask_``
        A fitted model.
    X : array-like or CSR matrix of shape (n_samples, n_features), default=None
        The rows it was fitted to: without them there is no curve, unless the model
        chose and has it in its ``choice_``.
    sample_weight : array-like of shape (n_samples,), default=None
        What rows count for, as in the fit.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> from rtkm import RTKM, plot
    >>> from rtkm.datasets import make_outlier_blobs
    >>> X, labels, centers = make_outlier_blobs(200, random_state=0)
    >>> model = RTKM(random_state=0).fit(X)
    >>> [text.get_text() for text in plot.tail(model, X).get_legend().get_texts()][:2]
    ['inliers: 178', 'outliers that stand out: 22']
    """
    check_is_fitted(model)
    if getattr(model, "standing_out_mask_", None) is None:
        raise ValueError(
            f"{type(model).__name__} keeps no standing_out_mask_ of the rows; expected "
            "RTKM, TrimmedKMeans, KMeansMinusMinus or NEOKMeans, just fitted and not "
            "loaded from a file."
        )
    ax = new_axes(ax)
    scores = np.asarray(model.outlier_scores_, np.float64)
    if not (scores > 0).any():
        return say(ax, "All rows lie at their centers.")
    draw_scores(ax, scores, model.outlier_mask_, model.standing_out_mask_)
    fitted = tail_of(model, X, sample_weight)
    if fitted is not None:
        draw_tail(ax, fitted, len(scores), int(model.standing_out_mask_.sum()))
    if np.isfinite(model.offset_) and model.offset_ < 0:
        ax.axvline(-model.offset_, color=GRAY, ls="--", lw=1.4, label="cut")
    ax.set(
        xscale="log",
        yscale="log",
        ylim=(0.7, 1.6 * len(scores)),
        title="How far out rows lie, and where outliers begin",
        xlabel="outlier score (squared distance from the center)",
        ylabel="rows with at least this score",
    )
    ax.legend(loc="lower left", frameon=False)
    return ax


def draw_scores(
    ax: Axes,
    scores: NDArray[np.float64],
    is_outlier: NDArray[np.bool_],
    stands_out: NDArray[np.bool_],
) -> None:
    """Draw each row by its score and its rank; of many rows the farthest all."""
    order = np.argsort(-scores, kind="stable")
    n = len(order)
    ranks = np.unique(np.geomspace(1, n, MOST_DOTS).round().astype(np.intp))
    ranks = ranks[scores[order[ranks - 1]] > 0]
    kinds = (
        ("inliers", ~is_outlier & ~stands_out, BLUE, "o"),
        ("kept, but stand out", ~is_outlier & stands_out, ORANGE, "D"),
        ("trimmed, but do not stand out", is_outlier & ~stands_out, ORANGE, "s"),
        ("outliers that stand out", is_outlier & stands_out, RED, "x"),
    )
    for name, mask, color, marker in kinds:
        if mask.any():
            some = ranks[mask[order[ranks - 1]]]
            label = f"{name}: {mask.sum()}"
            places = scores[order[some - 1]]
            ax.plot(places, some, marker, color=color, ms=4, label=label)
    # the innermost rows of a cluster would take up most of a logarithmic scale
    inner = scores[scores > 0]
    ax.set_xlim(np.quantile(inner, 0.01) / 1.5, inner.max() * 2)


def tail_of(
    model: Any, X: ArrayLike | None, sample_weight: ArrayLike | None
) -> FittedTail | None:
    """Return the tail of the distances inside clusters, if it can be had."""
    if X is None:
        found: Choice | None = getattr(model, "choice_", None)
        return None if found is None else found.fitted_tail
    table, C = make_table(X, sample_weight), model.cluster_centers_
    scores = model.outlier_scores_
    if table.n_rows != len(scores):
        raise ValueError(
            f"X has {table.n_rows} rows; expected the {len(scores)} that the model was "
            "fitted to."
        )
    labels = table.nearest(C, 1).labels[:, 0]
    return fit_tail(table, C, labels, scores, model.inlier_weights_)


def draw_tail(ax: Axes, fitted: FittedTail, n_rows: int, n_standing_out: int) -> None:
    """Draw how many rows are expected so far out: those that stand out, and a tail."""
    counts = (fitted.scales > 0) & (fitted.masses > 0)
    masses = fitted.masses[counts] / fitted.masses[counts].sum()
    x = np.geomspace(*ax.get_xlim(), 400)
    beyond = fitted.tail.beyond(x[:, None] / fitted.scales[counts]) @ masses
    expected = n_standing_out + (n_rows - n_standing_out) * beyond
    label = "expected by the shape of clusters"
    ax.plot(x, expected, color="black", lw=1.2, label=label)


def curves(curves: Curves, ax: Axes | None = None) -> Axes:
    """Draw the trimmed cost over the share of outliers, a line for each number.

    Parameters
    ----------
    curves : Curves
        What :func:`rtkm.curves` returned.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> from rtkm import curves, plot
    >>> found = curves([[0.0], [1.0], [5.0], [6.0], [90.0]], [1, 2], [0.0, 0.2])
    >>> plot.curves(found).get_ylabel()
    'cost of the rows that are kept'
    """
    ax = new_axes(ax)
    colors = pyplot().get_cmap("viridis")(np.linspace(0, 0.9, len(curves.n_clusters)))
    percent = 100 * np.array(curves.contamination)
    for k, costs, color in zip(curves.n_clusters, curves.costs, colors, strict=True):
        # no cost at all has no place on a logarithmic scale
        shown = np.where(costs > 0, costs, np.nan)
        ax.plot(percent, shown, "o-", ms=3, color=color, label=str(k))
    ax.set(
        title="Trimmed cost by clusters and outliers",
        xlabel="rows left out as outliers, in %",
        ylabel="cost of the rows that are kept",
    )
    if (curves.costs > 0).any():
        ax.set_yscale("log")
    ax.legend(title="clusters", loc="center left", bbox_to_anchor=(1, 0.5))
    return ax
