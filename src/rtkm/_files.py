"""Files that are there whole, or as they were before."""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path


def replace_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Write beside and rename, so that what was there stays if anything fails.

    A link is followed, and a file that is replaced passes its permissions on.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise OSError(f"{os.fspath(path)} is not a file; choose another name.")
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, beside)
        os.replace(beside, target)
    except OSError as error:
        # by the name that was given, not that of the file beside
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
    finally:
        with suppress(OSError):
            beside.unlink()
    keep_name(target.parent)


def keep_name(folder: Path) -> None:
    """Make a new name outlast a power cut, where the system can be asked to."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
