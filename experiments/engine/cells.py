"""Cells of an experiment, and the ledger that keeps the finished ones."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from rtkm._files import replacing

FORMAT = 2
WAY_OUT = "choose another folder or empty this one."
PROTOCOLS = ("as described", "as published")


class Cell(NamedTuple):
    """One piece of an experiment that is run as a whole.

    All methods of a cell share a start; `setting` is what is varied: the share of
    outliers, or the table.
    """

    experiment: str
    protocol: str
    setting: str
    start: int

    @property
    def key(self) -> str:
        """Return its name in the ledger."""
        return f"{self.experiment}/{self.protocol}/{self.setting}/{self.start}"


class Experiment(Protocol):
    """What an experiment is, a module or an object.

    One that needs tables has `prepare()` besides, which loads them or says what is
    missing.
    """

    def cells(self, quick: bool) -> list[Cell]:
        """Return its cells, the same ones every time."""

    def run(self, cell: Cell) -> Any:
        """Return the result of a cell, ready for JSON."""


@dataclass
class Ledger:
    """A file of finished cells, a line each, every one on disk before the next.

    Its first line says what it is the ledger of, and a ledger of something else is
    refused: `subject` must be there and the same, `origins` are added as they come to
    be known and must not contradict. A last line that a killed run left unfinished does
    not count.
    """

    path: Path
    subject: dict[str, Any]
    origins: dict[str, str] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=dict, init=False)
    finished: dict[str, Any] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        lines: list[dict[str, Any]] = []
        if self.path.exists():
            self.header, *lines = self._read()
            check_kind(self.path, self.header, self.subject, self.origins)
        self.header |= {"format": FORMAT} | self.subject | self.origins
        self.finished = {line["key"]: line["result"] for line in lines}
        text = "".join(json.dumps(line) + "\n" for line in (self.header, *lines))
        with replacing(self.path) as file:
            file.write(text.encode())

    def add(self, key: str, result: Any) -> None:
        """Write a finished cell."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "result": result}) + "\n")
            file.flush()
            os.fsync(file.fileno())
        # as it will be read back, so that a resumed run sees the same numbers
        self.finished[key] = json.loads(json.dumps(result))

    def _read(self) -> list[dict[str, Any]]:
        """Return the header and the whole lines, or refuse what is not a ledger."""
        # the header is written in one act, so a file that has no whole line is not ours
        *texts, _ = self.path.read_bytes().split(b"\n")
        try:
            lines = [json.loads(text) for text in texts]
        except (ValueError, RecursionError):
            lines = []
        if not (lines and is_header(lines[0]) and all(map(is_cell, lines[1:]))):
            raise ValueError(
                f"{self.path} is damaged or is not a ledger of rtkm; {WAY_OUT}"
            )
        return lines


def is_header(line: Any) -> bool:
    """Whether a line can be the first of a ledger."""
    return isinstance(line, dict) and "format" in line


def is_cell(line: Any) -> bool:
    """Whether a line can be a finished cell."""
    return (
        isinstance(line, dict)
        and line.keys() == {"key", "result"}
        and isinstance(line["key"], str)
    )


def check_kind(
    path: Path, found: dict[str, Any], subject: dict[str, Any], origins: dict[str, str]
) -> None:
    """Refuse results that cannot stand beside those of a run."""
    known = {name: origin for name, origin in origins.items() if name in found}
    for name, was, wanted in differences(found, {"format": FORMAT} | subject | known):
        raise ValueError(
            f"{path} holds results with {name}={was!r}, but this run has {wanted!r}; "
            f"{WAY_OUT}"
        )


def differences(found: Any, wanted: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Return what is not as wanted, down to a single version: name, found, wanted."""
    for name, value in wanted.items():
        was = found.get(name) if isinstance(found, dict) else None
        if isinstance(value, dict):
            yield from differences(was, value)
        elif was != value:
            yield name, was, value
