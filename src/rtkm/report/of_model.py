"""What a fitted model shows from Python: its findings, a page, and a few lines."""

from __future__ import annotations

import os
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from rtkm._files import replacing
from rtkm._number_text import counted, figure, percent
from rtkm.core.table import column_ends
from rtkm.report.collect import find, resample
from rtkm.report.page import render
from rtkm.report.table_results import (
    Floats,
    TableResults,
    has_labels,
    results_for_new,
    results_of_fit,
)
from rtkm.report.terminal_report import short, table_lines
from rtkm.tables.fitted_preparation import Preparation, unscaled
from rtkm.tables.frames import as_table
from rtkm.tables.messages import InputError

MOST_FEATURES = 6
MOST_CLUSTERS = 20


@dataclass(frozen=True)
class Fitted:
    """A fitted estimator, and what was done to its columns before."""

    estimator: Any
    preparation: Preparation

    @classmethod
    def of(cls, model: Any) -> Fitted:
        """Take a TableModel apart; any other estimator knows columns as they are."""
        check_is_fitted(model)
        if "preparation_" in vars(model):
            return cls(model.estimator_, model.preparation_)
        names = getattr(model, "feature_names_in_", None)
        n_unnamed = model.n_features_in_ if names is None else 0
        columns = [f"x{j}" for j in range(n_unnamed)] if names is None else list(names)
        estimator = copy(model)
        # from here on the names are those of the table
        vars(estimator).pop("feature_names_in_", None)
        return cls(estimator, unscaled(list(map(str, columns)), n_unnamed))

    @property
    def centers(self) -> Floats:
        """Return the centers in the units of the table; none of a detector."""
        if not has_labels(self.estimator):
            return np.empty((0, len(self.preparation.columns)))
        return self.preparation.in_data_units(self.estimator.cluster_centers_)

    @property
    def sizes(self) -> list[int] | None:
        """Return the number of rows in each cluster; None of detectors, old files."""
        if not has_labels(self.estimator):
            return None
        sizes = vars(self.estimator).get("cluster_sizes_")
        return None if sizes is None else sizes.tolist()


def answers_for(model: Any, X: Any) -> tuple[TableResults, Any]:
    """Return what a model makes of rows, and their table.

    Of the rows it was fitted to, that is what the fit made of them. Nobody says whether
    they are: their number and their scores do.
    """
    fitted = Fitted.of(model)
    table = as_table(X)
    if sparse.issparse(table):
        raise InputError(
            "X is sparse, and pictures and reports need all of its numbers; pass "
            "X.toarray(), or some of its rows."
        )
    id = getattr(model, "id", None)
    known = id if id in getattr(table, "places", ()) else None
    prepared = fitted.preparation.repeat(table, id=known)
    is_fit = was_fitted_to(fitted.estimator, prepared.X)
    results = results_of_fit if is_fit else results_for_new
    return results(fitted.estimator, prepared), table


def was_fitted_to(model: Any, X: Floats) -> bool:
    """Whether a model was fitted to these rows, as far as it remembers them."""
    before = vars(model).get("outlier_scores_")
    if before is None or len(before) != len(X):
        return False
    if not has_labels(model):  # rows that come again are scored beside themselves
        return np.array_equal(column_ends(X.astype(model._ends.dtype)), model._ends)
    again = -model.score_samples(X)
    # a kernel may add up in another order
    return np.allclose(before, again, rtol=1e-5, atol=1e-9 * before.max())


def write_report(model: Any, X: Any, path: str | os.PathLike[str]) -> None:
    """Write the page of what a model makes of rows."""
    answers, table = answers_for(model, X)
    findings = find(
        answers,
        table,
        command=f"{model!r}.fit(X)",
        notes=list(vars(model).get("notes_", ())),
        choice=getattr(answers.model, "choice_", None) if answers.is_fit else None,
        stability=resample(answers) if answers.is_fit else None,
    )
    with replacing(path) as stream:
        stream.write(render(findings).encode())


def summary_of(model: Any) -> str:
    """Return a sentence on what was found, and a line for each cluster."""
    fitted = Fitted.of(model)
    if not len(fitted.centers):
        return headline(fitted)
    return "\n".join([headline(fitted), *table_lines(*cluster_table(fitted))])


def headline(fitted: Fitted) -> str:
    """Return how many clusters and outliers there are, in a sentence."""
    name, n_outliers = type(fitted.estimator).__name__, fitted.estimator.n_outliers_
    found = counted(n_outliers, "outlier")
    if len(fitted.centers):
        found = f"{counted(len(fitted.centers), 'cluster')} and {found}"
    if fitted.sizes is not None:
        found += f" in {counted(sum(fitted.sizes) + n_outliers, 'row')}"
    return f"{name}: {found}."


def cluster_table(fitted: Fitted) -> tuple[list[str], list[list[str]]]:
    """Return size, share and center of each cluster: the head, and the lines."""
    sizes, columns = fitted.sizes, fitted.preparation.columns[:MOST_FEATURES]
    known = ["rows", "share"] if sizes is not None else []
    head = ["cluster", *known, *map(short, columns)]
    total = sum(sizes or []) + fitted.estimator.n_outliers_
    lines = []
    for label, center in enumerate(fitted.centers.tolist()[:MOST_CLUSTERS]):
        size = (
            []
            if sizes is None
            else [f"{sizes[label]:,}", percent(sizes[label] / total)]
        )
        lines.append([str(label), *size, *map(figure, center[: len(columns)])])
    return head, lines
