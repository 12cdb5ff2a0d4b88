"""Time of one plain pass, as a share of scikit-learn's lloyd.

No bounds, contamination 0.1 with its threshold, no swaps: ``max_iter=10`` minus
``max_iter=1``, from the same centers, interleaved, medians of the ratios. Run it
on an idle machine; ``make bench`` sets one thread.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from results import markdown_table, publish
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from rtkm import RTKM, TrimmedKMeans

SHAPES = [
    (43_500, 9, 3),
    (2_417, 103, 14),
    (100_000, 16, 8),
    (1_000_000, 8, 10),
    (200_000, 64, 50),
]
N_ROUNDS = 11


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


def time_passes(X: np.ndarray, C: np.ndarray) -> list[dict[str, float]]:
    """Return the seconds of one iteration of each method, round after round."""
    rounds = []
    for _ in range(N_ROUNDS):
        few, many = methods(C, 1), methods(C, 10)
        seconds = {}
        for name in many:
            # once in each order, as the first fit finds the memory cold
            once = -time_fit(few[name], X) + time_fit(many[name], X)
            again = time_fit(many[name], X) - time_fit(few[name], X)
            n_passes = 2 * (many[name].n_iter_ - few[name].n_iter_)
            seconds[name] = (once + again) / n_passes
        rounds.append(seconds)
    return rounds


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    records = []
    for n, d, k in SHAPES:
        X = overlapping_rows(n, d, k, seed=int(time.time()))
        rounds = time_passes(X, X[:k].copy())
        records.append({"rows": n, "features": d, "clusters": k, "seconds": rounds})
    names = ["TrimmedKMeans", "RTKM"]
    header = ["rows x features, clusters", "lloyd", *names]
    rows = [cells(record, names) for record in records]
    publish("passes", records, markdown_table(header, rows))


def cells(record: dict, names: list[str]) -> list[str]:
    """Median time of lloyd, and medians of the ratios within a round."""
    rounds = record["seconds"]
    shape = f"{record['rows']:,} x {record['features']}, k = {record['clusters']}"
    lloyd = np.median([seconds["lloyd"] for seconds in rounds])
    ratios = [
        np.median([seconds[name] / seconds["lloyd"] for seconds in rounds])
        for name in names
    ]
    return [shape, f"{lloyd * 1e3:.2f} ms", *(f"{ratio:.2f}" for ratio in ratios)]


if __name__ == "__main__":
    main()
