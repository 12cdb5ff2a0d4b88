from typing import Any

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Cut = tuple[float, int, float]
_Nearest = tuple[NDArray[np.int32], _Floats, _Floats, _Floats]
_Bounds = NDArray[np.float32]
_Exact = tuple[float, float]

class _Pass:
    """What a step leaves to the next one, which takes it as its last.

    Hamerly's bounds, in the unit of the table: the root of a row's cost is at most
    `cost_upper`, the farthest of its own `clusters` at most `own_upper` away, any other
    at least `other_lower`. `status` is 1 for rows that count whole in the `moments`,
    the sums of the clusters; of rows that a proximal step trimmed it is 2, and the root
    of the cost is at least `cost_upper`.

    Every array lives for as long as somebody holds it, whatever becomes of the pass.
    """

    @property
    def clusters(self) -> NDArray[np.int32]: ...
    @property
    def cost_upper(self) -> _Bounds: ...
    @property
    def own_upper(self) -> _Bounds: ...
    @property
    def other_lower(self) -> _Bounds: ...
    @property
    def status(self) -> NDArray[np.uint8]: ...
    @property
    def moments(self) -> _Floats: ...
    @property
    def means(self) -> NDArray[Any]: ...
    @property
    def objective(self) -> float: ...

class TrimmedPass(_Pass):
    @property
    def kept(self) -> NDArray[np.bool_]: ...
    @property
    def cut(self) -> _Cut: ...
    @property
    def n_changed(self) -> int: ...
    @property
    def digest(self) -> int: ...

class OpenPass:
    """A step of which the cut is not known yet."""

    @property
    def sure_mass(self) -> _Exact: ...
    @property
    def n_undecided(self) -> int: ...
    def undecided(
        self,
    ) -> tuple[NDArray[np.uint32], _Floats, NDArray[np.int32]]:
        """Return the rows that depend on the cut, their costs and their clusters."""

    def decided(self) -> tuple[_Floats, int]:
        """Return the moments of the other rows, and their digest."""

    def settle(self, threshold: float, row: int, share: float) -> TrimmedPass:
        """Return what the cut leaves, once."""

class ProximalPass(_Pass):
    @property
    def v(self) -> _Floats: ...
    @property
    def threshold(self) -> float: ...
    @property
    def change(self) -> float: ...
    def shares(self) -> _Floats:
        """Return the memberships of rows that share themselves, in order."""

class Table:
    def __init__(
        self,
        *arrays: Any,
        weights: _Floats | None,
        frame: tuple[_Floats, float] | None,
        n_threads: int,
    ) -> None: ...
    def unit(self) -> float: ...
    def origin(self) -> _Floats: ...
    def bounded_pass(
        self,
        C: NDArray[Any],
        n_memberships: int,
        sure: float,
        ceiling: float,
        last: TrimmedPass | None,
        uses_bounds: bool,
    ) -> OpenPass: ...
    def kept_moments(self, pass_: TrimmedPass) -> _Floats: ...
    def kept_cost(self, pass_: TrimmedPass) -> _Exact: ...
    def moments(
        self, labels: NDArray[np.int32], shares: _Floats, n_clusters: int
    ) -> _Floats: ...
    def release(self) -> None: ...
    def nearest(self, C: NDArray[Any], n_memberships: int) -> _Nearest: ...
    def concentrate(
        self,
        C: NDArray[Any],
        n_memberships: int,
        kept_mass: float,
        total_mass: float,
        last: TrimmedPass | None,
        uses_bounds: bool,
    ) -> TrimmedPass: ...
    def proximal_step(
        self,
        C: NDArray[Any],
        n_memberships: int,
        kept_mass: float,
        total_mass: float,
        step: float,
        last: ProximalPass | None,
        uses_bounds: bool,
    ) -> ProximalPass: ...
    def squared_distances(self, C: NDArray[Any]) -> NDArray[Any]: ...
    def squared_residuals(self, B: _Floats, C: NDArray[Any]) -> _Floats: ...
    def lower(self, C: NDArray[Any], cost: _Floats) -> None: ...
    def swap_changes(
        self,
        candidates: NDArray[Any],
        labels: NDArray[np.int32],
        squared: _Floats,
        cost: _Floats,
        spare: _Floats,
        cap: float,
        n_clusters: int,
    ) -> _Floats: ...
    def moved_rows(self, C: NDArray[Any], cap: float) -> _Floats: ...
    def half_sums(
        self, halves: NDArray[Any], labels: NDArray[np.int32], cap: float
    ) -> _Floats: ...
    def count_along_lines(
        self, C: NDArray[Any], cap: float, per_half: int, n_bins: int
    ) -> _Floats: ...
    def weighted_sums(self, weights: _Floats) -> _Floats: ...
    def mean_pair_distances(self, neighbors: NDArray[np.int64]) -> _Floats: ...
    def leaders(
        self, radius: float
    ) -> tuple[NDArray[np.int32], NDArray[Any], _Floats]: ...
    def further_means(
        self, pass_: TrimmedPass, rows: NDArray[np.int64], clusters: NDArray[np.int32]
    ) -> NDArray[Any]: ...
    def column_ends(self) -> NDArray[np.float64]: ...
    def lexicographic_order(self) -> NDArray[np.uint32]: ...
    def distinct_rows(self, enough: int) -> NDArray[np.int64]: ...
    def buckets(self, pivots: Table) -> NDArray[np.uint32]: ...
    def draw(
        self,
        order: NDArray[np.uint32],
        cost: _Floats | None,
        cap: float,
        u: _Floats,
    ) -> NDArray[np.int64]: ...

def find_cut(
    values: _Floats,
    weights: _Floats | None,
    mass: float,
    mass_below: float = 0.0,
    lost_below: float = 0.0,
    *,
    n_threads: int,
) -> _Cut: ...
def add_exactly(parts: list[_Floats]) -> _Floats:
    """Return the sum of sums of partitions and what they lost, (2, n) each."""

def running_sums(values: _Floats, start: float = 0.0, lost: float = 0.0) -> _Floats:
    """Return what is reached after each value, rounded once, and what that took."""

def running_pairs(pairs: _Floats) -> _Floats:
    """Return the same of sums that have lost something, (2, n)."""

def losses(sums: _Floats, C: NDArray[Any], origin: _Floats) -> _Floats: ...
def half_means(
    sums: _Floats, halves: NDArray[Any], origin: _Floats
) -> tuple[NDArray[Any], _Floats, _Floats]: ...
def combine_moments(
    parts: list[_Floats], C: NDArray[Any], origin: _Floats
) -> tuple[NDArray[Any], float, bool]:
    """Return means and objective of what is kept, and if that has its digits."""

def digest_of_rows(
    rows: NDArray[np.uint32], labels: NDArray[np.int32], kept: NDArray[np.bool_]
) -> int: ...
def expected_window(threshold: float, last: float) -> tuple[float, float]: ...
def exact_sum(
    values: _Floats, weights: _Floats | None, n_threads: int
) -> tuple[float, float]:
    """Return the weighted sum, rounded once, and what that takes away."""

def label_sums(
    values: _Floats, labels: NDArray[np.int32], n_clusters: int, n_threads: int
) -> _Floats:
    """Return the sum for each of (n, s) labels that are not below 0, and its loss."""

def project(
    y: _Floats, weights: _Floats | None, total: float, n_threads: int
) -> _Floats: ...
def project_rows(Y: _Floats, total: float, n_threads: int) -> _Floats: ...
def grow_sets(
    L: _Floats,
    P: _Floats,
    linear: _Floats,
    pair: _Floats,
    fixed: _Floats,
    n_threads: int,
) -> NDArray[np.uint8]: ...
def best_sets(
    L: _Floats,
    P: _Floats,
    linear: _Floats,
    pair: _Floats,
    fixed: _Floats,
    max_size: int,
    n_threads: int,
) -> NDArray[np.uint8]: ...
def greedy_sets(
    L: _Floats,
    P: _Floats,
    linear: _Floats,
    pair: _Floats,
    fixed: _Floats,
    max_size: int,
    n_threads: int,
) -> NDArray[np.uint8]: ...
def instruction_set() -> str: ...
