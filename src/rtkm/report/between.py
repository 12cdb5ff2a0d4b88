"""Inliers that may as well be in another cluster: which, and how likely that is."""

from __future__ import annotations

import numpy as np

from rtkm.clusterers._confidence import DOUBTFUL, confidence_of
from rtkm.report.findings import Between, RowBetween, finite
from rtkm.report.table_results import Places, RowNames, TableResults

MOST_LISTED = 1000


def doubtful_places(answers: TableResults) -> Places:
    """Return where the inliers are that may as well be in another cluster."""
    if answers.ranks is None:
        return np.empty(0, dtype=np.intp)
    return np.flatnonzero((answers.ranks == DOUBTFUL) & ~answers.outliers)


def n_doubtful(answers: TableResults) -> int:
    """Return how many of them there are."""
    return len(doubtful_places(answers))


def between(answers: TableResults) -> Between | None:
    """Return the most doubtful of them, with both answers; None if there is none."""
    places = doubtful_places(answers)
    if not len(places):
        return None
    found = answers.model._results(answers.prepared.X[places])
    likely = np.exp(confidence_of(found).factors)
    # inliers at the very cut are doubted as inliers, not in their cluster
    likely[found.outliers] = np.nan
    told = likely[~found.outliers]
    order = np.argsort(-np.nan_to_num(likely), kind="stable")[:MOST_LISTED]
    return {
        "times_as_likely": finite(np.median(told)) if len(told) else None,
        "rows": describe(answers, places[order]),
    }


def describe(answers: TableResults, places: Places) -> list[RowBetween]:
    """Return both answers for some rows, and how they compare."""
    found = answers.model._results(answers.prepared.X[places])
    names = RowNames(answers.prepared)
    likely = np.exp(confidence_of(found).factors)
    own, second = found.chosen.sets, found.rule.second_best(found)
    far = found.rule.times_as_far(found)
    return [
        {
            "row": names.number(place),
            "id": names.id(place),
            "clusters": np.flatnonzero(own[i]).tolist(),
            "second": np.flatnonzero(second[i]).tolist(),
            "times_as_likely": finite(likely[i]),
            "times_as_far": finite(far[i]),
        }
        for i, place in enumerate(places.tolist())
        if not found.outliers[i]
    ]
