"""How many rounds and bytes it takes to find the cut of a table in 1000 partitions.

    python benchmarks/cut_rounds.py [--partitions N] [--rows N]

The search is that of the library (`rtkm.core.trimming.find_cut`), and only partitions
are made up. Values are drawn in six ways and dealt to them in four; 95 % of the rows
are kept. A round is one question to all partitions, and its bytes are those of all
answers, pickled. The answer is held against a sort of all values.
"""

from __future__ import annotations

import argparse
import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm.core.columns import Elementwise
from rtkm.core.trimming import find_cut

KEPT = 0.95


@dataclass
class MadeUpPart:
    """What the search asks of a partition."""

    first: int
    values: NDArray[np.float64]
    weights: None = None

    @property
    def n_rows(self) -> int:
        return len(self.values)

    def value(self, node: Any) -> tuple[NDArray[np.float64], None]:
        """Return the values, whatever the node."""
        return self.values, None


VALUES = {
    "uniform": lambda rng, n: rng.random(n),
    "squared normal": lambda rng, n: rng.normal(size=n) ** 2,
    "log-normal": lambda rng, n: rng.lognormal(0, 3, size=n),
    "Pareto": lambda rng, n: rng.pareto(0.5, size=n),
    "ten values": lambda rng, n: rng.integers(10, size=n).astype(float),
    "one value": lambda rng, n: np.ones(n),
}


def at_random(rng, values, n_parts):
    """Deal rows at random, to partitions of one size."""
    return np.array_split(rng.permutation(values), n_parts)


def in_order(rng, values, n_parts):
    """Deal rows by their value."""
    return np.array_split(np.sort(values), n_parts)


def of_all_sizes(rng, values, n_parts):
    """Deal rows at random, to partitions of one row and of many."""
    ends = np.sort(
        rng.integers(0, len(values), size=n_parts - 1) ** 3 // len(values) ** 2
    )
    return np.split(rng.permutation(values), ends)


def around_the_cut(rng, values, n_parts):
    """Leave all rows near the cut to one partition."""
    ordered = np.sort(values)
    n = len(values)
    near = slice(int((KEPT - 0.02) * n), int((KEPT + 0.02) * n))
    others = np.concatenate([ordered[: near.start], ordered[near.stop :]])
    return [ordered[near], *np.array_split(rng.permutation(others), n_parts - 1)]


DEALS = {
    "at random": at_random,
    "in order": in_order,
    "of all sizes": of_all_sizes,
    "around the cut": around_the_cut,
}


def search(pieces: list[NDArray[np.float64]]) -> tuple[int, int, bool]:
    """Return rounds and bytes, and whether the cut is that of a sort."""
    pieces = [piece for piece in pieces if len(piece)]
    firsts = np.cumsum([0, *map(len, pieces)])
    pairs = zip(firsts, pieces, strict=False)
    parts = [MadeUpPart(int(first), piece) for first, piece in pairs]
    rounds = n_bytes = 0

    def run(task, which=None):
        nonlocal rounds, n_bytes
        asked = parts if which is None else [parts[i] for i in which]
        answers = [task(part) for part in asked]
        rounds += 1
        n_bytes += sum(len(pickle.dumps(answer, 5)) for answer in answers)
        return answers

    values = np.concatenate(pieces)
    mass = float(int(KEPT * len(values)))
    cut = find_cut(run, len(parts), len(values), Elementwise(abs, ()), mass)
    row = np.argsort(values, kind="stable")[int(mass) - 1]
    return rounds, n_bytes, (cut.threshold, cut.row) == (values[row], row)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--partitions", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    print("| values | partitions | rounds | MB | right |\n|---|---|---|---|---|")
    for name, draw in VALUES.items():
        values = draw(rng, options.rows)
        for deal_name, deal in DEALS.items():
            rounds, n_bytes, is_right = search(deal(rng, values, options.partitions))
            size = f"{n_bytes / 1e6:.2f}"
            print(f"| {name} | {deal_name} | {rounds} | {size} | {is_right} |")


if __name__ == "__main__":
    main()
