"""Prepared rows on the disk: cells are read and made numbers once, not in each pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm.tables.messages import InputError
from rtkm.tables.progress import progress
from rtkm.tables.scratch import Scratch
from rtkm.tables.stream_preparation import PreparedPartition, PreparedStream

NUMBER_BYTES = 8


@dataclass(frozen=True)
class StoredPartition:
    """Rows of a matrix in a scratch file, which any process of this machine can load.

    Attributes
    ----------
    path : Path
        The file.
    place : int
        The byte at which the rows begin.
    n_rows, n_columns : int
        How many there are.
    scratch : Scratch or None
        What removes the file once nobody has its rows any more; other processes do not.
    """

    path: Path
    place: int
    n_rows: int
    n_columns: int
    scratch: Scratch | None = field(default=None, repr=False, compare=False)

    def __reduce__(self) -> Any:
        return StoredPartition, (self.path, self.place, self.n_rows, self.n_columns)

    def load(self) -> NDArray[np.float64]:
        """Return the matrix, of shape (n_rows, n_columns)."""
        n_numbers = self.n_rows * self.n_columns
        try:
            X = np.fromfile(self.path, np.float64, n_numbers, offset=self.place)
        except OSError as error:
            raise lost(self.path, error.strerror or str(error)) from None
        if len(X) < n_numbers:
            raise lost(self.path, "it is shorter than it was")
        return X.reshape(self.n_rows, self.n_columns)


def lost(path: Path, reason: str) -> InputError:
    """Return what is said of a scratch file that is not as it was."""
    return InputError(
        f"the scratch file {path} cannot be read again ({reason}); run again, and let "
        "nothing remove it meanwhile."
    )


class StoredMask:
    """Lines of truth values, part by part; what is not as usual is in a scratch file.

    Parameters
    ----------
    n_columns : int
        The length of a line.
    usual : bool
        The value that most of them have.
    """

    def __init__(self, n_columns: int, usual: bool) -> None:
        self.n_columns, self.usual = n_columns, usual
        self.scratch: Scratch | None = None
        self._parts: list[tuple[int, int]] = []  # rows, and the first byte or -1
        self._end = 0

    def add(self, mask: NDArray[np.bool_]) -> None:
        """Add the lines of the next part."""
        if (mask == self.usual).all():
            self._parts.append((len(mask), -1))
            return
        if self.scratch is None:
            self.scratch = Scratch("which cells are missing")
        packed = np.packbits(mask)
        with self.scratch.told_as_full():
            self.scratch.stream.write(packed.data)
            self.scratch.stream.flush()
        self._parts.append((len(mask), self._end))
        self._end += len(packed)

    @property
    def is_usual(self) -> bool:
        """Whether all values are as usual."""
        return self.scratch is None

    @property
    def lengths(self) -> list[int]:
        """The number of lines of each part."""
        return [n_rows for n_rows, _ in self._parts]

    def parts(self) -> Iterator[NDArray[np.bool_]]:
        """Yield the lines, part by part."""
        for i in range(len(self._parts)):
            yield self.part(i)

    def part(self, i: int) -> NDArray[np.bool_]:
        """Return the lines of a part."""
        n_rows, place = self._parts[i]
        shape = n_rows, self.n_columns
        if place < 0 or self.scratch is None:
            return np.full(shape, self.usual)
        n_bits, path = n_rows * self.n_columns, self.scratch.path
        try:
            packed = np.fromfile(path, np.uint8, -(-n_bits // 8), offset=place)
        except OSError as error:
            raise lost(path, error.strerror or str(error)) from None
        if len(packed) * 8 < n_bits:
            raise lost(path, "it is shorter than it was")
        return np.unpackbits(packed, count=n_bits).view(bool).reshape(shape)


def store(
    prepared: PreparedStream,
    watch: Callable[[Any], object] | None = None,
    *,
    is_quiet: bool = True,
) -> PreparedStream:
    """Write the rows of a table in parts to a scratch file, part by part.

    Parameters
    ----------
    prepared : PreparedStream
        The rows.
    watch : callable, default=None
        Is shown the rows of each part, as `PreparedPartition.whole` returns them.
    is_quiet : bool, default=True
        Whether to show no bar.

    Returns
    -------
    PreparedStream
        The same with parts that are loaded from the file, which goes with them.
    """
    n_columns = len(prepared.preparation.columns)
    n_rows, n_done = sum(part.n_rows for part in prepared.partitions), 0

    def matrices() -> Iterator[NDArray[np.float64]]:
        nonlocal n_done
        for part in prepared.partitions:
            assert isinstance(part, PreparedPartition)
            rows = part.whole()
            if watch is not None:
                watch(rows)
            yield rows.X
            n_done += len(rows.X)
            show(n_done)

    with progress("storing numbers", n_rows, " rows", is_quiet=is_quiet) as show:
        stored = store_matrices(matrices(), n_columns)
    scratch = stored[0].scratch if stored else None
    return replace(prepared, partitions=stored, scratch=scratch)


def store_matrices(
    matrices: Iterable[NDArray[np.float64]], n_columns: int
) -> tuple[StoredPartition, ...]:
    """Write matrices to a scratch file, and return them as parts of it."""
    scratch, place, parts = Scratch("the numbers of the table"), 0, []
    for X in matrices:
        with scratch.told_as_full():
            scratch.stream.write(X.data)
            scratch.stream.flush()
        parts.append(StoredPartition(scratch.path, place, len(X), n_columns, scratch))
        place += X.size * NUMBER_BYTES
    return tuple(parts)


def cut_again(
    stored: tuple[StoredPartition, ...], most_rows: int
) -> list[StoredPartition]:
    """Return the rows of a file in parts of at most so many: small ones joined."""
    first, n_rows = stored[0], sum(part.n_rows for part in stored)
    ends = np.linspace(0, n_rows, -(-n_rows // max(1, most_rows)) + 1).astype(int)
    row_bytes = first.n_columns * NUMBER_BYTES
    return [
        replace(first, place=start * row_bytes, n_rows=end - start)
        for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    ]
