"""The files that commands write."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from rtkm.cli.messages import InputError
from rtkm.cli.reading import Sheet
from rtkm.cli.writing import writing_beside

WRITTEN = ("output", "report", "json", "model")


def check_files(options: argparse.Namespace, sheet: Sheet) -> None:
    """Refuse files that cannot be written, before the work."""
    taken: dict[Path, str] = {}
    if sheet.source.path is not None:
        taken[sheet.source.path.resolve()] = "the table"
    for name in WRITTEN:
        path = getattr(options, name, None)
        if not isinstance(path, Path):  # not asked for, or a model that is read
            continue
        check_place(f"--{name}", path)
        place = path.resolve()
        if place in taken and (place.is_file() or not place.exists()):
            raise InputError(
                f"--{name} {path} would replace {taken[place]}; choose another name."
            )
        taken[place] = f"what --{name} is to be"


def check_place(option: str, path: Path) -> None:
    """Refuse a name that no file can have."""
    if path.is_dir():
        raise InputError(f"{option} {path} is a folder; expected the name of a file.")
    if not path.parent.is_dir():
        raise InputError(f"{option} {path}: there is no folder {path.parent}.")


def write_together(writers: Mapping[Path, Callable[[BinaryIO], object]]) -> None:
    """Write files that take their places together, or not at all."""
    with ExitStack() as places:
        for path, write in writers.items():
            stream = places.enter_context(writing_beside(path))
            write(stream)
            stream.flush()  # a full disk shows before any file has taken its place
