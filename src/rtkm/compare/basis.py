"""What there is to choose a method by where no truth is known, and what it comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from rtkm import metrics
from rtkm._number_text import counted, joined, percent
from rtkm.choosing.stability import SURE_ROW, can_halve, stability_of, without_names
from rtkm.core.table import Table

if TYPE_CHECKING:
    import pandas as pd

# shares and agreements that differ by less are alike, a few fits being what they are
ALIKE = 0.05
# rows that agreement is counted by
MOST_ROWS = 20_000


class Recommendation(NamedTuple):
    """The method to take, if anything speaks for one, and why in a sentence."""

    method: str | None
    reason: str


def stability_share(model: Any, X: Table, n_resamples: int, seed: int) -> float | None:
    """Return the mean share of fits to half of the rows that give a row its label."""
    if n_resamples == 0 or not hasattr(model, "_rule") or not can_halve(model, X):
        return None
    rng = check_random_state(seed)
    found = stability_of(without_names(model), X, n_resamples, rng)
    return float(found.labels.mean())


def agreements(answers: list[NDArray[np.bool_] | None]) -> list[float | None]:
    """Return how far each answer agrees with the others, in the mean."""
    n_answers = len(answers)
    indexes = np.full((n_answers, n_answers), np.nan)
    for i, first in enumerate(answers):
        for j, second in enumerate(answers[:i]):
            if first is not None and second is not None and len(first) > 1:
                every = -(-len(first) // MOST_ROWS)
                index = metrics.omega_index(first[::every], second[::every])
                indexes[i, j] = indexes[j, i] = index
    counts = (~np.isnan(indexes)).sum(axis=1)
    sums = np.nansum(indexes, axis=1)
    return [float(s / n) if n else None for s, n in zip(sums, counts, strict=True)]


def recommend(frame: pd.DataFrame) -> Recommendation:
    """Recommend a method by how often labels come back, then by agreement.

    Neither number knows which method asked, nor with what parameters. Where no method
    is stable, or several are alike in both, none is recommended.
    """
    if "stability" not in frame:
        return Recommendation(
            None, "Nothing speaks for a method: no stability is known."
        )
    columns = [c for c in ("stability", "agreement") if c in frame]
    means = frame.groupby("method", sort=False)[columns].mean().astype(float)
    means = means[means["stability"].notna()]
    stable = means["stability"].sort_values(ascending=False, kind="stable")
    first = stable.index[0]
    share = percent(stable.iloc[0])
    if stable.iloc[0] < SURE_ROW:
        return Recommendation(
            None,
            f"No method is recommended: even those of {first}, the most stable, give a "
            f"row its label back in only {share} of fits to half of the rows.",
        )
    if len(stable) == 1:
        return Recommendation(
            None,
            f"Labels of {first} come back in {share} of fits to half of the rows, "
            "and there is no other method to compare with.",
        )
    alike = stable[stable > stable.iloc[0] - ALIKE]
    if len(alike) == 1:
        return Recommendation(
            first,
            f"{first} is recommended: its labels come back in {share} of fits to half "
            f"of the rows, against {percent(stable.iloc[1])} of {stable.index[1]}, the "
            "next.",
        )
    return by_agreement(means.loc[alike.index])


def by_agreement(alike: pd.DataFrame) -> Recommendation:
    """Recommend among methods whose labels come back about as often."""
    agreement = alike["agreement"].sort_values(ascending=False, kind="stable")
    top = agreement[agreement > agreement.iloc[0] - ALIKE]
    if len(top) == 1:
        first = agreement.index[0]
        return Recommendation(
            first,
            f"{first} is recommended: of the {counted(len(alike), 'method')} whose "
            f"labels come back most often ({shares_of(alike)} of fits to half of the "
            "rows) it "
            f"agrees most with all others ({agreement.iloc[0]:.2f}, the next "
            f"{agreement.iloc[1]:.2f}).",
        )
    names = joined([str(name) for name in top.index])
    lowest, highest = f"{top.iloc[-1]:.2f}", f"{top.iloc[0]:.2f}"
    agreed = lowest if lowest == highest else f"{lowest} to {highest}"
    return Recommendation(
        None,
        f"There is nothing to choose between {names}: their labels come back equally "
        f"often ({shares_of(alike.loc[top.index])} of fits to half of the rows), and "
        "they agree equally well "
        f"with the others ({agreed}).",
    )


def shares_of(methods: pd.DataFrame) -> str:
    """Return how often the labels of some methods come back, at least and at most."""
    low, high = (percent(end) for end in methods["stability"].agg(["min", "max"]))
    return low if low == high else f"{low} to {high}"
