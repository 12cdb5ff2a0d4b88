"""A method that fails or warns is a row of the comparison, and no crash."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from comparisons import LABELS, Distance, Failing, X
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.ensemble import IsolationForest

from rtkm import KMOR, RTKM, compare


class Forgetful(BaseEstimator):
    """It keeps no parameters, so it can be neither copied nor written."""

    def __init__(self, n_clusters=3):
        pass

    def fit(self, X, y=None):
        return self


class Vague(BaseEstimator):
    """Scores that are no numbers, so that a metric refuses them."""

    def fit(self, X, y=None):
        self.outlier_mask_ = np.zeros(len(X), dtype=bool)
        self.outlier_scores_ = np.full(len(X), np.nan)
        return self


def test_failures_are_rows():
    methods = [Failing(), KMOR(3), Forgetful(), RTKM(3, contamination=2.5), KMOR(500)]
    frame = compare(X, methods, LABELS)
    assert frame["error"].tolist()[0] == "ValueError: no luck"
    assert frame["error"].tolist()[1] == ""
    assert frame["error"].tolist()[2].startswith("AttributeError: ")
    assert frame["error"].tolist()[3].startswith("ValueError: contamination=2.5 is not")
    assert "needs at least 500 rows" in frame["error"].tolist()[4]
    assert frame["n_outliers"].isna().tolist() == [True, False, True, True, True, False]


@pytest.mark.parametrize("init", ["k-means++", "random", "robin"])
def test_too_few_rows_are_a_failure_for_any_seeding(init):
    frame = compare(X[:4], ["KMOR", KMeans()], n_clusters=5, init=init)
    assert (frame["error"].str.startswith("ValueError: n_clusters=5 needs at le")).all()


def test_what_was_found_before_a_failure_stays():
    found = compare(X, [Vague(), Distance()], LABELS).iloc[0]
    assert found["error"].startswith("ValueError: scores holds NaN")
    assert found["seconds"] > 0
    assert found["n_outliers"] == 0
    assert found["outlier_me"] == 1


def test_an_estimator_that_tells_nothing_is_a_failure():
    (error,) = compare(X, [IsolationForest(n_estimators=2)])["error"]
    assert error.startswith("TypeError: IsolationForest has no assignments_, labels_")


def test_all_may_fail():
    frame = compare(X, {"a": Failing(), "b": Failing(KeyError)})
    assert list(frame) == ["method", "start", "seconds", "warnings", "error"]
    assert frame["error"].str.startswith(("ValueError", "KeyError")).all()


def test_ctrl_c_is_no_failure():
    with pytest.raises(KeyboardInterrupt):
        compare(X, [Failing(KeyboardInterrupt)])


def test_warnings_are_text_and_not_shown(recwarn):
    frame = compare(X, [RTKM(3, contamination=0.1, step=1.1, max_iter=2)], LABELS)
    assert frame["warnings"][0].startswith("RTKM stopped at max_iter=2 ")
    assert frame["converged"].tolist() == [False, pd.NA]
    assert frame["error"][0] == ""
    assert not recwarn.list


def test_a_warning_is_told_once():
    (told,) = compare([[0.0], [0.0], [1.0]], ["RelaxedKMeans"], n_clusters=3)[
        "warnings"
    ]
    assert told.count("exceeds the number of distinct rows") == 1


def test_undefined_scores_are_explained():
    # one row is an inlier on both sides, and has no pair
    frame = compare([[0.0], [0.1], [50.0]], [KMOR(1, max_outliers=1)], [-1, 0, -1])
    assert frame["n_outliers"].tolist() == [1, 0]
    assert "ari" not in frame
    assert frame["ari_coverage"][0] == 1 / 3
    assert frame["error"].tolist() == ["", ""]
    assert frame["warnings"].str.contains("ari_on_inliers is undefined").all()
