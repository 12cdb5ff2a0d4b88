"""How claims are judged: under every reading of the paper, from means over starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.claims.summary import curve

REPRODUCED, NOT, PARTLY = "reproduced", "not reproduced", "true only in part"

Cells = dict[str, Any]
Answer = tuple[str, list[str]]  # a verdict, and the figures behind it


class Reading(NamedTuple):
    """A way to take the paper: a protocol, and which of its records is RTKM."""

    name: str
    protocol: str
    rtkm: str


DESCRIBED = Reading("as described", "as described", "RTKM, step 1.1")
DEFAULT = Reading("with our default solver", "as described", "RTKM")
PUBLISHED = Reading("as published", "as published", "RTKM")
READINGS = (DESCRIBED, DEFAULT, PUBLISHED)


class Scores:
    """Scores of a method along the shares of outliers, under one reading."""

    def __init__(self, cells: Cells, experiment: str, reading: Reading) -> None:
        self.cells, self.experiment, self.reading = cells, experiment, reading

    def __call__(self, score: str, method: str, of: str = "mean") -> NDArray[Any]:
        """Return one number for each share; "KMOR" is the one with gamma = 9."""
        found = curve(self.cells, self.experiment, self.reading.protocol, score)
        wanted = self.reading.rtkm if method == "RTKM" else method
        name = next(name for name in found if name in (wanted, f"{wanted}, gamma 9"))
        return np.array([getattr(point, of) for point in found[name]])

    @property
    def f1(self) -> str:
        """The F1 of shuttle: the paper describes macro, and publishes micro."""
        return "f1_micro" if self.reading.protocol == "as published" else "f1"

    @property
    def runs(self) -> list[dict[str, Any]]:
        """The records of all runs with a share above 0, RTKM's as "RTKM"."""
        return [
            run
            for share, runs in self.by_share().items()
            if float(share) > 0
            for run in runs
        ]

    def runs_at(self, number: int) -> list[dict[str, Any]]:
        """Return the records of the runs at one of the shares."""
        return list(self.by_share().values())[number]

    def by_share(self) -> dict[str, list[dict[str, Any]]]:
        """Return the records of all runs by share, RTKM's as "RTKM"."""
        found: dict[str, list[dict[str, Any]]] = {}
        for key, methods in self.cells.items():
            experiment, protocol, share, _ = key.split("/")
            if (experiment, protocol) == (self.experiment, self.reading.protocol):
                record = methods | {"RTKM": methods[self.reading.rtkm]}
                found.setdefault(share, []).append(record)
        return found


Judge = Callable[[Scores], tuple[bool, str]]


def in_every_reading(judge: Judge, experiment: str) -> Callable[[Cells], Answer]:
    """Judge a claim under every reading of the paper."""

    def decide(cells: Cells) -> Answer:
        return combine({r.name: judge(Scores(cells, experiment, r)) for r in READINGS})

    return decide


def combine(answers: dict[str, tuple[bool, str]]) -> Answer:
    """Return the verdict on a claim from those under several readings."""
    texts = [text for _, text in answers.values()]
    evidence = [f"{name}: {text}" for name, (_, text) in answers.items()]
    if len(set(texts)) == 1:
        evidence = [f"in every reading: {texts[0]}"]
    holds = [name for name, (yes, _) in answers.items() if yes]
    if len(holds) == len(answers):
        return REPRODUCED, evidence
    return (f"true only {' and '.join(holds)}" if holds else NOT), evidence


def listed(values: dict[str, float], form: str = ".3f") -> str:
    """Return names and numbers in words."""
    names = {"KMOR, gamma 1": "KMOR (gamma 1)", "KMOR, gamma 9": "KMOR (gamma 9)"}
    return ", ".join(f"{names.get(n, n)} {v:{form}}" for n, v in values.items())
