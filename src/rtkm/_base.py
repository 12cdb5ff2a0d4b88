"""What every clusterer shares: fitting, fitted attributes, and answers for new rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from rtkm._admission import admit, admit_centers, check_row_count
from rtkm._descent import DUST, Run, descend
from rtkm._explain import Explanations
from rtkm._offset import boundary
from rtkm._params import (
    Auto,
    Count,
    RandomState,
    Tolerance,
    Verbosity,
    Watcher,
    check_params,
)
from rtkm._swaps import swap_centers
from rtkm._table import Table
from rtkm.seeding import SEEDINGS, Init


@dataclass(eq=False, repr=False, kw_only=True)
class PrototypeClusterer(Explanations):
    """Base of all clusterers with centers.

    A subclass is a dataclass whose fields are its parameters. It gives two methods:
    ``_start(X, C)``, the state at the starting centers, and ``_step(X, state)``, the
    next state; both are written in the words of :class:`rtkm._table.Table`. Those with
    rules of their own for new rows also give ``_rate``, ``_belong``, ``_crisp`` or
    ``_offset``, with what they need for it kept by ``_learn``, and what explains these
    rules (``_split``, ``_targets``, ``_squared_cutoffs``, ``_margins``,
    ``_variances``); ``_check`` refuses parameters that do not suit the table.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    init : str, array of shape (n_clusters, n_features) or callable
        Where centers start: ``"robust-k-means++"``, ``"k-means++"``, ``"random"`` or
        ``"robin"`` (see :mod:`rtkm.seeding`), the centers themselves, or a callable
        ``init(X, n_clusters, random_state)`` that returns them.
    n_init : "auto" or int, default="auto"
        Starts, of which the one with the lowest objective is kept; ``"auto"`` is 1
        where swaps run or the starting centers are fixed, and 10 elsewhere.
    max_iter : int, default=300
        Most steps of one descent.
    tol : float, default=1e-6
        Relative fall of the objective at which methods end that have weights or sets of
        clusters. Those that assign rows to nearest centers end when no row moves any
        more, and do not use it.
    random_state : int, RandomState or None, default=None
        Makes seeds and swaps repeatable.
    verbose : int, default=0
        Above 0, prints the objective after every step, and Ctrl-C ends the fit with the
        best state so far instead of raising.
    on_step : callable, default=None
        Called as ``on_step(state)`` after every step. ``state.C``, ``state.W`` and
        ``state.v`` are centers, memberships and inlier weights as in the papers;
        ``state.objective`` and ``state.n_iter`` go with them.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centers.
    labels_ : ndarray of shape (n_samples,)
        Nearest of the clusters a row belongs to, or -1 for an outlier.
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Membership weights; built when asked for.
    assignments_ : ndarray of shape (n_samples, n_clusters)
        Whether a row, not being an outlier, belongs to a cluster; built when asked for.
    outlier_mask_ : ndarray of shape (n_samples,)
        Whether a row is an outlier.
    outlier_scores_ : ndarray of shape (n_samples,)
        Cost of each row, larger is more outlying.
    inlier_weights_ : ndarray of shape (n_samples,)
        Share of each row that is kept.
    n_outliers_ : int
        Number of outliers.
    objective_, inertia_ : float
        Weighted cost over what is kept.
    objective_path_ : ndarray
        The objective at the start, after every step, and after every swap that paid.
    offset_ : float
        Score between inliers and outliers, see :meth:`decision_function`.
    n_iter_ : int
        Steps of the last descent.
    converged_ : bool
        Whether it came to rest before ``max_iter``.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    """

    n_clusters: Count = field(default=8, kw_only=False)
    init: Init = "k-means++"
    n_init: Auto | Count = "auto"
    max_iter: Count = 300
    tol: Tolerance = 1e-6
    random_state: RandomState = None
    verbose: Verbosity = 0
    on_step: Watcher = None

    # the parameter that says how many outliers there are, for messages
    _outliers_by: ClassVar[str] = "contamination"

    # What a method is made of

    def _start(self, X: Table, C: NDArray[Any]) -> Any:
        """Return the state at the starting centers."""
        raise NotImplementedError

    def _step(self, X: Table, state: Any) -> Any:
        """Return the next state."""
        raise NotImplementedError

    def _n_trimmed(self, X: Table) -> int:
        """Return the number of rows to be trimmed."""
        return 0

    def _kept_mass(self, X: Table) -> float:
        """Return the weight that is not trimmed."""
        return X.mass - self._n_trimmed(X)

    def _n_nearest(self) -> int:
        """Return the number of nearest centers that make up the cost of a row."""
        return 1

    def _n_swaps(self) -> int | str:
        """Return how many swaps to try after a descent."""
        return 0

    def _check(self, X: Table) -> None:
        """Refuse parameters that mean nothing for the table, or for each other."""

    def _learn(self, X: Table, state: Any) -> None:
        """Keep, as fitted attributes, what the method needs besides its centers."""

    def _n_steps(self) -> int:
        """Return the most steps of one descent."""
        return self.max_iter

    # Fitting

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Find clusters and outliers.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows; float32 stays float32.
        y : ignored
            For pipelines.

        Returns
        -------
        self
        """
        return self._fit(X)

    def _fit(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        check_params(self)
        rows = admit(self, X, sample_weight)
        check_row_count(
            rows,
            self.n_clusters,
            self._n_trimmed(rows),
            f"{self._outliers_by}={getattr(self, self._outliers_by, 0)!r}",
            stacklevel=4,
        )
        self._check(rows)
        runs: list[Run] = []
        try:
            for C, rng in self._starting_centers(rows):
                runs.append(Run(self._start(rows, C)))
                self._search(rows, runs[-1], rng)
                runs = [best_of(rows, runs)]
        except KeyboardInterrupt:
            if not (self.verbose and runs):
                raise
            warnings.warn(
                f"{type(self).__name__} was interrupted; the best state is kept.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self._publish(rows, best_of(rows, runs))
        return self

    def _starting_centers(
        self, X: Table
    ) -> Iterator[tuple[NDArray[Any], np.random.RandomState]]:
        """Yield the centers of every start, with the source of further randomness."""
        rng = check_random_state(self.random_state)
        by_chance = isinstance(self.init, str) and self.init != "robin"
        if not (by_chance or callable(self.init)):
            n_init = 1
        elif self.n_init == "auto":
            n_init = 10 if self._n_swaps() == 0 else 1
        else:
            n_init = self.n_init
        for _ in range(n_init):
            yield self._seed(X, rng), rng

    def _seed(self, X: Table, rng: np.random.RandomState) -> NDArray[Any]:
        """Return one set of starting centers, a copy of what the caller owns."""
        k = self.n_clusters
        if isinstance(self.init, str):
            return SEEDINGS[self.init](X, k, self._n_trimmed(X), rng)
        given = self.init
        if callable(given):
            given = given(X.X, k, random_state=rng)
        return admit_centers(self, given, X)

    def _search(self, X: Table, run: Run, rng: np.random.RandomState) -> None:
        """Descend from the start, and on from every swap that pays."""
        watch = self._watcher()
        if watch:
            watch(run.state)

        def step(state: Any) -> Any:
            return self._step(X, state)

        descend(step, run, max_iter=self._n_steps(), tol=self.tol, watch=watch)
        if self._n_swaps() != 0:
            swap_centers(
                X,
                run,
                step,
                n_swaps=self._n_swaps(),
                max_iter=self.max_iter,
                rng=rng,
                watch=watch,
            )

    def _watcher(self) -> Callable[[Any], object] | None:
        """Return what is called after every step."""
        if not self.verbose:
            return self.on_step

        def watch(state: Any) -> None:
            name = type(self).__name__
            print(f"{name}: step {state.n_iter}, objective {state.objective:.9g}")
            if self.on_step:
                self.on_step(state)

        return watch

    def _publish(self, X: Table, run: Run) -> None:
        """Turn the best run into fitted attributes."""
        state = run.state
        X.release()
        self.cluster_centers_ = state.C
        self._n_nearest_fitted = self._n_nearest()
        self._learn(X, state)
        scores = self._rate(X).scores
        X.release()
        self._memberships = state.compact_memberships()
        self.inlier_weights_ = state.v if X.weights is None else state.v.copy()
        self.outlier_mask_ = ~state.inlier_mask
        self.outlier_scores_ = scores
        self.offset_ = self._offset(X)
        self._variance_fitted = self._inlier_variance(X)
        if X.weights is not None:  # a row without weight is like one that comes later
            weightless = X.weights == 0
            self.outlier_mask_[weightless] = -scores[weightless] < self.offset_
            self.inlier_weights_[weightless] = ~self.outlier_mask_[weightless]
        self.labels_ = np.where(self.outlier_mask_, np.int32(-1), state.labels(X))
        self.n_outliers_ = int(self.outlier_mask_.sum())
        self.objective_ = state.objective
        self.objective_path_ = np.array(run.path)
        self.n_iter_ = state.n_iter
        self.converged_ = run.converged
        if not run.converged and state.n_iter >= self._n_steps():
            warnings.warn(
                f"{type(self).__name__} stopped at max_iter={self.max_iter} "
                f"{run.how_it_ended}; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _offset(self, X: Table) -> float:
        """Return the score between inliers and outliers."""
        counts = slice(None) if X.weights is None else X.weights > 0
        scores = self.outlier_scores_[counts]
        trimmed = self.inlier_weights_[counts] < 1 - DUST
        return -boundary(scores, ~self.outlier_mask_[counts], trimmed)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class WeightedClusterer(PrototypeClusterer):
    """Base of the clusterers that count a row of weight 2 as that row twice."""

    def fit(
        self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Find clusters and outliers.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The rows; float32 stays float32.
        y : ignored
            For pipelines.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight 2 counts as that row twice, among the outliers too; so
            weights that sum to 1 are one row in all, and a share of it no row to trim.

        Returns
        -------
        self
        """
        return self._fit(X, sample_weight)

    def _offset(self, X: Table) -> float:
        # rows on their centers are inliers, whatever rounding makes of their cost
        return min(super()._offset(X), -X.squared_rounding(self.cluster_centers_))


def best_of(X: Table, runs: list[Run]) -> Run:
    """Return the run of lowest objective; ties keep the earliest."""
    best = runs[0]
    for run in runs[1:]:
        if run.state.level < X.goal_below(best.state):
            best = run
    return best
