"""Standard output and error, which may be closed, full or left by their reader."""

from __future__ import annotations

import io
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO


class LastingOutput(io.RawIOBase):
    """What is below standard output or error; that it fails ends no work.

    Parameters
    ----------
    raw : raw stream or None
        Where bytes go; None if it was closed when the process started.
    """

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.error: OSError | None = None

    def writable(self) -> bool:
        """Whether it can be written to."""
        return True

    def isatty(self) -> bool:
        """Whether somebody looks at it."""
        return self.raw is not None and self.raw.isatty()

    def fileno(self) -> int:
        """Return the number of the file."""
        return super().fileno() if self.raw is None else self.raw.fileno()

    def write(self, data: Any) -> int:
        """Write bytes, or drop them once this has failed."""
        if self.raw is None or self.error is not None:
            return len(data)
        try:
            while (n_written := self.raw.write(data)) is None:
                select.select([], [self.raw], [])  # a pipe that does not wait is full
        except OSError as error:
            self.error = error
            return len(data)
        return int(n_written)


@contextmanager
def lasting_streams() -> Iterator[LastingOutput | None]:
    """Let the work go on whatever becomes of standard output and error.

    What a caller has put in their place stays. Yields what is below standard output, if
    this call has put it there.
    """
    occupy_closed_numbers()
    before = sys.stdout, sys.stderr
    try:
        if sys.stdout is sys.__stdout__:
            sys.stdout = lasting(sys.stdout)
        if sys.stderr is sys.__stderr__:
            sys.stderr = lasting(sys.stderr)
        yield output_below(sys.stdout) if sys.stdout is not before[0] else None
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        sys.stdout, sys.stderr = before


def occupy_closed_numbers() -> None:
    """Keep files from getting the number of a closed stream, and what is printed."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free


def lasting(stream: Any) -> TextIO:
    """Return a stream in place of another that may fail, or is not there."""
    raw = None
    options: dict[str, Any] = {"encoding": "utf-8"}
    if stream is not None:
        with suppress(OSError):
            stream.flush()
        raw = getattr(stream.buffer, "raw", stream.buffer)
        names = ("encoding", "line_buffering", "write_through")
        options = {name: getattr(stream, name) for name in names}
    # letters that a terminal does not have are spelled out instead of failing
    buffer = io.BufferedWriter(LastingOutput(raw))
    return io.TextIOWrapper(buffer, errors="backslashreplace", **options)


def output_below(stream: TextIO) -> LastingOutput | None:
    """Return what is below a stream, if that is ours."""
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    return raw if isinstance(raw, LastingOutput) else None


def is_closed(stream: TextIO) -> bool:
    """Whether a stream was closed when the process started."""
    output = output_below(stream)
    return output is not None and output.raw is None


def failure_of(output: LastingOutput | None) -> str | None:
    """Return why standard output failed; that its reader has left is no failure."""
    sys.stdout.flush()
    error = None if output is None else output.error
    if error is None or isinstance(error, BrokenPipeError):
        return None
    return error.strerror or str(error)
