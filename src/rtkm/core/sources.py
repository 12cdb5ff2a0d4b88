"""Rows that need not fit in memory: where they come from, and as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from rtkm._memory import available_memory, bytes_of
from rtkm.core.partitions import PartitionedTable
from rtkm.core.parts import Engine, LocalEngine, Part, RowSource
from rtkm.core.validation import (
    ARRAY_OPTIONS,
    LARGEST_MASS,
    check_magnitudes,
    names_of,
    weights_of_rows,
)

# of the memory that is available
SHARE_OF_MEMORY = 1 / 4
# what a fit remembers of a row, at most, while it is in memory
STATE_BYTES = 64
# a partition, what it remembers and what it answers are in memory at a time
PARTITIONS_IN_MEMORY = 16


@dataclass(frozen=True)
class ArrayRows:
    """Some rows of an array or of a CSR matrix."""

    X: Any
    first: int
    n_rows: int

    is_read = False  # they are in memory, whoever keeps them

    def load(self) -> Any:
        """Return them."""
        return self.X[self.first : self.first + self.n_rows]


@dataclass(frozen=True)
class MappedRows:
    """Some rows of a matrix that is a file, which any process may open."""

    path: str
    dtype: np.dtype[Any]
    place: int  # of the first number, in bytes
    n_rows: int
    n_features: int

    is_read = False  # the system keeps as much of the file as it likes

    def load(self) -> NDArray[Any]:
        """Return them, mapped into memory."""
        shape = self.n_rows, self.n_features
        if 0 in shape:
            return np.empty(shape, self.dtype)
        return np.memmap(self.path, self.dtype, "r", self.place, shape)


class PartitionedRows:
    """Rows that a fit reads partition by partition, wherever these are."""

    n_features: int
    dtype: Any
    names: Sequence[str] | None

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        raise NotImplementedError

    def _weights_of(self, sample_weight: Any) -> Any:
        """Return the weights of all rows as `engine` takes them, or refuse them."""
        weights = weights_of_rows(sample_weight, self.shape[0])
        check_total(float(weights.sum()))
        return weights

    def engine(self, weights: Any, dtype: Any = None) -> Engine:
        """Return what runs tasks on the partitions, their rows as this type."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Partitions(PartitionedRows):
    """Rows that a fit reads partition by partition, again and again.

    A fit to them gives what one to all rows in memory gives, to the last bit, and takes
    no more memory than is said. What it found for every row, such as ``labels_``, is
    computed when it is asked for: ``numpy.asarray(model.labels_)`` has all of it, and
    ``model.labels_.partitions()`` one partition after the other.

    Parameters
    ----------
    sources : sequence
        The partitions: objects with the number of their rows, ``n_rows``, and a method
        ``load()`` that returns them, as an array or CSR matrix, as often as it is
        called.
    n_features : int
        The number of columns.
    dtype : dtype, default=float64
        The type of the rows, float32 or float64.
    names : sequence of str or None, default=None
        What the columns are called.
    memory : int, str or None, default=None
        How many bytes a fit may take, such as ``"2GB"``; None is a quarter of what is
        available.

    Attributes
    ----------
    shape : tuple of int
        The numbers of rows and columns.

    Examples
    --------
    >>> import numpy as np
    >>> from rtkm import Partitions, TrimmedKMeans
    >>> X = np.arange(2000.0)[:, None] % 100
    >>> rows = Partitions.of_array(X, n_partitions=3)
    >>> model = TrimmedKMeans(2, random_state=0).fit(rows)
    >>> model.labels_
    Column(shape=(2000,), dtype=int32)
    >>> in_memory = TrimmedKMeans(2, random_state=0).fit(X)
    >>> bool((np.asarray(model.labels_) == in_memory.labels_).all())
    True
    """

    sources: Sequence[RowSource]
    n_features: int
    dtype: Any = np.float64
    names: Sequence[str] | None = None
    memory: int | str | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns.

        Examples
        --------
        >>> import numpy as np
        >>> from rtkm import Partitions
        >>> Partitions.of_array(np.zeros((100, 4))).shape
        (100, 4)
        """
        return sum(source.n_rows for source in self.sources), self.n_features

    @property
    def n_bytes(self) -> int:
        """The memory that a fit may take.

        Examples
        --------
        >>> import numpy as np
        >>> from rtkm import Partitions
        >>> Partitions.of_array(np.zeros((100, 4)), memory="2GB").n_bytes
        2000000000
        """
        if self.memory is None:
            return int(SHARE_OF_MEMORY * available_memory())
        return bytes_of(self.memory) if isinstance(self.memory, str) else self.memory

    @classmethod
    def of_array(
        cls,
        X: Any,
        *,
        n_partitions: int | None = None,
        memory: int | str | None = None,
    ) -> Partitions:
        """Cut an array, a memory map or a CSR matrix into partitions.

        Parameters
        ----------
        X : ndarray, memmap or CSR matrix of shape (n_samples, n_features)
            The rows. Those of a C-ordered memory map are read from its file.
        n_partitions : int or None, default=None
            How many; None makes as many as the memory asks for.
        memory : int, str or None, default=None
            How many bytes a fit may take, such as ``"2GB"``; None is a quarter of what
            is available.

        Returns
        -------
        Partitions
            The rows in partitions.

        Examples
        --------
        >>> import numpy as np
        >>> from rtkm import Partitions
        >>> Partitions.of_array(np.zeros((100, 4)), n_partitions=8).shape
        (100, 4)
        """
        n, d = X.shape
        dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
        made = cls((), d, dtype, None, memory)
        if n_partitions is None:
            n_bytes = n * (d * dtype.itemsize + STATE_BYTES)
            n_partitions = -(-n_bytes * PARTITIONS_IN_MEMORY // max(made.n_bytes, 1))
        ends = np.linspace(0, n, max(1, min(n_partitions, n)) + 1).astype(int).tolist()
        cuts = list(zip(ends[:-1], np.diff(ends).tolist(), strict=True))
        sources = [source_of(X, first, n_rows) for first, n_rows in cuts]
        return cls(sources, d, dtype, None, memory)

    def engine(self, weights: NDArray[np.float64] | None, dtype: Any = None) -> Engine:
        """Return what runs tasks on the partitions.

        Parameters
        ----------
        weights : ndarray of shape (n_samples,) or None
            Weights of the rows.
        dtype : dtype or None, default=None
            The type that rows are read as; None is their own.

        Returns
        -------
        Engine
            All partitions in this process.

        Examples
        --------
        >>> import numpy as np
        >>> from rtkm import Partitions
        >>> rows = Partitions.of_array(np.zeros((100, 4)), n_partitions=3)
        >>> rows.engine(None).n_rows
        [33, 33, 34]
        """
        dtype = np.dtype(self.dtype if dtype is None else dtype)
        ends = np.cumsum([source.n_rows for source in self.sources])[:-1]
        parts = None if weights is None else np.split(weights, ends)
        # half is for the partition at work
        return LocalEngine(self.sources, parts, dtype, self.n_bytes // 2)


def rows_in_memory(memory: int, n_features: int, dtype: np.dtype[Any]) -> int:
    """Return how many rows a partition may have, for a fit within the memory."""
    row_bytes = n_features * dtype.itemsize + STATE_BYTES
    return max(1, memory // PARTITIONS_IN_MEMORY // row_bytes)


def source_of(X: Any, first: int, n_rows: int) -> RowSource:
    """Return some rows of an array; those of a memory map by its file."""
    is_mapped = isinstance(X, np.memmap) and X.flags.c_contiguous and X.ndim == 2
    if not is_mapped or X.filename is None:
        return ArrayRows(X, first, n_rows)
    place = X.offset + first * X.shape[1] * X.itemsize
    return MappedRows(str(X.filename), X.dtype, place, n_rows, X.shape[1])


def in_partitions(X: Any) -> PartitionedRows | None:
    """Return what is to be read in partitions: if it is said so, or too large."""
    if isinstance(X, PartitionedRows):
        return X
    if isinstance(X, np.memmap) and X.ndim == 2:
        n_bytes = X.shape[0] * STATE_BYTES
        if n_bytes > SHARE_OF_MEMORY * available_memory():
            return Partitions.of_array(X)
    made_by = MAKERS.get(type(X).__module__.partition(".")[0])
    return None if made_by is None else made_by(X)


def of_pyarrow(X: Any) -> Partitions | None:
    """Return a dataset of pyarrow as rows in partitions; its tables are in memory."""
    from rtkm.tables.datasets import partitions_of

    return partitions_of(X) if hasattr(X, "get_fragments") else None


def of_dask(X: Any) -> PartitionedRows | None:
    """Return a collection of Dask as rows in partitions."""
    from rtkm.dask.collections import DaskRows

    return DaskRows.of(X) if is_dask(X) else None


# by the package that a collection is from: what makes partitions of it, or nothing of
# what has to be in memory
MAKERS: dict[str, Callable[[Any], PartitionedRows | None]] = {
    "dask": of_dask,
    "dask_expr": of_dask,
    "pyarrow": of_pyarrow,
}


def is_dask(X: Any) -> bool:
    """Whether something is a collection of Dask, which need not be installed."""
    return hasattr(X, "__dask_graph__")


def check_total(total: float) -> None:
    """Refuse weights whose sum is not a number of rows."""
    if not 0 < total <= LARGEST_MASS:
        raise ValueError(f"sample_weight sums to {total:g}.")


@dataclass(frozen=True)
class Checked:
    """Asks a partition whether its rows are what a fit can take."""

    n_features: int

    def __call__(self, part: Part) -> NDArray[np.float64] | str:
        """Return the ends of its columns, or what is wrong."""
        if part.X.shape != (part.n_rows, self.n_features):
            wanted = part.n_rows, self.n_features
            return f"it has shape {part.X.shape}; expected {wanted}"
        try:
            check_array(part.X, **ARRAY_OPTIONS)
        except ValueError as error:
            return str(error)
        ends: NDArray[np.float64] = part.table.ends
        return ends


def partitioned(
    estimator: Any, rows: PartitionedRows, sample_weight: ArrayLike | None = None
) -> PartitionedTable:
    """Check rows in partitions, and return them as a table."""
    n, d = rows.shape
    if n == 0:
        raise ValueError("Found array with 0 sample(s); a minimum of 1 is required.")
    weights = None
    if sample_weight is not None:
        weights = rows._weights_of(sample_weight)
    engine = rows.engine(weights)
    with closed_if_it_fails(engine):
        X = PartitionedTable(engine, d, rows.dtype, weights is not None)
        ends = checked_ends(X)
    names = None if rows.names is None else np.array(rows.names, dtype=object)
    if estimator is not None:
        estimator.n_features_in_ = d
        vars(estimator).pop("feature_names_in_", None)
        if names is not None:
            estimator.feature_names_in_ = names
    with closed_if_it_fails(engine):
        check_magnitudes(ends, ends, names_of(estimator, ends))
    return X


@contextmanager
def closed_if_it_fails(engine: Engine) -> Iterator[None]:
    """Let partitions forget everything if there is an error."""
    try:
        yield
    except BaseException:
        engine.forget(None)
        raise


def checked_ends(X: PartitionedTable) -> NDArray[Any]:
    """Return the ends of all columns, of partitions in which nothing is wrong."""
    low, high = [], []
    for number, told in enumerate(X.map_each(Checked(X.n_features))):
        if isinstance(told, str):
            raise ValueError(f"partition {number} cannot be used: {told}")
        low.append(told[0])
        high.append(told[1])
    return np.array([np.min(low, axis=0), np.max(high, axis=0)]).astype(X.dtype)


def new_partitioned(
    estimator: Any, rows: PartitionedRows, near: NDArray[Any]
) -> PartitionedTable:
    """Check new rows in partitions, and return them in the precision of a model."""
    d = rows.n_features
    if d != estimator.n_features_in_:
        raise ValueError(
            f"X has {d} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
    engine = rows.engine(None, near.dtype)
    try:
        X = PartitionedTable(engine, d, near.dtype, is_weighted=False)
        ends = checked_ends(X)
    finally:
        # what is asked next is asked once: nothing is worth remembering
        engine.forget(None)
    check_magnitudes(ends, ends, names_of(estimator, ends), near)
    return X
