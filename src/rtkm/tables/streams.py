"""Tables that need not fit in memory: some files, or a dataset, read part by part."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from rtkm._memory import available_memory, bytes_of
from rtkm._number_text import counted
from rtkm.tables.arrow import pa, pa_parquet
from rtkm.tables.damage import told_as_damage
from rtkm.tables.dialects import Dialect
from rtkm.tables.formats import FORMATS, format_of, is_named_table
from rtkm.tables.messages import InputError, listed
from rtkm.tables.packing import packing_of
from rtkm.tables.partitions import (
    Block,
    FilePartition,
    FragmentPartition,
    Partition,
    cuts_of,
    fragment_stamp,
    record_batches,
    row_groups,
)
from rtkm.tables.reading import begin, find_and_read
from rtkm.tables.scratch import Scratch
from rtkm.tables.source import LONGEST_MAGIC, STANDARD_INPUT, Source, find_source
from rtkm.tables.stream_schema import check_unique, common_schema
from rtkm.tables.stream_text import to_scratch

SHARE_OF_MEMORY = 1 / 4  # of what is available
SHARE_OF_PART = 1 / 16  # of that: a part is decoded, scaled, judged and written
TIMES_IN_MEMORY = 4  # what work on a table takes of its size
TIMES_PACKED = 5  # what text takes of a compressed file
TEXT_ENDINGS = FORMATS[-1].endings
STREAMED = "Parquet, Arrow, Feather and CSV files"
READING: dict[str, Any] = {
    **dict.fromkeys(("sep", "decimal", "quote", "encoding", "header")),
    "skip": 0,
}


@dataclass(frozen=True)
class StreamFile:
    """A file of a stream.

    Attributes
    ----------
    source : Source
        The file, as it was when it was first seen.
    format : "Parquet", "Arrow" or "CSV"
        What it is.
    schema : pyarrow.Schema
        Its columns, in its own order.
    blocks : list of Block
        What can be read at a time.
    dialect : Dialect or None
        How a text table is written.
    scratch : Scratch or None
        Where the cells of a text table are.
    """

    source: Source
    format: str
    schema: Any
    blocks: list[Block]
    dialect: Dialect | None = None
    scratch: Scratch | None = None

    @property
    def name(self) -> str:
        """What the user calls it."""
        return self.source.name

    @property
    def names(self) -> list[str]:
        """The names of its columns, in its own order."""
        return self.schema.names

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(block.n_rows for block in self.blocks)

    @property
    def n_bytes(self) -> int:
        """About how much memory it would take."""
        return sum(block.n_bytes for block in self.blocks)

    def partitions(self, schema: Any, most: int) -> Iterator[FilePartition]:
        """Yield its rows in parts of at most so many bytes."""
        source, form = self.source, self.format
        if self.scratch is not None:
            source, form = source_of(self.scratch, self.name), "Arrow"
        for cut in cuts_of(self.blocks, most):
            yield FilePartition(source, form, cut, schema)


@dataclass(frozen=True)
class Stream:
    """A table that need not fit in memory.

    Attributes
    ----------
    name : str
        What the user calls it.
    schema : pyarrow.Schema
        The columns.
    files : tuple of StreamFile
        The files, in order; a dataset has none.
    parts : tuple of tuple of Partition
        The rows of each file; those of a dataset are in one.
    memory : int
        Bytes that work on it may take.
    notes : tuple of str
        What the user should know, in sentences.
    is_quiet : bool
        Whether no bar is shown while it is read.
    """

    name: str
    schema: Any
    files: tuple[StreamFile, ...]
    parts: tuple[tuple[Partition, ...], ...]
    memory: int
    notes: tuple[str, ...] = field(default=())
    is_quiet: bool = False

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return self.schema.names

    @property
    def partitions(self) -> tuple[Partition, ...]:
        """The parts of all files, in order; none is empty."""
        return tuple(part for parts in self.parts for part in parts)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(part.n_rows for part in self.partitions)

    @property
    def most_bytes(self) -> int:
        """How large a part may be."""
        return most_bytes(self.memory)

    @property
    def dialect(self) -> Dialect | None:
        """How the first text table is written, if there is one."""
        return next((f.dialect for f in self.files if f.dialect), None)

    @property
    def decimal(self) -> str:
        """The decimal mark of cells that are text; a comma if any file has one."""
        marks = {file.dialect.decimal for file in self.files if file.dialect}
        return "," if "," in marks else "."

    @property
    def format(self) -> str:
        """What the files are."""
        formats = dict.fromkeys(file.format for file in self.files)
        return " and ".join(formats) or "a dataset"

    def summary(self) -> str:
        """Return what is read, in a sentence."""
        size = f"{counted(self.n_rows, 'row')} of {counted(len(self.names), 'column')}"
        files = f"{counted(len(self.files), 'file')}, " if len(self.files) > 1 else ""
        parts = counted(len(self.partitions), "part")
        return f"Reading {size} from {self.name} ({files}{self.format}, in {parts})."

    def close(self) -> None:
        """Remove the scratch files; they also go with the stream."""
        for file in self.files:
            if file.scratch is not None:
                file.scratch.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_stream(
    given: Any,
    memory: str | int | None = None,
    *,
    is_quiet: bool = False,
    **reading: Any,
) -> Stream:
    """Find the columns, the files and the number of rows of a table, and no more.

    Text tables are converted once into scratch files, in the folder that
    ``RTKM_SCRATCH`` names or that of the system, as nothing else tells the types of
    their columns.

    Parameters
    ----------
    given : path, list of paths or pyarrow.dataset.Dataset
        Parquet, Arrow, Feather and CSV files, one or many; a folder stands for the
        tables in it, and ``*`` for any part of a name. Files come in the order of their
        names, in which ``part-2`` is before ``part-10``.
    memory : str or int, default=None
        Such as ``"2GB"``; a quarter of what is available if None. A part takes at most
        a sixteenth of it.
    is_quiet : bool, default=False
        Whether to show no bar, on a terminal, while it is read.
    **reading
        How text tables are written, as `read_table` takes it.

    Returns
    -------
    Stream
        The table.

    Raises
    ------
    InputError
        If a file cannot be read so, or files are not parts of one table.
    """
    limit = memory_limit(memory)
    if hasattr(given, "get_fragments"):
        return of_dataset(given, limit, is_quiet)
    paths, name = find_paths(given)
    files, notes = open_files(paths, READING | reading, is_quiet)
    schema = common_schema([f.name for f in files], [f.schema for f in files])
    parts = tuple(tuple(file.partitions(schema, most_bytes(limit))) for file in files)
    stream = Stream(name, schema, tuple(files), parts, limit, tuple(notes), is_quiet)
    check_rows(stream)
    return stream


def memory_limit(memory: str | int | None) -> int:
    """Return how many bytes may be taken."""
    if memory is None:
        return int(available_memory() * SHARE_OF_MEMORY)
    try:
        return bytes_of(memory)
    except ValueError as error:
        raise InputError(str(error)) from None


def most_bytes(memory: int) -> int:
    """Return how large a part may be."""
    return int(memory * SHARE_OF_PART)


def check_rows(stream: Stream) -> None:
    """Refuse a table without content."""
    if not stream.names or not stream.n_rows:
        raise InputError(
            f"{stream.name} has {counted(len(stream.names), 'column')} and "
            f"{counted(stream.n_rows, 'row')}; expected a table of numbers."
        )


def needs_parts(given: str, memory: str | int | None) -> bool:
    """Whether a table is to be read in parts: many files, or one too large.

    What is done with a table in memory takes about four times what it takes itself.
    """
    limit = memory_limit(memory)
    if given == STANDARD_INPUT:
        return False
    if is_many(given):
        return True
    if memory is None:
        limit = int(limit / SHARE_OF_MEMORY)
    return bytes_in_memory(Path(given)) * TIMES_IN_MEMORY > limit


def is_in_parts(given: Any, memory: str | int | None) -> bool:
    """Whether what somebody calls a table is to be read in parts."""
    if hasattr(given, "get_fragments"):
        return True
    if isinstance(given, str | os.PathLike):
        return needs_parts(os.fspath(given), memory)
    is_list = isinstance(given, list | tuple) and bool(given)
    if is_list and all(isinstance(path, str | os.PathLike) for path in given):
        return True
    if memory is None:
        return False
    raise InputError(
        f"memory={memory!r} is for files, and {type(given).__name__} is in memory; "
        "leave it out."
    )


def bytes_in_memory(path: Path) -> int:
    """Return about how much a table takes, 0 if it is none to be read in parts."""
    try:
        with path.open("rb") as stream:
            start = stream.read(LONGEST_MAGIC)
        if not path.is_file():
            return 0
        size = path.stat().st_size
        if packing_of(start) is not None:
            return size * TIMES_PACKED * is_text_name(path)
        form = format_of(start).name
        if form == "Parquet":
            return sum(block.n_bytes for block in parquet_head(find_source(path))[1])
    except (OSError, pa.ArrowException):
        return 0  # whoever reads it tells what is wrong
    return size if form in ("Arrow", "CSV") else 0


def is_text_name(path: Path) -> bool:
    """Whether a compressed file is a text table by its name."""
    return path.with_suffix("").suffix.lower() in TEXT_ENDINGS


# Files


def is_many(given: Any) -> bool:
    """Whether what was given stands for other files than one of its name."""
    if not isinstance(given, str | os.PathLike):
        return True
    return os.path.isdir(given) or (
        not os.path.lexists(given) and glob.has_magic(os.fspath(given))
    )


def find_paths(given: Any) -> tuple[list[Path], str]:
    """Return the files that are meant, in order, and a name for all of them."""
    if isinstance(given, str | os.PathLike):
        name = os.fspath(given)
        return paths_of(given), name
    if not isinstance(given, Sequence) or not given:
        raise InputError(
            f"{type(given).__name__} cannot be read in parts; expected a path, a list "
            "of paths or a dataset of pyarrow."
        )
    paths = [path for each in given for path in paths_of(each)]
    return paths, listed(map(str, paths), len(paths), most=2)


def paths_of(given: str | os.PathLike[str]) -> list[Path]:
    """Return the files that a name stands for."""
    text = os.fspath(given)
    if not is_many(given):
        return [Path(given)]
    if os.path.isdir(given):
        found = [path for path in Path(given).rglob("*") if is_table(path, Path(given))]
        what = "no table in the folder"
    else:
        found = [Path(name) for name in glob.glob(text, recursive=True)]
        found = [path for path in found if path.is_file()]
        what = "no file"
    if not found:
        raise InputError(f"{text}: there is {what}; expected {STREAMED}.")
    return sorted(found, key=natural_order)


def is_table(path: Path, folder: Path) -> bool:
    """Whether a file in a folder is one of its tables, and not hidden."""
    parts = path.relative_to(folder).parts
    is_hidden = any(part.startswith((".", "_")) for part in parts)
    return not is_hidden and is_named_table(path.name) and path.is_file()


def natural_order(path: Path) -> list[Any]:
    """Return what sorts names as people do: numbers in them by their size.

    Examples
    --------
    >>> names = ["b/part-10.csv", "b/part-9.csv", "a.csv"]
    >>> print(*sorted(map(Path, names), key=natural_order))
    a.csv b/part-9.csv b/part-10.csv
    """
    pieces = re.split("([0-9]+)", str(path))
    # at odd places are the numbers; equal ones with more zeros come later
    return [(int(p), len(p)) if i % 2 else p for i, p in enumerate(pieces)]


def open_files(
    paths: Sequence[Path], reading: Mapping[str, Any], is_quiet: bool
) -> tuple[list[StreamFile], list[str]]:
    """Look into all files; of several, those without a byte are left out."""
    empty = [p for p in paths if len(paths) > 1 and p.is_file() and not size_of(p)]
    files = [open_file(path, reading, is_quiet) for path in paths if path not in empty]
    if not files:
        raise InputError(
            f"{paths[0]} and {counted(len(paths) - 1, 'other')} are empty; expected "
            f"{STREAMED}."
        )
    names = listed(map(str, empty), len(empty), most=3)
    return files, [f"Left out empty files: {names}."] * bool(empty)


def size_of(path: Path) -> int:
    """Return the bytes of a file, and some where nobody can say."""
    try:
        return path.stat().st_size
    except OSError:
        return 1  # `begin` tells what is wrong


def open_file(path: Path, reading: Mapping[str, Any], is_quiet: bool) -> StreamFile:
    """Look into a file: what its columns are, and how many rows it has where."""
    source, sample, is_whole = begin(path)
    form = format_of(sample).name
    if source.path is None:
        raise InputError(
            f"{source.name} can be read but once; expected files to read in parts."
        )
    if form == "CSV":
        options = {name: reading[name] for name in READING if name != "encoding"}
        convert = partial(open_text_file, is_quiet=is_quiet)
        return find_and_read(
            source, sample, is_whole, reading["encoding"], options, convert
        )
    if form not in ("Parquet", "Arrow"):
        raise InputError(
            f"{source.name} is {form}, which cannot be read in parts; expected "
            f"{STREAMED}."
        )
    if source.packing is not None:
        raise InputError(
            f"{source.name} is {form} compressed by {source.packing.name}, which "
            "cannot be read in parts; unpack it."
        )
    with told_as_damage(source.name, form):
        schema, blocks = HEADS[form](source)
    check_unique(source.name, schema.names)
    return StreamFile(source, form, schema, blocks)


def open_text_file(source: Source, dialect: Dialect, *, is_quiet: bool) -> StreamFile:
    """Convert a text table, so that it can be read in parts."""
    scratch = Scratch(source.name)
    schema = to_scratch(source, dialect, scratch, is_quiet=is_quiet)
    blocks = record_batches(source_of(scratch, source.name))
    return StreamFile(source, "CSV", schema, blocks, dialect, scratch)


def source_of(scratch: Scratch, name: str) -> Source:
    """Return a scratch file as a source, under the name of what it holds."""
    status = scratch.path.stat()
    return Source(name, scratch.path, stamp=(status.st_size, status.st_mtime_ns))


def parquet_head(source: Source) -> tuple[Any, list[Block]]:
    """Return the columns and the row groups of a Parquet file."""
    with source.open_for_arrow() as stream:
        metadata = pa_parquet.read_metadata(stream)
    schema = metadata.schema.to_arrow_schema().remove_metadata()
    return schema, row_groups(metadata, schema)


def arrow_head(source: Source) -> tuple[Any, list[Block]]:
    """Return the columns and the record batches of an Arrow file."""
    with source.open_for_arrow() as stream, pa.ipc.open_file(stream) as file:
        schema = file.schema.remove_metadata()
    return schema, record_batches(source)


HEADS = {"Parquet": parquet_head, "Arrow": arrow_head}


# Datasets


def of_dataset(dataset: Any, memory: int, is_quiet: bool) -> Stream:
    """Return a stream of a dataset of Parquet files, or of the files it is made of."""
    form = getattr(getattr(dataset, "format", None), "default_extname", "")
    if form != "parquet":
        files = getattr(dataset, "files", None)
        if not files:
            raise InputError(
                f"a {type(dataset).__name__} cannot be read in parts; expected a "
                "dataset of files, or pass the table itself."
            )
        return open_stream([*files], memory, is_quiet=is_quiet)
    if getattr(dataset, "_scan_options", None):
        raise InputError(
            "a dataset with a filter cannot be read in parts, as nobody knows how many "
            "rows it leaves; write what it leaves to a file first."
        )
    name = "the dataset"
    check_unique(name, dataset.schema.names)
    schema = common_schema([name], [dataset.schema.remove_metadata()])
    parts = tuple(
        part
        for fragment in dataset.get_fragments()
        for part in fragment_parts(fragment, schema, most_bytes(memory))
    )
    stream = Stream(name, schema, (), (parts,), memory, is_quiet=is_quiet)
    check_rows(stream)
    return stream


def fragment_parts(fragment: Any, schema: Any, most: int) -> Iterator[Partition]:
    """Yield row groups of a fragment, small ones together."""
    name = fragment.path
    with told_as_damage(name, "Parquet"):
        fragment.ensure_complete_metadata()
        stamp = fragment_stamp(fragment)
        # what a fragment counts is its whole file, whichever row groups it has
        ids = [group.id for group in fragment.row_groups]
        blocks = row_groups(fragment.metadata, schema)
    for cut in cuts_of([blocks[i] for i in ids], most):
        some = fragment.subset(row_group_ids=[ids[i] for i in cut.places])
        yield FragmentPartition(name, some, cut, schema, stamp)
