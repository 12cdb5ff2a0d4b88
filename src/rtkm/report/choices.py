"""What was chosen for a table, and why, as findings and in sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from rtkm.choosing.choice import Choice
from rtkm.choosing.curves import SHARES, curves_for
from rtkm.core.validation import make_table
from rtkm.report.findings import (
    ChoiceFindings,
    Pair,
    TrimmedCosts,
    finite,
    finite_list,
)
from rtkm.report.number_text import joined, percent
from rtkm.report.table_results import Floats
from rtkm.tables.messages import counted, shown
from rtkm.tables.preparation import Prepared

# how many clusters less and more curves are drawn for, of tables with enough rows
N_AROUND = 3
ROWS_PER_CLUSTER = 10


def choice_findings(
    choice: Choice, prepared: Prepared, centers: Floats | None = None
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
    """
    groups, preparation = choice.small_groups, prepared.preparation
    names = preparation.columns
    found: ChoiceFindings = {
        "given": list(choice.given),
        "n_clusters": choice.n_clusters,
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
        "warnings": [with_names(warning, names) for warning in choice.warnings],
        "summary": [],
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
        "curves": trimmed_costs(prepared, choice.n_clusters),
    }
    found["summary"] = [
        *on_clusters(found),
        *on_outliers(found),
        *on_small_groups(found),
        *found["warnings"],
    ]
    return found


def trimmed_costs(prepared: Prepared, n_clusters: int) -> TrimmedCosts | None:
    """Return what a few clusters less and more would cost, by share of outliers."""
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
    """Return the pairs of clusters, the weakest first."""
    labels = labels_of(choice.init, centers)
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


def labels_of(chosen: Floats, centers: Floats | None) -> list[int]:
    """Return the label of each cluster that was chosen: that of the nearest center.

    Those of the choice itself where there are no centers, or where two clusters have
    become one.
    """
    own = list(range(len(chosen)))
    if centers is None or len(centers) != len(chosen):
        return own
    distances = np.linalg.norm(chosen[:, None] - centers, axis=2)
    nearest: list[int] = distances.argmin(axis=1).tolist()
    return nearest if len(set(nearest)) == len(own) else own


def with_names(warning: str, names: Sequence[str]) -> str:
    """Write columns by name: who has a table in a file does not count them.

    Examples
    --------
    >>> with_names("Values repeat in column 0, 2; look.", ["age", "sex", "year"])
    "Values repeat in column 'age', 'year'; look."
    """

    def named(found: re.Match[str]) -> str:
        places = map(int, found[1].split(", "))
        return "column " + ", ".join(shown(names[place]) for place in places)

    return re.sub(r"\bcolumn (\d+(?:, \d+)*)", named, warning)


# Sentences, in the words of a command line


def was_looked_for(choice: ChoiceFindings, what: str) -> bool:
    """Whether a number was chosen by looking at the rows; very few are not looked at.

    `what` is ``"n_clusters"`` or ``"contamination"``.
    """
    seen = choice["trials"] if what == "n_clusters" else choice["share_path"]
    return what not in choice["given"] and bool(seen)


def on_clusters(choice: ChoiceFindings) -> list[str]:
    """Tell how many clusters there are, how sure that is, and what else it could be."""
    k = choice["n_clusters"]
    if "n_clusters" in choice["given"]:
        return [f"{counted(k, 'cluster')}, as you asked."]
    if not was_looked_for(choice, "n_clusters"):
        return []  # the warning says why
    if k == 1:
        return on_one_cluster(choice)
    others = "; no other number is likely"
    if choice["alternatives"]:
        others = f"; it could also be {other_numbers(choice)}"
    if not choice["pairs"]:  # another number than that of the groups with gaps
        return [
            f"Of the numbers to choose from, {k} comes nearest to that of the groups "
            "with gaps between them; not all of these clusters have one."
        ]
    return [f"There are gaps between the {k} clusters{others}."]


def on_one_cluster(choice: ChoiceFindings) -> list[str]:
    """Tell that no gap was found, and what a person who wants segments may do."""
    found = "No separate groups were found: no gap parts the rows."
    if choice["alternatives"]:
        found = (
            "No separate groups were found, but it could also be "
            f"{other_numbers(choice)}."
        )
    trials = [trial for trial in choice["trials"] if trial["n_cells"] > 1]
    if not trials:
        return [found]
    best = max(trials, key=lambda trial: trial["stability"])
    return [
        found,
        f"If you want segments all the same, {best['n_cells']} are the most stable "
        f"(-k {best['n_cells']}): two halves of the table agree on "
        f"{percent(best['stability'])} of the rows.",
    ]


def other_numbers(choice: ChoiceFindings) -> str:
    """Name the other numbers of clusters, and what tells them apart."""
    k, n_small = choice["n_clusters"], len(choice["small_groups"])
    told = []
    for other in choice["alternatives"]:
        if other < k:
            why = "if only the clearest gaps and larger groups count"
        elif n_small and other <= k + n_small:
            why = "if small groups count as clusters"
        else:
            why = "if narrower gaps count"
        told.append(f"{other} {why}")
    return " or ".join(told)


def on_outliers(choice: ChoiceFindings) -> list[str]:
    """Tell how many rows stand out."""
    count = choice["n_outliers"]
    rows = f"{counted(count, 'row')} ({percent(choice['contamination'])})"
    if "contamination" in choice["given"]:
        return [f"{rows} to be trimmed, as you asked." if count else "No row trimmed."]
    if not was_looked_for(choice, "contamination"):
        return []
    stand = "stands" if count == 1 else "stand"
    found = f"{rows} {stand} out from the rest" if count else "No row stands out"
    if choice["heavy_tails"]:
        found += "; others that lie far out look like the heavy tails of their clusters"
    return [f"{found}."]


def on_small_groups(choice: ChoiceFindings) -> list[str]:
    """Tell of groups that count as outliers, and how to make clusters of them."""
    sizes = [f"{group['size']:,.0f}" for group in choice["small_groups"]]
    if not sizes:
        return []
    together = choice["n_clusters"] + len(sizes)
    way_out = f"-k {together}, or a lower --min-cluster, makes"
    if len(sizes) == 1:
        return [
            f"{sizes[0]} rows alike, far from the rest, are counted as outliers; "
            f"{way_out} them a cluster."
        ]
    return [
        f"{len(sizes)} small groups, of {joined(sizes)} rows alike, are counted as "
        f"outliers; {way_out} them clusters."
    ]
