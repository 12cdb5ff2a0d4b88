"""How the time of a fit grows with rows, clusters and features: ``make bench-growth``.

Plain normal rows, on which nobody comes to rest early, and the same small number of
iterations for all; one size varies at a time. Exponents are slopes of least squares in
logarithms.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from goals import GROWTH
from models import FIXED, TRIMMED, make
from peers import LLOYD
from problems import Shape, fresh_seed, starting_centers
from results import ROOT, markdown_table, publish
from timing import Entrant, race

METHODS = (FIXED, TRIMMED, LLOYD)
BASE = Shape(100_000, 16, 8)
SIZES = {
    "rows": (10_000, 30_000, 100_000, 300_000, 1_000_000),
    "clusters": (4, 8, 16, 32, 64, 128),
    "features": (2, 4, 8, 16, 32, 64, 128),
}
N_ITER = 10


def power_law(sizes: Any, seconds: Any) -> tuple[float, float]:
    """Fit seconds = factor * size ** exponent; return exponent and factor."""
    exponent, log_factor = np.polyfit(np.log(sizes), np.log(seconds), 1)
    return float(exponent), float(np.exp(log_factor))


def time_shape(shape: Shape, seed: int, n_rounds: int) -> dict[str, float]:
    """Return the median seconds of each method, which take turns."""
    n, d, k = shape
    X = np.random.default_rng(seed).normal(size=(n, d))
    C = starting_centers(X, k)

    def entrant(name: str) -> Entrant:
        return Entrant(lambda *_: make(name, C, max_iter=N_ITER))

    entrants = {name: entrant(name) for name in METHODS}
    rounds = race(entrants, X, n_rounds=n_rounds, patience=10)
    if any(fit.n_iter != N_ITER for fits in rounds for fit in fits.values()):
        raise RuntimeError(f"a fit to {shape} came to rest before {N_ITER} iterations.")
    return {
        name: float(np.median([fits[name].seconds for fits in rounds]))
        for name in METHODS
    }


def measure(sizes: dict[str, tuple[int, ...]], n_rounds: int) -> list[dict[str, Any]]:
    """Return, for each method and quantity that grows, the times and their law."""
    seed = fresh_seed()
    records = []
    for what, values in sizes.items():
        shapes = [BASE._replace(**{what: value}) for value in values]
        times = [time_shape(shape, seed, n_rounds) for shape in shapes]
        for name in METHODS:
            seconds = [of[name] for of in times]
            exponent, factor = power_law(values, seconds)
            records.append(
                {
                    "method": name,
                    "grows": what,
                    "seed": seed,
                    "sizes": list(values),
                    "seconds": seconds,
                    "exponent": exponent,
                    "factor": factor,
                }
            )
    return records


def growth_table(records: list[dict[str, Any]]) -> str:
    """Show the exponents, bold where they miss their goal."""
    header = ["fit", *(f"{what} (goal {goal})" for what, goal in GROWTH.items())]
    rows = []
    for name in METHODS:
        found = {r["grows"]: r["exponent"] for r in records if r["method"] == name}
        rows.append([f"`{name}`"])
        for what, goal in GROWTH.items():
            missed = name != LLOYD and not goal.met(found[what])
            rows[-1].append(
                f"**{found[what]:.2f}**" if missed else f"{found[what]:.2f}"
            )
    return markdown_table(header, rows)


def draw(records: list[dict[str, Any]], path: Any) -> None:
    """Draw times and laws, a panel for each quantity that grows."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "growth"  # the same figures give the same file
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(GROWTH), figsize=(11, 3.6), sharey=True)
    for panel, what in zip(panels, GROWTH, strict=True):
        for number, name in enumerate(METHODS):
            record = next(
                r for r in records if (r["method"], r["grows"]) == (name, what)
            )
            sizes = np.array(record["sizes"], dtype=float)
            law = record["factor"] * sizes ** record["exponent"]
            label = f"{name}: {record['exponent']:.2f}"
            panel.loglog(sizes, record["seconds"], "o", color=f"C{number}", ms=4)
            panel.loglog(sizes, law, "-", color=f"C{number}", lw=1, label=label)
        panel.set_xlabel(what)
        panel.set_xticks(sizes, [f"{size:,.0f}" for size in sizes], fontsize=8)
        panel.minorticks_off()
        panel.legend(fontsize=8, frameon=False)
    panels[0].set_ylabel(f"seconds, {N_ITER} iterations")
    figure.suptitle(f"{BASE}; one size grows at a time", fontsize=10)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7, help="at most")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    records = measure(SIZES, options.rounds)
    publish("growth", records, growth_table(records))
    draw(records, ROOT / "docs" / "growth.svg")


if __name__ == "__main__":
    main()
