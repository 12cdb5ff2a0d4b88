"""Partitions at work: their rows, and what they remember of them.

A partition answers tasks, and every answer is a function of its rows and of the task
alone. What it remembers of earlier ones, within a limit, spares it most of the work;
whoever has lost it, or never had the room, starts from the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rtkm.core.columns import Node
from rtkm.core.table import Table
from rtkm.core.validation import canonical

# of the room that rows may take: what is known of them spares more work
ROWS_SHARE = 0.5


class RowSource(Protocol):
    """Where the rows of a partition come from, again and again."""

    @property
    def n_rows(self) -> int:
        """How many there are."""

    def load(self) -> Any:
        """Return them: an array, or CSR."""


class Frame(NamedTuple):
    """What all partitions of a table measure from, and in."""

    origin: NDArray[np.float64]
    unit: float


@dataclass
class Room:
    """How many bytes may be remembered."""

    limit: float = np.inf
    used: int = 0

    def take(self, n_bytes: int, share: float = 1.0) -> bool:
        """Take some, if there are as many in a share of the room."""
        if self.used + n_bytes > share * self.limit:
            return False
        self.used += n_bytes
        return True

    @property
    def is_scarce(self) -> bool:
        """Whether less than half of it is left."""
        return self.used > self.limit / 2

    def give_back(self, n_bytes: int) -> None:
        """Return what was taken."""
        self.used -= n_bytes


@dataclass
class Part:
    """One partition: its rows, and what it remembers of them."""

    number: int
    first: int  # of its rows, in the table
    source: RowSource
    weights: NDArray[np.float64] | None
    dtype: np.dtype[Any]
    frame: Frame | None = None
    room: Room = field(default_factory=Room)

    def __post_init__(self) -> None:
        self._remembered: dict[int, tuple[Any, int]] = {}
        self._now: dict[int, Any] = {}
        self._X: Any = None
        self._table: Table | None = None
        self._has_room = False  # for the rows

    @property
    def n_rows(self) -> int:
        """How many rows it has."""
        return self.source.n_rows

    @property
    def X(self) -> Any:  # noqa: N802
        """Its rows, loaded when they are needed."""
        if self._X is None:
            self._X = self._read()
            self._has_room = self.room.take(self._row_bytes, ROWS_SHARE)
        return self._X

    def _read(self) -> Any:
        """Return the rows, which must still be what they were."""
        try:
            X = rows_of(self.source, self.dtype)
        except OSError as error:
            raise OSError(f"partition {self.number} cannot be read: {error}") from error
        if X.shape[0] != self.n_rows:
            raise ValueError(
                f"partition {self.number} has {X.shape[0]} rows, and had "
                f"{self.n_rows}; it must not change while it is in use."
            )
        return X

    @property
    def _row_bytes(self) -> int:
        """What it takes to keep the rows; those that are elsewhere take nothing."""
        return bytes_of(self._X) if getattr(self.source, "is_read", True) else 0

    @property
    def table(self) -> Table:
        """Its rows as a table, which measures from the frame of all."""
        if self._table is None:
            self._table = Table(self.X, self.weights, self.frame)
        return self._table

    def value(self, node: Node) -> Any:
        """Return what a node describes, for its rows."""
        if node.key in self._now:
            return self._now[node.key]
        if node.key in self._remembered:
            return self._remembered[node.key][0]
        value = node.compute(self)
        if node.share_of_room:
            self.remember(node.key, value, node.share_of_room)
        self._now[node.key] = value
        return value

    def recall(self, key: int | None) -> Any:
        """Return what is known under a key, or nothing."""
        if key in self._now:
            return self._now[key]
        return self._remembered[key][0] if key in self._remembered else None

    def remember(self, key: int, value: Any, share: float = 1.0) -> None:
        """Remember a value if there is room for it."""
        n_bytes = bytes_of(value)
        if key not in self._remembered and self.room.take(n_bytes, share):
            self._remembered[key] = value, n_bytes

    def forget(self, keys: Iterable[int] | None) -> None:
        """Forget what nobody will ask for again; of no keys everything, rows too."""
        if keys is None:
            if self._has_room:
                self.room.give_back(self._row_bytes)
            self._X, self._table, self._has_room = None, None, False
        for key in list(self._remembered) if keys is None else keys:
            _, n_bytes = self._remembered.pop(key, (None, 0))
            self.room.give_back(n_bytes)
            self._now.pop(key, None)

    def run(self, task: Callable[[Part], Any]) -> Any:
        """Answer a task."""
        try:
            return task(self)
        finally:
            self._now.clear()
            # memory of arrays that died serves the next task, if there is plenty
            if self._table is not None and self.room.is_scarce:
                self._table.release()
            if not self._has_room:
                self._X = self._table = None


class Engine(Protocol):
    """What sends tasks to partitions."""

    @property
    def n_rows(self) -> Sequence[int]:
        """How many rows each has."""

    def map_each(
        self, task: Callable[[Part], Any], which: Sequence[int] | None = None
    ) -> Iterator[Any]:
        """Yield the answers of all partitions, or of some, in their order."""

    def forget(self, keys: Iterable[int] | None) -> None:
        """Let partitions forget some values, or everything."""

    def set_frame(self, frame: Frame) -> None:
        """Give all partitions the frame of the table."""


class LocalEngine:
    """All partitions in this process, one after the other.

    Parameters
    ----------
    sources : sequence of RowSource
        Where their rows come from.
    weights : sequence of ndarray or None
        Weights of the rows of each.
    dtype : dtype
        The type of the rows.
    memory : float
        How many bytes they may remember.
    """

    def __init__(
        self,
        sources: Sequence[RowSource],
        weights: Sequence[NDArray[np.float64]] | None,
        dtype: np.dtype[Any],
        memory: float = np.inf,
    ) -> None:
        # kernels need rows
        filled = [i for i, source in enumerate(sources) if source.n_rows > 0]
        self.n_rows = [sources[i].n_rows for i in filled]
        firsts = np.cumsum([0, *self.n_rows])
        room = Room(memory)
        self.parts = [
            Part(
                number,
                int(firsts[number]),
                sources[i],
                None if weights is None else weights[i],
                dtype,
                room=room,
            )
            for number, i in enumerate(filled)
        ]

    def map_each(
        self, task: Callable[[Part], Any], which: Sequence[int] | None = None
    ) -> Iterator[Any]:
        """Yield the answers of all partitions, or of some, in their order."""
        for part in self.parts if which is None else [self.parts[i] for i in which]:
            yield part.run(task)

    def forget(self, keys: Iterable[int] | None) -> None:
        """Let partitions forget some values, or everything."""
        for part in self.parts:
            part.forget(keys)

    def set_frame(self, frame: Frame) -> None:
        """Give all partitions the frame of the table."""
        for part in self.parts:
            part.frame = frame


def rows_of(source: RowSource, dtype: np.dtype[Any]) -> Any:
    """Return the rows of a source as kernels want them."""
    X = source.load()
    if sparse.issparse(X):
        return canonical(sparse.csr_array(X.astype(dtype, copy=False)))
    return np.ascontiguousarray(X, dtype=dtype)


def bytes_of(value: Any) -> int:
    """Return what it takes to remember a value."""
    if sparse.issparse(value):
        return sum(a.nbytes for a in (value.data, value.indices, value.indptr))
    if hasattr(value, "nbytes"):
        return int(value.nbytes)
    return sum(map(bytes_of, value)) if isinstance(value, tuple) else 0
