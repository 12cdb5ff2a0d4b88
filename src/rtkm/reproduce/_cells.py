"""Cells of an experiment, and the ledger that keeps the finished ones."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

FORMAT = 1
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


@dataclass
class Ledger:
    """A file of finished cells, a line each, every one on disk before the next.

    Its first line says what it is the ledger of; a ledger of something else is refused.
    A last line that a killed run left unfinished does not count.
    """

    path: Path
    subject: dict[str, Any]
    finished: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lines = list(self._whole_lines()) if self.path.exists() else []
        if not lines:
            self._replace([self.subject | {"format": FORMAT}])
            return
        self._check(lines[0])
        self.finished = {line["key"]: line["result"] for line in lines[1:]}
        self._replace(lines)

    def add(self, key: str, result: Any) -> None:
        """Write a finished cell."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "result": result}) + "\n")
            file.flush()
            os.fsync(file.fileno())
        # as it will be read back, so that a resumed run sees the same numbers
        self.finished[key] = json.loads(json.dumps(result))

    def _whole_lines(self) -> Iterator[dict[str, Any]]:
        for line in self.path.read_text(encoding="utf-8").splitlines(keepends=True):
            if not line.endswith("\n"):
                return
            try:
                yield json.loads(line)
            except json.JSONDecodeError as error:
                raise ValueError(
                    f"{self.path} is damaged ({error}); remove it to start anew."
                ) from error

    def _check(self, found: dict[str, Any]) -> None:
        wanted = self.subject | {"format": FORMAT}
        for name, value in wanted.items():
            if found.get(name) != value:
                raise ValueError(
                    f"{self.path} holds results with {name}={found.get(name)!r}, but "
                    f"this run has {value!r}; choose another folder or remove it."
                )

    def _replace(self, lines: list[dict[str, Any]]) -> None:
        write_atomically(self.path, "".join(json.dumps(line) + "\n" for line in lines))


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write beside and rename, so that what was there stays if anything fails."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    data = content.encode() if isinstance(content, str) else content
    try:
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
