"""What the paper does not say, and its own tables show."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from experiments.claims.figures import CURVES
from experiments.claims.judges import POOR
from experiments.claims.judging import Cells, listed
from experiments.claims.names import label
from experiments.claims.summary import by_setting, curve, objectives

Trivial = dict[str, dict[str, float]]
SOLVERS = ("RTKM", "RTKM, step 1.1", "RTKM, no swaps")


class Finding(NamedTuple):
    """Something seen, and the figures that show it."""

    finding: str
    evidence: list[str]


def trivial_answer(cells: Cells, trivial: Trivial) -> list[str]:
    texts = []
    for table, points in by_setting(cells, "overlap", "as described", "f1").items():
        best = max(points, key=lambda method: points[method].high)
        texts.append(
            f"{table}: {trivial[table]['f1']:.3f}, where the best run of any method, "
            f"{label(best)}, has {points[best].high:.3f}"
        )
    return texts


def cardinalities(cells: Cells, trivial: Trivial) -> list[str]:
    tables = by_setting(cells, "overlap", "as described", "cardinality")
    texts = []
    for table, points in tables.items():
        sizes = {label(method): point.at_best for method, point in points.items()}
        truly = trivial[table]["true_cardinality"]
        texts.append(f"{table} (truly {truly:.2f}): {listed(sizes, '.2f')}")
    return texts


UNITS = {
    "me": "M_e",
    "objective": "objective",
    "fractional": "share of fractional rows",
}


def units(cells: Cells, trivial: Trivial) -> list[str]:
    texts = []
    for method in ("RTKM, step 1.1", "RTKM"):
        scores = {s: curve(cells, "units", "as described", s)[method] for s in UNITS}
        spans = [
            f"{words} {min(p.mean for p in scores[s]):.4g} to "
            f"{max(p.mean for p in scores[s]):.4g}"
            for s, words in UNITS.items()
        ]
        texts.append(f"{label(method)}: {', '.join(spans)}")
    scales = [point.setting for point in scores["me"]]
    return [f"WBC, k = 2, times {scales[0]} to {scales[-1]}", *texts]


def default_solver(cells: Cells, trivial: Trivial) -> list[str]:
    texts = []
    for experiment in ("shuttle", "yeast_noise"):
        auto = objectives(cells, experiment, "RTKM")
        for method in SOLVERS[1:]:
            excess = objectives(cells, experiment, method) / auto - 1
            texts.append(
                f"{experiment}, {label(method)}: {np.median(excess):.2%} above it in "
                f"the median, {excess.max():.1%} at most, below it in "
                f"{np.mean(excess < -1e-6):.0%} of the runs"
            )
    return texts


def poor_minima(cells: Cells, trivial: Trivial) -> list[str]:
    texts = []
    for experiment in ("shuttle", "yeast_noise"):
        settings = by_setting(cells, experiment, "as described", "objective")
        best = {
            s: min(points[m].low for m in SOLVERS) for s, points in settings.items()
        }
        for method in SOLVERS:
            excess = np.array(
                [
                    methods[method]["objective"] / best[key.split("/")[2]] - 1
                    for key, methods in cells.items()
                    if key.startswith(f"{experiment}/as described/")
                ]
            )
            texts.append(
                f"{experiment}, {label(method)}: {(excess > POOR).sum()} of "
                f"{len(excess)} runs, at worst {excess.max():.1%} above"
            )
    return texts


def low_objective_is_not_low_me(cells: Cells, trivial: Trivial) -> list[str]:
    me = curve(cells, "yeast_noise", "as described", "me")
    pairs = zip(me["RTKM"], me["RTKM, step 1.1"], strict=True)
    text = ", ".join(
        f"{float(auto.setting):.2f}: {auto.at_best:.3f} and {fixed.at_best:.3f}"
        for auto, fixed in pairs
    )
    return [f"M_e by share at the best objective, default solver and step 1.1: {text}"]


def program_is_not_the_method(cells: Cells, trivial: Trivial) -> list[str]:
    published = CURVES["yeast_noise"]["RTKM"]["me"]
    described = curve(cells, "yeast_noise", "as described", "me")["RTKM, step 1.1"]
    program = curve(cells, "yeast_noise", "as published", "me")["RTKM"]
    return [
        f"mean M_e at a share of {float(described[i].setting):.2f}: "
        f"{described[i].mean:.3f} as described, {program[i].mean:.3f} as published, "
        f"{published[i][0]:.3f} in the figure"
        for i in (6, 8, 10)
    ]


FINDINGS: list[tuple[str, Callable[[Cells, Trivial], list[str]], set[str]]] = [
    (
        "What the trivial answer scores, every row in every cluster",
        trivial_answer,
        {"overlap"},
    ),
    ("How many clusters each method puts a row into", cardinalities, {"overlap"}),
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
        f"How many runs end {POOR:.0%} above the best objective that any of the three "
        "solvers reaches",
        poor_minima,
        {"shuttle", "yeast_noise"},
    ),
    (
        "Told of too few outliers, a lower objective can mean fewer of them found: the "
        "noise of yeast and noise gets centers of its own",
        low_objective_is_not_low_me,
        {"yeast_noise"},
    ),
    (
        "With several memberships the published program is another method than the "
        "described one",
        program_is_not_the_method,
        {"yeast_noise"},
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
