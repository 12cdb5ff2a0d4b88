"""Files that are there whole, or as they were before."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that takes its place only when all is written.

    Whatever goes wrong before leaves what was there, and nothing beside it. What a link
    points to is replaced, not the link, and passes its permissions on. A name that
    stands for something else than a file, such as a pipe, is written to as it is.
    """
    target = Path(os.path.realpath(path))
    # short, since a character may take four of the 255 bytes of a name
    part = target.parent / f".{target.name[:50]}.{secrets.token_hex(8)}.part"
    with naming(path, part):
        if os.path.exists(path) and not os.path.isfile(target):
            with open(path, "wb") as stream:
                yield stream
        elif Path(os.path.abspath(path)).parts[1:2] in (("dev",), ("proc",)):
            # a file that another program has open keeps what it holds
            with open(path, "ab") as stream:
                yield stream
        else:
            with renaming(part, target) as stream:
                yield stream


@contextmanager
def naming(path: str | os.PathLike[str], part: Path) -> Iterator[None]:
    """Let errors speak of a file by the name that was given."""
    try:
        yield
    except OSError as error:
        # what has no number, or names another file, did not come of writing this one
        if error.errno is None or error.filename not in (None, os.fspath(part)):
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


@contextmanager
def renaming(part: Path, target: Path) -> Iterator[BinaryIO]:
    """Write to a new file, and rename it when it is on the disk."""
    try:
        with part.open("xb") as stream:
            if target.exists():  # at once, so that nobody else reads what is private
                shutil.copymode(target, part)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, target)
    finally:
        with suppress(OSError):
            part.unlink()
    keep_name(target.parent)


def keep_name(folder: Path) -> None:
    """Make a new name outlast a power cut, where the system can be asked to."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
