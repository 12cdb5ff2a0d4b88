"""The vocabulary: rows with their weights, and the words that steps are written in."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.sparsefuncs import min_max_axis

from rtkm import _native
from rtkm.core.columns import look_up
from rtkm.core.states import (
    Cut,
    Nearest,
    ProximalState,
    State,
    TrimmedState,
    blocks_of,
)
from rtkm.core.threads import n_threads

# a share of the objective too small to ask for, row by row, what makes it up
NEGLIGIBLE = 1e-6


class Table:
    """A table of rows, dense or CSR, bound to its row weights.

    Every word counts a row of weight 2 as that row twice. Centers are NumPy arrays of
    the table's dtype; sums and costs are float64.
    """

    # whether the last state may save distances; nothing but the time depends on it
    uses_bounds: ClassVar[bool] = True

    def __init__(
        self,
        X: Any,  # a C-ordered array, or CSR in canonical format
        weights: NDArray[np.float64] | None,
        frame: tuple[NDArray[np.float64], float] | None = None,
    ) -> None:
        self.X = X
        self.weights = weights
        self.n_rows, self.n_features = X.shape
        self.dtype = X.dtype
        self.is_sparse = sparse.issparse(X)
        arrays: tuple[Any, ...] = (X,)
        if self.is_sparse:
            arrays = X.data, X.indices, X.indptr, self.n_features
        self._native = _native.Table(
            *arrays, weights=weights, frame=frame, n_threads=n_threads()
        )

    @property
    def unit(self) -> float:
        """What bounds of distances are measured in, about the width of the rows."""
        return self._native.unit()

    @property
    def origin(self) -> NDArray[np.float64]:
        """What sums are measured from, amid the rows."""
        return self._native.origin()

    def release(self) -> None:
        """Free what was kept of earlier passes for later ones."""
        self._native.release()

    def close(self) -> None:
        """Forget what only a fit needed."""

    @cached_property
    def mass(self) -> float:
        """The total weight."""
        return float(self.n_rows if self.weights is None else exact_sum(self.weights))

    @property
    def counts(self) -> NDArray[np.bool_]:
        """Which rows weigh anything."""
        return np.ones(self.n_rows, bool) if self.weights is None else self.weights > 0

    @cached_property
    def ends(self) -> NDArray[np.float64]:
        """The smallest and the largest value of each column, (2, n_features)."""
        return column_ends(self.X) if self.is_sparse else self._native.column_ends()

    @cached_property
    def squared_scale(self) -> float:
        """The mean squared distance to the mean."""
        cost = self.full(np.inf)
        self.lower(cost, self.mean)
        return self.total(cost) / self.mass

    def least_distances(self, C: NDArray[Any]) -> NDArray[np.float64]:
        """Return what distances from each mean stay below by rounding alone."""
        share = max(1e-12, 64 * float(np.finfo(self.dtype).eps))
        size = np.abs(C).max(axis=1).astype(np.float64)
        # a few rows far out may make up the scale, and say nothing of the others
        most = 1e3 * np.maximum(size, np.quantile(size, 0.5, method="lower"))
        return share * np.minimum(most, np.sqrt(self.squared_scale))

    @property
    def mean(self) -> NDArray[Any]:
        """The mean row, (1, n_features)."""
        origin = np.zeros((1, self.n_features), dtype=self.dtype)
        return self.weighted_means(np.ones((self.n_rows, 1)), fallback=origin)

    def goal_below(self, state: Any) -> float:
        """Return what a level must fall below to count as lower than the state's.

        Less is rounding: that of a sum, or of centers, which gives rows that sit on
        their center a cost of their own.
        """
        # a level may be a mean where the objective is a sum
        share = state.level / state.objective if state.objective else 1.0
        rounding = self.mass * float(self.squared_rounding(state.C).max())
        if rounding > NEGLIGIBLE * state.objective > 0:
            rounding = self.rounding_cost(state)
        return state.level * (1 - 1e-9) - share * rounding

    def squared_rounding(self, C: NDArray[Any]) -> NDArray[np.float64]:
        """Return what rounding of each center may cost a row that sits on it."""
        with np.errstate(over="ignore"):
            return np.square(rounding_of(C)).sum(axis=1)

    def rounding_cost(self, state: Any) -> float:
        """Return how much of a state's objective may come from rounding its centers.

        A center is off by no more than its rows are away from it, column by column:
        where all of them have one value, however large, it is not rounded. And no row
        is charged more than it costs.
        """
        nearest, v = self.nearest(state.C, state.n_memberships), state.v
        reach = self.column_reach(state.C, nearest.labels, self.counts & (v > 0))
        charge = np.square(np.minimum(rounding_of(state.C), reach)).sum(axis=1)
        charged = np.minimum(nearest.squared, look_up(charge, nearest.labels))
        return self.total(v * charged.sum(axis=1))

    def column_reach(
        self, C: NDArray[Any], labels: NDArray[np.int32], counts: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Return how far, in each column, the rows that count get from each center.

        Both are (k, d); a center without such rows has a reach of 0.
        """
        reach = np.zeros(C.shape)
        rows, places = np.nonzero(np.broadcast_to(counts[:, None], labels.shape))
        of = labels[rows, places]
        rows = rows[np.argsort(of, kind="stable")]
        ends = np.cumsum(np.bincount(of, minlength=len(C)))
        for j, members in enumerate(np.split(rows, ends[:-1])):
            for some, _ in blocks_of(members):
                away = np.abs(column_ends(self.X[some]) - C[j]).max(axis=0)
                reach[j] = np.maximum(reach[j], away)
        return reach

    def with_ties(self, kept: NDArray[np.float64], state: Any) -> NDArray[np.float64]:
        """Keep all rows whole that tie at the cut of a state, in place."""
        for trimmed, _ in blocks_of(np.flatnonzero(kept < 1)):
            costs = self.part(trimmed).nearest(state.C, state.n_memberships).cost
            kept[trimmed[costs <= state.cut.threshold]] = 1.0
        return kept

    def sit_on_centers(
        self, numbers: NDArray[np.intp], C: NDArray[Any], n_memberships: int
    ) -> bool:
        """Whether some rows are, but for rounding, where their nearest centers are."""
        part = self.part(numbers)
        labels = part.nearest(C, n_memberships).labels
        away = np.abs(part.rows(np.arange(len(numbers)))[:, None] - C[labels])
        return bool((away <= rounding_of(C)[labels]).all())

    def total(self, values: NDArray[np.float64] | NDArray[np.bool_]) -> float:
        """Return the weighted sum of one value a row."""
        return self.exact_total(values)[0]

    def exact_total(self, values: NDArray[Any]) -> tuple[float, float]:
        """Return the weighted sum of one value a row, and what rounding took of it."""
        if values.dtype != bool:
            return exact_pair(values, self.weights)
        if self.weights is None:
            return float(np.count_nonzero(values)), 0.0
        return exact_pair(self.weights[values])

    def rows(self, numbers: NDArray[np.int64]) -> NDArray[Any]:
        """Return some rows as a dense array."""
        rows = self.X[numbers]
        return np.ascontiguousarray(rows.toarray() if sparse.issparse(rows) else rows)

    def part(
        self, numbers: NDArray[np.integer], weights: NDArray[np.float64] | None = None
    ) -> Table:
        """Return a table of some rows, with weights if they are given."""
        return Table(self.X[numbers], weights)

    def full(self, entry: Any) -> NDArray[Any]:
        """Return one value for every row."""
        return np.full(self.n_rows, entry)

    def squared_distances(self, C: NDArray[Any]) -> NDArray[Any]:
        """Return the (n, k) squared distances, summed from differences."""
        return self._native.squared_distances(C)

    def squared_residuals(
        self, B: NDArray[Any], C: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Return each row's squared distance to its mix B @ C of the centers."""
        return self._native.squared_residuals(np.ascontiguousarray(B, np.float64), C)

    def nearest(self, C: NDArray[Any], n_memberships: int) -> Nearest:
        """Return the nearest centers of every row; ties go to the lowest number."""
        return Nearest(*self._native.nearest(C, n_memberships))

    def other_lower(self, state: TrimmedState) -> NDArray[np.float64]:
        """Return what the squared distances of each row to other centers are at least.

        Others are all but its own one; in the dense case no distance is computed.
        """
        if self.is_sparse:
            return self.nearest(state.C, 1).spare
        bounds = state.native.other_lower.astype(np.float64)
        return np.square(np.maximum(bounds, 0.0) * self.unit)

    def weighted_sums(
        self, W: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return sums of the rows under (n, k) weights, and sums of these."""
        k = W.shape[1]
        found = self.sums("weighted_sums", W)[0]
        sums = found[k:].reshape(k, -1)[:, : self.n_features]
        return sums, found[:k]

    def sums(self, word: str, *arguments: Any) -> NDArray[np.float64]:
        """Return what a word of the native core adds up over the rows.

        The first axis has sums that are rounded once, and what that took of them, so
        that sums over partitions of a table can be added up without a trace.
        """
        return getattr(self._native, word)(*map(contiguous, arguments))

    def weighted_means(
        self, W: NDArray[np.float64], fallback: NDArray[Any]
    ) -> NDArray[Any]:
        """Return the means under (n, k) weights; no weight keeps the fallback."""
        sums, masses = self.weighted_sums(W)
        filled = masses > 1e-12 * masses.sum()
        centers = fallback.copy()
        # no mean is beyond its rows, as rounding would have it in a constant column
        centers[filled] = np.clip(sums[filled] / masses[filled, None], *self.ends)
        return centers

    def within_columns(self, means: NDArray[Any], C: NDArray[Any]) -> NDArray[Any]:
        """Keep means of CSR rows from where neither rows nor their centers C are.

        Their sums count from 0, so that a large constant column is rounded; those of
        dense rows count from amid the rows.
        """
        if not self.is_sparse:
            return means
        low, high = np.minimum(self.ends[0], C), np.maximum(self.ends[1], C)
        if ((low <= means) & (means <= high)).all():
            return means  # itself, so that the next pass knows it
        return np.clip(means, low, high).astype(self.dtype, copy=False)

    def label_means(
        self, labels: NDArray[np.int32], kept: NDArray[np.bool_], fallback: NDArray[Any]
    ) -> NDArray[Any]:
        """Return the means of the kept rows of each label."""
        W = one_hot(labels, len(fallback)) & kept[:, None]
        return self.weighted_means(W.astype(np.float64), fallback)

    def label_masses(
        self,
        labels: NDArray[np.int32],
        n_labels: int,
        kept: NDArray[np.float64] | NDArray[np.bool_] | None = None,
    ) -> NDArray[np.float64]:
        """Return the mass of the rows of each label, or of what is kept of them.

        Labels below 0 are left out. Sums carry twice the digits, so that neither the
        order of the rows shows nor whether a weight is written as repetitions.
        """
        masses = self.full(1.0) if kept is None else kept.astype(np.float64)
        if self.weights is not None:
            masses = self.weights * masses
        return self.label_sums(masses, labels[:, None], n_labels)[0]

    def project(self, z: NDArray[np.float64], total: float) -> NDArray[np.float64]:
        """Project onto {0 <= v <= 1, weighted sum of v = total}."""
        if total >= self.mass:  # sums of weights may differ in their last digit
            return np.ones(self.n_rows)
        return _native.project(z, self.weights, total, n_threads())

    def project_rows(self, Z: NDArray[np.float64], total: float) -> NDArray[np.float64]:
        """Project every row onto {0 <= w <= 1, sum of w = total}."""
        return _native.project_rows(np.ascontiguousarray(Z), total, n_threads())

    def cut(self, values: NDArray[np.float64], mass: float) -> Cut:
        """Return where the rows of smallest values reach the mass."""
        return cut_of(values, self.weights, mass)

    def concentrate(
        self,
        C: NDArray[Any],
        n_memberships: int,
        mass: float,
        last: TrimmedState | None = None,
    ) -> TrimmedState:
        """Assign rows to their nearest centers, keep the cheapest, and average those.

        With the last state only rows that may have changed are looked at; the answer
        does not depend on it.
        """
        found = self._native.concentrate(
            C,
            n_memberships,
            mass,
            self.mass,
            last.native if last else None,
            self.uses_bounds,
        )
        return TrimmedState(
            C=C,
            clusters=found.clusters,
            kept=found.kept,
            means=found.means,
            objective=found.objective,
            cut=Cut(*found.cut),
            kept_mass=mass,
            n_changed=found.n_changed,
            native=found,
        )

    def proximal_step(
        self,
        C: NDArray[Any],
        n_memberships: int,
        mass: float,
        step: float,
        last: ProximalState | None = None,
    ) -> ProximalState:
        """Move memberships and inlier weights by proximal steps, and average by them.

        Each row's memberships w become the projection of w - v D / step, with D its
        squared distances, and then the inlier weights v that of v - cost / step; they
        sum to the mass. Without a last state all weights are equal. This is
        `proximal_step_in_words` in one pass over the rows.
        """
        found = self._native.proximal_step(
            C,
            n_memberships,
            mass,
            self.mass,
            step,
            last.native if last else None,
            self.uses_bounds,
        )
        return ProximalState(
            C=C,
            clusters=found.clusters,
            v=found.v,
            means=self.within_columns(found.means, C),
            objective=found.objective,
            change=found.change,
            squared_scale=self.squared_scale,
            kept_mass=mass,
            native=found,
        )

    def further_means(
        self,
        state: TrimmedState,
        rows: NDArray[np.int64],
        clusters: NDArray[np.int32],
    ) -> NDArray[Any]:
        """Return the means of a state if some rows are in further clusters as well.

        Equal clusters have equal means to the last bit. The state keeps rows whole.
        """
        means = self._native.further_means(state.native, rows, clusters)
        return self.within_columns(means, state.C)

    def swap_changes(
        self, rows: NDArray[Any], nearest: Nearest, n_clusters: int, cap: float
    ) -> NDArray[np.float64]:
        """Return, for each new row and each center it may replace, the change of cost.

        Costs are capped at the trimming threshold, which stays where it is.
        """
        changes = self.sums("swap_changes", rows, *nearest, cap, n_clusters)[0]
        return changes[:-1, :-1] + changes[:-1, -1:] + changes[-1, :-1]

    def addition_changes(
        self, rows: NDArray[Any], cost: NDArray[np.float64], cap: float
    ) -> NDArray[np.float64]:
        """Return the change of capped cost that each new row brings as a center."""
        # replaces a center that costs nothing to lose
        nowhere = self.full(np.int32(0))[:, None]
        one = Nearest(nowhere, cost[:, None], cost, cost)
        return self.swap_changes(rows, one, 1, cap)[:, 0]

    def losses(self, C: NDArray[Any], cap: float) -> NDArray[np.float64]:
        """Return what the loss of each of at least two centers costs.

        Its rows move to their second nearest center, and the means follow, unless k * k
        * d is above two millions. Each center is taken for the mean of its rows, and
        costs are capped at the trimming threshold, which stays where it is.
        """
        return _native.losses(self.sums("moved_rows", C, cap)[0], C, self.origin)

    def split_step(
        self, halves: NDArray[Any], labels: NDArray[np.int32], cap: float
    ) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]]:
        """Make a step of 2-means inside every cluster at once, with capped costs.

        Cluster j has the halves 2 j and 2 j + 1. Returns the means of the rows that are
        nearer to each half and their masses, and what each cluster costs before. Rows
        with a label below 0 are left out.
        """
        sums = self.sums("half_sums", halves, labels, cap)[0]
        return _native.half_means(sums, halves, self.origin)

    def count_along_lines(
        self, C: NDArray[Any], cap: float, per_half: int, n_bins: int
    ) -> NDArray[np.float64]:
        """Return how the rows of each center lie along the lines to the others.

        Entry (i, j, b) is the mass of the rows nearest to center i, and no costlier
        than the cap, that are projected to bin b of the line through centers i and j:
        bin 0 starts halfway between both, bin `per_half` at center i. Entry (i, i, 0)
        is the mass of all such rows of center i.
        """
        return self._native.count_along_lines(C, cap, per_half, n_bins)

    def lower(self, cost: NDArray[np.float64], C: NDArray[Any]) -> None:
        """Lower each cost, in place, to the squared distance of one center."""
        self._native.lower(C, cost)

    def mean_pair_distances(self, neighbors: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return, for each line of row numbers, the mean distance of its pairs."""
        return self._native.mean_pair_distances(np.ascontiguousarray(neighbors))

    def leaders(
        self, radius: float
    ) -> tuple[NDArray[np.int32], NDArray[Any], NDArray[np.float64]]:
        """Return labels, centers and sizes of clusters found in one pass.

        In the order of the table, a row joins the nearest center within the radius,
        which moves to the mean of its rows, or opens a cluster of its own.
        """
        return self._native.leaders(radius)

    @cached_property
    def order(self) -> NDArray[np.uint32]:
        """The rows in lexicographic order."""
        return self._native.lexicographic_order()

    def draw(
        self,
        rng: np.random.RandomState,
        size: int = 1,
        cost: NDArray[np.float64] | None = None,
        cap: float = np.inf,
    ) -> NDArray[np.int64]:
        """Draw rows with chances weight * min(cost, cap), or by weight alone.

        Draws run along the lexicographic order of the rows, so they do not change when
        the table is shuffled, shifted or scaled, or weights are written as repetitions.
        """
        return self._native.draw(self.order, cost, cap, rng.random_sample(size))

    def along_order(self, places: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the rows at some rising shares of the weight, in lexicographic order.

        The row at a share is the first up to which more than that is reached.
        """
        if self.weights is None:
            numbers = np.floor(places * self.n_rows).astype(np.intp)
            return self.order[np.minimum(numbers, self.n_rows - 1)].astype(np.int64)
        order = self.sorted_rows()
        reached = _native.running_sums(self.weights[order])[0]
        numbers = np.searchsorted(reached, places * self.mass, side="right")
        return order[np.minimum(numbers, len(order) - 1)]

    def sorted_rows(self) -> NDArray[np.int64]:
        """Return the rows that weigh anything in lexicographic order."""
        return self.order[self.counts[self.order]].astype(np.int64)

    def distinct_rows(self, enough: int) -> NDArray[np.int64]:
        """Return the first of each of the rows that differ, no more than enough."""
        return self._native.distinct_rows(enough)

    def count_distinct(self, enough: int) -> int:
        """Return the number of distinct rows, counted no further than enough."""
        return len(self.distinct_rows(enough))

    def label_sums(
        self,
        values: NDArray[np.float64],
        labels: NDArray[np.int32],
        n_clusters: int,
    ) -> NDArray[np.float64]:
        """Return sums of the values for each of (n, s) labels, and what these lost."""
        return _native.label_sums(values, labels, n_clusters, n_threads())

    def true_rows(
        self, mask: NDArray[np.bool_], ranks: Callable[[int], NDArray[np.intp]]
    ) -> NDArray[np.intp]:
        """Return some of the rows for which a mask is true, by their ranks among them.

        Which ranks, is said of their number.
        """
        rows = np.flatnonzero(mask)
        return rows[ranks(len(rows))]

    def column_variances(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weighted variance of each column."""
        some = np.flatnonzero(weights)
        return variances_of(self.X, some, weights[some])

    def each_row(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a function makes of a table, row by row."""
        return function(self, *arguments)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return self.n_rows, self.n_features

    @property
    def n_positive(self) -> int:
        """The number of rows that weigh anything."""
        return self.n_rows if self.weights is None else int((self.weights > 0).sum())

    @property
    def lightest(self) -> float:
        """The least weight of a row that weighs anything."""
        if self.weights is None:
            return 1.0
        return float(self.weights.min(where=self.weights > 0, initial=np.inf))

    def count_labels(self, labels: NDArray[np.int32], n_clusters: int) -> NDArray[Any]:
        """Return how many rows have each label; those below 0 are not counted."""
        return np.bincount(labels[labels >= 0], minlength=n_clusters)

    # What a partition of a table does for it

    def bounded_pass(
        self,
        C: NDArray[Any],
        n_memberships: int,
        window: tuple[float, float],
        last: Any,
    ) -> Any:
        """Do what there is to do in a step before its cut is known.

        Rows that cost less than the window are kept and those beyond it are trimmed.
        """
        return self._native.bounded_pass(
            C, n_memberships, *window, last, self.uses_bounds
        )

    def kept_moments(self, settled: Any) -> NDArray[np.float64]:
        """Return the sums of the clusters after a step, with the cut row's share."""
        return self._native.kept_moments(settled)

    def kept_cost(self, settled: Any) -> tuple[float, float]:
        """Return what kept rows cost, row by row, and what rounding took."""
        return self._native.kept_cost(settled)

    def moments(
        self, labels: NDArray[np.int32], shares: NDArray[np.float64], n_clusters: int
    ) -> NDArray[np.float64]:
        """Return the sums of clusters that rows belong to with a share each."""
        return self._native.moments(labels, shares, n_clusters)

    def buckets(self, pivots: Table) -> NDArray[np.uint32]:
        """Return how many pivots, rows in order, each row is not below."""
        return self._native.buckets(pivots._native)


def proximal_step_in_words(
    X: Table,
    C: NDArray[Any],
    n_memberships: int,
    mass: float,
    step: float,
    last: State | ProximalState | None = None,
) -> tuple[State, NDArray[Any]]:
    """Return what `Table.proximal_step` finds, the long way, and the next centers.

    The fused step has about a thousand lines for the sake of speed; this is what they
    compute, and what they are tested against.
    """
    W = last.W if last else np.full((X.n_rows, len(C)), n_memberships / len(C))
    v = last.v if last else np.full(X.n_rows, min(mass / X.mass, 1.0))
    D = X.squared_distances(C).astype(np.float64)
    W = X.project_rows(W - v[:, None] * D / step, n_memberships)
    cost = (W * D).sum(axis=1)
    v = X.project(v - cost / step, mass)
    next_C = X.weighted_means(v[:, None] * W, fallback=C)
    return State(C=C, W=W, v=v, objective=X.total(v * cost)), next_C


def exact_sum(
    values: NDArray[Any], weights: NDArray[np.float64] | None = None
) -> float:
    """Return a sum that is rounded once: the order of the rows does not show in it."""
    return exact_pair(values, weights)[0]


def exact_pair(
    values: NDArray[Any], weights: NDArray[np.float64] | None = None
) -> tuple[float, float]:
    """Return a sum that is rounded once, and what that took of it."""
    values = np.ascontiguousarray(values, dtype=np.float64)
    return _native.exact_sum(values, weights, n_threads())


def contiguous(argument: Any) -> Any:
    """Return arrays as the native core wants them."""
    is_array = isinstance(argument, np.ndarray)
    return np.ascontiguousarray(argument) if is_array else argument


def cut_of(
    values: NDArray[np.float64], weights: NDArray[np.float64] | None, mass: float
) -> Cut:
    """Return where the smallest values reach the mass, found without sorting them."""
    return Cut(*_native.find_cut(values, weights, mass, n_threads=n_threads()))


def variances_of(
    X: Any, rows: NDArray[np.intp], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the weighted variance of each column over some rows."""
    mass = weights.sum()
    if not mass > 0:
        return np.zeros(X.shape[1])
    if sparse.issparse(X):
        return sparse_variances(X[rows], weights / mass)
    mean = np.zeros(X.shape[1])
    for some, place in blocks_of(rows):
        mean += weights[place] @ X[some].astype(np.float64) / mass
    variances = np.zeros(X.shape[1])
    for some, place in blocks_of(rows):
        variances += weights[place] @ np.square(X[some] - mean) / mass
    return variances


def sparse_variances(
    X: sparse.csr_array, shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the variance of each column of a CSR matrix, zeros included."""
    by_entry = np.repeat(shares, np.diff(X.indptr))
    n = X.shape[1]
    values = X.data.astype(np.float64)
    mean = np.bincount(X.indices, by_entry * values, minlength=n)
    away = np.square(values - mean[X.indices])
    filled = np.bincount(X.indices, by_entry, minlength=n)
    variances = np.bincount(X.indices, by_entry * away, minlength=n)
    return variances + np.maximum(1 - filled, 0.0) * np.square(mean)


def rounding_of(C: NDArray[Any]) -> NDArray[np.float64]:
    """Return how far rounding may move each coordinate of the centers."""
    return np.abs(8 * np.finfo(C.dtype).eps * C).astype(np.float64)


def column_ends(X: Any) -> NDArray[np.float64]:
    """Return the smallest and the largest value of each column, (2, n_features)."""
    ends = min_max_axis(X, 0) if sparse.issparse(X) else (X.min(0), X.max(0))
    return np.array(ends, dtype=np.float64)


def one_hot(labels: NDArray[np.int32], n_clusters: int) -> NDArray[np.bool_]:
    """Return the (n, k) memberships that labels stand for."""
    return labels[:, None] == np.arange(n_clusters)


def smallest(values: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
    """Return a mask of so many smallest values; ties go to the first."""
    if count <= 0:
        return np.zeros(len(values), dtype=bool)
    threshold, last, _ = cut_of(values, None, count)
    mask: NDArray[np.bool_] = values < threshold
    ties = np.flatnonzero(values == threshold)
    mask[ties[ties <= last]] = True
    return mask


def means(
    sums: NDArray[np.float64],
    masses: NDArray[np.float64],
    fallback: NDArray[Any],
    negligible: float = 0.0,
) -> NDArray[Any]:
    """Divide sums by masses; a center without mass stays where it was."""
    filled = masses > negligible
    centers = fallback.copy()
    centers[filled] = sums[filled] / masses[filled, None]
    return centers
