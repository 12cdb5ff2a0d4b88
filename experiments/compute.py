"""All experiments, from cells to results.json."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from experiments import (
    clouds,
    outlier_maps,
    overlap,
    process,
    shuttle,
    units,
    wbc,
    yeast_noise as noise,
)
from experiments.claims.claims import judge
from experiments.claims.findings import find
from experiments.engine.cells import (
    FORMAT,
    WAY_OUT,
    Cell,
    Experiment,
    Ledger,
    check_kind,
)
from experiments.engine.run import run_cells
from rtkm._files import replacing
from rtkm._version import versions

EXPERIMENTS: dict[str, Experiment] = {
    "clouds": clouds,
    "process": process,
    "wbc": wbc.EXPERIMENT,
    "shuttle": shuttle.EXPERIMENT,
    "overlap": overlap,
    "yeast_noise": noise.EXPERIMENT,
    "outlier_maps": outlier_maps,
    "units": units,
}

# what a run leaves behind, besides its ledger and the folder of its pictures
WRITTEN = ("results.json", "index.html")

# Whose noise and whose starting centers a run has depends on the files at hand. Only
# the experiments named here use them, so only those ask: `--only clouds` does not stop
# at a damaged file that it has no use for. What a folder holds is thus known bit by
# bit, and a later run into it is refused if it contradicts what is known by then.
ORIGINS: dict[str, tuple[set[str], Callable[[], object]]] = {
    "noise": ({"yeast_noise", "outlier_maps"}, noise.authors_noise),
    "starts": ({"overlap"}, overlap.authors_starts),
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
    chosen = list(dict.fromkeys(only)) or list(EXPERIMENTS)
    # before the other processes do: one download, and what is missing is told at once
    for name in chosen:
        experiment = EXPERIMENTS[name]
        if hasattr(experiment, "prepare"):
            experiment.prepare()
    subject = {"quick": quick, "versions": versions()}
    ledger = open_ledger(folder, subject, origins(chosen))
    cells = {name: EXPERIMENTS[name].cells(quick) for name in EXPERIMENTS}
    todo = [cell for name in chosen for cell in cells[name]]
    run_cells(todo, run_cell, ledger, n_jobs=n_jobs, progress=progress)
    finished = {
        cell.key: ledger.finished[cell.key]
        for of_name in cells.values()
        if all(cell.key in ledger.finished for cell in of_name)
        for cell in of_name
    }
    known = {name: ledger.header[name] for name in ORIGINS if name in ledger.header}
    results = {"format": FORMAT} | subject | known | conclude(finished, ledger)
    with replacing(folder / "results.json") as file:
        file.write(as_text(results).encode())
    return results


def origins(chosen: Iterable[str]) -> dict[str, str]:
    """Return whose noise and whose starting centers the chosen experiments have."""
    return {
        name: "the authors'" if at_hand() else "drawn anew"
        for name, (users, at_hand) in ORIGINS.items()
        if users.intersection(chosen)
    }


def open_ledger(
    folder: Path, subject: dict[str, Any], origins: dict[str, str]
) -> Ledger:
    """Open the ledger of a folder that holds no results but those of such runs."""
    path = folder / "cells.jsonl"
    results = folder / "results.json"
    foreign = [name for name in WRITTEN if (folder / name).exists()]
    if foreign and not path.exists():
        raise ValueError(
            f"{folder} holds {' and '.join(foreign)} but no {path.name}, so this run "
            f"would replace what it cannot add to; {WAY_OUT}"
        )
    if results.exists():
        try:
            found = json.loads(results.read_bytes())
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise ValueError(
                f"{results} is damaged or is not of rtkm; choose another folder or "
                "remove it."
            )
        check_kind(results, found, subject, origins)
    return Ledger(path, subject, origins)


def as_text(results: dict[str, Any]) -> str:
    """Return JSON with a line for each cell: short, and good to compare."""
    head = json.dumps({n: v for n, v in results.items() if n != "cells"}, indent=1)
    cells = ",\n".join(
        f"  {json.dumps(key)}: {json.dumps(cell)}"
        for key, cell in results["cells"].items()
    )
    return head.removesuffix("\n}") + f',\n "cells": {{\n{cells}\n }}\n}}\n'


def conclude(cells: dict[str, Any], ledger: Ledger) -> dict[str, Any]:
    """Return the cells of whole experiments, with what follows from them."""
    there = {key.split("/")[0] for key in cells}
    # kept like a cell: a later run of another part does not need the tables for it
    if "overlap" in there and "trivial" not in ledger.finished:
        ledger.add("trivial", overlap.trivial())
    trivial = ledger.finished["trivial"] if "overlap" in there else {}
    return {
        "trivial": trivial,
        "claims": [verdict._asdict() for verdict in judge(cells)],
        "findings": [finding._asdict() for finding in find(cells, trivial)],
        "cell_names": "experiment/protocol/setting/start, which is also the seed",
        "cells": cells,
    }


def run_cell(cell: Cell) -> Any:
    """Run one cell, in whatever process."""
    return EXPERIMENTS[cell.experiment].run(cell)
