"""rtkm explain: why a row is an outlier, or where it belongs."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from rtkm._number_text import figure, multiple, ordinal, percent
from rtkm.cli import options as shared
from rtkm.cli.files import terminal_for, where
from rtkm.cli.predict import add_model, answer, read_both
from rtkm.cli.terminal import Terminal, on_one_line
from rtkm.clusterers._confidence import CONFIDENCES
from rtkm.report.findings import Change, OutlierRow
from rtkm.report.reasons import describe_rows, explain_rows
from rtkm.report.table_results import TableResults
from rtkm.report.terminal_report import MOST_OUTLIERS, cell, tell_outliers
from rtkm.tables.columns import text_of
from rtkm.tables.fitted_preparation import Prepared
from rtkm.tables.messages import InputError, listed, nearest, shown
from rtkm.tables.sheet import Sheet
from rtkm.tables.writing import check_output, write_answers

MOST_FEATURES = 30
MOST_IDS = 10_000  # that a misspelled one is compared with

EXAMPLES = """\
examples:
  rtkm explain model.rtkm data.csv
      the farthest outliers, and the features that make them so
  rtkm explain model.rtkm data.csv --row A-17
      one row: what every feature adds to its score, and what would change it
  rtkm explain model.rtkm data.csv --output why.csv
      the same for every row

A row is named by its id if the model was fitted with --id (or --id is given here), and
otherwise by its number, counting from 1.
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    shared.set_up(
        parser,
        run,
        usage="MODEL DATA [--row ID] [options]",
        description="Show what each feature adds to the scores of rows.",
        examples=EXAMPLES,
    )
    add_model(parser)
    shared.add_data(parser)
    group = parser.add_argument_group("what to use and to write")
    group.add_argument("--row", metavar="ID", help="the row in question")
    shared.add_id(group)
    shared.add_missing(group, default=None)
    shared.add_output(
        group,
        "all rows with scores, their parts by feature, and the change that would make "
        f"an outlier an inlier; {shared.FORMATS}",
    )
    shared.add_quiet(group)
    shared.add_reading(parser)


def run(options: argparse.Namespace) -> None:
    """Answer, and say why."""
    terminal = terminal_for(options)
    sheet, model = read_both(options)
    if options.output is not None:
        check_output(options.output, sheet)
    answers, notes = answer(options, sheet, model)
    terminal.say("\n".join(notes))
    if answers.ranks is None:
        raise InputError(
            f"{type(answers.model).__name__} has no clusters that distances could be "
            "explained by; expected the model of a method with clusters."
        )
    if options.row is not None:
        tell_row(terminal, answers, find_row(answers, options.row))
    else:
        farthest = describe_rows(answers, answers.farthest(MOST_OUTLIERS))
        count = int(answers.outliers.sum())
        tell_outliers(terminal, {"count": count, "rows": farthest})
        if not farthest:
            terminal.say("No row is an outlier.")
    if options.output is not None:
        for line in write_explanations(options.output, sheet, answers):
            terminal.say(line)


def find_row(answers: TableResults, name: str) -> int:
    """Return the place of the row that is called so, among those that are kept."""
    prepared = answers.prepared
    rows = answers.rows_called(name)
    if len(rows) > 1:
        numbers = listed((f"{row + 1:,}" for row in rows), len(rows))
        raise InputError(
            f"--row {name}: rows {numbers} all have this id; give the number of one."
        )
    row = rows[0] if rows else row_numbered(prepared, name)
    if not prepared.kept[row]:
        raise InputError(
            f"--row {name} was left out: {prepared.reasons[row]}; --missing median "
            "would fill it in."
        )
    return int(prepared.kept[:row].sum())


def row_numbered(prepared: Prepared, name: str) -> int:
    """Return the row of a number, as it is printed, or say what was expected."""
    number, n_rows = name.replace(",", ""), len(prepared.kept)
    if number.isascii() and number.isdigit() and 1 <= int(number) <= n_rows:
        return int(number) - 1
    wanted = f"a number from 1 to {n_rows:,}"
    if prepared.ids is None:
        raise InputError(
            f"--row {name}: no row has this number; expected {wanted}, or --id."
        )
    texts = map(text_of, prepared.ids.slice(0, MOST_IDS))
    some = [text for text in texts if text is not None]
    raise InputError(
        f"--row {name}: no row has this id; {nearest(name, some)} Or give {wanted}."
    )


def tell_row(terminal: Terminal, answers: TableResults, place: int) -> None:
    """Print all that is known of one row."""
    places = np.array([place])
    explained = explain_rows(answers, places)
    described = describe_rows(answers, places, explained)[0]
    parts, features = explained.parts[0], answers.prepared.preparation.sources
    order = np.argsort(-parts, kind="stable")[:MOST_FEATURES].tolist()
    total = parts.sum()
    lines = [
        [
            on_one_line(features[j]),
            cell(explained.values[0, j])
            + " filled in" * (features[j] in described["filled"]),
            cell(explained.centers[0, j]),
            figure(parts[j]),
            percent(parts[j] / total if total else 0.0),
        ]
        for j in order
    ]
    terminal.skip()
    terminal.say(verdict(answers, place, described))
    terminal.skip()
    terminal.table(
        ["feature", "value", f"center of {described['nearest']}", "part", "share"],
        [*lines, ["all", "", "", figure(total), "100 %"]],
    )
    if len(order) < len(parts):
        terminal.say(f"  ({len(parts) - len(order):,} more features)")
    if answers.outliers[place]:
        terminal.skip()
        terminal.say(remedy(described["change"]))


def verdict(answers: TableResults, place: int, described: OutlierRow) -> str:
    """Say what a row is, and how confident that is."""
    name = f"Row {described['row']:,}"
    if described["id"] is not None:
        name += f" ({shown(described['id'])})"
    assert answers.ranks is not None
    confidence = CONFIDENCES[answers.ranks[place]]
    score = figure(described["score"])
    cut = f"the cut-off of {figure(-answers.model.offset_)}"
    times = described["times_cutoff"]
    cut = f"against {cut}" if times is None else f"{multiple(times)} times {cut}"
    if answers.outliers[place]:
        sure = " (doubtful)" if confidence == "doubtful" else ""
        rank = f"{ordinal(described['rank'] or 0)} of {int(answers.outliers.sum()):,}"
        return (
            f"{name} is an outlier{sure}, {rank}: its score is {score}, {cut}. The "
            f"nearest cluster is {described['nearest']}."
        )
    told = f"{name} is in cluster {answers.labels[place]} ({confidence}): its score is "
    if not np.isfinite(answers.model.offset_):
        return f"{told}{score}. This method calls no row an outlier."
    return f"{told}{score}, {cut}."


def remedy(change: Change | None) -> str:
    """Say what would make an outlier an inlier."""
    if change is None:
        return "No change of a single feature would make it an inlier."
    return (
        f"The smallest change of one feature that would make it an inlier: "
        f"{shown(change['feature'])} from {cell(change['from'])} to "
        f"{cell(change['to'], 6)}, in cluster {change['cluster']}."
    )


def write_explanations(path: Path, sheet: Sheet, answers: TableResults) -> list[str]:
    """Write all rows with what their scores come from."""
    prepared = answers.prepared
    explained = explain_rows(answers, np.arange(len(answers.labels)))
    names = prepared.preparation.sources
    before, after = explained.changes.cells(explained.values)
    columns = {
        "score": answers.scores,
        "outlier": answers.outliers,
        "nearest_cluster": explained.nearest,
        "confidence": CONFIDENCES[answers.ranks],
        "change_feature": np.array([*names, None], object)[explained.changes.column],
        "change_from": before,
        "change_to": after,
    }
    for j, name in enumerate(names):
        columns[f"part_{name}"] = explained.parts[:, j].copy()
    notes = write_answers(
        path, sheet, columns, kept=prepared.kept, reasons=prepared.reasons
    )
    return [*notes, f"Rows and explanations are in {where(path)}."]
