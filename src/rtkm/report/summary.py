"""The findings in plain language."""

from __future__ import annotations

from rtkm.report.findings import Findings
from rtkm.report.number_text import all_known, figure, joined, percent
from rtkm.tables.messages import counted, shown

FEW = 8  # sizes that are named one by one
STRIKING = 2.0  # spreads that centers must be apart
N_NAMED = 3  # features
MUCH_DOUBT = 0.1  # share of rows between clusters at which to try something else


def summarize(findings: Findings) -> list[str]:
    """Return what was found, in sentences for those who have not seen the table."""
    sentences = [*about_clusters(findings), *about_outliers(findings)]
    if findings["overlap"]:
        several = findings["overlap"]["several"]
        verb = "belongs" if several == 1 else "belong"
        sentences.append(f"{counted(several, 'row')} {verb} to more than one cluster.")
    sentences += about_doubt(findings)
    objective = findings["objective"]
    if objective and not objective["converged"]:
        sentences.append(
            f"The method had not come to rest after {objective['n_iter']:,} steps: "
            "raise --max-iter."
        )
    return sentences


def about_clusters(findings: Findings) -> list[str]:
    """Tell how many clusters there are, how large, and in what they differ."""
    clusters = findings["clusters"]
    rows = counted(findings["source"]["n_used"], "row")
    name = findings["method"]["name"]
    if not clusters:
        return [f"{name} looked for outliers in {rows}."]
    sizes = [cluster["size"] for cluster in clusters if cluster["size"]]
    if len(sizes) == 1:
        text = counted(sizes[0], "row")
    elif len(sizes) <= FEW:
        text = f"{joined([f'{size:,}' for size in sizes])} rows"
    else:
        text = f"{min(sizes):,} to {max(sizes):,} rows"
    found = f"{name} found {counted(len(sizes), 'cluster')} in {rows}, of {text}."
    n_empty = len(clusters) - len(sizes)
    if n_empty:
        verb = "is" if n_empty == 1 else "are"
        found += f" {counted(n_empty, 'cluster')} {verb} empty."
    return [found, *about_differences(findings)]


def about_differences(findings: Findings) -> list[str]:
    """Name the features that tell clusters apart."""
    if len(findings["clusters"]) < 2:
        return []
    apart = [
        contrast["feature"]
        for contrast in findings["contrasts"]
        if contrast["apart"] is None or contrast["apart"] > STRIKING
    ]
    if not apart:
        return ["No single feature tells the clusters apart."]
    named = []
    for feature in apart[:N_NAMED]:
        j = findings["features"].index(feature)
        centers = all_known([c["center"][j] for c in findings["clusters"]])
        ends = f"{figure(min(centers, default=None))} to "
        ends += figure(max(centers, default=None))
        named.append(f"{shown(feature)} ({ends})")
    return [f"Their centers differ most in {joined(named)}."]


def about_outliers(findings: Findings) -> list[str]:
    """Tell how many outliers there are, and why the farthest is one."""
    outliers = findings["outliers"]
    if not outliers["count"]:
        return ["No row is an outlier."]
    share = percent(outliers["share"])
    rows = counted(outliers["count"], "row")
    verb = "is an outlier" if outliers["count"] == 1 else "are outliers"
    sentences = [f"{rows} ({share}) {verb}."]
    first = outliers["rows"][0]
    name = f"row {first['row']:,}"
    if first["id"] is not None:
        name += f" ({shown(first['id'])})"
    if first["reasons"]:
        reason = first["reasons"][0]
        sentences.append(
            f"The farthest is {name}, {percent(reason['share'])} of whose squared "
            f"distance is due to {shown(reason['feature'])}: "
            f"{figure(reason['value'])}, against {figure(reason['center'])} at its "
            "center."
        )
    else:
        sentences.append(f"The farthest is {name}.")
    return sentences


def about_doubt(findings: Findings) -> list[str]:
    """Tell how many rows may as well be elsewhere."""
    doubtful = sum(c["confidence"]["doubtful"] for c in findings["clusters"])
    if not doubtful:
        return []
    rows = counted(doubtful, "row")
    verb = "lies" if doubtful == 1 else "lie"
    share = doubtful / findings["source"]["n_used"]
    sentences = [
        f"{rows} ({percent(share)}) {verb} between clusters: another label is nearly "
        "as likely."
    ]
    if share > MUCH_DOUBT:
        sentences.append(
            "That is much: try another number of clusters, another --scale, or "
            "--n-init 10 for more starts."
        )
    return sentences
