"""Options that several commands have, and the tables they lead to."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rtkm.cli.gaps import POLICIES
from rtkm.cli.preparing import Prepared, prepare
from rtkm.cli.reading import read_table
from rtkm.cli.scaling import SCALES
from rtkm.cli.sheet import Sheet
from rtkm.cli.writing import STANDARD_OUTPUT

FORMATS = ".csv, .tsv or .parquet; - is standard output"
READING = ("sep", "decimal", "quote", "encoding", "header", "skip")


def new_command(
    commands: Any,
    run: Callable[[argparse.Namespace], None],
    *,
    name: str,
    usage: str,
    help: str,
    description: str,
    examples: str = "",
) -> argparse.ArgumentParser:
    """Add a command, whose help teaches by examples."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        usage=f"rtkm {name} {usage}",
        help=help,
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run, parser=parser)
    return parser


def add_data(parser: argparse.ArgumentParser) -> None:
    """Add the table."""
    parser.add_argument(
        "data",
        metavar="DATA",
        help="a CSV, TSV, Parquet, Arrow, Feather or .npy file; - is standard input",
    )


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add what may be said about how a table is written."""
    group = parser.add_argument_group(
        "how a text table is written (found out if not said)"
    )
    group.add_argument("--sep", metavar="CHARACTER", help="what parts cells; 'tab'")
    group.add_argument("--decimal", choices=[".", ","], help="the decimal mark")
    group.add_argument("--quote", metavar="CHARACTER", help="what quotes cells")
    group.add_argument("--encoding", help="such as utf-8, utf-16 or cp1252")
    group.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="whether the first line names the columns",
    )
    group.add_argument(
        "--skip",
        type=whole,
        default=0,
        metavar="N",
        help="lines above the table that are no part of it (default: 0)",
    )


def whole(text: str) -> int:
    """Read a whole number of at least 0."""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not valid; expected a whole number of at least 0."
        )
    return int(text)


def add_preparation(parser: argparse.ArgumentParser) -> None:
    """Add what may be said about columns and missing cells."""
    group = parser.add_argument_group("what to use")
    group.add_argument(
        "--columns",
        nargs="+",
        action="extend",
        metavar="NAME",
        help="the columns to use; all of numbers if not said",
    )
    group.add_argument(
        "--drop",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME",
        help="columns not to use",
    )
    add_id(group)
    group.add_argument(
        "--scale",
        choices=SCALES,
        help="how to scale columns; if not said, robust where units differ widely",
    )
    add_missing(group, default="error")


def output_path(text: str) -> Path:
    """Read the name of a file to write to."""
    return Path(STANDARD_OUTPUT if text == "/dev/stdout" else text)


def add_output(parser: Any, what: str) -> None:
    """Add the file that rows are written to."""
    parser.add_argument("--output", type=output_path, metavar="FILE", help=what)


def add_quiet(parser: Any) -> None:
    """Add the wish for silence."""
    parser.add_argument("--quiet", action="store_true", help="say nothing but errors")


def add_id(parser: Any) -> None:
    """Add the column that names rows."""
    parser.add_argument(
        "--id", metavar="COLUMN", help="the column that says what rows are called"
    )


def add_missing(parser: Any, default: str | None) -> None:
    """Add what becomes of missing cells."""
    parser.add_argument(
        "--missing",
        choices=POLICIES,
        default=default,
        help="missing cells: stop, leave the row out, or fill in the column's median "
        f"(default: {default or 'as when fitted'})",
    )


def spoken(options: argparse.Namespace) -> list[str]:
    """Return how a table is to be read, as it was typed."""
    words = []
    for name in READING:
        value = getattr(options, name)
        if isinstance(value, bool):
            words.append(f"--{name}" if value else f"--no-{name}")
        elif value:
            words.append(f"--{name}={value}")
    return words


def read(options: argparse.Namespace) -> Sheet:
    """Read the table that the options name."""
    said = {name: getattr(options, name) for name in READING}
    if said["sep"] == "tab":
        said["sep"] = "\t"
    return read_table(options.data, **said)


def prepare_as_told(sheet: Sheet, options: argparse.Namespace) -> Prepared:
    """Make numbers of a table as the options say."""
    return prepare(
        sheet,
        columns=options.columns,
        drop=options.drop,
        id=options.id,
        missing=options.missing,
        scale=options.scale,
    )
