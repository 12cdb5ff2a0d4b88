"""What a person reads of a choice, from Python and on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from rtkm._number_text import counted, joined, percent, percent_said

if TYPE_CHECKING:
    from rtkm.choosing.choice import Choice


class Words(NamedTuple):
    """What parameters are called where the reader sets them."""

    n_clusters: str
    min_cluster: str


PYTHON = Words("n_clusters={}", "min_cluster")
COMMAND_LINE = Words("-k {}", "--min-cluster")


def on_clusters(choice: Choice, words: Words) -> list[str]:
    """Tell how many clusters there are, how sure that is, and what else it could be."""
    if "n_clusters" in choice.given:
        return [on_given_clusters(choice)]
    if choice.n_separate is None:
        return []  # the warning says why
    if choice.n_separate != choice.n_clusters:
        return [on_nearest_number(choice)]
    if choice.n_clusters == 1:
        return on_one_cluster(choice, words)
    others = "no other number is likely"
    if choice.alternatives:
        others = f"it could also be {other_numbers(choice)}"
    return [f"{choice.n_clusters} clusters with gaps between them; {others}."]


def on_given_clusters(choice: Choice) -> str:
    """Tell whether gaps bear out a number that was asked for."""
    asked = f"{counted(choice.n_clusters, 'cluster')}, as you asked"
    n_separate = choice.n_separate
    if n_separate is None or choice.n_clusters == n_separate == 1:
        return f"{asked}."
    if choice.pairs:
        return f"{asked}, with gaps between them."
    if n_separate == 1:
        return f"{asked}, but no gaps were found between groups."
    return f"{asked}; gaps were found between {n_separate} groups."


def on_nearest_number(choice: Choice) -> str:
    """Tell of a number that was the best of those to choose from, but not found."""
    if choice.pairs:
        return (
            f"{counted(choice.n_clusters, 'cluster')} with gaps between them, counting "
            "small groups, as the numbers to choose from ask for."
        )
    found = (
        "no gaps were found between groups"
        if choice.n_separate == 1
        else f"gaps were found between {choice.n_separate} groups"
    )
    return (
        f"{counted(choice.n_clusters, 'cluster')}, the nearest of the numbers to "
        f"choose from: {found}."
    )


def on_one_cluster(choice: Choice, words: Words) -> list[str]:
    """Tell that no gap was found, and what a person who wants segments may do."""
    found = "No separate groups: there is no gap between any two groups of rows."
    if choice.alternatives:
        found = f"No separate groups, but it could also be {other_numbers(choice)}."
    trials = [trial for trial in choice.table if trial["n_cells"] > 1]
    if not trials:
        return [found]
    best = max(trials, key=lambda trial: trial["stability"])
    how = words.n_clusters.format(best["n_cells"])
    return [
        found,
        f"If you want segments anyway, {best['n_cells']} are the most stable "
        f"({how}): two halves of the table agree on "
        f"{percent_said(best['stability'])} of the rows.",
    ]


def other_numbers(choice: Choice) -> str:
    """Name the other numbers of clusters, and what tells them apart."""
    k, n_small = choice.n_clusters, len(choice.small_groups.sizes)
    told: dict[str, list[str]] = {}
    for other in choice.alternatives:
        if other < k:
            why = "if only the clearest gaps and larger groups count"
        elif n_small and other <= k + n_small:
            why = "if small groups count as clusters"
        else:
            why = "if narrower gaps count"
        told.setdefault(why, []).append(str(other))
    return ", or ".join(f"{joined(k, 'or')} {why}" for why, k in told.items())


def on_outliers(choice: Choice) -> list[str]:
    """Tell how many rows stand out."""
    count = choice.n_outliers
    rows = f"{counted(count, 'row')} ({percent(choice.contamination)})"
    if "contamination" in choice.given:
        return [f"{rows} to be trimmed, as you asked." if count else "No row trimmed."]
    if not choice.share_path:
        return []
    stand = "stands" if count == 1 else "stand"
    found = f"{rows} {stand} out from the rest" if count else "No row stands out"
    return [f"{found}{on_heavy_tails(choice.heavy_tails, count)}."]


def on_heavy_tails(heavy_tails: bool, n_outliers: int) -> str:
    """Say, after a number of outliers, why other rows far out are none of them."""
    if not heavy_tails:
        return ""
    which = "other rows far out" if n_outliers else "rows far out"
    return f"; {which} look like the heavy tails of their clusters"


def on_small_groups(choice: Choice, words: Words) -> list[str]:
    """Tell of groups that count as outliers, and how to make clusters of them."""
    sizes = [f"{size:,.0f}" for size in choice.small_groups.sizes if size >= 0.5]
    if not sizes:
        return []
    number = words.n_clusters.format(choice.n_clusters + len(sizes))
    way_out = f"{number}, or a lower {words.min_cluster}, makes"
    if sizes == ["1"]:
        return []  # a row by itself is an outlier like any other
    if len(sizes) == 1:
        return [
            f"{sizes[0]} rows alike, far from the rest, are counted as outliers; "
            f"{way_out} them a cluster."
        ]
    return [
        f"{len(sizes)} small groups, of {joined(sizes)} rows alike, are counted as "
        f"outliers; {way_out} them clusters."
    ]


def on_columns(places: Any, names: Any) -> str:
    """Name a few of some columns, each once, though it may be several features."""
    if names is None:
        named = [str(j) for j in places]
    else:
        named = list(dict.fromkeys(repr(str(names[j])) for j in places))
    text = ", ".join([*named[:5], *["..."] * (len(named) > 5)])
    return f"column{'s' if len(named) > 1 else ''} {text}"
