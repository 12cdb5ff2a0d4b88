"""Split moves: a center that is cheap to lose goes to where a cluster is worth two.

In many columns a single row is about twice as far from the rows of its cluster as
their mean is, so that a center that is put on it wins none of them; the mean of half a
cluster does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm.core.states import Nearest, TrimmedState
from rtkm.core.table import Table

# rows drawn for each center, of which the first in a cluster splits it
ROWS_PER_CENTER = 8
# steps of 2-means inside the clusters
N_HALVING_STEPS = 4
# how often a center is lost, and a cluster split, at most
MOST_TRIES = 2
# how many times as much as the best split gains the loss of any center must cost for a
# better minimum to be unlikely
CLEAR = 4.0


@dataclass(frozen=True, eq=False)
class Splits:
    """What the loss of each center costs, and what the split of each cluster gains."""

    C: NDArray[Any]
    losses: NDArray[np.float64]
    halves: NDArray[Any]  # (k, 2, d)
    gains: NDArray[np.float64]

    @property
    def are_hopeless(self) -> bool:
        """Whether every loss costs far more than any split gains."""
        return bool(self.losses.min() > CLEAR * self.gains.max())

    def proposals(self) -> Iterator[NDArray[Any]]:
        """Yield centers of which one was lost and one was split, the best first."""
        k = len(self.C)
        change = self.losses[:, None] - self.gains
        np.fill_diagonal(change, np.inf)
        n_lost, n_split = np.zeros(k, int), np.zeros(k, int)
        for place in np.argsort(change, axis=None, kind="stable").tolist():
            lost, split = divmod(place, k)
            if not change[lost, split] < np.inf:
                return
            if n_lost[lost] < MOST_TRIES and n_split[split] < MOST_TRIES:
                n_lost[lost] += 1
                n_split[split] += 1
                C = self.C.copy()
                # the heavier half in its slot, so that most labels stay
                C[split], C[lost] = self.halves[split]
                yield C


def survey_splits(
    X: Table, state: TrimmedState, nearest: Nearest, rng: np.random.RandomState
) -> Splits:
    """Look at all centers and all clusters at once, in a few passes."""
    C, cap = state.C, state.cut.threshold
    halves, gains = split_clusters(X, C, nearest, cap, rng)
    return Splits(C, X.losses(C, cap), halves, gains)


def split_clusters(
    X: Table, C: NDArray[Any], nearest: Nearest, cap: float, rng: np.random.RandomState
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return both halves of every cluster, the heavier first, and what that gains.

    They start from a row that is kept, drawn by its cost, and its mirror image.
    Clusters in which no row was drawn cost next to nothing, and are not split.
    """
    k, labels = len(C), nearest.labels.reshape(-1)
    is_kept = nearest.cost <= cap
    cost = np.where(is_kept, nearest.cost, 0.0)
    drawn = X.draw(rng, ROWS_PER_CENTER * k, cost=cost)
    clusters, first = np.unique(labels[drawn], return_index=True)
    rows = X.rows(drawn[first])
    undivided = np.repeat(C, 2, axis=0)
    halves = undivided.copy()
    halves[2 * clusters], halves[2 * clusters + 1] = rows, 2 * C[clusters] - rows
    # in many columns both are farther from all rows than the cut
    kept = np.where(is_kept, labels, np.int32(-1))
    halves, masses, costs = X.split_step(halves, kept, np.inf)
    for _ in range(N_HALVING_STEPS - 1):
        halves, masses, costs = X.split_step(halves, labels, cap)
    gains = np.full(k, -np.inf)
    gains[clusters] = (X.split_step(undivided, labels, cap)[2] - costs)[clusters]
    heavier = masses.reshape(k, 2).argmax(axis=1)
    order = np.stack([heavier, 1 - heavier], axis=1)[:, :, None]
    return np.take_along_axis(halves.reshape(k, 2, -1), order, axis=1), gains
