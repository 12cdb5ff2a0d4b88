"""Time of one plain pass, as a share of scikit-learn's lloyd.

No bounds, contamination 0.1 with its threshold, no swaps: ``max_iter=10`` minus
``max_iter=1``, from the same centers, interleaved, medians of the differences. Run it
on an idle machine; ``make bench`` sets one thread.
"""

from __future__ import annotations

import json
import platform
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import sklearn
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from rtkm import RTKM, TrimmedKMeans, __version__, _native
from rtkm._table import n_threads

SHAPES = [
    (43_500, 9, 3),
    (2_417, 103, 14),
    (100_000, 16, 8),
    (1_000_000, 8, 10),
    (200_000, 64, 50),
]
N_ROUNDS = 9


def overlapping_rows(n: int, d: int, k: int, seed: int) -> np.ndarray:
    """Make blobs close enough that ten iterations do not settle them."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(k, d))[rng.integers(k, size=n)] + rng.normal(size=(n, d))


def methods(C: np.ndarray, max_iter: int) -> dict[str, object]:
    k = len(C)
    shared = {"init": C, "max_iter": max_iter}
    return {
        "lloyd": KMeans(k, n_init=1, tol=0, algorithm="lloyd", **shared),
        "TrimmedKMeans": TrimmedKMeans(k, contamination=0.1, n_swaps=0, **shared),
        "RTKM": RTKM(k, contamination=0.1, n_swaps=0, **shared),
    }


def time_fit(model: object, X: np.ndarray) -> float:
    start = time.perf_counter()
    model.fit(X)
    return time.perf_counter() - start


def time_passes(X: np.ndarray, C: np.ndarray) -> dict[str, float]:
    """Return the median seconds of one iteration of each method."""
    rounds = []
    for _ in range(N_ROUNDS):
        few, many = methods(C, 1), methods(C, 10)
        seconds = {}
        for name in many:
            seconds[name] = time_fit(many[name], X) - time_fit(few[name], X)
            seconds[name] /= many[name].n_iter_ - few[name].n_iter_
        rounds.append(seconds)
    return {name: float(np.median([r[name] for r in rounds])) for name in rounds[0]}


def main(out: str = "benchmarks/results") -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    records = []
    for n, d, k in SHAPES:
        X = overlapping_rows(n, d, k, seed=int(time.time()))
        seconds = time_passes(X, X[:k].copy())
        records.append({"rows": n, "features": d, "clusters": k, "seconds": seconds})
        print(table_row(records[-1]), flush=True)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    setting = {
        "rtkm": __version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "instructions": _native.instruction_set(),
        "threads": n_threads(),
    }
    result = {"setting": setting, "passes": records}
    (folder / "passes.json").write_text(json.dumps(result, indent=1) + "\n")
    (folder / "passes.md").write_text(markdown(records, setting))


def table_row(record: dict) -> str:
    seconds = record["seconds"]
    lloyd = seconds["lloyd"]
    shape = f"{record['rows']:,} x {record['features']}, k = {record['clusters']}"
    shares = (f"{seconds[name] / lloyd:.2f}" for name in ("TrimmedKMeans", "RTKM"))
    return f"| {shape} | {lloyd * 1e3:.2f} ms | " + " | ".join(shares) + " |"


def markdown(records: list[dict], setting: dict) -> str:
    head = "| rows x features, clusters | lloyd | TrimmedKMeans | RTKM |"
    versions = ", ".join(f"{name} {value}" for name, value in setting.items())
    rows = "\n".join(map(table_row, records))
    return f"One iteration, as a share of lloyd's ({versions}).\n\n{head}\n|---|---|---|---|\n{rows}\n"


if __name__ == "__main__":
    main(*sys.argv[1:])
