"""Why k-means needs help: two outliers among three clouds."""

from __future__ import annotations

from typing import Any

from sklearn.cluster import KMeans

from experiments.engine.cells import Cell
from rtkm import RTKM
from rtkm.datasets import make_clouds

NAME = "clouds"


def cells(quick: bool) -> list[Cell]:
    """Return the one cell."""
    return [Cell(NAME, "as described", "three clouds", 0)]


def run(cell: Cell) -> dict[str, Any]:
    """Return the rows, and the labels and centers that each method gives them."""
    X, truth = make_clouds()
    k = int(truth.max()) + 1
    models = {
        "k-means": KMeans(k, n_init=10, random_state=0),
        "RTKM": RTKM(k, contamination=int((truth == -1).sum()), random_state=0),
    }
    found = {name: model.fit(X) for name, model in models.items()}
    return {
        "X": X.round(6).tolist(),
        "truth": truth.tolist(),
        "labels": {name: model.labels_.tolist() for name, model in found.items()},
        "centers": {
            name: model.cluster_centers_.round(6).tolist()
            for name, model in found.items()
        },
    }
