"""Many methods side by side: the frame, its scores and its names."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from comparisons import LABELS, OVERLAPS, Distance, Failing, X, row, without_times
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.cluster import DBSCAN, KMeans

from rtkm import KMOR, OKM, RTKM, FuzzyCMeans, compare, metrics
from rtkm.compare.frame import TRIVIAL

SCORES = {
    "average_f1": metrics.average_f1,
    "average_f1_micro": lambda t, p: metrics.average_f1(t, p, average="micro"),
    "average_f1_best": lambda t, p: metrics.average_f1(t, p, matching="best"),
    "omega": metrics.omega_index,
    "overlapping_nmi": metrics.overlapping_nmi,
}


# The frame


def test_columns_and_types():
    frame = compare(X, ["RTKM", "OKM"], LABELS, n_clusters=3, random_state=0)
    scores = [*SCORES, "ari", "ari_coverage"]
    scores += ["outlier_me", "outlier_roc_auc", "outlier_average_precision"]
    before = ["method", "start", "objective", "n_clusters", "n_outliers"]
    before += ["n_standing_out", "cardinality"]
    after = ["seconds", "n_iter", "converged", "warnings", "error"]
    assert list(frame) == before + scores + after
    assert list(frame["method"]) == ["RTKM", "OKM", TRIVIAL]
    whole = ["start", "n_clusters", "n_outliers", "n_iter"]
    assert all(frame[c].dtype == "Int64" for c in whole)
    assert all(frame[c].dtype == "float64" for c in [*scores, "objective", "seconds"])
    assert frame["converged"].dtype == "boolean"
    assert frame["start"].tolist() == [0, 0, pd.NA]
    assert (frame["error"] == "").all()
    assert (frame["warnings"] == "").all()


def test_without_a_truth_there_are_no_scores_and_no_trivial_row():
    frame = compare(X, ["RTKM"], n_clusters=3)
    assert list(frame) == [
        *("method", "start", "objective", "n_clusters", "n_outliers", "n_standing_out"),
        *("cardinality", "stability"),
        *("seconds", "n_iter", "converged", "warnings", "error"),
    ]
    assert list(frame["method"]) == ["RTKM"]


def test_rows_say_what_the_model_says():
    start = X[:3]
    model = KMOR(3, max_outliers=7, init=start).fit(X)
    found = row(compare(X, [KMOR(3, max_outliers=7)], init=start), "KMOR")
    assert found["objective"] == model.objective_
    assert found["n_outliers"] == model.n_outliers_ > 0
    assert found["n_iter"] == model.n_iter_ > 0
    assert found["converged"] is True
    assert found["cardinality"] == metrics.cardinality(model.assignments_) < 1
    assert found["seconds"] > 0


def test_empty_clusters_do_not_count():
    start = [[0.0], [1.0], [900.0]]
    frame = compare([[0.0], [0.1], [1.0], [1.1]], [KMeans(3)], init=start)
    assert frame["n_clusters"].tolist() == [3]  # scikit-learn fills them
    frame = compare([[0.0], [0.1], [1.0], [1.1]], [OKM(3)], init=start)
    assert frame["n_clusters"].tolist() == [2]


# Scores


@pytest.mark.parametrize("truth", [LABELS, OVERLAPS], ids=["labels", "memberships"])
def test_scores_are_those_of_the_metrics(truth):
    start = X[:3]
    models = {
        "KMOR": KMOR(3, init=start).fit(X),
        "OKM": OKM(3, init=start).fit(X),
        "FuzzyCMeans": FuzzyCMeans(3, init=start).fit(X),
    }
    frame = compare(X, models, truth, init=start)
    outliers = LABELS == -1
    for name, model in models.items():
        found, Q = row(frame, name), model.assignments_
        for score, metric in SCORES.items():
            assert found[score] == metric(truth, Q), score
        assert found["outlier_me"] == metrics.outlier_me(outliers, model.outlier_mask_)
        ranked = outliers, model.outlier_scores_
        assert found["outlier_roc_auc"] == metrics.outlier_roc_auc(*ranked)
        precision = metrics.outlier_average_precision(*ranked)
        assert found["outlier_average_precision"] == precision
    assert not frame["cardinality"].duplicated().any()


def test_the_rand_index_is_for_single_labels_on_both_sides():
    frame = compare(X, ["KMOR", "OKM"], LABELS, n_clusters=3, init=X[:3])
    expected = metrics.ari_on_inliers(LABELS, KMOR(3, init=X[:3]).fit(X).labels_)
    found = row(frame, "KMOR")
    assert (found["ari"], found["ari_coverage"]) == expected
    assert np.isnan(row(frame, "OKM")["ari"])
    assert np.isnan(row(frame, TRIVIAL)["ari"])
    assert "ari" not in compare(X, ["KMOR"], OVERLAPS, n_clusters=3)


@pytest.mark.parametrize("truth", [LABELS, OVERLAPS], ids=["labels", "memberships"])
def test_the_trivial_answer_is_the_last_row(truth):
    last = compare(X, ["KMOR"], truth, n_clusters=2).iloc[-1]
    assert last["method"] == TRIVIAL
    assert last["average_f1"] == metrics.trivial_f1(truth)
    assert last["average_f1_micro"] == metrics.trivial_f1(truth, average="micro")
    assert last["average_f1_best"] == metrics.trivial_f1(truth, matching="best")
    assert last["n_clusters"] == last["cardinality"] == 3
    assert last["n_outliers"] == 0
    assert last["outlier_me"] == 1  # it flags nothing
    assert pd.isna(last["seconds"])


def test_a_truth_without_outliers_scores_none():
    inliers = LABELS >= 0
    frame = compare(X[inliers], ["KMOR", Distance()], LABELS[inliers], n_clusters=3)
    assert not [name for name in frame if name.startswith("outlier")]
    assert (frame["error"] == "").all()
    assert (frame["warnings"] == "").all()


def test_a_truth_of_outliers_alone_still_gives_a_frame():
    frame = compare(X, ["KMOR"], np.full(len(X), -1), n_clusters=3)
    assert frame["error"].tolist() == ["", ""]
    assert frame["average_f1"].iloc[-1] == 0
    assert "outlier_me" not in frame
    assert not frame["warnings"].str.contains("outlier_me").any()


# Other estimators


def test_a_detector_has_scores_of_outliers_only():
    frame = compare(X, [Distance(), KMOR(3)], LABELS)
    found, model = row(frame, "Distance"), Distance(random_state=0).fit(X)
    assert found["error"] == ""
    assert found["n_outliers"] == 12
    outliers = LABELS == -1
    assert found["outlier_me"] == metrics.outlier_me(outliers, model.outlier_mask_)
    area = metrics.outlier_roc_auc(outliers, model.outlier_scores_)
    assert found["outlier_roc_auc"] == area
    absent = ["start", "objective", "n_clusters", "cardinality", *SCORES, "n_iter"]
    assert found[absent].isna().all()


def test_detectors_alone_leave_columns_of_clusters_out():
    frame = compare(X, [Distance()])
    columns = ["method", "start", "n_outliers", "seconds", "warnings", "error"]
    assert list(frame) == columns
    assert frame["start"].dtype == "Int64"


def test_seeds_reach_estimators_inside_estimators():
    class Wrapper(BaseEstimator):
        def __init__(self, inner=None):
            self.inner = inner

        def fit(self, X, y=None):
            self.outlier_mask_ = self.inner.fit(X).outlier_mask_
            return self

    assert compare(X, [Wrapper(Distance())])["error"].tolist() == [""]


def test_clusterers_of_scikit_learn_take_part():
    frame = compare(X, [KMeans(3), DBSCAN(eps=2)], LABELS, init=X[:3])
    model = KMeans(3, init=X[:3]).fit(X)
    found = row(frame, "KMeans")
    assert found["objective"] == pytest.approx(model.inertia_)
    assert found["average_f1"] == metrics.average_f1(LABELS, model.labels_)
    assert found["n_outliers"] == 0
    noise = DBSCAN(eps=2).fit(X).labels_ == -1
    found = row(frame, "DBSCAN")
    assert found["n_outliers"] == noise.sum() > 0
    assert found["outlier_me"] == metrics.outlier_me(LABELS == -1, noise)


# Names and arguments


def test_names_are_classes_or_else_tell_the_parameters():
    methods = ["KMOR", RTKM(3, contamination=0.1), RTKM(5, contamination=0.2)]
    assert compare(X, methods)["method"].tolist() == [
        "KMOR",
        "RTKM(contamination=0.1, n_clusters=3)",
        "RTKM(contamination=0.2, n_clusters=5)",
    ]
    names = compare(X, methods, n_clusters=4)["method"].tolist()
    assert names[2] == "RTKM(contamination=0.2, n_clusters=4)"


def test_long_names_stay_on_a_line():
    options = {"max_iter": 77, "tol": 1e-9, "contamination": 0.25, "n_swaps": 3}
    _, name = compare(X, [RTKM(3, contamination=0.1), RTKM(3, **options, n_init=4)])[
        "method"
    ]
    assert "\n" not in name
    assert "  " not in name
    assert all(option in name for option in options)


def test_a_mapping_gives_names():
    frame = compare(X, {"ours": "RTKM", "theirs": KMOR(3)}, n_clusters=3)
    assert frame["method"].tolist() == ["ours", "theirs"]
    assert (frame["error"] == "").all()


def test_every_clusterer_can_be_called_by_name(clusterer):
    frame = compare(X, [clusterer.__name__], LABELS, n_clusters=3, random_state=0)
    assert frame["method"][0] == clusterer.__name__
    assert frame["error"][0] == ""
    assert frame[["average_f1", "outlier_roc_auc", "objective"]].iloc[0].notna().all()


@pytest.mark.parametrize("kind", [sparse.csr_array, pd.DataFrame, np.ndarray.tolist])
def test_tables_of_any_kind(kind):
    methods = [RTKM(3, contamination=0.1), KMOR(3), KMeans(3)]
    expected = compare(X, methods, LABELS, random_state=0)
    frame = compare(kind(X), methods, pd.Series(LABELS), random_state=0)
    pd.testing.assert_frame_equal(without_times(frame), without_times(expected))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"truth": LABELS[1:]}, "truth has 119 rows and X 120; expected the same"),
        ({"truth": LABELS / 2}, "truth has dtype float64; expected integer labels"),
        ({"init": "kmeans"}, "init='kmeans' is not valid for compare; expected one of"),
        ({"init": X[:3, :1]}, r"init has shape \(3, 1\); expected \(n_clusters"),
        ({"init": [[0.0, np.nan]]}, "init contains NaN"),
        ({"n_starts": 0}, "n_starts=0 is not valid for compare; expected an integer"),
        ({"n_clusters": 2.0}, "n_clusters=2.0 is not valid for compare; expected an "),
        ({"random_state": "a"}, "random_state='a' is not valid for compare"),
        ({"methods": []}, "methods is empty; expected at least one"),
        ({"methods": {}}, "methods is empty; expected at least one"),
        ({"methods": "KMOR"}, "methods='KMOR' is not valid for compare"),
        ({"methods": KMOR()}, r"methods=KMOR\(\) is not valid for compare"),
        (
            {"methods": ["KMQR"]},
            "methods has 'KMQR'; expected .* KMOR, .* ESP,",
        ),
        ({"methods": [KMOR]}, r"methods has <class .*KMOR'>; expected an estimator"),
        ({"methods": ["metrics"]}, "methods has 'metrics'; expected an estimator"),
        ({"methods": [KMOR(), "KMOR"]}, r"methods has KMOR\(\) 2 times; leave one"),
        ({"X": np.where(X == X[5], np.nan, X)}, "contains NaN"),
    ],
)
def test_bad_arguments_are_refused_before_any_fit(arguments, message):
    given = {"X": X, "methods": [Failing(KeyboardInterrupt)]} | arguments
    with pytest.raises((ValueError, TypeError), match=message):
        compare(**given)


def test_pandas_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'compare needs pandas; pip install "rtkm'):
        compare(X, ["KMOR"])


# Progress


class Terminal:
    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def test_progress_is_shown_on_a_terminal_only(monkeypatch, capsys):
    compare(X, ["KMOR"], n_clusters=3)
    assert capsys.readouterr() == ("", "")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    compare(X, ["KMOR"], n_clusters=3, progress=False)
    assert terminal.text == ""
    compare(X, ["KMOR"], n_clusters=3)
    assert "KMOR" in terminal.text
    assert "1/1" in terminal.text
