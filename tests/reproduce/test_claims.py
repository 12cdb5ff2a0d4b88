"""Verdicts follow the numbers."""

from __future__ import annotations

import pytest

from rtkm.reproduce._claims import CLAIMS, NOT, PARTLY, READINGS, REPRODUCED, judge
from rtkm.reproduce._results import EXPERIMENTS
from rtkm.reproduce.wbc import EXPERIMENT as WBC

DESCRIBED, AUTO, PUBLISHED = READINGS


def wbc_cells(rtkm, kmor, neo_hits, readings=READINGS):
    """Cells in which methods score the same at every share."""
    others = {
        "KMOR, gamma 1": {"f1": kmor, "me": 0.1, "hits": 9.0},
        "NEO": {"f1": 0.4, "me": 1.0, "hits": neo_hits},
    }
    cells = {}
    for reading in readings:
        ours = {reading.rtkm: {"f1": rtkm, "me": 0.1, "hits": 9.0}}
        for share in WBC.shares:
            key = f"wbc/{reading.protocol}/{share!r}/0"
            cells[key] = cells.get(key, {}) | ours | others
    return cells


def merged(*parts):
    """Cells of several readings, later ones adding to earlier ones."""
    cells = {}
    for part in parts:
        for key, methods in part.items():
            cells[key] = cells.get(key, {}) | methods
    return cells


def verdicts(cells):
    return [verdict.verdict for verdict in judge(cells)]


def verdict_on(words, cells):
    (found,) = [verdict for verdict in judge(cells) if words in verdict.claim]
    return found


def test_claims_hold_or_not():
    assert verdicts(wbc_cells(0.9, 0.9, 0)) == [REPRODUCED, REPRODUCED]
    assert verdicts(wbc_cells(0.9, 0.8, 7)) == [NOT, NOT]


def test_a_claim_may_hold_in_some_readings():
    alike = wbc_cells(0.9, 0.8, 0, [DESCRIBED])
    alike = merged(alike, wbc_cells(0.8, 0.8, 0, [AUTO, PUBLISHED]))
    told = "true only with our default solver and as published"
    assert verdicts(alike) == [told, REPRODUCED]


def test_evidence_names_the_figures():
    alike, blind = judge(wbc_cells(0.9, 0.85, 7))
    assert alike.evidence == (
        "in every reading: largest gap in F1 0.0500, in M_e 0.0000"
    )
    assert "most outliers found by NEO in any run: 7" in blind.evidence


def test_evidence_names_the_readings_where_they_differ():
    cells = merged(
        wbc_cells(0.9, 0.8, 0, [DESCRIBED]), wbc_cells(0.8, 0.8, 0, [AUTO, PUBLISHED])
    )
    told = judge(cells)[0].evidence.split("; ")
    assert told[0] == "as described: largest gap in F1 0.1000, in M_e 0.0000"
    assert told[2] == "as published: largest gap in F1 0.0000, in M_e 0.0000"


def objective_cells(pairs):
    """Cells of two experiments with objectives of a fixed step and hard trimming."""
    return {
        f"{experiment}/as described/0.0/{i}": {
            "RTKM, step 1.1": {"objective": soft},
            "RTKM, no swaps": {"objective": hard},
        }
        for experiment, pair in pairs.items()
        for i, (soft, hard) in enumerate([pair])
    }


@pytest.mark.parametrize(
    ("shuttle", "noise", "expected"),
    [
        ((1.0, 2.0), (1.0, 2.0), REPRODUCED),
        ((1.0, 2.0), (2.0, 1.0), PARTLY),
        ((2.0, 1.0), (1.0, 1.0), NOT),  # equal objectives are no gain
    ],
)
def test_the_relaxation_is_judged_by_objectives(shuttle, noise, expected):
    decide = next(decide for claim, decide, _ in CLAIMS if "poor minima" in claim)
    verdict, _ = decide(objective_cells({"shuttle": shuttle, "yeast_noise": noise}))
    assert verdict == expected


def maps(rtkm, neo):
    found = {"truth": [7, 8], "NEO": neo} | {r.rtkm: rtkm for r in READINGS}
    return {
        f"outlier_maps/{r.protocol}/0.1/0": {"plane": [[0, 0]] * 20, "outliers": found}
        for r in READINGS
    }


def test_the_maps_are_judged_by_true_outliers():
    words = "from one start"
    assert verdict_on(words, maps([3, 7, 8], [1])).verdict == REPRODUCED
    assert verdict_on(words, maps([3, 7], [1])).verdict == NOT
    assert verdict_on(words, maps([3, 7, 8], [1, 7])).verdict == NOT
    assert verdict_on("about 10 %", maps([], [])).verdict == REPRODUCED  # 2 of 20


def test_the_figure_of_the_clouds_is_judged_as_computed():
    clouds = EXPERIMENTS["clouds"]
    (cell,) = clouds.cells(quick=True)
    record = clouds.run(cell)
    assert verdict_on("k-means", {cell.key: record}).verdict == REPRODUCED
    record["labels"]["k-means"] = record["labels"]["RTKM"]
    assert verdict_on("k-means", {cell.key: record}).verdict == NOT


def test_crisp_weights_are_counted():
    process = EXPERIMENTS["process"]
    (cell,) = process.cells(quick=True)
    record = process.run(cell)
    assert verdict_on("vertices", {cell.key: record}).verdict == REPRODUCED
    record["n_fractional"][-1] = 1
    assert verdict_on("vertices", {cell.key: record}).verdict == NOT


def test_claims_wait_for_their_experiments():
    assert judge({}) == []


@pytest.mark.slow
def test_breast_cancer_is_judged_as_computed():
    cells = {cell.key: WBC.run(cell) for cell in WBC.cells(quick=True)}
    assert verdicts(cells) == [REPRODUCED, REPRODUCED]
