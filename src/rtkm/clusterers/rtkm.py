"""Robust Trimmed k-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm._base import Init, PrototypeClusterer
from rtkm._descent import Relaxed, Vertex
from rtkm._params import Auto, Count, OutlierRows, Positive, Tally, Tolerance, whole_rows
from rtkm._table import Table


@dataclass(eq=False, repr=False, kw_only=True)
class RTKM(PrototypeClusterer):
    """DOC"""

    contamination: OutlierRows = 0.1
    n_memberships: Count = 1
    step: Auto | Positive = "auto"
    n_swaps: Auto | Tally = "auto"
    init: Init = "robust-k-means++"
    tol: Tolerance = 1e-6

    def _start(self, X: Table, C: NDArray[Any]) -> Vertex | Relaxed:
        s, h = self.n_memberships, X.mass - self._n_trimmed(X)
        if self.step == "auto":
            return X.concentrate(C, s, h)
        W = np.full((X.n_rows, len(C)), s / len(C))
        v = np.full(X.n_rows, h / X.mass)
        return self._relax(X, C, W, v, n_iter=1)

    def _step(self, X: Table, state: Any) -> Vertex | Relaxed:
        if self.step == "auto":
            h = X.mass - self._n_trimmed(X)
            return X.concentrate(state.means, self.n_memberships, h, last=state)
        C = X.weighted_means(state.v[:, None] * state.W, fallback=state.C)
        return self._relax(X, C, state.W, state.v)

    def _relax(self, X: Table, C: Any, W: Any, v: Any, n_iter: int = 0) -> Relaxed:
        D = X.squared_distances(C)
        W = X.project_rows(W - v[:, None] * D / self.step, self.n_memberships)
        cost = (W * D).sum(axis=1)
        v = X.project(v - cost / self.step, X.mass - self._n_trimmed(X))
        return Relaxed(C=C, W=W, v=v, objective=X.total(v * cost), n_iter=n_iter)

    def _n_trimmed(self, X: Table) -> int:
        return whole_rows(self.contamination, X.mass)

    def _n_nearest(self) -> int:
        return self.n_memberships

    def _n_swaps(self) -> int | str:
        return self.n_swaps if self.step == "auto" else 0

    def _tolerance(self) -> float:
        return 0.0 if self.step == "auto" else self.tol
