"""Columns of a table in partitions: what every row has, where the rows are.

A `Column` stands for an array with one entry, or one line, for each row. NumPy's
functions make further columns of it. Nothing is computed before numbers are asked for,
and then where the rows are: a column is described by a `Node`, which any process can
compute from the rows alone.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

if TYPE_CHECKING:
    from rtkm.core.parts import Part

_keys = count()


@dataclass(frozen=True, eq=False)
class Node:
    """What the rows of a partition have, as a description of how to compute it.

    Partitions may remember what they computed by its `key`: where it takes more than a
    pass over memory, in a share of the room there is.
    """

    key: int = field(default_factory=_keys.__next__, init=False)
    share_of_room = 0.0
    # large, and part of many tasks: an engine need not send it with each of them
    is_large = False

    def compute(self, part: Part) -> Any:
        """Return the value for the rows of a partition."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Elementwise(Node):
    """A function of arrays that treats every row by itself."""

    function: Callable[..., Any]
    inputs: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)

    def compute(self, part: Part) -> Any:
        """Apply the function to the values of its inputs."""
        inputs = [part.value(i) if isinstance(i, Node) else i for i in self.inputs]
        with np.errstate(all="ignore"):  # it told when the column was made
            return self.function(*inputs, **self.options)


@dataclass(frozen=True, eq=False)
class Full(Node):
    """One value for all rows."""

    entry: Any

    def compute(self, part: Part) -> Any:
        """Repeat the value."""
        return np.full(part.n_rows, self.entry)


@dataclass(frozen=True, eq=False)
class Put(Node):
    """Another column, but for one row."""

    column: Node
    row: int
    entry: Any

    def compute(self, part: Part) -> Any:
        """Copy the column if the row is here."""
        values = part.value(self.column)
        place = self.row - part.first
        if 0 <= place < part.n_rows:
            values = values.copy()
            values[place] = self.entry
        return values


@dataclass(frozen=True, eq=False)
class Item(Node):
    """One of several things that are computed together."""

    of: Node
    place: int | str

    def compute(self, part: Part) -> Any:
        """Take it out."""
        value = part.value(self.of)
        if isinstance(self.place, str):
            return getattr(value, self.place)
        return value[self.place]


class Columnar(Protocol):
    """What columns need of their table."""

    n_rows: int

    def map(self, task: Callable[[Part], Any]) -> list[Any]:
        """Return what a task answers for each partition, in their order."""

    def map_each(self, task: Callable[[Part], Any]) -> Iterator[Any]:
        """Yield what a task answers for each partition, in their order."""

    def gather(self, node: Node, numbers: NDArray[np.int64]) -> NDArray[Any]:
        """Return the entries of some rows."""

    def total(self, values: Any) -> float:
        """Return the weighted sum of one value a row."""


class Column(NDArrayOperatorsMixin):
    """One entry, or one line, for each row of a table that is cut into partitions.

    It behaves like an array, but most of what is made of it are columns again.
    ``numpy.asarray`` brings all entries here, and `partitions` one partition after the
    other.

    Parameters
    ----------
    table : PartitionedTable
        Whose rows they are.
    node : Node
        What it is made of.
    like : ndarray
        An array for one row.
    """

    def __init__(self, table: Columnar, node: Node, like: NDArray[Any]) -> None:
        self._table, self._node, self._like = table, node, like

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the entries."""
        return self._like.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows and, of lines, their length."""
        return (self._table.n_rows, *self._like.shape[1:])

    @property
    def ndim(self) -> int:
        """1, or 2 for lines."""
        return self._like.ndim

    @property
    def size(self) -> int:
        """The number of entries."""
        return int(np.prod(self.shape))

    def __len__(self) -> int:
        return self._table.n_rows

    def __repr__(self) -> str:
        return f"Column(shape={self.shape}, dtype={self.dtype})"

    # Entries

    def partitions(self) -> Iterator[NDArray[Any]]:
        """Yield the entries of each partition, one after the other.

        Yields
        ------
        ndarray
            The entries of one partition, in the order of its rows.
        """
        yield from self._table.map_each(Value(self._node))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        values = np.empty(self.shape, self.dtype)
        first = 0
        for some in self.partitions():
            values[first : first + len(some)] = some
            first += len(some)
        return values if dtype is None else values.astype(dtype, copy=False)

    def __iter__(self) -> Iterator[Any]:
        for some in self.partitions():
            yield from some

    def __reduce__(self) -> Any:
        # whoever reads it may not have the rows
        return np.asarray, (np.asarray(self),)

    def tolist(self) -> list[Any]:
        """Return all entries as a list."""
        result: list[Any] = np.asarray(self).tolist()
        return result

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple) and key[0] == slice(None):
            return self._apply(pick, self, rest=key[1:])
        if isinstance(key, slice):
            if key == slice(None):
                return self
            key = np.arange(*key.indices(len(self)))
        if isinstance(key, Column) or np.asarray(key).dtype == bool:
            return np.asarray(self)[np.asarray(key)]
        numbers = np.asarray(key)
        flat = np.atleast_1d(numbers).ravel().astype(np.int64)
        n = len(self)
        if ((flat < -n) | (flat >= n)).any():
            raise IndexError(f"row numbers must be from {-n} to {n - 1}.")
        found = self._table.gather(self._node, np.where(flat < 0, flat + n, flat))
        return found.reshape(numbers.shape + self.shape[1:])[()]

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, Column):
            chosen: Any = np.where(key, value, self)  # a column again
            self._node = chosen._node
        else:
            self._node = Put(self._node, operator.index(key), value)

    # Further columns

    def _apply(self, function: Callable[..., Any], *inputs: Any, **options: Any) -> Any:
        likes = [i._like if isinstance(i, Column) else i for i in inputs]
        with np.errstate(all="ignore"):
            like = function(*likes, **options)
        nodes = tuple(i._node if isinstance(i, Column) else i for i in inputs)
        return Column(self._table, Elementwise(function, nodes, options), like)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any
    ) -> Any:
        out = options.pop("out", ())
        if method != "__call__" or any(not isinstance(o, Column) for o in out):
            return NotImplemented
        result = self._apply(ufunc, *inputs, **options)
        for column in out:
            column._node = result._node
            return column
        return result

    def __array_function__(
        self, function: Any, types: Any, inputs: Any, options: Any
    ) -> Any:
        if function in (np.where, np.clip):
            return self._apply(function, *inputs, **options)
        # whatever it is, it wants arrays
        inputs = [np.asarray(i) if isinstance(i, Column) else i for i in inputs]
        options = {
            name: np.asarray(i) if isinstance(i, Column) else i
            for name, i in options.items()
        }
        return function(*inputs, **options)

    def astype(self, dtype: Any, copy: bool = True) -> Column:
        """Return the entries in another type."""
        return self._apply(cast, self, dtype=np.dtype(dtype))

    def reshape(self, *shape: int) -> Column:
        """Return lines of one entry as entries."""
        if shape != (-1,) or self.size != len(self):
            raise ValueError(f"a column of shape {self.shape} keeps its rows.")
        return self._apply(flatten, self)

    def copy(self) -> Column:
        """Return a column of its own with the same entries."""
        return Column(self._table, self._node, self._like)

    # Summaries

    def _summary(self, name: str, axis: int | None, **options: Any) -> Any:
        """Summarize each row along axis 1, or all entries."""
        if axis in (1, -1) and self.ndim == 2:
            return self._apply(along_rows, self, name=name, **options)
        if axis is not None:
            raise ValueError("axis 0 of a column has no partial summary.")
        where = options.pop("where", None)
        task = Summary(self._node, name, where._node if where is not None else None)
        replies = self._table.map(task)
        found = [reply for reply in replies if reply is not None]
        if "initial" in options:
            found.append(options["initial"])
        return getattr(np.array(found), name)() if found else getattr(np, name)(found)

    def any(self, axis: int | None = None) -> Any:
        """Return whether any entry is true."""
        return self._summary("any", axis)

    def all(self, axis: int | None = None) -> Any:
        """Return whether all entries are true."""
        return self._summary("all", axis)

    def sum(self, axis: int | None = None, dtype: Any = None) -> Any:
        """Return the sum; of numbers, but for their last digit."""
        if axis is None and self.dtype.kind == "f":
            return self._table.total(self)
        return self._summary("sum", axis)

    def max(self, axis: int | None = None, **options: Any) -> Any:
        """Return the largest entry."""
        return self._summary("max", axis, **options)

    def min(self, axis: int | None = None, **options: Any) -> Any:
        """Return the smallest entry."""
        return self._summary("min", axis, **options)

    def argmin(self) -> np.intp:
        """Return the first row with the smallest entry."""
        replies = self._table.map(First(self._node))
        numbers, values = zip(*(r for r in replies if r is not None), strict=True)
        return np.intp(numbers[int(np.argmin(values))])

    def argmax(self) -> np.intp:
        """Return the first row with the largest entry."""
        return (-self).argmin()


def rowwise(function: Callable[..., Any], *arrays: Any, **options: Any) -> Any:
    """Return what a function makes of arrays or columns that treats every row alone."""
    columns = [a for a in arrays if isinstance(a, Column)]
    if not columns:
        return function(*arrays, **options)
    return columns[0]._apply(function, *arrays, **options)


def look_up(values: NDArray[Any], places: Any) -> Any:
    """Return the values at some places, of which every row has one, or a line."""
    return rowwise(values.__getitem__, places)


def together(columns: Sequence[Column]) -> Iterator[tuple[NDArray[Any], ...]]:
    """Yield the entries of some columns of a table, partition by partition.

    What they have in common is computed once.
    """
    nodes = tuple(column._node for column in columns)
    yield from columns[0]._table.map_each(Values(nodes))


@dataclass(frozen=True)
class Values:
    """Asks for the entries of several columns."""

    nodes: tuple[Node, ...]

    def __call__(self, part: Part) -> tuple[Any, ...]:
        """Return them."""
        return tuple(part.value(node) for node in self.nodes)


@dataclass(frozen=True)
class Value:
    """Asks for the entries of a partition."""

    node: Node

    def __call__(self, part: Part) -> Any:
        """Return them."""
        return part.value(self.node)


@dataclass(frozen=True)
class Summary:
    """Asks for the sum, or the like, of the entries of a partition, if any."""

    node: Node
    name: str
    where: Node | None

    def __call__(self, part: Part) -> Any:
        """Summarize those that are asked for."""
        values = part.value(self.node)
        if self.where is not None:
            values = values[part.value(self.where)]
        return getattr(values, self.name)() if values.size else None


@dataclass(frozen=True)
class First:
    """Asks for the first row with the smallest entry, and that entry."""

    node: Node

    def __call__(self, part: Part) -> Any:
        """Return its number in the table."""
        values = part.value(self.node)
        if not len(values):
            return None
        place = int(values.argmin())
        return part.first + place, values[place]


def pick(values: NDArray[Any], rest: tuple[Any, ...]) -> NDArray[Any]:
    """Return a part of every line."""
    return values[(slice(None), *rest)]


def cast(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the values in another type."""
    return values.astype(dtype)


def flatten(values: NDArray[Any]) -> NDArray[Any]:
    """Return lines of one entry as entries."""
    return values.reshape(-1)


def along_rows(values: NDArray[Any], name: str, **options: Any) -> NDArray[Any]:
    """Summarize every line."""
    result: NDArray[Any] = getattr(values, name)(axis=1, **options)
    return result
