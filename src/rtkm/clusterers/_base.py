"""What every clusterer shares: fitting, fitted attributes, and answers for new rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from rtkm._warnings import warn
from rtkm.clusterers._predict import PredictMixin
from rtkm.clusterers._rule import RowResults
from rtkm.core.callbacks import CallbackMixin, StoppedByCallback
from rtkm.core.columns import rowwise
from rtkm.core.descent import Run, descend
from rtkm.core.params import (
    Auto,
    Count,
    RandomState,
    Tolerance,
    Verbosity,
    Watcher,
    check_params,
    is_name,
)
from rtkm.core.scale_check import warn_of_scale
from rtkm.core.sketch import sketch_of
from rtkm.core.sources import in_partitions, partitioned
from rtkm.core.states import DUST, Iterate, largest_first, read_only
from rtkm.core.swaps import swap_centers
from rtkm.core.table import Table, rounding_of
from rtkm.core.threshold import boundary
from rtkm.core.validation import check_row_count, names_of, validate, validate_centers
from rtkm.seeding import SEEDINGS, Init

# different rows below which a fit is so fast that several starts are no loss
FEW_ROWS = 50


@dataclass(eq=False, repr=False, kw_only=True)
class PrototypeClusterer(CallbackMixin, PredictMixin):
    """Base of all clusterers with centers.

    A subclass is a dataclass whose fields are its parameters. It gives two methods:
    ``_start(X, C)``, the state at the starting centers, and ``_step(X, state)``, the
    next state; both are written in the words of :class:`rtkm.core.table.Table`. A
    method that judges new rows by another rule than nearest centers also gives
    ``_rule``, a :class:`rtkm.clusterers._rule.FittedRule` of its own, made of what
    ``_learn`` keeps; ``_check`` refuses parameters that do not suit the table.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    init : str, array-like or callable, default="k-means++"
        Starting centers: ``"robust-k-means++"``, ``"robust-k-means||"``,
        ``"k-means++"``, ``"random"`` or ``"robin"`` (see :mod:`rtkm.seeding`), the
        centers themselves, of shape (n_clusters, n_features), or a callable
        ``init(X, n_clusters, random_state)`` that returns them.
    n_init : "auto" or int, default="auto"
        Number of starts, of which the one with the lowest objective is kept. ``"auto"``
        is 1 where the starting centers are fixed, or where swaps run; but 3 with
        several memberships, and 10 without swaps or of fewer than 50 different rows.
    max_iter : int, default=300
        Maximum number of steps of one descent.
    tol : float, default=1e-6
        Relative decrease of the objective at which to stop, for methods with fractional
        memberships or sets of clusters. Methods that assign rows to their nearest
        centers stop when no row changes its cluster, and ignore it.
    random_state : int, RandomState or None, default=None
        Makes random starts and swaps reproducible.
    verbose : int, default=0
        Above 0, prints the objective after every step, and Ctrl-C ends the fit with the
        best state so far instead of raising.
    on_step : callable or None, default=None
        Called as ``on_step(state)`` after every step. ``state.C``, ``state.W`` and
        ``state.v`` are the centers, memberships and inlier weights as in the papers;
        ``state.objective`` and ``state.n_iter`` go with them. The arrays are read-only.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centers.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, the nearest if it is in several; -1 for outliers.
    cluster_sizes_ : ndarray of shape (n_clusters,)
        Number of rows with each label.
    memberships_ : ndarray of shape (n_samples, n_clusters)
        Membership weights; computed when asked for.
    assignments_ : ndarray of shape (n_samples, n_clusters)
        Whether a row belongs to a cluster; outliers belong to none. Computed when asked
        for.
    outlier_mask_ : ndarray of shape (n_samples,)
        Whether a row is an outlier.
    outlier_scores_ : ndarray of shape (n_samples,)
        Squared distance of each row to the nearest center; larger is more outlying.
    inlier_weights_ : ndarray of shape (n_samples,)
        Share of each row that is kept: 1 for inliers, 0 for outliers, and between them
        for a row that is kept in part.
    n_outliers_ : int
        Number of outliers.
    objective_ : float
        Final value of the objective.
    inertia_ : float
        Same as ``objective_``, by its name in :class:`sklearn.cluster.KMeans`.
    objective_path_ : ndarray of shape (n_values,)
        The objective at the start, after every step, and after every swap that lowered
        it.
    offset_ : float
        Score between inliers and outliers, see :meth:`decision_function`; -inf if no
        new row is ever an outlier.
    n_iter_ : int
        Number of steps of the last descent.
    converged_ : bool
        Whether the last descent converged within ``max_iter`` steps.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen during fit; set only if all of them are strings.
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

    # what decides how many outliers there are: a number that was "asked" for, a
    # "choice", a "limit", or a "rule" of the method
    _outliers_decided_by: ClassVar[str] = "rule"

    # whether the fit is made of words that tables in partitions have, too
    _runs_in_partitions: ClassVar[bool] = False

    # whether a fit says that one column decides alone; a TableModel has seen to that
    _warns_of_scale: ClassVar[bool] = False

    # What a method is made of

    def _start(self, X: Table, C: NDArray[Any]) -> Iterate:
        """Return the state at the starting centers."""
        raise NotImplementedError

    def _step(self, X: Table, state: Any) -> Iterate:
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

    def _inlier_variance(self, X: Table) -> float:
        """Return the variance of a feature over what is kept."""
        kept = self.inlier_weights_
        n_squares = X.total(kept) * X.n_features * self._n_nearest_fitted
        return X.total(kept * self.outlier_scores_) / n_squares

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
            The same object, fitted.

        Examples
        --------
        >>> from rtkm import KMOR
        >>> X = [[0.0], [1.0], [10.0], [11.0], [100.0]]
        >>> KMOR(2, max_outliers=1, random_state=0).fit(X).labels_
        array([ 0,  0,  1,  1, -1], dtype=int32)
        """
        return self._fit(X)

    def _fit(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        check_params(self)
        rows = in_partitions(X)
        if rows is None:
            table = validate(self, X, sample_weight)
        else:
            self._check_partitions()
            table = partitioned(self, rows, sample_weight)
        try:
            self._fit_told(table)
        finally:
            table.close()
        return self

    def _check_partitions(self) -> None:
        """Refuse rows in partitions where the fit needs all of them at once."""
        name = type(self).__name__
        if not self._runs_in_partitions:
            raise TypeError(
                f"{name} does not run on rows in partitions; pass them as an array, or "
                "use RTKM, RelaxedKMeans, TrimmedKMeans or KMeansMinusMinus."
            )
        if callable(self.init) or is_name("robin")(self.init):
            raise TypeError(
                f"init={self.init!r} needs all rows in memory, and they come in "
                f"partitions; expected centers, or the name of another init of {name}."
            )

    def _fit_table(self, X: Table) -> None:
        """Search from every start, and keep where the best led."""
        check_row_count(
            X,
            self.n_clusters,
            self._n_trimmed(X),
            f"{self._outliers_by}={getattr(self, self._outliers_by, 0)!r}",
        )
        self._check(X)
        runs: list[Run[Any]] = []
        try:
            for C, rng in self._starting_centers(X):
                runs.append(Run(self._start(X, C)))
                self._search(X, runs[-1], rng)
                runs = [best_of(X, runs)]
        except StoppedByCallback:
            pass
        except KeyboardInterrupt:
            if not (self.verbose and runs):
                raise
            warn(
                f"{type(self).__name__} was interrupted; the best state is kept.",
                ConvergenceWarning,
            )
        self._publish(X, best_of(X, runs))

    @property
    def _seeds_itself(self) -> bool:
        """Whether starting centers are sought, and not given."""
        return isinstance(self.init, str) or callable(self.init)

    def _starting_centers(
        self, X: Table
    ) -> Iterator[tuple[NDArray[Any], np.random.RandomState]]:
        """Yield the centers of every start, with the source of further randomness."""
        rng = check_random_state(self.random_state)
        if not self._seeds_itself or is_name("robin")(self.init):
            n_init = 1
        elif self.n_init == "auto":
            n_init = self._n_starts(X)
        else:
            n_init = self.n_init
        for _ in range(n_init):
            yield self._seed(X, rng), rng

    def _n_starts(self, X: Table) -> int:
        """Return how many starts are worth their time: swaps spare most of them."""
        if self._n_swaps() == 0 or X.count_distinct(FEW_ROWS) < FEW_ROWS:
            return 10
        return 3 if self._n_nearest() > 1 else 1

    def _seed(self, X: Table, rng: np.random.RandomState) -> NDArray[Any]:
        """Return one set of starting centers, a copy of what the caller owns."""
        k = self.n_clusters
        if isinstance(self.init, str):
            return SEEDINGS[self.init](X, k, self._n_trimmed(X), rng)
        given = self.init
        if callable(given):
            given = given(read_only(X.X), k, random_state=rng)
        return validate_centers(self, given, X)

    def _search(self, X: Table, run: Run[Any], rng: np.random.RandomState) -> None:
        """Descend from the start, and on from every swap that pays."""
        with self._start_told(X) as tell:
            watch = self._watcher(tell)
            if watch:
                watch(run.state)

            def step(state: Any) -> Any:
                return self._step(X, state)

            # more than everything is everything, and its square must not overflow
            tol = min(float(self.tol), 1e100)
            descend(step, run, max_iter=self._n_steps(), tol=tol, watch=watch)
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

    def _watcher(
        self, tell: Callable[[Iterate], None] | None
    ) -> Callable[[Any], object] | None:
        """Return what is called after every step."""
        if not (self.verbose or self.on_step or tell):
            return None

        def watch(state: Iterate) -> None:
            if self.verbose:
                name = type(self).__name__
                print(f"{name}: step {state.n_iter}, objective {state.objective:.9g}")
            if self.on_step:
                self.on_step(read_only(state))
            if tell:
                tell(state)

        return watch

    def _publish(self, X: Table, run: Run[Any]) -> None:
        """Turn the best run into fitted attributes."""
        X.release()
        # centers that were given keep their numbers
        order = np.arange(len(run.state.C))
        if self._seeds_itself:
            order = largest_first(X, run.state)
        state = run.state = run.state.renumbered(order)
        # from here on they are the caller's to change
        self.cluster_centers_ = np.require(state.C, requirements="W")
        self._n_nearest_fitted = self._n_nearest()
        # not known yet
        self.offset_, self._variance_fitted, self._largest_kept = -np.inf, 0.0, np.inf
        self._learn(X, state)
        scores = RowResults(X, self._rule()).scores
        X.release()
        self._memberships = state.compact_memberships()
        self.inlier_weights_ = rowwise(np.require, state.v, requirements="W")
        self.outlier_scores_ = scores
        self.outlier_mask_ = ~self._inliers(X, run)
        kept = ~self.outlier_mask_
        self._largest_kept = float(scores.max(initial=0.0, where=kept))
        self.labels_ = state.labels(X)
        self.offset_ = self._offset(X)
        self._variance_fitted = self._inlier_variance(X)
        if X.weights is not None:  # a row without weight is like one that comes later
            weightless, is_outlier = X.weights == 0, self._rule().is_outlier(scores)
            self.outlier_mask_ = np.where(weightless, is_outlier, self.outlier_mask_)
            self.inlier_weights_ = np.where(
                weightless, ~self.outlier_mask_, self.inlier_weights_
            )
        self.labels_ = np.where(self.outlier_mask_, np.int32(-1), self.labels_)
        self.n_outliers_ = int(self.outlier_mask_.sum())
        self.cluster_sizes_ = X.count_labels(self.labels_, len(state.C))
        self._sketch = sketch_of(X, self.outlier_mask_, self.labels_, state.C)
        self.objective_ = state.objective
        self.objective_path_ = np.array(run.path)
        self.n_iter_ = state.n_iter
        stalled = self._has_stalled(X)
        self.converged_ = run.converged and not stalled
        reason = self._why_unsettled(run, stalled)
        if reason:
            warn(f"{type(self).__name__} {reason}", ConvergenceWarning)
        if self._warns_of_scale and self._column_names is None:
            warn_of_scale(X, self.inlier_weights_, names_of(self, X))

    def _inliers(self, X: Table, run: Run[Any]) -> NDArray[np.bool_]:
        """Return which rows are inliers, by the weights the run ended with."""
        mask: NDArray[np.bool_] = run.state.inlier_mask
        return mask

    def _has_stalled(self, X: Table) -> bool:
        """Whether a run ended before it decided which rows to keep."""
        return False

    def _why_unsettled(self, run: Run[Any], stalled: bool) -> str:
        """Return how a run ended that did not settle, and what to do; else nothing."""
        if run.state.n_iter >= self._n_steps() and not run.converged:
            ended = f"stopped at max_iter={self.max_iter} {run.how_it_ended}"
        elif stalled and run.converged:
            ended = f"stalled after {run.state.n_iter} iterations"
        else:
            return ""
        n_partial = run.state.n_partial
        if not n_partial:
            return f"{ended}; raise max_iter or tol."
        typical = float(np.median(self.outlier_scores_))
        return (
            f"{ended}, leaving {n_partial} of {len(self.labels_)} rows kept or shared "
            "in part; use step='auto', a step well below the squared distances of rows "
            f"to their centers, here about {typical:.1g}, or a larger max_iter."
        )

    def _offset(self, X: Table) -> float:
        """Return the score between inliers and outliers."""
        kept, trimmed = ~self.outlier_mask_, self.inlier_weights_ < 1 - DUST
        if X.weights is not None:
            kept, trimmed = X.counts & kept, X.counts & trimmed
        return -boundary(self.outlier_scores_, kept, trimmed, self._wanted_cut(X))

    def _wanted_cut(self, X: Table) -> float | None:
        """Return the score from which the method would call new rows outliers."""
        return None

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
            The same object, fitted.

        Examples
        --------
        >>> from rtkm import TrimmedKMeans
        >>> model = TrimmedKMeans(1, contamination=0, random_state=0)
        >>> model.fit([[0.0], [6.0]], sample_weight=[2, 1]).cluster_centers_
        array([[2.]])
        """
        return self._fit(X, sample_weight)

    def _offset(self, X: Table) -> float:
        offset, C = super()._offset(X), self.cluster_centers_
        if offset <= -X.squared_rounding(C).max():
            return offset
        if not X.sit_on_centers(self._rows_at_cut(X), C, self._n_nearest_fitted):
            return offset
        # rows on their centers are inliers, whatever rounding makes of their cost; but
        # a center far out must not say what is close at the others
        rounding = np.minimum(rounding_of(C), np.ptp(X.ends, axis=0))
        largest = float(np.square(rounding).sum(axis=1).max())
        gaps = Table(C, None).squared_distances(C)
        closest = float(gaps[gaps > 0].min(initial=np.inf))
        return min(offset, -min(largest, 1e-6 * closest))

    def _rows_at_cut(self, X: Table) -> NDArray[np.intp]:
        """Return the last inlier, and the first row beyond that is not kept whole."""
        scores, counts = self.outlier_scores_, X.counts
        inliers = counts & ~self.outlier_mask_
        costliest = np.array([np.where(inliers, scores, -np.inf).argmax()])
        last = costliest[inliers[costliest]]
        trimmed = counts & (self.inlier_weights_ < 1 - DUST)
        beyond = trimmed & (scores >= scores[last].max(initial=0.0))
        cheapest = np.array([np.where(beyond, scores, np.inf).argmin()])
        return np.concatenate([last, cheapest[beyond[cheapest]]])


def best_of(X: Table, runs: list[Run[Any]]) -> Run[Any]:
    """Return the run of lowest objective; ties keep the earliest."""
    best = runs[0]
    for run in runs[1:]:
        if run.state.level < X.goal_below(best.state):
            best = run
    return best
