"""What the units of a table do to the published step."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from experiments.engine.cells import Cell
from experiments.engine.measure import Record
from rtkm import RTKM
from rtkm.datasets import load_wbc
from rtkm.metrics import outlier_me
from rtkm.seeding import random_rows

NAME = "units"
SCALES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
SHARE = 0.34


def cells(quick: bool) -> list[Cell]:
    """Return a cell for each unit."""
    return [Cell(NAME, "as described", repr(scale), 0) for scale in SCALES]


def run(cell: Cell) -> dict[str, Record]:
    """Fit two clusters to breast cancer in other units, from the same start."""
    X, malignant = load_wbc(return_X_y=True)
    scale = float(cell.setting)
    C = random_rows(X, 2, random_state=cell.start)
    options: dict[str, Any] = {"contamination": SHARE, "init": scale * C}
    models = {
        "RTKM, step 1.1": RTKM(2, step=1.1, max_iter=1000, **options),
        "RTKM": RTKM(2, **options, random_state=0),
    }
    records = {}
    for name, model in models.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of descents that max_iter cuts off
            model.fit(scale * X)
        W = model.memberships_
        records[name] = {
            "objective": model.objective_ / scale**2,
            "me": outlier_me(malignant == 1, model.outlier_mask_),
            "n_outliers": float(model.n_outliers_),
            "fractional": float(np.mean(((W > 0) & (W < 1)).any(axis=1))),
            "n_iter": float(model.n_iter_),
        }
    return records
