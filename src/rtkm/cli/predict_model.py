"""The model that new rows are asked of, and what it makes of them, on the terminal."""

from __future__ import annotations

import argparse
from typing import Protocol

from rtkm._number_text import counted, percent
from rtkm.cli.terminal import Terminal
from rtkm.models.files import begins_as_model, read_model
from rtkm.report.drift import Drift
from rtkm.report.templating import OUTLIERS
from rtkm.report.terminal_report import MOST_CLUSTERS
from rtkm.table_model import TableModel
from rtkm.tables.messages import InputError, nearest, shown
from rtkm.tables.reference import Counts
from rtkm.tables.source import find_source


class Named(Protocol):
    """A table, whole or in parts."""

    @property
    def name(self) -> str:
        """What the user calls it."""

    @property
    def names(self) -> list[str]:
        """The names of its columns."""


def model_for(options: argparse.Namespace) -> TableModel:
    """Return the model, which may be one of plain numbers."""
    find_source(options.model)  # tells better than loading what is not there
    if not begins_as_model(options.model) and begins_as_model(options.data):
        raise InputError(f"{options.data} is the model; give it before the table.")
    _, model = read_model(options.model)
    return model if isinstance(model, TableModel) else TableModel.of_numbers(model)


def find_id(
    model: TableModel, table: Named, options: argparse.Namespace
) -> tuple[str | None, list[str]]:
    """Return the column that names rows, if any; say if that of the model is gone."""
    check_column_count(model, table)
    id, notes = options.id, []
    if id is None and model.id is not None:
        if model.id in table.names:
            id = model.id
        else:
            notes.append(
                f"There is no column {shown(model.id)}, which named the rows of the "
                f"model (--id for another): {nearest(model.id, table.names)}"
            )
    found = model.preparation_.id
    if id is None and found in table.names:
        id = found
    return id, notes


def check_column_count(model: TableModel, table: Named) -> None:
    """Refuse a table in which the columns of a model without names cannot be told."""
    expected = model.preparation_.n_unnamed
    if expected and len(table.names) != expected:
        raise InputError(
            f"{table.name} has {counted(len(table.names), 'column')}; the model was "
            f"fitted to {counted(expected, 'feature')} without names, so that it needs "
            "a table of nothing else."
        )


def tell_counts(
    terminal: Terminal, counts: Counts, n_clusters: int, drift: Drift | None
) -> None:
    """Print how many rows fall into which cluster, and how many training rows did."""
    labels = [*range(n_clusters)] or [0]
    names = [str(label) for label in labels] if n_clusters else ["no outlier"]
    n_rows = counts.sum()
    then = {} if drift is None else {c["label"]: c["share_then"] for c in drift.labels}
    if then and not n_clusters:
        then[0] = 1 - then[OUTLIERS]
    rows = [
        [name, f"{counts[label + 1]:,}", percent(float(counts[label + 1] / n_rows))]
        + [percent(then[label]) for _ in range(bool(then))]
        for label, name in [
            *zip(labels[:MOST_CLUSTERS], names, strict=False),
            (OUTLIERS, "outliers"),
        ]
    ]
    terminal.skip()
    terminal.table(["cluster", "rows", "share", *["in training"] * bool(then)], rows)
    if len(labels) > MOST_CLUSTERS:
        terminal.say(f"  ({counted(len(labels) - MOST_CLUSTERS, 'more cluster')})")
