"""The arithmetic of the benchmarks; nothing is timed here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _benchmarks_can_be_imported(monkeypatch):
    """Tests elsewhere have modules of the same names."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.delitem(sys.modules, "results", raising=False)


def rounds_of(*times):
    from timing import Fit

    return [
        {name: Fit(t, 5, 2.0 * t) for name, t in seconds.items()} for seconds in times
    ]


def test_ratios_are_taken_within_a_round_and_against_the_fastest():
    from timing import median_ratio

    # the machine was ten times slower in the second round
    rounds = rounds_of(
        {"a": 1.0, "b": 2.0, "c": 4.0},
        {"a": 10.0, "b": 40.0, "c": 20.0},
        {"a": 3.0, "b": 4.0, "c": 9.0},
    )
    # 1/2, 10/40, 3/4
    assert median_ratio(rounds, "a", ["b"]) == 0.5
    # 1/2, 10/20, 3/4
    assert median_ratio(rounds, "a", ["b", "c"]) == 0.5
    # 1/4, 10/20, 3/9: medians of times alone would give 3/9 as well, sums 14/33
    assert median_ratio(rounds, "a", ["c"]) == pytest.approx(1 / 3)


def test_entrants_take_turns_and_see_the_fits_before_them():
    from timing import Entrant, race

    seen = []

    class Model:
        n_iter_, inertia_, seconds_ = 3, 1.0, 0.5

        def fit(self, X):
            return self

    def entrant(name):
        def make(seed, fits):
            seen.append((name, seed, sorted(fits)))
            return Model()

        return Entrant(make, n_threads=1)

    entrants = {"first": entrant("first"), "second": entrant("second")}
    rounds = race(entrants, np.ones((2, 2)), n_rounds=2, patience=60, seed=7)
    assert seen == [
        ("first", 7, []),
        ("second", 7, ["first"]),
        ("second", 8, ["first", "second"]),
        ("first", 8, ["first", "second"]),
    ]
    assert [list(fits) for fits in rounds] == [["first", "second"]] * 2
    assert rounds[0]["first"] == (0.5, 3, 1.0)
    # a race without patience has the one round it needs
    assert len(race(entrants, np.ones((2, 2)), n_rounds=9, patience=0)) == 1


def test_exponents_are_slopes_in_logarithms():
    from growth import power_law

    sizes = np.array([10.0, 100.0, 1000.0])
    assert power_law(sizes, 3 * sizes**1.5) == pytest.approx((1.5, 3.0))
    # errors of equal ratio on both ends: log10 of the times is 1.1, 2, 2.9, so the
    # slope is (2.9 - 1.1) / 2 = 0.9 through the middle, where 100 takes 100
    exponent, factor = power_law(sizes, 10 ** np.array([1.1, 2.0, 2.9]))
    assert exponent == pytest.approx(0.9)
    assert factor * 100**exponent == pytest.approx(100)


def test_one_iteration_is_what_the_longer_fit_has_more():
    from parts import per_iteration
    from timing import Fit

    fits = {"a|1": Fit(2.0, 1, 9.0), "a|11": Fit(7.0, 11, 4.0)}
    fits |= {"b|1": Fit(1.0, 1, 9.0), "b|11": Fit(2.0, 5, 5.0)}  # at rest after five
    # (7 - 2) / 10 and (2 - 1) / 4
    assert per_iteration(fits) == {"a": (0.5, 11, 4.0), "b": (0.25, 5, 5.0)}


def test_the_worst_of_all_data_is_shown_and_bold_if_it_misses():
    from goals import Goal
    from lines import Cell, worst_table
    from problems import Shape

    def line(kind, ours, goal):
        rounds = rounds_of({"ours": ours, "theirs": 1.0})
        cell = Cell(Shape(1000, 2, 3), kind, "float64", 0, rounds)
        return cell.line("ours", ["theirs"], goal=goal)

    at_most, at_least = Goal(0.5), Goal(1.6, at_most=False)
    table = worst_table([line("x", 0.4, at_most), line("y", 0.6, at_most)])
    assert "| **0.60** | ≤ 0.5 | 5 / 5 | 1.2 / 2 |" in table
    assert "0.40" not in table
    table = worst_table([line("x", 1.9, at_least), line("y", 1.7, at_least)])
    assert "| 1.70 | ≥ 1.6 |" in table
    assert "1.90" not in table


def test_cells_survive_json():
    import json

    from lines import Cell
    from problems import Shape

    rounds = rounds_of({"a": 1.0, "b": 2.0}, {"a": 1.5, "b": 2.5})
    cell = Cell(Shape(10, 2, 3), "overlapping", "float32", 4, rounds)
    assert Cell.from_json(json.loads(json.dumps(cell.to_json()))) == cell


def test_every_goal_is_for_a_shape_that_is_timed():
    import goals
    from parts import PARTS
    from problems import SHAPES, Shape

    # as many multiplications as 43,500 * 9 * 3 and 2,417 * 103 * 14 stay below 1e7
    small = [shape for shape in SHAPES if goals.THREADS[shape].limit == 1.0]
    assert small == [Shape(43_500, 9, 3), Shape(2_417, 103, 14)]
    timed = {
        name: {problem.shape for problem in part.problems}
        for name, part in PARTS.items()
    }
    assert set(goals.FIXED_STEP) == set(goals.TO_CONVERGENCE) == timed["descents"]
    assert set(goals.DEFAULTS) == timed["defaults"]


def test_unit_vectors_have_length_one():
    from problems import Shape, make_rows

    X = make_rows(Shape(50, 20, 3), "unit vectors", "float64", seed=0)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), np.ones(50))


def test_centers_are_as_far_apart_as_said():
    from problems import Shape, make_rows

    # rows are c + e: two of different blobs are 16 + 2 d apart, squared, in the mean;
    # with as many blobs as rows hardly two are of the same one
    X = make_rows(Shape(2000, 50, 2000), "overlapping", "float64", seed=0)
    squared = np.square(X[::2] - X[1::2]).sum(axis=1)
    assert squared.mean() == pytest.approx(16 + 2 * 50, rel=0.03)
    X20 = make_rows(Shape(2000, 50, 2000), "overlapping, x20", "float64", seed=0)
    np.testing.assert_allclose(X20, 20 * X)


def test_the_peak_of_memory_grows_by_what_is_allocated():
    from memory import CAN_MEASURE, FRUGAL

    if not CAN_MEASURE:
        pytest.skip("only Linux tells the peak of a process and lets one reset it")
    # in a process of its own, as always: of one that has been running for long, the
    # system may take back pages in the meantime, more than are allocated
    code = """if True:
        import numpy as np
        from memory import peak_growth
        before = np.ones(2**24)  # a peak that is to be forgotten
        del before
        print(peak_growth(lambda: np.ones(2**23).sum()))
        print(peak_growth(lambda: None))
    """
    answer = subprocess.check_output(
        [sys.executable, "-c", code],
        env=os.environ | FRUGAL | {"PYTHONPATH": os.pathsep.join(sys.path)},
        text=True,
    )
    grown, idle = map(int, answer.split())
    assert grown == pytest.approx(2**26, rel=0.05)
    assert idle < 2**20


def test_the_tables_of_the_pages_are_those_of_the_figures(tmp_path, monkeypatch):
    import report
    import results

    (tmp_path / "docs").mkdir()
    page = "docs/performance.md"
    (tmp_path / page).write_text((ROOT / page).read_text())
    for module in (report, results):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    report.write_report()
    for name in (page, "docs/speed.md"):
        assert (tmp_path / name).read_text() == (ROOT / name).read_text()
    assert "RTKM(step=1.1)" in (ROOT / "docs" / "speed.md").read_text()


def test_the_table_of_seeding_is_that_of_its_figures():
    import results
    import seeding

    table = seeding.table_of(results.read("seeding")["records"])
    text = (ROOT / "docs" / "performance.md").read_text()
    assert f"<!-- seeding -->\n\n{table}\n\n<!-- end of seeding -->" in text


def test_the_readme_says_what_was_measured():
    from summary import SUMMARIES

    text = (ROOT / "README.md").read_text()
    for name, summarize in SUMMARIES.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        assert f"{begin}\n\n{summarize()}\n\n{end}" in text, "run benchmarks/summary.py"


def of_ways(**ari):
    return {"ari": {way: [value] * 3 for way, value in ari.items()}}


def test_auto_misses_what_either_of_its_two_ways_finds_well_before_it():
    from scaling import is_missed

    assert is_missed(of_ways(none=0.1, standard=0.2, robust=0.8, auto=0.1))
    assert is_missed(of_ways(none=0.8, standard=0.2, robust=0.1, auto=0.1))
    assert not is_missed(of_ways(none=0.1, standard=0.9, robust=0.8, auto=0.75))


def test_agreement_leaves_out_rows_that_are_outliers_to_either():
    from scaling import agreement

    labels, classes = np.array([0, 0, 1, 1, -1, 0]), np.array([1, 1, 0, 0, 1, -1])
    assert agreement(labels, classes) == 1


def test_scaling_within_clusters_does_not_shrink_what_tells_them_apart():
    import pandas as pd
    from labelled import Labelled
    from scaling import agreement, fitted, within_labels

    rng = np.random.default_rng(0)
    classes = np.repeat([0, 1], 100)
    X = rng.normal(size=(200, 2)) * [1, 30] + np.outer(classes, [6, 0])
    table = Labelled(pd.DataFrame(X, columns=["a", "b"]), classes)
    labels = within_labels(table, fitted(table, "robust", 0))
    assert agreement(labels, classes) > 0.95


def test_labelled_tables_of_scikit_learn_have_a_class_for_every_row():
    from labelled import KNOWN

    table = KNOWN["wine, in MADs"]()
    assert table.frame.shape == (178, 13)
    assert table.n_classes == 3
    away = (table.frame - table.frame.median()).abs().median()
    assert np.allclose(away, 1)
