"""An engine that sends tasks to the partitions of a Dask collection on a cluster."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from rtkm.core.columns import Value
from rtkm.core.parts import Frame, Part
from rtkm.dask.worker import (
    Failed,
    Missing,
    Task,
    close_table,
    run_on_partition,
    tell_worker,
    written,
)

# tasks of more bytes are sent to every worker once, and not with every partition
MOST_IN_TASK = 1 << 15
# columns come so many partitions at a time, as all of them may be too much
WINDOW = 16
# how often workers that came later are told what they missed
MOST_TRIES = 5


class DaskEngine:
    """Sends tasks to partitions that lie on the workers of a cluster.

    A round is one task for each partition, sent and gathered together.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    load : callable
        Returns a future of the `Rows` of each partition, the empty ones too.
    n_rows : sequence of int
        How many rows each of them has.
    names : sequence of str
        What messages call them.
    """

    def __init__(
        self,
        client: Any,
        load: Callable[[], list[Any]],
        n_rows: Sequence[int],
        names: Sequence[str],
    ) -> None:
        self._client, self._load = client, load
        # kernels need rows
        self._filled = [i for i, n in enumerate(n_rows) if n > 0]
        self._names = [names[i] for i in self._filled]
        self.n_rows = [n_rows[i] for i in self._filled]
        self._firsts = np.cumsum([0, *self.n_rows]).tolist()
        self._table = uuid.uuid4().hex
        self._frame: Frame | None = None
        self._rows: list[Any] | None = None
        self._forgotten: list[int] = []
        self._known: dict[Hashable, bytes] = {}
        self._n_rounds = 0
        self._is_closed = False

    # What tables ask for

    def map_each(
        self, task: Callable[[Part], Any], which: Sequence[int] | None = None
    ) -> Iterator[Any]:
        """Yield the answers of all partitions, or of some, in their order."""
        numbers = list(range(len(self.n_rows)) if which is None else which)
        is_column = isinstance(task, Value) and len(numbers) > WINDOW
        size = WINDOW if is_column else max(len(numbers), 1)
        try:
            for place in range(0, len(numbers), size):
                yield from self._round(task, numbers[place : place + size])
        finally:
            if self._is_closed:
                self._rows = None

    def forget(self, keys: Iterable[int] | None) -> None:
        """Let partitions forget some values, or everything."""
        if keys is not None:
            self._forgotten += keys
            return
        self._is_closed = True
        self._rows = None
        self._known.clear()
        with suppress(Exception):  # a cluster that is gone has forgotten it all
            self._client.run(close_table, self._table, on_error="ignore")

    def set_frame(self, frame: Frame) -> None:
        """Give all partitions the frame of the table."""
        self._frame = frame

    # Rounds

    def _round(self, ask: Callable[[Part], Any], numbers: list[int]) -> list[Any]:
        """Return the answers of some partitions."""
        self._n_rounds += 1
        is_whole = len(numbers) == len(self.n_rows)
        forgotten = self._forgotten
        if is_whole:
            self._forgotten = []
            for key in forgotten:
                self._known.pop(key, None)
        task = Task(ask, self._frame, forgotten, self._n_rounds, self._is_closed)
        text: bytes | str
        text, left_out = written(task)
        if len(text) > MOST_IN_TASK and len(numbers) > 1:
            name = f"task-{self._n_rounds}"
            self._tell(name, text)
            text = name
        for key, node in left_out.items():
            if key not in self._known:
                self._tell(key, written(node)[0])
        answers: dict[int, Any] = {}
        try:
            for n_tries in range(MOST_TRIES):
                pending = [number for number in numbers if number not in answers]
                told = self._ask(word_of(ask), pending, text, n_tries)
                missing: set[Hashable] = set()
                for number, answer in zip(pending, told, strict=True):
                    if isinstance(answer, Failed):
                        raise answer.error
                    if isinstance(answer, Missing):
                        missing.add(answer.name)
                    else:
                        answers[number] = answer
                if not missing:
                    break
                for left in missing:
                    self._tell(left, self._known[left])
            else:
                raise RuntimeError("workers change faster than they can be told.")
        finally:
            if isinstance(text, str):
                self._known.pop(text, None)
        return [answers[number] for number in numbers]

    def _tell(self, name: Hashable, text: bytes) -> None:
        """Send something to all workers that tasks then leave out."""
        self._known[name] = text
        self._client.run(tell_worker, self._table, name, text, on_error="ignore")

    def _ask(self, word: str, numbers: list[int], text: Any, n_tries: int) -> list[Any]:
        if self._rows is None:
            self._rows = self._load()
        name = f"rtkm-{word}-{self._table}-{self._n_rounds}-{n_tries}"
        futures = self._client.map(
            run_on_partition,
            [self._rows[self._filled[i]] for i in numbers],
            numbers,
            [self._firsts[i] for i in numbers],
            table=self._table,
            text=text,
            key=[(name, i) for i in numbers],
            pure=False,
        )
        return gathered(
            self._client, futures, [self._names[i] for i in numbers], numbers
        )


def gathered(
    client: Any, futures: list[Any], names: Sequence[str], numbers: Sequence[int]
) -> list[Any]:
    """Return results, or say of which partition there is none."""
    try:
        return list(client.gather(futures))
    except BaseException as error:
        failed = [i for i, f in enumerate(futures) if f.status in BROKEN]
        client.cancel(futures)
        if isinstance(error, KeyboardInterrupt) or not failed:
            raise
        where = f"partition {numbers[failed[0]]} ({names[failed[0]]})"
        raise unreadable(where, error) from (
            None if type(error).__name__ in NO_REASON else error
        )


BROKEN = ("error", "cancelled", "lost")
# errors of Dask that tell nothing but that
NO_REASON = (
    "KilledWorker",
    "CancelledError",
    "FutureCancelledError",
    "FuturesCancelledError",
)


def unreadable(where: str, error: BaseException) -> RuntimeError:
    """Return an error that tells what became of a partition."""
    if type(error).__name__ == "KilledWorker":
        return RuntimeError(
            f"{where} cannot be computed: workers died of it again and again, most "
            "often for want of memory; make the chunks smaller, or give workers more."
        )
    if type(error).__name__ in NO_REASON:
        return RuntimeError(
            f"{where} is lost: the worker that held it is gone, and Dask does not know "
            "how to make it again, as of data that were scattered."
        )
    return RuntimeError(f"{where} cannot be read: {type(error).__name__}: {error}")


def word_of(task: Any) -> str:
    """Return what the dashboard calls a task."""
    return type(task).__name__.lower()
