"""The files that commands write."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from rtkm.cli.messages import InputError, shown
from rtkm.cli.sheet import Sheet
from rtkm.cli.terminal import Terminal
from rtkm.cli.writing import STANDARD_OUTPUT, writing_beside

WRITTEN = ("output", "report", "json", "model")


def paths_of(options: argparse.Namespace) -> dict[str, Path]:
    """Return the files that a command is to write, by the option that names them."""
    given = {name: getattr(options, name, None) for name in WRITTEN}
    # a model that is read is no path
    return {name: path for name, path in given.items() if isinstance(path, Path)}


def terminal_for(options: argparse.Namespace) -> Terminal:
    """Return where to speak: aside, if answers flow out."""
    return Terminal(
        options.quiet, aside=STANDARD_OUTPUT in map(str, paths_of(options).values())
    )


def check_files(options: argparse.Namespace, sheet: Sheet) -> None:
    """Refuse files that cannot be written, before the work."""
    taken: dict[Path, str] = {}
    if sheet.source.path is not None:
        taken[sheet.source.path.resolve()] = "the table"
    if isinstance(getattr(options, "model", None), str):
        taken[Path(options.model).resolve()] = "the model"
    for name, path in paths_of(options).items():
        check_place(f"--{name}", path)
        place = path.resolve()
        if place in taken and (place.is_file() or not place.exists()):
            raise InputError(
                f"--{name} {path} would replace {taken[place]}; choose another name."
            )
        taken[place] = f"what --{name} is to be"


def check_page(path: Path) -> None:
    """Refuse a report whose name would keep browsers from opening it."""
    if path.suffix.lower() not in (".html", ".htm") and str(path) != STANDARD_OUTPUT:
        raise InputError(
            f"--report {path} ends in {shown(path.suffix)}; expected .html."
        )


def where(path: Path) -> str:
    """Return the name of a file in a sentence."""
    return "standard output" if str(path) == STANDARD_OUTPUT else str(path)


def check_place(option: str, path: Path) -> None:
    """Refuse a name that no file can have."""
    if path.is_dir():
        raise InputError(f"{option} {path} is a folder; expected the name of a file.")
    if not path.parent.is_dir():
        raise InputError(f"{option} {path}: there is no folder {path.parent}.")


def write_together(writers: Mapping[Path, Callable[[BinaryIO], object]]) -> None:
    """Write files that take their places together, or not at all.

    What flows out goes last, since it cannot be taken back.
    """
    with ExitStack() as places:
        for path, write in writers.items():
            if str(path) != STANDARD_OUTPUT:
                stream = places.enter_context(writing_beside(path))
                write(stream)
                stream.flush()  # a full disk shows before a file has taken its place
    if STANDARD_OUTPUT in map(str, writers):
        with writing_beside(STANDARD_OUTPUT) as stream:
            writers[Path(STANDARD_OUTPUT)](stream)
