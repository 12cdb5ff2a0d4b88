"""One entry, or one line, for each row, made part by part when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray


class LazyRows(NDArrayOperatorsMixin):
    """What every row of a table in parts has, like `Column`, but made by a function.

    Parameters
    ----------
    parts : callable
        Returns the entries, part by part, as often as it is called.
    n_rows : int
        The number of rows.
    like : ndarray
        An array for one row.
    """

    def __init__(
        self,
        parts: Callable[[], Iterator[NDArray[Any]]],
        n_rows: int,
        like: NDArray[Any],
    ) -> None:
        self._make, self.n_rows, self._like = parts, n_rows, like

    def partitions(self) -> Iterator[NDArray[Any]]:
        """Yield the entries of each part, one after the other.

        Yields
        ------
        ndarray
            The entries of one part, in the order of its rows.
        """
        yield from self._make()

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the entries."""
        return self._like.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows and, of lines, their length."""
        return (self.n_rows, *self._like.shape[1:])

    @property
    def ndim(self) -> int:
        """1, or 2 for lines."""
        return self._like.ndim

    @property
    def size(self) -> int:
        """The number of entries."""
        return int(np.prod(self.shape))

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        return f"{type(self).__name__}(shape={self.shape}, dtype={self.dtype})"

    def __iter__(self) -> Iterator[Any]:
        for some in self.partitions():
            yield from some

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        values, first = np.empty(self.shape, self.dtype), 0
        for some in self.partitions():
            values[first : first + len(some)] = some
            first += len(some)
        return values if dtype is None else values.astype(dtype, copy=False)

    def __reduce__(self) -> Any:
        # whoever reads it may not have the rows
        return np.asarray, (np.asarray(self),)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any
    ) -> Any:
        arrays = [np.asarray(i) if isinstance(i, LazyRows) else i for i in inputs]
        return getattr(ufunc, method)(*arrays, **options)

    def __getitem__(self, key: Any) -> Any:
        numbers = np.asarray(key) if not isinstance(key, slice | tuple) else None
        if numbers is None or numbers.dtype == bool:
            return np.asarray(self)[key]
        flat = np.atleast_1d(numbers).ravel().astype(np.int64)
        if ((flat < -self.n_rows) | (flat >= self.n_rows)).any():
            raise IndexError(
                f"row numbers must be from {-self.n_rows} to {self.n_rows}."
            )
        flat = np.where(flat < 0, flat + self.n_rows, flat)
        found, first = np.empty((len(flat), *self.shape[1:]), self.dtype), 0
        for some in self.partitions():
            here = (flat >= first) & (flat < first + len(some))
            found[here] = some[flat[here] - first]
            first += len(some)
        return found.reshape(numbers.shape + self.shape[1:])[()]

    def tolist(self) -> list[Any]:
        """Return all entries as a list."""
        result: list[Any] = np.asarray(self).tolist()
        return result

    def sum(self) -> Any:
        """Return the sum of all entries."""
        return sum(some.sum() for some in self.partitions())

    def all(self) -> bool:
        """Return whether all entries are true."""
        return all(some.all() for some in self.partitions())

    def any(self) -> bool:
        """Return whether any entry is true."""
        return any(some.any() for some in self.partitions())


class Feed:
    """Arrays that come in parts of other lengths than they are wanted in.

    Parameters
    ----------
    parts : iterator of tuple of ndarray
        The entries of some columns, part by part.
    """

    def __init__(self, parts: Iterator[tuple[NDArray[Any], ...]]) -> None:
        self._parts = parts
        self._left: tuple[NDArray[Any], ...] | None = None

    def take(self, n_rows: int) -> tuple[NDArray[Any], ...]:
        """Return the next entries of each column."""
        some = [next(self._parts) if self._left is None else self._left]
        while sum(len(part[0]) for part in some) < n_rows:
            some.append(next(self._parts))
        entries = some[0]
        if len(some) > 1:
            entries = tuple(map(np.concatenate, zip(*some, strict=True)))
        self._left = tuple(column[n_rows:] for column in entries)
        return tuple(column[:n_rows] for column in entries)
