"""Starts drawn one by one and many at a time: ``make bench-seeding``.

Blobs with one outlier in twenty rows, spread out or in one clump far away. Both ways to
draw starting centers take turns on the same new tables: how long they take, what the
cheapest 95 % of the rows cost from the seeds, and what fits from there end with. Each
figure is the median of the ratios, many at a time to one by one.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
from problems import Shape, fresh_seed
from results import markdown_table, publish, read

from rtkm import RTKM, TrimmedKMeans
from rtkm.seeding import robust_k_means_parallel, robust_k_means_plus_plus

SHAPES = tuple(
    Shape(n, d, k) for n, d in ((100_000, 16), (20_000, 64)) for k in (10, 50, 200)
)
WAYS = {"one by one": robust_k_means_plus_plus, "many": robust_k_means_parallel}
SEPARATION = 8.0  # of two centers, on average, in standard deviations of a blob
SHARE = 0.05


def make_rows(shape: Shape, outliers: str, seed: int) -> np.ndarray:
    """Draw blobs of unequal sizes, and outliers, in random order."""
    n, d, k = shape
    rng = np.random.default_rng(seed)
    centers = SEPARATION / np.sqrt(2 * d) * rng.normal(size=(k, d))
    X = rng.normal(size=(n, d))
    X += centers[rng.choice(k, size=n, p=rng.dirichlet(np.full(k, 5.0)))]
    low, high = X.min(axis=0), X.max(axis=0)
    width = high - low
    n_outliers = round(SHARE * n)
    if outliers == "uniform":
        far = rng.uniform(low - width / 2, high + width / 2, size=(n_outliers, d))
    else:
        far = high + 3 * width + 0.1 * rng.normal(size=(n_outliers, d))
    X[:n_outliers] = far
    return rng.permutation(X)


def draw(X: np.ndarray, k: int, seed: int) -> dict[str, tuple[float, np.ndarray]]:
    """Return the least of three times, and the seeds, of both ways in turn."""
    seconds, seeds = dict.fromkeys(WAYS, np.inf), {}
    for _ in range(3):  # what else the machine does only adds to the time
        for way, seeding in WAYS.items():
            start = time.perf_counter()
            seeds[way] = seeding(X, k, n_outliers=SHARE, random_state=seed % 2**32)
            seconds[way] = min(seconds[way], time.perf_counter() - start)
    return {way: (seconds[way], seeds[way]) for way in WAYS}


def time_again(records: list[dict[str, Any]]) -> None:
    """Replace the times of records by those of today."""
    for record in records:
        shape = next(s for s in SHAPES if str(s) == record["shape"])
        X = make_rows(shape, record["outliers"], record["seed"])
        for way, (seconds, _) in draw(X, shape.clusters, record["seed"]).items():
            record["found"][way]["seconds"] = seconds


def measure(shape: Shape, outliers: str, seed: int) -> dict[str, dict[str, float]]:
    """Return seconds, cost of the seeds and objectives of fits, of both ways."""
    X, k = make_rows(shape, outliers, seed), shape.clusters
    found = {}
    for way, (seconds, C) in draw(X, k, seed).items():
        given = {"contamination": SHARE, "init": C, "random_state": 0}
        plain = TrimmedKMeans(k, n_swaps=0, **given)
        costs = []
        plain.set_params(on_step=lambda state, costs=costs: costs.append(state))
        plain.fit(X)
        found[way] = {
            "seconds": seconds,
            "seeds": costs[0].objective,
            "descent": plain.objective_,
            "search": RTKM(k, **given).fit(X).objective_,
        }
    return found


def table_of(records: list[dict[str, Any]]) -> str:
    """Show medians of ratios, and the range of those after the search."""
    header = [
        "rows x features, clusters",
        "outliers",
        "seconds, one by one",
        "seconds, many",
        "time",
        "cost of the seeds",
        "`TrimmedKMeans(n_swaps=0)`",
        "`RTKM()`",
        "its range",
    ]
    rows = []
    for shape in SHAPES:
        for outliers in ("uniform", "clump"):
            own = [
                r["found"]
                for r in records
                if (r["shape"], r["outliers"]) == (str(shape), outliers)
            ]
            if not own:
                continue
            ratio = {
                name: [of["many"][name] / of["one by one"][name] for of in own]
                for name in own[0]["many"]
            }
            rows.append(
                [
                    str(shape),
                    outliers,
                    *(
                        f"{np.median([of[way]['seconds'] for of in own]):.2f}"
                        for way in WAYS
                    ),
                    *(f"{np.median(ratio[name]):.2f}" for name in ("seconds", "seeds")),
                    *(
                        f"{np.median(ratio[name]):.3f}"
                        for name in ("descent", "search")
                    ),
                    f"{min(ratio['search']):.3f} to {max(ratio['search']):.3f}",
                ]
            )
    return markdown_table(header, rows)


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=5, help="drawn for each line")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument(
        "--times", action="store_true", help="only times, of the tables of the last run"
    )
    options = parser.parse_args()
    if options.times:
        records = read("seeding")["records"]
        time_again(records)
        publish("seeding", records, table_of(records))
        return
    seed = fresh_seed() if options.seed is None else options.seed
    records = []
    for shape in SHAPES:
        for outliers in ("uniform", "clump"):
            for number in range(options.tables):
                records.append(
                    {
                        "shape": str(shape),
                        "outliers": outliers,
                        "seed": seed + number,
                        "found": measure(shape, outliers, seed + number),
                    }
                )
                print(records[-1], flush=True)
    publish("seeding", records, table_of(records))


if __name__ == "__main__":
    main()
