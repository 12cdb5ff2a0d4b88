"""Completion of commands and flags in shells."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import Any

from rtkm._optional import import_optional

SHELLS = ("bash", "zsh", "tcsh")


class PrintCompletion(argparse.Action):
    """Print the script that a shell reads."""

    def __init__(
        self, *args: Any, whole: Callable[[], argparse.ArgumentParser], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.whole = whole

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Print it and leave."""
        try:
            shtab = import_optional("shtab", needed_by="completion")
        except ImportError as error:
            parser.exit(1, f"rtkm: {error}\n")
        script = shtab.complete(self.whole(), shell=values)
        if values == "zsh":  # it evaluates the words to choose from
            script = re.sub(r"(?<=\w)\|\|", r"\|\|", script)
        print(script)
        parser.exit()


def add_completion(
    parser: argparse.ArgumentParser, whole: Callable[[], argparse.ArgumentParser]
) -> None:
    """Add the flag that prints the script for the whole parser, of all commands."""
    parser.add_argument(
        "--completion",
        action=PrintCompletion,
        whole=whole,
        choices=SHELLS,
        metavar="SHELL",
        help="print a completion script for bash, zsh or tcsh; use it with "
        'eval "$(rtkm --completion bash)"',
    )
