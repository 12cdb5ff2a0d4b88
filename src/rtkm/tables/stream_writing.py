"""The rows of a file as they came, with the answers beside them, part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from rtkm.tables.arrow import pa, pa_csv, pa_parquet
from rtkm.tables.copying import copy_with
from rtkm.tables.formats import PARQUET_ENDINGS
from rtkm.tables.stream_schema import plain
from rtkm.tables.streams import StreamFile
from rtkm.tables.writing import (
    TEXT_ENDINGS,
    ending_of,
    no_text,
    packed,
    separator_for,
    with_free_names,
)

# from a table of rows of a file, and the number of the first, to answers for them
Answer = Callable[[Any, int], Any]


@dataclass(frozen=True)
class FileAnswers:
    """Answers for the rows of a file, which are made while they are written.

    Attributes
    ----------
    file : StreamFile
        The rows.
    schema : pyarrow.Schema
        The columns of the answers, under names that the file does not have.
    names : list of str
        The columns of the file that the answers are made from.
    answer : callable
        Makes them.
    most : int
        How many bytes a part may take.
    """

    file: StreamFile
    schema: Any
    names: list[str]
    answer: Answer
    most: int

    @property
    def column_names(self) -> list[str]:
        """The names of the answers."""
        return self.schema.names

    def parts(self, columns: list[str]) -> Iterator[tuple[Any, Any]]:
        """Yield rows with these columns, and the answers for them."""
        start = 0
        wanted = list(dict.fromkeys([*columns, *self.names]))
        for part in self.file.partitions(self.file.schema, self.most):
            table = part.read(wanted)
            answers = self.answer(table, start).rename_columns(self.schema.names)
            yield table.select(columns), answers.cast(self.schema)
            start += part.n_rows

    def to_batches(self, max_chunksize: int) -> Iterator[Any]:
        """Yield the answers alone."""
        for _, answers in self.parts([]):
            yield from answers.to_batches(max_chunksize=max_chunksize)

    def beside(self) -> Iterator[Any]:
        """Yield rows and answers as one table."""
        for rows, answers in self.parts(self.file.names):
            columns = [*rows.columns, *answers.columns]
            yield pa.table(columns, names=[*rows.column_names, *self.schema.names])

    @property
    def all_columns(self) -> Any:
        """The columns of the rows and of the answers."""
        return pa.schema([*self.file.schema, *self.schema])


def answers_for(
    file: StreamFile, schema: Any, names: list[str], answer: Answer, most: int
) -> tuple[FileAnswers, list[str]]:
    """Return the answers for a file, and say which of them have other names."""
    renamed, notes = with_free_names(schema.empty_table(), file)
    return FileAnswers(file, renamed.schema, names, answer, most), notes


def format_for(path: Path, file: StreamFile, *, is_one_of_many: bool) -> str:
    """Return the format to write: that of the file, or what the ending of one says."""
    if is_one_of_many:
        return file.format
    return "Parquet" if ending_of(path) in PARQUET_ENDINGS else "CSV"


def write_parts(stream: BinaryIO, path: Path, answers: FileAnswers, form: str) -> None:
    """Write rows and answers in a format, compressed as the path says."""
    answers.file.source.check_unchanged()
    if form == "Parquet":
        write_row_groups(stream, answers)
    elif form == "Arrow":
        write_batches(stream, answers)
    else:
        with packed(path, stream) as within:
            write_text(within, ending_of(path), answers)


def write_row_groups(stream: BinaryIO, answers: FileAnswers) -> None:
    """Write a Parquet file, each part as one row group."""
    with pa_parquet.ParquetWriter(stream, answers.all_columns) as writer:
        for table in answers.beside():
            writer.write_table(table, row_group_size=max(1, table.num_rows))


def write_batches(stream: BinaryIO, answers: FileAnswers) -> None:
    """Write an Arrow file; what a dictionary held is written in full."""
    schema = pa.schema([(f.name, plain(f.type)) for f in answers.all_columns])
    with pa.ipc.new_file(stream, schema) as writer:
        for table in answers.beside():
            writer.write_table(table.cast(schema))


def write_text(stream: BinaryIO, ending: str, answers: FileAnswers) -> None:
    """Write a text table: records as they were, or rows that were no text."""
    file = answers.file
    if file.dialect is not None:
        separator = separator_for(ending, file.dialect)
        copy_with(stream, file, file.dialect, answers, separator)
        return
    options = pa_csv.WriteOptions(delimiter=TEXT_ENDINGS[ending])
    try:
        with pa_csv.CSVWriter(
            stream, answers.all_columns, write_options=options
        ) as writer:
            for table in answers.beside():
                writer.write_table(table)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise no_text(file.name, error) from None
