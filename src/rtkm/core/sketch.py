"""A few rows of a fit as points of a picture, which a notebook shows of a model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rtkm.core.table import Table

MOST_POINTS = 2000
MOST_OUTLIERS = 400
# of wide tables fewer rows are drawn, and fewer still say where rows spread
MOST_NUMBERS = 200_000
MOST_NUMBERS_FOR_SPREAD = 40_000
FEWEST_POINTS = 100
MOST_CENTERS = 100  # that choose the directions
NARROW = 64  # features whose scatter is decomposed at once
N_POWER_STEPS = 8
# part of the golden ratio: its multiples are spread evenly, and share no period with
# rows that come in a rhythm, as those of every k-th row would
GOLDEN = (5**0.5 - 1) / 2

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


class Sketch(NamedTuple):
    """Rows as points: ``origin + unit * points`` are places along the directions.

    Attributes
    ----------
    points : ndarray of shape (n_points, 1 or 2)
        The rows, in float32.
    labels : ndarray of shape (n_points,)
        Cluster of each, -1 for outliers; a detector has 0 for all others.
    centers : ndarray of shape (n_clusters, 1 or 2)
        The centers, as the points.
    origin : ndarray of shape (1 or 2,)
        What is added to points.
    unit : float
        What they are multiplied with before.
    has_features : bool
        Whether the directions are the features, of which there are one or two.
    """

    points: NDArray[np.float32]
    labels: NDArray[np.int32]
    centers: NDArray[np.float32]
    origin: Floats
    unit: float
    has_features: bool

    def places(self, points: NDArray[np.float32]) -> Floats:
        """Return where points, or centers, lie along the directions."""
        return self.origin + self.unit * points.astype(np.float64)


def sketch_of(
    X: Table, outliers: NDArray[np.bool_], labels: NDArray[Any], C: NDArray[Any]
) -> Sketch:
    """Return a sample of the rows, in the directions that tell centers apart best.

    Parameters
    ----------
    X : Table
        The rows; their weights do not matter.
    outliers : ndarray of shape (n_rows,)
        Which of them are outliers.
    labels : ndarray of shape (n_rows,)
        The cluster of each row.
    C : ndarray of shape (n_clusters, n_features)
        The centers; none of a detector.
    """
    places = chosen_rows(X, outliers, n_points_of(X))
    rows, told = X.part(places).X, labels[places]
    is_csr = sparse.issparse(rows)
    # near the rows, so that differences keep their digits; CSR rows are near 0
    origin = np.zeros(X.n_features) if is_csr else middle_of(C if len(C) else rows)
    if not is_csr:
        rows = rows - origin
    centers = C - origin
    directions = np.eye(X.n_features)
    if X.n_features > 2:
        directions = find_directions(rows, told, centers)
    points, marks = rows @ directions, centers @ directions
    unit = largest_power(points, marks)
    return Sketch(
        (points / unit).astype(np.float32),
        told.astype(np.int32),
        (marks / unit).astype(np.float32),
        origin if X.n_features <= 2 else np.zeros(2),
        unit,
        X.n_features <= 2,
    )


def n_points_of(X: Table) -> int:
    """Return how many rows are drawn: fewer of wide tables, for the sake of time."""
    return max(FEWEST_POINTS, min(MOST_POINTS, MOST_NUMBERS // X.n_features))


def chosen_rows(X: Table, outliers: NDArray[np.bool_], most: int) -> Places:
    """Return an even sample of the rows, and one of the outliers among them."""
    n = len(outliers)
    if n <= most:
        return np.arange(n)
    n_beyond = most * MOST_OUTLIERS // MOST_POINTS
    beyond = X.true_rows(outliers, lambda n_rows: spread_evenly(n_rows, n_beyond))
    inside = spread_evenly(n, most - len(beyond))
    return np.concatenate([inside[~outliers[inside]], beyond])


def spread_evenly(n: int, most: int) -> Places:
    """Return so many places, or all of fewer."""
    if n <= most:
        return np.arange(n)
    return np.unique((np.arange(1, most + 1) * GOLDEN % 1.0 * n).astype(np.intp))


def middle_of(rows: NDArray[Any]) -> Floats:
    """Return the middle of the range of each column."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    return low / 2.0 + high / 2.0


def largest_power(*places: Floats) -> float:
    """Return the power of two next to the largest number, which rounds nothing."""
    largest = max(float(np.abs(some).max(initial=0.0)) for some in places)
    return float(np.ldexp(1.0, int(np.frexp(largest)[1]) - 1)) if largest > 0 else 1.0


def find_directions(rows: Any, labels: NDArray[Any], C: Floats) -> Floats:
    """Return two directions, (d, 2): those of the centers, then those of the rows."""
    kept = labels >= 0
    directions = main_directions(C, np.bincount(labels[kept], minlength=len(C)))
    if len(directions) == 2:
        return directions.T
    some = np.flatnonzero(kept)
    n_looked_at = max(2, MOST_NUMBERS_FOR_SPREAD // rows.shape[1])
    some = some[spread_evenly(len(some), n_looked_at)]
    rows, labels = rows[some], labels[some]
    means = C if len(C) else np.asarray(rows.mean(axis=0)).reshape(1, -1)
    if rows.shape[1] <= NARROW:  # so few numbers are dense in no time
        dense = rows.toarray() if sparse.issparse(rows) else rows
        axes = main_axes(dense - means[labels], directions)
        directions = np.vstack([directions, axes])
    while len(directions) < 2:
        widest = widest_direction(rows, labels, means, directions)
        directions = np.vstack([directions, widest])
    return directions.T


def main_directions(C: Floats, sizes: NDArray[Any]) -> Floats:
    """Return up to two directions in which centers lie apart, (0 to 2, d)."""
    if len(C) > MOST_CENTERS:
        largest = np.argsort(-sizes, kind="stable")[:MOST_CENTERS]
        C, sizes = C[largest], sizes[largest]
    if len(C) < 2:
        return np.empty((0, C.shape[1]))
    # a cluster of few rows far out must not choose alone
    weights = np.sqrt(np.maximum(sizes, 1))[:, None]
    away = weights * (C - (weights**2 * C).sum(axis=0) / (weights**2).sum())
    away /= largest_power(away)
    squares, own = np.linalg.eigh(away @ away.T)
    found = squares[::-1][:2] > 1e-9 * squares[-1]
    directions = (own[:, ::-1][:, :2].T @ away)[found]
    # of centers that are all the same there are none
    units = [unit_vector(direction) for direction in directions]
    return np.array(units).reshape(-1, C.shape[1])


def main_axes(away: Floats, known: Floats) -> Floats:
    """Return where rows spread most at right angles to others, two with those.

    There are none if the rows sit on their centers.
    """
    away = away / largest_power(away)  # or squares of tiny numbers would vanish
    away -= (away @ known.T) @ known
    if not away.any():
        return known[:0]
    axes = np.linalg.eigh(away.T @ away)[1][:, ::-1].T
    units = [unit_vector(axis) for axis in axes[: 2 - len(known)]]
    return np.array(units).reshape(-1, away.shape[1])


def widest_direction(
    rows: Any, labels: NDArray[Any], means: Floats, known: Floats
) -> Floats:
    """Return where rows spread most about their centers, at right angles to others.

    It is found by power iterations, from a start that is always the same, and never
    takes the centers from the rows, which may be sparse.
    """
    direction = start = np.cos(np.arange(rows.shape[1]))  # no axis, no mean of all
    for _ in range(N_POWER_STEPS):
        direction = unit_vector(direction - known.T @ (known @ direction))
        away = rows @ direction - (means @ direction)[labels]
        away /= largest_power(away)  # or squares of tiny numbers would vanish
        sums = np.bincount(labels, away, minlength=len(means))
        direction = rows.T @ away - means.T @ sums
    left = direction - known.T @ (known @ direction)
    if not np.abs(left).max(initial=0.0) > 0:  # rows sit on their centers
        left = start - known.T @ (known @ start)
    return unit_vector(left)


def unit_vector(direction: Floats) -> Floats:
    """Return a direction of length 1, its largest part positive."""
    largest = int(np.abs(direction).argmax())
    if direction[largest] == 0:
        return direction
    direction = direction / direction[largest]
    return direction / np.linalg.norm(direction)
