"""What methods promise, class by class, and the formulas to hold them to."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
import reference
from numpy.testing import assert_array_equal

from rtkm import (
    ESP,
    ISP,
    KMOR,
    MOC,
    ODC,
    OKM,
    ORC,
    ROKM,
    RTKM,
    FuzzyCMeans,
    KMeansMinusMinus,
    NEOKMeans,
    RelaxedKMeans,
    TrimmedKMeans,
)

FITTED = (
    "cluster_centers_ labels_ memberships_ assignments_ outlier_mask_ outlier_scores_ "
    "inlier_weights_ objective_ objective_path_ offset_ n_iter_ n_outliers_"
).split()

# rows in their nearest clusters, and exactly so many of the costliest trimmed
TRIMMING = (RTKM, RelaxedKMeans, TrimmedKMeans, KMeansMinusMinus)

# a row of weight 2 is that row twice; elsewhere repetition has no weighted form
WEIGHTED = (*TRIMMING, FuzzyCMeans)

# every row, outlier or not, is in one cluster: that of the nearest center
PARTITIONS = (*TRIMMING, KMOR, ORC, ODC)

# a row is explained by a mix of the centers of a set of clusters
MIXES = (OKM, ROKM, MOC, ESP, ISP)

# sets are grown from the nearest cluster on, and kept while that is better: a row of
# the fit may have another set, with another nearest cluster in it, than a new row (so
# may those of the other mixes, from 13 clusters on)
KEEPS_SETS = (OKM, ROKM)

# the start is k-means from `init`, the best of `n_init` of them
STARTS_FROM_KMEANS = (ORC, ESP, ISP, MOC)

# no row is ever an outlier
KEEPS_ALL = (RelaxedKMeans, FuzzyCMeans, *MIXES)

# outliers are the rows of the highest scores, as many as asked for or as pay off; ORC
# does not look at removed rows again, and ODC has a cut-off, not a number
CUTS_BY_SCORE = (RTKM, TrimmedKMeans, KMeansMinusMinus, KMOR, NEOKMeans)

# sums of centers count from the origin, so it matters where that is
HAS_AN_ORIGIN = (MOC,)


def has_fixed_step(model):
    """Proximal steps leave rows where the last projection put them."""
    return getattr(model, "step", "auto") != "auto"


def n_memberships(model):
    """Clusters of a row, where all have as many."""
    return getattr(model, "n_memberships", 1)


def n_trimmed(model, mass):
    """Rows that a trimming method leaves out."""
    share = getattr(model, "contamination", getattr(model, "n_outliers", 0))
    return reference.n_outlier_rows(share, mass)


def squared_distances(model, X):
    return reference.squared_distances(X, model.cluster_centers_)


def assert_same_fit(a, b):
    for name in FITTED:
        assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def with_rounds(model):
    """Make a model take several steps, which ORC does only when told so."""
    return model.set_params(n_rounds=5) if isinstance(model, ORC) else model


def squared_residuals(model, X, C, W):
    """Squared distances of the rows to the mix of their clusters' centers."""
    images = W @ C
    if not isinstance(model, MOC):
        images /= W.sum(axis=1, keepdims=True)
    return np.square(X - images).sum(axis=1)


def row_costs(model, X, C, W):
    """What each row adds to the objective of a fitted model, kept whole."""
    D, size = reference.squared_distances(X, C), W.sum(axis=1)
    if isinstance(model, FuzzyCMeans):
        return (W**model.fuzzifier * D).sum(axis=1)
    if not isinstance(model, MIXES):
        return (W * D).sum(axis=1)
    cost = squared_residuals(model, X, C, W)
    if isinstance(model, ISP):
        return cost + model.overlap_penalty_ * (size - 1)
    if isinstance(model, ROKM) and model.penalty == "size":
        return size**model.overlap_penalty * cost
    if isinstance(model, ROKM):
        return cost + model.overlap_penalty * (W * D).sum(axis=1) / size
    return cost


def objective(model, X, C, W, v):
    """The objective, from the formula in the docstring of each method."""
    total = v @ row_costs(model, X, C, W)
    if isinstance(model, KMOR):
        n_out = len(X) - v.sum()
        return total * (1 + model.cutoff_factor * n_out / (len(X) - n_out))
    return total


def outlier_scores(model, X, fitted_rows):
    """Scores of rows; those that the model was fitted to may set their unit."""
    D = squared_distances(model, X)
    own = squared_distances(model, fitted_rows)
    inliers = ~model.outlier_mask_
    if isinstance(model, KMOR):
        return D.min(axis=1) / own.min(axis=1)[inliers].mean()
    if isinstance(model, ODC):
        nearest = own.argmin(axis=1)
        units = [
            np.sqrt(own[inliers & (nearest == j), j]).mean() for j in range(len(D.T))
        ]
        return np.sqrt(D.min(axis=1)) / np.array(units)[D.argmin(axis=1)]
    if isinstance(model, MIXES):
        sets = model.predict_memberships(X)
        return squared_residuals(model, X, model.cluster_centers_, sets)
    s = n_memberships(model) if isinstance(model, TRIMMING) else 1
    return np.sort(D, axis=1)[:, :s].sum(axis=1)


def cheapest_sets(model, X):
    """Sets of clusters of new rows: the best of all, or grown while the cost falls."""
    C = model.cluster_centers_
    n, k = len(X), len(C)
    order = np.argsort(squared_distances(model, X), axis=1, kind="stable")
    if isinstance(model, KEEPS_SETS):  # the nearest one, the two nearest, ...
        options = [
            np.isin(np.arange(k), row[:size])
            for size in range(1, k + 1)
            for row in order
        ]
        options = np.reshape(options, (k, n, k)).astype(float)
        costs = np.array([row_costs(model, X, C, W) for W in options])
        falls = np.logical_and.accumulate(np.diff(costs, axis=0) < 0, axis=0)
        chosen = falls.sum(axis=0)
    else:
        most = min(n_memberships(model), k) if isinstance(model, ESP) else k
        subsets = [
            np.isin(np.arange(k), subset)
            for size in range(1, most + 1)
            for subset in itertools.combinations(range(k), size)
        ]
        options = np.repeat(np.array(subsets, dtype=float)[:, None], n, axis=1)
        chosen = np.argmin([row_costs(model, X, C, W) for W in options], axis=0)
    return options[chosen, np.arange(n)]


def new_memberships(model, X):
    """Memberships of new rows, from the rule that each method states."""
    D = squared_distances(model, X)
    if isinstance(model, MIXES):
        return cheapest_sets(model, X)
    if isinstance(model, FuzzyCMeans):
        closeness = D ** (-1 / (model.fuzzifier - 1))
        return closeness / closeness.sum(axis=1, keepdims=True)
    expected = np.zeros(D.shape)
    order = np.argsort(D, axis=1)[:, : n_memberships(model)]
    np.put_along_axis(expected, order, 1.0, axis=1)
    if isinstance(model, NEOKMeans):
        expected[model.reach_ >= D] = 1.0
    return expected


NUMBERS = (
    "cluster_centers_ memberships_ inlier_weights_ objective_path_ shares_ "
    "log_likelihood_ reach_ mean_distances_ mean_inlier_cost_ overlap_penalty_ "
    "partition_coefficient_ removal_round_"
).split()


def assert_finite(model, X):
    """No NaN and no infinity in anything a fit leaves or answers."""
    for name in NUMBERS:
        assert np.isfinite(getattr(model, name, 0.0)).all(), name
    assert set(model.labels_) <= set(range(-1, model.n_clusters))
    assert np.isfinite(model.transform(X)).all()
    assert np.isfinite(model.predict_memberships(X)).all()
    assert np.isfinite(model.score(X))
    scores = [model.score_samples(X), -model.outlier_scores_]
    if isinstance(model, KMOR) and model.mean_inlier_cost_ == 0:
        # beside inliers that all sit on their centers, any distance is infinite
        assert set(np.concatenate(scores)) <= {0.0, -np.inf}
    else:
        assert all(np.isfinite(s).all() for s in scores)
    assert not np.isnan(model.decision_function(X)).any()
    assert not np.isnan(model.offset_)


def refuses(message, error=ValueError):
    """Expect an error that says exactly this."""
    return pytest.raises(error, match=f"^{re.escape(message)}$")
