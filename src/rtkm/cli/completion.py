"""Completion of commands and flags in shells."""

from __future__ import annotations

import argparse
from typing import Any

SHELLS = ("bash", "zsh", "tcsh")


class PrintCompletion(argparse.Action):
    """Print the script that a shell reads."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Print it and leave."""
        try:
            import shtab
        except ImportError:
            parser.exit(1, 'rtkm: completion needs shtab; pip install "rtkm[cli]".\n')
        print(shtab.complete(parser, shell=values))
        parser.exit()


def add_completion(parser: argparse.ArgumentParser) -> None:
    """Add the flag that prints the script."""
    parser.add_argument(
        "--completion",
        action=PrintCompletion,
        choices=SHELLS,
        metavar="SHELL",
        help="print what completes commands in bash, zsh or tcsh, such as: "
        'eval "$(rtkm --completion bash)"',
    )
