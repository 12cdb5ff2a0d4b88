"""What was chosen for a table, and why, as findings."""

from __future__ import annotations

from rtkm.choosing.choice import Choice
from rtkm.report.findings import ChoiceFindings, finite, finite_list
from rtkm.tables.preparation import Preparation


def choice_findings(choice: Choice, preparation: Preparation) -> ChoiceFindings:
    """Return a choice as findings hold it, centers in the units of the table."""
    groups = choice.small_groups
    centers = preparation.in_data_units(groups.centers)
    return {
        "given": list(choice.given),
        "n_clusters": choice.n_clusters,
        "alternatives": list(choice.alternatives),
        "is_sure": choice.is_sure,
        "n_outliers": choice.n_outliers,
        "contamination": choice.contamination,
        "heavy_tails": choice.heavy_tails,
        "small_groups": [
            {"size": float(size), "center": finite_list(center)}
            for size, center in zip(groups.sizes, centers, strict=True)
        ],
        "warnings": list(choice.warnings),
        "summary": choice.summary().split("\n"),
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
        "pairs": [
            {
                "clusters": list(pair["clusters"]),
                "between": pair["between"],
                "around": list(pair["around"]),
                "chance": pair["chance"],
            }
            for pair in choice.pairs
        ],
        "share_path": list(choice.share_path),
    }
