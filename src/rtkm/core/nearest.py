"""Each row's nearest centers, for no longer than they are needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from rtkm.core.states import Nearest, TrimmedState
from rtkm.core.table import Table

Answer = TypeVar("Answer")


def with_nearest(
    X: Table, state: TrimmedState, use: Callable[[Nearest], Answer]
) -> Answer:
    """Return what is made of each row's nearest centers, and keep nothing of them.

    While moves are tried they would take as much memory as the trials do, and so would
    what the table keeps of those for later ones.
    """
    X.release()
    answer = use(nearest_of(X, state))
    X.release()
    return answer


def nearest_of(X: Table, state: TrimmedState) -> Nearest:
    """Return each row's nearest centers, with the labels that the state has already."""
    nearest = X.nearest(state.C, state.n_memberships)
    if state.n_memberships == 1:  # those of several are in no order
        nearest = nearest._replace(labels=state.clusters)
        X.release()
    return nearest
