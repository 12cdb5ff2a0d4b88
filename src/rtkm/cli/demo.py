"""rtkm demo: a medical table, and what the commands make of it."""

from __future__ import annotations

import argparse
import shlex
from importlib.resources import files
from pathlib import Path

from rtkm._files import replacing
from rtkm._optional import import_optional
from rtkm.cli.options import set_up
from rtkm.cli.terminal import Terminal

TABLE, REPORT, MODEL = "breast-cancer.csv", "report.html", "model.rtkm"


def add(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    set_up(
        parser,
        run,
        usage="[--out DIR]",
        description="Write a table of samples of breast tissue, find its clusters and "
        "outliers,\nhowever many there are, draw the report and explain a sample.",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("rtkm-demo"),
        metavar="DIR",
        help="where files go (default: rtkm-demo)",
    )


def run(options: argparse.Namespace) -> None:
    """Write the table and run the commands on it, showing each."""
    from rtkm.cli.main import main

    for package in ("pyarrow", "jinja2"):  # before anything is written
        import_optional(package, needed_by="rtkm demo")
    terminal = Terminal()
    options.out.mkdir(parents=True, exist_ok=True)
    table, report, model = (str(options.out / name) for name in (TABLE, REPORT, MODEL))
    content = files("rtkm").joinpath("data", "wbc.csv").read_bytes()
    with replacing(table) as stream:
        stream.write(content)
    terminal.say(
        f"{table} holds 699 samples of breast tissue, nine features graded from 1 to "
        "10, and a diagnosis, which is text and is not used. Nobody says how many "
        "clusters or outliers to look for:"
    )
    written = ["--report", report, "--model", model]
    fit = ["fit", table, "--missing", "median", *written]
    explain = ["explain", model, table, "--row", "66"]
    for command in (fit, explain):
        terminal.print(f"\n$ {shlex.join(['rtkm', *command])}\n")
        if main(command):
            raise ValueError("the demonstration failed; see the message above.")
    terminal.say(f"\nOpen {report} in a browser to see it all.")
