"""Memory that a fit needs beside its table, in a process of its own."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from models import make
from problems import Shape, make_rows, starting_centers

PROCESS = Path("/proc/self")
CAN_MEASURE = (PROCESS / "clear_refs").exists()
WARM = Shape(400, 3, 5)
# the kernel counts pages in batches: the state of fewer rows is lost in those
LEAST_ROWS = 20_000
# glibc then takes and returns every array by itself; what making the table left free
# would else serve the fit, unseen
FRUGAL = {"MALLOC_MMAP_THRESHOLD_": "16384", "MALLOC_TRIM_THRESHOLD_": "0"}


def peak_growth(task: Callable[[], object]) -> int:
    """Return by how many bytes the peak of resident memory grows during a task."""
    gc.collect()
    (PROCESS / "clear_refs").write_text("5")  # the peak is now what is in use
    before = peak()
    task()
    return peak() - before


def peak() -> int:
    """Return the largest resident memory since the last reset."""
    lines = (PROCESS / "status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    return 1024 * int(fields["VmHWM"].split()[0])


def bytes_a_row(name: str, shape: Shape, kind: str, dtype: str) -> float | None:
    """Measure a fit of few iterations in a fresh process; None where it cannot be."""
    if not CAN_MEASURE or shape.rows < LEAST_ROWS:
        return None
    task = json.dumps({"name": name, "shape": shape, "kind": kind, "dtype": dtype})
    answer = subprocess.run(
        [sys.executable, __file__, task],
        env={**os.environ, **FRUGAL},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return int(answer.stdout) / shape.rows


def shortened(model: Any) -> Any:
    """Keep the iterations that can need most memory, the first ones and all moves."""
    few = {"max_iter": 3, "n_init": 2, "n_swaps": 12}
    chosen = model.get_params()
    if chosen.get("n_swaps"):
        del few["n_init"]  # the default is one start then
    return model.set_params(
        **{key: few[key] for key in few if chosen.get(key) not in (None, 0, 1)}
    )


def measure(name: str, shape: Shape, kind: str, dtype: str) -> int:
    """Return the growth of one fit, once all code it needs has been loaded."""
    small = make_rows(WARM, kind, dtype, seed=0)
    shortened(make(name, starting_centers(small, WARM.clusters))).fit(small)
    X = make_rows(shape, kind, dtype, seed=0)
    model = shortened(make(name, starting_centers(X, shape.clusters)))
    return peak_growth(lambda: model.fit(X))


def main() -> None:
    warnings.simplefilter("ignore")
    task = json.loads(sys.argv[1])
    print(measure(task["name"], Shape(*task["shape"]), task["kind"], task["dtype"]))


if __name__ == "__main__":
    main()
