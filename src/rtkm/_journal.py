"""Files that change together, also if the run that writes them is killed.

All parts are on the disk first. Then a journal that lists them is written to every
folder concerned, the parts are renamed in a row, and the journals are removed. The next
run that finds a journal renames what is left if all copies of it are there. If not,
nothing was renamed yet, or all was, and the parts are removed. So all files are new, or
all are old.

The journal of a folder has a fixed name, and whoever writes or repairs holds its lock,
so that the rows of two runs do not mix. A folder that cannot hold a journal goes
without.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from rtkm._files import (
    PART_NAME,
    Part,
    fcntl,
    keep_names,
    lock,
    unfinished,
)
from rtkm._signals import deferring_signals

NAME = ".rtkm.journal"
OPEN_SAFELY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
PATIENCE = 10.0  # seconds; a row of renames takes milliseconds

# inode, size and time of change
Stamp = tuple[int, int, int]


@dataclass(frozen=True)
class Move:
    """A part, and the file whose place it takes, as both were before."""

    part: Path
    stamp: Stamp | None
    target: Path
    before: Stamp | None

    def is_sound(self) -> bool:
        """Whether this can be what a run wrote down."""
        is_part = PART_NAME.fullmatch(self.part.name) is not None
        return is_part and self.part.parent == self.target.parent


@dataclass(frozen=True)
class Row:
    """What a journal says: files that change together, and where its copies are."""

    id: str
    folders: tuple[Path, ...]
    moves: tuple[Move, ...]

    def to_json(self, folder: Path) -> bytes:
        """Return the copy for a folder, which may be moved or mounted elsewhere."""
        content = {
            "id": self.id,
            "folders": [os.path.relpath(other, folder) for other in self.folders],
            "moves": [
                [
                    os.path.relpath(move.part, folder),
                    move.stamp,
                    os.path.relpath(move.target, folder),
                    move.before,
                ]
                for move in self.moves
            ],
        }
        return json.dumps(content).encode()

    @classmethod
    def from_json(cls, content: bytes, folder: Path) -> Row | None:
        """Return what a journal in a folder says; None if it was not finished."""
        try:
            found = json.loads(content)
            moves = [
                Move(
                    seen_from(folder, part),
                    as_stamp(stamp),
                    seen_from(folder, target),
                    as_stamp(before),
                )
                for part, stamp, target, before in found["moves"]
            ]
            folders = [seen_from(folder, other) for other in found["folders"]]
            row = cls(str(found["id"]), tuple(folders), tuple(moves))
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        is_sound = folder in folders and all(move.is_sound() for move in moves)
        return row if is_sound else None


def seen_from(folder: Path, path: str) -> Path:
    """Return a relative path as an absolute one."""
    return Path(os.path.normpath(folder / path))


def as_stamp(values: Sequence[int] | None) -> Stamp | None:
    """Return a stamp as JSON has it."""
    if values is None:
        return None
    inode, size, changed = map(int, values)
    return inode, size, changed


def stamp_of(path: Path) -> Stamp | None:
    """Return what changes when a file does; None if there is none."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


# Replacing


def replace_together(parts: Sequence[Part]) -> list[str]:
    """Let finished parts take their places; return what was repaired before."""
    folders = sorted({part.target.parent for part in parts})
    notes: list[str] = []
    for folder in folders:
        keep_names(folder)
    if len(parts) < 2:
        for part in parts:
            part.take_place()
    else:
        with locked_journals(folders) as (journals, notes), deferring_signals():
            try:
                announce(parts, journals)
                swap_in(parts)
            finally:
                # after the renames are on the disk, and before parts are removed
                for folder in folders:
                    keep_names(folder)
                for journal in journals.values():
                    journal.remove()
    for folder in folders:
        keep_names(folder)
    return notes


def announce(parts: Sequence[Part], journals: dict[Path, Journal]) -> None:
    """Write down what is about to be renamed, where that can be."""
    moves = [
        Move(part.path, stamp_of(part.path), part.target, stamp_of(part.target))
        for part in parts
    ]
    row = Row(secrets.token_hex(8), tuple(journals), tuple(moves))
    try:
        for folder, journal in journals.items():
            journal.write(row.to_json(folder))
            keep_names(folder)
    except OSError:  # a full disk
        for journal in journals.values():
            journal.erase()


def swap_in(parts: Sequence[Part]) -> None:
    """Rename all parts; if one cannot be, bring back what the others replaced."""
    kept = [part.path.with_suffix(".old") for part in parts]
    was_there = [part.target.exists() for part in parts]
    done = []
    try:
        for part, old in zip(parts, kept, strict=True):
            with suppress(OSError):  # there was no file, or the disk has no links
                os.link(part.target, old)
        for part, old, existed in zip(parts, kept, was_there, strict=True):
            part.take_place()
            done.append((part.target, old, existed))
    except OSError:
        for target, old, existed in done:
            with suppress(OSError):
                os.replace(old, target) if existed else target.unlink()
        raise
    finally:
        for old in kept:
            with suppress(OSError):
                old.unlink()


# Locking


class Journal:
    """The journal of a folder, locked by this process."""

    def __init__(self, path: Path, stream: BinaryIO) -> None:
        self.path = path
        self.stream = stream
        content = stream.read()
        self.row = Row.from_json(content, path.parent)
        self.is_stale = bool(content)
        if not self.is_stale:
            unfinished.add(path)

    def write(self, content: bytes) -> None:
        """Write down a row, on the disk."""
        self.stream.write(content)
        self.stream.flush()
        os.fsync(self.stream.fileno())

    def erase(self) -> None:
        """Forget what was written down."""
        self.stream.seek(0)
        self.stream.truncate()
        self.is_stale = False
        unfinished.add(self.path)

    def remove(self) -> None:
        """Remove the file, and then the lock; what was not repaired stays."""
        if self.stream.closed:
            return
        if not self.is_stale:
            with suppress(OSError):
                self.path.unlink()
        unfinished.discard(self.path)
        with suppress(OSError):
            self.stream.close()


@contextmanager
def locked_journals(
    folders: Iterable[Path],
) -> Iterator[tuple[dict[Path, Journal], list[str]]]:
    """Lock the journals of folders, and repair what they tell of.

    Yields the journals, but for folders that cannot have one, and what was repaired.
    """
    wanted = asked = set(folders)
    while True:
        with ExitStack() as locked:
            journals = {}
            for folder in sorted(wanted):  # so that two runs never wait for each other
                journal = open_journal(folder)
                if journal is not None:
                    locked.callback(journal.remove)
                    journals[folder] = journal
            others = folders_in(journals) - wanted
            if not others:
                with deferring_signals():
                    notes = repair_rows(journals, wanted)
                    notes += remove_dead_parts(journals)
                yield {f: j for f, j in journals.items() if f in asked}, notes
                return
        wanted = wanted | others


def folders_in(journals: dict[Path, Journal]) -> set[Path]:
    """Return the folders that journals speak of, as far as they are still there."""
    rows = [journal.row for journal in journals.values() if journal.row is not None]
    return {folder for row in rows for folder in row.folders if folder.is_dir()}


def open_journal(folder: Path) -> Journal | None:
    """Lock the journal of a folder; None where there can be none."""
    path = folder / NAME
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            with deferring_signals():
                journal = try_journal(path)
        except OSError:
            return None
        if journal is not None:
            return journal
        time.sleep(0.01)
    return None


def try_journal(path: Path) -> Journal | None:
    """Lock a journal; None if another run has it at the moment."""
    if fcntl is None:
        raise OSError("this system has no locks")
    number = os.open(path, os.O_RDWR | os.O_CREAT | OPEN_SAFELY, 0o600)
    with ExitStack() as opened:
        stream = opened.enter_context(os.fdopen(number, "r+b"))
        found = os.fstat(number)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            # whoever wrote it could make this user rename any file
            raise PermissionError("the journal of another user")
        try:
            is_locked = lock(number)
        except OSError:  # a disk without locks
            if not found.st_size:
                path.unlink()
            raise
        # the one who had it may have removed it
        if not is_locked or not is_at(found, path):
            return None
        opened.pop_all()
        return Journal(path, stream)


def is_at(found: os.stat_result, path: Path) -> bool:
    """Whether a name stands for an open file."""
    try:
        return os.path.samestat(found, os.lstat(path))
    except FileNotFoundError:
        return False


# Repairing


def repair(folders: Iterable[Path]) -> list[str]:
    """Finish or undo what killed runs left in folders; return what was done."""
    with locked_journals(filter(needs_repair, folders)) as (_, notes):
        return notes


def needs_repair(folder: Path) -> bool:
    """Whether a folder has traces of a run, which may still be alive."""
    try:
        names = os.listdir(folder)
    except OSError:
        return False
    return any(name == NAME or PART_NAME.fullmatch(name) for name in names)


def repair_rows(journals: dict[Path, Journal], known: set[Path]) -> list[str]:
    """Finish rows of renames that were cut short, and erase their journals.

    Journals of rows that cannot be finished are taken out and stay as they are.
    """
    notes = []
    rows = {j.row.id: j.row for j in journals.values() if j.row is not None}
    for row in rows.values():
        copies = [journals[folder] for folder in row.folders if folder in journals]
        try:
            if known.intersection(row.folders) - journals.keys():
                raise PermissionError("a journal cannot be read")
            if len(copies) == len(row.folders) and all(
                copy.row is not None and copy.row.id == row.id for copy in copies
            ):
                notes += finish(row)
        except OSError as error:
            names = listing(move.target for move in row.moves)
            notes.append(
                f"An earlier run was stopped while it replaced {names}: this cannot be "
                f"finished now ({error.strerror or error})."
            )
            for copy in copies:
                del journals[copy.path.parent]
    for journal in journals.values():
        journal.erase()
    return notes


def finish(row: Row) -> list[str]:
    """Rename what is left of a row, but for files that were changed in the meantime."""
    done, left = [], []
    for move in row.moves:
        if stamp_of(move.part) != move.stamp:
            continue  # it was renamed
        if stamp_of(move.target) == move.before:
            os.replace(move.part, move.target)
            done.append(move.target)
        else:
            left.append(move)
    for move in row.moves:
        keep_names(move.target.parent)
    for move in left:
        move.part.unlink()
    told = [f"finished replacing {listing(done)}"] if done else []
    if left:
        names = listing(move.target for move in left)
        told.append(f"did not replace {names}, changed since")
    what = "; ".join(told) or "all of them were in place"
    return [f"An earlier run was stopped while it replaced its files: {what}."]


def remove_dead_parts(folders: Iterable[Path]) -> list[str]:
    """Remove the parts that runs which are no longer alive left in folders."""
    notes = []
    for folder in folders:
        names = filter(PART_NAME.fullmatch, os.listdir(folder))
        removed = [name for name in names if remove_if_dead(folder / name)]
        n_parts = sum(name.endswith(".part") for name in removed)
        if n_parts:
            notes.append(
                "An earlier run was stopped before it had written its files: removed "
                f"{n_parts} unfinished file{'s' * (n_parts > 1)} in {folder}."
            )
    return notes


def remove_if_dead(part: Path) -> bool:
    """Remove a part unless its writer has it locked."""
    with suppress(OSError):
        access = os.O_RDWR if os.access(part, os.W_OK) else os.O_RDONLY
        number = os.open(part, access | OPEN_SAFELY)
        try:
            if lock(number):
                part.unlink()
                return True
        finally:
            os.close(number)
    return False


def listing(paths: Iterable[Path]) -> str:
    """Join names of files."""
    return ", ".join(map(str, paths))
