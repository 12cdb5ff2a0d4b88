"""The claims of the paper's text, each with a verdict and the figures behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from experiments.claims import judges
from experiments.claims.judging import Answer, Cells, Judge, in_every_reading


class Verdict(NamedTuple):
    """A claim, whether it holds, and why."""

    claim: str
    verdict: str
    evidence: list[str]


class Claim(NamedTuple):
    """A claim, the judge who decides, and the experiments they need."""

    text: str
    decide: Callable[[Cells], Answer]
    needs: Iterable[str]


def of_curves(text: str, judge: Judge, experiment: str) -> Claim:
    """Return a claim on the curves of one experiment."""
    return Claim(text, in_every_reading(judge, experiment), [experiment])


CLAIMS = [
    Claim(
        "k-means gives an outlier a center of its own and takes two clusters for one",
        judges.kmeans_is_misled,
        ["clouds"],
    ),
    Claim(
        "The weights of relaxed k-means end at the vertices of the simplex",
        judges.weights_become_crisp,
        ["process", "units"],
    ),
    of_curves("WBC: RTKM and KMOR are almost identical", judges.alike_on_wbc, "wbc"),
    of_curves("WBC: NEO finds no outlier at k = 1", judges.neo_is_blind, "wbc"),
    of_curves(
        "Shuttle: all methods perform alike up to a share of .02",
        judges.alike_up_to_two_percent,
        "shuttle",
    ),
    of_curves(
        "Shuttle: beyond .02 RTKM and NEO find more outliers than KMOR (the text says "
        "KMOR and NEO, a slip)",
        judges.more_outliers_beyond,
        "shuttle",
    ),
    of_curves(
        "Shuttle: at the price of a lower F1 than KMOR's",
        judges.lower_f1_than_kmor,
        "shuttle",
    ),
    of_curves(
        "Shuttle: RTKM outperforms NEO in F1", judges.higher_f1_than_neo, "shuttle"
    ),
    of_curves(
        "Shuttle: RTKM is superior where as many outliers as possible are to be found",
        judges.lowest_me_on_shuttle,
        "shuttle",
    ),
    Claim("Yeast and scene: NEO has the highest F1", judges.neo_is_first, ["overlap"]),
    Claim(
        "Yeast and scene: RTKM has the second highest F1, slightly lower than NEO's",
        judges.rtkm_is_second,
        ["overlap"],
    ),
    Claim(
        "KMOR equals RTKM on scene and is not competitive on yeast",
        judges.kmor_on_both,
        ["overlap"],
    ),
    Claim(
        "The optimal number of memberships is the cardinality, rounded down",
        judges.floor_of_cardinality,
        ["overlap"],
    ),
    Claim(
        "RTKM finds at least the outliers and memberships it is asked for",
        judges.at_least_as_asked,
        ["wbc", "shuttle", "yeast_noise", "overlap"],
    ),
    Claim(
        "Yeast and noise: about 10 % of the rows are outliers",
        judges.a_tenth_is_noise,
        ["outlier_maps"],
    ),
    of_curves(
        "Yeast and noise: RTKM has the best F1 and the lowest M_e at every share",
        judges.best_on_noise,
        "yeast_noise",
    ),
    of_curves(
        "Yeast and noise: KMOR with gamma = 9 finds no outlier",
        judges.gamma_nine_is_blind,
        "yeast_noise",
    ),
    of_curves(
        "The gamma of KMOR can drastically change its results",
        judges.gamma_matters,
        "yeast_noise",
    ),
    of_curves(
        "Yeast and noise: KMOR and NEO sometimes have almost as low an M_e (above a "
        "share of .10, says the text, where the figure ends)",
        judges.sometimes_almost_as_low,
        "yeast_noise",
    ),
    of_curves(
        "Yeast and noise: on average only RTKM finds any of the outliers",
        judges.only_rtkm_finds_any,
        "yeast_noise",
    ),
    of_curves(
        "Yeast and noise: from one start RTKM finds all outliers, NEO and KMOR none",
        judges.a_start_with_rtkm_alone,
        "yeast_noise",
    ),
    Claim(
        "Trimmed k-means cannot improve a poor result",
        judges.trimming_alone_is_poor,
        ["shuttle", "yeast_noise"],
    ),
    Claim(
        "The relaxation avoids rushing into poor minima",
        judges.relaxation_avoids_poor_minima,
        ["shuttle", "yeast_noise"],
    ),
    Claim(
        "The proximal iteration converges",
        judges.iteration_converges,
        ["wbc", "shuttle", "overlap", "yeast_noise"],
    ),
]


def judge(cells: Cells) -> list[Verdict]:
    """Return a verdict on every claim whose experiments are there."""
    there = {key.split("/")[0] for key in cells}
    return [
        Verdict(claim.text, *claim.decide(cells))
        for claim in CLAIMS
        if there.issuperset(claim.needs)
    ]
