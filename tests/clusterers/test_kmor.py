"""KMOR: cases worked by hand, where its published step rises, and its edges."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reference import column

from rtkm import KMOR
from rtkm.clusterers.kmor import PublishedState
from rtkm.core.validation import make_table

SEVEN = column(0, 1, 2, 10, 11, 12, 40)


def fit_seven(**parameters):
    return KMOR(2, max_outliers=2, init=column(0, 10), **parameters).fit(SEVEN)


def test_the_published_step_worked_by_hand():
    model = fit_seven(cutoff_factor=3, outlier_step="published")
    # At (0, 10) costs are 0, 1, 4, 0, 1, 4, 900 and D = 3 * 910/7 = 390, so 40 goes:
    # S = 10, P = 10 * (1 + 3 * 1/6) = 15. At (1, 11) they are 1, 0, 1, 1, 0, 1, 841 and
    # D = 3 * 4/6 = 2: 40 again, P = 4 * (1 + 3 * 1/6) = 6.
    assert_allclose(model.objective_path_, (15, 6), rtol=1e-15)
    assert_array_equal(model.cluster_centers_, column(1, 11))
    assert_array_equal(model.labels_, (0, 0, 0, 1, 1, 1, -1))
    assert model.converged_
    assert_allclose(model.cutoff_factor * model.mean_inlier_cost_, 2, rtol=1e-15)
    # in units of 4/6
    expected = np.array([1, 0, 1, 1, 0, 1, 841]) / (4 / 6)
    assert_allclose(model.outlier_scores_, expected, rtol=1e-15)


def test_the_published_cutoff_counts_all_rows_at_first():
    # D = 130 gamma against 900, that is gamma = 6.923: 899.6 and 900.9
    near, beyond = (
        fit_seven(cutoff_factor=gamma, outlier_step="published", max_iter=300)
        for gamma in (6.92, 6.93)
    )
    assert_array_equal(np.flatnonzero(near.outlier_mask_), [6])
    assert near.objective_path_[0] == pytest.approx(10 * (1 + 6.92 / 6), rel=1e-15)
    assert beyond.objective_path_[0] == 910


def test_the_published_step_can_be_stuck_with_too_large_a_cutoff():
    model = fit_seven(cutoff_factor=9, outlier_step="published")
    # D = 9 * 910/7 = 1170 > 900: no outlier, (10 + 11 + 12 + 40)/4 = 18.25. There
    # 1 + 0 + 1 + 8.25**2 + 7.25**2 + 6.25**2 + 21.75**2 = 634.75, and D = 816.1 is more
    # than 21.75**2 = 473.1.
    assert_array_equal(model.objective_path_, (910, 634.75))
    assert_array_equal(model.cluster_centers_, column(1, 18.25))
    assert model.n_outliers_ == 0


def test_the_exact_step_worked_by_hand():
    model = fit_seven(cutoff_factor=3)
    # At (0, 10), for no, one and two outliers: 910, 10 * 1.5 = 15, 6 * (1 + 6/5) =
    # 13.2; of 2 and 12, both at 4, the lower row is kept. At (1, 10.5) costs are 1, 0,
    # 1, 1/4, 1/4, 9/4 and 870.25: 875, 4.75 * 1.5 = 7.125, 2.5 * 2.2 = 5.5.
    assert_allclose(model.objective_path_, (13.2, 5.5), rtol=1e-15)
    assert_array_equal(model.cluster_centers_, column(1, 10.5))
    assert_array_equal(model.labels_, (0, 0, 0, 1, 1, -1, -1))
    assert model.mean_inlier_cost_ == 0.5


def one_step(outlier_step):
    """From ten costs 1 (eight times), 1.9 and 100, of which the last two were out."""
    X = column(1, -1, 1, -1, 1, -1, 1, -1, np.sqrt(1.9), 10)
    table, center = make_table(X), column(0)
    trimmed = table.concentrate(center, 1, 8.0)
    state = PublishedState(**{**vars(trimmed), "objective": 8 * (1 + 2 * 2 / 8)})
    model = KMOR(1, max_outliers=2, cutoff_factor=2, outlier_step=outlier_step)
    return state, model._step(table, state)


def test_the_published_step_can_rise_and_the_exact_step_does_not():
    # P = 8 * (1 + 2 * 2/8) = 12. D = 2 * 8/8 = 2 lets 1.9 come back, which makes
    # P = 9.9 * (1 + 2 * 1/9) = 12.1; no outlier at all would cost 109.9.
    last, published = one_step("published")
    assert_array_equal(published.kept, np.arange(10) < 9)
    assert_allclose((last.objective, published.objective), (12, 12.1), rtol=1e-14)
    _, exact = one_step("exact")
    assert_array_equal(exact.kept, np.arange(10) < 8)
    assert_allclose(exact.objective, 12, rtol=1e-14)


# Edges


@pytest.mark.parametrize("outlier_step", ["exact", "published"])
def test_scores_are_zero_or_infinite_where_all_inliers_sit_on_centers(outlier_step):
    X = column(0, 0, 0, 5, 5, 5, 9)
    model = KMOR(2, max_outliers=1, outlier_step=outlier_step, init=column(0, 5))
    model.fit(X)
    assert_array_equal(model.labels_, (0, 0, 0, 1, 1, 1, -1))
    assert model.objective_ == model.mean_inlier_cost_ == 0
    assert_array_equal(model.outlier_scores_, (0, 0, 0, 0, 0, 0, np.inf))
    assert_array_equal(model.predict(X), model.labels_)
    assert_array_equal(model.predict(column(5, 5.1)), (1, -1))
    assert not np.isnan(model.decision_function(X)).any()


@pytest.mark.parametrize("outlier_step", ["exact", "published"])
def test_rows_at_no_cost_are_no_outliers_at_any_factor(outlier_step):
    for factor in (0, 1, 3):
        options = {"outlier_step": outlier_step, "cutoff_factor": factor}
        model = KMOR(2, max_outliers=3, init=column(0, 5), **options)
        model.fit(column(0, 0, 0, 5, 5, 5))
        assert model.n_outliers_ == 0
        assert_array_equal(model.outlier_scores_, np.zeros(6))


def test_a_price_that_ties_takes_the_fewer_outliers():
    # Around 0, costs 1, 1, 4: none costs 6, the last one 2 * (1 + 4/2) = 6.
    table, center = make_table(column(1, -1, 2)), column(0)
    model = KMOR(1, max_outliers=1, cutoff_factor=4, init=center)
    assert model._start(table, center).kept.all()
    model.set_params(cutoff_factor=3.99)
    assert_array_equal(model._start(table, center).kept, (True, True, False))


@pytest.mark.parametrize("outlier_step", ["exact", "published"])
def test_of_equally_far_rows_the_last_is_the_outlier(outlier_step):
    # 20 and -20 are equally far from 0, and only one may go; the start is the mean of
    # the others, so that nothing moves before
    X = column(20, 0, 0, 0, 0, -20)
    model = KMOR(1, max_outliers=1, cutoff_factor=1, outlier_step=outlier_step)
    states = []
    model.set_params(init=column(0), on_step=states.append).fit(X)
    assert_array_equal(states[0].kept, (True, True, True, True, True, False))


@pytest.mark.parametrize("outlier_step", ["exact", "published"])
def test_an_empty_cluster_keeps_its_center(outlier_step):
    start = column(1, 11, 1000)
    model = KMOR(3, max_outliers=1, outlier_step=outlier_step, init=start).fit(SEVEN)
    assert_array_equal(model.cluster_centers_, start)
    assert_array_equal(model.labels_, (0, 0, 0, 1, 1, 1, -1))
    assert model.objective_ == pytest.approx(6, rel=1e-15)  # 4 * (1 + 3/6), as above


def test_outliers_are_never_more_than_the_limit():
    X = np.random.default_rng(0).standard_cauchy(size=(50, 2))
    for limit in range(0, 20, 4):
        for step in ("exact", "published"):
            model = KMOR(3, max_outliers=limit, cutoff_factor=0.5, outlier_step=step)
            model.set_params(random_state=0).fit(X)
            assert model.n_outliers_ == limit  # cheap enough to use them all


def test_the_dearer_outliers_are_the_fewer_there_are():
    X = np.random.default_rng(1).standard_cauchy(size=(60, 1))
    table, center = make_table(X), column(0)
    counts = [
        (~KMOR(1, max_outliers=30, cutoff_factor=g)._start(table, center).kept).sum()
        for g in (0, 0.5, 1, 2, 4, 8, 1e6)
    ]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == 30
    assert counts[-1] == 0


def test_score_tells_numbers_of_clusters_apart(blobs):
    # outlier scores are relative to the inliers, whatever the fit; the score is not
    scores = [KMOR(k, random_state=0).fit(blobs).score(blobs) for k in (1, 3, 6)]
    assert scores[0] < scores[1] < scores[2] < 0
