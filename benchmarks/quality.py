"""Objectives reached on fresh problems of many kinds, and how long it took.

Each objective is divided by the least one that is known: that of hard trimming from the
true centers, of the best of 50 robust restarts, or of the default itself. On tiny
tables the least objective is that of all partitions of the rows. Every run draws new
problems; ``--seed`` repeats one. ``--json FILE`` keeps what was reached on each.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from families import FAMILIES, Problem
from problems import fresh_seed
from results import markdown_table, publish
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, pairwise_distances_argmin
from summary import write_summaries
from tiny import draw_tiny, least_objective

from rtkm import RTKM, TrimmedKMeans

N_RESTARTS = 50


def measure(problem: Problem, seed: int) -> dict[str, float]:
    """Return ratios of objectives, agreement with the truth and time of one problem."""
    X, k, share, C, truth = problem
    seconds = {}

    def timed(name: str, model: Any) -> Any:
        start = time.perf_counter()
        model.fit(X)
        seconds[name] = time.perf_counter() - start
        return model

    default = timed("default", RTKM(k, contamination=share, random_state=seed))
    k_means = timed("k-means", KMeans(k, n_init=10, random_state=seed))
    plain = {"contamination": share, "n_swaps": 0, "random_state": seed}
    from_truth = TrimmedKMeans(k, init=C, **plain).fit(X)
    restarts = TrimmedKMeans(k, n_init=N_RESTARTS, **plain).fit(X)
    found = {
        "default": default.objective_,
        "true centers": from_truth.objective_,
        "restarts": restarts.objective_,
    }
    least = min(found.values())
    inlier = truth >= 0
    labels = pairwise_distances_argmin(X, default.cluster_centers_)
    return {
        **{name: (value + 1e-12) / (least + 1e-12) for name, value in found.items()},
        "time": seconds["default"] / seconds["k-means"],
        "ari": adjusted_rand_score(truth[inlier], labels[inlier]),
        "ari of k-means": adjusted_rand_score(truth[inlier], k_means.labels_[inlier]),
    }


def measure_tiny(rng: np.random.Generator, n_tables: int) -> list[dict[str, Any]]:
    """Return how often the least objective of tiny tables is reached."""
    found = []
    for number in range(n_tables):
        X, k, n_trimmed = draw_tiny(rng)
        for s in (1, 2):
            if s > 1 and k != 3:
                continue
            options = {"contamination": n_trimmed, "n_memberships": s}
            model = RTKM(k, random_state=number, **options).fit(X)
            least = least_objective(X, k, n_trimmed, s)
            # a cost of nothing is reached but for rounding
            ratio = (model.objective_ + 1e-12) / (least + 1e-12)
            shape = [*X.shape, k, n_trimmed]
            found.append({"memberships": s, "default": ratio, "shape": shape})
    return found


def summary(name: str, records: list[dict[str, Any]]) -> list[str]:
    """Return a line of the table."""
    r = np.array([record["default"] for record in records])
    cells = [name, f"{r.mean():.4f}", f"{r.max():.3f}"]
    cells += [f"{(r <= limit).mean():.1%}" for limit in (1.001, 1.01)]
    for key, form in (("restarts", ".1%"), ("ari", ".3f"), ("ari of k-means", ".3f")):
        if key not in records[0]:
            cells.append("")
            continue
        values = np.array([record[key] for record in records])
        cells.append(
            f"{(values <= 1.001).mean() if key == 'restarts' else values.mean():{form}}"
        )
    times = [record["time"] for record in records if "time" in record]
    return [*cells, f"{np.median(times):.2f}" if times else ""]


HEADER = [
    "problems",
    "mean",
    "worst",
    "at most 1.001",
    "at most 1.01",
    f"{N_RESTARTS} restarts: at most 1.001",
    "ARI of inliers",
    "k-means of ten starts",
    "time, in k-means of ten starts",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=20, help="of each family")
    parser.add_argument("--tiny", type=int, default=2000, help="tiny tables")
    parser.add_argument(
        "--families", nargs="+", default=list(FAMILIES), choices=list(FAMILIES)
    )
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--json", type=Path, default=None)
    options = parser.parse_args()
    seed = fresh_seed() if options.seed is None else options.seed
    warnings.simplefilter("ignore")
    records: dict[str, list[dict[str, Any]]] = {}
    for place, name in enumerate(FAMILIES):
        if name not in options.families:
            continue
        rng = np.random.default_rng([seed, place])
        records[name] = [
            measure(FAMILIES[name](rng), number) for number in range(options.problems)
        ]
        print(" | ".join(summary(name, records[name])), flush=True)
    rows = [summary(name, found) for name, found in records.items()]
    rows.append(
        summary("all of these", [r for found in records.values() for r in found])
    )
    tiny = measure_tiny(np.random.default_rng([seed, 999]), options.tiny)
    for s in (1, 2):
        some = [record for record in tiny if record["memberships"] == s]
        if some:
            rows.append(summary(f"tiny, {s} membership{'s' * (s > 1)}", some))
    table = markdown_table(HEADER, rows)
    print(f"\nSeed {seed}.\n\n{table}")
    if options.json is not None:
        options.json.write_text(json.dumps({"problems": records, "tiny": tiny}))
    elif options.families == list(FAMILIES):
        sizes = {"problems": options.problems, "tiny": options.tiny}
        publish("quality", {"seed": seed, **sizes, "table": [HEADER, *rows]}, table)
        write_summaries()


if __name__ == "__main__":
    main()
