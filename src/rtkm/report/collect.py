"""From a fit to its findings.

All centers, values and edges are in the data's own units; rows are counted from 1 in
the order of the table, those that were left out too. Counts are always those of all
rows: only what is drawn is a sample.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from rtkm._number_text import counted
from rtkm._version import versions
from rtkm.choosing.choice import Choice
from rtkm.choosing.clusters import SAMPLE_ROWS
from rtkm.choosing.samples import sample
from rtkm.choosing.stability import Stability, can_halve, stability_of
from rtkm.clusterers._confidence import BORDER, CORE, DOUBTFUL
from rtkm.core.params import is_number
from rtkm.core.table import Table
from rtkm.core.threshold import is_outlier
from rtkm.core.validation import make_table
from rtkm.report.between import between, n_doubtful
from rtkm.report.choices import choice_findings
from rtkm.report.docstrings import purpose
from rtkm.report.findings import (
    FINDINGS_VERSION,
    ChoiceFindings,
    Cluster,
    ColumnPreparation,
    Contrast,
    Findings,
    Objective,
    Outliers,
    Overlap,
    Parameter,
    Resampling,
    SkewedFeature,
    Source,
    finite,
    finite_list,
)
from rtkm.report.first_rows import first_rows
from rtkm.report.groups import describe_groups
from rtkm.report.plots import distributions, scatter, sorted_scores
from rtkm.report.reasons import describe_rows
from rtkm.report.summary import summarize
from rtkm.report.table_results import Floats, Places, TableResults
from rtkm.tables.fitted_preparation import Preparation
from rtkm.tables.logarithms import is_very_skewed, skewness, skewness_of_log
from rtkm.tables.sheet import AnyTable

MOST_OUTLIERS = 1000  # that are listed, with their reasons
MOST_CONTRASTS = 40
# fits to half of the rows, and the least weight that is cut in half
N_RESAMPLES = 10
FEWEST_ROWS = 20
# outliers of which most may have one reason, and whose parts are looked at
FEWEST_OUTLIERS = 5
MOST_PARTS = 10_000


def find(
    answers: TableResults,
    sheet: AnyTable,
    *,
    command: str,
    notes: list[str],
    choice: Choice | None = None,
    stability: Stability | None = None,
) -> Findings:
    """Return the findings of a fit; the caller adds the seconds it took."""
    model, preparation = answers.model, answers.prepared.preparation
    features = list(preparation.columns)
    assignments = answers.assignments() if answers.n_clusters else None
    members = members_of(answers, assignments)
    scaled = centers_and_spreads(answers, members)
    telling = contrasts(*scaled, members, features)
    centers, spreads = without_logarithms(answers, members, *scaled)
    findings: Findings = {
        "format": FINDINGS_VERSION,
        "versions": versions(),
        "command": command,
        "source": source(answers, sheet),
        "notes": [*notes, *about_ties(answers)],
        "summary": [],
        "method": {
            "name": type(model).__name__,
            "title": purpose(type(model))[0],
            "parameters": parameters(model),
        },
        "choice": chosen(answers, choice) if choice else None,
        "features": features,
        "preparation": column_preparation(preparation),
        "seconds": {},
        "objective": objective(model),
        "clusters": clusters(answers, members, centers, spreads, stability),
        "resampling": resampling(stability),
        "n_doubtful": n_doubtful(answers),
        "between": between(answers),
        "contrasts": telling,
        "outliers": outliers(answers, choice),
        "left_out": describe_groups(answers, sheet, members),
        "sorted_scores": sorted_scores(answers),
        "overlap": overlap(assignments),
        "scatter": scatter(answers),
        "distributions": distributions(
            answers, members, [contrast["feature"] for contrast in telling]
        ),
        "first_rows": first_rows(sheet, preparation),
    }
    findings["summary"] = summarize(findings)
    return findings


def source(answers: TableResults, sheet: AnyTable) -> Source:
    """Return what table it was, and how much of it was used."""
    n_used = len(answers.prepared.X)
    return {
        "name": sheet.name,
        "format": sheet.format,
        "n_rows": sheet.n_rows,
        "n_columns": len(sheet.names),
        "n_used": n_used,
        "n_dropped": sheet.n_rows - n_used,
    }


def chosen(answers: TableResults, choice: Choice) -> ChoiceFindings:
    """Return what was chosen, by the labels of the fit."""
    centers = answers.model.cluster_centers_ if answers.n_clusters else None
    return choice_findings(choice, answers.prepared, centers)


def resample(answers: TableResults) -> Stability | None:
    """Return how well clusters come back; None of a detector, or of too few rows."""
    if not answers.n_clusters:
        return None
    prepared = answers.prepared
    return resample_table(answers.model, make_table(prepared.X, prepared.weights))


def resample_table(model: Any, rows: Table) -> Stability | None:
    """Return how well clusters of a table come back; None of too few rows."""
    rng = np.random.RandomState(0)
    X = sample(rows, SAMPLE_ROWS, rng)
    if X.mass < FEWEST_ROWS or not can_halve(model, X):
        return None
    return stability_of(model, X, N_RESAMPLES, rng)


def resampling(stability: Stability | None) -> Resampling | None:
    """Return what fits to half of the rows showed of rows."""
    if stability is None:
        return None
    return {
        "n_fits": stability.n_resamples,
        "n_rows": len(stability.labels),
        "n_changing": len(stability.unsure_rows),
    }


def about_ties(answers: TableResults) -> list[str]:
    """Tell of rows that the cut-off does not tell apart."""
    if not answers.is_fit:
        return []
    beyond = is_outlier(answers.scores, -answers.model.offset_)
    return on_ties(int((beyond != answers.outliers).sum()))


def on_ties(count: int) -> list[str]:
    """Tell how many rows the cut-off does not tell apart."""
    if not count:
        return []
    rows = counted(count, "row")
    return [
        f"{rows} on the wrong side of the cut-off, as far from their centers as others "
        "or left out in an earlier round: as new rows they would be judged differently."
    ]


def parameters(model: Any) -> dict[str, Parameter]:
    """Return the parameters of a model that are plain values."""
    return {
        name: finite(value) if isinstance(value, float) else value
        for name, value in model.get_params(deep=False).items()
        if isinstance(value, bool | int | float | str | None)
        and name not in ("verbose", "on_step")
    }


def column_preparation(preparation: Preparation) -> ColumnPreparation:
    """Return what became of the columns."""
    return {
        "columns": list(preparation.columns),
        "missing": (
            preparation.missing
            if isinstance(preparation.missing, str)
            else dict(preparation.missing)
        ),
        "fill": list(map(finite, preparation.fill)),
        "log": list(preparation.log),
        "offset": list(map(finite, preparation.offset)),
        "scale": preparation.scale,
        "center": list(map(finite, preparation.center)),
        "spread": list(map(finite, preparation.spread)),
        "categories": {
            name: list(values) for name, values in preparation.categories.items()
        },
    }


def objective(model: Any) -> Objective | None:
    """Return what was minimized, if anything."""
    if not hasattr(model, "objective_"):
        return None
    return {
        "value": finite(model.objective_),
        "path": finite_list(model.objective_path_),
        "n_iter": int(model.n_iter_),
        "converged": bool(model.converged_),
    }


# Clusters


def members_of(
    answers: TableResults, assignments: sparse.csr_array | None
) -> list[Places]:
    """Return the rows of each cluster; all that are inside, of a detector."""
    if assignments is None:
        return [np.flatnonzero(~answers.outliers)]
    columns = assignments.tocsc()
    ends = zip(columns.indptr[:-1], columns.indptr[1:], strict=True)
    return [columns.indices[start:end] for start, end in ends]


def centers_and_spreads(
    answers: TableResults, members: list[Places]
) -> tuple[Floats, Floats]:
    """Return centers and standard deviations of clusters, not scaled any more.

    Logarithms are still such. A detector has no clusters.
    """
    X, preparation = answers.prepared.X, answers.prepared.preparation
    if not answers.n_clusters:
        return np.empty((0, X.shape[1])), np.empty((0, X.shape[1]))
    centers = preparation.unscaled(answers.model.cluster_centers_)
    units = np.array(preparation.spread)
    spreads = [
        X[rows].std(axis=0) * units if len(rows) else 0 * units for rows in members
    ]
    return centers, np.array(spreads)


def without_logarithms(
    answers: TableResults, members: list[Places], centers: Floats, spreads: Floats
) -> tuple[Floats, Floats]:
    """Return centers and standard deviations in the units of the table."""
    X, preparation = answers.prepared.X, answers.prepared.preparation
    if not preparation.log or not len(centers):
        return centers, spreads
    spreads = spreads.copy()
    for j in np.flatnonzero(preparation.is_logged).tolist():
        values = preparation.in_data_units(X[:, j], j)
        spreads[:, j] = [values[rows].std() if len(rows) else 0 for rows in members]
    return preparation.in_data_units(answers.model.cluster_centers_), spreads


def clusters(
    answers: TableResults,
    members: list[Places],
    centers: Floats,
    spreads: Floats,
    stability: Stability | None,
) -> list[Cluster]:
    """Return size, center, spread and stability of each cluster."""
    if answers.ranks is None:
        return []
    found: list[Cluster] = []
    returns = np.full(len(members), np.nan) if stability is None else stability.clusters
    for label, rows in enumerate(members):
        counts = np.bincount(answers.ranks[rows], minlength=DOUBTFUL + 1).tolist()
        found.append(
            {
                "label": label,
                "size": len(rows),
                "share": len(rows) / len(answers.labels),
                "center": finite_list(centers[label]),
                "spread": finite_list(spreads[label]),
                "confidence": {
                    "core": counts[CORE],
                    "border": counts[BORDER],
                    "doubtful": counts[DOUBTFUL],
                },
                "stability": finite(returns[label]),
            }
        )
    return found


def contrasts(
    centers: Floats, spreads: Floats, members: list[Places], features: list[str]
) -> list[Contrast]:
    """Return the features that tell clusters apart most, those first."""
    if not len(centers):
        return [{"feature": name, "apart": 0.0} for name in features[:MOST_CONTRASTS]]
    sizes = np.array([len(rows) for rows in members])
    # by powers of two, which round nothing, so that no square is too large or small
    largest = np.maximum(np.abs(centers), spreads).max(axis=0)
    unit = np.ldexp(1.0, np.frexp(largest)[1] - 1)
    within = np.sqrt(sizes @ (spreads / unit) ** 2 / max(sizes.sum(), 1))
    reach = centers.max(axis=0) / unit - centers.min(axis=0) / unit
    apart = np.full(len(features), np.inf)
    np.divide(reach, within, out=apart, where=within > 0)
    apart[reach == 0] = 0.0
    order = np.argsort(-apart, kind="stable")[:MOST_CONTRASTS]
    return [{"feature": features[j], "apart": finite(apart[j])} for j in order.tolist()]


def overlap(assignments: sparse.csr_array | None) -> Overlap | None:
    """Return how many rows any two clusters have in common, if there are any."""
    if assignments is None:
        return None
    several = int((np.diff(assignments.indptr) > 1).sum())
    if not several:
        return None
    common = (assignments.T @ assignments).toarray().astype(int)
    return {"several": several, "matrix": common.tolist()}


# Outliers


def outliers(answers: TableResults, choice: Choice | None) -> Outliers:
    """Return how many outliers there are, and the farthest of them with reasons."""
    count = int(answers.outliers.sum())
    far = answers.standing_out
    is_chosen = choice is not None and bool(choice.share_path)
    return {
        "count": count,
        "share": count / len(answers.outliers),
        "cutoff": finite(-answers.model.offset_),
        "decided_by": "choice" if is_chosen else decided_by(answers.model),
        "standing_out": None if far is None else int(far[answers.outliers].sum()),
        "also_standing_out": None if far is None else int(far[~answers.outliers].sum()),
        "due_to_skewness": due_to_skewness(answers),
        "rows": describe_rows(answers, answers.farthest(MOST_OUTLIERS)),
    }


def due_to_skewness(answers: TableResults) -> SkewedFeature | None:
    """Return the very skewed feature that most outliers are due to, if there is one."""
    X, preparation = answers.prepared.X, answers.prepared.preparation
    places = np.flatnonzero(answers.outliers)
    if answers.ranks is None or len(places) < FEWEST_OUTLIERS or sparse.issparse(X):
        return None
    results = answers.model._results(X[places[:: -(-len(places) // MOST_PARTS)]])
    largest = results.rule.parts(results).argmax(axis=1)
    j = int(np.bincount(largest).argmax())
    share = float((largest == j).mean())
    values = preparation.in_data_units(X[:, j], j)
    is_number = j < preparation.n_numbers and not preparation.is_logged[j]
    if share <= 0.5 or not is_number or not is_very_skewed(values):
        return None
    return {
        "feature": preparation.columns[j],
        "share": share,
        "skewness": skewness(values),
        "log_skewness": skewness_of_log(values),
    }


def decided_by(model: Any) -> str:
    """Return what says how many outliers there are."""
    by = getattr(model, "_outliers_decided_by", None)
    name = getattr(model, "_outliers_by", "contamination")
    if by is None:
        # a detector with a number, or one whose clusterer has found them
        is_given = is_number(getattr(model, name, None))
        by = "asked" if is_given else decided_by_clusterer(model)
    if by == "asked" and getattr(model, name) == getattr(type(model), name, None):
        return "default"
    return str(by)


def decided_by_clusterer(detector: Any) -> str:
    """Return what says how many outliers the clusterer of a detector found."""
    clusterer = getattr(detector, "clusterer_", None)
    return "rule" if clusterer is None else decided_by(clusterer)
