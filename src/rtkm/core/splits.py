"""Split moves: a center that is cheap to lose goes to where a cluster is worth two.

In many columns a single row is about twice as far from the rows of its cluster as
their mean is, so that a center that is put on it wins none of them; the mean of half a
cluster does. So does the mean of a group of trimmed rows, where a cluster without a
center was trimmed whole.
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
# groups of trimmed rows that are looked at, at most
MOST_GROUPS = 4
# how often a center is lost, and a cluster split or a group tried, at most
MOST_TRIES = 2
# how many times as much as the best split gains the loss of any center must cost for a
# better minimum to be unlikely
CLEAR = 4.0


@dataclass(frozen=True, eq=False)
class Splits:
    """What the loss of each center costs, and what it gains where it may go."""

    C: NDArray[Any]
    losses: NDArray[np.float64]
    halves: NDArray[Any]  # (k, 2, d)
    groups: NDArray[Any]  # means of groups of trimmed rows
    gains: NDArray[np.float64]  # of splitting each cluster, then of each group

    @property
    def are_hopeless(self) -> bool:
        """Whether every loss costs far more than any move gains."""
        return bool(self.losses.min() > CLEAR * self.gains.max())

    def proposals(self) -> Iterator[NDArray[Any]]:
        """Yield centers of which one was lost and put elsewhere, the best first."""
        k = len(self.C)
        change = self.losses[:, None] - self.gains
        np.fill_diagonal(change, np.inf)
        n_lost, n_tried = np.zeros(k, int), np.zeros(len(self.gains), int)
        for place in np.argsort(change, axis=None, kind="stable").tolist():
            lost, target = divmod(place, len(self.gains))
            if not change[lost, target] < np.inf:
                return
            if n_lost[lost] < MOST_TRIES and n_tried[target] < MOST_TRIES:
                n_lost[lost] += 1
                n_tried[target] += 1
                yield self._move(lost, target)

    def _move(self, lost: int, target: int) -> NDArray[Any]:
        """Return the centers after a move to half of a cluster, or to a group."""
        C = self.C.copy()
        if target < len(C):
            # the heavier half in its slot, so that most labels stay
            C[target], C[lost] = self.halves[target]
        else:
            C[lost] = self.groups[target - len(C)]
        return C


def survey_splits(
    X: Table, state: TrimmedState, nearest: Nearest, rng: np.random.RandomState
) -> Splits:
    """Look at all centers and all clusters at once, in a few passes."""
    C, cap = state.C, state.cut.threshold
    halves, gains = split_clusters(X, C, nearest, cap, rng)
    groups, group_gains = group_trimmed_rows(X, C, nearest, cap, rng)
    gains = np.concatenate([gains, group_gains])
    return Splits(C, X.losses(C, cap), halves, groups, gains)


def split_clusters(
    X: Table, C: NDArray[Any], nearest: Nearest, cap: float, rng: np.random.RandomState
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return both halves of every cluster, the heavier first, and what that gains.

    They start from a row that is kept, drawn by its cost, and its mirror image.
    Clusters in which no row was drawn cost next to nothing, and are not split.
    """
    k, labels = len(C), nearest.labels.reshape(-1)
    is_kept = nearest.cost <= cap
    drawn = X.draw(rng, ROWS_PER_CENTER * k, np.where(is_kept, nearest.cost, 0.0))
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


def group_trimmed_rows(
    X: Table, C: NDArray[Any], nearest: Nearest, cap: float, rng: np.random.RandomState
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return means of trimmed rows that are close together, and what each gains.

    A group is a drawn row and those next to it: as many as a cluster keeps, but no more
    than half of all. There are as many as clusters would fit in, and no row starts one
    that is in one already.
    """
    is_trimmed = nearest.cost > cap
    mass = X.total(is_trimmed.astype(np.float64))
    if mass == 0.0:
        return C[:0], np.empty(0)
    cluster_mass = (X.mass - mass) / len(C)
    n_groups = min(MOST_GROUPS, int(np.ceil(mass / cluster_mass)))
    group_mass = min(cluster_mass, mass / 2)
    trimmed = np.where(is_trimmed, np.int32(0), np.int32(-1))
    is_free = is_trimmed if X.weights is None else is_trimmed & (X.weights > 0)
    groups, gains = [], []
    while len(groups) < n_groups and is_free.any():
        row = X.rows(X.draw(rng, cost=is_free.astype(np.float64)))
        away = np.full(X.n_rows, np.inf)
        X.lower(away, row)
        away[~is_trimmed] = np.inf
        is_close = away <= X.cut(away, group_mass).threshold
        is_free = is_free & ~is_close
        group = np.where(is_close, np.int32(0), np.int32(-1))
        mean = X.split_step(np.repeat(row, 2, axis=0), group, np.inf)[0][:1]
        cost = X.split_step(np.repeat(mean, 2, axis=0), trimmed, cap)[2][0]
        groups.append(mean)
        gains.append(cap * mass - cost)
    return np.concatenate(groups), np.array(gains)
