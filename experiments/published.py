"""The paper's experiments as its program ran them, slips included.

Nothing here is meant for data of your own: `rtkm.RTKM` and `rtkm.metrics.average_f1` do
what the paper describes.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from rtkm.clusterers.kmor import KMOR
from rtkm.clusterers.neo import NEOKMeans
from rtkm.core.descent import Run, descend
from rtkm.core.states import State
from rtkm.core.table import Table, one_hot
from rtkm.metrics._f1 import _f1

STEP = 1.1  # of memberships and inlier weights alike
ANCHOR = 2.0  # rows that the anchor of a center counts for


class Outcome(NamedTuple):
    """What a method of the program ends with; `sets` (n, k) may still hold outliers."""

    C: NDArray[np.float64]
    W: NDArray[np.float64]
    v: NDArray[np.float64]
    sets: NDArray[np.bool_]
    outlier_mask: NDArray[np.bool_]
    n_iter: int
    converged: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class Iterate(State):
    """A state that also knows the centers before its own."""

    earlier: NDArray[np.float64]

    def settled(self, last: State, tol: float) -> bool:
        """Whether memberships, inlier weights and centers together hardly moved.

        Under weights at rest centers move every other time, so this can be too early.
        """
        gap = (
            STEP * np.linalg.norm(self.W - last.W)
            + STEP * np.linalg.norm(self.v - last.v)
            + np.linalg.norm(self.C - last.C)
        )
        return bool(gap < tol)


def published_rtkm(
    X: ArrayLike,
    C0: ArrayLike,
    n_memberships: int,
    contamination: float,
    max_iter: int = 1000,
    tol: float = 1e-6,
) -> Outcome:
    """Run RTKM as the program did.

    Unlike in the paper, weights start infeasible, at W = 0 and v = 1; the count of
    outliers is truncated; centers are drawn to those of two iterations ago; the cost of
    a row is its squared distance to the *sum* of its centers; every row with v < 1 is
    an outlier, and every w > 0 a membership.
    """
    rows = Table(np.ascontiguousarray(X, dtype=np.float64), None)
    C = np.array(C0, dtype=np.float64, order="C")
    start = Iterate(
        C=C,
        W=np.zeros((rows.n_rows, len(C))),
        v=np.ones(rows.n_rows),
        objective=np.inf,
        earlier=C,
    )
    n_kept = rows.n_rows - int(contamination * rows.n_rows)
    run = descend(
        lambda state: _step(rows, state, n_memberships, n_kept),
        Run(start),
        max_iter=max_iter,
        tol=tol,
    )
    C, W, v = run.state.C, run.state.W, run.state.v
    sets = one_hot(W.argmax(axis=1), len(C)) if n_memberships == 1 else W > 0
    return Outcome(C, W, v, sets, v < 1, run.state.n_iter, run.converged)


def _step(X: Table, state: Iterate, n_memberships: int, n_kept: int) -> Iterate:
    sums, masses = X.weighted_sums(state.v[:, None] * state.W)
    C = (sums + ANCHOR * state.earlier) / (masses + ANCHOR)[:, None]
    D = X.squared_distances(C)
    W = X.project_rows(state.W - state.v[:, None] * D / STEP, n_memberships)
    cost = X.squared_residuals(W, C)
    v = X.project(state.v - cost / STEP, n_kept)
    return Iterate(C=C, W=W, v=v, objective=X.total(v * cost), earlier=state.C)


def published_kmor(
    X: ArrayLike, C0: ArrayLike, contamination: float, cutoff_factor: float
) -> Outcome:
    """Run KMOR as the program did; it gave the final centers of RTKM as `C0`."""
    n_outliers = int(contamination * len(np.asarray(X)))
    model = KMOR(
        len(np.asarray(C0)),
        outlier_step="published",
        cutoff_factor=cutoff_factor,
        max_outliers=n_outliers,
        init=C0,
        max_iter=100,
    )
    return _outcome(model, X)


def published_neo(
    X: ArrayLike, C0: ArrayLike, contamination: float, overlap: float
) -> Outcome:
    """Run NEO-k-means as the program did; it gave the final centers of RTKM as `C0`."""
    n_outliers = int(contamination * len(np.asarray(X)))
    model = NEOKMeans(
        len(np.asarray(C0)), overlap=overlap, contamination=n_outliers, init=C0
    )
    return _outcome(model, X)


def _outcome(model: Any, X: ArrayLike) -> Outcome:
    with warnings.catch_warnings():
        # the program stopped there without a word; `converged` tells
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X)
    return Outcome(
        model.cluster_centers_,
        np.asarray(model.memberships_, dtype=np.float64),
        model.inlier_weights_,
        model.assignments_,
        model.outlier_mask_,
        model.n_iter_,
        model.converged_,
    )


class Counts(NamedTuple):
    """Rows found, wrongly found and missed, for each true set in turn."""

    tp: NDArray[np.int64]
    fp: NDArray[np.int64]
    fn: NDArray[np.int64]


def greedy_f1(
    truth_sets: NDArray[np.bool_],
    sets: NDArray[np.bool_],
    truth_outliers: NDArray[np.bool_] | None = None,
    outlier_mask: NDArray[np.bool_] | None = None,
    *,
    average: Literal["macro", "micro"] = "macro",
) -> float:
    """Score predicted sets as the program did, which need not be the best matching.

    Sets are (n, k) booleans, outliers (n,). Given both masks, the outliers are one more
    pair of sets. The shuttle figure has the micro average, all others the macro one.
    """
    tp, fp, fn = greedy_counts(truth_sets, sets, truth_outliers, outlier_mask)
    if average == "micro":
        tp, fp, fn = (np.atleast_1d(count.sum()) for count in (tp, fp, fn))
    return float(np.mean(2 * tp / np.maximum(2 * tp + fp + fn, 1)))


def greedy_counts(
    truth_sets: NDArray[np.bool_],
    sets: NDArray[np.bool_],
    truth_outliers: NDArray[np.bool_] | None = None,
    outlier_mask: NDArray[np.bool_] | None = None,
) -> Counts:
    """Count what matched sets share; outliers leave them only after the matching."""
    if truth_sets.shape != sets.shape:
        raise ValueError(
            f"sets has shape {sets.shape}; expected that of truth_sets, "
            f"{truth_sets.shape}."
        )
    T = truth_sets
    Q = sets[:, np.argsort(_claims(_f1(T, sets)[0].T))]
    if outlier_mask is not None:
        Q = Q & ~outlier_mask[:, None]
        if truth_outliers is not None:
            T = np.column_stack([T, truth_outliers])
            Q = np.column_stack([Q, outlier_mask])
    return Counts(*(pair.sum(axis=0) for pair in (T & Q, ~T & Q, T & ~Q)))


def _claims(f1: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the true set, a column, that each predicted set, a row, ends up with."""
    ranking = np.argsort(-f1, axis=1, kind="stable")
    rank = np.zeros(len(f1), dtype=np.int64)
    while True:
        claimed = np.take_along_axis(ranking, rank[:, None], axis=1)[:, 0]
        true_sets, n_claims = np.unique(claimed, return_counts=True)
        if (n_claims == 1).all():
            return claimed
        for true_set in true_sets[n_claims > 1]:
            rivals = np.flatnonzero(claimed == true_set)
            winner = rivals[f1[rivals, true_set].argmax()]
            # they go on to their next choice even where it is taken
            rank[rivals[rivals != winner]] += 1
