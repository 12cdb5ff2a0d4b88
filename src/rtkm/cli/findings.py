"""What a fit found, as one plain dictionary.

`--json` writes it, the terminal prints from it and the report is drawn from it. All
centers, values and edges are in the data's own units; rows are counted from 1 in the
order of the table, those that were left out too. Counts are always those of all rows:
only what is drawn is a sample.
"""

from __future__ import annotations

import math
import platform
from typing import Any

import numpy as np
import sklearn
from scipy import sparse

import rtkm
from rtkm._confidence import CONFIDENCES, OUTLIER
from rtkm.cli.answers import Answers, Places
from rtkm.cli.messages import counted
from rtkm.cli.pictures import distributions, scatter
from rtkm.cli.reasons import describe_rows
from rtkm.cli.sheet import Sheet
from rtkm.cli.summary import summarize
from rtkm.cli.wording import purpose

FORMAT = 1
MOST_OUTLIERS = 1000  # that are listed, with their reasons
MOST_CONTRASTS = 40


def find(
    answers: Answers, sheet: Sheet, *, command: str, notes: list[str]
) -> dict[str, Any]:
    """Return the findings of a fit."""
    prepared, model = answers.prepared, answers.model
    assignments = answers.assignments() if answers.n_clusters else None
    members = members_of(answers, assignments)
    findings: dict[str, Any] = {
        "format": FORMAT,
        "versions": {
            "rtkm": rtkm.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
        },
        "command": command,
        "source": {
            "name": sheet.name,
            "format": sheet.format,
            "n_rows": sheet.n_rows,
            "n_columns": len(sheet.names),
            "n_used": len(prepared.X),
            "n_dropped": sheet.n_rows - len(prepared.X),
        },
        "notes": [*notes, *about_ties(answers)],
        "method": {
            "name": type(model).__name__,
            "title": purpose(type(model))[0],
            "parameters": parameters(model),
        },
        "features": list(prepared.preparation.columns),
        "preparation": prepared.preparation.to_json(),
        "objective": objective(model),
        "clusters": clusters(answers, members),
        "outliers": outliers(answers),
        "overlap": overlap(assignments),
        "scatter": scatter(answers),
    }
    findings["contrasts"] = contrasts(findings["clusters"], findings["features"])
    telling = [contrast["feature"] for contrast in findings["contrasts"]]
    findings["distributions"] = distributions(answers, members, telling)
    findings["summary"] = summarize(findings)
    return plain(findings)


def about_ties(answers: Answers) -> list[str]:
    """Tell of rows that the cut-off does not tell apart."""
    beyond = -answers.scores < answers.model.offset_
    count = int((beyond != answers.outliers).sum())
    if not count:
        return []
    rows = counted(count, "row")
    return [
        f"{rows} on the wrong side of the cut-off, as far from their centers as others "
        "or left out in an earlier round: as new ones they would be judged otherwise."
    ]


def parameters(model: Any) -> dict[str, Any]:
    """Return the parameters of a model that are plain values."""
    return {
        name: value
        for name, value in model.get_params(deep=False).items()
        if isinstance(value, bool | int | float | str | None)
        and name not in ("verbose", "on_step")
    }


def objective(model: Any) -> dict[str, Any] | None:
    """Return what was minimized, if anything."""
    if not hasattr(model, "objective_"):
        return None
    return {
        "value": model.objective_,
        "path": model.objective_path_.tolist(),
        "n_iter": model.n_iter_,
        "converged": model.converged_,
    }


# Clusters


def members_of(answers: Answers, assignments: sparse.csr_array | None) -> list[Places]:
    """Return the rows of each cluster; all that are inside, of a detector."""
    if assignments is None:
        return [np.flatnonzero(~answers.outliers)]
    columns = assignments.tocsc()
    ends = zip(columns.indptr[:-1], columns.indptr[1:], strict=True)
    return [columns.indices[start:end] for start, end in ends]


def clusters(answers: Answers, members: list[Places]) -> list[dict[str, Any]]:
    """Return size, center and spread of each cluster."""
    if answers.ranks is None:
        return []
    preparation = answers.prepared.preparation
    centers = preparation.in_data_units(answers.model.cluster_centers_)
    units = np.array(preparation.spread)
    found = []
    for label, rows in enumerate(members):
        X, size = answers.prepared.X[rows], len(rows)
        counts = np.bincount(answers.ranks[rows], minlength=len(CONFIDENCES))
        sure = zip(CONFIDENCES[:OUTLIER], counts[:OUTLIER].tolist(), strict=True)
        found.append(
            {
                "label": label,
                "size": size,
                "share": size / len(answers.labels),
                "center": centers[label].tolist(),
                "spread": (X.std(axis=0) * units if size else 0 * units).tolist(),
                "confidence": {str(kind): count for kind, count in sure},
            }
        )
    return found


def contrasts(
    clusters: list[dict[str, Any]], features: list[str]
) -> list[dict[str, Any]]:
    """Return the features that tell clusters apart most, those first.

    ``apart`` is how far the centers reach, in mean spreads within clusters.
    """
    if not clusters:
        return [{"feature": name, "apart": 0.0} for name in features[:MOST_CONTRASTS]]
    centers = np.array([cluster["center"] for cluster in clusters])
    sizes = np.array([cluster["size"] for cluster in clusters])
    spreads = np.array([cluster["spread"] for cluster in clusters])
    within = np.sqrt(sizes @ spreads**2 / max(sizes.sum(), 1))
    reach = centers.max(axis=0) - centers.min(axis=0)
    apart = np.full(len(features), np.inf)
    np.divide(reach, within, out=apart, where=within > 0)
    apart[reach == 0] = 0.0
    order = np.argsort(-apart, kind="stable")[:MOST_CONTRASTS]
    return [{"feature": features[j], "apart": apart[j]} for j in order.tolist()]


def overlap(assignments: sparse.csr_array | None) -> dict[str, Any] | None:
    """Return how many rows any two clusters have in common, if there are any."""
    if assignments is None:
        return None
    several = int((np.diff(assignments.indptr) > 1).sum())
    if not several:
        return None
    common = (assignments.T @ assignments).toarray().astype(int)
    return {"several": several, "matrix": common.tolist()}


# Outliers


def outliers(answers: Answers) -> dict[str, Any]:
    """Return how many outliers there are, and the farthest of them with reasons."""
    count = int(answers.outliers.sum())
    return {
        "count": count,
        "share": count / len(answers.outliers),
        "cutoff": -answers.model.offset_,
        "rows": describe_rows(answers, answers.farthest(MOST_OUTLIERS)),
    }


# Plain data


def plain(value: Any) -> Any:
    """Return what JSON has for a value; numbers that are none become null."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
