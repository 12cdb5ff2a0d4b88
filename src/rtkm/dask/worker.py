"""What workers do: answer tasks on partitions, and remember what spares them work.

An answer is a function of the rows and of the task. What a worker remembers is a cache:
it may be lost with the worker, or left behind by rows that move, and is then computed
again.
"""

from __future__ import annotations

import pickle
import threading
import weakref
from collections import deque
from collections.abc import Callable, Hashable
from functools import partial
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtkm._memory import available_memory
from rtkm.core.columns import Node, Value
from rtkm.core.parts import Frame, Part, Room, bytes_of, rows_of

try:
    from cloudpickle import Pickler
except ImportError:  # Dask, which brings it, is not installed
    from pickle import Pickler

# of the memory of a worker, for what it remembers
SHARE_OF_MEMORY = 1 / 4
# a part that so many rounds went by lies with another worker now
ROUNDS_UNTIL_STALE = 3


class Rows:
    """The rows of a partition and their weights, as workers keep them."""

    def __init__(self, X: Any, weights: NDArray[np.float64] | None) -> None:
        self.X, self.weights = X, weights

    @property
    def n_rows(self) -> int:
        """How many there are."""
        return int(self.X.shape[0])

    def load(self) -> Any:
        """Return them."""
        return self.X

    def __sizeof__(self) -> int:
        return 64 + bytes_of(self.X) + bytes_of(self.weights)


class Task(NamedTuple):
    """What is asked of all partitions of a table."""

    ask: Callable[[Part], Any]
    frame: Frame | None
    forgotten: list[int]  # keys that nobody will ask for again
    n_rounds: int
    is_last: bool  # nothing is remembered for a task to come


class Missing(NamedTuple):
    """A worker lacks something that was sent to all of them: it came later."""

    name: Hashable


class Failed(NamedTuple):
    """A task failed, and would fail elsewhere."""

    error: Exception


class SharedRoom(Room):
    """Room that several threads take from."""

    _lock = threading.RLock()

    def take(self, n_bytes: int, share: float = 1.0) -> bool:
        """Take some, if there are as many in a share of the room."""
        with self._lock:
            return super().take(n_bytes, share)

    def give_back(self, n_bytes: int) -> None:
        """Return what was taken."""
        with self._lock:
            super().give_back(n_bytes)


class WorkerPart(Part):
    """A partition whose rows are there while it answers, and kept by Dask otherwise."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.lock = threading.RLock()
        self.rows: weakref.ref[Rows] | None = None
        self.n_rounds = 0
        self.is_dropped = False

    @property
    def X(self) -> Any:  # noqa: N802
        """Its rows."""
        if self._X is None:
            self._X = rows_of(self.source, self.dtype)
        return self._X


# Names and bytes: what is sent to all workers once is left out of the tasks


class Writer(Pickler):
    """Pickles a task, and leaves out large nodes."""

    def __init__(self, file: BytesIO, root: Any) -> None:
        super().__init__(file, protocol=5)
        self.root = root
        self.left_out: dict[int, Any] = {}

    def persistent_id(self, value: Any) -> Hashable | None:
        """Return what a value goes by, if it is left out."""
        if not isinstance(value, Node) or not value.is_large or value is self.root:
            return None
        self.left_out[value.key] = value
        return value.key


class Reader(pickle.Unpickler):
    """Reads what a `Writer` wrote."""

    def __init__(self, file: BytesIO, known: dict[Hashable, Any]) -> None:
        super().__init__(file)
        self.known = known

    def persistent_load(self, name: Hashable) -> Any:
        """Return what was left out."""
        if name not in self.known:
            raise LeftOutError(name)
        return self.known[name]


class LeftOutError(LookupError):
    """Something was left out that is not known here."""


def written(value: Any) -> tuple[bytes, dict[int, Any]]:
    """Return a value as bytes, and what was left out of it, by name."""
    file = BytesIO()
    writer = Writer(file, value)
    writer.dump(value)
    return file.getvalue(), writer.left_out


def written_whole(value: Any) -> bytes:
    """Return a value as bytes that `pickle` reads."""
    file = BytesIO()
    Pickler(file, protocol=5).dump(value)
    return file.getvalue()


def read(text: bytes, known: dict[Hashable, Any]) -> Any:
    """Return what was written."""
    return Reader(BytesIO(text), known).load()


# What this process knows, of all tables


class Memory:
    """What the workers in this process remember: a cache, and no more."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.parts: dict[tuple[str, int], WorkerPart] = {}
        self.known: dict[str, dict[Hashable, Any]] = {}
        self.closed: deque[str] = deque(maxlen=1000)
        self._room: SharedRoom | None = None

    @property
    def room(self) -> SharedRoom:
        """The room for all of it."""
        if self._room is None:
            self._room = SharedRoom(SHARE_OF_MEMORY * memory_of_worker())
        return self._room

    def tell(self, table: str, name: Hashable, text: bytes) -> None:
        """Keep something that will be left out of tasks."""
        with self.lock:
            if table not in self.closed:
                known = self.known.setdefault(table, {})
                if isinstance(name, str):  # the task of another round is over
                    for other in [other for other in known if isinstance(other, str)]:
                        del known[other]
                known[name] = read(text, known) if isinstance(name, int) else text

    def part(
        self, table: str, number: int, first: int, rows: Rows, task: Task
    ) -> WorkerPart:
        """Return the part for some rows, which may remember earlier tasks."""
        kept = not task.is_last and table not in self.closed
        with self.lock:
            part = self.parts.get((table, number)) if kept else None
            if part is None:
                room = self.room if kept else Room(0)
                part = WorkerPart(
                    number, first, rows, rows.weights, rows.X.dtype, task.frame, room
                )
            if not kept:
                return part
            self.parts[table, number] = part
            if part.rows is None or part.rows() is not rows:
                # when Dask lets go of the rows, so do we
                part.rows = weakref.ref(rows, partial(self._lost, table, number))
            part.n_rounds = task.n_rounds
            for name, other in list(self.parts.items()):
                is_old = other.n_rounds < task.n_rounds - ROUNDS_UNTIL_STALE
                if name[0] == table and is_old:
                    self.drop(*name)
            return part

    def _lost(self, table: str, number: int, rows: Any) -> None:
        part = self.parts.get((table, number))
        if part is not None and part.rows is rows:
            self.drop(table, number)

    def drop(self, table: str, number: int) -> None:
        """Forget what is remembered of a partition."""
        part = self.parts.pop((table, number), None)
        if part is None:
            return
        part.is_dropped = True
        # whoever is at work forgets it in the end; this may be the garbage collector
        if part.lock.acquire(blocking=False):
            part.forget(None)
            part.lock.release()

    def close(self, table: str) -> None:
        """Forget a table, whatever may still be running."""
        with self.lock:
            self.closed.append(table)
            self.known.pop(table, None)
            for name in [name for name in self.parts if name[0] == table]:
                self.drop(*name)


MEMORY = Memory()


def memory_of_worker() -> float:
    """Return how many bytes this worker may take."""
    from distributed import get_worker

    available = available_memory()
    try:
        limit = get_worker().memory_manager.memory_limit
    except (ValueError, AttributeError):  # not in a task of a worker
        return available
    return min(limit, available) if limit else available


def tell_worker(table: str, name: Hashable, text: bytes) -> None:
    """Let a worker know what will be left out of tasks."""
    MEMORY.tell(table, name, text)


def close_table(table: str) -> None:
    """Let a worker forget a table."""
    MEMORY.close(table)


def rows_for_tasks(block: Any, weights: Any, dtype: Any) -> Rows:
    """Return a block of a Dask collection as the rows of a partition."""
    if weights is not None:
        weights = np.ascontiguousarray(weights, dtype=np.float64)
    block = block if hasattr(block, "tocsr") else np.asarray(block)
    rows = Rows(block, None)
    return Rows(rows_of(rows, dtype), weights)


def n_rows_of(block: Any) -> int:
    """Return the number of rows of a block."""
    return int(block.shape[0])


def run_on_partition(
    rows: Rows, number: int, first: int, table: str, text: bytes | str
) -> Any:
    """Return the answer to a task: a function of the rows and of the task alone."""
    known = MEMORY.known.get(table, {})
    try:
        if isinstance(text, str):
            if text not in known:
                raise LeftOutError(text)
            text = known[text]
        task: Task = read(text, known)  # type: ignore[arg-type]
    except LeftOutError as left_out:
        return Missing(left_out.args[0])
    part = MEMORY.part(table, number, first, rows, task)
    with part.lock:
        part.source, part.weights, part.frame = rows, rows.weights, task.frame
        part.forget(task.forgotten)
        for key in task.forgotten:
            known.pop(key, None)
        try:
            return part.run(task.ask)
        except Exception as error:
            return Failed(sendable(error))
        finally:
            # the rows are Dask's to keep
            part.source = part.weights = None  # type: ignore[assignment]
            if part.is_dropped:
                part.forget(None)


def entries_of_block(
    block: Any, weights: Any, number: int, first: int, text: bytes
) -> NDArray[Any]:
    """Return the entries of a column for a block, from the rows alone."""
    dtype, frame, node, empty = pickle.loads(text)
    if n_rows_of(block) == 0:
        return empty
    rows = rows_for_tasks(block, weights, dtype)
    part = Part(number, first, rows, rows.weights, dtype, frame, Room(0))
    entries: NDArray[Any] = part.run(Value(node))
    return entries


def sendable(error: Exception) -> Exception:
    """Return an error that can be sent."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
