"""Verdicts follow the numbers: every judge is seen to decide either way."""

from __future__ import annotations

import pytest

from experiments.claims import judges
from experiments.claims.claims import CLAIMS, judge
from experiments.claims.judging import (
    DEFAULT,
    DESCRIBED,
    NOT,
    PARTLY,
    PUBLISHED,
    READINGS,
    REPRODUCED,
    Scores,
    combine,
    in_every_reading,
)
from experiments.compute import EXPERIMENTS

SHARES = [repr(i / 100) for i in range(11)]
METHODS = ("RTKM", "KMOR, gamma 1", "KMOR, gamma 9", "NEO")
PLAIN = {"me": 0.5, "f1": 0.5, "f1_micro": 0.5, "hits": 9, "n_outliers": 9}


def scores(n_starts=2, reading=DESCRIBED, **changes):
    """Scores of runs that are all alike but for `changes`: method_score=number.

    A number may be a function of share and start.
    """
    cells = {}
    for share in SHARES:
        for start in range(n_starts):
            methods = {m: dict(PLAIN) for m in METHODS}
            for name, value in changes.items():
                method, score = name.split("_", 1)
                number = value(float(share), start) if callable(value) else value
                for found in (m for m in METHODS if m.startswith(method)):
                    methods[found][score] = number
            methods[reading.rtkm] = methods["RTKM"]
            cells[f"any/{reading.protocol}/{share}/{start}"] = methods
    return Scores(cells, "any", reading)


def from_start(number, then=0.0, otherwise=9.0):
    return lambda share, start: then if start == number else otherwise


CASES = [
    (judges.alike_on_wbc, {"RTKM_f1": 0.509}, {"RTKM_f1": 0.511}),
    (judges.alike_on_wbc, {"RTKM_me": 0.509}, {"RTKM_me": 0.511}),
    (judges.neo_is_blind, {"NEO_hits": 0}, {"NEO_hits": from_start(1, 1, 0)}),
    (judges.alike_up_to_two_percent, {"NEO_me": 0.54}, {"NEO_me": 0.56}),
    (judges.alike_up_to_two_percent, {"NEO_f1": 0.54}, {"NEO_f1": 0.56}),
    (
        judges.alike_up_to_two_percent,
        {"NEO_me": lambda share, _: 0.9 if share > 0.025 else 0.5},
        {"NEO_me": lambda share, _: 0.9 if share > 0.015 else 0.5},
    ),
    (judges.more_outliers_beyond, {"KMOR_me": 0.56}, {"KMOR_me": 0.54}),
    (judges.lower_f1_than_kmor, {"KMOR_f1": 0.51}, {"NEO_f1": 0.51}),
    (judges.higher_f1_than_neo, {"NEO_f1": 0.48}, {"NEO_f1": 0.495}),
    (judges.lowest_me_on_shuttle, {"RTKM_me": 0.48}, {"RTKM_me": 0.495}),
    (judges.best_on_noise, {"RTKM_f1": 0.6}, {"RTKM_f1": 0.4}),
    (
        judges.best_on_noise,
        {"RTKM_me": 0.5},
        {"RTKM_me": lambda share, _: 0.6 if share == 0.05 else 0.4},
    ),
    (judges.gamma_nine_is_blind, {"KMOR_n_outliers": 0}, {"KMOR_n_outliers": 1}),
    (judges.sometimes_almost_as_low, {"RTKM_me": 0.46}, {"RTKM_me": 0.44}),
    (
        judges.sometimes_almost_as_low,
        {"RTKM_me": 0.1, "KMOR_me": 0.1, "NEO_me": from_start(1, 0.1, 1.0)},
        {"RTKM_me": 0.1, "KMOR_me": 0.1, "NEO_me": 1.0},
    ),
    (
        judges.only_rtkm_finds_any,
        {"KMOR_hits": 0, "NEO_hits": 0},
        {"KMOR_hits": 0, "NEO_hits": from_start(1, 1, 0)},
    ),
    (
        judges.only_rtkm_finds_any,
        {"KMOR_hits": 0, "NEO_hits": lambda share, _: 0 if share else 5},
        {"KMOR_hits": 0, "NEO_hits": 0, "RTKM_hits": from_start(1, 1, 0)},
    ),
    (
        judges.a_start_with_rtkm_alone,
        {"KMOR_hits": 0, "NEO_hits": from_start(1)},
        {"KMOR_hits": 0, "NEO_hits": from_start(2)},
    ),
    (
        judges.a_start_with_rtkm_alone,
        {"KMOR_hits": 0, "NEO_hits": 0, "RTKM_hits": from_start(0, 8)},
        {
            "KMOR_hits": 0,
            "NEO_hits": from_start(1),
            "RTKM_hits": from_start(0, 9, 8),
        },
    ),
]


@pytest.mark.parametrize(("judge", "good", "bad"), CASES)
def test_judges_of_curves_decide_either_way(judge, good, bad):
    assert judge(scores(**good))[0]
    assert not judge(scores(**bad))[0]


def test_gammas_are_told_apart():
    found = scores()
    for key, methods in found.cells.items():
        methods["KMOR, gamma 9"] = {**PLAIN, "me": 0.9 if key else 0}
    assert judges.gamma_matters(found)[0]
    assert not judges.gamma_matters(scores())[0]


def test_f1_of_shuttle_is_micro_as_published():
    changes = {"NEO_f1": 0.4, "NEO_f1_micro": 0.5}
    assert judges.higher_f1_than_neo(scores(reading=DESCRIBED, **changes))[0]
    assert not judges.higher_f1_than_neo(scores(reading=PUBLISHED, **changes))[0]


def test_verdicts_name_the_readings_that_hold():
    alike = {r.name: (True, "so") for r in READINGS}
    assert combine(alike) == (REPRODUCED, ["in every reading: so"])
    verdict, evidence = combine(alike | {DESCRIBED.name: (False, "not so")})
    assert verdict == "true only with our default solver and as published"
    assert evidence[0] == "as described: not so"
    assert combine(dict.fromkeys(alike, (False, "no")))[0] == NOT


def test_every_reading_is_asked_for_its_own_rtkm():
    cells = {
        f"any/{protocol}/0.1/0": {"RTKM": {"me": 1.0}, "RTKM, step 1.1": {"me": 2.0}}
        for protocol in ("as described", "as published")
    }
    _, evidence = in_every_reading(
        lambda scores: (True, f"{scores('me', 'RTKM')[0]:g}"), "any"
    )(cells)
    assert evidence == [
        "as described: 2",
        "with our default solver: 1",
        "as published: 1",
    ]


# Claims on tables of methods


def overlap_cells(described=None, published=None):
    """Both tables with F1 .5 for all methods but those given."""
    rtkm = {r.rtkm: 0.5 for r in (DESCRIBED, DEFAULT)} | {"RTKM, s + 1": 0.4}
    f1 = rtkm | dict.fromkeys(judges.METHODS, 0.5) | (described or {})
    program = {"RTKM": 0.5, "KMOR": 0.5, "NEO": 0.5} | (published or {})
    cells = {}
    for table, size in (("yeast", 4.0), ("scene", 1.0)):
        cells[f"overlap/as described/{table}/0"] = {
            m: {"f1": value, "objective": 1.0, "cardinality": size, "converged": 1.0}
            for m, value in f1.items()
        }
        cells[f"overlap/as published/{table}/0"] = {
            m: {"f1": value} for m, value in program.items()
        }
    return cells


def test_ranks_are_shared_by_ties():
    found = {"a": 0.5, "b": 0.504, "c": 0.51}
    assert [judges.rank(found, name) for name in "abc"] == [2, 2, 1]


def test_neo_may_be_first():
    first = overlap_cells({"NEO": 0.6}, {"NEO": 0.6})
    assert judges.neo_is_first(first)[0] == REPRODUCED
    assert judges.neo_is_first(overlap_cells({"moc": 0.6}))[0] == NOT
    program = overlap_cells({"moc": 0.6}, {"NEO": 0.6})
    assert judges.neo_is_first(program)[0] == "true only as published"


def test_rtkm_may_be_second():
    assert judges.rtkm_is_second(overlap_cells({"NEO": 0.6}))[0] == REPRODUCED
    assert judges.rtkm_is_second(overlap_cells())[0] == NOT
    third = overlap_cells({"NEO": 0.6, "moc": 0.6, "RTKM": 0.597})
    assert judges.rtkm_is_second(third)[0] == NOT


def test_kmor_is_compared_on_both_tables():
    cells = overlap_cells()
    assert judges.kmor_on_both(cells)[0] == NOT  # alike on yeast as well
    cells["overlap/as described/yeast/0"]["KMOR"]["f1"] = 0.2
    assert judges.kmor_on_both(cells)[0] == REPRODUCED
    cells["overlap/as described/scene/0"]["KMOR"]["f1"] = 0.48
    assert judges.kmor_on_both(cells)[0] == NOT


def test_one_membership_more_may_be_better():
    cells = overlap_cells()
    assert judges.floor_of_cardinality(cells)[0] == REPRODUCED
    cells["overlap/as described/yeast/0"]["RTKM, s + 1"]["f1"] = 0.6
    assert judges.floor_of_cardinality(cells)[0] == "true only on scene"
    cells["overlap/as described/scene/0"]["RTKM, s + 1"]["f1"] = 0.6
    assert judges.floor_of_cardinality(cells)[0] == NOT


# Claims on the solvers


def solver_cells(**records):
    """One run of both experiments with the given records of the solvers."""
    names = {"soft": "RTKM, step 1.1", "hard": "RTKM, no swaps", "auto": "RTKM"}
    return {
        f"{experiment}/as described/{share}/0": {
            names[name]: record for name, record in records.items()
        }
        for experiment in ("shuttle", "yeast_noise", "wbc")
        for share in ("0.0", "0.1")
    }


@pytest.mark.parametrize(
    ("soft", "hard", "expected"),
    [(1.0, 1.02, REPRODUCED), (1.0, 1.009, NOT), (1.02, 1.0, NOT)],
)
def test_the_relaxation_is_judged_by_objectives(soft, hard, expected):
    cells = solver_cells(soft={"objective": soft}, hard={"objective": hard})
    assert judges.relaxation_avoids_poor_minima(cells)[0] == expected
    mixed = cells | {
        key: {
            "RTKM, step 1.1": {"objective": 1.0},
            "RTKM, no swaps": {"objective": 2.0},
        }
        for key in cells
        if key.startswith("shuttle")
    }
    other = REPRODUCED if expected == REPRODUCED else PARTLY
    assert judges.relaxation_avoids_poor_minima(mixed)[0] == other


def test_trimming_alone_is_judged_by_outliers():
    poor = solver_cells(soft={"me": 0.1}, hard={"me": 0.2})
    assert judges.trimming_alone_is_poor(poor)[0] == REPRODUCED
    alike = solver_cells(soft={"me": 0.1}, hard={"me": 0.105})
    assert judges.trimming_alone_is_poor(alike)[0] == NOT


def test_convergence_is_counted():
    settled = solver_cells(soft={"converged": 1.0}) | overlap_cells()
    assert judges.iteration_converges(settled)[0] == REPRODUCED
    cells = solver_cells(soft={"converged": 0.0}) | overlap_cells()
    assert judges.iteration_converges(cells)[0] == PARTLY


def test_counts_asked_for_are_lower_bounds():
    soft, auto = {"n_outliers": 9.0}, {"n_outliers": 9.0}
    cells = solver_cells(soft=soft, auto=auto) | overlap_cells()
    assert judges.at_least_as_asked(cells)[0] == REPRODUCED
    soft["n_outliers"] = 8.0
    assert judges.at_least_as_asked(cells)[0] == NOT
    soft["n_outliers"] = 9.0
    cells["overlap/as described/yeast/0"]["RTKM, step 1.1"]["cardinality"] = 3.9
    assert judges.at_least_as_asked(cells)[0] == NOT


# Claims on the synthetic figures, as computed


def run_all(name):
    return {c.key: EXPERIMENTS[name].run(c) for c in EXPERIMENTS[name].cells(True)}


def test_the_figure_of_the_clouds_is_judged_as_computed():
    cells = run_all("clouds")
    assert judges.kmeans_is_misled(cells)[0] == REPRODUCED
    (record,) = cells.values()
    record["labels"]["k-means"] = record["labels"]["RTKM"]
    assert judges.kmeans_is_misled(cells)[0] == NOT


def test_crisp_weights_are_counted():
    cells = run_all("process") | run_all("units")
    assert judges.weights_become_crisp(cells)[0] == "true only in suitable units"
    (record,) = (r for key, r in cells.items() if key.startswith("process"))
    record["n_fractional"][-1] = 1
    assert judges.weights_become_crisp(cells)[0] == NOT


def test_noise_is_counted():
    record = {"plane": [[0, 0]] * 20, "outliers": {"truth": [7, 8]}}
    cells = {"outlier_maps/as described/0.1/0": record}
    assert judges.a_tenth_is_noise(cells)[0] == REPRODUCED
    record["plane"] *= 2
    assert judges.a_tenth_is_noise(cells)[0] == NOT


def test_claims_wait_for_their_experiments():
    assert judge({}) == []
    assert [v.claim for v in judge(run_all("clouds"))] == [CLAIMS[0].text]
