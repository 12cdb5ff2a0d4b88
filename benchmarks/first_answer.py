"""What a new user waits for: the wheel, an empty environment, the first answer.

`make wheel` calls it with the folder of wheels, once for each Python. It installs the
wheel that fits into a new environment, asks the command line for a first answer, and
runs a part of the tests against what was installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]

# a part of the tests of every day, where the compiled core does most
TESTS = ["tests/core", "tests/clusterers", "tests/models"]

WHERE = """
import rtkm, rtkm._native, sys
from pathlib import Path
for module in (rtkm, rtkm._native):
    assert Path(module.__file__).is_relative_to(sys.prefix), module.__file__
"""


def seconds(*command: str | Path, cwd: Path) -> float:
    """Return how long a command takes that must succeed, and say nothing of it."""
    start = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return time.perf_counter() - start


def megabytes(folder: Path) -> float:
    """Return what the files of a folder take."""
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()) / 1e6


def main(wheels: Path) -> None:
    """Install, ask, test; every line is a figure."""
    version = ".".join(map(str, sys.version_info[:2]))
    with tempfile.TemporaryDirectory() as name:
        # away from the source tree, which must not be what is imported
        empty, environment = Path(name), Path(name) / "env"
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        scripts = environment / ("Scripts" if os.name == "nt" else "bin")
        python, before = scripts / "python", megabytes(environment)

        def say(what: str, figure: str) -> None:
            print(f"Python {version}  {what:36} {figure}", flush=True)

        # the one wheel of the folder that suits this Python; nothing may be compiled
        pip = [python, "-m", "pip"]
        fitting = ["--no-index", "--no-deps", "--only-binary", "rtkm", "--dest", empty]
        seconds(*pip, "download", *fitting, "--find-links", wheels, "rtkm", cwd=empty)
        (wheel,) = empty.glob("*.whl")
        print(f"Python {version}  {wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB")

        def install(extras: str) -> None:
            took = seconds(*pip, "install", "--quiet", f"{wheel}{extras}", cwd=empty)
            added = megabytes(environment) - before
            say(f"pip install rtkm{extras}", f"{took:5.1f} s, {added:5.0f} MB in all")

        install("")
        seconds(python, "-c", WHERE, cwd=empty)
        install("[cli,plot]")
        say("rtkm demo", f"{seconds(scripts / 'rtkm', 'demo', cwd=empty):5.1f} s")
        table = ROOT / "docs" / "samples.csv"
        first = seconds(scripts / "rtkm", "fit", table, cwd=empty)
        say("rtkm fit docs/samples.csv", f"{first:5.1f} s")
        install("[test]")
        tests = ["-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider"]
        took = seconds(python, *tests, "-n", "auto", *TESTS, cwd=ROOT)
        say(" ".join(TESTS), f"{took:5.1f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
