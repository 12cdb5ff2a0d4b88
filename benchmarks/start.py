"""How long imports and the command line take to start: ``make bench-start``.

All take turns, and the median counts. ``python -c pass`` is what Python itself takes.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

from results import markdown_table

PROGRAM = str(Path(sys.executable).with_name("rtkm"))
STARTS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "import sklearn": [sys.executable, "-c", "import sklearn"],
    "import rtkm": [sys.executable, "-c", "import rtkm"],
    "import sklearn.cluster": [sys.executable, "-c", "import sklearn.cluster"],
    "from rtkm import RTKM": [sys.executable, "-c", "from rtkm import RTKM"],
    "rtkm --version": [PROGRAM, "--version"],
    "rtkm --help": [PROGRAM, "--help"],
    "rtkm fit --help": [PROGRAM, "fit", "--help"],
}
N_ROUNDS = 10


def main() -> None:
    seconds: dict[str, list[float]] = {what: [] for what in STARTS}
    for _ in range(N_ROUNDS + 1):
        for what, command in STARTS.items():
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            seconds[what].append(time.perf_counter() - start)
    # the first round reads files that are not in memory yet
    rows = [
        [f"`{what}`", f"{statistics.median(found[1:]):.3f}"]
        for what, found in seconds.items()
    ]
    print(markdown_table(["start", "seconds"], rows))


if __name__ == "__main__":
    main()
