"""Datasets of pyarrow whose columns are all numbers, as rows for an estimator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm.core.sources import Partitions, rows_in_memory
from rtkm.tables.arrow import pa
from rtkm.tables.messages import shown
from rtkm.tables.stored_parts import cut_again, store_matrices
from rtkm.tables.stream_columns import numbers_in
from rtkm.tables.streams import Stream, open_stream


def partitions_of(dataset: Any) -> Partitions:
    """Store the rows of a dataset as numbers, to be read in partitions.

    Parameters
    ----------
    dataset : pyarrow.dataset.Dataset
        The rows; all columns are numbers.

    Returns
    -------
    Partitions
        The same in a scratch file, which goes with them.
    """
    with open_stream(dataset) as stream:
        check_numeric(stream)
        stored = store_matrices(matrices(stream), len(stream.names))
        is_single = all(pa.types.is_float32(field.type) for field in stream.schema)
        dtype = np.dtype(np.float32 if is_single else np.float64)
        d, names, memory = len(stream.names), stream.names, stream.memory
        sources = cut_again(stored, rows_in_memory(memory, d, dtype))
    return Partitions(sources, d, dtype, names, memory)


def check_numeric(stream: Stream) -> None:
    """Refuse columns that are no numbers."""
    for field in stream.schema:
        kind = field.type
        is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        if not (is_number or pa.types.is_boolean(kind)):
            raise TypeError(
                f"column {shown(field.name)} of the dataset holds {kind}; expected "
                "numbers. rtkm.TableModel takes such datasets: it leaves text out, or "
                "uses it as categories=."
            )


def matrices(stream: Stream) -> Iterator[NDArray[np.float64]]:
    """Yield the rows of each part."""
    for part in stream.partitions:
        table = part.read()
        X = np.empty((table.num_rows, len(stream.names)))
        for j, name in enumerate(stream.names):
            X[:, j] = numbers_in(table.column(name), "")
        yield X
