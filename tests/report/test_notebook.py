"""What a notebook shows of a model."""

from __future__ import annotations

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


def test_a_model_of_many_clusters_and_features_stays_small():
    rows = np.random.default_rng(0).normal(size=(2000, 500))
    html = TrimmedKMeans(100, n_init=1, max_iter=1).set_params(random_state=0)
    with pytest.warns(UserWarning, match="max_iter"):
        html = html.fit(rows)._repr_html_()
    assert len(html) < 200_000
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
