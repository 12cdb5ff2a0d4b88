"""What the report draws: rows along two directions, histograms, sorted scores."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from sklearn.decomposition import PCA

from rtkm.report.extents import LARGEST, bins_of, ends_of, extent_of
from rtkm.report.findings import (
    Beyond,
    Direction,
    Distributions,
    Extent,
    Histogram,
    Loading,
    Number,
    Scatter,
    SortedScores,
    finite,
    finite_list,
)
from rtkm.report.table_results import Floats, Places, RowNames, TableResults
from rtkm.tables.fitted_preparation import Preparation

MOST_POINTS = 5000
MOST_OUTLYING_POINTS = 1000
N_FARTHEST = 20  # outliers that are drawn, whichever others are
MOST_FOR_DIRECTIONS = 20_000
N_LOADINGS = 3
N_TOP_SCORES, N_OTHER_SCORES = 100, 200
DIGITS = 5  # that tell places in a picture apart


# Points


def scatter(answers: TableResults) -> Scatter | None:
    """Return the rows by one or two features, or along two principal directions.

    The directions are those of the rows that are no outliers, so that outliers do not
    choose them; of a sample, where there are very many.
    """
    rng = np.random.default_rng(0)
    inside = np.flatnonzero(~answers.outliers)
    if len(inside) < 2:
        return None
    told, rows, centers = in_plane(answers, sample(inside, MOST_FOR_DIRECTIONS, rng))
    # that of a single feature is shared with the histogram above the rows
    is_single = rows.shape[1] == 1
    axes = [bins_of(line)[0] if is_single else extent_of(line) for line in rows.T]
    places = chosen_points(answers, inside, rng)
    names = RowNames(answers.prepared)
    has_ids = answers.prepared.ids is not None
    x, y = on_axes(rows[places], axes)
    return {
        "directions": told,
        "axes": axes,
        "beyond": [beyond(line, axis) for line, axis in zip(rows.T, axes, strict=True)],
        "n_rows": len(rows),
        "points": {
            "x": x,
            "y": y,
            "label": answers.labels[places].tolist(),
            "row": [names.number(place) for place in places.tolist()],
            "id": [names.id(place) for place in places.tolist()] if has_ids else None,
        },
        "centers": [list(place) for place in zip(*on_axes(centers, axes), strict=True)],
    }


def in_plane(
    answers: TableResults, some: Places
) -> tuple[list[Direction], Floats, Floats]:
    """Return the directions, and where all rows and the centers lie along them."""
    X, preparation = answers.prepared.X, answers.prepared.preparation
    C = answers.model.cluster_centers_ if answers.n_clusters else X[:1]
    if X.shape[1] <= 2:  # features are drawn as they are, in their own units
        told = directions(shares_of(X[some]), np.eye(X.shape[1]), preparation.columns)
        for direction, name in zip(told, preparation.columns, strict=True):
            direction["feature"] = name
        rows, centers = in_own_units(preparation, X), in_own_units(preparation, C)
    else:
        plane = PCA(min(2, len(some)), random_state=0)
        with np.errstate(divide="ignore", invalid="ignore"):  # rows may be all the same
            plane.fit(X[some])
        shares, parts = plane.explained_variance_ratio_, plane.components_
        told = directions(shares, parts, preparation.columns)
        rows, centers = plane.transform(X), plane.transform(C)
    return told, rows, centers[: answers.n_clusters]


def shares_of(X: Floats) -> Floats:
    """Return the share of each feature in the variance of all of them."""
    size = np.abs(X).max()
    variances = np.var(X / size if size > 0 else X, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):  # rows may be all the same
        shares: Floats = variances / variances.sum()
    return shares


def in_own_units(preparation: Preparation, X: Floats) -> Floats:
    """Return rows in the units of the data."""
    with np.errstate(over="ignore"):  # scaling to and fro may round up the largest
        return np.clip(preparation.in_data_units(X), -LARGEST, LARGEST)


def on_axes(rows: Floats, axes: list[Extent]) -> tuple[list[Number], list[Number]]:
    """Return places along both axes, 0 where there is no second one."""
    first, *second = (
        short(line, axis) for line, axis in zip(rows.T, axes, strict=True)
    )
    return first, second[0] if second else [0.0] * len(rows)


def sample(places: Places, most: int, rng: np.random.Generator) -> Places:
    """Return some of the places, in order, or all if there are not many."""
    if len(places) <= most:
        return places
    return np.sort(rng.choice(places, most, replace=False))


def chosen_points(
    answers: TableResults, inside: Places, rng: np.random.Generator
) -> Places:
    """Return the rows to draw: a sample of the outliers, and one of the others.

    The farthest outliers alone would leave a gap between them and the clusters.
    """
    if len(answers.labels) <= MOST_POINTS:
        return np.arange(len(answers.labels))
    outlying = sample(np.flatnonzero(answers.outliers), MOST_OUTLYING_POINTS, rng)
    # those that are told of first can be seen, too
    outlying = np.union1d(outlying, answers.farthest(N_FARTHEST))
    others = sample(inside, MOST_POINTS - len(outlying), rng)
    return np.sort(np.concatenate([others, outlying]))


def directions(
    shares: Floats, parts: Floats, features: Sequence[str]
) -> list[Direction]:
    """Return what the axes are made of."""
    found: list[Direction] = []
    for share, weights in zip(shares, parts, strict=True):
        top = np.argsort(-np.abs(weights), kind="stable")[:N_LOADINGS]
        loadings: list[Loading] = [
            {"feature": features[j], "weight": round(float(weights[j]), 4)}
            for j in top.tolist()
            if abs(weights[j]) > 0.01
        ]
        found.append({"feature": None, "share": finite(share), "loadings": loadings})
    return found


def beyond(values: Floats, axis: Extent) -> Beyond:
    """Count the rows that an axis does not reach."""
    low, high, *_ = ends_of(axis)
    return {"low": int((values < low).sum()), "high": int((values > high).sum())}


def short(numbers: Floats, axis: Extent) -> list[Number]:
    """Return numbers with the digits that a drawing shows."""
    *_, plain_low, plain_high = ends_of(axis)
    width = plain_high / 2 - plain_low / 2
    size = max(abs(plain_low), abs(plain_high)) / 2
    lost = max(0, math.ceil(math.log10(size / width))) if width > 0 else 0
    digits = min(DIGITS + lost, 17)
    return [finite(float(f"{number:.{digits}g}")) for number in numbers.tolist()]


# Histograms


def distributions(
    answers: TableResults, members: list[Places], shown: Sequence[str]
) -> Distributions:
    """Return histograms of some features by cluster, in the order given."""
    features = answers.prepared.preparation.columns
    groups = dict(enumerate(members)) | {-1: np.flatnonzero(answers.outliers)}
    places = [features.index(name) for name in shown]
    return {
        "n_features": len(features),
        "features": [histogram(answers, j, groups) for j in places],
    }


def histogram(answers: TableResults, j: int, groups: dict[int, Places]) -> Histogram:
    """Count the rows of each cluster by their values of a feature."""
    preparation = answers.prepared.preparation
    with np.errstate(over="ignore"):  # scaling to and fro may round up the largest
        values = preparation.in_data_units(answers.prepared.X[:, j], j)
        values = np.clip(values, -LARGEST, LARGEST)
    axis, edges = bins_of(values)
    return {
        "feature": preparation.columns[j],
        "axis": axis,
        "edges": finite_list(edges),
        "counts": {
            str(label): np.histogram(values[rows], edges)[0].tolist()
            for label, rows in groups.items()
        },
        "beyond": beyond(values, axis),
    }


# Scores


def sorted_scores(answers: TableResults) -> SortedScores | None:
    """Return scores from the largest to the smallest: all at the top, few below."""
    scored = np.flatnonzero(np.isfinite(answers.scores))
    if not len(scored) or np.ptp(answers.scores[scored]) == 0:
        return None
    order = scored[np.argsort(-answers.scores[scored], kind="stable")]
    ranks = drawn_ranks(len(order))
    rows = order[ranks - 1]
    far = answers.standing_out
    return {
        "n_rows": len(order),
        "rank": ranks.tolist(),
        "score": answers.scores[rows].astype(float).tolist(),
        "outlier": answers.outliers[rows].tolist(),
        "stands_out": None if far is None else far[rows].tolist(),
    }


def drawn_ranks(n_rows: int) -> Places:
    """Return the first ranks, and of the others some, evenly on a logarithmic axis."""
    top = np.arange(1, min(n_rows, N_TOP_SCORES) + 1)
    if n_rows <= N_TOP_SCORES:
        return top
    others = np.geomspace(N_TOP_SCORES + 1, n_rows, N_OTHER_SCORES).round()
    return np.r_[top, np.unique(others.astype(np.intp))]
