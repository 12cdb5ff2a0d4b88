"""Time and memory of whole commands on CSV files: ``make bench-commands``.

Every command runs in a process of its own, start of the interpreter and imports
included; they take turns. Memory is the peak of what is resident.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
from growth import power_law
from problems import Shape, fresh_seed, make_rows
from results import markdown_table, publish

SHAPES = [Shape(n, 8, 5) for n in (100_000, 300_000, 1_000_000)]
N_ROUNDS = 3
IMPORT = "import numpy, pandas, pyarrow.csv, rtkm"
READ = "table = pyarrow.csv.read_csv('data.csv')"
FIT = "rtkm.RTKM({k}, contamination=0.05, random_state=0).fit(table.to_pandas())"
COMMAND = ["-m", "rtkm", "fit", "data.csv", "-k", "{k}", "--contamination", "0.05"]
COMMANDS = {
    "imports alone": ["-c", IMPORT],
    "pyarrow reads the file": ["-c", f"{IMPORT}; {READ}"],
    "and `RTKM` is fitted to it": ["-c", f"{IMPORT}; {READ}; {FIT}"],
    "`rtkm fit`": COMMAND,
    "`rtkm fit --report`": [*COMMAND, "--report", "report.html"],
    "`rtkm fit --report --output`": [
        *COMMAND,
        *("--report", "report.html", "--output", "found.csv"),
    ],
}
READING, FITTED = list(COMMANDS)[1:3]


class Cost(NamedTuple):
    """What a process took."""

    seconds: float
    peak_bytes: int


def run(arguments: list[str], folder: Path) -> Cost:
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments], cwd=folder, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"{arguments} failed.")
    return Cost(time.perf_counter() - start, usage.ru_maxrss * 1024)


def write_table(shape: Shape, folder: Path) -> None:
    """Write blobs, one row in twenty of them somewhere else, with six decimals."""
    seed = fresh_seed()
    X = make_rows(shape, "separated, x20", "float64", seed)
    rng = np.random.default_rng(seed)
    X[::20] = rng.uniform(3 * X.min(), 3 * X.max(), X[::20].shape)
    columns = {f"feature_{j}": np.round(X[:, j], 6) for j in range(shape.features)}
    pa.csv.write_csv(pa.table(columns), folder / "data.csv")


def measure(shape: Shape) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(shape, folder)
        commands = {
            title: [word.replace("{k}", str(shape.clusters)) for word in words]
            for title, words in COMMANDS.items()
        }
        rounds = [
            {title: run(words, folder) for title, words in commands.items()}
            for _ in range(N_ROUNDS)
        ]
        sizes = {path.name: path.stat().st_size for path in folder.iterdir()}
    costs = {
        title: Cost(
            float(np.median([costs[title].seconds for costs in rounds])),
            int(np.median([costs[title].peak_bytes for costs in rounds])),
        )._asdict()
        for title in commands
    }
    return {"shape": shape, "costs": costs, "bytes": sizes}


def command_table(records: list[dict[str, Any]]) -> str:
    """Return what commands take beyond imports, and how that grows."""
    net = [beyond_imports(record["costs"]) for record in records]
    last = net[-1]
    reading = last[READING]
    fit = Cost(*np.subtract(last[FITTED], reading))
    rows = []
    for title in list(COMMANDS)[1:]:
        cost = last[title]
        seconds = [costs[title].seconds for costs in net]
        growth = ""
        if min(seconds) > 0:  # or it is lost in what imports take, now more, now less
            exponent, _ = power_law([record["shape"][0] for record in records], seconds)
            growth = f"{exponent:.2f}"
        rows.append(
            [
                title,
                f"{cost.seconds:.2f}",
                f"{cost.seconds / reading.seconds:.1f}",
                f"{cost.seconds / fit.seconds:.1f}",
                f"{cost.peak_bytes / 1e6:,.0f}",
                f"{cost.peak_bytes / reading.peak_bytes:.1f}",
                f"{cost.peak_bytes / fit.peak_bytes:.1f}",
                growth,
            ]
        )
    header = ["", "seconds", "/ reading", "/ fit", "MB", "/ reading", "/ fit"]
    return markdown_table([*header, "power of rows"], rows)


def beyond_imports(costs: dict[str, Any]) -> dict[str, Cost]:
    """Return costs less those of a process that only imports."""
    floor = list(costs["imports alone"].values())
    return {
        title: Cost(*np.subtract(list(cost.values()), floor))
        for title, cost in costs.items()
    }


def main() -> None:
    records = [measure(shape) for shape in SHAPES]
    publish("commands", records, command_table(records))


if __name__ == "__main__":
    main()
