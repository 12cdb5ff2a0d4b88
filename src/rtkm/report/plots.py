"""What the report draws: points along two directions, histograms, sorted scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.decomposition import PCA

from rtkm.report.findings import (
    Direction,
    Distributions,
    Histogram,
    Loading,
    Number,
    Scatter,
    SortedScores,
    finite,
    finite_list,
)
from rtkm.report.table_results import Floats, Places, RowNames, TableResults

MOST_POINTS = 5000
MOST_OUTLYING_POINTS = 1000
MOST_ROWS_FOR_DIRECTIONS = 20_000
MOST_BINS = 40
N_BINS = 30
N_LOADINGS = 3
N_TOP_SCORES, N_OTHER_SCORES = 100, 200
LARGEST = float(np.finfo(np.float64).max)
# rows beyond so many interquartile ranges, but for one in a hundred at either end, are
# counted and not drawn
FAR = 3.0


# Points


def scatter(answers: TableResults) -> Scatter | None:
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


def centers(answers: TableResults, plane: PCA) -> list[list[Number]]:
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


def chosen_points(
    answers: TableResults, inside: Places, rng: np.random.Generator
) -> Places:
    """Return the rows to draw: the farthest outliers, and a sample of the others."""
    if len(answers.labels) <= MOST_POINTS:
        return np.arange(len(answers.labels))
    outlying = answers.farthest(MOST_OUTLYING_POINTS)
    others = sample(inside, MOST_POINTS - len(outlying), rng)
    return np.sort(np.concatenate([others, outlying]))


def directions(plane: PCA, features: list[str]) -> list[Direction]:
    """Return what the axes are made of."""
    found: list[Direction] = []
    for share, weights in zip(
        plane.explained_variance_ratio_, plane.components_, strict=True
    ):
        top = np.argsort(-np.abs(weights), kind="stable")[:N_LOADINGS]
        loadings: list[Loading] = [
            {"feature": features[j], "weight": round(float(weights[j]), 4)}
            for j in top.tolist()
            if abs(weights[j]) > 0.01
        ]
        found.append({"share": finite(share), "loadings": loadings})
    return found


def short(numbers: Floats) -> list[Number]:
    """Return numbers with the digits that a drawing shows."""
    return [finite(float(f"{number:.5g}")) for number in numbers.tolist()]


# Histograms


def distributions(
    answers: TableResults, members: list[Places], shown: Sequence[str]
) -> Distributions:
    """Return histograms of some features by cluster."""
    features = answers.prepared.preparation.columns
    groups = dict(enumerate(members)) | {-1: np.flatnonzero(answers.outliers)}
    places = sorted(features.index(name) for name in shown)
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
    edges = find_edges(values[~answers.outliers])
    return {
        "feature": preparation.columns[j],
        "edges": finite_list(edges),
        "counts": {
            str(label): np.histogram(values[rows], edges)[0].tolist()
            for label, rows in groups.items()
        },
        "beyond": {
            "low": int((values < edges[0]).sum()),
            "high": int((values > edges[-1]).sum()),
        },
    }


def find_edges(values: Floats, most: float = LARGEST) -> Floats:
    """Return the edges of bins: around whole numbers if there are few of them.

    No edge is beyond `most`, either way.
    """
    if not len(values):
        return np.array([0.0, 1.0])
    if np.abs(values).max() > LARGEST / 8:  # what is added up must be finite
        return 8 * find_edges(values / 8, LARGEST / 8)
    low, high = limits(values)
    if high - low < MOST_BINS and are_whole(values):
        return np.arange(np.round(low), np.round(high) + 2) - 0.5
    if not low < high:
        half = 0.5 + abs(low) / 2
        low, high = max(low - half, -most), min(high + half, most)
    return np.linspace(low, high, N_BINS + 1)


def limits(values: Floats) -> tuple[float, float]:
    """Return the ends of a histogram, which few values far away do not widen."""
    first, lower, upper, last = np.percentile(values, [1, 25, 75, 99]).tolist()
    reach = FAR * (upper - lower)
    low = max(float(values.min()), min(lower - reach, first))
    high = min(float(values.max()), max(upper + reach, last))
    return low, high


def are_whole(values: Floats) -> bool:
    """Whether values are whole numbers, but for the rounding of scaling to and fro."""
    rounded = np.round(values)
    near = np.abs(values - rounded) < 1e-9
    return bool((near & (np.abs(values) < 2**31)).all())


# Scores


def sorted_scores(answers: TableResults) -> SortedScores | None:
    """Return scores from the largest to the smallest: all at the top, few below."""
    scored = np.flatnonzero(np.isfinite(answers.scores))
    if not len(scored) or np.ptp(answers.scores[scored]) == 0:
        return None
    order = scored[np.argsort(-answers.scores[scored], kind="stable")]
    ranks = drawn_ranks(len(order))
    rows = order[ranks - 1]
    far = getattr(answers.model, "standing_out_mask_", None)
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
