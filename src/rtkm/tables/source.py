"""Where a table comes from: a file, or what flows in."""

from __future__ import annotations

import io
import os
import select
import stat
import sys
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, BinaryIO

from rtkm.tables.arrow import pa
from rtkm.tables.messages import InputError, shown
from rtkm.tables.packing import Packing, Unpacked, packing_of

STANDARD_INPUT = "-"
# seconds after which a signal is seen that came just before a pipe was waited for
GLANCE = 0.2
BUFFER_BYTES = 2**18
LONGEST_MAGIC = 16


@dataclass(frozen=True)
class Source:
    """Bytes that can be read more than once: a file, or the content of a pipe.

    They are unpacked each time that they are read, if they are compressed.
    """

    name: str
    path: Path | None = None
    content: bytes = b""
    # size and time of the file when it was first seen
    stamp: tuple[int, int] | None = None
    packing: Packing | None = None

    def open(self) -> BinaryIO:
        """Return the bytes as a stream."""
        given = io.BytesIO(self.content) if self.path is None else self.path.open("rb")
        if self.packing is None:
            return given
        return io.BufferedReader(Unpacked(self.name, self.packing, given), BUFFER_BYTES)

    def unpacked(self) -> Source:
        """Return what is in a compressed file, or the same if it is none."""
        return replace(self, packing=packing_of(self.start(LONGEST_MAGIC)))

    def in_memory(self) -> Source:
        """Return bytes that readers can jump about in."""
        if self.packing is None:
            return self
        with self.open() as stream:
            return Source(self.name, content=stream.read())

    def open_for_arrow(self) -> Any:
        """Return the bytes as pyarrow reads them fastest."""
        if self.path is None:
            return pa.BufferReader(self.content)
        try:
            return pa.OSFile(str(self.path))
        except UnicodeError:  # a name that is not in the encoding of the system
            return pa.PythonFile(self.path.open("rb"))

    def start(self, n_bytes: int) -> bytes:
        """Return the first bytes."""
        with self.open() as stream:
            return stream.read(n_bytes)

    def check_unchanged(self) -> None:
        """Refuse a file that another program wrote to in the meantime."""
        if self.path is None:
            return
        what = "has changed"
        try:
            if stamp_of(self.path.stat()) == self.stamp:
                return
        except FileNotFoundError:
            what = "was removed"
        except OSError:
            pass
        raise InputError(f"{self.name} {what} while it was used; run again.")


def stamp_of(status: os.stat_result) -> tuple[int, int]:
    """Return what changes when a file does."""
    return status.st_size, status.st_mtime_ns


def find_source(given: str | os.PathLike[str]) -> Source:
    """Find a file, or take in standard input for ``"-"``; nothing is parsed yet."""
    if given == STANDARD_INPUT:
        if sys.stdin is None:
            raise InputError("standard input is closed; name a file.")
        return Source("standard input", content=read_whole(sys.stdin.buffer))
    path = Path(given)
    try:
        return look_up(path)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist{similar_file(path)}.") from None
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"{path} cannot be read ({reason}).") from None


def look_up(path: Path) -> Source:
    """Return a file as a source; pipes, which cannot be read twice, are taken in."""
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise InputError(f"{path} is a folder; expected a file{example_in(path)}.")
    with path.open("rb") as stream:  # shows whether it may be read
        if not stat.S_ISREG(status.st_mode):
            return Source(str(path), content=read_whole(stream))
    return Source(str(path), path=path, stamp=stamp_of(status))


def read_whole(stream: BinaryIO) -> bytes:
    """Read what flows in, up to its end, and let signals end that at any moment.

    Python looks for signals when a read is interrupted by one, but not for one that
    came just before: that would wait as long as the pipe does.
    """
    try:
        select.select([stream], [], [], 0)
    except (OSError, ValueError, TypeError):  # nothing that can be waited for
        return stream.read()
    parts: list[bytes] = []
    while True:
        if select.select([stream], [], [], GLANCE)[0]:
            part = stream.read1()  # type: ignore[attr-defined]
            if not part:
                return b"".join(parts)
            parts.append(part)


def similar_file(path: Path) -> str:
    """Suggest a file of nearly the same name."""
    try:
        names = os.listdir(path.parent)
    except OSError:
        return f"; there is no folder {path.parent}"
    close = get_close_matches(path.name, names, n=1)
    return f"; there is {shown(close[0])} beside it" if close else ""


def example_in(folder: Path) -> str:
    """Name a file of the folder that may have been meant."""
    from rtkm.tables.formats import is_named_table  # whose readers take sources

    try:
        names = sorted(filter(is_named_table, os.listdir(folder)))
    except OSError:
        return ""
    return f", such as {folder / names[0]}" if names else ""
