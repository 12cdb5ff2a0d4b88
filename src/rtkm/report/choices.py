"""What was chosen for a table, and why, as findings and in sentences."""

from __future__ import annotations

import numpy as np

from rtkm.choosing.choice import Choice
from rtkm.choosing.curves import SHARES, curves_for
from rtkm.choosing.sentences import (
    COMMAND_LINE,
    on_clusters,
    on_outliers,
    on_small_groups,
)
from rtkm.core.validation import make_table
from rtkm.report.findings import (
    ChoiceFindings,
    Pair,
    TrimmedCosts,
    finite,
    finite_list,
)
from rtkm.report.table_results import Floats
from rtkm.tables.fitted_preparation import Prepared

# how many fewer and more clusters curves are drawn for, of tables with enough rows
N_AROUND = 3
ROWS_PER_CLUSTER = 10


def choice_findings(
    choice: Choice,
    prepared: Prepared,
    centers: Floats | None = None,
    *,
    with_curves: bool = True,
) -> ChoiceFindings:
    """Return a choice as findings hold it, centers in the units of the table.

    Parameters
    ----------
    choice : Choice
        The choice.
    prepared : Prepared
        The table, and what became of its columns.
    centers : ndarray, default=None
        Centers of the fit, by label, as they were fitted: pairs get these labels.
    with_curves : bool, default=True
        Whether to compute what other numbers would cost.
    """
    groups, preparation = choice.small_groups, prepared.preparation
    on_groups = [
        *on_clusters(choice, COMMAND_LINE),
        *on_small_groups(choice, COMMAND_LINE),
    ]
    return {
        "given": list(choice.given),
        "n_clusters": choice.n_clusters,
        "n_separate": choice.n_separate,
        "alternatives": list(choice.alternatives),
        "is_sure": choice.is_sure,
        "n_outliers": choice.n_outliers,
        "contamination": choice.contamination,
        "heavy_tails": choice.heavy_tails,
        "small_groups": [
            {"size": float(size), "center": finite_list(center)}
            for size, center in zip(
                groups.sizes, preparation.in_data_units(groups.centers), strict=True
            )
        ],
        "warnings": list(choice.warnings),
        "on_clusters": on_groups,
        "summary": [*on_groups, *on_outliers(choice), *choice.warnings],
        "trials": [
            {
                "n_cells": line["n_cells"],
                "n_groups": line["n_groups"],
                "n_groups_lax": line["n_groups_lax"],
                "n_groups_strict": line["n_groups_strict"],
                "cost": finite(line["cost"]),
                "stability": line["stability"],
            }
            for line in choice.table
        ],
        "pairs": pairs_of(choice, centers),
        "share_path": list(choice.share_path),
        "curves": trimmed_costs(prepared, choice.n_clusters) if with_curves else None,
    }


def trimmed_costs(prepared: Prepared, n_clusters: int) -> TrimmedCosts | None:
    """Return what a few fewer and more clusters would cost, by share of outliers."""
    X = make_table(prepared.X, prepared.weights)
    around = range(max(1, n_clusters - N_AROUND), n_clusters + N_AROUND + 1)
    most = min(X.mass / ROWS_PER_CLUSTER, X.count_distinct(around[-1]))
    numbers = [k for k in around if k <= most]
    if len(numbers) < 2:
        return None
    rng = np.random.RandomState(0)
    found = curves_for(X, numbers, SHARES, rng)
    return {
        "n_clusters": list(found.n_clusters),
        "contamination": list(found.contamination),
        "costs": [finite_list(line) for line in found.costs],
    }


def pairs_of(choice: Choice, centers: Floats | None) -> list[Pair]:
    """Return the pairs of clusters, the weakest first; none of clusters not fitted."""
    labels = labels_of(choice.init, centers)
    if labels is None:
        return []
    return [
        {
            "clusters": [labels[cluster] for cluster in pair["clusters"]],
            "between": pair["between"],
            "around": list(pair["around"]),
            "chance": pair["chance"],
            "histogram": list(pair["histogram"]) if "histogram" in pair else None,
            "bin_width": pair.get("bin_width"),
        }
        for pair in choice.pairs
    ]


def labels_of(chosen: Floats, centers: Floats | None) -> list[int] | None:
    """Return the label of each cluster that was chosen: that of the nearest center.

    Those of the choice itself where there are no centers; None where a method found
    other clusters.
    """
    own = list(range(len(chosen)))
    if centers is None:
        return own
    distances = np.linalg.norm(chosen[:, None] - centers, axis=2)
    nearest: list[int] = distances.argmin(axis=1).tolist()
    is_one_to_one = sorted(nearest) == list(range(len(centers)))
    return nearest if is_one_to_one else None
