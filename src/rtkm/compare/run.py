"""One method on one table: where it starts, what it finds, and how good that is."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from rtkm import metrics
from rtkm.compare.basis import stability_share
from rtkm.core.params import Count, check_value, whole_rows
from rtkm.core.states import read_only
from rtkm.core.table import Table
from rtkm.core.validation import check_row_count, validate_centers
from rtkm.metrics._input import memberships
from rtkm.seeding import SEEDINGS

EXPECTED_OUTLIERS = 0.1  # by robust seeding, as the methods expect by default

Record = dict[str, Any]


@dataclass(frozen=True)
class Starts:
    """Starting centers for any number of clusters, drawn once and then kept.

    Each start has two seeds, for its centers and for the methods; so neither depends on
    the other methods of a comparison.
    """

    table: Table
    init: Any
    n_clusters: int | None
    seeds: list[list[int]]
    drawn: dict[tuple[int, int], NDArray[Any]] = field(default_factory=dict)

    def numbers(self, estimator: Any) -> list[int | None]:
        """Return the starts of an estimator; one without `init` has none of ours."""
        if not hasattr(estimator, "init"):
            return [None]
        by_chance = self.init is None or (
            isinstance(self.init, str) and self.init != "robin"
        )
        n_starts = len(self.seeds) if by_chance or callable(self.init) else 1
        return list(range(n_starts))

    def set_up(self, estimator: Any, start: int | None) -> Any:
        """Return an unfitted copy that begins at a start."""
        model = copy_of(estimator, self.n_clusters)
        if start is not None and self.init is not None:
            model.set_params(init=self.centers(model, start))
        seed = self.seeds[start or 0][1]
        unseeded = [
            name
            for name, value in model.get_params().items()
            if name.split("__")[-1] == "random_state" and value is None
        ]
        return model.set_params(**dict.fromkeys(unseeded, seed))

    def centers(self, model: Any, start: int) -> NDArray[Any]:
        """Return a copy of the centers, the same for every model of that size."""
        check_value("n_clusters", model.n_clusters, Count, type(model).__name__)
        key = int(model.n_clusters), start
        if key not in self.drawn:
            self.drawn[key] = self.draw(model, start)
        return self.drawn[key].copy()

    def draw(self, model: Any, start: int) -> NDArray[Any]:
        """Return starting centers for the model."""
        X, k = self.table, model.n_clusters
        check_row_count(X, k)
        rng = np.random.RandomState(self.seeds[start][0])
        if isinstance(self.init, str):
            n_outliers = whole_rows(EXPECTED_OUTLIERS, X.n_rows)
            return SEEDINGS[self.init](X, k, n_outliers, rng)
        given = self.init
        if callable(given):
            given = given(read_only(X.X), k, random_state=rng)
        return validate_centers(model, given, X)


def copy_of(estimator: Any, n_clusters: int | None) -> Any:
    """Return an unfitted copy, with that number of clusters if it takes one."""
    model = clone(estimator)
    if n_clusters is not None and "n_clusters" in model.get_params(deep=False):
        model.set_params(n_clusters=n_clusters)
    return model


class Answer(NamedTuple):
    """What is said of the rows: their clusters (n, K), which are outliers, and how far.

    A detector knows no clusters, a plain clusterer no scores.
    """

    Q: NDArray[np.bool_] | None
    flagged: NDArray[np.bool_]
    scores: NDArray[np.float64] | None = None


def run(
    estimator: Any,
    X: Any,
    T: NDArray[np.bool_] | None,
    starts: Starts,
    start: Any,
    n_resamples: int,
) -> tuple[Record, NDArray[np.bool_] | None]:
    """Fit a copy of the estimator; return what came of it, and its clusters."""
    record: Record = {"start": start}
    Q = None
    with everything_reported(record):
        model = starts.set_up(estimator, start)
        began = time.perf_counter()
        model.fit(X)
        record["seconds"] = time.perf_counter() - began
        record.update(course_of(model))
        answer = answer_of(model)
        Q = answer.Q
        rate(record, answer, T)
        if T is None:
            seed = starts.seeds[start or 0][1]
            record["stability"] = stability_share(
                model, starts.table, n_resamples, seed
            )
    return record, Q


def run_trivial(T: NDArray[np.bool_]) -> Record:
    """Rate the answer that every row is in every cluster."""
    record: Record = {}
    with everything_reported(record):
        # one cluster at least, or else every row would be an outlier
        everything = np.ones((len(T), max(T.shape[1], 1)), dtype=bool)
        rate(record, Answer(everything, np.zeros(len(T), dtype=bool)), T)
    return record


@contextmanager
def everything_reported(record: Record) -> Iterator[None]:
    """Put warnings and a failure into the record, and go on."""
    record["error"] = ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except Exception as error:
            record["error"] = one_line(f"{type(error).__name__}: {error}")
    texts = [one_line(str(warning.message)) for warning in caught]
    record["warnings"] = "; ".join(dict.fromkeys(texts))


def one_line(text: str) -> str:
    """Put a text on one line."""
    return " ".join(text.split())


def course_of(model: Any) -> Record:
    """Return how the fit went, as far as the model tells."""
    course: Record = {}
    for name, kind, attributes in (
        ("objective", float, ("objective_", "inertia_")),
        ("n_iter", int, ("n_iter_",)),
        ("converged", bool, ("converged_",)),
        ("n_standing_out", int, ("n_standing_out_",)),
    ):
        told = [a for a in attributes if getattr(model, a, None) is not None]
        if told:
            course[name] = kind(getattr(model, told[0]))
    return course


def answer_of(model: Any) -> Answer:
    """Return what a fitted model says of its rows."""
    found = getattr(model, "assignments_", None)
    if found is None:
        found = getattr(model, "labels_", None)
    Q = None if found is None else memberships(found, "prediction")
    flagged = getattr(model, "outlier_mask_", None)
    if flagged is None and Q is not None:
        flagged = ~Q.any(axis=1)
    if flagged is None:
        raise TypeError(
            f"{type(model).__name__} has no assignments_, labels_ or outlier_mask_ "
            "after fit; expected a clusterer or a detector with one of them."
        )
    return Answer(Q, np.asarray(flagged), getattr(model, "outlier_scores_", None))


def rate(record: Record, answer: Answer, T: NDArray[np.bool_] | None) -> None:
    """Add what can be said of an answer, alone and against the truth."""
    Q, flagged, scores = answer
    record["n_outliers"] = int(flagged.sum())
    if Q is not None:
        record["n_clusters"] = int(Q.any(axis=0).sum())
        record["cardinality"] = metrics.cardinality(Q)
    if T is None:
        return
    if Q is not None:
        record.update(scores_of_clusters(T, Q))
    outliers = ~T.any(axis=1)
    if outliers.any() and not outliers.all():
        record["outlier_me"] = metrics.outlier_me(outliers, flagged)
        if scores is not None:
            record["outlier_roc_auc"] = metrics.outlier_roc_auc(outliers, scores)
            precision = metrics.outlier_average_precision(outliers, scores)
            record["outlier_average_precision"] = precision


def scores_of_clusters(T: NDArray[np.bool_], Q: NDArray[np.bool_]) -> Record:
    """Score clusters by every metric that applies."""
    record = {
        "average_f1": metrics.average_f1(T, Q),
        "average_f1_micro": metrics.average_f1(T, Q, average="micro"),
        "average_f1_best": metrics.average_f1(T, Q, matching="best"),
        "omega": metrics.omega_index(T, Q),
        "overlapping_nmi": metrics.overlapping_nmi(T, Q),
    }
    if max(T.sum(axis=1).max(), Q.sum(axis=1).max()) <= 1:
        record["ari"], record["ari_coverage"] = metrics.ari_on_inliers(T, Q)
    return record
