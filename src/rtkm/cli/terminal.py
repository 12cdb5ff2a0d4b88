"""What is said on the terminal: sentences, tables, and a bar while work goes on."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, TextIO
from unicodedata import category

from tqdm import tqdm

from rtkm.cli.figures import figure
from rtkm.cli.messages import LONGEST_SHOWN

WIDEST = 100
BAR_AFTER = 1.0  # seconds
COMMANDS = ("Cc", "Cf", "Cs", "Zl", "Zp")  # categories of letters that do not show


class Terminal:
    """Speaks to the user, unless told to be quiet or nobody listens any more.

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
        stream = self.stream
        if stream is None:
            return
        try:
            print(harmless(text), file=stream, flush=True)
        except BrokenPipeError:  # the work goes on, for the files that were asked for
            self.stream = None
            silence(stream)

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


@contextmanager
def standard_output() -> Iterator[BinaryIO]:
    """Open what flows out, for answers; that nobody takes them is no error."""
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        silence(sys.stdout)


def silence(stream: TextIO) -> None:
    """Keep the interpreter from flushing to a pipe that is closed."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):  # a stream without a file, as in tests
        pass


def table_lines(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Return the lines of a table: words to the left, numbers to the right.

    Examples
    --------
    >>> for line in table_lines(["cluster", "size"], [["a", "1,000"], ["b", "7"]]):
    ...     print(line)
      cluster   size
      a        1,000
      b            7
    """
    cells = [[on_one_line(cell, WIDEST) for cell in row] for row in rows]
    columns = list(zip(header, *cells, strict=True))
    widths = [max(map(len, column)) for column in columns]
    is_number = [all(map(looks_numeric, column[1:])) for column in columns]
    for row in (header, *cells):
        padded = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, is_number, strict=True)
        )
        yield "  " + "  ".join(padded).rstrip()


def looks_numeric(cell: str) -> bool:
    """Whether a cell belongs to the right."""
    return not cell or cell in "-<>" or cell.lstrip("-<> ")[:1].isdigit()


def on_one_line(text: object, most: int = LONGEST_SHOWN) -> str:
    r"""Shorten a text, and show what would move the cursor or hide something.

    Examples
    --------
    >>> print(on_one_line("red \x1b[31m\n"), len(on_one_line("a" * 99)))
    red \x1b[31m\n 40
    """
    text = harmless(str(text).replace("\n", "\\n"))
    return text if len(text) <= most else text[: most - 3] + "..."


def harmless(text: str) -> str:
    r"""Spell out letters that command a terminal, or hide others.

    Examples
    --------
    >>> print(harmless("a\x1b[31mb\u202ec"))
    a\x1b[31mb\u202ec
    """
    return "".join(
        c if c == "\n" or category(c) not in COMMANDS else escaped(c) for c in text
    )


def escaped(letter: str) -> str:
    """Spell a letter out."""
    return letter.encode("unicode_escape").decode()
