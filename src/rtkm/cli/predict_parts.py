"""rtkm predict of tables that are read in parts: rows in, rows and answers out."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from rtkm._journal import repair
from rtkm._number_text import counted
from rtkm.cli import options as shared
from rtkm.cli.files import check_place, target_of, terminal_for, where, write_together
from rtkm.cli.flags import table_flags
from rtkm.cli.predict_model import find_id, model_for, tell_counts
from rtkm.cli.terminal import Terminal
from rtkm.cli.written import Writer
from rtkm.report.stream_results import StreamedResults
from rtkm.report.terminal_report import MOST_OUTLIERS, tell_outliers
from rtkm.tables.messages import InputError
from rtkm.tables.progress import progress
from rtkm.tables.stream_repeat import repeat_stream
from rtkm.tables.stream_writing import answers_for, format_for, write_parts
from rtkm.tables.streams import Stream, is_many
from rtkm.tables.writing import STANDARD_OUTPUT, check_output, told_as_input

resource: Any
try:
    import resource
except ImportError:  # Windows
    resource = None

MORE_FILES = 256  # that are open besides those that are written


def run_in_parts(options: argparse.Namespace) -> None:
    """Load, find out about the table, answer and write part by part."""
    refuse_unsummed(options)
    terminal = terminal_for(options)
    model = model_for(options)
    with shared.open_parts(options) as stream, targets_for(options, stream) as targets:
        terminal.say("\n".join([stream.summary(), *stream.notes]))
        id, notes = find_id(model, stream, options)
        repetition = repeat_stream(
            model.preparation_, stream, id=id, missing=options.missing
        )
        terminal.say("\n".join([*notes, *table_flags(list(repetition.notes))]))
        results = StreamedResults(model.estimator_, repetition, stream, MOST_OUTLIERS)
        told = answer_all(terminal, results, targets, is_many(options.data))
    tell_counts(terminal, results.counts, results.n_clusters, None)
    terminal.say(
        "Rows that are read in parts are not compared with the training rows; ask "
        "about a sample of them for that."
    )
    if not is_many(options.data):
        found: Any = {"count": results.n_outliers, "rows": results.farthest}
        tell_outliers(terminal, found)
    terminal.skip()
    for line in told:
        terminal.say(line)
    if not targets:
        output = "out/" if is_many(options.data) else "answers.csv"
        terminal.print(f"Next: {options.command_line} --output {output}")


def refuse_unsummed(options: argparse.Namespace) -> None:
    """Refuse what needs all rows at once."""
    for name in ("report", "json"):
        if getattr(options, name) is not None:
            raise InputError(
                f"--{name} needs all rows in memory, and {options.data} is read in "
                "parts; leave it out, or ask about a sample of the rows."
            )


def answer_all(
    terminal: Terminal,
    results: StreamedResults,
    targets: dict[Path, int],
    are_many: bool,
) -> list[str]:
    """Answer for all rows, and write them if there is where to; tell of it."""
    stream = results.stream
    is_quiet, n_done = terminal.stream is None, 0
    with progress("answering", stream.n_rows, " rows", is_quiet=is_quiet) as tell:

        def answer(table: Any, start: int) -> Any:
            nonlocal n_done
            answers = results.answer(table, start)
            n_done += table.num_rows
            tell(n_done)
            return answers

        if not targets:
            start = 0
            for part in stream.partitions:
                answer(part.read(results.names), start)
                start += part.n_rows
            return []
        writers, told = writers_for(results, targets, answer, are_many)
        told = [*write_together(writers), *told]
    return [*told, f"Rows and answers are in {named(targets)}."]


def named(targets: dict[Path, int]) -> str:
    """Return the files that are written, in a sentence."""
    if len(targets) == 1:
        return where(next(iter(targets)))
    folder = os.path.commonpath([path.parent for path in targets])
    return f"{counted(len(targets), 'file')} in {folder}"


def writers_for(
    results: StreamedResults,
    targets: dict[Path, int],
    answer: Callable[..., Any],
    are_many: bool,
) -> tuple[dict[Path, Writer], list[str]]:
    """Return what writes each file, and say which answers have other names."""
    stream, told = results.stream, []
    writers: dict[Path, Writer] = {}
    for path, place in targets.items():
        file = stream.files[place]
        answers, notes = answers_for(
            file, results.schema, results.names, answer, stream.most_bytes
        )
        form = format_for(path, file, is_one_of_many=are_many)
        writers[path] = partial(write_parts, path=path, answers=answers, form=form)
        told += notes
    return writers, list(dict.fromkeys(told))


# Where to


@contextmanager
def targets_for(
    options: argparse.Namespace, stream: Stream
) -> Iterator[dict[Path, int]]:
    """Yield the files to write, with the place of what each is made from.

    Folders that had to be made go again if nothing comes of it.
    """
    if options.output is None:
        yield {}
        return
    given = [target_of(f.source.path) for f in stream.files if f.source.path]
    if not is_many(options.data):
        check_place("--output", options.output)
        check_output(options.output)
        targets = {options.output: 0}
    else:
        targets = targets_in(options.output, given)
    refuse_replacing(options, [*targets], given)
    made = [*make_folders([path.parent for path in targets])]
    allow_open_files(len(targets))
    try:
        folders = {target_of(path).parent for path in targets}
        for note in repair(folders if options.output.is_dir() else ()):
            terminal_for(options).say(note)
        yield targets
    except BaseException:
        for folder in reversed(made):
            with suppress(OSError):
                folder.rmdir()
        raise


def targets_in(folder: Path, given: list[Path]) -> dict[Path, int]:
    """Return a file of the same name in a folder for each, or in folders within it."""
    if str(folder) == STANDARD_OUTPUT or (folder.exists() and not folder.is_dir()):
        raise InputError(
            f"--output {folder} is no folder; expected one, for a file of the same "
            "name as each that is read."
        )
    root = os.path.commonpath([path.parent for path in given])
    return {folder / path.relative_to(root): i for i, path in enumerate(given)}


def refuse_replacing(
    options: argparse.Namespace, targets: list[Path], given: list[Path]
) -> None:
    """Refuse to write over what is read."""
    read = dict.fromkeys(given, "the table")
    if isinstance(options.model, str):  # one that is written is a path
        read[target_of(options.model)] = "the model"
    for path in targets:
        if str(path) != STANDARD_OUTPUT and target_of(path) in read:
            what = "folder" if len(targets) > 1 or path != options.output else "name"
            raise InputError(
                f"--output {options.output} would replace {read[target_of(path)]}; "
                f"choose another {what}."
            )


def make_folders(folders: list[Path]) -> Iterator[Path]:
    """Make folders that are not there, and those they are in; yield each."""
    for folder in dict.fromkeys(folders):
        missing = [p for p in (folder, *folder.parents) if not p.exists()]
        for each in reversed(missing):
            with told_as_input(each):
                each.mkdir()
            yield each


def allow_open_files(n_files: int) -> None:
    """Ask the system for as many open files as take their places together."""
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = n_files + MORE_FILES
    if soft != resource.RLIM_INFINITY and wanted > soft:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
