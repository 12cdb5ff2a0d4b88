"""Random tables, cut at random, and partitions that lose what they remember."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import sparse

from rtkm import RTKM, KMeansMinusMinus, Partitions, RelaxedKMeans, TrimmedKMeans
from rtkm.core.partitions import PartitionedTable
from rtkm.core.parts import LocalEngine, Part
from rtkm.core.sources import ArrayRows

KINDS = "blobs", "lattice", "duplicates", "wide", "far", "constant"


def random_table(rng):
    """Return rows and weights, or none."""
    kind = KINDS[rng.randint(len(KINDS))]
    n, d = int(rng.choice([3, 8, 30, 200, 1500])), int(rng.choice([1, 2, 3, 5, 17]))
    if kind == "wide":
        d = 60
    C = 8 * rng.normal(size=(rng.randint(1, 6), d))
    X = C[rng.randint(len(C), size=n)] + rng.normal(size=(n, d))
    X[rng.rand(n) < 0.06] *= 5
    if kind == "lattice":
        X = np.round(X / 2)
    elif kind == "duplicates":
        X = X[rng.randint(max(1, n // 5), size=n)]
    elif kind == "far":
        X[rng.randint(n)] *= 1e8
        X += 1e5
    elif kind == "constant":
        X[:, 0] = 7.0
    if rng.rand() < 0.3:
        X = X[np.lexsort(X.T[::-1])]
    if rng.rand() < 0.3:
        X = X.astype(np.float32)
    if rng.rand() < 0.2:
        X = sparse.csr_array(np.where(rng.rand(*X.shape) < 0.5, 0, X).astype(X.dtype))
    return X, random_weights(rng, n)


def random_weights(rng, n):
    kind = rng.randint(6)
    if kind == 0:
        weights = rng.choice([1 / 3, 0.1, 0.7, 2.0, 0.0], size=n)
    elif kind == 1:
        weights = 10 * rng.rand(n)
    elif kind == 2:
        weights = rng.randint(0, 4, size=n).astype(float)
    else:
        return None
    return weights if weights.sum() > 5 else None


def random_model(rng, n):
    seed, k = rng.randint(1000), int(min(rng.randint(1, 6), max(1, n // 3)))
    share = float(rng.choice([0, 0.05, 0.2]))
    kind = rng.randint(7)
    if kind == 0:
        return TrimmedKMeans(k, contamination=share, random_state=seed)
    if kind == 1:
        init = ["random", "robust-k-means||", "k-means++"][rng.randint(3)]
        return TrimmedKMeans(k, contamination=share, init=init, random_state=seed)
    if kind == 2:
        return KMeansMinusMinus(k, n_outliers=share, n_init=2, random_state=seed)
    if kind == 3:
        s = min(k, rng.randint(1, 3))
        return RelaxedKMeans(k, n_memberships=s, n_init=2, random_state=seed)
    if kind == 4:
        s = min(k, 2)
        return RTKM(
            k, contamination=share, n_memberships=s, n_init=2, random_state=seed
        )
    if kind == 5:
        return RTKM(k, contamination=share, random_state=seed)
    return RTKM(random_state=seed)


def random_cuts(rng, n):
    """Return ends of partitions, some of them empty or of one row."""
    cuts = rng.randint(0, n + 1, size=int(rng.choice([0, 1, 3, 8])))
    return [0, *np.sort(cuts).tolist(), n]


class Forgetful(LocalEngine):
    """Partitions that lose all or some of what they remember, at random moments."""

    def __init__(self, rng, chance, *given):
        super().__init__(*given)
        self.rng, self.chance = rng, chance

    def map_each(self, task, which=None):
        parts = self.parts if which is None else [self.parts[i] for i in which]
        for part in parts:
            if self.rng.rand() < self.chance:
                self.lose(part)
            yield part.run(task)

    def lose(self, part):
        if self.rng.rand() < 0.5:  # a worker that died
            self.parts[part.number] = Part(
                part.number, part.first, part.source, part.weights, part.dtype
            )
            self.parts[part.number].frame = part.frame
        part.forget([key for key in list(part._remembered) if self.rng.rand() < 0.5])


class ForgetfulRows(Partitions):
    """Rows whose partitions lose what they remember."""

    def engine(self, weights):
        rng, chance = self.memory
        parts = None
        if weights is not None:
            ends = np.cumsum([source.n_rows for source in self.sources])[:-1]
            parts = np.split(weights, ends)
        return Forgetful(rng, chance, self.sources, parts, np.dtype(self.dtype))


def in_cuts(X, ends, memory=None, of=Partitions):
    """Return rows cut at some places."""
    sources = [ArrayRows(X, first, last - first) for first, last in pairwise(ends)]
    return of(sources, X.shape[1], X.dtype, None, memory)


def as_table(X, ends, weights=None):
    """Return a table in partitions."""
    rows = in_cuts(X, ends, memory=10**9)
    return PartitionedTable(
        rows.engine(weights), X.shape[1], X.dtype, weights is not None
    )
