"""Verdicts follow the numbers."""

from __future__ import annotations

import pytest

from rtkm.reproduce._claims import NOT, REPRODUCED, judge
from rtkm.reproduce.wbc import EXPERIMENT as WBC


def wbc_cells(rtkm, kmor, neo_me, protocols=("as described", "as published")):
    """Cells in which methods score the same at every share."""
    methods = {
        "RTKM": {"f1": rtkm, "me": 0.1, "objective": 1.0},
        "KMOR, gamma 1": {"f1": kmor, "me": 0.1, "objective": 1.0},
        "NEO": {"f1": 0.4, "me": neo_me, "objective": 1.0},
    }
    return {
        f"wbc/{protocol}/{share!r}/0": methods
        for protocol in protocols
        for share in WBC.shares
    }


def verdicts(cells):
    return [verdict.verdict for verdict in judge(cells)]


def test_claims_hold_or_not():
    assert verdicts(wbc_cells(0.9, 0.9, 1.0)) == [REPRODUCED, REPRODUCED]
    assert verdicts(wbc_cells(0.9, 0.8, 0.7)) == [NOT, NOT]


def test_a_claim_may_hold_under_one_protocol():
    described = wbc_cells(0.9, 0.9, 1.0, ["as described"])
    published = wbc_cells(0.9, 0.8, 1.0, ["as published"])
    assert verdicts(described | published) == ["true only as described", REPRODUCED]


def test_evidence_names_the_figures():
    alike, blind = judge(wbc_cells(0.9, 0.85, 0.7))
    assert "as published: largest gap in F1 0.0500, in M_e 0.0000" in alike.evidence
    assert "NEO's lowest M_e is 0.700" in blind.evidence


def test_claims_wait_for_their_experiments():
    assert judge({}) == []


@pytest.mark.slow
def test_breast_cancer_is_judged_as_computed():
    cells = {cell.key: WBC.run(cell) for cell in WBC.cells(quick=True)}
    assert verdicts(cells) == [REPRODUCED, REPRODUCED]
