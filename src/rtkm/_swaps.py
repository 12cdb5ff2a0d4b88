"""Trimmed swaps: how a descent leaves a poor minimum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm._descent import Run, Vertex, descend
from rtkm._table import Table

# rows drawn for one swap, of which the best is tried
N_CANDIDATES = 5
# steps within which a swap must have paid
N_STEPS = 10
# swaps in a row without gain that end the search, at least; more for many clusters
LEAST_PATIENCE = 12


def swap_centers(
    X: Table,
    run: Run,
    start: Callable[[NDArray[Any]], Vertex],
    step: Callable[[Vertex], Vertex],
    *,
    n_swaps: int | str,
    max_iter: int,
    rng: np.random.RandomState,
    watch: Callable[[Any], object] | None = None,
) -> Run:
    """Move centers to where the trimmed cost falls, while that pays.

    ``n_swaps="auto"`` ends after a number of swaps in a row without gain.
    """
    patience = limit = np.inf
    if isinstance(n_swaps, str):
        patience = max(2 * len(run.state.C), LEAST_PATIENCE)
    else:
        limit = n_swaps
    n_steps = min(N_STEPS, max_iter)
    n_tried = n_failed = 0
    while n_tried < limit and n_failed < patience:
        if n_failed == 0:
            survey = start(run.state.C)  # whose spares are no mere bounds
        goal = X.goal_below(run.state)
        C = propose_swap(X, survey, n_failed, rng)
        trial = Run(step(replace(survey, means=C)))
        until = partial(is_decided, goal=goal, n_steps=n_steps)
        descend(step, trial, max_iter=n_steps, until=until)
        n_tried += 1
        n_failed += 1
        if trial.state.level < goal:
            run.move_to(trial.state)
            run.converged = trial.converged
            n_failed = 0
            if watch:
                watch(run.state)
    return run if run.converged else descend(step, run, max_iter=max_iter, watch=watch)


def is_decided(trial: Run, goal: float, n_steps: int) -> bool:
    """Whether a trial reached the goal, or falls too slowly to reach it in time."""
    if len(trial.path) < 2:
        return False
    before, now = trial.path[-2:]
    n_left = n_steps - trial.state.n_iter
    return now < goal or now - (before - now) * n_left > goal


def propose_swap(
    X: Table, state: Vertex, n_failed: int, rng: np.random.RandomState
) -> NDArray[Any]:
    """Return centers of which one, or those of one row, moved to drawn rows."""
    several = state.nearest.labels.shape[1] > 1
    if several and n_failed % 2:
        return move_group(X, state, n_failed // 2 % len(state.C), rng)
    return move_one(X, state, n_failed, rng)


def move_group(
    X: Table, state: Vertex, center: int, rng: np.random.RandomState
) -> NDArray[Any]:
    """Move a center together with those it shares its cheapest row with.

    Where rows have several memberships, a clump of outliers holds as many centers. To
    lose one of them pays nothing while the others are there.
    """
    nearest, C = state.nearest, state.C.copy()
    shares = (nearest.labels == center).any(axis=1)
    if X.weights is not None:
        shares &= X.weights > 0
    row = np.where(shares, nearest.cost, np.inf).argmin()
    group = nearest.labels[row] if shares.any() else np.array([center])
    drawn = X.draw(rng, size=len(group), cost=nearest.cost, cap=state.cut.threshold)
    C[group] = X.rows(drawn)
    return C


def move_one(
    X: Table, state: Vertex, n_failed: int, rng: np.random.RandomState
) -> NDArray[Any]:
    """Move one center to the best of a few drawn rows.

    The center is the cheapest to lose, but after an odd number of failures one of the
    next cheapest: the estimate holds the cut where it is, which favors a center that
    sits on a clump of outliers.
    """
    drawn = X.draw(
        rng, size=N_CANDIDATES, cost=state.nearest.cost, cap=state.cut.threshold
    )
    rows = X.rows(drawn)
    gains = X.swap_gains(rows, state)
    cheapest_first = gains.min(axis=0).argsort(kind="stable")
    rank = n_failed // 2 % len(state.C) if n_failed % 2 else 0
    center = cheapest_first[rank]
    best_row = gains[:, center].argmin()
    C = state.C.copy()
    C[center] = rows[best_row]  # in its slot, so that the other labels stay
    return C
