"""Slow, plainly right twins of the family's methods: the oracles of whole fits.

Nothing here is shared with the library, and each method is written from its paper's
formulas, one set or one row at a time. Squared distances come from `reference`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from reference import squared_distances
from sklearn.cluster import KMeans


@dataclass(frozen=True, eq=False)
class Fit:
    """The end of a descent, and the objective on the way."""

    C: np.ndarray  # (k, d) centers
    W: np.ndarray  # (n, k) memberships
    inliers: np.ndarray  # (n,) booleans
    objective: float
    path: tuple = ()

    @property
    def labels(self):
        """The cluster of rows that have one, -1 for outliers."""
        return np.where(self.inliers, self.W.argmax(axis=1), -1)


def random_problem(seed):
    """Generic blobs and stray rows, and starting centers: rows, or points among them.

    Points that are no rows may be nobody's nearest, so clusters are empty at times.
    """
    rng = np.random.default_rng(seed)
    n, k, d = rng.integers(12, 61), rng.integers(2, 6), rng.integers(1, 5)
    middles = rng.normal(scale=4, size=(k, d))
    X = middles[rng.integers(k, size=n)] + rng.normal(size=(n, d))
    X[rng.random(n) < 0.1] *= 4
    rows = X[rng.choice(n, size=k, replace=False)]
    points = rng.normal(scale=4, size=(k, d))
    return rng, X, points if seed % 3 == 0 else rows


def means(X, sets, C):
    """Means of the rows in each set; an empty one keeps its center."""
    C = C.copy()
    for j, members in enumerate(sets.T):
        if members.any():
            C[j] = X[members].mean(axis=0)
    return C


def until_it_repeats(assign, X, C):
    """Alternate assignment and means until the assignment repeats."""
    sets, objective = assign(C)
    path = [objective]
    while True:
        C = means(X, sets, C)
        last, (sets, objective) = sets, assign(C)
        path.append(objective)
        if np.array_equal(sets, last):
            inliers = sets.any(axis=1)
            return Fit(C, sets.astype(float), inliers, objective, tuple(path))


def until_it_rests(step, fit, tol):
    """Repeat the step until the objective falls by no more than a share of itself."""
    path = [fit.objective]
    while True:
        fit = step(fit)
        path.append(fit.objective)
        if path[-2] - path[-1] <= tol * abs(path[-2]):
            return Fit(fit.C, fit.W, fit.inliers, fit.objective, tuple(path))


def nearest_sets(D):
    """Every row in its nearest cluster, the first of equals."""
    return np.arange(D.shape[1]) == D.argmin(axis=1)[:, None]


# k-means with outlier removal


def kmor_price(cost, outliers, gamma):
    """P = S + m D with D = gamma S / (n - m)."""
    S, m, n = cost[~outliers].sum(), outliers.sum(), len(cost)
    return S + m * gamma * S / (n - m)


def kmor_exact(X, C, n0, gamma):
    """The best outliers for each center, among the costliest of every number."""

    def assign(C):
        D = squared_distances(X, C)
        cost = D.min(axis=1)
        first_costliest = np.argsort(cost, kind="stable")[::-1]
        trials = [np.isin(range(len(X)), first_costliest[:m]) for m in range(n0 + 1)]
        best = min(trials, key=lambda outliers: kmor_price(cost, outliers, gamma))
        sets = nearest_sets(D) & ~best[:, None]
        return sets, kmor_price(cost, best, gamma)

    return until_it_repeats(assign, X, C)


def kmor_published(X, C, n0, gamma):
    """Outliers beyond D of the last outliers, at most n0 of them."""

    def look(C, outliers):
        D = squared_distances(X, C)
        cost = D.min(axis=1)
        cutoff = gamma / (~outliers).sum() * cost[~outliers].sum()
        candidates = np.argsort(cost, kind="stable")[len(X) - n0 :]
        outliers = np.zeros(len(X), dtype=bool)
        outliers[candidates] = cost[candidates] > cutoff
        P = kmor_price(cost, outliers, gamma)
        return nearest_sets(D), outliers, P, P

    return wander(look, X, C)


# Outlier detection and clustering


def odc(X, C, p):
    """Outliers beyond p times the mean distance of their cluster's last inliers."""

    def look(C, outliers):
        D = squared_distances(X, C)
        sets, distance = nearest_sets(D), np.sqrt(D.min(axis=1))
        flagged = np.zeros(len(X), dtype=bool)
        for members in sets.T:
            if (members & ~outliers).any():
                average = distance[members & ~outliers].mean()
                flagged |= members & (distance > p * average) & (average > 0)
        squared = D.min(axis=1)[~flagged]
        return sets, flagged, squared.sum(), squared.mean()

    return wander(look, X, C)


def wander(look, X, C):
    """Repeat the rule until rows and outliers repeat; the lowest of that circle."""
    outliers = np.zeros(len(X), dtype=bool)
    seen, fits = [], []
    while True:
        sets, outliers, objective, level = look(C, outliers)
        mark = (sets.tobytes(), outliers.tobytes())
        fits.append((level, Fit(C, sets.astype(float), ~outliers, objective)))
        seen.append(mark)
        if mark in seen[:-1]:  # the later of the two has means for centers
            circle = fits[seen.index(mark) + 1 :]
            return min(circle, key=lambda pair: pair[0])[1], len(circle)
        C = means(X, sets & ~outliers[:, None], C)


# Non-exhaustive, overlapping k-means


def neo(X, C, n_extra, n_left_out):
    """Sure rows by their nearest cluster, then the cheapest of all other pairs."""
    n, k = len(X), len(C)

    def assign(C):
        D = squared_distances(X, C)
        U = np.zeros((n, k), dtype=bool)
        for i in np.argsort(D.min(axis=1), kind="stable")[: n - n_left_out]:
            U[i, D[i].argmin()] = True
        pairs = sorted((D[i, j], i, j) for i in range(n) for j in range(k))
        pairs = [(i, j) for _, i, j in pairs if not U[i, j]]
        for i, j in pairs[: n_extra + n_left_out]:
            U[i, j] = True
        return U, D[U].sum()

    # it starts from labels
    return until_it_repeats(
        assign, X, means(X, nearest_sets(squared_distances(X, C)), C)
    )


# Sets of clusters, whose centers' mean or sum is the image of a row


def mean_costs(X, C, sets, exponent=0.0, distance=0.0, price=0.0):
    """What rows cost that are compared with the mean of their set's centers."""
    size = sets.sum(axis=1)
    image = sets @ C / size[:, None]
    residual = ((X - image) ** 2).sum(axis=1)
    to_centers = (sets * squared_distances(X, C)).sum(axis=1)
    return size**exponent * residual + distance / size * to_centers + price * (size - 1)


def sum_costs(X, C, sets):
    """What rows cost that are compared with the sum of their set's centers."""
    return ((X - sets @ C) ** 2).sum(axis=1)


def grown_sets(X, C, cost_of):
    """The nearest cluster, and the next nearest while the row's own cost falls."""
    order = np.argsort(squared_distances(X, C), axis=1, kind="stable")
    sets = np.eye(len(C), dtype=bool)[order[:, 0]]
    growing = np.ones(len(X), dtype=bool)
    for s in range(2, len(C) + 1):
        larger = np.eye(len(C), dtype=bool)[order[:, :s]].any(axis=1)
        growing &= cost_of(X, C, larger) < cost_of(X, C, sets)
        sets[growing] = larger[growing]
    return sets


def cheapest_sets(X, C, cost_of, most):
    """The cheapest of all sets of at most so many clusters."""
    choices = [A for s in range(1, most + 1) for A in combinations(range(len(C)), s)]
    sets = np.array([np.isin(range(len(C)), A) for A in choices])
    costs = [cost_of(X, C, np.tile(A, (len(X), 1))) for A in sets]
    return sets[np.argmin(costs, axis=0)]


def covered(X, C, found, cost_of, last=None):
    """Rows with the sets found, or with their last ones where these cost less."""
    cost = cost_of(X, C, found)
    if last is not None:
        last_cost = cost_of(X, C, last)
        found = np.where((last_cost < cost)[:, None], last, found)
        cost = np.minimum(cost, last_cost)
    return Fit(C, found.astype(float), np.ones(len(X), dtype=bool), cost.sum())


def okm(X, C, exponent=0.0, distance=0.0, tol=1e-6):
    """OKM, R1-OKM (exponent) and R2-OKM (distance): one center after the other."""

    def cost_of(X, C, sets):
        return mean_costs(X, C, sets, exponent, distance)

    def step(fit):
        C, sets = fit.C.copy(), fit.W > 0
        for h in np.flatnonzero(sets.any(axis=0)):
            rows, A = X[sets[:, h]], sets[sets[:, h]]
            size = A.sum(axis=1)[:, None].astype(float)
            z = size * rows - (A @ C - C[h])
            over = size ** (exponent - 2) * z + distance / size * rows
            under = size ** (exponent - 2) + distance / size
            C[h] = over.sum(axis=0) / under.sum()
        return covered(X, C, grown_sets(X, C, cost_of), cost_of, last=sets)

    start = covered(X, C, grown_sets(X, C, cost_of), cost_of)
    return until_it_rests(step, start, tol)


def from_kmeans(X, C, mix, cost_of, most, tol):
    """Alternate least squares and the cheapest sets, from the labels of k-means."""

    def step(fit):
        B = mix(fit.W)
        # where the best centers are many, those nearest to the last
        C = fit.C + np.linalg.lstsq(B, X - B @ fit.C, rcond=1e-7)[0]
        found = cheapest_sets(X, C, cost_of, most)
        return covered(X, C, found, cost_of, last=fit.W > 0)

    C = kmeans(X, C)
    start = covered(X, C, nearest_sets(squared_distances(X, C)), cost_of)
    return until_it_rests(step, start, tol)


def sparse_overlap(X, C, most, price=0.0, tol=1e-6):
    """ESP (most clusters a row) and ISP (price of each beyond the first)."""

    def cost_of(X, C, sets):
        return mean_costs(X, C, sets, price=price)

    def mix(W):
        return W / W.sum(axis=1, keepdims=True)

    return from_kmeans(X, C, mix, cost_of, most, tol)


def moc(X, C, tol=1e-6):
    """MOC by squared error: rows are sums of their clusters' vectors."""
    return from_kmeans(X, C, lambda W: W, sum_costs, len(C), tol)


# Fuzzy c-means


def fuzzy(X, C, m, tol=1e-6):
    """Memberships by powers of the squared distances, means under powers of them."""

    def at(C):
        D = squared_distances(X, C)
        U = np.zeros(D.shape)
        for u, d in zip(U, D, strict=True):
            if d.min() == 0:
                u[d == 0] = 1 / (d == 0).sum()
            else:
                u[:] = [1 / sum((a / b) ** (1 / (m - 1)) for b in d) for a in d]
        return Fit(C, U, np.ones(len(X), dtype=bool), (U**m * D).sum())

    def step(fit):
        weights = fit.W**m
        return at((weights.T @ X) / weights.sum(axis=0)[:, None])

    return until_it_rests(step, at(C), tol)


# Outlier removal clustering


def kmeans(X, C):
    """Centers of scikit-learn's k-means from the ones given, run until no row moves."""
    return KMeans(len(C), init=C, n_init=1, tol=0).fit(X).cluster_centers_


def orc(X, C, threshold, n_rounds):
    """K-means, and again without the rows farther than a share of the farthest."""
    removal_round = np.zeros(len(X), dtype=int)
    C = kmeans(X, C)
    for number in range(1, n_rounds + 1):
        left = np.flatnonzero(removal_round == 0)
        distance = np.sqrt(squared_distances(X[left], C).min(axis=1))
        far = distance / distance.max() > threshold
        if (~far).sum() < len(C):
            break
        removal_round[left[far]] = number
        C = kmeans(X[left[~far]], C)
    D = squared_distances(X, C)
    inliers = removal_round == 0
    fit = Fit(C, nearest_sets(D).astype(float), inliers, D.min(axis=1)[inliers].sum())
    return fit, removal_round
