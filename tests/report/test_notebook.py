"""What a notebook shows of a model."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

import rtkm
from rtkm import CBLOF, RTKM, TableModel, TrimmedKMeans
from rtkm.datasets import make_outlier_blobs

X, _, _ = make_outlier_blobs(300, n_features=3, n_clusters=3, random_state=0)
FRAME = pd.DataFrame(X, columns=["<b>height", "weight", "age"])


@pytest.mark.parametrize("loaded", [False, True])
def test_a_fitted_model_shows_sizes_shares_and_centers(tmp_path, loaded):
    model = TableModel(RTKM(3, contamination=0.1, random_state=0)).fit(FRAME)
    sizes, centers = model.cluster_sizes_, model.cluster_centers_
    if loaded:
        model.save(tmp_path / "m.rtkm")
        model = rtkm.load(tmp_path / "m.rtkm")
    html = model._repr_html_()
    assert "3 clusters and 30 outliers in 300 rows" in html
    assert "30 outliers: 10 %" in html
    for size, center in zip(sizes, centers, strict=True):
        assert f"<td>{size}</td>" in html
        assert f"<td>{center[1]:.4g}</td>" in html
    assert model._repr_mimebundle_()["text/html"] == html
    assert "script" not in html
    assert "&lt;b&gt;height" in html
    assert "<b>" not in html
    assert "contamination" in html
    # a picture, but of a loaded model, whose file holds nothing of the rows
    assert ("<svg" in html) is not loaded


def paths_of(html):
    """Return how many points each path of the picture has."""
    paths = re.findall(r'<path transform=[^>]* d="([^"]*)"', html)
    return [path.count("M") for path in paths]


def test_all_rows_of_a_small_table_are_drawn():
    model = TableModel(RTKM(3, contamination=0.1, random_state=0)).fit(FRAME)
    html = model._repr_html_()
    sizes = sorted(model.cluster_sizes_.tolist(), reverse=True)
    assert paths_of(html) == [*sizes, 30]
    told = "300 rows in the two directions that tell the centers apart best"
    assert f"{told}; 30 outliers among them, as crosses." in html


def test_two_columns_are_drawn_in_the_units_of_the_table():
    frame = pd.DataFrame(X[:, :2] * [1, 1e6], columns=["size", "<i>weight"])
    model = TableModel(RTKM(3, contamination=0.1, random_state=0), scale="robust")
    html = model.fit(frame)._repr_html_()
    assert "by size (across) and &lt;i&gt;weight (up)" in html
    assert re.search(r">-?\d+,000,000</text>", html)  # a number at the axis


def test_one_column_has_a_band_for_each_cluster():
    rows = np.r_[np.zeros(50), np.full(60, 5.0), 90.0][:, None]
    model = TrimmedKMeans(2, contamination=1, random_state=0).fit(rows)
    html = model._repr_html_()
    assert (
        "by x0, clusters one above the other; 1 outlier among them, as crosses" in html
    )
    heights = [
        {float(y) for y in re.findall(r"M\d+ (\d+)", d)}
        for d in re.findall(r'<path transform=[^>]* d="([^"]*)"', html)
    ]
    assert max(heights[1]) < min(heights[0]) <= max(heights[0]) < min(heights[2])


def test_a_sample_of_many_rows_is_said_to_be_one():
    rows, _, _ = make_outlier_blobs(9000, n_features=3, random_state=0)
    model = TrimmedKMeans(3, contamination=0.1, random_state=0).fit(rows)
    html = model._repr_html_()
    assert re.search(r"A sample of 1,\d+ of 9,000 rows", html)
    assert "400 outliers among them, as crosses" in html
    assert len(html) < 60_000


def test_a_model_of_many_clusters_and_features_stays_small():
    rows = np.random.default_rng(0).normal(size=(2000, 500))
    html = TrimmedKMeans(100, n_init=1, max_iter=1).set_params(random_state=0)
    with pytest.warns(UserWarning, match="max_iter"):
        html = html.fit(rows)._repr_html_()
    assert len(html) < 60_000
    assert "80 more clusters not shown; 494 more features not shown" in html


def test_before_a_fit_it_is_what_scikit_learn_shows():
    assert "sk-top-container" in RTKM(3)._repr_html_()


def test_a_detector_shows_its_outliers():
    assert (
        f"CBLOF: {CBLOF().fit(X).n_outliers_} outliers." in CBLOF().fit(X)._repr_html_()
    )


def test_it_keeps_to_the_display_that_scikit_learn_is_told():
    model = TrimmedKMeans(3, contamination=0.1, random_state=0).fit(X)
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert "text/html" not in model._repr_mimebundle_()
    with config_context(display="diagram"):
        assert "3 clusters and 30 outliers" in model._repr_html_()


def test_a_pipeline_shows_its_steps():
    steps = make_pipeline(StandardScaler(), RTKM(3, contamination=0.1, random_state=0))
    html = estimator_html_repr(steps.fit(X))
    assert "StandardScaler" in html
    assert "RTKM" in html
