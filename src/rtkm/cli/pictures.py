"""What the report draws: points along two directions, and histograms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from rtkm.cli.answers import Answers, Floats, Places, RowNames

MOST_POINTS = 5000
MOST_OUTLYING_POINTS = 1000
MOST_ROWS_FOR_DIRECTIONS = 20_000
MOST_BINS = 40
N_BINS = 30
N_LOADINGS = 3
# rows beyond so many interquartile ranges, but for one in a hundred at either end, are
# counted and not drawn
FAR = 3.0


# Points


def scatter(answers: Answers) -> dict[str, Any] | None:
    """Return rows along the two directions in which those inside differ most.

    The directions are the principal ones of the rows that are no outliers, so that
    outliers do not choose them; of a sample, where there are very many.
    """
    X, rng = answers.prepared.X, np.random.default_rng(0)
    inside = np.flatnonzero(~answers.outliers)
    if len(inside) < 2:
        return None
    plane = PCA(min(2, X.shape[1], len(inside)), random_state=0)
    with np.errstate(divide="ignore", invalid="ignore"):  # rows that are all the same
        plane.fit(X[sample(inside, MOST_ROWS_FOR_DIRECTIONS, rng)])
    places = chosen_points(answers, inside, rng)
    points = plane.transform(X[places])
    names = RowNames(answers.prepared)
    has_ids = answers.prepared.ids is not None
    return {
        "directions": directions(plane, list(answers.prepared.preparation.columns)),
        "n_rows": len(X),
        "points": {
            "x": short(points[:, 0]),
            "y": short(points[:, 1] if points.shape[1] > 1 else 0 * points[:, 0]),
            "label": answers.labels[places].tolist(),
            "row": [names.number(place) for place in places.tolist()],
            "id": [names.id(place) for place in places.tolist()] if has_ids else None,
        },
        "centers": centers(answers, plane),
    }


def centers(answers: Answers, plane: PCA) -> list[list[float]]:
    """Return where the centers are in the picture."""
    if not answers.n_clusters:
        return []
    points = plane.transform(answers.model.cluster_centers_)
    return [short(np.append(point, 0.0)[:2]) for point in points]


def sample(places: Places, most: int, rng: np.random.Generator) -> Places:
    """Return some of the places, in order, or all if there are not many."""
    if len(places) <= most:
        return places
    return np.sort(rng.choice(places, most, replace=False))


def chosen_points(answers: Answers, inside: Places, rng: np.random.Generator) -> Places:
    """Return the rows to draw: the farthest outliers, and a sample of the others."""
    if len(answers.labels) <= MOST_POINTS:
        return np.arange(len(answers.labels))
    outlying = answers.farthest(MOST_OUTLYING_POINTS)
    others = sample(inside, MOST_POINTS - len(outlying), rng)
    return np.sort(np.concatenate([others, outlying]))


def directions(plane: PCA, features: list[str]) -> list[dict[str, Any]]:
    """Return what the axes are made of."""
    found = []
    for share, weights in zip(
        plane.explained_variance_ratio_, plane.components_, strict=True
    ):
        top = np.argsort(-np.abs(weights), kind="stable")[:N_LOADINGS]
        loadings = [
            {"feature": features[j], "weight": round(float(weights[j]), 4)}
            for j in top.tolist()
            if abs(weights[j]) > 0.01
        ]
        found.append({"share": float(share), "loadings": loadings})
    return found


def short(numbers: Floats) -> list[float]:
    """Return numbers with the digits that a drawing shows."""
    return [float(f"{number:.5g}") for number in numbers.tolist()]


# Histograms


def distributions(
    answers: Answers, members: list[Places], shown: Sequence[str]
) -> dict[str, Any]:
    """Return histograms of some features by cluster."""
    features = answers.prepared.preparation.columns
    groups = dict(enumerate(members)) | {-1: np.flatnonzero(answers.outliers)}
    places = sorted(features.index(name) for name in shown)
    return {
        "n_features": len(features),
        "features": [histogram(answers, j, groups) for j in places],
    }


def histogram(answers: Answers, j: int, groups: dict[int, Places]) -> dict[str, Any]:
    """Count the rows of each cluster by their values of a feature."""
    preparation = answers.prepared.preparation
    values = answers.prepared.X[:, j] * preparation.spread[j] + preparation.center[j]
    edges = find_edges(values[~answers.outliers])
    return {
        "feature": preparation.columns[j],
        "edges": edges.tolist(),
        "counts": {
            str(label): np.histogram(values[rows], edges)[0].tolist()
            for label, rows in groups.items()
        },
        "beyond": {
            "low": int((values < edges[0]).sum()),
            "high": int((values > edges[-1]).sum()),
        },
    }


def find_edges(values: Floats) -> Floats:
    """Return the edges of bins: around whole numbers if there are few of them."""
    if not len(values):
        return np.array([0.0, 1.0])
    low, high = limits(values)
    if high - low < MOST_BINS and are_whole(values):
        return np.arange(np.round(low), np.round(high) + 2) - 0.5
    if not low < high:
        half = 0.5 + abs(low) / 2
        low, high = low - half, high + half
    return np.linspace(low, high, N_BINS + 1)


def limits(values: Floats) -> tuple[float, float]:
    """Return the ends of a histogram, which few values far away do not widen."""
    first, lower, upper, last = np.percentile(values, [1, 25, 75, 99])
    reach = FAR * (upper - lower)
    low = max(values.min(), min(lower - reach, first))
    high = min(values.max(), max(upper + reach, last))
    return float(low), float(high)


def are_whole(values: Floats) -> bool:
    """Whether values are whole numbers, but for the rounding of scaling to and fro."""
    rounded = np.round(values)
    near = np.abs(values - rounded) < 1e-9
    return bool((near & (np.abs(values) < 2**31)).all())
