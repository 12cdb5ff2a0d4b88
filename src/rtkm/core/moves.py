"""Moves: where the centers of a state may go, so that its objective falls.

There are three kinds. A center that is cheap to lose moves *to a row* that is drawn by
its cost; it moves *to a target*, half of a cluster or a group of trimmed rows
(:mod:`rtkm.core.targets`); or, where rows have several memberships, centers that share
a row move *together*. Each kind is a stream of its own, and `Moves.in_turn` takes from
them in turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial
from itertools import chain, count, cycle, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm.core.nearest import with_nearest
from rtkm.core.states import Nearest, TrimmedState
from rtkm.core.table import Table
from rtkm.core.targets import Targets, survey_targets

# rows drawn for one move, of which the best is tried
N_CANDIDATES = 5


class Moves:
    """What may be tried from one state; each move is given as the centers after it."""

    def __init__(self, X: Table, state: TrimmedState, rng: np.random.RandomState):
        self.X = X
        self.state = state
        self.rng = rng

    def in_turn(self) -> Iterator[NDArray[Any]]:
        """Yield moves to rows and, every other time while there are any, others."""
        to_rows = self.to_rows()
        others = self.together() if self.state.n_memberships > 1 else self.to_targets()
        others = chain(others, to_rows)  # when all targets are tried, rows alone
        while True:
            yield next(to_rows)
            yield next(others)

    @property
    def are_hopeless(self) -> bool:
        """Whether losing any center costs far more than any target gains."""
        return self.targets is not None and self.targets.are_hopeless

    @cached_property
    def targets(self) -> Targets | None:
        """Where a center may go, looked for when the first is tried.

        With several memberships that does not pay, and a single center has none to
        lose.
        """
        if self.state.n_memberships > 1 or len(self.state.C) < 2:
            return None
        return survey_targets(self.X, self.state, self.rng)

    def to_targets(self) -> Iterator[NDArray[Any]]:
        """Yield moves to targets, the most promising first."""
        if self.targets is not None:
            yield from self.targets.moves()

    def to_rows(self) -> Iterator[NDArray[Any]]:
        """Yield moves of one center to the best of a few drawn rows.

        The center is the cheapest to lose and, every other time, the next in that
        order: costs are estimated for the cut as it is, by which a center on a clump of
        outliers seems dear to lose.
        """
        k = len(self.state.C)
        ranks = chain.from_iterable((0, rank % k) for rank in count(1))
        for rank, (rows, changes) in zip(ranks, self._candidates(), strict=False):
            center = changes.min(axis=0).argsort(kind="stable")[rank]
            C = self.state.C.copy()
            # in its slot, so that the other labels stay
            C[center] = rows[changes[:, center].argmin()]
            yield C

    def together(self) -> Iterator[NDArray[Any]]:
        """Yield moves of a center together with those it shares its cheapest row with.

        Where rows have several memberships, a clump of outliers holds as many centers.
        To lose one of them pays nothing while the others are there.
        """
        for center in cycle(range(len(self.state.C))):
            move = partial(self._moved_together, center)
            yield with_nearest(self.X, self.state, move)

    def _moved_together(self, center: int, nearest: Nearest) -> NDArray[Any]:
        shares = (nearest.labels == center).any(axis=1) & self.X.counts
        row = np.where(shares, nearest.cost, np.inf).argmin()
        group = nearest.labels[row] if shares.any() else np.array([center])
        C = self.state.C.copy()
        C[group] = self._draw_rows(len(group), nearest)
        return C

    def _candidates(self) -> Iterator[tuple[NDArray[Any], NDArray[np.float64]]]:
        """Yield rows to move to, and how each would change the cost for each center.

        The table is read for several moves at once, the more so the more fail.
        """
        for n_moves in chain((1, 2, 4), repeat(8)):
            draw = partial(self._draw_and_weigh, n_moves * N_CANDIDATES)
            rows, changes = with_nearest(self.X, self.state, draw)
            for first in range(0, len(rows), N_CANDIDATES):
                some = slice(first, first + N_CANDIDATES)
                yield rows[some], changes[some]

    def _draw_and_weigh(
        self, size: int, nearest: Nearest
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        rows = self._draw_rows(size, nearest)
        k, cap = len(self.state.C), self.state.cut.threshold
        return rows, self.X.swap_changes(rows, nearest, k, cap)

    def _draw_rows(self, size: int, nearest: Nearest) -> NDArray[Any]:
        """Draw rows by their cost, that of trimmed ones capped."""
        cap = self.state.cut.threshold
        return self.X.rows(self.X.draw(self.rng, size, cost=nearest.cost, cap=cap))
