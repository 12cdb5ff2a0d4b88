"""LDOF: the worked example, degenerate neighborhoods, and what is available when."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.neighbors import LocalOutlierFactor

from rtkm import LDOF
from rtkm.datasets import make_outlier_blobs

SQUARE = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [4, 4]], dtype=float)


def test_the_worked_example():
    model = LDOF(3, contamination=1).fit(SQUARE)
    # corners: neighbors are the other corners, dbar = Dbar = (1 + 1 + sqrt 2) / 3
    # (4, 4): sqrt 18 to (1, 1) and 5 to (1, 0) and (0, 1), dbar = 4.747547, and again
    # Dbar = 1.138071 among them; the quotient is 4.171573
    assert_allclose(model.outlier_scores_, [1, 1, 1, 1, 4.171573], atol=1e-6)
    assert_array_equal(model.outlier_mask_, [False] * 4 + [True])
    assert_allclose(model.offset_, -(1 + 4.171573) / 2, atol=1e-6)


def test_new_rows_have_their_neighbors_among_the_training_rows():
    model = LDOF(3, novelty=True).fit(SQUARE[:4])
    # (0, 0) is its own neighbor now: distances 0, 1, 1, and 1, 1, sqrt 2 among them
    # (2, 2): sqrt 2 to (1, 1), sqrt 5 to (1, 0) and (0, 1); 1, 1, sqrt 2 among them
    expected = [
        (2 / 3) / ((2 + np.sqrt(2)) / 3),
        (np.sqrt(2) + 2 * np.sqrt(5)) / (2 + np.sqrt(2)),
    ]
    assert_allclose(-model.score_samples([[0, 0], [2, 2]]), expected, rtol=1e-12)


@pytest.mark.parametrize("n_features", [2, 9])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_factors_are_those_of_the_definition(n_features, form):
    rng = np.random.default_rng(n_features)
    X = rng.normal(size=(90, n_features), scale=10).round()  # with ties
    model = LDOF(6, novelty=True).fit(form(X[:70]))
    own = [reference.ldof(X[i], X[:70], 6, own=i) for i in range(70)]
    new = [reference.ldof(x, X[:70], 6) for x in X]
    assert_allclose(model.outlier_scores_, own, rtol=1e-7)
    assert_allclose(-model.score_samples(form(X)), new, rtol=1e-7)


def test_neighbors_that_coincide():
    # three rows at 0, and 7: the neighbors of a row at 0 are at 0, so 0 / 0 counts as
    # 1; those of 7 are at 0 too, so it is infinitely far outside
    model = LDOF(2, contamination=1).fit(reference.column(0, 0, 0, 7))
    assert_array_equal(model.outlier_scores_, [1, 1, 1, np.inf])
    assert_array_equal(model.outlier_mask_, [False, False, False, True])
    assert model.offset_ == -1
    new = LDOF(2, contamination=1, novelty=True).fit(reference.column(0, 0, 0, 7))
    assert_array_equal(new.score_samples([[0], [3]]), [-1, -np.inf])
    assert_array_equal(new.predict([[0], [3]]), [1, -1])


def test_a_row_is_not_its_own_neighbor_but_its_duplicates_are():
    # 0 and its duplicate: neighbors of each are the other and 3, dbar = (0 + 3) / 2,
    # Dbar = 3; of 3: the two at 0, dbar = 3, Dbar = 0; of 10: 3 and the first 0,
    # dbar = 8.5, Dbar = 3
    model = LDOF(2).fit(reference.column(0, 0, 3, 10))
    assert_allclose(model.outlier_scores_, [0.5, 0.5, np.inf, 8.5 / 3])


def test_ties_go_to_the_first_rows():
    # neighbors of (0, 0) at distance 1: the first two of four. If they are (1, 0) and
    # (-1, 0), which are 2 apart, LDOF is 1 / 2; if (1, 0) and (0, 1), 1 / sqrt 2
    across = [[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]]
    around = [[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1]]
    assert_allclose(LDOF(2).fit(across).outlier_scores_[0], 1 / 2)
    assert_allclose(LDOF(2).fit(around).outlier_scores_[0], 1 / np.sqrt(2))


@pytest.mark.parametrize(("contamination", "expected"), [(0, 1), (1, 1), (2, -1)])
def test_no_answer_is_nan_where_factors_are_infinite(contamination, expected):
    # 7 and -50 lie infinitely far outside three equal rows, and so does a new row at 3;
    # with one of them to be marked the cut is infinite, and keeps what lies on it
    X = reference.column(0, 0, 0, 7, -50)
    model = LDOF(2, contamination=contamination, novelty=True).fit(X)
    assert_array_equal(model.outlier_scores_, [1, 1, 1, np.inf, np.inf])
    decision = model.decision_function(reference.column(0, 3))
    assert not np.isnan(decision).any()
    assert_array_equal(model.predict(reference.column(0, 3)), [1, expected])


def test_factors_have_no_units_and_no_place():
    X, _, _ = make_outlier_blobs(200, 3, 4, random_state=0)
    expected = LDOF(10).fit(X).outlier_scores_
    for same in (X * 1e-6, X + 1e6, X[:, ::-1] * -3 + 7):
        assert_allclose(LDOF(10).fit(same).outlier_scores_, expected, rtol=1e-7)


def test_the_order_of_the_rows_does_not_matter():
    X, _, _ = make_outlier_blobs(300, 2, 4, random_state=1)
    order = np.random.default_rng(0).permutation(300)
    model, shuffled = LDOF().fit(X), LDOF().fit(X[order])
    assert_allclose(shuffled.outlier_scores_, model.outlier_scores_[order], rtol=1e-12)
    assert_array_equal(shuffled.outlier_mask_, model.outlier_mask_[order])


def test_methods_are_available_as_in_scikit_learn():
    methods = ("fit_predict", "predict", "score_samples", "decision_function")
    for novelty in (False, True):
        ours, theirs = LDOF(3, novelty=novelty), LocalOutlierFactor(novelty=novelty)
        for name in methods:
            assert hasattr(ours, name) == hasattr(theirs, name), (name, novelty)
        ours.fit(SQUARE)
        assert ours.outlier_scores_.shape == (5,)


def test_methods_that_are_not_available_say_why():
    # scikit-learn puts the reason behind an error that names the class
    with pytest.raises(AttributeError) as refused:
        LDOF(3).fit(SQUARE).predict(SQUARE)
    assert str(refused.value.__cause__).endswith("novelty=True to judge new ones.")
    with pytest.raises(AttributeError) as refused:
        LDOF(3, novelty=True).fit_predict(SQUARE)
    assert "use novelty=False to judge" in str(refused.value.__cause__)


@pytest.mark.parametrize(("k", "n"), [(20, 20), (5, 5), (2, 2), (20, 1)])
def test_as_many_neighbors_as_rows_are_refused(k, n):
    way_out = "" if k == 2 else ", so lower n_neighbors"
    message = f"^n_neighbors={k} needs at least {k + 1} rows; X has n_samples={n}"
    with pytest.raises(ValueError, match=f"{message}{way_out}[.]$"):
        LDOF(k).fit(np.arange(n)[:, None])
    assert LDOF(k).fit(np.arange(k + 1)[:, None]).outlier_scores_.shape == (k + 1,)


def test_the_number_of_neighbors_follows_small_tables():
    X = np.random.default_rng(0).normal(size=(30, 2))
    for n, k in ((3, 2), (10, 9), (20, 19), (21, 20), (30, 20)):
        automatic, given = LDOF().fit(X[:n]), LDOF(k).fit(X[:n])
        assert_array_equal(automatic.outlier_scores_, given.outlier_scores_)
    message = "^n_neighbors='auto' needs at least 3 rows; X has n_samples=2[.]$"
    with pytest.raises(ValueError, match=message):
        LDOF().fit(X[:2])


def test_neighbors_set_after_the_fit_change_no_answer():
    model = LDOF(3, novelty=True).fit(SQUARE)
    scores = model.score_samples(SQUARE)
    assert_array_equal(model.set_params(n_neighbors=2).score_samples(SQUARE), scores)
