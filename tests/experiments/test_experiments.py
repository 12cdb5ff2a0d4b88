"""What the experiments compute, against the published figures where those hold."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from paper_scores import WBC_F1, WBC_ME

from experiments import clouds, overlap, process, shuttle, units, wbc, yeast_noise
from experiments.claims.figures import CURVES
from experiments.engine.cells import Cell


def scores(experiment, protocol, name, score):
    return [
        experiment.run(Cell(experiment.name, protocol, repr(share), 0))[name][score]
        for share in experiment.shares
    ]


def test_breast_cancer_as_described():
    for name in ("RTKM", "RTKM, step 1.1", "KMOR, gamma 1"):
        found = [scores(wbc.EXPERIMENT, "as described", name, s) for s in ("f1", "me")]
        assert_allclose(found, [WBC_F1, WBC_ME], atol=5.1e-5)


@pytest.mark.parametrize("name", ["RTKM", "KMOR", "NEO"])
def test_breast_cancer_as_published(name):
    ours = {"KMOR": "KMOR, gamma 1"}.get(name, name)
    for score in ("f1", "me"):
        published = [mean for mean, _, _ in CURVES["wbc"][name][score]]
        found = scores(wbc.EXPERIMENT, "as published", ours, score)
        assert_allclose(found, published, atol=1e-4)


def test_clouds_show_what_outliers_do_to_k_means():
    record = clouds.run(clouds.cells(False)[0])
    assert [40.0, 0.0] in record["centers"]["k-means"]  # an outlier took a center
    labels = np.array(record["labels"]["RTKM"])
    assert (labels == -1).tolist() == [label == -1 for label in record["truth"]]


def test_weights_become_crisp():
    record = process.run(process.cells(False)[0])
    assert record["iterations"][:3] == [0, 3, 5]
    assert record["converged"]
    fractional = record["n_fractional"]
    assert fractional[0] == 200 > fractional[1] > fractional[2] > fractional[3] == 0
    assert np.all(np.diff(record["objective_path"]) <= 0)


def test_units_matter_to_a_fixed_step_alone():
    records = [units.run(cell) for cell in units.cells(False)]
    fixed, free = (
        [record[name]["objective"] for record in records]
        for name in ("RTKM, step 1.1", "RTKM")
    )
    # grades tie in one unit and differ by rounding in another, where the search may
    # find the other one of two minima that are 1.6e-4 apart
    assert_allclose(free, free[0], rtol=2e-4)
    assert max(fixed) > 1.2 * min(fixed)
    fractional = [record["RTKM, step 1.1"]["fractional"] for record in records]
    assert fractional[0] == 1.0 > fractional[2] > fractional[-1] == 0.0


@pytest.mark.slow
def test_shuttle_at_the_best_objective(paper_tables):
    objectives = {"0.0": 6.99697e8, "0.05": 2.31516e7, "0.1": 1.83542e7}
    me, micro, macro = [1, 0.347, 0.221], [0.784, 0.658, 0.655], [0.220, 0.363, 0.314]
    for i, (share, objective) in enumerate(objectives.items()):
        record = shuttle.EXPERIMENT.run(Cell("shuttle", "as described", share, 0))
        found = record["RTKM"]
        assert_allclose(found["objective"], objective, rtol=1e-5)
        assert_allclose(found["me"], me[i], atol=2e-3)
        assert_allclose(found["f1_micro"], micro[i], atol=2e-3)
        assert_allclose(found["f1"], macro[i], atol=2e-3)


@pytest.mark.slow
def test_shuttle_as_published(paper_tables):
    record = shuttle.EXPERIMENT.run(Cell("shuttle", "as published", "0.01", 0))
    assert_allclose(record["KMOR, gamma 9"]["f1_micro"], 0.6829, atol=1e-3)
    assert_allclose(record["KMOR, gamma 9"]["me"], 0.7904, atol=1e-3)


@pytest.mark.slow
def test_the_table_as_published(paper_tables):
    def run(table, start):
        return overlap.run(Cell("overlap", "as published", table, start))

    yeast, scene = run("yeast", 4), run("scene", 1)
    assert_allclose(yeast["RTKM"]["f1"], 0.32514, atol=2e-3)
    assert_allclose(scene["RTKM"]["f1"], 0.59911, atol=2e-3)
    assert_allclose(scene["KMOR"]["f1"], 0.59911, atol=2e-3)
    assert_allclose(run("yeast", 3)["KMOR"]["f1"], 0.16642, atol=2e-3)
    assert_allclose(run("scene", 3)["NEO, raw start"]["f1"], 0.43056, atol=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("share", "limit"), [("0.06", 0.03), ("0.08", 0.03), ("0.1", 0.05)]
)
def test_noise_is_found_from_easy_and_hard_starts(paper_tables, share, limit):
    yeast_noise.load.cache_clear()
    for start in (0, 4):  # all ten are in the committed results
        cell = Cell("yeast_noise", "as described", share, start)
        assert yeast_noise.EXPERIMENT.run(cell)["RTKM, step 1.1"]["me"] <= limit
