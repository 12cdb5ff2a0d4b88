"""Slow, plainly right twins of the vocabulary and the steps: the oracles of the tests.

Nothing here is shared with the library. Rows are samples, so weights are ``(n, k)``;
``weight`` always means that a row of weight 2 is that row twice. Sums that decide
something are exact (``math.fsum``, ``Fraction``), so that a disagreement is never ours.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

SNAP = 1e-12


@dataclass(frozen=True, eq=False)
class Relaxation:
    """The state after one proximal iteration."""

    C: np.ndarray  # (k, d) centers
    W: np.ndarray  # (n, k) memberships
    v: np.ndarray  # (n,) inlier weights
    cost: np.ndarray  # (n,) cost of every row at C and W, trimmed or not
    substeps: list  # objective after the centers, the memberships, the inlier weights

    @property
    def objective(self):
        return self.substeps[-1]


@dataclass(frozen=True, eq=False)
class Alternation:
    """A hard descent: the steps that changed something, then a look at its end."""

    steps: list  # (labels, C): labels at the centers before, C the means they give
    path: list  # objective of every step, at the centers that gave its labels
    C: np.ndarray  # from here on, all at the final centers
    labels: np.ndarray
    W: np.ndarray
    shares: np.ndarray
    cost: np.ndarray
    objective: float


def column(*values):
    """A table of one feature, as the cases worked by hand have."""
    return np.array(values, dtype=float)[:, None]


def squared_distances(X, C):
    """Squared distances (n, k), from differences."""
    X, C = np.asarray(X, dtype=np.float64), np.asarray(C, dtype=np.float64)
    return ((X[:, None, :] - C[None, :, :]) ** 2).sum(axis=2)


def capped_simplex(y, total, weight=None):
    """Project y onto {0 <= w <= 1, sum of weight * w = total}, by sorting."""
    y = np.asarray(y, dtype=np.float64)
    weight = _row_weights(weight, len(y))
    mass = math.fsum(weight)
    if not -1e-9 * mass <= total <= (1 + 1e-9) * mass:
        raise ValueError(f"total={total!r} is not in [0, {mass!r}].")
    if total <= 0 or total >= mass:
        return np.full(len(y), float(total > 0))

    def mass_at(values, threshold):
        return math.fsum(weight * np.clip(values - threshold, 0, 1))

    # The smallest entry at which no more than the total is left lies at most 1 above a
    # threshold that solves the problem: had the gap below it been wider, every entry
    # from it upwards would be 1 and every other 0. Measured from that entry the
    # threshold is in [-1, 0], digits are kept for entries of any size, and what lies
    # further than 1 away is 0 or 1 wherever the threshold falls.
    entries = np.unique(y)
    near = bisect_left(entries, True, key=lambda entry: mass_at(y, entry) <= total)
    z = np.clip(y - entries[near], -1, 1)

    breakpoints = np.unique(np.concatenate([z, z - 1]))
    breakpoints = breakpoints[(breakpoints >= -1) & (breakpoints <= 0)]
    right = bisect_left(breakpoints, True, key=lambda point: mass_at(z, point) <= total)
    threshold = breakpoints[right]
    if right > 0:
        at_cap = z - 1 >= threshold
        between = (z >= threshold) & ~at_cap
        # On the segment that ends here the mass is (at cap) + (sum between) -
        # threshold * (between), and it falls strictly, so some weight is between.
        excess = [*weight[at_cap], *(weight * z)[between], -total]
        threshold = math.fsum(excess) / math.fsum(weight[between])
    return _snap(np.clip(z - threshold, 0, 1))


def capped_simplex_rows(Y, total):
    """Project every row of Y onto {0 <= w <= 1, sum w = total}."""
    return np.array([capped_simplex(y, total) for y in np.asarray(Y)])


def smallest(values, mass, weight=None):
    """Share of every row that is kept when the smallest values fill the mass."""
    values = np.asarray(values, dtype=np.float64)
    weight = _row_weights(weight, len(values))
    shares = np.zeros(len(values))
    left = Fraction(float(mass))
    for i in np.argsort(values, kind="stable"):  # ties: the lower index is kept
        if left <= 0:
            break
        kept = min(left, Fraction(weight[i]))
        shares[i] = kept / Fraction(weight[i]) if weight[i] > 0 else 1
        left -= kept
    return _snap(shares)


def weighted_means(X, weights, fallback, row_weight=None, negligible=0.0):
    """Means (k, d) under every column of weights; one without weight keeps fallback."""
    X = np.asarray(X, dtype=np.float64)
    weights = np.asarray(weights) * _row_weights(row_weight, len(X))[:, None]
    means = np.array(fallback, dtype=np.float64)
    for j, column in enumerate(weights.T):
        mass = math.fsum(column)
        if mass > negligible:
            means[j] = [math.fsum(column * x) / mass for x in X.T]
    return means


def label_masses(labels, n_labels, kept=None, row_weight=None):
    """Mass of the rows of each label, or of what is kept of them."""
    weights = _row_weights(row_weight, len(labels))
    parts = weights if kept is None else weights * kept
    labels = np.asarray(labels)
    return [math.fsum(parts[labels == j]) for j in range(n_labels)]


def rtkm_iterations(
    X,
    C0,
    step,
    n_memberships,
    n_trimmed,
    n_iterations,
    weight=None,
    refresh_trimmed=False,
):
    """Yield the iterations of Robust Trimmed k-means, both proximal steps equal."""
    weight = _row_weights(weight, len(X))
    mass = math.fsum(weight)
    kept = mass - n_trimmed
    C = np.array(C0, dtype=np.float64)
    W = np.full((len(X), len(C)), n_memberships / len(C))
    v = np.full(len(X), kept / mass)
    for iteration in range(n_iterations):
        if iteration > 0:  # uniform memberships would send every center to the mean
            C = weighted_means(X, v[:, None] * W, C, weight, negligible=1e-12 * kept)
        D = squared_distances(X, C)
        substeps = [math.fsum(weight * v * (W * D).sum(axis=1))]

        W = capped_simplex_rows(W - v[:, None] * D / step, n_memberships)
        if refresh_trimmed:
            W[v == 0] = _nearest(D, n_memberships)[v == 0]
        cost = (W * D).sum(axis=1)
        substeps.append(math.fsum(weight * v * cost))

        v = capped_simplex(v - cost / step, kept, weight)
        substeps.append(math.fsum(weight * v * cost))
        yield Relaxation(C, W, v, cost, substeps)


def relaxed_iterations(X, C0, step, n_memberships, n_iterations, weight=None):
    """Yield the iterations of relaxed k-means; inlier weights are all 1."""
    weight = _row_weights(weight, len(X))
    negligible = 1e-12 * math.fsum(weight)
    C = np.array(C0, dtype=np.float64)
    W = np.full((len(X), len(C)), n_memberships / len(C))
    for iteration in range(n_iterations):
        if iteration > 0:
            C = weighted_means(X, W, C, weight, negligible)
        D = squared_distances(X, C)
        substeps = [math.fsum(weight * (W * D).sum(axis=1))]

        W = capped_simplex_rows(W - D / step, n_memberships)
        cost = (W * D).sum(axis=1)
        substeps.append(math.fsum(weight * cost))
        yield Relaxation(C, W, np.ones(len(X)), cost, substeps)


def concentration_steps(X, C0, n_trimmed, n_memberships=1, weight=None, max_steps=1000):
    """Descend by distances, the nearest centers, the cheapest rows, means.

    A step that repeats the kept memberships of the last one would change nothing: it
    ends the descent and is not listed.
    """
    weight = _row_weights(weight, len(X))
    kept = math.fsum(weight) - n_trimmed

    def assign(C):
        D = squared_distances(X, C)
        W = _nearest(D, n_memberships)
        cost = (W * D).sum(axis=1)
        shares = smallest(cost, kept, weight)
        # a row of which any part is kept is an inlier
        labels = np.where(shares > 0, D.argmin(axis=1), -1)
        return labels, W, shares, cost, math.fsum(weight * shares * cost)

    C = np.array(C0, dtype=np.float64)
    steps, path, last = [], [], None
    for _ in range(max_steps):
        labels, W, shares, _, objective = assign(C)
        kept_memberships = shares[:, None] * W
        if last is not None and np.array_equal(kept_memberships, last):
            break
        C, last = weighted_means(X, kept_memberships, C, weight), kept_memberships
        steps.append((labels, C))
        path.append(objective)
    labels, W, shares, cost, objective = assign(C)
    return Alternation(steps, path, C, labels, W, shares, cost, objective)


def lloyd(X, C0, weight=None, max_steps=1000):
    """Lloyd's k-means until the labels repeat, clusters one by one."""
    X = np.asarray(X, dtype=np.float64)
    weight = _row_weights(weight, len(X))
    C = np.array(C0, dtype=np.float64)
    steps, path = [], []
    for _ in range(max_steps):
        D = squared_distances(X, C)
        labels = D.argmin(axis=1)
        if steps and np.array_equal(labels, steps[-1][0]):
            break
        path.append(math.fsum(weight * D.min(axis=1)))
        C = C.copy()
        for j in range(len(C)):
            members = labels == j
            if weight[members].sum() > 0:
                C[j] = np.average(X[members], axis=0, weights=weight[members])
        steps.append((labels, C))
    D = squared_distances(X, C)
    labels, cost = D.argmin(axis=1), D.min(axis=1)
    W = np.eye(len(C))[labels]
    objective = math.fsum(weight * cost)
    return Alternation(steps, path, C, labels, W, np.ones(len(X)), cost, objective)


def squared_residuals(X, B, C):
    """Squared distance of every row to its mix of the centers, weighted by B."""
    X, C = np.asarray(X, dtype=np.float64), np.asarray(C, dtype=np.float64)
    images = np.array([[math.fsum(mix * c) for c in C.T] for mix in B])
    return np.array([math.fsum(row) for row in (X - images) ** 2])


# Sets of clusters: a set is a tuple of cluster numbers in order, its cost a function


def count_along_lines(X, C, cap, per_half, n_bins, weight=None):
    """Rows of each center by their place on the lines to the others, (k, k, n_bins).

    A place is a fraction here, so that rows on an edge are in the bin above.
    """
    X, C = np.asarray(X, dtype=np.float64), np.asarray(C, dtype=np.float64)
    counts = np.zeros((len(C), len(C), n_bins))
    for x, w in zip(X, _row_weights(weight, len(X)), strict=True):
        squared = [_exact_squared(x, c) for c in C]
        i = squared.index(min(squared))
        if squared[i] > cap:
            continue
        counts[i, i, 0] += w
        for j, c in enumerate(C):
            gap = _exact_squared(C[i], c)
            place = (squared[j] - squared[i]) / gap * per_half if gap else n_bins
            if place < n_bins:
                counts[i, j, math.floor(place)] += w
    return counts


def losses(X, C, cap, weight=None, means_follow=True):
    """What the loss of each center costs if the means of the others follow, or not.

    Every center is taken for the mean of the rows that it keeps.
    """
    X, C = np.asarray(X, dtype=np.float64), np.asarray(C, dtype=np.float64)
    w = _row_weights(weight, len(X))
    D = squared_distances(X, C)
    own, before = D.argmin(axis=1), np.minimum(D.min(axis=1), cap)
    kept = np.array([w[(own == j) & (D[:, j] <= cap)].sum() for j in range(len(C))])
    found = np.zeros(len(C))
    for j in range(len(C)):
        others = np.where(np.arange(len(C)) == j, np.inf, D)
        after = others.argmin(axis=1)
        moves = (own == j) & (others.min(axis=1) <= cap)
        trimmed = (own == j) & ~moves
        found[j] = cap * w[trimmed].sum() if trimmed.any() else 0.0
        found[j] -= w[own == j] @ before[own == j]
        for b in range(len(C)):
            rows, mass = X[moves & (after == b)], w[moves & (after == b)]
            if not mass.sum():
                continue
            mean = (kept[b] * C[b] + mass @ rows) / (kept[b] + mass.sum())
            mean = mean if means_follow else C[b]
            found[j] += mass @ np.square(rows - mean).sum(axis=1)
            found[j] += kept[b] * np.square(mean - C[b]).sum()
    return found


def split_step(X, halves, labels, cap, weight=None):
    """A step of 2-means inside every cluster: means, masses, and costs before."""
    X, halves = np.asarray(X, dtype=np.float64), np.asarray(halves, dtype=np.float64)
    means, masses = halves.copy(), np.zeros(len(halves))
    costs, sums = np.zeros(len(halves) // 2), np.zeros(halves.shape)
    for x, label, w in zip(X, labels, _row_weights(weight, len(X)), strict=True):
        if label < 0:
            continue
        squared = [((x - halves[2 * label + side]) ** 2).sum() for side in (0, 1)]
        half = 2 * label + (squared[1] < squared[0])
        costs[label] += w * min(*squared, cap)
        if min(squared) <= cap:
            masses[half] += w
            sums[half] += w * x
    filled = masses > 0
    means[filled] = sums[filled] / masses[filled, None]
    return means, masses, costs


def mean_cost(x, C):
    """Cost of a set: the squared distance of x to the mean of its centers."""
    return lambda members: float(((x - C[list(members)].mean(axis=0)) ** 2).sum())


def sum_cost(x, C):
    """Cost of a set: the squared distance of x to the sum of its centers."""
    return lambda members: float(((x - C[list(members)].sum(axis=0)) ** 2).sum())


def subsets(k, max_size):
    """All non-empty sets, smaller ones first, those of one size in order."""
    sizes = range(1, min(max_size, k) + 1)
    return [members for size in sizes for members in combinations(range(k), size)]


def best_set(cost, k, max_size):
    """The cheapest of all sets, the first of equals."""
    return min(subsets(k, max_size), key=cost)


def grown_set(cost, distances):
    """The nearest cluster, and the next nearest until the cost first fails to fall."""
    nearest, *others = np.argsort(distances, kind="stable").tolist()
    members = (nearest,)
    for j in others:
        if not cost(_with(members, j)) < cost(members):
            break
        members = _with(members, j)
    return members


def greedy_set(cost, k, max_size):
    """The best of the sets that single clusters grow to, and then a pass of swaps."""

    def cheapest_with(members, outside):
        return min((_with(members, j) for j in outside), key=cost)

    def extended(members):
        while len(members) < min(max_size, k):
            wider = cheapest_with(members, _outside(members, k))
            if not cost(wider) < cost(members):
                break
            members = wider
        return members

    members = min((extended((start,)) for start in range(k)), key=cost)
    for leaving in members:  # as they were before the first swap
        outside = _outside(members, k)
        if outside:
            rest = tuple(j for j in members if j != leaving)
            swapped = cheapest_with(rest, outside)
            members = swapped if cost(swapped) < cost(members) else members
    return members


def n_outlier_rows(share_or_count, total):
    """Rows that an integer count, or a share of the total weight, stands for."""
    if isinstance(share_or_count, (int, np.integer)):
        return int(share_or_count)
    # half up; the last term undoes binary noise, as in 0.35 * 90 = 31.499999999999996
    return math.floor(share_or_count * total + 0.5 + 1e-9)


def draw(probabilities_weight, X, u):
    """Index of the row drawn by u in [0, 1), going through the rows in sorted order."""
    parts = [Fraction(part) for part in np.asarray(probabilities_weight, dtype=float)]
    target = Fraction(float(u)) * sum(parts)
    reached = Fraction(0)
    # lexsort takes the most significant key last
    for i in np.lexsort(np.asarray(X).T[::-1]):
        reached += parts[i]
        if reached > target:
            return int(i)
    raise ValueError(f"u={u!r} draws no row; expected u in [0, 1) and some weight.")


def _exact_squared(a, b):
    return sum((Fraction(x) - Fraction(y)) ** 2 for x, y in zip(a, b, strict=True))


def _row_weights(weight, n_rows):
    return np.ones(n_rows) if weight is None else np.asarray(weight, dtype=np.float64)


def _with(members, j):
    return tuple(sorted((*members, j)))


def _outside(members, k):
    return [j for j in range(k) if j not in members]


def _nearest(D, count):
    """Indicator (n, k) of the nearest centers, ties to the lowest index."""
    indicator = np.zeros(D.shape)
    nearest = np.argsort(D, axis=1, kind="stable")[:, :count]
    np.put_along_axis(indicator, nearest, 1.0, axis=1)
    return indicator


def _snap(w):
    """Remove rounding dust, so that zeros and ones can be tested for."""
    return np.where(w < SNAP, 0.0, np.where(w > 1 - SNAP, 1.0, w))


# Detectors


def nearest_rows(x, X, k, own=None):
    """The nearest k rows to x in the order (distance, row), without `own`."""
    distances = [math.dist(x, y) for y in X]
    order = sorted((d, i) for i, d in enumerate(distances) if i != own)
    return [i for _, i in order[:k]]


def mean_pair_distance(X):
    """The mean distance over all pairs of rows."""
    pairs = [math.dist(X[a], X[b]) for a in range(len(X)) for b in range(a)]
    return math.fsum(pairs) / len(pairs)


def ldof(x, X, k, own=None):
    """The local distance-based outlier factor of x among the rows of X."""
    neighbors = [X[i] for i in nearest_rows(x, X, k, own)]
    to_them = math.fsum(math.dist(x, q) for q in neighbors) / k
    among_them = mean_pair_distance(neighbors)
    if among_them == 0:
        return math.inf if to_them > 0 else 1.0
    return to_them / among_them


def leaders(X, radius):
    """Labels and members of clusters that grow row by row, around their means."""
    labels, members = [], []
    for i, x in enumerate(X):
        distances = [math.dist(x, X[rows].mean(axis=0)) for rows in members]
        if distances and min(distances) <= radius:
            labels.append(int(np.argmin(distances)))
            members[labels[-1]].append(i)
        else:
            labels.append(len(members))
            members.append([i])
    return labels, members
