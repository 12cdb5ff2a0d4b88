"""Dask arrays and frames as rows in partitions, and columns as Dask arrays."""

from __future__ import annotations

import uuid
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm._memory import available_memory
from rtkm._optional import import_optional
from rtkm.core.columns import Column
from rtkm.core.parts import Engine, LocalEngine
from rtkm.core.sources import (
    SHARE_OF_MEMORY,
    PartitionedRows,
    check_total,
    is_dask,
)
from rtkm.core.validation import weights_of_rows
from rtkm.dask.engine import DaskEngine, gathered, unreadable
from rtkm.dask.worker import entries_of_block, n_rows_of, rows_for_tasks, written_whole

FLOATS = (np.float32, np.float64)


def dask_array() -> Any:
    """Return the module of Dask arrays."""
    return import_optional("dask.array", needed_by="a fit on a cluster")


def client_for(client: Any) -> Any:
    """Return the client, the current one, or nothing if there is none."""
    if client is None:
        distributed = import_optional("distributed", needed_by="a fit on a cluster")
        try:
            client = distributed.get_client()
        except ValueError:  # nobody has started a cluster
            return None
    if client.asynchronous:
        raise TypeError(
            "an asynchronous client cannot wait for a fit; expected one that is not."
        )
    return client


@dataclass(frozen=True)
class BlockRows:
    """A block of a Dask collection, computed in this process when it is needed."""

    block: Any  # Delayed
    n_rows: int
    name: str

    def load(self) -> Any:
        """Compute it."""
        try:
            return self.block.compute()
        except Exception as error:
            raise unreadable(f"the partition {self.name}", error) from error


class DaskRows(PartitionedRows):
    """The rows of a Dask array or frame, one partition for each of its row chunks.

    Parameters
    ----------
    array : dask.array.Array
        The rows, all columns in one chunk.
    names : list of str or None
        What the columns are called.
    client : distributed.Client or None
        The cluster that the fit runs on; without one it runs in this process.
    """

    def __init__(self, array: Any, names: list[str] | None, client: Any) -> None:
        self.names, self.client = names, client
        self.n_features = int(array.shape[1])
        self.dtype = array.dtype if array.dtype in FLOATS else np.dtype(np.float64)
        self._kept: Any = None  # blocks on the cluster until a fit has them
        self.array = self._with_sizes(array)
        self.n_rows: list[int] = [int(n) for n in self.array.chunks[0]]
        self._weights: Any = None
        self._kept_weights: Any = None

    @classmethod
    def of(cls, X: Any, client: Any = None) -> DaskRows:
        """Return the rows of a Dask collection."""
        array, names = as_array(X)
        return cls(array, names, client_for(client))

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return sum(self.n_rows), self.n_features

    def _with_sizes(self, array: Any) -> Any:
        """Return the array with chunks whose sizes are known."""
        if not np.isnan(array.shape[0]):
            return array
        array = copy(array)
        if self.client is None:
            array.compute_chunk_sizes()
            return array
        self._kept = self.client.persist(array)
        blocks, names = futures_of(self._kept)
        sizes = self.client.map(n_rows_of, blocks, pure=False)
        found = gathered(self.client, sizes, names, range(len(names)))
        array._chunks = (tuple(found), array.chunks[1])
        return array

    def _weights_of(self, sample_weight: Any) -> Any:
        """Return the weights as a Dask array with the chunks of the rows."""
        da, n = dask_array(), self.shape[0]
        if not is_dask(sample_weight):
            local = weights_of_rows(sample_weight, n)
            check_total(float(local.sum()))
            return pieces(da, np.split(local, np.cumsum(self.n_rows)[:-1]))
        given: Any = sample_weight
        weights: Any = given.to_dask_array() if is_frame(given) else given
        if weights.ndim == 1 and np.isnan(weights.shape[0]):
            weights = copy(weights)
            weights.compute_chunk_sizes()
        if weights.shape != (n,):
            raise ValueError(
                f"sample_weight has shape {weights.shape}; expected one number for "
                f"each of the {n} rows."
            )
        weights = weights.rechunk((self.array.chunks[0],)).astype(np.float64)
        kept = weights
        if self.client is not None:  # so that the fit need not read them again
            self._kept_weights = kept = self.client.persist(weights)
        least, total = import_optional("dask", needed_by="a fit on a cluster").compute(
            kept.min(), kept.sum()
        )
        if not np.isfinite(total) or least < 0:
            weights_of_rows(np.array([least, total]), 2)
        check_total(float(total))
        return weights

    def engine(self, weights: Any, dtype: Any = None) -> Engine:
        """Return what runs tasks on the partitions, their rows as this type."""
        self._weights = weights
        self.dtype = self.dtype if dtype is None else dtype
        if self.client is not None:
            names = names_of(self.array)
            return DaskEngine(self.client, self._load, self.n_rows, names)
        blocks = self.array.to_delayed().ravel().tolist()
        sources = [
            BlockRows(*of)
            for of in zip(blocks, self.n_rows, names_of(self.array), strict=True)
        ]
        parts = None
        if weights is not None:
            every = np.asarray(weights)
            parts = np.split(every, np.cumsum(self.n_rows)[:-1])
        room = SHARE_OF_MEMORY * available_memory() / 2
        return LocalEngine(sources, parts, np.dtype(self.dtype), room)

    def _load(self) -> list[Any]:
        """Return futures of the rows of all partitions, and of their weights."""
        client = self.client
        kept = client.persist(self.array) if self._kept is None else self._kept
        self._kept = None
        blocks, names = futures_of(kept)
        weights: list[Any] = [None] * len(blocks)
        if self._weights is not None:
            kept = self._kept_weights
            kept = client.persist(self._weights) if kept is None else kept
            self._kept_weights = None
            weights, _ = futures_of(kept)
        name = f"rtkm-rows-{uuid.uuid4().hex}"
        return list(
            client.map(
                rows_for_tasks,
                blocks,
                weights,
                dtype=np.dtype(self.dtype),
                key=[(name, i) for i in range(len(names))],
                pure=False,
            )
        )

    def lazy(self, column: Column) -> Any:
        """Return a column as a Dask array, whose chunks are those of the rows."""
        da = dask_array()
        like = column._like
        table: Any = column._table
        empty = np.empty((0, *like.shape[1:]), like.dtype)
        text = written_whole((np.dtype(self.dtype), table.frame, column._node, empty))
        token = uuid.uuid4().hex
        name, node = f"rtkm-column-{token}", f"rtkm-node-{token}"
        graph: dict[Any, Any] = {node: text}
        number = first = 0
        rest = tuple(like.shape[1:])
        for i, n_rows in enumerate(self.n_rows):
            weights = None
            if self._weights is not None:
                weights = (self._weights.name, i)
            block = (self.array.name, i, 0)
            place = (name, i, *(0 for _ in rest))
            graph[place] = (entries_of_block, block, weights, number, first, node)
            number += n_rows > 0
            first += n_rows
        of = [self.array] if self._weights is None else [self.array, self._weights]
        layers = import_optional("dask.highlevelgraph", needed_by="a fit on a cluster")
        layered = layers.HighLevelGraph.from_collections(name, graph, dependencies=of)
        chunks = (self.array.chunks[0], *((n,) for n in rest))
        return da.Array(layered, name, chunks, meta=empty)


def is_frame(X: Any) -> bool:
    """Whether a Dask collection is a frame or a series."""
    return hasattr(X, "to_dask_array")


def as_array(X: Any) -> tuple[Any, list[str] | None]:
    """Return a Dask collection as an array of one chunk of columns, and its names."""
    names = None
    if is_frame(X):
        X, names = numbers_of(X)
    if not hasattr(X, "chunks") or X.ndim != 2:
        shape = getattr(X, "shape", None)
        raise ValueError(
            f"X is a Dask collection of shape {shape}; expected an array of rows and "
            "columns, or a frame."
        )
    if len(X.chunks[1]) > 1:
        if np.isnan(X.shape[0]):
            raise ValueError(
                "X has several chunks of columns, and rows whose number is not known; "
                "call X.compute_chunk_sizes() before."
            )
        X = X.rechunk({1: -1})
    return X, names


def numbers_of(frame: Any) -> tuple[Any, list[str] | None]:
    """Return a frame as an array, and the names of its columns if all are texts."""
    if frame.ndim != 2:
        raise ValueError("X is a series; expected a frame, such as X.to_frame().")
    texts = [
        str(name)
        for name, dtype in frame.dtypes.items()
        if getattr(dtype, "kind", "O") not in "biuf"
    ]
    if texts:
        raise ValueError(
            f"columns {', '.join(texts)} hold no numbers; choose others, as by "
            "X.select_dtypes('number')."
        )
    common = np.result_type(
        *(getattr(dtype, "numpy_dtype", dtype) for dtype in frame.dtypes)
    )
    dtype = common if common in FLOATS else np.dtype(np.float64)
    columns = list(frame.columns)
    names = columns if all(isinstance(name, str) for name in columns) else None
    return frame.astype(dtype).to_dask_array(), names


def names_of(array: Any) -> list[str]:
    """Return what the row chunks of an array are called by Dask."""
    return [f"chunk {(array.name, i)}" for i in range(array.numblocks[0])]


def futures_of(kept: Any) -> tuple[list[Any], list[str]]:
    """Return the futures of the row chunks of what a cluster keeps, and their names."""
    distributed = import_optional("distributed", needed_by="a fit on a cluster")
    by_key = {future.key: future for future in distributed.futures_of(kept)}
    keys = [(kept.name, i, *([0] * (kept.ndim - 1))) for i in range(kept.numblocks[0])]
    return [by_key[key] for key in keys], names_of(kept)


def pieces(da: Any, some: list[NDArray[Any]]) -> Any:
    """Return arrays, one after the other, as the chunks of a Dask array."""
    name = f"rtkm-weights-{uuid.uuid4().hex}"
    graph = {(name, i): piece for i, piece in enumerate(some)}
    return da.Array(graph, name, (tuple(map(len, some)),), meta=np.empty(0))
