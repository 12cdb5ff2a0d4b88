"""Relaxed k-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm._base import PrototypeClusterer
from rtkm._descent import Relaxed, Vertex
from rtkm._params import Auto, Count, Positive, Tolerance
from rtkm._table import Table


@dataclass(eq=False, repr=False, kw_only=True)
class RelaxedKMeans(PrototypeClusterer):
    """DOC"""

    n_memberships: Count = 1
    step: Auto | Positive = "auto"
    tol: Tolerance = 1e-6

    def _start(self, X: Table, C: NDArray[Any]) -> Vertex | Relaxed:
        if self.step == "auto":
            return X.concentrate(C, self.n_memberships, X.mass)
        W = np.full((X.n_rows, len(C)), self.n_memberships / len(C))
        return self._relax(X, C, W, n_iter=1)

    def _step(self, X: Table, state: Any) -> Vertex | Relaxed:
        if self.step == "auto":
            return X.concentrate(state.means, self.n_memberships, X.mass)
        C = X.weighted_means(state.W, fallback=state.C)
        return self._relax(X, C, state.W)

    def _relax(self, X: Table, C: Any, W: Any, n_iter: int = 0) -> Relaxed:
        D = X.squared_distances(C)
        W = X.project_rows(W - D / self.step, self.n_memberships)
        objective = X.total((W * D).sum(axis=1))
        return Relaxed(C=C, W=W, v=np.ones(X.n_rows), objective=objective, n_iter=n_iter)

    def _n_nearest(self) -> int:
        return self.n_memberships

    def _tolerance(self) -> float:
        return 0.0 if self.step == "auto" else self.tol
