"""What is recorded of a clustering: every number a table or figure needs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.published import Outcome, greedy_f1
from rtkm.metrics import average_f1, cardinality, outlier_me

Record = dict[str, float]


def measure(model: Any, T: NDArray[np.bool_]) -> Record:
    """Score a fitted clusterer against the true sets, (n, K); outliers have none."""
    Q = model.assignments_
    record = {
        "f1": average_f1(T, Q),
        "f1_micro": average_f1(T, Q, average="micro"),
        "f1_best_match": average_f1(T, Q, matching="best"),
        "cardinality": cardinality(Q),
        "n_outliers": float(model.n_outliers_),
        "objective": float(model.objective_),
        "n_iter": float(model.n_iter_),
        "converged": float(model.converged_),
    }
    return record | measure_outliers(T, model.outlier_mask_)


def measure_outliers(T: NDArray[np.bool_], found: NDArray[np.bool_]) -> Record:
    """Score what was taken for outliers, where there are any."""
    truth = ~T.any(axis=1)
    if not truth.any():
        return {}
    return {"me": outlier_me(truth, found), "hits": float((truth & found).sum())}


def measure_outcome(outcome: Outcome, T: NDArray[np.bool_]) -> Record:
    """Score what a method of the published program ends with, as that program did."""
    outliers = ~T.any(axis=1)
    masks = (outliers, outcome.outlier_mask) if outliers.any() else ()
    record = {
        "f1": greedy_f1(T, outcome.sets, *masks),
        "f1_micro": greedy_f1(T, outcome.sets, *masks, average="micro"),
        "cardinality": cardinality(outcome.sets),
        "n_outliers": float(outcome.outlier_mask.sum()),
        "n_iter": float(outcome.n_iter),
        "converged": float(outcome.converged),
    }
    return record | measure_outliers(T, outcome.outlier_mask)


def fit_all(
    models: dict[str, Any], X: NDArray[Any], T: NDArray[np.bool_]
) -> dict[str, Record]:
    """Fit every model, and return what each scores.

    A descent cut off by `max_iter` is recorded, and no reason to warn.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: measure(model.fit(X), T) for name, model in models.items()}


def one_set_each(
    classes: NDArray[Any], outliers: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Turn classes into sets, leaving the outliers out of all of them."""
    inlier_classes = np.unique(classes[~outliers])
    return (classes[:, None] == inlier_classes) & ~outliers[:, None]
