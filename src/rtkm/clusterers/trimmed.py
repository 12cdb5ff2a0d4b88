"""Trimmed k-means and k-means--: one step, two ways to say how much to trim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from rtkm._base import Init, PrototypeClusterer
from rtkm._descent import Vertex
from rtkm._params import Auto, OutlierRows, Tally, whole_rows
from rtkm._table import Table


@dataclass(eq=False, repr=False, kw_only=True)
class _HardTrimming(PrototypeClusterer):
    """The concentration step: nearest centers, cheapest rows, means."""

    init: Init = "robust-k-means++"

    def _start(self, X: Table, C: NDArray[Any]) -> Vertex:
        return X.concentrate(C, 1, X.mass - self._n_trimmed(X))

    def _step(self, X: Table, state: Vertex) -> Vertex:
        return X.concentrate(state.means, 1, X.mass - self._n_trimmed(X), last=state)


@dataclass(eq=False, repr=False, kw_only=True)
class TrimmedKMeans(_HardTrimming):
    """DOC"""

    contamination: OutlierRows = 0.1
    n_swaps: Auto | Tally = "auto"

    def _n_trimmed(self, X: Table) -> int:
        return whole_rows(self.contamination, X.mass)

    def _n_swaps(self) -> int | str:
        return self.n_swaps


@dataclass(eq=False, repr=False, kw_only=True)
class KMeansMinusMinus(_HardTrimming):
    """DOC"""

    n_outliers: OutlierRows = 0.1

    def _n_trimmed(self, X: Table) -> int:
        return whole_rows(self.n_outliers, X.mass)
