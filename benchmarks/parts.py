"""The races of ``make bench``: who runs on which tables, and against whom."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import goals
import numpy as np
from lines import Cell, Line
from models import (
    DEFAULT,
    FAMILY,
    FIXED,
    FRACTIONAL,
    SEVERAL,
    SEVERAL_FIXED,
    SEVERAL_RELAXED,
    TEN_ROBUST,
    TEN_STARTS,
    TRIMMED,
    UNTRIMMED,
    make,
)
from peers import ELKAN, FAISS, FAST, INTELEX, LLOYD, TRIMCLUSTER, installed
from problems import DTYPES, EASY, EMBEDDINGS, SHAPES, Shape
from timing import Entrant, Fit, Round

OVERLAPPING, LARGE_UNIT, SEPARATED = "overlapping", "overlapping, x20", "separated, x20"
ON_SPHERE = "unit vectors"
# what is told by one table in the middle
MIDDLE = Shape(100_000, 16, 8)
# programs of others, which run as many iterations as lloyd
OTHERS = (FAISS, INTELEX, FAST)
# R's program is hundreds of times slower than the others
SMALL = Shape(2_000, 5, 4)


class Problem(NamedTuple):
    """What a table is drawn from, but for the seed."""

    shape: Shape
    kind: str
    dtype: str


class Part(NamedTuple):
    """A race on each of some problems."""

    problems: list[Problem]
    entrants: Callable[[Problem, np.ndarray], dict[str, Entrant]]
    lines: Callable[[Cell], list[Line]]


def grid(
    shapes: tuple[Shape, ...], *kinds: str, dtypes: tuple[str, ...] = DTYPES
) -> list[Problem]:
    return [Problem(*way) for way in product(shapes, kinds, dtypes)]


# Whole fits from the same centers


def of_descents(problem: Problem, C: np.ndarray) -> dict[str, Entrant]:
    """Let the fixed step and the peers run for as many iterations as lloyd does."""
    _, kind, dtype = problem
    names = [FIXED]
    if kind != LARGE_UNIT:  # only a fixed step knows the unit
        names += [ELKAN, UNTRIMMED]
    if problem == (MIDDLE, OVERLAPPING, "float64"):
        names += FAMILY
    if kind in (OVERLAPPING, ON_SPHERE) and dtype == "float32":  # faiss knows no other
        names += [name for name in OTHERS if name in installed()]

    def entrant(name: str) -> Entrant:
        if name in (FIXED, *OTHERS):
            return Entrant(lambda _, fits: make(name, C, max_iter=fits[LLOYD].n_iter))
        return Entrant(lambda *_: make(name, C))

    # lloyd comes first, for its number of iterations
    return {name: entrant(name) for name in (LLOYD, *names)}


def lines_of_descents(cell: Cell) -> list[Line]:
    names = cell.rounds[0]
    lines = [cell.line(FIXED, [LLOYD], goal=goals.FIXED_STEP.get(cell.shape))]
    if UNTRIMMED in names:
        goal = goals.TO_CONVERGENCE.get(cell.shape)
        lines.append(cell.line(UNTRIMMED, [LLOYD, ELKAN], goal=goal))
    others = [*FAMILY, ELKAN, *OTHERS]
    return lines + [cell.line(name, [LLOYD]) for name in others if name in names]


# Fits as users call them


def of_defaults(problem: Problem, C: np.ndarray) -> dict[str, Entrant]:
    def entrant(name: str) -> Entrant:
        return Entrant(lambda seed, _: make(name, C, seed=seed))

    return {name: entrant(name) for name in (TEN_STARTS, DEFAULT, TEN_ROBUST)}


def lines_of_defaults(cell: Cell) -> list[Line]:
    goal = goals.DEFAULTS.get(cell.shape)
    return [
        cell.line(DEFAULT, [TEN_STARTS], goal=goal),
        cell.line(DEFAULT, [TEN_ROBUST], goal=goals.OBJECTIVE, judged="objective"),
    ]


# Single iterations: those of a longer fit that a shorter one has not

SHORT, LONG = 1, 11
ITERATING = (LLOYD, TRIMMED, FIXED, FRACTIONAL, SEVERAL_RELAXED, SEVERAL, SEVERAL_FIXED)


def of_passes(problem: Problem, C: np.ndarray) -> dict[str, Entrant]:
    def entrant(name: str, n_iter: int) -> Entrant:
        return Entrant(lambda *_: make(name, C, max_iter=n_iter))

    several = (SEVERAL_RELAXED, SEVERAL, SEVERAL_FIXED)
    names = [name for name in ITERATING if len(C) > 4 or name not in several]
    return {f"{name}|{n}": entrant(name, n) for name in names for n in (SHORT, LONG)}


def per_iteration(fits: Round) -> Round:
    """Return the time of one iteration, and what the longer fit reached."""
    found = {}
    for name in (key.split("|")[0] for key in fits if key.endswith(f"|{LONG}")):
        short, long = fits[f"{name}|{SHORT}"], fits[f"{name}|{LONG}"]
        seconds = (long.seconds - short.seconds) / (long.n_iter - short.n_iter)
        found[name] = Fit(seconds, long.n_iter, long.objective)
    return found


def lines_of_passes(cell: Cell) -> list[Line]:
    cell = cell.with_rounds([per_iteration(fits) for fits in cell.rounds])
    names = [name for name in cell.rounds[0] if name != LLOYD]
    hard = (TRIMMED, FIXED)
    goal = goals.MEMBERSHIPS.get(cell.shape)
    return [
        cell.line(name, [LLOYD], goal=None if name in hard else goal) for name in names
    ]


# Two threads


def of_threads(problem: Problem, C: np.ndarray) -> dict[str, Entrant]:
    def entrant(name: str, n_threads: int) -> Entrant:
        return Entrant(lambda *_: make(name, C, max_iter=20), n_threads)

    names = (FIXED, TRIMMED, LLOYD)
    return {threaded(name, n): entrant(name, n) for name in names for n in (1, 2)}


def threaded(name: str, n_threads: int) -> str:
    return f"{name}, {n_threads} thread{'s' * (n_threads > 1)}"


def lines_of_threads(cell: Cell) -> list[Line]:
    """Compare one thread with two: the ratio is times as fast."""
    goal = goals.THREADS.get(cell.shape)
    of = {FIXED: goal, TRIMMED: goal, LLOYD: None}
    return [
        cell.line(threaded(name, 1), [threaded(name, 2)], goal=of[name]) for name in of
    ]


# R's program


def of_small(problem: Problem, C: np.ndarray) -> dict[str, Entrant]:
    names = [LLOYD, TRIMMED, *([TRIMCLUSTER] if TRIMCLUSTER in installed() else [])]

    def entrant(name: str) -> Entrant:
        return Entrant(lambda *_: make(name, C))

    return {name: entrant(name) for name in names}


def lines_of_small(cell: Cell) -> list[Line]:
    return [cell.line(name, [LLOYD]) for name in cell.rounds[0] if name != LLOYD]


PARTS = {
    "descents": Part(
        grid(SHAPES[:-1], OVERLAPPING, LARGE_UNIT, SEPARATED)
        # the largest tables take minutes each
        + grid(SHAPES[-1:], OVERLAPPING, dtypes=("float32",))
        + grid((EMBEDDINGS,), ON_SPHERE, dtypes=("float32",)),
        of_descents,
        lines_of_descents,
    ),
    "defaults": Part(
        grid((*EASY, *SHAPES[:-1]), OVERLAPPING, SEPARATED, dtypes=("float64",))
        + grid((EMBEDDINGS,), ON_SPHERE, dtypes=("float32",)),
        of_defaults,
        lines_of_defaults,
    ),
    "passes": Part(grid(SHAPES, OVERLAPPING), of_passes, lines_of_passes),
    "threads": Part(grid(SHAPES, OVERLAPPING), of_threads, lines_of_threads),
    "small": Part(
        grid((SMALL, EASY[0]), OVERLAPPING, dtypes=("float64",)),
        of_small,
        lines_of_small,
    ),
}
