"""Trimmed swaps: how a descent leaves a poor minimum.

A center that is cheap to lose moves, in turn, to a row that is drawn by its cost, and
to half of a cluster (:mod:`rtkm.core.splits`). A few steps later the objective is
lower, or the next move is tried. The search ends when several in a row were in vain,
and sooner where the loss of any center costs far more than any split gains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain, repeat
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rtkm.core.descent import Run, descend
from rtkm.core.splits import Splits, survey_splits
from rtkm.core.states import Nearest, TrimmedState
from rtkm.core.table import Table

Answer = TypeVar("Answer")

# rows drawn for one swap, of which the best is tried
N_CANDIDATES = 5
# steps within which a swap must have paid
N_STEPS = 10
# of the least distance of two centers: closer to where they were, they will go back
NEAR_HOME = 0.03
# swaps in a row without gain that end the search: two for every cluster, within limits
LEAST_PATIENCE, MOST_PATIENCE = 18, 48
# and where no move has much hope; with fewer, one fit in four to shuttle ends high
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

    ``n_swaps="auto"`` ends after a number of swaps in a row without gain.
    """
    patience = n_left = np.inf
    if isinstance(n_swaps, str):
        patience = np.clip(2 * len(run.state.C), LEAST_PATIENCE, MOST_PATIENCE)
    else:
        n_left = n_swaps
    n_steps = min(N_STEPS, max_iter)
    while n_left > 0 and run.state.objective > 0:
        n_tries = int(min(n_left, patience))
        # as many as were asked for are tried even without hope
        n_without_hope = n_tries if n_left < np.inf else SHORT_PATIENCE
        n_tried, trial = find_swap(
            X, run.state, step, n_tries, n_without_hope, n_steps=n_steps, rng=rng
        )
        n_left -= n_tried
        if trial is None:
            break
        run.move_to(trial.state)
        run.converged = trial.converged
        if watch:
            watch(run.state)
    return run if run.converged else descend(step, run, max_iter=max_iter, watch=watch)


def find_swap(
    X: Table,
    state: TrimmedState,
    step: Callable[[TrimmedState], TrimmedState],
    n_tries: int,
    n_without_hope: int,
    *,
    n_steps: int,
    rng: np.random.RandomState,
) -> tuple[int, Run[TrimmedState] | None]:
    """Return the number of swaps tried, and what the last became if it paid.

    There are at most `n_tries`, and `n_without_hope` where splits have no hope.
    """
    survey = Survey(X, state, rng)
    goal = X.goal_below(state)
    until = partial(is_decided, goal=goal, n_steps=n_steps, survey=survey)

    # what failed is freed on return, before the next move is looked for
    def try_move(C: NDArray[Any]) -> Run[TrimmedState] | None:
        trial = Run(step(replace(state, means=C)))
        descend(step, trial, max_iter=n_steps, until=until)
        return trial if trial.state.level < goal else None

    for n_failed in range(n_tries):
        if n_failed == n_without_hope and survey.is_hopeless:
            return n_failed, None
        trial = try_move(survey.propose())
        if trial:
            return n_failed + 1, trial
    return n_tries, None


def is_decided(
    trial: Run[TrimmedState], goal: float, n_steps: int, survey: Survey
) -> bool:
    """Whether a trial reached the goal, or will not reach it in time.

    Either it falls too slowly, or it is on its way back to where it came from.
    """
    if len(trial.path) < 2:
        return False
    before, now = trial.path[-2:]
    n_left = n_steps - trial.state.n_iter
    too_slow = now - (before - now) * n_left > goal
    return now < goal or too_slow or survey.is_home(trial.state.means)


class Survey:
    """What all swaps from one state share."""

    def __init__(self, X: Table, state: TrimmedState, rng: np.random.RandomState):
        self.X = X
        self.state = state
        self.rng = rng
        self.n_memberships = state.clusters.shape[1]
        self.home = Table(state.C, None)
        gaps = self.home.squared_distances(state.C)
        np.fill_diagonal(gaps, np.inf)
        # a single center has no other to be measured by, but the rows it keeps
        self.squared_gap = gaps.min() if len(gaps) > 1 else state.objective / X.mass
        self.candidates = draw_candidates(X, state, rng)
        self.n_moves = 0

    @cached_property
    def splits(self) -> Splits | None:
        """What splits promise, looked at when the first is tried.

        With several memberships they do not pay, and a single center has none to lose.
        """
        if self.n_memberships > 1 or len(self.state.C) < 2:
            return None
        X, state, rng = self.X, self.state, self.rng
        return with_nearest(X, state, lambda near: survey_splits(X, state, near, rng))

    @cached_property
    def split_moves(self) -> Iterator[NDArray[Any]]:
        """Splits that are still to be tried."""
        return self.splits.proposals() if self.splits else iter(())

    @property
    def is_hopeless(self) -> bool:
        """Whether splits have no hope to lower the objective."""
        return self.splits is not None and self.splits.are_hopeless

    def is_home(self, C: NDArray[Any]) -> bool:
        """Whether all centers are back, in any order, or as good as back."""
        D = self.home.squared_distances(C)
        back = D < NEAR_HOME**2 * self.squared_gap
        return bool(back.any(axis=0).all() and back.any(axis=1).all())

    def propose(self) -> NDArray[Any]:
        """Return centers of which some moved: to rows, and every other time by a split.

        With several memberships all centers of a row move instead of a split.
        """
        turn, is_second = self.n_moves // 2, self.n_moves % 2 == 1
        self.n_moves += 1
        if is_second and self.n_memberships > 1:
            return self._move_group(turn % len(self.state.C))
        split = next(self.split_moves, None) if is_second else None
        return self._move_one(turn) if split is None else split

    def _move_group(self, center: int) -> NDArray[Any]:
        """Move a center together with those it shares its cheapest row with.

        Where rows have several memberships, a clump of outliers holds as many centers.
        To lose one of them pays nothing while the others are there.
        """
        X, state, rng = self.X, self.state, self.rng

        def moved(nearest: Nearest) -> NDArray[Any]:
            shares = (nearest.labels == center).any(axis=1)
            if X.weights is not None:
                shares &= X.weights > 0
            row = np.where(shares, nearest.cost, np.inf).argmin()
            group = nearest.labels[row] if shares.any() else np.array([center])
            C = state.C.copy()
            C[group] = draw_rows(X, state, nearest, rng, len(group))
            return C

        return with_nearest(X, state, moved)

    def _move_one(self, turn: int) -> NDArray[Any]:
        """Move one center to the best of a few drawn rows.

        The center is the cheapest to lose, but every other turn the next cheapest: the
        estimate holds the cut where it is, which favors a center that sits on a clump
        of outliers.
        """
        rows, gains = next(self.candidates)
        cheapest_first = gains.min(axis=0).argsort(kind="stable")
        C = self.state.C.copy()
        center = cheapest_first[(turn + 1) // 2 % len(C) if turn % 2 else 0]
        # in its slot, so that the other labels stay
        C[center] = rows[gains[:, center].argmin()]
        return C


def with_nearest(
    X: Table, state: TrimmedState, use: Callable[[Nearest], Answer]
) -> Answer:
    """Return what is made of each row's nearest centers, and keep nothing of them.

    While moves are tried they would take as much memory as the trials do, and so would
    what the table keeps of those for later ones.
    """
    X.release()
    answer = use(nearest_of(X, state))
    X.release()
    return answer


def nearest_of(X: Table, state: TrimmedState) -> Nearest:
    """Return each row's nearest centers, with the labels that the state has already."""
    nearest = X.nearest(state.C, state.n_memberships)
    if state.n_memberships == 1:  # those of several are in no order
        nearest = nearest._replace(labels=state.clusters)
        X.release()
    return nearest


def draw_rows(
    X: Table,
    state: TrimmedState,
    nearest: Nearest,
    rng: np.random.RandomState,
    size: int,
) -> NDArray[Any]:
    """Draw rows by their cost, that of trimmed ones capped."""
    drawn = X.draw(rng, size=size, cost=nearest.cost, cap=state.cut.threshold)
    return X.rows(drawn)


def draw_candidates(
    X: Table, state: TrimmedState, rng: np.random.RandomState
) -> Iterator[tuple[NDArray[Any], NDArray[np.float64]]]:
    """Yield rows to swap for, and what each would bring in place of each center.

    The table is read for several swaps at once, the more so the more fail. (No method:
    a survey that holds its own method is not freed when it is left.)
    """
    for n_tries in chain((1, 2, 4), repeat(8)):
        draw = partial(draw_and_weigh, X, state, rng, n_tries * N_CANDIDATES)
        rows, gains = with_nearest(X, state, draw)
        for first in range(0, len(rows), N_CANDIDATES):
            some = slice(first, first + N_CANDIDATES)
            yield rows[some], gains[some]


def draw_and_weigh(
    X: Table,
    state: TrimmedState,
    rng: np.random.RandomState,
    size: int,
    nearest: Nearest,
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Draw rows, and return what each would bring in place of each center."""
    rows = draw_rows(X, state, nearest, rng, size)
    return rows, X.swap_gains(rows, nearest, len(state.C), state.cut.threshold)
