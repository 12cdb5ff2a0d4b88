"""The files that commands write."""

from __future__ import annotations

import argparse
import errno
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from rtkm._files import is_replaceable, writing_part
from rtkm._journal import repair, replace_together
from rtkm.cli.terminal import Terminal
from rtkm.tables.messages import InputError, shown
from rtkm.tables.sheet import Sheet
from rtkm.tables.writing import (
    STANDARD_OUTPUT,
    check_standard_output,
    told_as_input,
    writing_beside,
)

WRITTEN = ("output", "report", "json", "model")
OTHER_ENDINGS = {".htm", ".html", ".json", ".csv", ".tsv", ".xlsx", ".parquet"}


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
    read = [] if sheet.source.path is None else [target_of(sheet.source.path)]
    check_places(options, paths_of(options), read)


def check_places(
    options: argparse.Namespace, paths: Mapping[str, Path], read: Iterable[Path]
) -> None:
    """Refuse files, by the option that names them, that would replace what is read."""
    taken: dict[Path, str] = dict.fromkeys(read, "the table")
    if isinstance(getattr(options, "model", None), str):
        taken[target_of(options.model)] = "the model"
    for name, path in paths.items():
        check_place(f"--{name}", path)
        place = target_of(path)
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


def check_model(path: Path) -> None:
    """Refuse a model in the name of a page or a table, which is an option mistaken."""
    if path.suffix.lower() in OTHER_ENDINGS:
        raise InputError(
            f"--model {path} ends in {shown(path.suffix)}, as other files do; expected "
            "another ending, such as .rtkm."
        )


def where(path: Path) -> str:
    """Return the name of a file in a sentence."""
    return "standard output" if str(path) == STANDARD_OUTPUT else str(path)


def check_place(option: str, path: Path) -> None:
    """Refuse a name that no file can have."""
    if str(path) == STANDARD_OUTPUT:
        check_standard_output()
    if is_loop(path):
        raise InputError(
            f"{option} {path} is a symbolic link that leads back to itself; choose "
            "another name."
        )
    if path.is_dir():
        raise InputError(f"{option} {path} is a folder; expected the name of a file.")
    if not path.parent.is_dir():
        raise InputError(f"{option} {path}: there is no folder {path.parent}.")


def is_loop(path: Path) -> bool:
    """Whether links lead round in a circle."""
    try:
        os.stat(path)
    except OSError as error:
        return error.errno == errno.ELOOP
    return False


def target_of(path: str | os.PathLike[str]) -> Path:
    """Return the file that a name leads to."""
    return Path(os.path.realpath(path))


def repair_places(options: argparse.Namespace) -> None:
    """Finish or undo what killed runs left where a command is to write, and say so."""
    paths = [p for p in paths_of(options).values() if str(p) != STANDARD_OUTPUT]
    notes = repair({target_of(path).parent for path in paths})
    if notes:
        terminal_for(options).say("\n".join(notes))


def write_together(
    writers: Mapping[Path, Callable[[BinaryIO], object]],
) -> list[str]:
    """Write files that take their places together, or not at all.

    What goes to pipes and devices goes when the files are on the disk, and standard
    output last, for neither can be taken back. Returns what else was repaired.
    """
    flowing = Path(STANDARD_OUTPUT)
    with told_as_input():
        files = [path for path in writers if path != flowing and is_replaceable(path)]
    with told_as_input(), ExitStack() as places:
        parts = []
        for path in files:
            with told_as_input(path):
                parts.append(places.enter_context(writing_part(path)))
                writers[path](parts[-1].stream)
                parts[-1].finish()
        for path, write in writers.items():
            if path != flowing and path not in files:
                with writing_beside(path) as stream:
                    write(stream)
        notes = replace_together(parts)
    if flowing in writers:
        with writing_beside(flowing) as stream:
            writers[flowing](stream)
    return notes
