"""Let python -m experiments re-run the paper."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

try:
    from experiments.compute import EXPERIMENTS, compute
    from experiments.drawing.gallery import draw_all
    from experiments.drawing.style import new_figure
    from experiments.engine.run import tell
    from experiments.page.page import TEMPLATES, write_page
    from rtkm._streams import lasting_streams
    from rtkm.cli.terminal import Terminal
    from rtkm.report.templating import make_environment
except ModuleNotFoundError as error:
    if error.name not in ("experiments", "rtkm"):
        raise
    sys.exit(
        f"experiments: no package {error.name} was found; install rtkm, and run "
        "`python -m experiments` at the root of its source tree."
    )
except KeyboardInterrupt:  # there is nothing to go on with yet
    sys.exit(130)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the experiments; 0 is success, 1 bad input, 2 wrong usage."""
    with lasting_streams():
        return finish(make_parser().parse_args(arguments))


def finish(options: argparse.Namespace) -> int:
    """Run the experiments and return the exit code."""
    try:
        run(options)
    except (OSError, ValueError, ImportError) as error:
        tell(" ".join(str(error).split()))
        return 1
    except MemoryError:
        tell("not enough memory; run the same command to go on, with fewer --jobs.")
        return 1
    except KeyboardInterrupt:
        tell("interrupted; run the same command to go on.")
        return 130
    return 0


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description="Recompute every figure and table of 'Robust trimmed k-means', and "
        "say which of its claims hold. Finished parts are kept: the same command goes "
        "on where it was stopped.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="the folder of the report, the numbers and the pictures",
    )
    parser.add_argument(
        "--quick", action="store_true", help="fewer starts: minutes instead of a while"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        action="extend",
        choices=EXPERIMENTS,
        default=[],
        metavar="EXPERIMENT",
        help=f"some of {', '.join(EXPERIMENTS)}",
    )
    parser.add_argument(
        "--jobs",
        type=positive,
        metavar="N",
        help="processes to use; by default as many as there are processors",
    )
    return parser


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


def run(options: argparse.Namespace) -> None:
    """Run the experiments and write the report."""
    # if nothing can be drawn or shown, fail before the work
    new_figure(1, 1)
    make_environment(TEMPLATES)
    make_folder(options.out)
    results = compute(
        options.out, only=options.only, quick=options.quick, n_jobs=options.jobs
    )
    pictures, page = options.out / "pictures", options.out / "index.html"
    pictures.mkdir(exist_ok=True)
    write_page(page, results, draw_all(results, pictures))
    terminal = Terminal()
    for claim in results["claims"]:
        terminal.print(f"{claim['verdict']}: {claim['claim']}")
    numbers = options.out / "results.json"
    terminal.print(f"The report is {page}; every number is in {numbers}.")


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


if __name__ == "__main__":
    sys.exit(main())
