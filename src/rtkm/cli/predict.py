"""rtkm predict: what a model makes of new rows."""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from pathlib import Path

from rtkm.cli import options as shared
from rtkm.cli.files import check_files, terminal_for, write_together
from rtkm.cli.fit_steps import Stopwatch
from rtkm.cli.flags import table_flags
from rtkm.cli.predict_model import find_id, model_for, tell_counts
from rtkm.cli.predict_parts import run_in_parts
from rtkm.cli.written import (
    add_findings,
    answer_writers,
    check_written,
    findings_writers,
)
from rtkm.report.drift import Drift, count_labels, find_drift
from rtkm.report.findings import OutlierRow
from rtkm.report.prediction_page import render_predictions
from rtkm.report.predictions import find_predictions
from rtkm.report.reasons import describe_rows
from rtkm.report.table_results import TableResults, results_for_new
from rtkm.report.terminal_report import (
    MOST_OUTLIERS,
    tell_outliers,
)
from rtkm.table_model import TableModel
from rtkm.tables.fitted_preparation import Prepared
from rtkm.tables.sheet import Sheet
from rtkm.tables.streams import needs_parts

EXAMPLES = """\
examples:
  rtkm predict model.rtkm new.csv
      how many rows fall into which cluster, the outliers among them, and what differs
      from the training rows
  rtkm predict model.rtkm new.csv --report new.html
      the same as a page to read and to send
  rtkm predict model.rtkm new.csv --output answers.csv
      every row with its label, outlier score and confidence
  rtkm predict model.rtkm 'data/*.parquet' --output out/
      the same for many files, or a folder: one of the same name for each; only a part
      of a file is in memory at a time, also of a single one larger than --memory

A difference from the training rows is reported if it is more than chance and not small:
another share of outliers or of a cluster, a column that moved, came in other units, or
lacks more cells. Models from before version 0.2 know too little of those rows for this.

Columns are found by their names, and scaled as when the model was fitted. The training
table gets the answers of the fit again, except for rows exactly at the cut-off, rows
that ORC removed in an earlier round, and the memberships of OKM, ROKM and NEOKMeans,
which are searched for anew.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.set_up(
        parser,
        run,
        usage="MODEL DATA [options]",
        description="Find the clusters of new rows and the outliers among them, and "
        "compare\nthese rows with the training rows.",
        examples=EXAMPLES,
    )
    add_model(parser)
    shared.add_data(parser)
    group = parser.add_argument_group("what to use and to write")
    shared.add_id(group)
    shared.add_missing(group, default=None)
    shared.add_output(
        group,
        f"rows and answers; {shared.FORMATS}; of many files, a folder for a file of "
        "the same name each",
    )
    add_findings(group)
    shared.add_memory(group)
    shared.add_quiet(group)
    shared.add_reading(parser)


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the model."""
    parser.add_argument("model", metavar="MODEL", help="what `rtkm fit --model` wrote")


def run(options: argparse.Namespace) -> None:
    """Load, read, answer, compare and write."""
    if needs_parts(options.data, options.memory):
        run_in_parts(options)
        return
    terminal, watch = terminal_for(options), Stopwatch()
    with watch.timing("read"):
        sheet, model = read_both(options)
    check_written(options, sheet)
    with watch.timing("predict"):
        answers, notes = answer(options, sheet, model)
    terminal.say("\n".join(notes))
    with watch.timing("compare"):
        reference = getattr(model, "reference_", None)
        drift = find_drift(reference, answers) if reference else None
    counts = count_labels(answers.labels, answers.n_clusters)
    tell_counts(terminal, counts, answers.n_clusters, drift)
    if drift is not None:
        terminal.skip()
        terminal.say(drift.summary())
    farthest = describe_rows(answers, answers.farthest(MOST_OUTLIERS))
    count = int(answers.outliers.sum())
    tell_outliers(terminal, {"count": count, "rows": farthest})
    terminal.skip()
    for line in write_files(options, sheet, answers, drift, notes, watch):
        terminal.say(line)
    step = next_step(options, answers, farthest)
    if step is not None:
        terminal.print(f"Next: {step}")


def write_files(
    options: argparse.Namespace,
    sheet: Sheet,
    answers: TableResults,
    drift: Drift | None,
    notes: list[str],
    watch: Stopwatch,
) -> list[str]:
    """Write what was asked for, all or nothing, and tell of it."""
    writers, told = answer_writers(options, sheet, answers)
    if options.report is not None or options.json is not None:
        with watch.timing("explain"):
            findings = find_predictions(
                answers,
                sheet,
                drift,
                model=Path(options.model).name,
                command=options.command_line,
                notes=notes,
            )
        findings["seconds"] = watch.seconds
        page = partial(render_predictions, findings)
        more, also = findings_writers(options, findings, page)
        writers |= more
        told += also
    return [*write_together(writers), *told]


def next_step(
    options: argparse.Namespace, answers: TableResults, farthest: list[OutlierRow]
) -> str | None:
    """Return the command to try next, if there is one."""
    if options.report is None and options.output is None:
        return f"{options.command_line} --report new.html --output answers.csv"
    if options.output is None or not answers.n_clusters:
        return None
    more = ("id", "missing")
    return shared.explain_command(options, options.model, answers, farthest, more)


def read_both(options: argparse.Namespace) -> tuple[Sheet, TableModel]:
    """Return the table and the model, which may be one of plain numbers."""
    model = model_for(options)
    sheet = shared.read(options)
    check_files(options, sheet)
    return sheet, model


def answer(
    options: argparse.Namespace, sheet: Sheet, model: TableModel
) -> tuple[TableResults, list[str]]:
    """Return what the model makes of the rows, and what was done to them."""
    prepared = prepare_for(model, sheet, options)
    notes = [sheet.summary(), *sheet.notes, *table_flags(prepared.notes)]
    return results_for_new(model.estimator_, prepared), notes


def prepare_for(
    model: TableModel, sheet: Sheet, options: argparse.Namespace
) -> Prepared:
    """Prepare new rows as those were that the model was fitted to."""
    id, notes = find_id(model, sheet, options)
    prepared = model.preparation_.repeat(sheet, id=id, missing=options.missing)
    return replace(prepared, notes=(*notes, *prepared.notes))
