"""From Python what the command line gives: a page, a few lines, pictures."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import rtkm
from rtkm import CBLOF, LDOF, OKM, RTKM, TableModel, TrimmedKMeans
from rtkm.datasets import make_outlier_blobs

pyplot = pytest.importorskip("matplotlib.pyplot")
pyplot.switch_backend("Agg")
X, _, _ = make_outlier_blobs(300, n_features=3, n_clusters=3, random_state=0)
FRAME = pd.DataFrame(X * [1, 1000, 1], columns=["a", "b", "c"])
NAMED = pd.DataFrame(X, columns=["a", "b", "c"])


@pytest.fixture(scope="module")
def model():
    return TableModel(RTKM(3, contamination=0.1, random_state=0)).fit(FRAME)


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    pyplot.close("all")


def words_of(path):
    text = re.sub(r"<(style|script).*?</\1>", "", path.read_text(), flags=re.S)
    return " ".join(re.sub("<[^>]+>", " ", text).split())


def test_the_page_is_that_of_the_fit(model, tmp_path):
    model.report(FRAME, tmp_path / "page.html")
    words = words_of(tmp_path / "page.html")
    assert "RTKM divides 300 rows into 3 clusters" in words
    assert "30 rows (10 %) were trimmed, as you asked; " in words
    assert "10 fits to half of the rows" in words


def test_a_page_of_new_rows_tells_of_them_alone(model, tmp_path):
    model.report(FRAME[:100], tmp_path / "page.html")
    words = words_of(tmp_path / "page.html")
    n_outliers = int((model.predict(FRAME[:100]) == -1).sum())
    assert "RTKM divides 100 rows into 3 clusters" in words
    assert f"{n_outliers} rows ({n_outliers} %) were trimmed" in words
    assert "fits to half of the rows" not in words


@pytest.mark.parametrize(
    "estimator",
    [
        TrimmedKMeans(3, contamination=0.1, random_state=0),
        OKM(3, random_state=0),
        CBLOF(),
        LDOF(),
        RTKM(3, contamination=0.1, n_memberships=2, random_state=0),
    ],
)
@pytest.mark.parametrize("rows", [X, NAMED], ids=["array", "frame"])
def test_every_estimator_has_a_page_a_summary_and_a_picture(estimator, rows, tmp_path):
    fitted_ones = [estimator.fit(rows)]
    if not isinstance(estimator, LDOF):  # which no file holds
        fitted_ones.append(rtkm.load(saved(estimator, tmp_path)))
    for fitted in fitted_ones:
        fitted.report(rows, tmp_path / "page.html")
        names = ("x0", "x1", "x2") if rows is X else ("a", "b", "c")
        words = words_of(tmp_path / "page.html")
        assert all(name in words for name in names)
        assert fitted.summary().startswith(type(estimator).__name__)
        drawn = fitted.plot(rows)
        # points and crosses are drawn, and centers on top
        n_drawn = sum(len(line.get_xdata()) for line in drawn.lines)
        assert n_drawn >= 300


def saved(estimator, folder):
    estimator.save(folder / "model.rtkm")
    return folder / "model.rtkm"


def test_the_summary_is_the_same_of_a_loaded_model(model, tmp_path):
    text = model.summary()
    assert text.splitlines()[0] == "RTKM: 3 clusters and 30 outliers in 300 rows."
    sizes = np.bincount(model.labels_[model.labels_ >= 0])
    for label, size in enumerate(sizes):
        line = text.splitlines()[2 + label].split()
        assert line[:2] == [str(label), str(size)]
    assert rtkm.load(saved(model, tmp_path)).summary() == text


def test_a_table_model_and_its_rows_may_lack_some(tmp_path):
    frame = FRAME.copy()
    frame.loc[3, "b"] = np.nan
    model = TableModel(RTKM(3, contamination=0.1, random_state=0), missing="drop")
    model.fit(frame).report(frame, tmp_path / "page.html")
    assert "RTKM divides 299 rows" in words_of(tmp_path / "page.html")


def test_sparse_rows_are_refused_in_a_sentence(tmp_path):
    rows = sparse.csr_array(X)
    model = TrimmedKMeans(3, contamination=0.1, random_state=0).fit(rows)
    with pytest.raises(ValueError, match=r"X is sparse.*pass X\.toarray\(\)"):
        model.report(rows, tmp_path / "page.html")


def test_pictures_are_drawn_on_the_axes_given(model):
    for draw in (
        rtkm.plot.clusters,
        rtkm.plot.scores,
        rtkm.plot.profiles,
        rtkm.plot.overlap,
    ):
        ax = pyplot.figure().add_subplot()
        assert draw(model, FRAME, ax=ax) is ax
        assert draw(model, FRAME) is not ax


def test_two_features_are_drawn_in_their_units():
    rows = FRAME[["a", "b"]]
    model = TableModel(RTKM(3, contamination=0.1, random_state=0)).fit(rows)
    ax = model.plot(rows)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")
    drawn = np.concatenate([line.get_xydata() for line in ax.lines])
    np.testing.assert_allclose(
        np.sort(drawn[:, 1]), np.sort(rows["b"]), atol=1e-3 * np.ptp(rows["b"])
    )


def test_one_feature_is_a_histogram_of_all_rows():
    rows = X[:, :1]
    model = TrimmedKMeans(2, contamination=0.1, random_state=0).fit(rows)
    heights = sum(bar.get_height() for bar in model.plot(rows).patches)
    assert heights == 300


def test_rows_beyond_the_frame_are_counted_at_its_edge():
    rows = X[:, :2].copy()
    rows[:4, 0] = 1e9
    model = TrimmedKMeans(3, contamination=0.1, random_state=0).fit(rows)
    assert "4 →" in [text.get_text() for text in model.plot(rows).texts]


def test_long_numbers_do_not_run_into_each_other():
    rows = np.r_[np.abs(X[:, 0]) * 1e8, 5e14][:, None]
    model = TrimmedKMeans(2, contamination=1, random_state=0).fit(rows)
    ax = model.plot(rows)
    ax.figure.draw_without_rendering()
    assert {label.get_rotation() for label in ax.get_xticklabels()} == {30.0}


def test_shared_rows_are_counted():
    model = RTKM(3, contamination=0.1, n_memberships=2, random_state=0).fit(X)
    told = [text.get_text() for text in rtkm.plot.overlap(model, X).texts]
    common = model.assignments_.astype(int).T @ model.assignments_.astype(int)
    assert told == [f"{count:,}" for count in common.ravel()]


def test_detectors_have_no_profiles():
    with pytest.raises(ValueError, match="CBLOF has no clusters, which profiles draws"):
        rtkm.plot.profiles(CBLOF().fit(X), X)
