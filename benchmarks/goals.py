"""What the measured figures are held to."""

from __future__ import annotations

from typing import NamedTuple

from problems import EASY, EMBEDDINGS, SHAPES, Shape


class Goal(NamedTuple):
    """A limit, and the side of it to be on."""

    limit: float
    at_most: bool = True

    def met(self, reached: float) -> bool:
        return reached <= self.limit if self.at_most else reached >= self.limit

    def __str__(self) -> str:
        return f"{'≤' if self.at_most else '≥'} {self.limit:g}"


def of_threads(shape: Shape) -> Goal:
    """Twice the threads shall pay on large tables, and cost nothing on small ones."""
    return Goal(1.6 if shape.work >= 1e7 else 1.0, at_most=False)


# shares of lloyd's time, all of whole fits but those of an iteration
FIXED_STEP = dict.fromkeys((*SHAPES, EMBEDDINGS), Goal(1.0))
TO_CONVERGENCE = dict.fromkeys((*SHAPES, EMBEDDINGS), Goal(0.7))
DEFAULTS = dict.fromkeys((*EASY, *SHAPES[:-1], EMBEDDINGS), Goal(0.7))
MEMBERSHIPS = dict.fromkeys(SHAPES, Goal(2.0))
# times as fast with two threads as with one
THREADS = {shape: of_threads(shape) for shape in SHAPES}
# objective over that of the best of ten robust restarts; digits beyond are rounding
OBJECTIVE = Goal(1 + 1e-6)
BYTES_A_ROW = Goal(45.0)
# exponents of the time
GROWTH = {"rows": Goal(1.05), "clusters": Goal(1.0), "features": Goal(1.0)}
