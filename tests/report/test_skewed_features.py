"""A very skewed feature that most outliers are due to."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest_plugins = ("typed",)

RNG = np.random.default_rng(0)
N = 400


@pytest.fixture
def films(tmp_path):
    rating = np.r_[RNG.normal(4, 0.3, N // 2), RNG.normal(8, 0.3, N // 2)]
    votes = np.exp(RNG.normal(6, 1.8, N)).round() + 1
    lines = [f"{r:.2f},{v:.0f}" for r, v in zip(rating, votes, strict=True)]
    (tmp_path / "films.csv").write_text("\n".join(["rating,US votes", *lines]))


def found(rtkm, tmp_path, *options):
    fit = ["fit", "films.csv", "-k", "2", "--contamination", "0.1"]
    outcome = rtkm(*fit, *options, "--json", "a.json", "--report", "a.html")
    assert outcome.code == 0, outcome.err
    return outcome, json.loads((tmp_path / "a.json").read_text())


def test_it_is_named_with_the_way_out(rtkm, tmp_path, films):
    outcome, findings = found(rtkm, tmp_path)
    skewed = findings["outliers"]["due_to_skewness"]
    assert skewed["feature"] == "US votes"
    reasons = [row["reasons"][0] for row in findings["outliers"]["rows"]]
    share = np.mean([reason["feature"] == "US votes" for reason in reasons])
    assert skewed["share"] == share > 0.9
    assert skewed["skewness"] > 0.8
    assert abs(skewed["log_skewness"]) < 0.2
    assert "--log 'US votes' uses its logarithm." in " ".join(outcome.out.split())


def test_its_logarithm_puts_an_end_to_it(rtkm, tmp_path, films):
    raw = found(rtkm, tmp_path)[1]
    outcome, findings = found(rtkm, tmp_path, "--log", "US votes")
    assert "Logarithms are taken of 'US votes'." in outcome.out
    assert findings["outliers"]["due_to_skewness"] is None
    assert findings["preparation"]["log"] == ["US votes"]
    # shown in votes: between those of few and of many
    edges = {h["feature"]: h["edges"] for h in findings["distributions"]["features"]}
    raw_edges = {h["feature"]: h["edges"] for h in raw["distributions"]["features"]}
    for cluster in findings["clusters"]:
        assert 100 < cluster["center"][1] < 2000
        assert cluster["spread"][1] > 100
    assert edges["US votes"][-1] > 1000
    assert raw_edges.keys() == edges.keys()
    # and the clusters are those of the ratings
    assert sorted(round(c["center"][0]) for c in findings["clusters"]) == [4, 8]


def test_outliers_of_an_even_feature_are_not_due_to_skewness(rtkm, tmp_path):
    x = np.r_[RNG.normal(0, 1, N), RNG.normal(30, 1, 20)]
    y = RNG.normal(0, 1, N + 20)
    lines = [f"{a + 10:.2f},{b + 10:.2f}" for a, b in zip(x, y, strict=True)]
    (tmp_path / "films.csv").write_text("\n".join(["x,y", *lines]))
    assert found(rtkm, tmp_path)[1]["outliers"]["due_to_skewness"] is None
