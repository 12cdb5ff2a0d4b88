"""Arguments in, messages and an exit code out."""

from __future__ import annotations

import argparse
import shlex
import sys
import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from typing import TextIO

from rtkm import __version__
from rtkm.cli import compare, demo, explain, fit, methods, predict, reproduce
from rtkm.cli.completion import add_completion
from rtkm.cli.flags import find_method, owners_of
from rtkm.cli.messages import InputError
from rtkm.cli.terminal import harmless

DESCRIPTION = """\
Robust clustering of tables: clusters, rows that belong to several of them, and outliers
that belong to none.
"""

EXAMPLES = """\
examples:
  rtkm demo                                     see it work on a medical table
  rtkm fit data.csv -k 3                        three clusters, and the outliers
  rtkm fit data.csv -k 3 --report report.html   the same as a page
  rtkm fit data.csv -k 3 --model model.rtkm     keep the model, then
  rtkm predict model.rtkm new.csv               ask it about new rows
  rtkm explain model.rtkm data.csv --row 17     ask it why row 17 is an outlier

`rtkm COMMAND --help` has more. Exit codes: 0 all went well, 1 the input cannot be used,
2 the command was mistyped.
"""

# anything else is a fault of ours, and shows where it is
BAD_INPUT = (OSError, ValueError, ImportError)
COMMANDS = (fit, predict, explain, compare, methods, demo, reproduce)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 is success, 1 bad input, 2 wrong usage."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    for stream in (sys.stdout, sys.stderr):
        show_all_letters(stream)
    options = parse(arguments)
    try:
        with warnings.catch_warnings():
            # numbers at the end of the scale; fits tell what is to be known of them
            warnings.simplefilter("ignore", RuntimeWarning)
            options.run(options)
    except BAD_INPUT as error:
        complain(" ".join(str(error).split()))
        return 1
    except MemoryError:
        complain("not enough memory; use fewer rows or --columns.")
        return 1
    except KeyboardInterrupt:
        complain(f"interrupted{options.when_interrupted}.")
        return 130
    return 0


def complain(text: str) -> None:
    """Say what went wrong."""
    print(f"rtkm: {harmless(text)}", file=sys.stderr)


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options, or leave with a message about how the command is used."""
    parser = make_parser()
    try:
        parser = make_parser(method_in(arguments))
    except InputError as error:
        parser.error(str(error))
    options, others = parser.parse_known_args(arguments)
    if others:
        method = getattr(options, "method", None)
        options.parser.error(unknown(others, options.parser, method))
    options.command_line = shlex.join(["rtkm", *arguments])
    return options


def make_parser(method: str = fit.DEFAULT_METHOD) -> argparse.ArgumentParser:
    """Return the parser of all commands, with the flags of one method."""
    parser = argparse.ArgumentParser(
        prog="rtkm",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"rtkm {__version__}")
    add_completion(parser)
    parser.set_defaults(parser=parser, when_interrupted="")
    commands = parser.add_subparsers(
        title="commands", required=True, metavar="COMMAND", dest="command"
    )
    for command in COMMANDS:
        command.add(commands, method) if command is fit else command.add(commands)
    return parser


def method_in(arguments: list[str]) -> str:
    """Return the method that is named, whose flags the parser must know."""
    glance = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    glance.add_argument("--method", nargs="?")
    name = glance.parse_known_args(arguments)[0].method
    return find_method(name or fit.DEFAULT_METHOD).__name__


def unknown(
    others: list[str], parser: argparse.ArgumentParser, method: str | None
) -> str:
    """Say what is wrong with arguments that nobody knows."""
    flags = [other for other in others if other.startswith("-")]
    if not flags:
        return f"unrecognized arguments: {shlex.join(others)}"
    flag = flags[0].partition("=")[0]
    owners = owners_of(flag) if method else []
    if owners:
        return f"{method} has no {flag}; it is an option of {', '.join(owners)}."
    known = [name for action in parser._actions for name in action.option_strings]
    close = get_close_matches(flag, known, n=1)
    hint = (
        f"did you mean {close[0]}?" if close else f"`{parser.prog} --help` lists all."
    )
    return f"there is no option {flag}; {hint}"


def show_all_letters(stream: TextIO) -> None:
    """Let letters that a terminal does not have be spelled out instead of failing."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
