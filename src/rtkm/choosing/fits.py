"""Trimmed k-means from given centers, as all of choosing is made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rtkm.core.descent import Run, descend
from rtkm.core.states import TrimmedState
from rtkm.core.swaps import swap_centers
from rtkm.core.table import Table


def trimmed_fit(
    X: Table,
    C: NDArray[Any],
    n_trimmed: float,
    *,
    max_iter: int = 100,
    n_swaps: int | str = 0,
    rng: np.random.RandomState | None = None,
) -> TrimmedState:
    """Return where concentration steps, and swaps if there is chance for them, end."""

    def step(state: TrimmedState) -> TrimmedState:
        return X.concentrate(state.means, 1, state.kept_mass, last=state)

    run = Run(X.concentrate(C, 1, X.mass - n_trimmed))
    descend(step, run, max_iter=max_iter)
    if n_swaps and rng is not None:
        swap_centers(X, run, step, n_swaps=n_swaps, max_iter=max_iter, rng=rng)
    return run.state
