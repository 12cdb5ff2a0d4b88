"""rtkm reproduce: the experiments of the paper, run again."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from rtkm.cli.options import new_command


def add(commands: Any) -> None:
    """Add the command."""
    from rtkm.reproduce._results import EXPERIMENTS

    command = new_command(
        commands,
        run,
        name="reproduce",
        usage="[--quick] [--out DIR] [options]",
        help="re-run the experiments of the paper, and say what holds",
        description="Recompute every figure and table of 'Robust trimmed k-means'. "
        "Finished parts are kept: the same command goes on where it was stopped.",
    )
    command.add_argument(
        "--out", type=Path, default=Path("reproduction"), metavar="DIR"
    )
    command.add_argument(
        "--quick", action="store_true", help="fewer starts: minutes instead of a while"
    )
    command.add_argument(
        "--only",
        nargs="+",
        action="extend",
        choices=EXPERIMENTS,
        default=[],
        metavar="EXPERIMENT",
        help=f"some of {', '.join(EXPERIMENTS)}",
    )
    command.add_argument(
        "--jobs",
        type=positive,
        metavar="N",
        help="processes to use; by default as many as there are processors",
    )
    command.set_defaults(when_interrupted="; run the same command to go on")


def run(options: argparse.Namespace) -> None:
    """Run the experiments and write the report."""
    from rtkm.reproduce._report import check_drawing, write_report
    from rtkm.reproduce._results import compute

    check_drawing()
    make_folder(options.out)
    results = compute(
        options.out, only=options.only, quick=options.quick, n_jobs=options.jobs
    )
    page = write_report(options.out, results)
    for claim in results["claims"]:
        print(f"{claim['verdict']}: {claim['claim']}")
    print(f"The report is {page}; every number is in {options.out / 'results.json'}.")


def positive(text: str) -> int:
    """Read a whole number of at least 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not valid; expected a whole number of at least 1."
        )
    return number


def make_folder(folder: Path) -> None:
    """Make a folder if it is missing; fail before the work if it is of no use."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except FileExistsError as error:
        raise NotADirectoryError(
            f"--out {folder} is not a folder; expected one, or a name that is free."
        ) from error
    except OSError as error:
        raise OSError(
            f"--out {folder} cannot be written to ({error.strerror or error}); choose "
            "another folder."
        ) from error
