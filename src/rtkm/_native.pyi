from typing import Any

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Cut = tuple[float, int, float]
_Nearest = tuple[NDArray[np.int32], _Floats, _Floats, _Floats]
_Bounds = NDArray[np.float32]
_Watch = tuple[NDArray[np.int32], _Bounds, _Bounds, _Bounds, NDArray[np.uint8]]

class Fractions:
    def weights(self) -> _Floats: ...

class Table:
    def __init__(
        self, *arrays: Any, weights: _Floats | None, n_threads: int
    ) -> None: ...
    def unit(self) -> float: ...
    def release(self) -> None: ...
    def nearest(self, C: NDArray[Any], n_memberships: int) -> _Nearest: ...
    def concentrate(
        self,
        C: NDArray[Any],
        n_memberships: int,
        kept_mass: float,
        total_mass: float,
        window: tuple[float, float],
        last: tuple[Any, ...] | None,
        uses_bounds: bool,
    ) -> tuple[_Watch, _Floats, _Cut, NDArray[Any], float, int]: ...
    def relax(
        self,
        C: NDArray[Any],
        n_memberships: int,
        mass: float,
        total_mass: float,
        step: float,
        window: tuple[float, float],
        last: tuple[Any, ...] | None,
        uses_bounds: bool,
    ) -> tuple[
        _Watch, _Floats, _Floats, Fractions, NDArray[Any], float, float, float
    ]: ...
    def squared_distances(self, C: NDArray[Any]) -> NDArray[Any]: ...
    def squared_residuals(self, B: _Floats, C: NDArray[Any]) -> _Floats: ...
    def lower(self, C: NDArray[Any], cost: _Floats) -> None: ...
    def swap_gains(
        self,
        candidates: NDArray[Any],
        labels: NDArray[np.int32],
        squared: _Floats,
        cost: _Floats,
        spare: _Floats,
        cap: float,
        n_clusters: int,
    ) -> _Floats: ...
    def weighted_sums(self, weights: _Floats) -> tuple[_Floats, _Floats]: ...
    def mean_pair_distances(self, neighbors: NDArray[np.int64]) -> _Floats: ...
    def leaders(
        self, radius: float
    ) -> tuple[NDArray[np.int32], NDArray[Any], _Floats]: ...
    def lexicographic_order(self) -> NDArray[np.uint32]: ...
    def count_distinct(self, enough: int) -> int: ...
    def draw(
        self,
        order: NDArray[np.uint32],
        cost: _Floats | None,
        cap: float,
        u: _Floats,
    ) -> NDArray[np.int64]: ...

def find_cut(
    values: _Floats, weights: _Floats | None, mass: float, n_threads: int
) -> _Cut: ...
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
