"""What a fit tells the callbacks of scikit-learn, which has them since version 1.9."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from typing import Any, Self

from rtkm.core.descent import Run
from rtkm.core.states import Iterate, read_only
from rtkm.core.table import Table

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nobody to tell."""

    def with_callbacks(method: Any) -> Any:
        """Return the method as it is."""
        return method


class StoppedByCallback(Exception):  # noqa: N818  # no error
    """A callback wants no further steps, or no further starts."""


class CallbackMixin(CallbackSupportMixin):
    """Tells callbacks of the fit, of each start and of each step; costs nothing else.

    Steps are tasks within starts, and starts within the fit. A callback may ask for the
    estimator as if the fit had ended there, and may end the start or the fit.
    """

    _has_callbacks: bool = False
    # the task that starts are part of, while a fit runs
    _fit_task: Any = None

    if hasattr(CallbackSupportMixin, "set_callbacks"):

        def set_callbacks(self, *callbacks: Any) -> Self:
            """Set callbacks of scikit-learn, such as its progress bar.

            Parameters
            ----------
            *callbacks : callbacks
                What is told of the fit, of each start and of each step; none at all
                takes those away that were set.

            Returns
            -------
            self
                The same object.

            Examples
            --------
            >>> from rtkm import RTKM
            >>> from sklearn.callback import ScoringMonitor
            >>> monitor = ScoringMonitor(scoring=lambda model, X: model.objective_)
            >>> model = RTKM(2, contamination=0).set_callbacks(monitor)
            >>> model.fit([[0.0], [1.0], [9.0]])
            RTKM(contamination=0, n_clusters=2)
            """
            super().set_callbacks(*callbacks)
            self._has_callbacks = bool(callbacks)
            return self

        def __sklearn_clone__(self) -> Self:
            """Return a copy that is not fitted and has the same callbacks."""
            twin: Self = super().__sklearn_clone__()
            if self._has_callbacks:
                twin._has_callbacks = True
            return twin

    def _fit_table(self, X: Table) -> None:
        """Search from every start, and keep where the best led."""
        raise NotImplementedError

    def _publish(self, X: Table, run: Run[Any]) -> None:
        """Turn the best run into fitted attributes."""
        raise NotImplementedError

    def _fit_told(self, X: Table) -> None:
        """Fit to a table, and tell of it where somebody listens."""
        if self._has_callbacks:
            self._fit_and_tell(X)
        else:
            self._fit_table(X)

    @with_callbacks
    def _fit_and_tell(self, X: Table) -> None:
        """Fit to a table, and tell callbacks when it begins and ends."""
        # how many starts there will be depends on the table
        self._fit_task = self._init_callback_context(max_subtasks=None)
        told = told_of(self, X)
        try:
            self._fit_task.call_on_fit_task_begin(**told)
            self._fit_table(X)
            self._fit_task.call_on_fit_task_end(**told, reconstruction_attributes={})
        finally:
            del self._fit_task

    @contextmanager
    def _start_told(self, X: Table) -> Iterator[Callable[[Iterate], None] | None]:
        """Tell of one start; gives what is to be called after each of its steps."""
        if self._fit_task is None:
            yield None
            return
        start = self._fit_task.subcontext("start", max_subtasks=None)
        told = told_of(self, X)
        start.call_on_fit_task_begin(**told)
        attributes: Callable[[], dict[str, Any]] | None = None

        def tell(state: Iterate) -> None:
            nonlocal attributes

            def attributes() -> dict[str, Any]:
                return fitted_at(self, X, state)

            step = start.subcontext("step")
            step.call_on_fit_task_begin(**told)
            if step.call_on_fit_task_end(**told, reconstruction_attributes=attributes):
                raise StoppedByCallback

        with suppress(StoppedByCallback):
            yield tell
        if start.call_on_fit_task_end(**told, reconstruction_attributes=attributes):
            raise StoppedByCallback


def told_of(estimator: Any, X: Table) -> dict[str, Any]:
    """Return what every task has in common."""
    return {
        "estimator": estimator,
        "X": lambda: read_only(X.X),
        "metadata": {"sample_weight": X.weights},
    }


def fitted_at(estimator: Any, X: Table, state: Iterate) -> dict[str, Any]:
    """Return the attributes of an estimator whose fit ended with the state."""
    fitted = copy(estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted._publish(X, Run(state))
    return vars(fitted)
