"""rtkm fit of tables that are read in parts: rows in, rows and answers out."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from rtkm.cli import options as shared
from rtkm.cli.choose import choose_missing
from rtkm.cli.files import (
    check_model,
    check_page,
    check_places,
    paths_of,
    target_of,
    terminal_for,
    where,
    write_together,
)
from rtkm.cli.fit_steps import Stopwatch, fit, unchosen
from rtkm.cli.flags import find_method, in_flags, parameters_given, table_flags
from rtkm.cli.predict_parts import named, targets_for, writers_for
from rtkm.cli.terminal import Terminal
from rtkm.cli.written import Writer, findings_writers, writer
from rtkm.models.encoding import refuse_rows
from rtkm.models.files import as_bytes
from rtkm.report.findings import Findings
from rtkm.report.page import render
from rtkm.report.stream_findings import FitResults, find_in_parts
from rtkm.report.templating import make_environment
from rtkm.report.terminal_report import tell_findings
from rtkm.table_model import TableModel
from rtkm.tables.messages import InputError
from rtkm.tables.prepared_parts import PreparedParts
from rtkm.tables.progress import progress
from rtkm.tables.streams import Stream, is_many

MODEL = "model.rtkm"


def run_in_parts(options: argparse.Namespace) -> None:
    """Prepare part by part, fit, tell and write part by part."""
    terminal, method = terminal_for(options), find_method(options.method)
    given = parameters_given(options, method)
    model = shared.table_model(method(**unchosen(given, method)), options)
    refuse_all_rows(options, model.estimator)
    watch = Stopwatch()
    with watch.timing("read"):
        stream = shared.open_parts(options)
    with stream, targets_for(options, stream) as targets:
        check_written(options, stream)
        terminal.say("\n".join([stream.summary(), *stream.notes]))
        with watch.timing("prepare"):
            is_quiet = terminal.stream is None
            prepared = model.prepare_parts(stream, is_quiet=is_quiet)
        notes = [*stream.notes, *table_flags(prepared.notes)]
        terminal.say("\n".join(table_flags(prepared.notes)))
        with watch.timing("choose"):
            choice = choose_missing(options, method, given, prepared)
        model.estimator.set_params(**given)
        with watch.timing("fit"):
            warned = fit(model, prepared, terminal, choice)
        terminal.say("\n".join(warned))
        with watch.timing("explain"):
            findings = find_in_parts(
                model.estimator_,
                prepared,
                command=options.command_line,
                notes=[stream.summary(), *notes, *warned],
                choice=choice,
            )
        findings["seconds"] = watch.seconds
        tell_findings(terminal, findings)
        told = write_files(options, terminal, model, prepared, findings, targets)
    for line in told:
        terminal.say(line)
    terminal.print(next_step(options))


def refuse_all_rows(options: argparse.Namespace, estimator: Any) -> None:
    """Refuse what needs all rows at once, before the work."""
    method = type(estimator)
    if options.sample_weight is not None:
        raise InputError(
            f"--sample-weight: {options.data} is read in parts, whose rows have no "
            "weights; repeat rows instead, or raise --memory so that it is read at "
            "once."
        )
    if not getattr(method, "_runs_in_partitions", False):
        raise InputError(
            f"--method {method.__name__} needs all rows in memory, and {options.data} "
            "is read in parts; use RTKM, RelaxedKMeans, TrimmedKMeans or "
            "KMeansMinusMinus, or raise --memory."
        )
    try:
        estimator._check_partitions()
    except TypeError as error:
        raise InputError(in_flags(str(error), method)) from None
    if options.model is not None:
        refuse_rows(method)


def check_written(options: argparse.Namespace, stream: Stream) -> None:
    """Refuse files that cannot be made, before the work."""
    paths = paths_of(options)
    paths.pop("output", None)  # may be a folder, and is checked by itself
    read = [target_of(f.source.path) for f in stream.files if f.source.path]
    check_places(options, paths, read)
    if options.report is not None:
        check_page(options.report)
        make_environment()
    if options.model is not None:
        check_model(options.model)


def write_files(
    options: argparse.Namespace,
    terminal: Terminal,
    model: TableModel,
    prepared: PreparedParts,
    findings: Findings,
    targets: dict[Path, int],
) -> list[str]:
    """Write what was asked for, all or nothing, and tell of it."""
    writers: dict[Path, Writer] = {}
    told: list[str] = []
    results, n_done = FitResults(model.estimator_, prepared), 0
    is_quiet = terminal.stream is None
    with progress(
        "writing", prepared.stream.n_rows, " rows", is_quiet=is_quiet
    ) as show:

        def answer(table: Any, start: int) -> Any:
            nonlocal n_done
            answers = results.answer(table, start)
            n_done += table.num_rows
            show(n_done)
            return answers

        if targets:
            writers, told = writers_for(results, targets, answer, is_many(options.data))
            told.append(f"Rows and answers are in {named(targets)}.")
        more, also = findings_writers(options, findings, lambda: render(findings))
        writers |= more
        told += also
        if options.model is not None:
            command = {"command": options.command_line}
            writers[options.model] = writer(as_bytes(model, command))
            told.append(f"The model is in {where(options.model)}.")
        return [*write_together(writers), *told]


def next_step(options: argparse.Namespace) -> str:
    """Return the command to try next."""
    if options.model is None:
        return f"Next: {options.command_line} --model {MODEL}"
    return f"Next: rtkm predict {shlex.join([str(options.model), options.data])}"
