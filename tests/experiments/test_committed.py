"""The results that are kept, and what the documentation says of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import rtkm
from experiments.claims.claims import judge
from experiments.claims.figures import CURVES
from experiments.claims.findings import find
from experiments.compute import EXPERIMENTS
from experiments.drawing.gallery import exhibits

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "experiments" / "results"
RESULTS = json.loads((KEPT / "results.json").read_text())


def test_they_are_of_a_full_run_of_this_version():
    assert RESULTS["versions"]["rtkm"] == rtkm.__version__
    assert RESULTS["quick"] is False
    wanted = [c.key for e in EXPERIMENTS.values() for c in e.cells(quick=False)]
    assert list(RESULTS["cells"]) == wanted


def test_claims_and_findings_follow_from_the_cells():
    found = [verdict._asdict() for verdict in judge(RESULTS["cells"])]
    assert found == RESULTS["claims"]
    told = [f._asdict() for f in find(RESULTS["cells"], RESULTS["trivial"])]
    assert told == RESULTS["findings"]


def test_every_picture_is_there():
    pictures = {path.name for path in (KEPT / "pictures").iterdir()}
    names = [exhibit.name for exhibit in exhibits(RESULTS)]
    assert pictures == {f"{name}.{kind}" for name in names for kind in ("svg", "png")}


@pytest.mark.parametrize("name", ["outliers", "overlap", "verdicts"])
def test_the_page_on_the_paper_shows_their_tables(name, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.delitem(sys.modules, "results", raising=False)
    from paper import TABLES

    assert TABLES[name](RESULTS) in (ROOT / "docs" / "paper.md").read_text()


# What the method gives, and what the program gave


def starts(experiment, protocol, share, method, score):
    """One score from every start."""
    return np.array(
        [
            methods[method][score]
            for key, methods in RESULTS["cells"].items()
            if key.rpartition("/")[0] == f"{experiment}/{protocol}/{share}"
        ]
    )


@pytest.mark.parametrize(
    ("share", "limit"), [("0.06", 0.03), ("0.07", 0.03), ("0.08", 0.03), ("0.1", 0.05)]
)
@pytest.mark.parametrize("method", ["RTKM", "RTKM, step 1.1"])
def test_noise_is_found_from_every_start(method, share, limit):
    # shares are points of a grid, 0.06 is written 0.06 and 0.07 with all its digits
    (share,) = [s for s in noise_shares() if abs(float(s) - float(share)) < 1e-9]
    me = starts("yeast_noise", "as described", share, method, "me")
    assert len(me) == 10
    assert me.max() <= limit


def noise_shares():
    keys = [key.split("/") for key in RESULTS["cells"]]
    return sorted({key[2] for key in keys if key[0] == "yeast_noise"}, key=float)


def test_yeast_and_scene_as_described():
    yeast = starts("overlap", "as described", "yeast", "RTKM, step 1.1", "f1")
    assert yeast.min() > 0.326 - 0.005
    assert yeast.max() < 0.330 + 0.005
    for method in ("RTKM, step 1.1", "RTKM, no swaps"):
        f1, objective = (
            starts("overlap", "as described", "scene", method, score)
            for score in ("f1", "objective")
        )
        assert f1[objective.argmin()] >= 0.595


@pytest.mark.parametrize(
    ("table", "method", "start", "expected"),
    [
        ("yeast", "RTKM", 4, 0.32514),
        ("scene", "RTKM", 1, 0.59911),
        ("scene", "KMOR", 1, 0.59911),
        ("scene", "NEO, raw start", 3, 0.43056),
    ],
)
def test_the_table_as_published(table, method, start, expected):
    f1 = starts("overlap", "as published", table, method, "f1")
    assert_allclose(f1[start], expected, atol=5e-6)


def test_kmor_on_yeast_is_the_best_of_five_as_published():
    f1 = starts("overlap", "as published", "yeast", "KMOR", "f1")
    assert_allclose(f1.max(), 0.16642, atol=5e-6)


@pytest.mark.parametrize("method", ["RTKM", "KMOR", "NEO"])
@pytest.mark.parametrize("score", ["f1", "me"])
def test_breast_cancer_as_published(method, score):
    name = "KMOR, gamma 1" if method == "KMOR" else method
    shares = EXPERIMENTS["wbc"].shares
    found = [starts("wbc", "as published", repr(s), name, score) for s in shares]
    published = [mean for mean, _, _ in CURVES["wbc"][method][score]]
    assert np.ptp(found, axis=1).max() == 0
    assert_allclose(np.mean(found, axis=1), published, atol=1e-4)
