"""Trimmed swaps: how a descent leaves a poor minimum.

From the state that is reached, centers are moved in one of several ways
(:mod:`rtkm.core.moves`), and a short descent shows what that is worth. If it ends below
the goal, the search goes on from there; if not, the next move is tried. It ends when
several moves in a row were in vain, and sooner where the loss of any center costs far
more than it gains elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm.core.descent import Run, descend
from rtkm.core.moves import Moves
from rtkm.core.states import TrimmedState
from rtkm.core.table import Table

# steps within which a move must have paid
N_STEPS = 10
# of the least distance of two centers: closer to where they were, they will go back
NEAR_HOME = 0.03
# moves in a row without gain that end the search: so many for every cluster, within
# limits
PATIENCE_PER_CLUSTER, LEAST_PATIENCE, MOST_PATIENCE = 2, 18, 48
# the same where no move has much hope; with fewer, one fit in four to the paper's table
# of the space shuttle ends high
SHORT_PATIENCE = 5


def swap_centers(
    X: Table,
    run: Run[TrimmedState],
    step: Callable[[TrimmedState], TrimmedState],
    *,
    n_swaps: int | str,
    max_iter: int,
    rng: np.random.RandomState,
    watch: Callable[[TrimmedState], object] | None = None,
) -> Run[TrimmedState]:
    """Move centers to where the trimmed cost falls, while that pays.

    ``n_swaps="auto"`` ends after a number of moves in a row without gain; a number of
    moves is tried whatever hope there is.
    """
    patience = PATIENCE_PER_CLUSTER * len(run.state.C)
    patience = min(max(patience, LEAST_PATIENCE), MOST_PATIENCE)
    is_auto = isinstance(n_swaps, str)
    n_left = patience if isinstance(n_swaps, str) else n_swaps
    while run.state.objective > 0:
        n_tried, trial = find_swap(
            X,
            run.state,
            step,
            n_tries=n_left,
            n_hopeless_tries=SHORT_PATIENCE if is_auto else n_left,
            n_steps=min(N_STEPS, max_iter),
            rng=rng,
        )
        if trial is None:
            break
        if not is_auto:
            n_left -= n_tried
        run.move_to(trial.state)
        run.converged = trial.converged
        if watch:
            watch(run.state)
    return run if run.converged else descend(step, run, max_iter=max_iter, watch=watch)


def find_swap(
    X: Table,
    state: TrimmedState,
    step: Callable[[TrimmedState], TrimmedState],
    *,
    n_tries: int,
    n_hopeless_tries: int,
    n_steps: int,
    rng: np.random.RandomState,
) -> tuple[int, Run[TrimmedState] | None]:
    """Return the number of moves tried, and what the last became if it paid.

    There are at most `n_tries`, and `n_hopeless_tries` where moves have no hope.
    """
    moves = Moves(X, state, rng)
    goal = X.goal_below(state)
    until = partial(is_decided, goal=goal, n_steps=n_steps, home=Home(X, state))

    # what failed is freed on return, before the next move is looked for
    def try_move(C: NDArray[Any]) -> Run[TrimmedState] | None:
        trial = Run(step(replace(state, means=C)))
        descend(step, trial, max_iter=n_steps, until=until)
        return trial if trial.state.level < goal else None

    centers = moves.in_turn()
    for n_failed in range(n_tries):
        if n_failed >= n_hopeless_tries and moves.are_hopeless:
            return n_failed, None
        trial = try_move(next(centers))
        if trial:
            return n_failed + 1, trial
    return n_tries, None


class Home:
    """Where the centers of a state were, for trials that go back there."""

    def __init__(self, X: Table, state: TrimmedState):
        self.centers = Table(state.C, None)
        gaps = self.centers.squared_distances(state.C)
        np.fill_diagonal(gaps, np.inf)
        # a single center has no other to be measured by, but the rows it keeps
        self.squared_gap = gaps.min() if len(gaps) > 1 else state.objective / X.mass

    def is_near(self, C: NDArray[Any]) -> bool:
        """Whether all centers are back, in any order, or as good as back."""
        D = self.centers.squared_distances(C)
        back = D < NEAR_HOME**2 * self.squared_gap
        return bool(back.any(axis=0).all() and back.any(axis=1).all())


def is_decided(trial: Run[TrimmedState], goal: float, n_steps: int, home: Home) -> bool:
    """Whether a trial reached the goal, or will not reach it in time.

    Either it falls too slowly, or it is on its way back to where it came from.
    """
    if len(trial.path) < 2:
        return False
    before, now = trial.path[-2:]
    n_left = n_steps - trial.state.n_iter
    too_slow = now - (before - now) * n_left > goal
    return now < goal or too_slow or home.is_near(trial.state.means)
