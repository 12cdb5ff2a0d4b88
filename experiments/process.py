"""The clustering process of relaxed k-means: weights that become crisp."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.engine.cells import Cell
from rtkm import RelaxedKMeans
from rtkm.datasets import make_clouds

NAME = "process"
SHOWN = (0, 3, 5)  # iterations in the published figure, and the last


def cells(quick: bool) -> list[Cell]:
    """Return the one cell."""
    return [Cell(NAME, "as described", "two clouds", 0)]


def run(cell: Cell) -> dict[str, Any]:
    """Return centers and weights at the iterations shown, and the objective at all."""
    # two clouds that touch, in units that let the weights take their time
    X, _ = make_clouds(100, [[0.0, 0.0], [1.2, 0.6]], outliers=[], spread=0.36)
    C = X[[10, 40]]
    states = [(0, C, np.full(len(X), 0.5))]  # before the first iteration
    model = RelaxedKMeans(
        2,
        step=1.1,
        init=C,
        max_iter=1000,
        on_step=lambda state: states.append((state.n_iter, state.C, state.W[:, 0])),
    ).fit(X)
    shown = [states[i] for i in SHOWN] + [states[-1]]
    return {
        "X": X.round(6).tolist(),
        "iterations": [n_iter for n_iter, _, _ in shown],
        "centers": [C.round(6).tolist() for _, C, _ in shown],
        "weights": [w.round(6).tolist() for _, _, w in shown],
        "n_fractional": [int(((w > 0) & (w < 1)).sum()) for _, _, w in shown],
        "objective_path": model.objective_path_.tolist(),
        "converged": model.converged_,
    }
