"""All experiments, from cells to results.json."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn

import rtkm
from rtkm.reproduce import clouds, outlier_maps, overlap, process, shuttle, units, wbc
from rtkm.reproduce import yeast_noise as noise
from rtkm.reproduce._cells import FORMAT, Cell, Ledger, write_atomically
from rtkm.reproduce._run import run_cells

EXPERIMENTS: dict[str, Any] = {
    "clouds": clouds,
    "process": process,
    "wbc": wbc.EXPERIMENT,
    "shuttle": shuttle.EXPERIMENT,
    "overlap": overlap,
    "yeast_noise": noise.EXPERIMENT,
    "outlier_maps": outlier_maps,
    "units": units,
}


def compute(
    folder: Path,
    *,
    only: Iterable[str] = (),
    quick: bool = False,
    n_jobs: int | None = None,
    progress: bool = True,
) -> dict[str, Any]:
    """Run the experiments that are not finished, and write all there is."""
    chosen = list(only) or list(EXPERIMENTS)
    subject = {
        "rtkm": rtkm.__version__,
        "quick": quick,
        "noise": "the authors'" if noise.authors_noise() else "drawn anew",
    }
    ledger = Ledger(folder / "cells.jsonl", subject)
    cells = [cell for name in chosen for cell in EXPERIMENTS[name].cells(quick)]
    run_cells(cells, run_cell, ledger, n_jobs=n_jobs, progress=progress)
    results = {"format": FORMAT} | subject | {"versions": versions()}
    results["cells"] = {c.key: ledger.finished[c.key] for c in cells}
    write_atomically(folder / "results.json", json.dumps(results, indent=1) + "\n")
    return results


def run_cell(cell: Cell) -> Any:
    """Run one cell, in whatever process."""
    return EXPERIMENTS[cell.experiment].run(cell)


def versions() -> dict[str, str]:
    """Return what the numbers were computed with."""
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
