"""Which rows are outliers: those farther out than the shape of their cluster explains.

As in reweighting after the MCD (P. J. Rousseeuw, K. Van Driessen, Technometrics 41
(1999), 212-223), rows are judged by the distribution that the inner ones show. The cut
is that of Benjamini and Hochberg, with the share of outliers estimated as by J. D.
Storey (Journal of the Royal Statistical Society B 64 (2002), 479-498).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rtkm.choosing.choice import FittedTail
from rtkm.choosing.fits import trimmed_fit
from rtkm.choosing.tails import (
    HIGH,
    LOW,
    MIDDLE,
    Inner,
    Tail,
    benjamini_hochberg,
    fit_heavy,
    fit_light,
)
from rtkm.core.columns import rowwise
from rtkm.core.states import blocks_of
from rtkm.core.table import Table, cut_of

# rounds in which the share of outliers and the tail are found from one another
MAX_ROUNDS = 12
# heavy tails explain the outliers if they leave less than this share of them
EXPLAINED = 0.25
# rows for each column that a cluster needs to have a shape of its own
ROWS_PER_COLUMN = 20
# largest over smallest variance from which a cluster is long, and up to which it is
# not looked at further
LONG, ROUND = 4.0, 2.0
# share of the rows of a cluster, its innermost, that its shape is taken from
SHAPE_SHARE = 0.75
# rows that a shape, and the dimension, are estimated from at most
SHAPE_ROWS, DIMENSION_ROWS = 5000, 500
# rows that the tail is fitted to at most and at least, and at most at the end of a fit
TAIL_ROWS, LEAST_ROWS, CUT_ROWS = 20_000, 20, 5000


class Shape(NamedTuple):
    """Mean and inverse root of the covariance of a long cluster."""

    mean: NDArray[np.float64]
    root: NDArray[np.float64]

    def scores(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        """Return squared Mahalanobis distances."""
        scores: NDArray[np.float64] = np.square((rows - self.mean) @ self.root).sum(1)
        return scores


class Scores(NamedTuple):
    """How far out each row is, in units of the middle of its cluster, its scale."""

    labels: NDArray[np.int32]
    values: NDArray[np.float64]
    scales: NDArray[np.float64]


class Scored(NamedTuple):
    """Rows scored by centers, which may have moved, and the dimension of clusters."""

    C: NDArray[Any]
    scores: Scores
    dimension: float


# scores rows anew by centers and a share of outliers
Scoring = Callable[[NDArray[Any], float], Scored]


class Flags(NamedTuple):
    """Rows beyond a fitted tail."""

    mass: float  # of the rows that are flagged
    limit: float  # the largest p-value that is flagged, -1 if none is
    path: tuple[float, ...]  # how the share of outliers settled
    tail: Tail | None  # none where the scores have no spread
    C: NDArray[Any]
    scales: NDArray[np.float64]

    @property
    def share(self) -> float:
        """The share of outliers."""
        return self.path[-1]


class Outliers(NamedTuple):
    """The flags that count, and whether tails are heavy."""

    flags: Flags
    heavy_tails: bool
    shapes: dict[int, Shape]

    @property
    def fit_tail(self) -> Callable[[Inner], Tail]:
        """How the tail was fitted."""
        return fit_heavy if self.heavy_tails else fit_light


def choose_outliers(
    Y: Table, C: NDArray[Any], false_alarms: float, start: float
) -> Outliers:
    """Flag what is beyond light tails, but nothing that heavy tails explain."""
    shapes = find_shapes(Y, C)
    flags, is_heavy = light_or_heavy(Y, C, refitting(Y, shapes), start, false_alarms)
    return Outliers(flags, is_heavy, shapes)


def refitting(X: Table, shapes: dict[int, Shape]) -> Scoring:
    """Return a scoring by centers that are fitted anew to what is kept."""

    def score(C: NDArray[Any], share: float) -> Scored:
        state = trimmed_fit(X, C, share * X.mass)
        scores = score_rows(X, state.C, shapes, 1 - share)
        dimension = effective_dimension(X, state.C, shapes, scores, state.v)
        return Scored(state.C, scores, dimension)

    return score


def light_or_heavy(
    X: Table,
    C: NDArray[Any],
    score: Scoring,
    start: float,
    false_alarms: float,
) -> tuple[Flags, bool]:
    """Flag rows beyond light tails, or heavy ones where these explain most of them."""
    light = flag_rows(X, C, score, fit_light, start, false_alarms)
    if not light.mass:
        return light, False
    heavy = flag_rows(X, light.C, score, fit_heavy, light.share, false_alarms)
    is_heavy = heavy.mass < EXPLAINED * light.mass
    return (heavy, True) if is_heavy else (light, False)


def flag_rows(
    X: Table,
    C: NDArray[Any],
    score: Scoring,
    fit_tail: Callable[[Inner], Tail],
    start: float,
    false_alarms: float,
) -> Flags:
    """Find the share of outliers and the tail of the others from one another."""
    share, path = start, [start]
    mass, limit, tail = 0.0, -1.0, None
    for _ in range(MAX_ROUNDS):
        C, scores, dimension = score(C, share)
        inner = inner_scores(X, scores, dimension, 1 - share)
        if inner is None:
            return Flags(0.0, -1.0, (*path, 0.0), None, C, scores.scales)
        tail = fit_tail(inner)
        mass, limit = count_flags(X, tail, scores, false_alarms)
        # as many flags as a clean table would have are no outliers
        by_chance = max(limit, 0.0)
        share = max(0.0, (mass / X.mass - by_chance) / (1 - by_chance))
        path.append(share)
        if abs(share - path[-2]) * X.mass < 1:
            break
    return Flags(mass, limit, tuple(path), tail, C, scores.scales)


def count_flags(
    X: Table, tail: Tail, scores: Scores, false_alarms: float
) -> tuple[float, float]:
    """Return the mass of the flagged rows, and the largest p-value among them."""
    # no other row has a p-value small enough
    is_far = X.counts & (scores.values >= tail.score_at(false_alarms))
    p = rowwise(p_values, scores.values, is_far, tail=tail)
    limit = benjamini_hochberg(p, X.total, X.mass, false_alarms, X.counts)
    return X.total(p <= limit), limit


def p_values(
    scores: NDArray[np.float64], is_far: NDArray[np.bool_], *, tail: Tail
) -> NDArray[np.float64]:
    """Return the chances of rows to be as far out; of those not far infinity."""
    p = np.full(len(scores), np.inf)
    p[is_far] = tail.beyond(scores[is_far])
    return p


def flags_of_all(X: Table, found: Outliers, false_alarms: float) -> Flags:
    """Count the rows of a table that are flagged by what a sample of it showed."""
    flags = found.flags
    if flags.tail is None:
        return flags
    scores = score_rows(X, flags.C, found.shapes, 1 - flags.share, flags.scales)
    mass, limit = count_flags(X, flags.tail, scores, false_alarms)
    return flags._replace(mass=mass, limit=limit)


def score_rows(
    X: Table,
    C: NDArray[Any],
    shapes: dict[int, Shape],
    inner: float,
    scales: NDArray[np.float64] | None = None,
) -> Scores:
    """Score every row by the cluster that explains it best.

    That is the one in whose scale it is nearest: rows of a wide cluster may be nearer
    to the center of a narrow one, and yet be none of its outliers. The scales are
    given, or are those of the inner rows among the nearest to each center.
    """
    if scales is None:
        nearest = X.nearest(C, 1)
        labels = nearest.labels[:, 0]
        costs = nearest.cost.copy()
        for j, shape in shapes.items():
            for some, _ in blocks_of(np.flatnonzero(labels == j)):
                costs[some] = shape.scores(X.rows(some))
        scales = SortedCosts(X, labels, costs, len(C)).scales(inner)
    best, values = X.each_row(best_scores, C, shapes, scales)
    return Scores(best, values, scales)


def best_scores(
    X: Table, C: NDArray[Any], shapes: dict[int, Shape], scales: NDArray[np.float64]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the cluster that explains each row best, and how well."""
    best = np.empty(X.n_rows, np.int32)
    values = np.empty(X.n_rows)
    for rows, _ in blocks_of(np.arange(X.n_rows)):
        part = X.part(rows)
        D = part.squared_distances(C).astype(np.float64)
        for j, shape in shapes.items():
            D[:, j] = shape.scores(part.rows(np.arange(len(rows))))
        D = in_scales(D, scales)
        best[rows] = D.argmin(axis=1)
        values[rows] = D.min(axis=1)
    return best, values


def in_scales(
    costs: NDArray[np.float64], scales: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return costs over scales; no cost is 0 in any, and all is far without a scale."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(costs > 0, costs / scales, 0.0)


class SortedCosts:
    """The costs of the rows of each cluster, in order."""

    def __init__(
        self, X: Table, labels: NDArray[np.int32], costs: NDArray[np.float64], k: int
    ) -> None:
        self.clusters = []
        by_cluster = np.argsort(labels, kind="stable")
        ends = np.cumsum(np.bincount(labels, minlength=k))
        for rows in np.split(by_cluster, ends[:-1]):
            values = costs[rows]
            if X.weights is None:
                values.sort()
                reached = np.arange(1.0, len(rows) + 1)
            else:
                order = np.argsort(values, kind="stable")
                values, reached = values[order], np.cumsum(X.weights[rows][order])
            self.clusters.append((values, reached))

    def scales(self, inner: float) -> NDArray[np.float64]:
        """Return the middle of the costs of the inner rows of each cluster."""
        return np.array([middle_of(*sorted_, inner) for sorted_ in self.clusters])


def middle_of(
    values: NDArray[np.float64], reached: NDArray[np.float64], inner: float
) -> float:
    """Return the middle of the inner ones of sorted values, by the weight reached."""
    if not len(values) or not reached[-1] > 0:
        return 0.0
    mass = mass_of(MIDDLE * inner, reached[-1])
    return float(values[np.searchsorted(reached, mass)])


def quantile(
    values: NDArray[np.float64], weights: NDArray[np.float64] | None, share: float
) -> float:
    """Return the value up to which a share of the weight lies."""
    total = float(len(values) if weights is None else weights.sum())
    mass = mass_of(share, total)
    return cut_of(np.ascontiguousarray(values), weights, mass).threshold


def mass_of(share: float, total: float) -> float:
    """Return a share of the weight; a whole number of rows stays one when rounded."""
    return share * total * (1 - 1e-12)


def inner_scores(
    X: Table, scores: Scores, dimension: float, inner: float
) -> Inner | None:
    """Return what a tail is fitted to, or nothing where the scores do not spread."""
    # a cluster whose rows are mostly equal has no scale, and shows nothing of the tail
    shows = np.flatnonzero(scores.scales[scores.labels] > 0)
    if not len(shows):
        return None
    values = scores.values[shows]
    weights = None if X.weights is None else X.weights[shows]
    low, middle, high = (
        quantile(values, weights, share * inner) for share in (LOW, MIDDLE, HIGH)
    )
    if not 0 < low < high < np.inf:
        return None
    return Inner(low, middle, high, dimension, X.mass)


def effective_dimension(
    X: Table,
    C: NDArray[Any],
    shapes: dict[int, Shape],
    scores: Scores,
    v: NDArray[np.float64],
) -> float:
    """Return (tr S)^2 / tr S^2 of the covariance S within clusters, each in its scale.

    The second trace is the mean squared inner product of two different rows: with each
    row's product with itself it would be too large where columns are many.
    """
    numbers, w = spread(v if X.weights is None else v * X.weights, DIMENSION_ROWS)
    labels = scores.labels[numbers]
    R = X.rows(numbers).astype(np.float64) - C[labels]
    for j, shape in shapes.items():
        of = labels == j
        R[of] = R[of] @ shape.root
    # long clusters are measured in their own covariance, the others in units of the
    # table; rows of a cluster without a scale are all at its center
    scales = scores.scales[labels]
    R /= np.sqrt(np.where(scales > 0, scales, 1.0))[:, None]
    norms = np.square(R).sum(axis=1)
    mass = float(w.sum())
    size = float(w @ norms) / mass
    if not (size > 0 and mass > 1):
        return float(X.n_features)
    # in units of their width, or fourth powers might overflow
    R *= (w / size)[:, None] ** 0.5
    products = R.T @ R if R.shape[1] < len(R) else R @ R.T
    pairs = float(np.square(products).sum() - w @ np.square(norms / size))
    n_pairs = mass**2 - mass
    # no rows are spread less than along a line, or more than in all directions
    return float(n_pairs / np.clip(pairs, n_pairs / X.n_features, n_pairs))


def spread(
    weights: NDArray[np.float64], most: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return rows evenly along the total weight, at most so many, and their weights."""
    rows = np.flatnonzero(weights)
    if weights.sum() <= most:
        return rows, weights[rows]
    ends = np.cumsum(weights[rows])
    places = (np.arange(most) + 0.5) * (ends[-1] / most)
    counts = np.bincount(np.searchsorted(ends, places, side="right"))
    drawn = np.flatnonzero(counts)
    return rows[drawn], counts[drawn].astype(np.float64)


def along_order(X: Table, most: int) -> tuple[Table, NDArray[np.int64]]:
    """Return rows evenly along the weight, at most so many, and their numbers.

    They are in lexicographic order; one that stands for several weighs as much.
    """
    if X.mass <= most and X.n_positive <= 4 * most:
        rows = X.sorted_rows()
        weights = None if X.weights is None else X.weights[rows]
        return X.part(rows, weights), rows
    rows = X.along_order((np.arange(most) + 0.5) / most)
    first = np.flatnonzero(np.diff(rows, prepend=-1))
    weights = np.diff(first, append=most) * min(1.0, X.mass / most)
    return X.part(rows[first], None if (weights == 1).all() else weights), rows[first]


def find_shapes(X: Table, C: NDArray[Any]) -> dict[int, Shape]:
    """Return the shapes of long clusters that have the rows to tell."""
    shapes: dict[int, Shape] = {}
    if X.n_features == 1:
        return shapes
    nearest = X.nearest(C, 1)
    least = ROWS_PER_COLUMN * X.n_features
    for j in range(len(C)):
        is_own = (nearest.labels[:, 0] == j).astype(np.float64)
        own = is_own if X.weights is None else is_own * X.weights
        rows, weights = spread(own, SHAPE_ROWS)
        if weights.sum() < least or len(rows) <= X.n_features:
            continue
        R = X.rows(rows).astype(np.float64)
        shape = find_shape(R, weights, nearest.cost[rows])
        if shape is not None:
            shapes[j] = shape
    return shapes


def find_shape(
    R: NDArray[np.float64], weights: NDArray[np.float64], scores: NDArray[np.float64]
) -> Shape | None:
    """Return the shape of the inner rows by four C-steps of the MCD, if it is long."""
    for _ in range(4):
        inner = weights * (scores <= quantile(scores, weights, SHAPE_SHARE))
        mean = inner @ R / inner.sum()
        centered = R - mean
        S = (inner[:, None] * centered).T @ centered / inner.sum()
        variances, axes = np.linalg.eigh(S)
        is_flat = not variances[0] > 1e-9 * variances[-1]
        # already the first step shows that most clusters are round
        if is_flat or variances[-1] < ROUND * variances[0]:
            return None
        shape = Shape(mean, axes / np.sqrt(variances))
        scores = np.square(centered @ shape.root).sum(axis=1)
    return shape if variances[-1] > LONG * variances[0] else None


def fit_tail(
    X: Table,
    C: NDArray[Any],
    labels: NDArray[np.int32],
    costs: NDArray[np.float64],
    v: NDArray[np.float64],
    false_alarms: float = 0.15,
) -> FittedTail | None:
    """Fit the tail of what rows cost at the end of a fit, whose centers stay.

    The share that was trimmed is where the search for the share of outliers starts;
    there is no tail if the costs do not spread, or too few rows show it. The chance is
    the largest p-value that is flagged; if none is, the one at which a single row would
    be.
    """
    # along the order of the rows, so that it is one tail for a table and its shuffles
    Y, rows = along_order(X, CUT_ROWS)
    labels, costs, v = labels[rows], costs[rows], v[rows]
    kept_mass = Y.total(v)
    if kept_mass < LEAST_ROWS:
        return None

    start = 1 - kept_mass / Y.mass
    sorted_costs = SortedCosts(Y, labels, costs, len(C))

    def scores_at(share: float) -> Scores:
        scales = sorted_costs.scales(1 - share)
        return Scores(labels, in_scales(costs, scales[labels]), scales)

    # of all clusters in their scales, which the share changes all alike
    dimension = effective_dimension(Y, C, {}, scores_at(start), v)

    def score(C: NDArray[Any], share: float) -> Scored:
        return Scored(C, scores_at(share), dimension)

    flags, _ = light_or_heavy(Y, C, score, start, false_alarms)
    if flags.tail is None:
        return None
    return FittedTail(
        flags.tail,
        flags.scales,
        Y.label_masses(labels, len(C), v),
        chance=min(max(flags.limit, false_alarms / X.mass), false_alarms),
        limit=flags.limit,
    )
