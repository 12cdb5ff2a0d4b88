"""How pictures look: colors and markers of methods, and how files are made."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.claims.names import DEFAULT
from rtkm._files import replacing
from rtkm._optional import import_optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# the colors of Okabe and Ito, that color-blind readers can tell apart
BLUE, GREEN, RED, ORANGE, PURPLE = (
    *("#0072B2", "#009E73", "#D55E00", "#E69F00", "#CC79A7"),
)
OTHER, QUIET = "#555555", "#BBBBBB"
COLORS = {
    "RTKM": BLUE,
    "RTKM, step 1.1": BLUE,
    DEFAULT: PURPLE,
    "NEO": GREEN,
    "KMOR, gamma 1": RED,
    "KMOR, gamma 9": ORANGE,
}
MARKERS = {
    "RTKM": "o",
    "RTKM, step 1.1": "o",
    DEFAULT: "v",
    "NEO": "s",
    "KMOR, gamma 1": "D",
    "KMOR, gamma 9": "X",
}
NOT_DRAWN = ("RTKM, no swaps",)  # it hides behind others; the tables have it
STYLE = {"font.size": 10, "axes.titlesize": 10, "svg.fonttype": "none"}


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure that knows no window, or say how to get matplotlib."""
    figure: Any = matplotlib("figure").Figure((width, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.08)
    return figure


def matplotlib(module: str = "") -> Any:
    """Import matplotlib or a module of it."""
    name = f"matplotlib.{module}".rstrip(".")
    return import_optional(name, needed_by="drawing the figures")


def tidy(ax: Axes) -> None:
    """Leave only the axes that carry numbers, with a faint grid."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)


def add_legend(figure: Figure, ax: Axes, n_last: int = 1) -> None:
    """Put the legend of a panel under the figure, its last entries in a column."""
    handles, labels = ax.get_legend_handles_labels()
    n_blank = -len(handles) % n_last
    blank = matplotlib("lines").Line2D([], [], linestyle="none")
    at = len(handles) - n_last
    handles[at:at], labels[at:at] = [blank] * n_blank, [""] * n_blank
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=len(handles) // n_last,
        frameon=False,
        fontsize=9,
    )


@contextmanager
def house_style() -> Iterator[None]:
    """Draw alike on every machine, whatever its matplotlibrc says."""
    with matplotlib().rc_context():
        matplotlib().rcdefaults()
        matplotlib().rcParams.update(STYLE)
        yield


def save(figure: Figure, folder: Path, name: str) -> str:
    """Write name.svg and name.png, the same bytes every time, and return the SVG."""
    undated = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    vector, pixels = io.BytesIO(), io.BytesIO()
    with matplotlib().rc_context(STYLE | {"svg.hashsalt": name}):
        figure.savefig(vector, format="svg", dpi=150, metadata=undated)
        figure.savefig(pixels, format="png", dpi=130, metadata={"Software": None})
    for ending, content in (("svg", vector), ("png", pixels)):
        with replacing(folder / f"{name}.{ending}") as file:
            file.write(content.getvalue())
    return vector.getvalue().decode()
