"""How scores depend on the share of outliers that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.engine.cells import PROTOCOLS, Cell
from experiments.engine.measure import Record, fit_all, measure_outcome
from experiments.published import (
    Outcome,
    published_kmor,
    published_neo,
    published_rtkm,
)
from rtkm import KMOR, RTKM, NEOKMeans
from rtkm.seeding import random_rows


@dataclass(frozen=True)
class Sensitivity:
    """RTKM, KMOR and NEO-k-means on one table over a grid of shares of outliers.

    `load(protocol)` returns the rows and the true sets; `gammas` are the cut-off
    factors of KMOR, `overlap` is NEO's.
    """

    name: str
    load: Callable[[str], tuple[NDArray[Any], NDArray[np.bool_]]]
    n_clusters: int
    shares: tuple[float, ...]
    n_memberships: int = 1
    gammas: tuple[float, ...] = (1.0,)
    overlap: float = 0.0
    published_average: str = "macro"
    n_starts: int = 10
    n_quick_starts: int = 1

    def prepare(self) -> None:
        """Load what is needed, or say what is missing."""
        for protocol in PROTOCOLS:
            self.load(protocol)

    def cells(self, quick: bool) -> list[Cell]:
        """Return all cells, one for each protocol, share and start."""
        n_starts = self.n_quick_starts if quick else self.n_starts
        return [
            Cell(self.name, protocol, repr(share), start)
            for protocol in PROTOCOLS
            for share in self.shares
            for start in range(n_starts)
        ]

    def run(self, cell: Cell) -> dict[str, Record]:
        """Fit every method from the cell's start, and return what each scores."""
        X, T = self.load(cell.protocol)
        C = random_rows(X, self.n_clusters, random_state=cell.start)
        share = float(cell.setting)
        if cell.protocol == "as published":
            outcomes = self.outcomes_as_published(X, C, share)
            return {name: measure_outcome(o, T) for name, o in outcomes.items()}
        return fit_all(self.models(C, share, cell.start), X, T)

    def outcomes_as_published(
        self, X: NDArray[Any], C: NDArray[Any], share: float
    ) -> dict[str, Outcome]:
        """Run the methods as the program did: the others start where RTKM ends."""
        rtkm = published_rtkm(X, C, self.n_memberships, share)
        outcomes = {
            "RTKM": rtkm,
            "NEO": published_neo(X, rtkm.C, share, self.overlap),
        }
        return outcomes | {
            f"KMOR, gamma {gamma:g}": published_kmor(X, rtkm.C, share, gamma)
            for gamma in self.gammas
        }

    def models(self, C: NDArray[Any], share: float, start: int) -> dict[str, Any]:
        """Return the methods as their papers describe them."""
        k, s = self.n_clusters, self.n_memberships
        rtkm: dict[str, Any] = {"contamination": share, "n_memberships": s}
        found = {
            "RTKM": RTKM(k, **rtkm, random_state=start),
            "RTKM, step 1.1": RTKM(k, **rtkm, step=1.1, init=C, max_iter=1000),
            "RTKM, no swaps": RTKM(k, **rtkm, init=C, n_swaps=0),
            "NEO": NEOKMeans(k, overlap=self.overlap, contamination=share, init=C),
        }
        return found | {
            f"KMOR, gamma {gamma:g}": KMOR(
                k,
                max_outliers=share,
                cutoff_factor=gamma,
                outlier_step="published",
                init=C,
            )
            for gamma in self.gammas
        }
