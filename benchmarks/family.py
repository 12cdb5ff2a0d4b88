"""Time of a whole fit of every estimator, in fits of scikit-learn's k-means.

All with one start and their other defaults, in turn within a round, medians of the
ratios over the rounds. Run it on an idle machine; ``make bench`` sets one thread.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
from results import markdown_table, publish
from sklearn.cluster import KMeans
from timing import seconds_to_fit
from tqdm import tqdm

import rtkm

CLUSTERERS = (
    "RTKM RelaxedKMeans TrimmedKMeans KMeansMinusMinus KMOR NEOKMeans OKM ROKM MOC ESP "
    "ISP FuzzyCMeans ORC ODC"
).split()
DETECTORS = "CBLOF LDOF CBOD".split()
N_ROUNDS = 3
# a method slower than this is not timed again in further rounds
PATIENCE = 5.0


def yeast() -> np.ndarray | None:
    """Return the yeast table where it is at hand."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    path = Path(os.environ.get("RTKM_DATA") or beside) / "yeast" / "yeast.arff"
    if not path.is_file():
        return None
    lines = path.read_text().lower().split("@data")[1].split()
    return np.array([line.split(",")[:103] for line in lines], dtype=np.float64)


def tables() -> dict[str, tuple[np.ndarray, int]]:
    """Return tables by name, with the number of clusters to ask for."""
    make = rtkm.datasets.make_outlier_blobs
    small = yeast()
    name = "yeast, k = 14"
    if small is None:
        small, name = make(2_417, 103, 14, random_state=0)[0], "2,417 x 103, k = 14"
    large = make(100_000, 16, 8, random_state=0)[0]
    return {name: (small, 14), "100,000 x 16, k = 8": (large, 8)}


def models(k: int, seed: int) -> dict[str, object]:
    shared = {"n_init": 1, "random_state": seed}
    k_means = KMeans(k, **shared)
    found = {"KMeans": k_means}
    found |= {name: getattr(rtkm, name)(k, **shared) for name in CLUSTERERS}
    found |= {name: getattr(rtkm, name)() for name in DETECTORS}
    found["CBLOF"].set_params(clusterer=k_means)
    return found


def time_fits(X: np.ndarray, k: int) -> list[dict[str, float]]:
    """Return the seconds of each fit, round after round."""
    rounds: list[dict[str, float]] = []
    bar = tqdm(total=N_ROUNDS * (1 + len(CLUSTERERS) + len(DETECTORS)), unit="fit")
    for seed in range(N_ROUNDS):
        seconds = {}
        for name, model in models(k, seed).items():
            bar.set_description(name)
            bar.update()
            if not rounds or rounds[0][name] < PATIENCE:
                seconds[name] = seconds_to_fit(model, X)
        rounds.append(seconds)
    bar.close()
    return rounds


def main() -> None:
    warnings.simplefilter("ignore")
    records = [
        {"table": name, "clusters": k, "seconds": time_fits(X, k)}
        for name, (X, k) in tables().items()
    ]
    rows = [
        [f"`{name}`", *(multiple(record["seconds"], name) for record in records)]
        for name in CLUSTERERS + DETECTORS
    ]
    header = ["fit", *(record["table"] for record in records)]
    publish("family", records, markdown_table(header, rows))


def multiple(rounds: list[dict[str, float]], name: str) -> str:
    ratios = [s[name] / s["KMeans"] for s in rounds if name in s]
    return f"{np.median(ratios):.1f}"


if __name__ == "__main__":
    main()
