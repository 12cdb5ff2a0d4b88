"""A file for what does not fit in memory, gone when its process ends."""

from __future__ import annotations

import os
import sys
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from rtkm._files import create_locked, part_beside, unfinished
from rtkm._journal import remove_dead_parts
from rtkm.tables.messages import InputError

FOLDER = "RTKM_SCRATCH"  # says where, in the environment


class Scratch:
    """A file that other processes can read by its name as long as this one lives.

    It goes with the object, at the end of Python, and where a signal ends the command
    line. It is locked: what a killed process left, the next one removes.

    Parameters
    ----------
    holds : str
        What it is for, as a message about a full disk says.
    """

    def __init__(self, holds: str) -> None:
        self._holds = holds
        self._folder = Path(os.environ.get(FOLDER) or tempfile.gettempdir())
        with self.told_as_full():
            with suppress(OSError):
                remove_dead_parts([self._folder])
            self.path = part_beside(self._folder / "scratch")
            unfinished.add(self.path)
            self.stream = create_locked(self.path)
        self.close = weakref.finalize(self, remove, self.path, self.stream, os.getpid())

    @contextmanager
    def told_as_full(self) -> Iterator[None]:
        """Say of errors that the file cannot be written, and how it could be."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error).splitlines()[0]
            raise InputError(
                f"no scratch file for {self._holds} can be written in {self._folder} "
                f"({reason}); set {FOLDER} to a folder on a disk with more room."
            ) from None


def remove(path: Path, stream: BinaryIO, owner: int) -> None:
    """Remove a scratch file, but not in a child of the process that made it."""
    if os.getpid() != owner:
        return
    with suppress(OSError):
        stream.close()
    # at the end of Python nothing may be lost on the way out
    with suppress(OSError):
        path.unlink()
    if not sys.is_finalizing():
        unfinished.discard(path)
