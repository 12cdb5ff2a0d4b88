"""What the paper does not say is told with its figures."""

from __future__ import annotations

from experiments import overlap
from experiments.claims.findings import default_solver, find


def evidence(words, cells, trivial=None):
    (found,) = [f for f in find(cells, trivial or {}) if words in f.finding]
    return found.evidence


def overlap_cells():
    """Two starts of two methods on both tables; the lower objective is the second."""
    return {
        f"overlap/as described/{table}/{start}": {
            "RTKM": {"f1": 0.3 + start / 10, "cardinality": 4, "objective": 2 - start},
            "okm": {"f1": 0.35, "cardinality": 5 - start, "objective": 2 - start},
        }
        for table in ("yeast", "scene")
        for start in (0, 1)
    }


TRIVIAL = {
    "yeast": {"f1": 0.425, "cardinality": 14.0, "true_cardinality": 4.237},
    "scene": {"f1": 0.300, "cardinality": 6.0, "true_cardinality": 1.074},
}


def test_the_trivial_answer_is_set_against_the_best_run():
    told = evidence("trivial answer", overlap_cells(), TRIVIAL)
    assert told[0] == (
        "yeast: 0.425, where the best run of any method, RTKM, default solver, has "
        "0.400"
    )


def test_clusters_per_row_are_those_of_the_best_objective():
    told = evidence("clusters each method", overlap_cells(), TRIVIAL)
    assert told[1] == "scene (truly 1.07): RTKM, default solver 4.00, OKM 4.00"


def test_spans_over_the_units_are_told():
    def record(value):
        return {"me": value, "objective": value, "fractional": 0.0}

    cells = {
        f"units/as described/{scale}/0": {
            "RTKM, step 1.1": record(float(scale)),
            "RTKM": record(0.5),
        }
        for scale in ("0.1", "1.0")
    }
    told = evidence("units", cells)
    assert told[0] == "WBC, k = 2, times 0.1 to 1.0"
    assert "M_e 0.1 to 1, objective 0.1 to 1" in told[1]
    assert "RTKM, default solver: M_e 0.5 to 0.5" in told[2]


def noise_cells(auto, fixed, hard):
    records = {"RTKM": auto, "RTKM, step 1.1": fixed, "RTKM, no swaps": hard}
    return {
        f"{experiment}/as described/0.0/0": {
            name: {"objective": value, "me": 1.0} for name, value in records.items()
        }
        for experiment in ("shuttle", "yeast_noise")
    }


def test_objectives_are_compared_with_the_default():
    told = default_solver(noise_cells(100.0, 110.0, 99.0), {})
    fixed, hard = told[:2]
    assert "10.00% above it in the median, 10.0% at most, below it in 0%" in fixed
    assert "-1.00% above it in the median" in hard
    assert "below it in 100% of the runs" in hard


def test_findings_wait_for_their_experiments():
    assert find({}, {}) == []


def test_trivial_scores_are_computed(paper_tables):
    found = overlap.trivial()
    assert abs(found["yeast"]["f1"] - 0.425) < 5e-4
    assert abs(found["yeast"]["true_cardinality"] - 4.237) < 5e-4
    assert abs(found["scene"]["true_cardinality"] - 1.074) < 5e-4
