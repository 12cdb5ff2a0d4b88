"""The table of overlapping methods on yeast and scene, all nine of them computed."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.engine.cells import PROTOCOLS, Cell
from experiments.engine.measure import Record, fit_all, measure_outcome
from experiments.published import published_kmor, published_neo, published_rtkm
from rtkm import ESP, ISP, KMOR, MOC, OKM, ROKM, RTKM, FuzzyCMeans, NEOKMeans
from rtkm.datasets import fetch_saved_starts, fetch_scene, fetch_yeast
from rtkm.metrics import cardinality, trivial_f1
from rtkm.seeding import random_rows

NAME = "overlap"
N_CLUSTERS = {"yeast": 14, "scene": 6}
N_MEMBERSHIPS = {"yeast": 4, "scene": 1}  # the cardinality, rounded down
PUBLISHED_OVERLAP = {"yeast": 3.0, "scene": 1.0}  # NEO's; the paper does not say
FETCH: dict[str, Any] = {"yeast": fetch_yeast, "scene": fetch_scene}


@cache
def load(table: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the rows and the true sets."""
    X, labels = FETCH[table](return_X_y=True)
    return X, labels.astype(bool)


def prepare() -> None:
    """Load what is needed, or say what is missing."""
    for table in N_CLUSTERS:
        load(table)
    authors_starts()


def trivial() -> dict[str, Record]:
    """Return what the answer "every row in every cluster" scores on each table."""
    return {
        table: {
            "f1": trivial_f1(load(table)[1]),
            "cardinality": float(N_CLUSTERS[table]),
            "true_cardinality": cardinality(load(table)[1]),
        }
        for table in N_CLUSTERS
    }


def authors_starts() -> bool:
    """Whether the centers that the authors started from are at hand."""
    try:
        return all(fetch_saved_starts(table) is not None for table in N_CLUSTERS)
    except FileNotFoundError:
        return False


def start_of(cell: Cell) -> NDArray[np.float64]:
    """Return the centers that a cell starts from: the authors', or our own draw."""
    if authors_starts():
        return np.ascontiguousarray(fetch_saved_starts(cell.setting)[:, :, cell.start])
    X, _ = load(cell.setting)
    return random_rows(X, N_CLUSTERS[cell.setting], random_state=cell.start)


def models(table: str, C: NDArray[Any], start: int) -> dict[str, Any]:
    """Return the nine methods, all from the same centers."""
    _, T = load(table)
    k, s = N_CLUSTERS[table], N_MEMBERSHIPS[table]
    rtkm: dict[str, Any] = {"contamination": 0.0, "n_memberships": s}
    at: dict[str, Any] = {"init": C}
    published: dict[str, Any] = {"step": 1.1, "max_iter": 1000, "contamination": 0.0}
    return {
        "RTKM": RTKM(k, **rtkm, random_state=start),
        "RTKM, step 1.1": RTKM(k, n_memberships=s, **published, **at),
        "RTKM, s + 1": RTKM(k, n_memberships=s + 1, **published, **at),
        "RTKM, no swaps": RTKM(k, **rtkm, n_swaps=0, **at),
        "KMOR": KMOR(
            k, max_outliers=0, cutoff_factor=9.0, outlier_step="published", **at
        ),
        # told the cardinality, as RTKM is
        "NEO": NEOKMeans(k, overlap=cardinality(T) - 1, contamination=0, **at),
        "moc": MOC(k, **at),
        "fuzzy": FuzzyCMeans(k, **at),
        "esp": ESP(k, n_memberships=max(s, 2), **at),
        "isp": ISP(k, **at),
        "okm": OKM(k, **at),
        "rokm": ROKM(k, **at),
    }


def cells(quick: bool) -> list[Cell]:
    """Return a cell for each protocol, table and start."""
    return [
        Cell(NAME, protocol, table, start)
        for protocol in PROTOCOLS
        for table in N_CLUSTERS
        for start in range(1 if quick else 5)
    ]


def run(cell: Cell) -> dict[str, Record]:
    """Fit all methods from one start."""
    X, T = load(cell.setting)
    C = start_of(cell)
    if cell.protocol == "as published":
        return run_as_published(cell.setting, X, T, C)
    return fit_all(models(cell.setting, C, cell.start), X, T)


def run_as_published(
    table: str, X: NDArray[Any], T: NDArray[np.bool_], C: NDArray[Any]
) -> dict[str, Record]:
    """Run the three methods that the authors ran, as their program did."""
    rtkm = published_rtkm(X, C, N_MEMBERSHIPS[table], 0.0)
    outcomes = {
        "RTKM": rtkm,
        "KMOR": published_kmor(X, rtkm.C, 0.0, 9.0),
        "NEO": published_neo(X, rtkm.C, 0.0, PUBLISHED_OVERLAP[table]),
        "NEO, raw start": published_neo(X, C, 0.0, PUBLISHED_OVERLAP[table]),
    }
    return {name: measure_outcome(outcome, T) for name, outcome in outcomes.items()}
