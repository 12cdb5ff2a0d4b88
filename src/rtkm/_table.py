"""The vocabulary: rows with their weights, and the words that steps are written in."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads

from rtkm import _native
from rtkm._descent import Concentrated, Cut, Nearest, Relaxed, Watch


def n_threads() -> int:
    """Return as many threads as OpenMP programs would use here.

    So `OMP_NUM_THREADS`, threadpoolctl's limits and a container's quota all count.
    """
    return int(_openmp_effective_n_threads())


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
    ) -> None:
        self.X = X
        self.weights = weights
        self.n_rows, self.n_features = X.shape
        self.dtype = X.dtype
        csr = sparse.issparse(X)
        arrays = (X.data, X.indices, X.indptr, self.n_features) if csr else (X,)
        self._native = _native.Table(*arrays, weights=weights, n_threads=n_threads())

    @property
    def unit(self) -> float:
        """What the bounds of a `Watch` are measured in, about the width of the rows."""
        return self._native.unit()

    def release(self) -> None:
        """Free what was kept of earlier passes for later ones."""
        self._native.release()

    @cached_property
    def mass(self) -> float:
        """The total weight."""
        return float(self.n_rows if self.weights is None else self.weights.sum())

    @cached_property
    def squared_scale(self) -> float:
        """The mean squared distance to the mean."""
        cost = np.full(self.n_rows, np.inf)
        self.lower(cost, self.mean)
        return self.total(cost) / self.mass

    @property
    def least_distance(self) -> float:
        """What distances of rows from their means stay below by rounding alone."""
        share = max(1e-12, 64 * float(np.finfo(self.dtype).eps))
        return share * float(np.sqrt(self.squared_scale))

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
        rounding = self.mass * share * self.squared_rounding(state.C)
        return state.level * (1 - 1e-9) - rounding

    def squared_rounding(self, C: NDArray[Any]) -> float:
        """Return what rounding of centers may cost rows that sit on them."""
        return float(np.square(8 * np.finfo(self.dtype).eps * C).sum(axis=1).max())

    def total(self, values: NDArray[np.float64]) -> float:
        """Return the weighted sum of one value a row."""
        weighted = values if self.weights is None else self.weights * values
        return float(weighted.sum(dtype=np.float64))

    def rows(self, numbers: NDArray[np.int64]) -> NDArray[Any]:
        """Return some rows as a dense array."""
        rows = self.X[numbers]
        return np.ascontiguousarray(rows.toarray() if sparse.issparse(rows) else rows)

    def part(self, numbers: NDArray[np.int64]) -> Table:
        """Return a table of some rows, without their weights."""
        return Table(self.X[numbers], None)

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

    def weighted_sums(
        self, W: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return sums of the rows under (n, k) weights, and sums of these."""
        return self._native.weighted_sums(np.ascontiguousarray(W))

    def weighted_means(
        self, W: NDArray[np.float64], fallback: NDArray[Any]
    ) -> NDArray[Any]:
        """Return the means under (n, k) weights; no weight keeps the fallback."""
        sums, masses = self.weighted_sums(W)
        return means(sums, masses, fallback, negligible=1e-12 * masses.sum())

    def label_means(
        self, labels: NDArray[np.int32], kept: NDArray[np.bool_], fallback: NDArray[Any]
    ) -> NDArray[Any]:
        """Return the means of the kept rows of each label."""
        W = one_hot(labels, len(fallback)) & kept[:, None]
        return self.weighted_means(W.astype(np.float64), fallback)

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
        return Cut(*_native.find_cut(values, self.weights, mass, n_threads()))

    def concentrate(
        self,
        C: NDArray[Any],
        n_memberships: int,
        mass: float,
        last: Concentrated | None = None,
    ) -> Concentrated:
        """Assign rows to their nearest centers, keep the cheapest, and average those.

        With the last state only rows that may have changed are looked at; the answer
        does not depend on it.
        """
        if mass >= self.mass:
            window = np.inf, np.inf
        elif (
            last is None or last.expected_drift is None or np.isinf(last.cut.threshold)
        ):
            window = -np.inf, np.inf
        else:
            t, (down, up) = last.cut.threshold, last.expected_drift
            window = t * (1 - down), t * (1 + up)
        followed = (last.C, last.watch, last.moments) if last else None
        found, moments, cut, means, objective, n_changed = self._native.concentrate(
            C, n_memberships, mass, self.mass, window, followed, self.uses_bounds
        )
        watch = Watch(*found)
        return Concentrated(
            C=C,
            clusters=watch.clusters,
            kept=watch.kept.view(np.bool_),
            means=means,
            objective=objective,
            cut=Cut(*cut),
            watch=watch,
            moments=moments,
            n_changed=n_changed,
            expected_drift=expected_drift(cut[0], last),
        )

    def relax(
        self,
        C: NDArray[Any],
        n_memberships: int,
        mass: float,
        step: float,
        last: Relaxed | None = None,
    ) -> Relaxed:
        """Move memberships and inlier weights by proximal steps, and average by them.

        Each row's memberships w become the projection of w - v D / step, with D its
        squared distances, and then the inlier weights v that of v - cost / step; they
        sum to the mass. Without a last state all weights are equal.
        """
        window = (np.inf, np.inf) if mass >= self.mass else (-np.inf, np.inf)
        followed = None
        if last is not None:
            window = last.window
            followed = last.C, last.watch, last.moments, last.v, last.fractions
        watch, moments, v, fractions, means, objective, threshold, change = (
            self._native.relax(
                C,
                n_memberships,
                mass,
                self.mass,
                step,
                window,
                followed,
                self.uses_bounds,
            )
        )
        return Relaxed(
            C=C,
            watch=Watch(*watch),
            moments=moments,
            fractions=fractions,
            v=v,
            means=means,
            objective=objective,
            change=change,
            squared_scale=self.squared_scale,
            threshold=threshold,
            window=expected_window(threshold, last, step),
        )

    def swap_gains(
        self, rows: NDArray[Any], nearest: Nearest, n_clusters: int, cap: float
    ) -> NDArray[np.float64]:
        """Return, for each new row and each center it may replace, the change of cost.

        Costs are capped at the trimming threshold, which stays where it is.
        """
        gains = self._native.swap_gains(rows, *nearest, cap, n_clusters)
        return gains[:-1, :-1] + gains[:-1, -1:] + gains[-1, :-1]

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

    def count_distinct(self, enough: int) -> int:
        """Return the number of distinct rows, counted no further than enough."""
        return self._native.count_distinct(enough)


def one_hot(labels: NDArray[np.int32], n_clusters: int) -> NDArray[np.bool_]:
    """Return the (n, k) memberships that labels stand for."""
    return labels[:, None] == np.arange(n_clusters)


def smallest(values: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
    """Return a mask of so many smallest values; ties go to the first."""
    if count <= 0:
        return np.zeros(len(values), dtype=bool)
    threshold, last, _ = _native.find_cut(values, None, count, n_threads())
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


def expected_drift(
    threshold: float, last: Concentrated | None
) -> tuple[float, float] | None:
    """Return by how much, of itself, the threshold may fall and rise in the next step.

    Mostly it goes on as it did in the last one, but less. None if nobody knows.
    """
    if last is None or not last.cut.threshold > 0 or np.isinf(threshold):
        return None
    drift = threshold / last.cut.threshold - 1
    if not abs(drift) < 0.05:
        return None
    ahead, back = 1.5 * abs(drift) + 1e-3, 1.0 * abs(drift) + 1e-3
    return (ahead, back) if drift < 0 else (back, ahead)


def expected_window(
    threshold: float, last: Relaxed | None, step: float
) -> tuple[float, float]:
    """Return between which thresholds of the inlier weights the next one may be.

    Mostly it goes on as it did in the last step, but less.
    """
    if np.isinf(threshold):
        return threshold, threshold
    if last is None:  # where all weights were equal the threshold was another
        return -np.inf, np.inf
    scale = abs(threshold) + step
    drift = threshold - last.threshold
    if not abs(drift) < 0.05 * scale:
        return -np.inf, np.inf
    ahead, back = 2 * abs(drift) + 3e-3 * scale, abs(drift) + 3e-3 * scale
    down, up = (ahead, back) if drift < 0 else (back, ahead)
    return threshold - down, threshold + up
