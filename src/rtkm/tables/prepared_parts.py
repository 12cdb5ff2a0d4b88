"""A table in parts as numbers: what `Prepared` is of one in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm.core.lazy_rows import Feed, LazyRows
from rtkm.core.sources import Partitions, rows_in_memory
from rtkm.tables.arrow import pa
from rtkm.tables.fitted_preparation import Preparation, Prepared
from rtkm.tables.stored_parts import StoredMask, StoredPartition, cut_again, store
from rtkm.tables.stream_preparation import PreparedPartition, prepare_stream
from rtkm.tables.stream_repeat import Repetition
from rtkm.tables.stream_rows import RowReader, WholeRows
from rtkm.tables.streams import Stream

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


class KeptRows(LazyRows):
    """Which rows of a table in parts were used.

    Parameters
    ----------
    mask : StoredMask
        The same, as it is stored.
    """

    def __init__(self, mask: StoredMask) -> None:
        self.mask = mask

        def parts() -> Iterator[NDArray[np.bool_]]:
            for lines in mask.parts():
                yield lines[:, 0]

        super().__init__(parts, sum(mask.lengths), np.ones(1, bool))

    def all(self) -> bool:
        """Return whether all rows were used."""
        return self.mask.is_usual

    def spread(self, values: Any, blank: Any) -> LazyRows:
        """Return values of the rows that were used as values of all."""
        like = values[:1] if isinstance(values, np.ndarray) else values._like
        dtype = like.dtype if like.dtype.kind == "U" else np.result_type(like, blank)
        like, masks = like.astype(dtype), self._make

        def parts() -> Iterator[NDArray[Any]]:
            feed = Feed((part,) for part in parts_of(values))
            for mask in masks():
                entries = np.full((len(mask), *like.shape[1:]), blank, dtype)
                if mask.any():
                    (entries[mask],) = feed.take(int(mask.sum()))
                yield entries

        return LazyRows(parts, self.n_rows, like)

    def numbers(self, places: Places) -> Places:
        """Return the places in the table of rows, by sorted ones among the used."""
        if self.all():
            return places
        found, start, first = np.empty_like(places), 0, 0
        for mask in self.partitions():
            there = np.flatnonzero(mask)
            here = slice(*np.searchsorted(places, [first, first + len(there)]))
            found[here] = start + there[places[here] - first]
            start, first = start + len(mask), first + len(there)
        return found


def parts_of(values: Any) -> Iterator[NDArray[Any]]:
    """Yield entries part by part, those of an array at once."""
    if isinstance(values, np.ndarray):
        yield values
    else:
        yield from values.partitions()


@dataclass(frozen=True, eq=False)
class PreparedParts:
    """A table in parts, ready for a model.

    Attributes
    ----------
    X : Partitions
        The rows that are kept, in a scratch file.
    preparation : Preparation
        What was done.
    kept : KeptRows
        Whether a row of the table is in X.
    filled : StoredMask
        Which numbers of X stand for missing values, by column of the table.
    notes : tuple of str
        What was done, in sentences.
    n_missing : ndarray of shape (n_features,)
        Missing values of each column, in all rows of the table.
    stream : Stream
        The table.
    reader : RowReader
        How its cells become numbers.
    """

    X: Partitions
    preparation: Preparation
    kept: KeptRows
    filled: StoredMask
    notes: tuple[str, ...]
    n_missing: NDArray[np.int64]
    stream: Stream
    reader: RowReader
    weights: None = None

    @property
    def n_kept(self) -> int:
        """The number of rows that are kept."""
        return self.X.shape[0]

    @property
    def id(self) -> str | None:
        """The column that names the rows."""
        return self.preparation.id or None

    @property
    def has_gaps(self) -> bool:
        """Whether a row is left out, or a cell filled in."""
        return not (self.kept.mask.is_usual and self.filled.is_usual)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The columns that had no part in X or the names of the rows."""
        used = {*self.preparation.sources, self.id}
        return tuple(name for name in self.stream.names if name not in used)

    def repetition(self) -> Repetition:
        """Return what makes the same rows again, with what is said of their gaps."""
        return Repetition(self.preparation, self.reader, self.id, self.has_gaps)

    def rows(self, places: Places, columns: slice = slice(None)) -> Floats:
        """Return some columns of some rows, given sorted places among the kept."""
        found, first = [np.empty((0, len(self.preparation.columns)))[:, columns]], 0
        for source in self.X.sources:
            here = slice(*np.searchsorted(places, [first, first + source.n_rows]))
            if here.start < here.stop:
                found.append(source.load()[places[here] - first, columns])
            first += source.n_rows
        return np.concatenate(found)

    def filled_at(self, places: Places) -> NDArray[np.bool_] | None:
        """Return which numbers of some rows stand for missing values."""
        if self.filled.is_usual:
            return None
        found, first = [], 0
        for i, n_rows in enumerate(self.filled.lengths):
            here = slice(*np.searchsorted(places, [first, first + n_rows]))
            if here.start < here.stop:
                found.append(self.filled.part(i)[places[here] - first])
            first += n_rows
        return np.concatenate(found)[:, self.preparation.source_of]

    def sampled(self, most: int) -> Places:
        """Return the places of some rows, drawn by chance, or all of few."""
        n = self.n_kept
        if n <= most:
            return np.arange(n)
        rng = np.random.default_rng(0)
        return np.sort(rng.choice(n, most, replace=False, shuffle=False))

    def table(self, places: Places, names: Sequence[str] | None = None) -> Any:
        """Return the cells of some rows, as a table of pyarrow."""
        numbers, start, found = self.kept.numbers(places), 0, []
        for part in self.stream.partitions:
            here = slice(*np.searchsorted(numbers, [start, start + part.n_rows]))
            if here.start < here.stop:
                cells = part.read(names)
                found.append(cells.take(pa.array(numbers[here] - start)))
            start += part.n_rows
        return pa.concat_tables(found)

    def some(self, places: Places) -> Prepared:
        """Return some of the rows that are kept as a table in memory."""
        id, m = self.id, len(places)
        return Prepared(
            self.rows(places),
            self.preparation,
            np.ones(m, bool),
            {},
            self.filled_at(places),
            None if id is None or not m else self.table(places, [id]).column(0),
            (),
            self.n_missing,
            left_out=self.left_out,
        )


def prepare_parts(
    stream: Stream, *, is_quiet: bool = True, **options: Any
) -> PreparedParts:
    """Prepare a table in parts, and store its numbers in a scratch file.

    Parameters
    ----------
    stream : Stream
        The table.
    is_quiet : bool, default=True
        Whether to show no bar while numbers are stored.
    **options
        As `prepare_stream` takes them.

    Returns
    -------
    PreparedParts
        What a model is fitted to.
    """
    prepared = prepare_stream(stream, **options)
    first = prepared.partitions[0]
    assert isinstance(first, PreparedPartition)
    n_sources = len(first.reader.names)
    kept, filled = StoredMask(1, usual=True), StoredMask(n_sources, usual=False)

    def watch(rows: WholeRows) -> None:
        kept.add(rows.kept[:, None])
        filled.add(rows.filled[rows.kept])

    stored = store(prepared, watch, is_quiet=is_quiet).partitions
    preparation, n_missing = prepared.preparation, prepared.n_missing
    if preparation.categories:
        n_missing = n_missing[preparation.source_of]
    parts = tuple(part for part in stored if isinstance(part, StoredPartition))
    d = len(preparation.columns)
    most = rows_in_memory(stream.memory, d, np.dtype(np.float64))
    X = Partitions(cut_again(parts, most), d, np.float64, None, stream.memory)
    return PreparedParts(
        X,
        preparation,
        KeptRows(kept),
        filled,
        prepared.notes,
        n_missing,
        stream,
        first.reader,
    )
