"""What all pictures by matplotlib share: their axes and their colors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtkm._optional import import_optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# colors of inliers, of doubtful rows and of outliers, told apart by those who see few
# colors, too; those of the report are in report/templates/colors.css
BLUE, ORANGE, RED, GRAY = "#0072b2", "#e69f00", "#d55e00", "#767676"
# of clusters, in turn: the colors of the report, by light
COLORS = (
    *("#0072b2", "#d55e00", "#00876a", "#a6449b", "#8c6d00", "#33288f"),
    *("#cc3377", "#2d7a2d", "#7a5137", "#00838f", "#882255", "#667380"),
)


def new_axes(ax: Axes | None) -> Axes:
    """Return the axes, or those of a new figure."""
    return pyplot().subplots(layout="constrained")[1] if ax is None else ax


def pyplot() -> Any:
    """Return matplotlib's interface for interactive use."""
    return import_optional("matplotlib.pyplot", needed_by="rtkm.plot")


def say(ax: Axes, words: str) -> Axes:
    """Write words where there is nothing to draw."""
    ax.text(0.5, 0.5, words, ha="center", va="center", transform=ax.transAxes)
    ax.set(xticks=[], yticks=[])
    return ax
