"""Rounds and bytes of a fit on a cluster: ``python benchmarks/dask_rounds.py``.

A round is one task for each partition. Bytes are those of the pickled tasks, once for
each partition they are sent to, and of the pickled answers; Dask adds a few hundred for
every task, for its name and what it depends on. A pass is a step of a descent.
"""

from __future__ import annotations

import argparse
import pickle
import time
from collections import Counter
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import rtkm.dask
from rtkm.core.partitions import PartitionedTable
from rtkm.dask.engine import DaskEngine


class Counted:
    """Counts while a fit runs, apart for passes and for all else."""

    def __init__(self) -> None:
        self.n: Counter[tuple[str, str]] = Counter()
        self.place = "else"

    def watch(self) -> None:
        """Put counters around the engine and the passes."""
        ask, tell, step = (
            DaskEngine._ask,
            DaskEngine._tell,
            PartitionedTable.concentrate,
        )

        def counted_ask(
            engine: Any, word: str, numbers: Any, text: Any, n: int
        ) -> list[Any]:
            answers = ask(engine, word, numbers, text, n)
            self.n[self.place, "rounds"] += 1
            self.n[self.place, "down"] += len(text) * len(numbers)
            self.n[self.place, "up"] += sum(len(pickle.dumps(a, 5)) for a in answers)
            return answers

        def counted_tell(engine: Any, name: Any, text: bytes) -> None:
            n_workers = len(engine._client.scheduler_info(n_workers=-1)["workers"])
            self.n[self.place, "down"] += len(text) * n_workers
            tell(engine, name, text)

        def counted_step(table: Any, *args: Any, **options: Any) -> Any:
            self.place = "passes"
            self.n["passes", "passes"] += 1
            try:
                return step(table, *args, **options)
            finally:
                self.place = "else"

        DaskEngine._ask = counted_ask  # type: ignore[method-assign]
        DaskEngine._tell = counted_tell  # type: ignore[method-assign]
        PartitionedTable.concentrate = counted_step  # type: ignore[method-assign]


def table(n: int, d: int, k: int) -> Any:
    """Return round groups and 2 % of rows anywhere."""
    rng = np.random.RandomState(0)
    C = rng.randn(k, d) * 6
    X = C[rng.randint(0, k, n)] + rng.randn(n, d)
    X[: n // 50] = rng.uniform(-40, 40, (n // 50, d))
    return X[rng.permutation(n)]


def main() -> None:
    """Fit once on a cluster and once in memory, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--clusters", type=int, default=10)
    parser.add_argument("--features", type=int, default=8)
    parser.add_argument("--processes", action="store_true")
    args = parser.parse_args()
    X = table(args.rows, args.features, args.clusters)
    options = {"n_clusters": args.clusters, "contamination": 0.02, "random_state": 0}
    counted = Counted()
    counted.watch()
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=args.processes,
            dashboard_address=None,
        ) as cluster,
        Client(cluster) as client,
    ):
        rows = client.persist(
            da.from_array(X, chunks=(-(-len(X) // args.partitions), -1))
        )
        began = time.perf_counter()
        model = rtkm.dask.TrimmedKMeans(**options).fit(rows)
        there = time.perf_counter() - began
        began = time.perf_counter()
        plain = rtkm.TrimmedKMeans(**options).fit(X)
        here = time.perf_counter() - began
        is_same = np.array_equal(model.labels_.compute(), plain.labels_)
        is_same &= model.objective_ == plain.objective_
    print(f"on the cluster {there:.1f} s, in memory {here:.1f} s, same bits: {is_same}")
    n = counted.n
    n_passes = n["passes", "passes"]
    for place, of in (("passes", n_passes), ("else", 1)):
        rounds, down, up = (n[place, what] for what in ("rounds", "down", "up"))
        print(
            f"{place}: {rounds} rounds, {down / 1e6:.2f} MB down, {up / 1e6:.2f} MB up"
        )
        if place == "passes":
            print(
                f"  each of {of}: {rounds / of:.1f} rounds, {down / of / 1e3:.0f} kB "
                f"down, {up / of / 1e3:.0f} kB up"
            )


if __name__ == "__main__":
    main()
