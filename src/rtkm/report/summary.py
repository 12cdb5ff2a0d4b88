"""The findings in plain language."""

from __future__ import annotations

import math
import shlex

from rtkm._number_text import (
    all_known,
    counted,
    figure,
    fixed,
    joined,
    known,
    percent,
    percent_said,
)
from rtkm.choosing.sentences import on_heavy_tails
from rtkm.choosing.stability import SURE_CLUSTER
from rtkm.report.findings import (
    Between,
    Cell,
    ColumnPreparation,
    Findings,
    Number,
    OutlierRow,
)
from rtkm.report.group_sentences import about_groups
from rtkm.tables.messages import shown

FEW = 8  # sizes that are named one by one
STRIKING = 2.0  # spreads that centers must be apart
N_NAMED = 3  # features
MUCH_DOUBT = 0.1  # share of rows between clusters at which to try something else


def summarize(findings: Findings) -> list[str]:
    """Return what was found, in sentences for those who have not seen the table."""
    sentences = [
        *about_clusters(findings),
        *about_choice(findings),
        *about_outliers(findings),
        *about_skewness(findings),
    ]
    if findings["overlap"]:
        several = findings["overlap"]["several"]
        verb = "belongs" if several == 1 else "belong"
        sentences.append(f"{counted(several, 'row')} {verb} to more than one cluster.")
    sentences += [*about_doubt(findings), *about_stability(findings)]
    sentences += about_groups(findings["left_out"])
    objective = findings["objective"]
    if objective and not objective["converged"]:
        sentences.append(
            f"The method had not come to rest after {objective['n_iter']:,} steps: "
            "raise --max-iter."
        )
    return sentences


def about_clusters(findings: Findings) -> list[str]:
    """Tell how many clusters there are, how large, and in what they differ."""
    clusters, choice = findings["clusters"], findings["choice"]
    rows = counted(findings["source"]["n_used"], "row")
    name = findings["method"]["name"]
    if len(clusters) == 1 and choice and "n_clusters" not in choice["given"]:
        return []  # that there are no separate groups is said with the choice
    if not clusters:
        return [f"{name} looked for outliers in {rows}."]
    sizes = [cluster["size"] for cluster in clusters if cluster["size"]]
    if len(sizes) == 1:
        text = counted(sizes[0], "row")
    elif len(sizes) <= FEW:
        text = f"{joined([f'{size:,}' for size in sizes])} rows"
    elif min(sizes) == max(sizes):
        text = f"{counted(sizes[0], 'row')} each"
    else:
        text = f"{min(sizes):,} to {max(sizes):,} rows"
    n_clusters = counted(len(sizes), "cluster")
    if choice is None:
        found = f"{name} divides {rows} into {n_clusters}, as you asked, of {text}."
    elif "n_clusters" in choice["given"]:
        found = f"{name} divides {rows} into {n_clusters}, of {text}."
    else:
        found = f"{name} found {n_clusters} in {rows}, of {text}."
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
        ends = min(centers, default=math.nan), max(centers, default=math.nan)
        low, high = (center_text(findings["preparation"], j, end) for end in ends)
        named.append(f"{shown(feature)} ({low} to {high})")
    return [f"Their centers differ most in {joined(named)}."]


def center_text(preparation: ColumnPreparation, j: int, value: Number) -> str:
    """Write the center of a cluster in a feature: of a category, a share of rows."""
    center = known(value)
    if center is None or j < n_numbers(preparation):
        return figure(center)
    return percent(round(center, 9))  # what scaling and back left of it


def n_numbers(preparation: ColumnPreparation) -> int:
    """Return how many features are no categories; those come last."""
    n_categories = sum(map(len, preparation["categories"].values()))
    return len(preparation["columns"]) - n_categories


def about_choice(findings: Findings) -> list[str]:
    """Tell how sure the chosen numbers are, and what else they could be.

    What the choice says of outliers is told with them.
    """
    choice = findings["choice"]
    if choice is None:
        return []
    on_clusters = choice["on_clusters"]
    if findings["method"]["name"] != "RTKM" and "n_clusters" not in choice["given"]:
        before = "The number of clusters was chosen beforehand: "
        on_clusters = [before + sentence for sentence in on_clusters[:1]]
    return [*on_clusters, *choice["warnings"]]


def about_outliers(findings: Findings) -> list[str]:
    """Tell how many outliers there are, and why the farthest is one."""
    outliers = findings["outliers"]
    if unseen(findings):
        return []  # the warning of the choice says so
    sentences = [how_many(findings)]
    if not outliers["count"]:
        return sentences
    return [*sentences, about_farthest(outliers["rows"][0], outliers["count"] == 1)]


def about_farthest(row: OutlierRow, is_only_one: bool) -> str:
    """Tell which row is farthest out, and what it is mostly due to."""
    subject = "The outlier" if is_only_one else "The farthest"
    name = f"row {row['row']:,}"
    if row["id"] is not None:
        name += f" ({shown(row['id'])})"
    if not row["reasons"]:
        return f"{subject} is {name}."
    reason = row["reasons"][0]
    feature, share = shown(reason["feature"]), reason["share"]
    value, center = in_words(reason["value"]), in_words(reason["center"])
    values = f"{value}, against {center} at its center"
    if share == 1:  # there may be but one feature
        return f"{subject} is {name}, due to {feature} alone: {values}."
    return (
        f"{subject} is {name}, {percent_said(share)} of whose squared distance is due "
        f"to {feature}: {values}."
    )


def in_words(value: Cell) -> str:
    """Write a cell of a table: a number, or a category."""
    return shown(value) if isinstance(value, str) else figure(value)


def about_skewness(findings: Findings) -> list[str]:
    """Name the very skewed feature that most outliers are due to, and the way out."""
    found = findings["outliers"]["due_to_skewness"]
    if found is None:
        return []
    share = "all" if found["share"] == 1 else percent_said(found["share"])
    return [
        f"For {share} of these rows, the largest part of the score "
        f"is due to {shown(found['feature'])}, which is very skewed "
        f"({fixed(found['skewness'], 2)} on a scale from 0, even, to 1; its logarithm "
        f"{fixed(found['log_skewness'], 2)}): --log {shlex.quote(found['feature'])} "
        "uses its logarithm."
    ]


def unseen(findings: Findings) -> bool:
    """Whether there were too few rows to look for outliers."""
    choice = findings["choice"]
    if choice is None or findings["outliers"]["decided_by"] != "choice":
        return False
    return not choice["share_path"]


def how_many(findings: Findings) -> str:
    """Tell how many outliers there are, but never a setting as a finding."""
    outliers, choice = findings["outliers"], findings["choice"]
    count = outliers["count"]
    rows = f"{counted(count, 'row')} ({percent(outliers['share'])})"
    were, are = ("was", "is an outlier") if count == 1 else ("were", "are outliers")
    if outliers["decided_by"] == "asked":
        found = f"{rows} {were} trimmed" if count else "No row was trimmed"
        return f"{found}, as you asked{how_many_stand_out(findings)}."
    if outliers["decided_by"] == "default":
        found = f"{rows} {were} trimmed" if count else "No row was trimmed"
        by = f"the default of {findings['method']['name']}"
        return f"{found}, {by}{how_many_stand_out(findings)}."
    if outliers["decided_by"] == "limit":
        return (
            f"{rows} {are}: as many as the method may find at most, so there may be "
            "more (--max-outliers)."
        )
    if unseen(findings):
        return "No outliers were looked for."
    found = f"{rows} {are}" if count else "No row is an outlier"
    heavy_tails = choice is not None and choice["heavy_tails"]
    return f"{found}{on_heavy_tails(heavy_tails, count)}."


def how_many_stand_out(findings: Findings) -> str:
    """Tell how many of the rows that were trimmed stand out, and how many others."""
    outliers = findings["outliers"]
    count, far = outliers["count"], outliers["standing_out"]
    others = outliers["also_standing_out"]
    if far is None:
        return ""
    stand = "stands" if far == 1 else "stand"
    told = f"; {far:,} of them {stand} out" if far else "; none of them stands out"
    if not count:
        told = ""
    elif far == count:
        told = "; it stands out" if count == 1 else "; all of them stand out"
    if others:
        more = "more row stands" if others == 1 else "more rows stand"
        told += f"; {others:,} {more} out" if count else f"; {others:,} rows stand out"
    return told


def about_doubt(findings: Findings) -> list[str]:
    """Tell how many rows may as well be elsewhere."""
    doubtful = findings["n_doubtful"]
    if not doubtful:
        return []
    rows = counted(doubtful, "row")
    verb = "lies" if doubtful == 1 else "lie"
    share = doubtful / findings["source"]["n_used"]
    sentences = [
        f"{rows} ({percent(share)}) {verb} between clusters: "
        f"{how_likely(findings['between'], doubtful)}."
    ]
    if share > MUCH_DOUBT:
        sentences.append(
            "That is a lot: try another number of clusters, another --scale, or "
            "--n-init 10 for more starts."
        )
    return sentences


def how_likely(between: Between | None, n_rows: int) -> str:
    """Tell how likely the second-best answer for such rows is."""
    least = "another label is at least a tenth as likely"
    likely = None if between is None else between["times_as_likely"]
    if likely is None:
        return least
    if n_rows == 1:
        return f"another label is {figure(likely, 2)} times as likely"
    return f"{least}, for half of them at least {figure(likely, 2)} times"


def about_stability(findings: Findings) -> list[str]:
    """Name the clusters and rows that do not come back in fits to half of the rows."""
    resampling, sentences = findings["resampling"], []
    if resampling is None:
        return []
    fits = f"{resampling['n_fits']} fits to half of the rows"
    unsure = [
        f"{cluster['label']} ({fixed(cluster['stability'], 2)})"
        for cluster in findings["clusters"]
        if cluster["stability"] is not None and cluster["stability"] < SURE_CLUSTER
    ]
    if unsure:
        noun = "cluster" if len(unsure) == 1 else "clusters"
        named = joined(unsure[:FEW]) + (" and others" if len(unsure) > FEW else "")
        sentences.append(
            f"In {fits}, {noun} {named} came back only in part, so do not rely on "
            f"{'it' if len(unsure) == 1 else 'them'} (1 means with the very same rows)."
        )
    count = resampling["n_changing"]
    if count > MUCH_DOUBT * resampling["n_rows"]:
        share = percent(count / resampling["n_rows"])
        sentences.append(f"{share} of the rows often change their label in {fits}.")
    return sentences
