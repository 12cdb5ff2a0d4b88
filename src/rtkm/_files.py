"""Files that are there whole, or as they were before.

A file is written under another name beside its target, as a part, and renamed when it
is on the disk. A part is locked as long as its writer lives, so that others can tell
what a killed run left behind. `_journal` has files that change together.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

# a part, or the old file that is kept until all parts of a row are renamed
PART_NAME = re.compile(r"\..{1,50}\.[0-9a-f]{16}\.rtkm\.(part|old)", re.DOTALL)

# what this process removes if a signal ends it
unfinished: set[Path] = set()


@dataclass
class Part:
    """A file that is written beside the target whose place it is to take."""

    given: str | os.PathLike[str]
    target: Path
    path: Path
    stream: BinaryIO

    def finish(self) -> None:
        """Make sure that all is on the disk."""
        self.stream.flush()
        os.fsync(self.stream.fileno())
        if fcntl is None:  # Windows renames no open files
            self.stream.close()

    def take_place(self) -> None:
        """Replace the target."""
        with naming(self.given, self.path):
            os.replace(self.path, self.target)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that takes its place only when all is written.

    Whatever goes wrong before leaves what was there, and nothing beside it. What a link
    points to is replaced, not the link, and passes its permissions on. A name that
    stands for something else than a file, such as a pipe, is written to as it is.
    """
    if not is_replaceable(path):
        with writing_to(path) as stream:
            yield stream
        return
    with writing_part(path) as part:
        yield part.stream
        part.finish()
        part.take_place()
    keep_names(part.target.parent)


def is_replaceable(path: str | os.PathLike[str]) -> bool:
    """Whether a name stands for a file, or for nothing yet."""
    try:
        os.stat(path)  # fails for a loop of links, too
    except FileNotFoundError:
        pass
    else:
        if not os.path.isfile(path):
            return False
    # a file that another program has open, such as /dev/stdout, keeps what it holds
    place = Path(os.path.abspath(path)).parts[1:3]
    return place[:1] not in (("dev",), ("proc",)) or place == ("dev", "shm")


@contextmanager
def writing_to(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open what is written to as it is."""
    with naming(path), open(path, "ab" if os.path.isfile(path) else "wb") as stream:
        yield stream


@contextmanager
def writing_part(path: str | os.PathLike[str]) -> Iterator[Part]:
    """Open a new file beside the one of a name; it is removed unless it was renamed."""
    target = Path(os.path.realpath(path))
    part = part_beside(target)
    with naming(path, part):
        unfinished.add(part)
        try:
            with create_locked(part) as stream:
                # at once, so that nobody else reads what is private
                if target.exists():
                    shutil.copymode(target, part)
                yield Part(path, target, part, stream)
        finally:
            with suppress(OSError):
                part.unlink()
            unfinished.discard(part)


def part_beside(target: Path) -> Path:
    """Return a new name for what is to become a file."""
    # short, since a character may take four of the 255 bytes of a name
    return target.parent / f".{target.name[:50]}.{secrets.token_hex(8)}.rtkm.part"


def create_locked(path: Path) -> BinaryIO:
    """Create a file that is locked until it is closed."""
    while True:
        stream = path.open("xb")
        with suppress(OSError):  # a disk without locks
            lock(stream.fileno(), wait=True)
        if path.exists():
            return stream
        stream.close()  # it looked dead before it was locked, and was removed


def lock(number: int, *, wait: bool = False) -> bool:
    """Lock an open file for this process; False if another one has it."""
    if fcntl is None:
        raise OSError("this system has no locks")
    try:
        fcntl.flock(number, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


@contextmanager
def naming(path: str | os.PathLike[str], part: Path | None = None) -> Iterator[None]:
    """Let errors speak of a file by the name that was given."""
    try:
        yield
    except OSError as error:
        # what has no number, or names another file, did not come of writing this one
        names = (None, os.fspath(path if part is None else part))
        if error.errno is None or error.filename not in names:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def keep_names(folder: Path) -> None:
    """Make new names outlast a power cut, where the system can be asked to."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def remove_unfinished() -> None:
    """Remove what this process has not finished, before a signal ends it."""
    for path in list(unfinished):
        with suppress(OSError):
            path.unlink()
