"""Arguments in, messages and an exit code out.

What a command needs is imported once it is known which one, so that `--help` and
`--version` answer at once.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shlex
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module

from rtkm._files import remove_unfinished
from rtkm._signals import ending_by_signals
from rtkm._streams import failure_of, lasting_streams
from rtkm._version import __version__
from rtkm.cli.completion import add_completion
from rtkm.tables.messages import InputError

DESCRIPTION = """\
Robust clustering of tables: clusters, rows that belong to several of them, and outliers
that belong to none.
"""

EXAMPLES = """\
examples:
  rtkm demo                                     try it on a medical table
  rtkm fit data.csv                             find its clusters and outliers
  rtkm fit data.csv --report report.html        the same as a page
  rtkm fit data.csv -k 3 --contamination 0.02   as many as you say
  rtkm fit data.csv --model model.rtkm          keep the model, then
  rtkm predict model.rtkm new.csv               ask it about new rows
  rtkm explain model.rtkm data.csv --row 17     ask it why row 17 is an outlier

`rtkm COMMAND --help` has more. Exit codes: 0 all went well, 1 the input cannot be used,
2 the command was mistyped; 129, 130 and 143 after SIGHUP, SIGINT (Ctrl-C) and SIGTERM.
"""

# anything else is a fault of ours, and shows where it is
BAD_INPUT = (OSError, ValueError, ImportError)
# a module of this package each
COMMANDS = {
    "fit": "find the clusters and outliers of a table",
    "choose": "how many clusters and outliers a table has",
    "predict": "ask a model about new rows",
    "explain": "why a row is an outlier, and what it would take not to be one",
    "compare": "many methods on one table, side by side",
    "methods": "what each method is for",
    "demo": "try it on a medical table",
}
REPRODUCE = (
    "reproduce is not a command any more; run `python -m experiments` at the root of "
    "rtkm's source tree."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 is success, 1 bad input, 2 wrong usage.

    SIGINT, SIGTERM and SIGHUP end the process, after a clean-up.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    options = argparse.Namespace()
    with ending_by_signals(lambda: clean_up(options)), lasting_streams() as output:
        try:
            code = run(arguments, options)
        except SystemExit as leaving:  # how argparse ends
            if leaving.code or failure_of(output) is None:
                raise
            code = 0
        failure = failure_of(output)
        if failure is not None and code == 0:
            complain(f"standard output cannot be written ({failure}).")
            code = 1
    return code


def run(arguments: list[str], options: argparse.Namespace) -> int:
    """Parse the arguments into options, run the command and return the exit code."""
    if arguments[:1] == ["reproduce"]:
        complain(REPRODUCE)
        return 2
    parse(arguments, options)
    from rtkm.cli.files import repair_places
    from rtkm.cli.flags import table_flags

    try:
        repair_places(options)
        with warnings.catch_warnings():
            # numbers at the end of the scale; fits tell what is to be known of them
            warnings.simplefilter("ignore", RuntimeWarning)
            options.run(options)
    except BAD_INPUT as error:
        complain(" ".join(table_flags([str(error)])[0].split()))
        return 1
    except MemoryError:
        complain("not enough memory; use fewer rows or --columns.")
        return 1
    except KeyboardInterrupt:  # by a handler of the caller
        complain(f"interrupted{options.when_interrupted}.")
        return 130
    return 0


def complain(text: str) -> None:
    """Say what went wrong."""
    from rtkm.cli.terminal import harmless

    print(f"rtkm: {harmless(text)}", file=sys.stderr)


def clean_up(options: argparse.Namespace) -> None:
    """Remove what is not finished, end the workers and say so, before a signal ends us.

    This may interrupt anything, also a print; so it writes to the file below.
    """
    remove_unfinished()
    for worker in multiprocessing.active_children():
        worker.terminate()
    start = "\n" if os.isatty(2) else ""  # behind ^C, or a progress bar
    text = f"{start}rtkm: interrupted{getattr(options, 'when_interrupted', '')}.\n"
    with suppress(OSError):
        os.write(2, text.encode())


def parse(arguments: list[str], options: argparse.Namespace) -> None:
    """Fill in the options, or leave with a message about how the command is used."""
    try:
        parser = make_parser(arguments)
    except InputError as error:
        make_parser().error(str(error))
    _, others = parser.parse_known_args(arguments, options)
    if others:
        method = getattr(options, "method", None)
        options.parser.error(unknown(others, options.parser, method))
    options.command_line = shlex.join(["rtkm", *arguments])


def make_parser(arguments: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Return the parser, which knows the flags of the commands among the arguments."""
    parser = argparse.ArgumentParser(
        prog="rtkm",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"rtkm {__version__}")
    add_completion(parser, lambda: make_parser(list(COMMANDS)))
    parser.set_defaults(parser=parser, when_interrupted="")
    commands = parser.add_subparsers(
        title="commands", required=True, metavar="COMMAND", dest="command"
    )
    for name, purpose in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=purpose,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        if name in arguments:
            module = import_module(f"rtkm.cli.{name}")
            if name == "fit":
                module.add(command, module.method_in(arguments))
            else:
                module.add(command)
    return parser


def unknown(
    others: list[str], parser: argparse.ArgumentParser, method: str | None
) -> str:
    """Say what is wrong with arguments that nobody knows."""
    from rtkm.cli.flags import owners_of

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
