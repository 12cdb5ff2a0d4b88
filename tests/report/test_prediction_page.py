"""Findings of new rows are of their types, and the page shows them, hostile or not."""

from __future__ import annotations

import copy
import json

import numpy as np
import pandas as pd
import pytest
from test_findings_types import check
from test_report_page import HOSTILE, Page

from rtkm import CBLOF, RTKM, TableModel
from rtkm.report.drift import find_drift
from rtkm.report.prediction_findings import PredictionFindings
from rtkm.report.prediction_page import render_predictions
from rtkm.report.predictions import find_predictions
from rtkm.report.table_results import results_for_new
from rtkm.tables.reading import read_table


def table(n, seed):
    rng = np.random.default_rng(seed)
    X = 20 + 9 * rng.integers(0, 2, (n, 1)) + rng.normal(size=(n, 3))
    return pd.DataFrame(X, columns=["a", "b", "c"])


def make(folder, estimator=None, change=lambda frame: frame):
    model = TableModel(
        RTKM(2, contamination=0.05, random_state=0) if estimator is None else estimator,
        missing="median",
    )
    model.fit(table(500, 0))
    change(table(200, 1)).to_csv(folder / "new.csv", index=False)
    sheet = read_table(folder / "new.csv")
    answers = results_for_new(model.estimator_, model.preparation_.repeat(sheet))
    return find_predictions(
        answers,
        sheet,
        find_drift(model.reference_, answers),
        model="m.rtkm",
        command="rtkm predict m.rtkm new.csv",
        notes=["Read 200 rows."],
    )


def changed(frame):
    frame["a"] *= 25.4
    frame.loc[:50, "b"] = np.nan
    return frame


@pytest.fixture(scope="module")
def findings(tmp_path_factory):
    return make(tmp_path_factory.mktemp("new"), change=changed)


def test_findings_are_of_their_types(findings, tmp_path):
    for found in (findings, make(tmp_path), make(tmp_path, CBLOF(contamination=0.1))):
        check(found, PredictionFindings)
        assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_counts_are_those_of_the_new_rows(findings):
    drift, outliers = findings["drift"], findings["outliers"]
    counts = {change["label"]: change["count_now"] for change in drift["labels"]}
    assert counts[-1] == outliers["count"]
    for cluster in findings["clusters"]:
        assert cluster["size"] == counts[cluster["label"]]
    assert (drift["n_then"], drift["n_now"]) == (500, 200)
    assert findings["summary"][-len(drift["summary"]) :] == drift["summary"]


def test_the_page_shows_what_differs(findings):
    page = Page(render_predictions(findings))
    sections = [attrs["id"] for attrs in page.all("section")]
    # no map: not a row is inside
    assert sections == "summary drift clusters distributions outliers method".split()
    assert "other units? 25.4 times" in page.words
    assert "51 (26 %)" in page.words
    for attrs in page.all("a"):
        assert attrs["href"][1:] in page.ids


def test_a_page_without_drift_has_no_section_for_it(findings):
    page = Page(render_predictions(findings | {"drift": None}))
    assert "drift" not in page.ids


def test_a_detector_has_a_page_too(tmp_path):
    page = Page(render_predictions(make(tmp_path, CBLOF(contamination=0.1))))
    assert "clusters" not in page.ids
    assert "drift-labels" in page.ids


@pytest.mark.parametrize("payload", HOSTILE)
def test_hostile_names_do_no_harm(findings, payload):
    plain = Page(render_predictions(findings))
    hostile = copy.deepcopy(findings)
    hostile["model"] = hostile["source"]["name"] = hostile["command"] = payload
    hostile["features"] = [payload] * 3
    hostile["preparation"]["columns"] = [payload] * 3
    for change in (*hostile["drift"]["features"], *hostile["drift"]["missing"]):
        change["feature"] = payload
    hostile["drift"]["summary"] = hostile["summary"] = [payload]
    page = Page(render_predictions(hostile))
    for tag in ("script", "img", "svg", "style", "b"):
        assert len(page.all(tag)) <= len(plain.all(tag))
