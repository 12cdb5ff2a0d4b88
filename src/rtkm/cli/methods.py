"""rtkm methods: what each method is for."""

from __future__ import annotations

import argparse

from rtkm._registry import METHODS
from rtkm.cli.flags import (
    default_of,
    find_method,
    flags_of,
    typed_fields,
)
from rtkm.cli.options import set_up
from rtkm.cli.terminal import Terminal
from rtkm.report.docstrings import explain_parameters, purpose
from rtkm.tables.messages import InputError


def add(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    set_up(
        parser,
        run,
        usage="[METHOD]",
        description="List all methods, or tell more about one.",
    )
    parser.add_argument(
        "name", nargs="?", metavar="METHOD", help="the one to tell more about"
    )


def run(options: argparse.Namespace) -> None:
    """List the methods, or describe one."""
    terminal = Terminal()
    if options.name is None:
        list_methods(terminal)
        return
    try:
        method = find_method(options.name)
    except InputError as error:
        options.parser.error(str(error).removeprefix("--method "))
    describe(terminal, method)


def list_methods(terminal: Terminal) -> None:
    """Print a line for each method."""
    for title, kind in (("clusters", "clusterer"), ("outliers alone", "detector")):
        terminal.say(f"Methods that find {title}:")
        terminal.table(
            ["method", "what it is for"],
            [
                [name, method.purpose]
                for name, method in METHODS.items()
                if method.kind == kind
            ],
        )
        terminal.skip()
    terminal.say("Start with RTKM. More about one: rtkm methods KMOR")


def describe(terminal: Terminal, method: type) -> None:
    """Print when to choose a method, and its options."""
    title, when = purpose(method)
    heading = ": ".join(filter(None, [method.__name__, title]))
    terminal.say("\n\n".join(filter(None, [heading, when, "Options:"])))
    explained = explain_parameters(method)
    for field in typed_fields(method):
        flags = ", ".join(flags_of(method, field.name))
        terminal.say(f"  {flags}{default_of(field)}")
        terminal.say(explained.get(field.name, ""), indent="      ")
    terminal.say(f"\nNext: rtkm fit data.csv --method {method.__name__}")
