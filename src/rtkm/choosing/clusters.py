"""How many clusters: groups that clearly fewer rows lie between than around either.

The rows are cut into more and more cells by trimmed k-means. Cells without a gap
between them are one group, as in UniForCE (G. Vardakas, I. Papakostas, A. Likas, 2023),
which joins cells that are unimodal together, after dip-means (A. Kalogeratos, A. Likas,
NIPS 2012); here rows are counted along the line between two centers. The number of
groups that most numbers of cells agree on, a plateau, is the number of clusters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rtkm.choosing.fits import trimmed_fit
from rtkm.choosing.samples import halves
from rtkm.core.params import whole_rows
from rtkm.core.states import TrimmedState
from rtkm.core.table import Table

# rows that cells are made of at most
SAMPLE_ROWS = 4000
# chances of so few rows between two centers, were there no gap: the one that decides,
# and a laxer and a stricter one for the alternatives
LEVELS = 0.005, 0.02, 0.001
# rows for each cell at least, on average
ROWS_PER_CELL = 20
# rows of a cell below which it says nothing
LEAST_CELL = 4
# a cell this many times lower than a neighbor it is not apart from is its tail
TAIL = 5
# values of K that show nothing new, and end the search
PATIENCE = 3
# rows drawn for a new cell, and how far from its center to a row every other one is
N_CANDIDATES, ON_THE_WAY = 20, 0.25
# steps of a fit to half of the rows, which starts where all of them led
HALF_STEPS = 8
# bins from the middle of a line to its end, and to where rows are counted
PER_HALF, N_BINS = 20, 30


class Trial(NamedTuple):
    """What K cells show."""

    n_groups: tuple[int, ...]  # at each of the levels
    groups: NDArray[np.intp]  # of each cell at the first level, -1: left out
    state: TrimmedState
    stability: float
    counts: NDArray[np.float64]  # along the lines between the cells

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        return len(self.groups)


class Gaps(NamedTuple):
    """Rows between each pair of cells and around the first of them; rows of each."""

    between: NDArray[np.float64]
    around: NDArray[np.float64]
    mass: NDArray[np.float64]

    @property
    def chance(self) -> NDArray[np.float64]:
        """P(Binomial(between + lower, 1/2) <= between), for fractions of rows too."""
        lower = np.minimum(self.around, self.around.T)
        chance = special.betainc(np.maximum(lower, 1e-9), self.between + 1, 0.5)
        return np.where(lower > 0, chance, 1.0)


def try_cells(
    Z: Table, share: float, max_clusters: int, rng: np.random.RandomState
) -> list[Trial]:
    """Return what more and more cells show, until they show nothing new."""
    max_cells = int(max(1, min(max_clusters, Z.mass // ROWS_PER_CELL)))
    trials: list[Trial] = []
    most = n_since = 0
    for trial in each_trial(Z, share, max_cells, rng):
        trials.append(trial)
        n_since = 0 if trial.n_groups[0] > most else n_since + 1
        most = max(most, trial.n_groups[0])
        if n_since >= PATIENCE and trial.n_cells >= most + PATIENCE:
            break
    return trials


def each_trial(
    Z: Table, share: float, max_cells: int, rng: np.random.RandomState
) -> Iterator[Trial]:
    """Yield what 1, 2, ... cells show, then more and more at a time."""
    A, B = halves(Z, rng)
    C = Z.mean
    while True:
        state = trimmed_fit(Z, C, whole_rows(share, Z.mass))
        fits = [trimmed_half(F, state.C, share) for F in (A, B)]
        # centers found in the rows that are counted would lie where these are dense by
        # chance, so that gaps would show where none are
        counts = count_lines(B, fits[0]) + count_lines(A, fits[1])
        gaps = find_gaps(counts)
        found = [find_groups(gaps, level) for level in LEVELS]
        yield Trial(
            tuple(int(groups.max()) + 1 for groups in found),
            found[0],
            state,
            agreement(Z, *(fit.C for fit in fits)),
            counts,
        )
        n_more = min(max(1, len(C) // 4), max_cells - len(C))
        if not n_more:
            return
        C = np.concatenate([state.C, *more_centers(Z, state, n_more, rng)])


def more_centers(
    Z: Table, state: TrimmedState, n_more: int, rng: np.random.RandomState
) -> Iterator[NDArray[Any]]:
    """Yield centers for new cells: the best of a few near rows drawn by their cost.

    In many columns a row is as far from the rows of its group as these are from each
    other, so that it draws none of them; a point on the way to it does.
    """
    nearest, cap = Z.nearest(state.C, 1), state.cut.threshold
    cost = np.minimum(nearest.cost, cap)
    for _ in range(n_more):
        drawn = Z.draw(rng, N_CANDIDATES, cost=cost)
        rows = Z.rows(drawn)
        # a trimmed row may belong to a group that has no cell yet, and lies right there
        moved = np.flatnonzero(cost[drawn] < cap)[::2]
        own = state.C[nearest.labels[drawn[moved], 0]]
        rows[moved] = own + ON_THE_WAY * (rows[moved] - own)
        lowered = np.minimum(Z.squared_distances(rows), cost[:, None])
        totals = lowered.sum(axis=0) if Z.weights is None else Z.weights @ lowered
        best = int(totals.argmin())
        cost = lowered[:, best].astype(np.float64)
        yield rows[best : best + 1]


def trimmed_half(F: Table, C: NDArray[Any], share: float) -> TrimmedState:
    """Fit cells to one half of the rows."""
    return trimmed_fit(F, C, whole_rows(share, F.mass), max_iter=HALF_STEPS)


def count_lines(G: Table, fit: TrimmedState) -> NDArray[np.float64]:
    """Count the rows of one half along the lines between cells of the other."""
    return G.count_along_lines(fit.C, fit.cut.threshold, PER_HALF, N_BINS)


def agreement(Z: Table, C_A: NDArray[Any], C_B: NDArray[Any]) -> float:
    """Return the share of the rows that both halves give the same cell."""
    if len(C_A) == 1:
        return 1.0
    same = Z.nearest(C_A, 1).labels == Z.nearest(C_B, 1).labels
    return Z.total(same[:, 0].astype(np.float64)) / Z.mass


def find_gaps(counts: NDArray[np.float64]) -> Gaps:
    """Compare windows along each line, half as wide as from its middle to its end.

    The fewest rows of any window between two centers are held against the most around
    a center.
    """
    totals = np.zeros((*counts.shape[:2], N_BINS + 1))
    np.cumsum(counts, axis=2, out=totals[:, :, 1:])

    def within(first: float, last: float) -> NDArray[np.float64]:
        ends = round(first * PER_HALF), round(last * PER_HALF)
        return totals[:, :, ends[1]] - totals[:, :, ends[0]]

    middle, near, nearer = within(0, 0.25), within(0, 0.5), within(0.25, 0.75)
    windows = middle + middle.T, near, near.T, nearer, nearer.T
    at_center = within(0.55, 1.05), within(0.75, 1.25), within(0.95, 1.45)
    return Gaps(
        np.minimum.reduce(windows),
        np.maximum.reduce(at_center),
        counts[:, :, 0].diagonal(),
    )


def find_groups(gaps: Gaps, level: float) -> NDArray[np.intp]:
    """Return the group of each cell, -1 for those that are left out.

    Cells of next to no rows, and tails of others, would bridge groups.
    """
    together = ~(gaps.chance < level)
    is_tail = (together & (gaps.around.T > TAIL * gaps.around)).any(axis=1)
    counts = (gaps.mass >= LEAST_CELL) & ~is_tail
    if not counts.any():
        counts = np.arange(len(counts)) == gaps.mass.argmax()
    return components(together, counts)


def components(
    together: NDArray[np.bool_], counts: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Return numbers of the connected components of cells that count; -1 for others."""
    links = np.argwhere(np.triu(together, 1) & counts & counts[:, None])
    first = list(range(len(counts)))  # cell of lowest number it is known to be with
    for a, b in links.tolist():
        while first[a] != a:
            a = first[a]
        while first[b] != b:
            b = first[b]
        first[max(a, b)] = min(a, b)
    groups = np.full(len(counts), -1)
    n_groups = 0
    for cell in np.flatnonzero(counts).tolist():
        if first[cell] == cell:
            groups[cell] = n_groups
            n_groups += 1
        else:
            groups[cell] = groups[first[cell]]
    return groups


def plateau(trials: list[Trial], level: int = 0) -> int:
    """Return the number of groups that most trials agree on, of equals the larger.

    Where there are many groups, nearly every trial shows another number until there are
    cells enough, and only trials with as many have a say.
    """
    n_groups = np.array([trial.n_groups[level] for trial in trials])
    n_cells = np.array([trial.n_cells for trial in trials])
    are_many = 2 * n_groups.max() > n_cells.max()
    votes = np.bincount(n_groups[(n_cells >= n_groups.max()) | ~are_many])
    return int(np.flatnonzero(votes == votes.max())[-1])


def group_means(
    Z: Table, trial: Trial, n_groups: int
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return the mass of the kept rows of each group, and their means."""
    state = trial.state
    groups = trial.groups[state.clusters[:, 0]]
    # by what is kept of each row: of a weighted one at the cut that may be a part
    W = (groups[:, None] == np.arange(n_groups)) * state.v[:, None]
    sizes = Z.label_masses(groups.astype(np.int32), n_groups, state.v)
    fallback = np.repeat(Z.mean, n_groups, axis=0)
    return sizes, Z.weighted_means(W, fallback)
