"""Targets: where a center that is cheap to lose is worth more.

In many columns a single row is about twice as far from the rows of its cluster as
their mean is, so that a center that is put on it wins none of them. The mean of half a
cluster does, where the cluster is split in two; and so does the mean of a group of
trimmed rows, where a cluster without a center was trimmed whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm.core.nearest import with_nearest
from rtkm.core.states import Nearest, TrimmedState
from rtkm.core.table import Table

# rows drawn for each center, of which the first in a cluster splits it
ROWS_PER_CENTER = 8
# steps of 2-means inside the clusters
N_HALVING_STEPS = 4
# groups of trimmed rows that are looked at, at most
MOST_GROUPS = 4
# how often a center is lost, and a target tried, at most
MOST_TRIES = 2
# moves are hopeless if the cheapest loss is more than so many times the best gain
CLEAR = 4.0


@dataclass(frozen=True, eq=False)
class Targets:
    """Where a center may go and what it gains there, and what its loss costs."""

    C: NDArray[Any]
    losses: NDArray[np.float64]  # of each center
    halves: NDArray[Any]  # (k, 2, d), of each cluster
    groups: NDArray[Any]  # means of groups of trimmed rows
    gains: NDArray[np.float64]  # of splitting each cluster, then of each group

    @property
    def are_hopeless(self) -> bool:
        """Whether losing any center costs far more than any target gains."""
        return bool(self.losses.min() > CLEAR * self.gains.max())

    def moves(self) -> Iterator[NDArray[Any]]:
        """Yield the centers after one of them went to a target, the best move first."""
        k = len(self.C)
        change = self.losses[:, None] - self.gains
        np.fill_diagonal(change, np.inf)  # what is split is not lost
        n_lost, n_tried = np.zeros(k, int), np.zeros(len(self.gains), int)
        for place in np.argsort(change, axis=None, kind="stable").tolist():
            lost, target = divmod(place, len(self.gains))
            if change[lost, target] == np.inf:  # and so are all that follow
                return
            if n_lost[lost] < MOST_TRIES and n_tried[target] < MOST_TRIES:
                n_lost[lost] += 1
                n_tried[target] += 1
                yield self._move(lost, target)

    def _move(self, lost: int, target: int) -> NDArray[Any]:
        C = self.C.copy()
        if target < len(C):
            # the heavier half in its slot, so that most labels stay
            C[target], C[lost] = self.halves[target]
        else:
            C[lost] = self.groups[target - len(C)]
        return C


def survey_targets(
    X: Table, state: TrimmedState, rng: np.random.RandomState
) -> Targets:
    """Look at all centers and all clusters at once, in a few passes."""
    C, cap = state.C, state.cut.threshold
    is_trimmed, (halves, split_gains) = with_nearest(
        X, state, lambda near: (near.cost > cap, split_clusters(X, C, near, cap, rng))
    )
    groups, group_gains = group_trimmed_rows(X, C, is_trimmed, cap, rng)
    gains = np.concatenate([split_gains, group_gains])
    return Targets(C, X.losses(C, cap), halves, groups, gains)


def split_clusters(
    X: Table, C: NDArray[Any], nearest: Nearest, cap: float, rng: np.random.RandomState
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return both halves of every cluster, the heavier first, and what that gains.

    They start from a row that is kept, drawn by its cost, and its mirror image.
    Clusters in which no row was drawn most likely cost little, and are not split.
    """
    k, labels = len(C), nearest.labels.reshape(-1)
    is_kept = nearest.cost <= cap
    drawn = X.draw(rng, ROWS_PER_CENTER * k, np.where(is_kept, nearest.cost, 0.0))
    clusters, first = np.unique(labels[drawn], return_index=True)
    rows = X.rows(drawn[first])
    undivided = np.repeat(C, 2, axis=0)
    halves = undivided.copy()
    halves[2 * clusters], halves[2 * clusters + 1] = rows, 2 * C[clusters] - rows
    # in many columns both are farther from all rows than the cut: the first step goes
    # by the rows that are kept, whatever they cost
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
    X: Table,
    C: NDArray[Any],
    is_trimmed: NDArray[np.bool_],
    cap: float,
    rng: np.random.RandomState,
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return means of trimmed rows that are close together, and what each gains.

    A group is a drawn row and those next to it: as many as a cluster keeps, but no more
    than half of those that are trimmed. There are as many as clusters would fit in,
    within a limit, and no row starts one that is in one already.
    """
    mass = X.total(is_trimmed)
    cluster_mass = (X.mass - mass) / len(C)
    n_groups = min(MOST_GROUPS, int(np.ceil(mass / cluster_mass)))
    group_mass = min(cluster_mass, mass / 2)
    is_free = is_trimmed & X.counts
    groups: list[NDArray[Any]] = [C[:0]]
    gains: list[float] = []
    while len(gains) < n_groups and is_free.any():
        row = X.rows(X.draw(rng, cost=is_free.astype(np.float64)))
        is_close = closest(X, row, is_trimmed, group_mass)
        is_free = is_free & ~is_close
        mean = X.label_means(X.full(np.int32(0)), is_close, fallback=row)
        groups.append(mean)
        gains.append(saved_by(X, mean, is_trimmed, cap))
    return np.concatenate(groups), np.array(gains)


def closest(
    X: Table, row: NDArray[Any], among: NDArray[np.bool_], mass: float
) -> NDArray[np.bool_]:
    """Return which of some rows are closest to one, up to a mass."""
    away = X.full(np.inf)
    X.lower(away, row)
    away[~among] = np.inf
    return away <= X.cut(away, mass).threshold


def saved_by(
    X: Table, center: NDArray[Any], rows: NDArray[np.bool_], cap: float
) -> float:
    """Return what a new center takes off the cost of rows that cost the cap each."""
    saved = X.full(cap)
    X.lower(saved, center)
    np.subtract(cap, saved, out=saved)  # a copy would be at the peak of memory
    saved[~rows] = 0.0
    return X.total(saved)
