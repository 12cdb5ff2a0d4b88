"""Problems of many kinds, whose minimum is hard to find in different ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Rng = np.random.Generator


class Problem(NamedTuple):
    """A table, what to look for, and the centers it was drawn around."""

    X: np.ndarray
    n_clusters: int
    contamination: float
    centers: np.ndarray
    truth: np.ndarray  # -1: outliers


FAMILIES: dict[str, Callable[[Rng], Problem]] = {}


def family(draw: Callable[[Rng], Problem]) -> Callable[[Rng], Problem]:
    """Add to the families, by the name of the function."""
    FAMILIES[draw.__name__.replace("_", " ")] = draw
    return draw


def spread_centers(rng: Rng, k: int, d: int, distance: float) -> np.ndarray:
    """Draw centers of which two are about so far apart."""
    return rng.normal(size=(k, d)) * distance / np.sqrt(2 * d)


def with_noise(
    rng: Rng,
    X: np.ndarray,
    y: np.ndarray,
    C: np.ndarray,
    share: float,
    clump: float = 0,
) -> Problem:
    """Add outliers: anywhere in a wider box, and a part of them in one far clump."""
    n_out = round(share * len(X) / (1 - share))
    low, high = X.min(axis=0), X.max(axis=0)
    far = rng.uniform(
        low - 0.3 * (high - low), high + 0.3 * (high - low), (n_out, X.shape[1])
    )
    n_clump = int(clump * n_out)
    far[:n_clump] = high + (high - low) + 0.1 * rng.normal(size=(n_clump, X.shape[1]))
    order = rng.permutation(len(X) + n_out)
    rows = np.concatenate([X, far])[order]
    truth = np.concatenate([y, np.full(n_out, -1)])[order]
    return Problem(rows, len(C), n_out / len(rows), C, truth)


def blobs(
    rng: Rng,
    n: int,
    d: int,
    k: int,
    distance: float,
    share: float,
    *,
    sizes: np.ndarray | None = None,
    widths: tuple[float, float] = (1.0, 1.0),
    long: float = 1.0,
    tails: float = np.inf,
    clump: float = 0,
) -> Problem:
    """Draw clusters of any sizes, widths, lengths and tails."""
    C = spread_centers(rng, k, d, distance)
    y = rng.choice(k, size=n, p=sizes)
    Z = rng.normal(size=(n, d))
    if np.isfinite(tails):
        Z /= np.sqrt(rng.chisquare(tails, (n, 1)) / tails)
    directions = rng.normal(size=(k, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    along = (Z * directions[y]).sum(axis=1, keepdims=True)
    Z += (long - 1) * along * directions[y]
    X = C[y] + Z * rng.uniform(*widths, k)[y, None]
    return with_noise(rng, X, y, C, share, clump)


def some_rows(rng: Rng) -> int:
    """Draw a number of rows."""
    return int(rng.integers(600, 2001))


@family
def few_columns(rng: Rng) -> Problem:
    k, d = int(rng.integers(3, 21)), int(rng.integers(2, 6))
    return blobs(rng, some_rows(rng), d, k, rng.uniform(4, 9), rng.choice([0.03, 0.1]))


@family
def tens_of_columns(rng: Rng) -> Problem:
    k, d = int(rng.integers(3, 21)), int(rng.integers(10, 65))
    return blobs(rng, some_rows(rng), d, k, rng.uniform(5, 9), rng.choice([0.03, 0.1]))


@family
def hundreds_of_columns(rng: Rng) -> Problem:
    k, d = int(rng.integers(5, 21)), int(rng.choice([128, 256, 512, 1000]))
    return blobs(rng, 1500, d, k, rng.uniform(7, 10), 0.05)


@family
def one_or_two_clusters(rng: Rng) -> Problem:
    k, d = int(rng.integers(1, 3)), int(rng.integers(1, 20))
    return blobs(rng, some_rows(rng), d, k, rng.uniform(3, 9), rng.choice([0.05, 0.3]))


@family
def fifty_to_a_hundred_clusters(rng: Rng) -> Problem:
    k, d = int(rng.integers(50, 101)), int(rng.integers(2, 20))
    return blobs(rng, 3000, d, k, rng.uniform(8, 15), 0.05)


@family
def unequal_sizes_and_widths(rng: Rng) -> Problem:
    k = int(rng.integers(4, 13))
    sizes = rng.dirichlet(np.full(k, 0.8))
    d, n = int(rng.integers(2, 9)), some_rows(rng)
    return blobs(rng, n, d, k, 9, 0.1, sizes=sizes, widths=(0.3, 1.7))


@family
def elongated(rng: Rng) -> Problem:
    k, d = int(rng.integers(3, 9)), int(rng.integers(2, 9))
    return blobs(rng, some_rows(rng), d, k, 14, 0.05, long=4.0)


@family
def heavy_tails(rng: Rng) -> Problem:
    k, d = int(rng.integers(3, 9)), int(rng.integers(2, 9))
    return blobs(rng, some_rows(rng), d, k, 10, 0.1, tails=3.0)


@family
def touching(rng: Rng) -> Problem:
    k, d = int(rng.integers(3, 13)), int(rng.integers(2, 9))
    return blobs(rng, some_rows(rng), d, k, rng.uniform(2, 4), 0.05)


@family
def clumps_of_outliers(rng: Rng) -> Problem:
    k, d = int(rng.integers(3, 13)), int(rng.integers(2, 20))
    return blobs(rng, some_rows(rng), d, k, 8, rng.choice([0.1, 0.2]), clump=0.5)


@family
def duplicates(rng: Rng) -> Problem:
    k, d = int(rng.integers(3, 13)), int(rng.integers(1, 4))
    problem = blobs(rng, some_rows(rng), d, k, 8, 0.05)
    return problem._replace(X=np.round(problem.X))


@family
def unit_vectors(rng: Rng) -> Problem:
    k, d = int(rng.integers(5, 21)), int(rng.choice([50, 200]))
    problem = blobs(rng, 1500, d, k, 8, 0.05)
    X, C = (
        rows / np.linalg.norm(rows, axis=1, keepdims=True)
        for rows in (problem.X, problem.centers)
    )
    return problem._replace(X=X, centers=C)


@family
def overlapping_2417_x_103(rng: Rng) -> Problem:
    return blobs(rng, 2417, 103, 14, 4, 0.02)


@family
def states_of_a_sensor(rng: Rng) -> Problem:
    """Three states that last a while, columns scaled by their MAD."""
    n, d = 2000, int(rng.integers(3, 8))
    C = spread_centers(rng, 3, d, 6)
    y = np.repeat(rng.integers(3, size=40), n // 40)
    X = C[y] + rng.normal(size=(n, d)) * rng.uniform(0.3, 2, d)
    X += np.cumsum(rng.normal(size=(n, d)), axis=0) * 0.01  # drift
    spread = np.median(np.abs(X - np.median(X, axis=0)), axis=0)
    return with_noise(rng, X / spread, y, C / spread, 0.02)
