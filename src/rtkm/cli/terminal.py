"""What is said on the terminal: sentences, tables, and a bar while work goes on."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

from tqdm import tqdm

from rtkm._number_text import figure
from rtkm.report.terminal_report import (
    harmless as harmless,
    on_one_line as on_one_line,
    table_lines,
)

WIDEST = 100
BAR_AFTER = 1.0  # seconds


class Terminal:
    """Speaks to the user, unless told to be quiet.

    Parameters
    ----------
    quiet : bool, default=False
        Whether to say nothing.
    aside : bool, default=False
        Whether to speak on standard error, since answers take standard output.
    """

    def __init__(self, quiet: bool = False, aside: bool = False) -> None:
        self.stream: TextIO | None = sys.stderr if aside else sys.stdout
        if quiet:
            self.stream = None

    @property
    def width(self) -> int:
        """Return how many letters go on a line."""
        return min(shutil.get_terminal_size().columns, WIDEST)

    def say(self, text: str, indent: str = "") -> None:
        """Print a text, folded to the width of the terminal."""
        fold = textwrap.TextWrapper(
            self.width,
            initial_indent=indent,
            subsequent_indent=indent,
            break_on_hyphens=False,
            break_long_words=False,
        ).fill
        for line in text.splitlines():
            self.print(fold(line))

    def skip(self) -> None:
        """Leave a line empty."""
        self.print("")

    def print(self, text: str) -> None:
        """Print lines as they are."""
        if self.stream is not None:
            print(harmless(text), file=self.stream, flush=True)

    def table(self, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Print a table."""
        for line in table_lines(header, rows):
            self.print(line)

    @contextmanager
    def progress(self, what: str) -> Iterator[Callable[[Any], None] | None]:
        """Show a bar for work that takes long; yields what is to be called at steps."""
        if self.stream is None or not sys.stderr.isatty():
            yield None
            return
        with tqdm(
            desc=what,
            unit=" steps",
            delay=BAR_AFTER,
            leave=False,
            file=sys.stderr,
            dynamic_ncols=True,
        ) as bar:

            def show(state: Any) -> None:
                bar.set_postfix_str(f"objective {figure(state.objective)}", False)
                bar.update()

            yield show
