"""What the paper does not say, and its own tables show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rtkm.reproduce._figures import CURVES
from rtkm.reproduce._summary import by_setting, curve, objectives

Cells = dict[str, Any]
Trivial = dict[str, dict[str, float]]


class Finding(NamedTuple):
    """Something seen, and the figures that show it."""

    finding: str
    evidence: str


def trivial_answer(cells: Cells, trivial: Trivial) -> str:
    texts = []
    for table, points in by_setting(cells, "overlap", "as described", "f1").items():
        best = max(points, key=lambda method: points[method].high)
        texts.append(
            f"{table}: {trivial[table]['f1']:.3f}, where the best run of any method, "
            f"{best}, has {points[best].high:.3f}"
        )
    return "; ".join(texts)


def cardinalities(cells: Cells, trivial: Trivial) -> str:
    tables = by_setting(cells, "overlap", "as described", "cardinality")
    texts = []
    for table, points in tables.items():
        listed = ", ".join(f"{m}: {p.at_best:.2f}" for m, p in points.items())
        texts.append(
            f"{table} (truly {trivial[table]['true_cardinality']:.2f}): {listed}"
        )
    return "; ".join(texts)


def units(cells: Cells, trivial: Trivial) -> str:
    texts = []
    for method in ("RTKM, step 1.1", "RTKM"):
        scores = {s: curve(cells, "units", "as described", s)[method] for s in UNITS}
        spans = [
            f"{words} {min(p.mean for p in scores[s]):.4g} to "
            f"{max(p.mean for p in scores[s]):.4g}"
            for s, words in UNITS.items()
        ]
        texts.append(f"{method}: {', '.join(spans)}")
    scales = [point.setting for point in scores["me"]]
    return f"WBC, k = 2, times {scales[0]} to {scales[-1]}; " + "; ".join(texts)


UNITS = {"me": "M_e", "objective": "objective", "fractional": "fractional rows"}


def default_solver(cells: Cells, trivial: Trivial) -> str:
    texts = []
    for experiment in ("shuttle", "yeast_noise"):
        auto = objectives(cells, experiment, "RTKM")
        for method in ("RTKM, step 1.1", "RTKM, no swaps"):
            excess = objectives(cells, experiment, method) / auto - 1
            texts.append(
                f"{experiment}, {method}: {np.median(excess):.2%} above it in the "
                f"median, {excess.max():.1%} at most, below it in "
                f"{np.mean(excess < -1e-6):.0%} of the runs"
            )
    return "; ".join(texts)


def poor_minima(cells: Cells, trivial: Trivial) -> str:
    texts = []
    for experiment in ("shuttle", "yeast_noise"):
        settings = by_setting(cells, experiment, "as described", "objective")
        for method in ("RTKM", "RTKM, step 1.1", "RTKM, no swaps"):
            best = {setting: points[method].low for setting, points in settings.items()}
            excess = [
                methods[method]["objective"] / best[key.split("/")[2]] - 1
                for key, methods in cells.items()
                if key.startswith(f"{experiment}/as described/")
            ]
            texts.append(
                f"{experiment}, {method}: {np.sum(np.array(excess) > 0.01)} of "
                f"{len(excess)}, worst {max(excess):.1%}"
            )
    return "runs that end 1 % above the best of the starts: " + "; ".join(texts)


def low_objective_is_not_low_me(cells: Cells, trivial: Trivial) -> str:
    me = {
        m: curve(cells, "yeast_noise", "as described", "me")[m]
        for m in ("RTKM", "RTKM, step 1.1")
    }
    return "M_e by share at the best objective of default solver and step 1.1: " + (
        ", "
    ).join(
        f"{float(auto.setting):.2f} {auto.at_best:.3f} and {fixed.at_best:.3f}"
        for auto, fixed in zip(*me.values(), strict=True)
    )


def program_is_not_the_method(cells: Cells, trivial: Trivial) -> str:
    published = CURVES["yeast_noise"]["RTKM"]["me"]
    texts = []
    for i in (6, 8, 10):
        described, program = (
            curve(cells, "yeast_noise", protocol, "me")[method][i]
            for protocol, method in (
                ("as described", "RTKM, step 1.1"),
                ("as published", "RTKM"),
            )
        )
        texts.append(
            f"{float(described.setting):.2f}: {described.mean:.3f} as described, "
            f"{program.mean:.3f} as published, {published[i][0]:.3f} in the figure"
        )
    return "M_e at a share of " + "; ".join(texts)


def unsettled(cells: Cells, trivial: Trivial) -> str:
    texts = []
    for experiment in ("wbc", "shuttle", "yeast_noise"):
        for protocol, method in (
            ("as described", "RTKM, step 1.1"),
            ("as published", "RTKM"),
        ):
            points = curve(cells, experiment, protocol, "converged")[method]
            settled = np.mean([point.mean for point in points])
            texts.append(f"{experiment} {protocol} {settled:.0%}")
    return "runs settled within 1000 iterations: " + ", ".join(texts)


FINDINGS: list[tuple[str, Callable[[Cells, Trivial], str], set[str]]] = [
    (
        "What the trivial answer scores, every row in every cluster",
        trivial_answer,
        {"overlap"},
    ),
    (
        "How many clusters each method puts a row into",
        cardinalities,
        {"overlap"},
    ),
    (
        "What the units of a table do to a fixed step, and to the default one",
        units,
        {"units"},
    ),
    (
        'How far from the objective of step="auto" a fixed step and hard trimming end',
        default_solver,
        {"shuttle", "yeast_noise"},
    ),
    (
        "How often a start ends in a poor minimum",
        poor_minima,
        {"shuttle", "yeast_noise"},
    ),
    (
        "Told of too few outliers, a lower objective can mean fewer of them found: the "
        "noise of yeast and noise gets a center of its own",
        low_objective_is_not_low_me,
        {"yeast_noise"},
    ),
    (
        "With several memberships the published program is another method than the "
        "described one",
        program_is_not_the_method,
        {"yeast_noise"},
    ),
    (
        "How many runs of the published step settle before they are stopped",
        unsettled,
        {"wbc", "shuttle", "yeast_noise"},
    ),
]


def find(cells: Cells, trivial: Trivial) -> list[Finding]:
    """Return every finding whose experiments are there."""
    there = {key.split("/")[0] for key in cells}
    return [
        Finding(title, show(cells, trivial))
        for title, show, needs in FINDINGS
        if needs <= there
    ]
