"""What tables and pictures need of the finished cells."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Point(NamedTuple):
    """A score over the starts; `at_best` is that of the lowest objective."""

    setting: str
    mean: float
    low: float
    high: float
    at_best: float
    n_starts: int


def curve(
    finished: dict[str, Any], experiment: str, protocol: str, score: str
) -> dict[str, list[Point]]:
    """Return the points of every method that has the score, in order of the cells."""
    gathered: dict[str, dict[str, list[tuple[float, float]]]] = defaultdict(dict)
    for key, methods in finished.items():
        name, of_protocol, setting, _ = key.split("/")
        if (name, of_protocol) != (experiment, protocol):
            continue
        for method, record in methods.items():
            if score in record:
                pair = record.get("objective", np.nan), record[score]
                gathered[method].setdefault(setting, []).append(pair)
    return {
        method: [summarize(setting, pairs) for setting, pairs in settings.items()]
        for method, settings in gathered.items()
    }


def summarize(setting: str, pairs: list[tuple[float, float]]) -> Point:
    """Return the point of pairs of objective, where it is known, and score."""
    objectives, scores = np.array(pairs).T
    known = not np.isnan(objectives).any()
    at_best = float(scores[objectives.argmin()]) if known else np.nan
    return Point(
        setting,
        float(scores.mean()),
        float(scores.min()),
        float(scores.max()),
        at_best,
        len(pairs),
    )


def by_setting(
    finished: dict[str, Any], experiment: str, protocol: str, score: str
) -> dict[str, dict[str, Point]]:
    """Return the points of every setting by method."""
    found: dict[str, dict[str, Point]] = defaultdict(dict)
    for method, points in curve(finished, experiment, protocol, score).items():
        for point in points:
            found[point.setting][method] = point
    return found


def objectives(
    finished: dict[str, Any], experiment: str, method: str
) -> NDArray[np.float64]:
    """Return the objectives of a method as described, in order of the cells."""
    return np.array(
        [
            methods[method]["objective"]
            for key, methods in finished.items()
            if key.startswith(f"{experiment}/as described/")
        ]
    )


def only_cell(finished: dict[str, Any], experiment: str) -> dict[str, Any]:
    """Return the record of an experiment that has one cell."""
    return next(
        record for key, record in finished.items() if key.startswith(f"{experiment}/")
    )
