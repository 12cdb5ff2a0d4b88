"""The tests of every day on each Python, with the newest and the lowest dependencies.

``make test-matrix`` runs all of it; ``make test-matrix CELLS="--python 3.13"`` and the
other options of nox run a part.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import nox

ROOT = Path(__file__).parent
VERSIONS = ["3.11", "3.12", "3.13"]

# the first release with a wheel for that Python, where it is above our own bound
FIRST_WHEELS = {
    "3.13": {
        "numpy": "2.1",
        "scipy": "1.14.1",
        "pandas": "2.2.3",
        "matplotlib": "3.9.2",
    }
}

nox.needs_version = ">=2024.10"
nox.options.default_venv_backend = "virtualenv"  # with pip, whose constraints are used
nox.options.envdir = ROOT / "build" / "nox"
nox.options.error_on_missing_interpreters = False


def lowest(python: str) -> list[str]:
    """Return the lower bounds of pyproject.toml, each as the only version allowed."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = pyproject["project"]
    extras = project["optional-dependencies"]
    wanted = [*pyproject["build-system"]["requires"], *project["dependencies"]]
    for extra in ("pandas", "cli", "dask", "onnx", "plot", "test"):
        wanted += extras[extra]
    lines = [line for line in wanted if not line.startswith("rtkm[")]
    # constraints know no extras
    bounds = dict(re.sub(r"\[.*\]", "", line).split(">=") for line in lines)
    bounds |= FIRST_WHEELS.get(python, {})
    return [f"{name}=={version}" for name, version in bounds.items()]


@nox.session(python=VERSIONS)
@nox.parametrize("dependencies", ["newest", "lowest"])
def tests(session: nox.Session, dependencies: str) -> None:
    """Install from source and run the tests of every day."""
    environment = {}
    if dependencies == "lowest":
        constraints = Path(session.create_tmp()) / "lowest.txt"
        constraints.write_text("\n".join(lowest(str(session.python))))
        # the build has an environment of its own, which newer pips constrain apart
        environment = dict.fromkeys(
            ("PIP_CONSTRAINT", "PIP_BUILD_CONSTRAINT"), str(constraints.resolve())
        )
    session.install(".[test]", env=environment)
    arguments = session.posargs or ["-n", "auto", "--dist", "worksteal"]
    session.run("python", "-m", "pytest", "-m", "not slow", *arguments)
