"""One line of the speed tables: who, against whom, on what, and what came out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from goals import BYTES_A_ROW, Goal
from problems import Shape
from results import markdown_table
from timing import Fit, Round, fastest, median_ratio


@dataclass(frozen=True)
class Cell:
    """A race on one table: its problem and all its rounds."""

    shape: Shape
    kind: str
    dtype: str
    seed: int
    rounds: list[Round]

    def line(self, name: str, against: Iterable[str], **rest: Any) -> Line:
        """Compare a method with the fastest of some others."""
        against = tuple(against)
        ours = [fits[name] for fits in self.rounds]
        # the one that is fastest in most rounds gives the name and its figures
        names = [fastest(fits, against) for fits in self.rounds]
        other = max(against, key=names.count)
        theirs = [fits[other] for fits in self.rounds]
        return Line(
            method=name,
            rivals=against,
            against=other,
            shape=self.shape,
            kind=self.kind,
            dtype=self.dtype,
            seconds=median(theirs, "seconds"),
            ratio=median_ratio(self.rounds, name, against),
            n_iter=(median(ours, "n_iter"), median(theirs, "n_iter")),
            objective=(median(ours, "objective"), median(theirs, "objective")),
            objective_ratio=self.objective_ratio(name, other),
            n_rounds=len(self.rounds),
            **rest,
        )

    def objective_ratio(self, name: str, other: str) -> float:
        ratios = [fits[name].objective / fits[other].objective for fits in self.rounds]
        return float(np.median(ratios))

    def with_rounds(self, rounds: list[Round]) -> Cell:
        return replace(self, rounds=rounds)

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "shape": list(self.shape)}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Cell:
        rounds = [
            {name: Fit(*fit) for name, fit in fits.items()} for fits in record["rounds"]
        ]
        return cls(**{**record, "shape": Shape(*record["shape"]), "rounds": rounds})


@dataclass(frozen=True)
class Line:
    """What one method took in units of another, and what both reached."""

    method: str
    rivals: tuple[str, ...]
    against: str  # the fastest of these
    shape: Shape
    kind: str
    dtype: str
    seconds: float  # of the other
    ratio: float
    n_iter: tuple[float, float]
    objective: tuple[float, float]
    objective_ratio: float
    n_rounds: int
    goal: Goal | None = None
    judged: str = "time"  # or "objective": which ratio the goal is for
    bytes_a_row: float | None = None

    @property
    def reached(self) -> float:
        return self.objective_ratio if self.judged == "objective" else self.ratio

    @property
    def missed(self) -> bool:
        return self.goal is not None and not self.goal.met(self.reached)

    @property
    def badness(self) -> float:
        return -self.reached if self.goal and not self.goal.at_most else self.reached


def median(fits: list[Fit], what: str) -> float:
    return float(np.median([getattr(fit, what) for fit in fits]))


def full_table(lines: Iterable[Line]) -> str:
    """Show every line."""
    header = [
        "method",
        "against",
        "rows x features, clusters",
        "data",
        "type",
        "their time",
        "ratio",
        "goal",
        "iterations",
        "objective",
        "bytes a row",
        "rounds",
    ]
    rows = [
        [
            f"`{line.method}`",
            f"`{line.against}`",
            str(line.shape),
            line.kind,
            line.dtype,
            f"{line.seconds * 1e3:,.1f} ms",
            *outcome(line),
            str(line.n_rounds),
        ]
        for line in lines
    ]
    return markdown_table(header, rows)


def worst_table(lines: Iterable[Line]) -> str:
    """Show, of each method and shape, the kind of data and type that did worst."""
    header = [
        "fit",
        "against",
        "rows x features, clusters",
        "worst on",
        "ratio",
        "goal",
        "iterations",
        "objective",
        "bytes a row",
    ]
    # by method, then by shape, in the order they come in
    methods: dict[Any, dict[Shape, list[Line]]] = {}
    for line in lines:
        shapes = methods.setdefault((line.method, line.rivals), {})
        shapes.setdefault(line.shape, []).append(line)
    groups = [group for shapes in methods.values() for group in shapes.values()]
    worst = [max(group, key=lambda line: line.badness) for group in groups]
    rows = [
        [
            f"`{line.method}`",
            f"`{line.against}`",
            str(line.shape),
            f"{line.kind}, {line.dtype}",
            *outcome(line),
        ]
        for line in worst
    ]
    return markdown_table(header, rows)


def outcome(line: Line) -> list[str]:
    """Ratio, goal, iterations, objectives and memory; what misses a goal is bold."""
    ratio = f"{line.ratio:.2f}"
    objectives = " / ".join(f"{value:.5g}" for value in line.objective)
    goal = "" if line.goal is None else str(line.goal)
    if line.judged == "objective":
        objectives += f" = {emphasized(f'{line.objective_ratio:.6f}', line.missed)}"
        goal = f"objective {goal}"
    else:
        ratio = emphasized(ratio, line.missed)
    return [
        ratio,
        goal,
        " / ".join(f"{n:g}" if n else "?" for n in line.n_iter),
        objectives,
        bytes_shown(line),
    ]


def bytes_shown(line: Line) -> str:
    if line.bytes_a_row is None:
        return ""
    missed = line.goal is not None and not BYTES_A_ROW.met(line.bytes_a_row)
    return emphasized(f"{line.bytes_a_row:.0f}", missed)


def emphasized(text: str, when: bool) -> str:
    return f"**{text}**" if when else text
