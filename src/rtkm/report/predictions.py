"""From what a model makes of new rows to its findings."""

from __future__ import annotations

import numpy as np

from rtkm._number_text import counted, percent
from rtkm._version import versions
from rtkm.report.between import n_doubtful
from rtkm.report.collect import (
    MOST_OUTLIERS,
    centers_and_spreads,
    clusters,
    column_preparation,
    contrasts,
    parameters,
    source,
    without_logarithms,
)
from rtkm.report.docstrings import purpose
from rtkm.report.drift import Drift, drift_findings
from rtkm.report.findings import FINDINGS_VERSION, finite
from rtkm.report.plots import distributions, scatter
from rtkm.report.prediction_findings import PredictionFindings, PredictionOutliers
from rtkm.report.reasons import describe_rows
from rtkm.report.summary import about_farthest
from rtkm.report.table_results import TableResults
from rtkm.tables.sheet import AnyTable


def find_predictions(
    answers: TableResults,
    sheet: AnyTable,
    drift: Drift | None,
    *,
    model: str,
    command: str,
    notes: list[str],
) -> PredictionFindings:
    """Return the findings of new rows; the caller adds the seconds it took."""
    estimator, preparation = answers.model, answers.prepared.preparation
    members = [np.flatnonzero(answers.labels == i) for i in range(answers.n_clusters)]
    scaled = centers_and_spreads(answers, members)
    telling = contrasts(*scaled, members, list(preparation.columns))
    centers, spreads = without_logarithms(answers, members, *scaled)
    findings: PredictionFindings = {
        "format": FINDINGS_VERSION,
        "versions": versions(),
        "command": command,
        "model": model,
        "source": source(answers, sheet),
        "notes": notes,
        "summary": [],
        "method": {
            "name": type(estimator).__name__,
            "title": purpose(type(estimator))[0],
            "parameters": parameters(estimator),
        },
        "features": list(preparation.columns),
        "preparation": column_preparation(preparation),
        "seconds": {},
        "clusters": clusters(answers, members, centers, spreads, None),
        "n_doubtful": n_doubtful(answers),
        "outliers": outliers(answers),
        "drift": None if drift is None else drift_findings(drift),
        "scatter": scatter(answers),
        "distributions": distributions(
            answers, members, [contrast["feature"] for contrast in telling]
        ),
    }
    findings["summary"] = summarize(findings)
    return findings


def outliers(answers: TableResults) -> PredictionOutliers:
    """Return how many outliers there are, and the farthest of them with reasons."""
    count = int(answers.outliers.sum())
    return {
        "count": count,
        "share": count / len(answers.outliers),
        "cutoff": finite(-answers.model.offset_),
        "decided_by": "rule",
        "rows": describe_rows(answers, answers.farthest(MOST_OUTLIERS)),
    }


def summarize(findings: PredictionFindings) -> list[str]:
    """Return what was found in new rows, in sentences."""
    found, drift = findings["outliers"], findings["drift"]
    rows = counted(findings["source"]["n_used"], "row")
    sentences = [f"{findings['model']} was asked about {rows}.", how_many(found)]
    if found["rows"]:
        sentences.append(about_farthest(found["rows"][0], found["count"] == 1))
    return sentences if drift is None else [*sentences, *drift["summary"]]


def how_many(found: PredictionOutliers) -> str:
    """Tell how many outliers there are."""
    if not found["count"]:
        return "No row is an outlier."
    verb = "is an outlier" if found["count"] == 1 else "are outliers"
    return f"{counted(found['count'], 'row')} ({percent(found['share'])}) {verb}."
