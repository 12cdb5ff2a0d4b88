"""The tables that everybody is timed on, and the centers that everybody starts from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Shape(NamedTuple):
    """Rows, features and clusters of a problem."""

    rows: int
    features: int
    clusters: int

    @property
    def work(self) -> int:
        """Multiplications of one pass."""
        return self.rows * self.features * self.clusters

    def __str__(self) -> str:
        return f"{self.rows:,} x {self.features}, k = {self.clusters}"


class Kind(NamedTuple):
    """Mean distance of two centers in standard deviations of a blob, and the unit.

    On a sphere every row has length 1, whatever the unit.
    """

    separation: float
    unit: float
    on_sphere: bool = False


SHAPES = (
    Shape(43_500, 9, 3),
    Shape(2_417, 103, 14),
    Shape(100_000, 16, 8),
    Shape(1_000_000, 8, 10),
    Shape(200_000, 64, 50),
    Shape(100_000, 128, 256),
)
# a fixed step has a unit: with these blobs' own much stays fractional at first, with
# the larger one nothing does
KINDS = {
    "overlapping": Kind(4.0, 1.0),
    "overlapping, x20": Kind(4.0, 20.0),
    "separated, x20": Kind(20.0, 20.0),
    "unit vectors": Kind(12.0, 1.0, on_sphere=True),
}
# as embeddings have them
EMBEDDINGS = Shape(100_000, 768, 50)
# tables on which k-means is done in milliseconds, so that fixed costs count
EASY = (Shape(1_000, 5, 5), Shape(20_000, 3, 3), Shape(60_000, 7, 4))
DTYPES = ("float64", "float32")


def fresh_seed() -> int:
    """Return a seed that nobody has tuned on."""
    return int(np.random.SeedSequence().generate_state(1)[0])


def make_rows(shape: Shape, kind: str, dtype: str, seed: int) -> np.ndarray:
    """Draw round blobs of equal size, in random order."""
    n, d, k = shape
    separation, unit, on_sphere = KINDS[kind]
    rng = np.random.default_rng(seed)
    # two normal points of deviation s are about s * sqrt(2 d) apart
    centers = separation / np.sqrt(2 * d) * rng.normal(size=(k, d))
    X = rng.normal(size=(n, d))
    X += centers[rng.integers(k, size=n)]
    X *= unit
    if on_sphere:
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X.astype(dtype, copy=False)


def starting_centers(X: np.ndarray, k: int) -> np.ndarray:
    """Return the first rows, which are random ones."""
    return X[:k].copy()
