"""Parts of tables that fit in memory, each read by itself whenever it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

from rtkm.tables.arrow import pa, pa_parquet
from rtkm.tables.damage import told_as_damage
from rtkm.tables.messages import InputError
from rtkm.tables.source import Source
from rtkm.tables.stream_schema import as_schema

TEXT_BYTES = 24  # of a cell of text, at least, as decoded; a file may hold it once


class Partition(Protocol):
    """Rows of a stream, which any process can read, again and again."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    def read(self, columns: Sequence[str] | None = None) -> Any:
        """Return the columns as a table of pyarrow; None is all."""


class Block(NamedTuple):
    """A row group or record batch: its rows, and about how much memory they take."""

    n_rows: int
    n_bytes: int


class Cut(NamedTuple):
    """Consecutive blocks of a file, and which of their rows are meant."""

    first: int
    n_blocks: int
    start: int
    n_rows: int

    @property
    def places(self) -> list[int]:
        """The blocks."""
        return [*range(self.first, self.first + self.n_blocks)]


@dataclass(frozen=True)
class FilePartition:
    """Rows of a file.

    Attributes
    ----------
    source : Source
        The file, as it was when it was first seen.
    format : "Parquet" or "Arrow"
        What it is.
    cut : Cut
        Which rows.
    schema : pyarrow.Schema
        The columns, in the order and types of the stream.
    """

    source: Source
    format: str
    cut: Cut
    schema: Any

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.cut.n_rows

    def read(self, columns: Sequence[str] | None = None) -> Any:
        """Return the columns as a table of pyarrow; None is all."""
        schema = chosen(self.schema, columns)
        with unchanged(self.source), told_as_damage(self.source.name, self.format):
            table = READERS[self.format](self.source, self.cut, schema.names)
        return as_schema(table, schema)


@dataclass(frozen=True)
class FragmentPartition:
    """Rows of a fragment of a dataset of pyarrow, some of its row groups."""

    name: str
    fragment: Any
    cut: Cut
    schema: Any
    stamp: tuple[int | None, Any]  # size and time of the file

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.cut.n_rows

    def read(self, columns: Sequence[str] | None = None) -> Any:
        """Return the columns as a table of pyarrow; None is all."""
        schema = chosen(self.schema, columns)
        if fragment_stamp(self.fragment) != self.stamp:
            raise changed(self.name)
        with told_as_damage(self.name, "Parquet"):
            batches = self.fragment.to_batches(schema=self.schema, columns=schema.names)
            table = some_rows(batches, self.cut)
        return as_schema(table, schema)


def chosen(schema: Any, columns: Sequence[str] | None) -> Any:
    """Return the schema of some columns."""
    if columns is None:
        return schema
    return pa.schema([schema.field(name) for name in columns])


@contextmanager
def unchanged(source: Source) -> Iterator[None]:
    """Refuse a file that changes, or goes, while it is read."""
    source.check_unchanged()
    try:
        yield
    except InputError:
        source.check_unchanged()  # which says more
        raise
    source.check_unchanged()


def changed(name: str) -> InputError:
    """Return what is said of a file that is not what it was."""
    return InputError(f"{name} has changed while it was used; run again.")


def fragment_stamp(fragment: Any) -> tuple[int | None, Any]:
    """Return what changes when the file of a fragment does."""
    info = fragment.filesystem.get_file_info(fragment.path)
    return info.size, info.mtime_ns


# Reading


def read_row_groups(source: Source, cut: Cut, names: list[str]) -> Any:
    """Return rows of a Parquet file; those before them in a row group are skipped."""
    with source.open_for_arrow() as stream:
        file = pa_parquet.ParquetFile(stream, metadata=metadata_of(source))
        groups = cut.places
        n_all = sum(file.metadata.row_group(i).num_rows for i in groups)
        if cut.n_rows == n_all:
            return file.read_row_groups(groups, columns=names).select(names)
        batches = file.iter_batches(cut.n_rows, row_groups=groups, columns=names)
        return some_rows(batches, cut).select(names)


def some_rows(batches: Iterator[Any], cut: Cut) -> Any:
    """Return the rows of a cut, given the batches of its blocks."""
    found, place = [], 0
    for batch in batches:
        first, end = cut.start - place, cut.start + cut.n_rows - place
        if end > 0 and first < batch.num_rows:
            found.append(batch.slice(max(first, 0), end - max(first, 0)))
        place += batch.num_rows
        if place >= cut.start + cut.n_rows:
            break
    return pa.Table.from_batches(found)


def read_batches(source: Source, cut: Cut, names: list[str]) -> Any:
    """Return rows of an Arrow file."""
    with source.open_for_arrow() as stream, pa.ipc.open_file(stream) as file:
        fields = sorted(file.schema.get_field_index(name) for name in names)
    options = pa.ipc.IpcReadOptions(included_fields=fields)
    with (
        source.open_for_arrow() as stream,
        pa.ipc.open_file(stream, options=options) as file,
    ):
        table = pa.Table.from_batches(map(file.get_batch, cut.places), file.schema)
    return table.slice(cut.start, cut.n_rows).select(names)


READERS: dict[str, Callable[[Source, Cut, list[str]], Any]] = {
    "Parquet": read_row_groups,
    "Arrow": read_batches,
}


@lru_cache(maxsize=64)
def metadata_of(source: Source) -> Any:
    """Return what a Parquet file says of itself, which many parts of it ask for."""
    with source.open_for_arrow() as stream:
        return pa_parquet.read_metadata(stream)


# Blocks


def row_groups(metadata: Any, schema: Any) -> list[Block]:
    """Return the row groups of a Parquet file; its size on the disk tells little."""
    groups = (metadata.row_group(i) for i in range(metadata.num_row_groups))
    return [Block(group.num_rows, decoded_bytes(group, schema)) for group in groups]


def decoded_bytes(group: Any, schema: Any) -> int:
    """Return about how much memory the rows of a row group take."""
    widths = [width_of(field.type) for field in schema]
    n_fixed = sum(width * group.num_rows for width in widths if width)
    n_free = sum(not width for width in widths) * group.num_rows * TEXT_BYTES
    return max(n_fixed + n_free, group.total_byte_size)


def width_of(kind: Any) -> int:
    """Return the bytes of a cell, 0 where they differ."""
    try:
        return -(-kind.bit_width // 8)
    except ValueError:
        return 0


def record_batches(source: Source) -> list[Block]:
    """Return the record batches of an Arrow file; of mapped ones no row is read."""
    with pa.memory_map(str(source.path)) as stream, pa.ipc.open_file(stream) as file:
        batches = map(file.get_batch, range(file.num_record_batches))
        return [Block(batch.num_rows, batch.nbytes) for batch in batches]


def cuts_of(blocks: Sequence[Block], most: int) -> Iterator[Cut]:
    """Cut a file in parts of at most so many bytes: small blocks together, large apart.

    Examples
    --------
    >>> blocks = [Block(2, 20), Block(0, 0), Block(3, 30), Block(10, 100)]
    >>> for cut in cuts_of(blocks, 60):
    ...     print(*cut)
    0 3 0 5
    3 1 0 6
    3 1 6 4
    """
    first, n_rows, n_bytes = 0, 0, 0
    for i, block in enumerate([*blocks, Block(0, most + 1)]):
        if n_bytes + block.n_bytes <= most:
            n_rows, n_bytes = n_rows + block.n_rows, n_bytes + block.n_bytes
            continue
        if n_rows:
            yield Cut(first, i - first, 0, n_rows)
        if block.n_bytes <= most:
            first, n_rows, n_bytes = i, *block
            continue
        n_each = max(1, block.n_rows * most // block.n_bytes)
        for start in range(0, block.n_rows, n_each):
            yield Cut(i, 1, start, min(n_each, block.n_rows - start))
        first, n_rows, n_bytes = i + 1, 0, 0
