"""Fits in turn, round after round: what slows the machine slows them all."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import ThreadpoolController

from rtkm.core.table import n_threads as threads_of_rtkm


class Fit(NamedTuple):
    """What one fit took, and what it reached."""

    seconds: float
    n_iter: int
    objective: float


Round = dict[str, Fit]


class Entrant(NamedTuple):
    """Who takes part: makes its model from the round's seed and the fits so far."""

    make: Callable[[int, Round], Any]
    n_threads: int = 1


def seconds_to_fit(model: Any, X: np.ndarray) -> float:
    gc.collect()
    start = time.perf_counter()
    model.fit(X)
    return time.perf_counter() - start


def time_fit(model: Any, X: np.ndarray) -> Fit:
    """Fit; a model may know its own time better, as one in another process does."""
    seconds = seconds_to_fit(model, X)
    seconds = getattr(model, "seconds_", seconds)
    return Fit(float(seconds), int(model.n_iter_), float(model.inertia_))


def race(
    entrants: dict[str, Entrant],
    X: np.ndarray,
    *,
    n_rounds: int,
    patience: float,
    seed: int = 0,
) -> list[Round]:
    """Time all in turn, every other round backwards; long races have fewer rounds.

    No round begins after `patience` seconds. An entrant sees the fits of the ones
    before it in the first round, and in later rounds those of the last round, too.
    """
    rounds: list[Round] = []
    threads = ThreadpoolController()
    gc.freeze()  # collecting what a fit left takes no time then
    end = time.perf_counter() + patience
    while len(rounds) < n_rounds and not (rounds and time.perf_counter() > end):
        names = list(entrants)
        fits: Round = dict(rounds[-1]) if rounds else {}
        for name in names[:: -1 if len(rounds) % 2 else 1]:
            make, n_threads = entrants[name]
            model = make(seed + len(rounds), fits)
            with threads.limit(limits=n_threads):
                check_threads(n_threads)
                fits[name] = time_fit(model, X)
        rounds.append({name: fits[name] for name in names})
    gc.unfreeze()
    return rounds


def check_threads(wanted: int) -> None:
    if threads_of_rtkm() != wanted:
        raise RuntimeError(
            f"rtkm would use {threads_of_rtkm()} threads instead of {wanted}; "
            "set OMP_NUM_THREADS=1, so that limits count."
        )


def fastest(fits: Round, names: Iterable[str]) -> str:
    """Return the name of the fastest of some fits."""
    return min(names, key=lambda name: fits[name].seconds)


def median_ratio(rounds: list[Round], name: str, against: Iterable[str]) -> float:
    """Return the median, over the rounds, of a time over the fastest other's."""
    ratios = [
        fits[name].seconds / fits[fastest(fits, against)].seconds for fits in rounds
    ]
    return float(np.median(ratios))
