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
from rtkm.reproduce._claims import judge
from rtkm.reproduce._findings import find
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
    """Run the experiments that are not finished, and write all that are."""
    chosen = list(only) or list(EXPERIMENTS)
    # before the other processes do: one download, and what is missing is told at once
    for name in chosen:
        if hasattr(EXPERIMENTS[name], "prepare"):
            EXPERIMENTS[name].prepare()
    subject = {"rtkm": rtkm.__version__, "quick": quick} | origins()
    ledger = Ledger(folder / "cells.jsonl", subject)
    cells = {name: EXPERIMENTS[name].cells(quick) for name in EXPERIMENTS}
    todo = [cell for name in chosen for cell in cells[name]]
    run_cells(todo, run_cell, ledger, n_jobs=n_jobs, progress=progress)
    finished = {
        cell.key: ledger.finished[cell.key]
        for of_name in cells.values()
        if all(cell.key in ledger.finished for cell in of_name)
        for cell in of_name
    }
    results = {"format": FORMAT} | subject | conclude(finished)
    write_atomically(folder / "results.json", as_text(results))
    return results


def as_text(results: dict[str, Any]) -> str:
    """Return JSON with a line for each cell: short, and good to compare."""
    head = json.dumps({n: v for n, v in results.items() if n != "cells"}, indent=1)
    cells = ",\n".join(
        f"  {json.dumps(key)}: {json.dumps(cell)}"
        for key, cell in results["cells"].items()
    )
    return head.removesuffix("\n}") + f',\n "cells": {{\n{cells}\n }}\n}}\n'


def conclude(cells: dict[str, Any]) -> dict[str, Any]:
    """Return the cells of whole experiments, with what follows from them."""
    there = {key.split("/")[0] for key in cells}
    trivial = overlap.trivial() if "overlap" in there else {}
    return {
        "versions": versions(),
        "trivial": trivial,
        "claims": [verdict._asdict() for verdict in judge(cells)],
        "findings": [finding._asdict() for finding in find(cells, trivial)],
        "cell_names": "experiment/protocol/setting/start, which is also the seed",
        "cells": cells,
    }


def origins() -> dict[str, str]:
    """Return whose noise and whose starting centers these are."""
    ours = {True: "the authors'", False: "drawn anew"}
    return {
        "noise": ours[noise.authors_noise() is not None],
        "starts": ours[overlap.authors_starts()],
    }


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
