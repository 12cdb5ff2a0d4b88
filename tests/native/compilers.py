"""Build the core with every compiler that is here, test it, and compare its bits.

    python tests/native/compilers.py [--only NAME] [--no-tests]

`make test-compilers` runs it. Each compiler of this processor builds the package, with
warnings as errors, into `build/compilers/NAME`, and the tests of the core and of the
clusterers run there with the packages of this environment. Those for other processors
and systems build `digest.cpp`, which needs no Python, and an emulator runs it. All
digests of an instruction set that fuses must be the same, and all others, too.

With AARCH64_ROOT, the folder of a Debian for aarch64 that has Python, and AARCH64_SITE,
a folder of packages for it, the extension is built for aarch64 and the tests run in an
emulator; src/rtkm/native/README.md says how to make both.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "compilers"
TESTS = [
    "tests/core/test_table.py",
    "tests/core/test_bounds.py",
    "tests/core/test_proximal_step.py",
    "tests/core/test_words.py",
    "tests/core/test_sets.py",
    "tests/core/test_projections.py",
    "tests/detectors/test_detector_words.py",
    "tests/clusterers",
]
WHICH = ["-q", "-p", "no:cacheprovider", "-m", "not slow", "-k", "not ctrl_c"]
# the same arithmetic, whatever the registers are called
FUSES = {"avx2": "fused", "neon": "fused", "baseline": "not fused"}


@dataclass
class Cell:
    """A compiler, what it compiles for, and what runs that."""

    compiler: str
    target: str = "here"
    options: list[str] = field(default_factory=list)  # of CMake
    emulator: list[str] = field(default_factory=list)
    bits: dict[str, str] = field(default_factory=dict)
    tests: str = "-"

    @property
    def name(self) -> str:
        return (
            self.compiler
            if self.target == "here"
            else f"{self.compiler}, {self.target}"
        )

    @property
    def folder(self) -> Path:
        return BUILD / re.sub(r"\W+", "-", self.name)

    def missing(self) -> list[str]:
        """Return the programs that are not installed."""
        needed = [self.compiler, *self.emulator[:1]]
        return [program for program in needed if not shutil.which(program)]


def system(name: str, processor: str) -> list[str]:
    return [f"-DCMAKE_SYSTEM_NAME={name}", f"-DCMAKE_SYSTEM_PROCESSOR={processor}"]


AARCH64 = system("Linux", "aarch64")
QEMU = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]
WINDOWS = [*system("Windows", "AMD64"), "-DCMAKE_EXE_LINKER_FLAGS=-static"]
CELLS = [
    *(Cell(f"g++-{version}") for version in range(11, 17)),
    *(Cell(f"clang++-{version}") for version in range(14, 23)),
    Cell("aarch64-linux-gnu-g++", "aarch64", AARCH64, QEMU),
    *(
        Cell(
            f"clang++-{version}",
            "aarch64",
            [*AARCH64, "-DCMAKE_CXX_COMPILER_TARGET=aarch64-linux-gnu"],
            QEMU,
        )
        for version in (14, 19)
    ),
    Cell("x86_64-w64-mingw32-g++-posix", "Windows", WINDOWS, ["wine"]),
]


def build_digest(cell: Cell) -> None:
    """Build `digest.cpp`, and note what it prints."""
    folder = cell.folder / "digest"
    given = [f"-DCMAKE_CXX_COMPILER={cell.compiler}", *cell.options]
    run("cmake", "-S", ROOT, "-B", folder, *given, *SETTINGS, "-DRTKM_DIGEST=ON")
    run("cmake", "--build", folder)
    [program] = [p for p in folder.glob("digest*") if p.suffix in ("", ".exe")]
    for wish in ("", "baseline"):
        environment = {"RTKM_INSTRUCTIONS": wish, "WINEDEBUG": "-all"}
        instructions, digest = run(*cell.emulator, program, **environment).split()
        cell.bits[instructions] = digest


SETTINGS = ["-DCMAKE_BUILD_TYPE=Release", "-DRTKM_WERROR=ON"]


def build_package(cell: Cell) -> None:
    site = cell.folder / "site"
    shutil.rmtree(site, ignore_errors=True)
    settings = {
        "build-dir": cell.folder / "cmake",
        "cmake.define.RTKM_WERROR": "ON",
    }
    given = [f"--config-settings={key}={value}" for key, value in settings.items()]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    run(*pip, "--target", site, *given, ROOT, CXX=cell.compiler)


def test_package(cell: Cell) -> None:
    """Run the tests on what the compiler made, with the packages that are here."""
    # the Python below the environment: in that, rtkm is the one of the environment
    python = [getattr(sys, "_base_executable", sys.executable)]
    packages = sysconfig.get_path("purelib")
    count_tests(cell, python, f"{cell.folder / 'site'}{os.pathsep}{packages}")


def count_tests(cell: Cell, python: list[str], path: str) -> None:
    command = [*python, "-m", "pytest", *WHICH, *TESTS]
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, cwd=ROOT, env=environment, text=True, stdout=-1)
    (cell.folder / "tests.log").write_text(done.stdout)
    *_, last = done.stdout.splitlines()
    cell.tests = last.strip("= ")
    if done.returncode:
        raise RuntimeError(f"tests failed, see {cell.folder / 'tests.log'}")


def test_aarch64(cell: Cell, root: Path, site: Path) -> None:
    """Build the extension for aarch64 and run the tests in an emulator."""
    [headers] = root.glob("usr/include/python3.*")
    build, package = cell.folder / "cmake", cell.folder / "site"
    tools = BUILD / "nanobind"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade"]
    run(*pip, "--target", tools, "nanobind")
    # the header of this processor, where that of all includes it from
    configured = cell.folder / "include" / "aarch64-linux-gnu"
    configured.mkdir(parents=True, exist_ok=True)
    link = configured / headers.name
    if not link.exists():
        link.symlink_to(root / "usr/include/aarch64-linux-gnu" / headers.name)
    given = [
        f"-DCMAKE_CXX_COMPILER={cell.compiler}",
        f"-DCMAKE_CXX_FLAGS=-I{configured.parent}",
        f"-DPython_EXECUTABLE={sys.executable}",
        f"-DPython_INCLUDE_DIR={headers}",
        f"-Dnanobind_DIR={tools / 'nanobind' / 'cmake'}",
    ]
    run("cmake", "-S", ROOT, "-B", build, *given, *cell.options, *SETTINGS)
    run("cmake", "--build", build)
    shutil.rmtree(package, ignore_errors=True)
    source = ROOT / "src" / "rtkm"
    skip = shutil.ignore_patterns("native", "_native.*.so", "__pycache__")
    shutil.copytree(source, package / "rtkm", ignore=skip)
    [built] = build.glob("_native.*")
    # named by CMake for the Python that runs here
    shutil.copy(built, package / "rtkm" / "_native.so")
    # tests start further processes by sys.executable, which must be emulated, too
    python = cell.folder / "python"
    emulated = shlex.join([*QEMU[:2], str(root), str(root / "usr/bin" / headers.name)])
    python.write_text(f'#!/bin/sh\nexec {emulated} "$@"\n')
    python.chmod(0o755)
    named = f"import sys\nsys.executable = {str(python)!r}\n"
    (package / "sitecustomize.py").write_text(named)
    count_tests(cell, [str(python)], f"{package}{os.pathsep}{site}")


def run(*command: object, **environment: str) -> str:
    """Run a program and return what it prints."""
    done = subprocess.run(
        [str(word) for word in command],
        env={**os.environ, **environment},
        text=True,
        capture_output=True,  # apart: Wine says much about itself when it is new
    )
    if done.returncode:
        print(done.stdout, done.stderr, sep="")
        raise RuntimeError(f"{command[0]} failed")
    return done.stdout


def try_cell(cell: Cell, with_tests: bool) -> None:
    cell.folder.mkdir(parents=True, exist_ok=True)
    build_digest(cell)
    if not with_tests:
        return
    root, site = os.environ.get("AARCH64_ROOT"), os.environ.get("AARCH64_SITE")
    if cell.target == "here":
        build_package(cell)
        test_package(cell)
    elif cell.compiler == "aarch64-linux-gnu-g++" and root and site:
        test_aarch64(cell, Path(root).resolve(), Path(site).resolve())


def main() -> None:
    parser = argparse.ArgumentParser(description="Test the core with every compiler.")
    parser.add_argument("--only", help="only compilers whose name has this in it")
    parser.add_argument("--no-tests", action="store_true", help="compare bits alone")
    options = parser.parse_args()
    failed, tried, skipped = [], [], []
    for cell in CELLS:
        if options.only and options.only not in cell.name:
            continue
        if missing := cell.missing():
            skipped.append(f"{cell.name} ({', '.join(missing)})")
            continue
        print(f"{cell.name} ...", flush=True)
        tried.append(cell)
        try:
            try_cell(cell, not options.no_tests)
        except RuntimeError as error:
            failed.append(f"{cell.name}: {error}")
    seen: dict[str, set[str]] = {}
    print(f"\n{'compiler':<38} {'instructions':<13} {'digest':<17} tests")
    for cell in tried:
        for instructions, digest in cell.bits.items() or [("-", "-")]:
            seen.setdefault(FUSES.get(instructions, "-"), set()).add(digest)
            tests = cell.tests if instructions != "baseline" else ""
            print(f"{cell.name:<38} {instructions:<13} {digest:<17} {tests}")
    print("\nnot installed:", "; ".join(skipped) or "nothing")
    for arithmetic, digests in seen.items():
        if len(digests) > 1:
            failed.append(f"digests differ where it is {arithmetic}")
    sys.exit("\n".join(failed) or 0)


if __name__ == "__main__":
    main()
