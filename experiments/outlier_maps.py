"""Where the outliers of yeast and noise are, and where each method sees them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from experiments.engine.cells import Cell
from experiments.yeast_noise import EXPERIMENT as YEAST_NOISE
from rtkm.seeding import random_rows

NAME = "outlier_maps"
SHARE = 0.1
# the first ones from which RTKM finds all outliers and the others none, as in the paper
STARTS = {"as described": 2, "as published": 4}
prepare = YEAST_NOISE.prepare


def cells(quick: bool) -> list[Cell]:
    """Return a cell for each protocol."""
    return [Cell(NAME, p, repr(SHARE), start) for p, start in STARTS.items()]


def run(cell: Cell) -> dict[str, Any]:
    """Return the rows in a plane, and the numbers of the outliers by method."""
    X, T = YEAST_NOISE.load(cell.protocol)
    C = random_rows(X, YEAST_NOISE.n_clusters, random_state=cell.start)
    outliers = {"truth": ~T.any(axis=1)}
    if cell.protocol == "as published":
        outcomes = YEAST_NOISE.outcomes_as_published(X, C, SHARE)
        outliers |= {name: outcome.outlier_mask for name, outcome in outcomes.items()}
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of descents that max_iter cuts off
            for name, model in YEAST_NOISE.models(C, SHARE, cell.start).items():
                outliers[name] = model.fit(X).outlier_mask_
    plane = PCA(2, svd_solver="full").fit_transform(X)
    return {
        "plane": plane.round(4).tolist(),
        "outliers": {n: np.flatnonzero(m).tolist() for n, m in outliers.items()},
    }
