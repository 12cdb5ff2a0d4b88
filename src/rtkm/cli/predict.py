"""rtkm predict: what a model makes of new rows."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import numpy as np

from rtkm._number_text import counted, percent
from rtkm.cli import options as shared
from rtkm.cli.files import check_files, terminal_for, where
from rtkm.cli.flags import table_flags
from rtkm.cli.terminal import Terminal
from rtkm.models.files import read_model
from rtkm.report.reasons import describe_rows
from rtkm.report.table_results import TableResults, results_for_new
from rtkm.report.terminal_report import (
    MOST_CLUSTERS,
    MOST_OUTLIERS,
    tell_outliers,
)
from rtkm.table_model import TableModel
from rtkm.tables.fitted_preparation import Prepared
from rtkm.tables.messages import InputError, nearest, shown
from rtkm.tables.sheet import Sheet
from rtkm.tables.source import find_source
from rtkm.tables.writing import check_output, write_answers

EXAMPLES = """\
examples:
  rtkm predict model.rtkm new.csv
      how many rows fall into which cluster, and the outliers among them
  rtkm predict model.rtkm new.csv --output answers.csv
      every row with its label, outlier score and confidence

Columns are found by their names, and scaled as when the model was fitted. The training
table gets its answers again, but for rows exactly at the cut-off, those that ORC left
out in an earlier round, and memberships of OKM, ROKM and NEOKMeans, sought anew.
"""


def add(commands: Any) -> None:
    """Add the command."""
    parser = shared.new_command(
        commands,
        run,
        name="predict",
        usage="MODEL DATA [options]",
        help="ask a model about new rows",
        description="Find the clusters of new rows, and the outliers among them.",
        examples=EXAMPLES,
    )
    add_model(parser)
    shared.add_data(parser)
    group = parser.add_argument_group("what to use and to write")
    shared.add_id(group)
    shared.add_missing(group, default=None)
    shared.add_output(group, f"rows and answers; {shared.FORMATS}")
    shared.add_quiet(group)
    shared.add_reading(parser)


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the model."""
    parser.add_argument("model", metavar="MODEL", help="what `rtkm fit --model` wrote")


def run(options: argparse.Namespace) -> None:
    """Load, read, answer and write."""
    terminal = terminal_for(options)
    sheet, answers = ask(options, terminal)
    tell_counts(terminal, answers)
    farthest = describe_rows(answers, answers.farthest(MOST_OUTLIERS))
    count = int(answers.outliers.sum())
    tell_outliers(terminal, {"count": count, "rows": farthest})
    terminal.skip()
    if options.output is None:
        terminal.print(f"Next: {options.command_line} --output answers.csv")
        return
    prepared = answers.prepared
    notes = write_answers(
        options.output,
        sheet,
        answers.columns(),
        kept=prepared.kept,
        reasons=prepared.reasons,
    )
    terminal.say(
        "\n".join([*notes, f"Rows and answers are in {where(options.output)}."])
    )
    if answers.n_clusters:
        more = ("id", "missing")
        command = shared.explain_command(options, options.model, farthest, more)
        terminal.print(f"Next: {command}")


def ask(options: argparse.Namespace, terminal: Terminal) -> tuple[Sheet, TableResults]:
    """Return a table and what the model makes of its rows."""
    find_source(options.model)  # tells better than loading what is not there
    _, model = read_model(options.model)
    sheet = shared.read(options)
    check_files(options, sheet)
    if options.output is not None:
        check_output(options.output, sheet)
    if not isinstance(model, TableModel):
        model = TableModel.of_numbers(model)
    prepared = prepare_for(model, sheet, options)
    notes = table_flags(prepared.notes)
    terminal.say("\n".join([sheet.summary(), *sheet.notes, *notes]))
    return sheet, results_for_new(model.estimator_, prepared)


def prepare_for(
    model: TableModel, sheet: Sheet, options: argparse.Namespace
) -> Prepared:
    """Prepare new rows as those were that the model was fitted to."""
    check_column_count(model, sheet)
    id, notes = options.id, []
    if id is None and model.id is not None:
        if model.id in sheet.places:
            id = model.id
        else:
            notes.append(
                f"There is no column {shown(model.id)}, which named the rows of the "
                f"model (--id for another): {nearest(model.id, sheet.names)}"
            )
    found = model.preparation_.id
    if id is None and found in sheet.places:
        id = found
    prepared = model.preparation_.repeat(sheet, id=id, missing=options.missing)
    return replace(prepared, notes=(*notes, *prepared.notes))


def check_column_count(model: TableModel, sheet: Sheet) -> None:
    """Refuse a table in which the columns of a model without names cannot be told."""
    expected = model.preparation_.n_unnamed
    if expected and len(sheet.names) != expected:
        raise InputError(
            f"{sheet.name} has {counted(len(sheet.names), 'column')}; the model was "
            f"fitted to {counted(expected, 'feature')} without names, so that it needs "
            "a table of nothing else."
        )


def tell_counts(terminal: Terminal, answers: TableResults) -> None:
    """Print how many rows fall into which cluster."""
    counts = np.bincount(answers.labels + 1, minlength=answers.n_clusters + 1).tolist()
    names = [str(label) for label in range(answers.n_clusters)] or ["no outlier"]
    rows = list(zip(names, counts[1:], strict=False))[:MOST_CLUSTERS]
    terminal.skip()
    terminal.table(
        ["cluster", "rows", "share"],
        [
            [name, f"{count:,}", percent(count / len(answers.labels))]
            for name, count in [*rows, ("outliers", counts[0])]
        ],
    )
    if len(names) > len(rows):
        terminal.say(f"  ({counted(len(names) - len(rows), 'more cluster')})")
