"""The only loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from rtkm.core.states import Iterate

S = TypeVar("S", bound=Iterate)


@dataclass
class Run(Generic[S]):
    """A descent under way: its last state, and the objective after every step."""

    state: S
    path: list[float] = field(default_factory=list)
    converged: bool = False

    def __post_init__(self) -> None:
        self.path.append(self.state.objective)

    @property
    def how_it_ended(self) -> str:
        """What a run that did not settle was doing."""
        if len(self.path) < 2:
            return "after its first iteration"
        before, now = self.path[-2:]
        fall = (before - now) / before if before else 0.0
        return f"with the objective still falling by {fall:.0e} of itself"

    def move_to(self, state: S) -> None:
        """Take the next state."""
        self.state = state
        self.path.append(state.objective)


def descend(
    step: Callable[[S], S],
    run: Run[S],
    *,
    max_iter: int,
    tol: float = 0.0,
    watch: Callable[[S], object] | None = None,
    until: Callable[[Run[S]], bool] = lambda run: False,
) -> Run[S]:
    """Repeat the step until the state settles; the run always holds the last one."""
    run.converged = False
    while not (run.converged or run.state.n_iter >= max_iter or until(run)):
        last = run.state
        run.move_to(replace(step(last), n_iter=last.n_iter + 1))
        run.converged = run.state.settled(last, tol)
        if watch:
            watch(run.state)
    return run
