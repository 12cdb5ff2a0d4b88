"""Findings of real fits, for the tests of the report: usual, large and odd ones."""

from __future__ import annotations

import copy
import csv
import warnings
from contextlib import chdir
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from rtkm import CBLOF, RTKM
from rtkm.report.collect import find
from rtkm.report.table_results import results_of_fit
from rtkm.tables.preparation import prepare
from rtkm.tables.reading import read_table

NAMES = (
    *("clump thickness", "uniformity of cell size", "uniformity of cell shape"),
    *("marginal adhesion", "epithelial cell size", "bare nuclei", "bland chromatin"),
    *("normal nucleoli", "mitoses", "weight in kg"),
)
COMMAND = "rtkm fit cells.csv -k 3 --report cells.html"
N_DROPPED = 10


def fit_findings(path, model, *, command=COMMAND, **options):
    """Do what `rtkm fit` does; returns the answers and the findings."""
    sheet = read_table(path)
    prepared = prepare(sheet, **options)
    model.fit(prepared.X)
    answers = results_of_fit(model, prepared)
    notes = [sheet.summary(), *sheet.notes, *prepared.notes]
    choice = getattr(model, "choice_", None)
    findings = find(answers, sheet, command=command, notes=notes, choice=choice)
    findings["seconds"] = {"read": 0.0123, "prepare": 0.004, "fit": 1.25}
    return answers, findings


def make_findings(**options):
    """Return the findings of a fit, which may be changed; see `findings_of_table`."""
    options = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in options.items()
    }
    return copy.deepcopy(findings_of_table(**options))


@cache
def findings_of_table(
    n_rows=600,
    n_clusters=3,
    n_features=10,
    n_outliers=60,
    seed=0,
    ids=True,
    overlap=False,
    names=None,
    id="patient {}",
    file="cells.csv",
    comment="",
    choose=False,
):
    """Write a table of random rows, and find what is in it.

    Parameters
    ----------
    n_clusters : int
        Clusters of normal rows; 0 for what a detector finds.
    n_outliers : int
        Rows that are far from all of them.
    ids : bool
        Whether a column tells what rows are called.
    overlap : bool
        Whether rows are in two clusters.
    names : tuple of str, default=None
        Of the features.
    id : str
        What a row is called, its number for ``{}``.
    file : str
        Name of the file.
    comment : str
        What the cells of a column of text hold, which is not used.
    choose : bool
        Whether the numbers of clusters and outliers are chosen.
    """
    X = random_rows(n_rows, n_clusters, n_features, n_outliers, seed)
    names = names or [feature_name(j) for j in range(n_features)]
    if choose:
        model = RTKM(random_state=0)
    elif n_clusters:
        model = RTKM(
            n_clusters,
            contamination=n_outliers,
            n_memberships=1 + overlap,
            n_swaps=0,
            random_state=0,
        )
    else:
        model = CBLOF(contamination=n_outliers)
    with TemporaryDirectory() as folder, chdir(folder), warnings.catch_warnings():
        # that clusters are empty, or too many for the rows, is for other tests
        warnings.simplefilter("ignore")
        write_table(Path(file), X, names, id if ids else None, comment)
        id_column = "name" if ids else None
        return fit_findings(file, model, id=id_column, missing="drop")[1]


def random_rows(n_rows, n_clusters, n_features, n_outliers, seed):
    """Return clusters of normal rows, far ones, and some that have missing cells."""
    rng = np.random.default_rng(seed)
    units = 10.0 ** (np.arange(n_features) % 4)
    means = rng.normal(0, 4, (max(1, n_clusters), n_features))
    labels = rng.integers(0, max(1, n_clusters), n_rows + N_DROPPED)
    X = means[labels] + rng.normal(size=(len(labels), n_features))
    outlying = rng.permutation(n_rows)[:n_outliers]
    one_feature, all_features = np.array_split(outlying, 2)
    X[one_feature, rng.integers(0, n_features, len(one_feature))] += 30
    X[all_features] = rng.normal(0, 12, (len(all_features), n_features))
    X[n_rows:, 0] = np.nan
    return X * units


def write_table(path, X, names, id, comment):
    """Write a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow([*["name"] * (id is not None), *names, "comment"])
        for i, row in enumerate(X):
            called = [] if id is None else [id.replace("{}", str(i + 1001))]
            cells = ["" if np.isnan(value) else f"{value:.6g}" for value in row]
            writer.writerow([*called, *cells, comment])


def feature_name(j):
    return NAMES[j] if j < len(NAMES) else f"feature {j + 1}"


def hostile_findings(payload, **options):
    """Return findings of a table whose file, columns, ids and cells are hostile."""
    names = tuple(f"{payload}{name}" for name in NAMES[:3])
    findings = make_findings(
        **{"n_features": 3, "names": names, "overlap": True},
        **{"id": payload + " {}", "comment": payload},
        file=payload.replace("/", "\N{FRACTION SLASH}") + "cells.csv",
        **options,
    )
    # what no table has, the page must stand all the same
    findings["command"] = f"rtkm fit {payload}"
    findings["notes"].append(payload)
    findings["summary"].append(payload)
    findings["versions"][payload] = payload
    findings["method"] |= {"name": payload, "title": payload}
    findings["method"]["parameters"][payload] = payload
    return findings
