"""The objective from one iteration to the next."""

from __future__ import annotations

import math
from typing import Any

from rtkm.cli.figures import known
from rtkm.cli.messages import counted
from rtkm.cli.report.axes import Axis, padded
from rtkm.cli.report.parts import picture
from rtkm.cli.report.words import number

SIZE = (760, 260)
LEFT, RIGHT, TOP, BOTTOM = 84, 742, 14, 212
MOST_POINTS = 400
# from this ratio on, the last steps are lost at the bottom of a plain scale
WIDE = 50.0


def draw(objective: dict[str, Any]) -> str:
    """Return how the fit went, in words and as a line."""
    path = [known(value) for value in objective["path"]]
    steps = [(i, value) for i, value in enumerate(path) if value is not None]
    words = f"<p>{in_words(objective)}</p>\n"
    if len(steps) < 2:
        return words
    values = [value for _, value in steps]
    logs = min(values) > 0 and max(values) / min(values) > WIDE
    svg = picture(
        "objective-path",
        SIZE,
        "The objective after every step",
        f"It falls from {number(values[0])} to {number(values[-1])} in "
        f"{counted(len(path) - 1, 'step')}.",
        line(thinned(steps), len(path) - 1, logs),
    )
    scale = ", on a logarithmic scale" if logs else ""
    return (
        f"{words}<figure>{svg}<figcaption>The objective at the start, after every "
        f"step and after every swap that paid{scale}; lower is better.</figcaption>"
        "</figure>\n"
    )


def in_words(objective: dict[str, Any]) -> str:
    """Return how long the fit took, where it ended, and why."""
    end = "It had settled." if objective["converged"] else "It had not settled yet."
    return (
        f"The fit ended at {number(objective['value'])}; its last descent took "
        f"{counted(objective['n_iter'], 'step')}. {end}"
    )


def thinned(steps: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return no more steps than can be told apart, the last one among them."""
    stride = -(-len(steps) // MOST_POINTS)
    return steps if stride == 1 else [*steps[:-1:stride], steps[-1]]


def line(steps: list[tuple[int, float]], last: int, logs: bool) -> str:
    """Return the line in its frame."""
    values = [value for _, value in steps]
    if logs:
        values = [math.log10(value) for value in values]
    across = Axis(0, last, LEFT, RIGHT)
    up = padded(min(values), max(values), BOTTOM, TOP)
    places = [
        f"{across.at(i):.1f} {up.at(value):.1f}"
        for (i, _), value in zip(steps, values, strict=True)
    ]
    drawn = axes(across, up, logs) + f'<path class="line" d="M{"L".join(places)}"/>\n'
    if len(places) <= 60:
        dots = "".join(f"M{place}h0" for place in places)
        drawn += f'<path class="dots" d="{dots}"/>\n'
    return drawn


def axes(across: Axis, up: Axis, logs: bool) -> str:
    """Return faint lines with numbers."""
    lines = []
    for value in log_ticks(up) if logs else up.ticks(5):
        y = up.at(value)
        written = number(10.0**value if logs else value)
        lines.append(
            f'<path class="grid" d="M{LEFT} {y:.1f}H{RIGHT}"/>'
            f'<text class="tick side" x="{LEFT - 10}" y="{y + 4:.1f}">{written}</text>'
        )
    for value in across.ticks(8):
        if value == int(value):
            lines.append(
                f'<text class="tick" x="{across.at(value):.1f}" y="{BOTTOM + 20}">'
                f"{int(value):,}</text>"
            )
    lines.append(
        f'<text class="axis" x="{(LEFT + RIGHT) / 2:g}" y="{SIZE[1] - 6}">step</text>'
    )
    return "\n".join(lines) + "\n"


def log_ticks(up: Axis) -> list[float]:
    """Return whole powers of ten, no more than six."""
    first, last = math.ceil(up.low), math.floor(up.high)
    stride = max(1, -(-(last - first + 1) // 6))
    return [float(power) for power in range(first, last + 1, stride)]
