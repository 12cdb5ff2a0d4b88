"""Cells near the largest float are reported, or refused in a sentence."""

from __future__ import annotations

import json
import re
import warnings

import numpy as np
import pytest

from rtkm.report.collect import contrasts
from rtkm.report.extents import bins_of

pytest_plugins = ("typed",)

LARGEST = np.finfo(float).max

rng = np.random.default_rng(0)
COLUMNS = {
    "both signs": rng.uniform(-1, 1, 60) * 1.1e308,
    "a few values": np.resize([1e308, -1e308, 0.0, 1.0], 60),
    "within half": rng.uniform(-1, 1, 60) * 8e307,
    "far outliers": np.r_[rng.uniform(-1, 1, 56) * 4e307, [1.7e308, -1.7e308] * 2],
    "all large": np.resize([1e308, 9e307], 60),
    "constant": np.full(60, 1e308),
    "one cell": np.r_[rng.normal(size=59), 1e308],
    "tiny": rng.uniform(-1, 1, 60) * 1e-310,
}


NO_NUMBER = re.compile(r"(?<![A-Za-z])(nan|inf)(?![A-Za-z])", re.IGNORECASE)


@pytest.mark.parametrize("scale", [None, "none", "robust", "standard"])
@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize("names", ["x", "x,y"])
def test_large_cells_make_a_page_or_a_sentence(rtkm, tmp_path, column, scale, names):
    cells = np.c_[column, np.random.default_rng(1).normal(size=60)]
    rows = [",".join(map(str, row[: len(names.split(","))])) for row in cells.tolist()]
    (tmp_path / "t.csv").write_text("\n".join([names, *rows]))
    files = ["--report", "r.html", "--json", "j.json"]
    scaling = [] if scale is None else ["--scale", scale]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outcome = rtkm("fit", "t.csv", "-k", "2", *files, *scaling)
    if outcome.code:
        sentence = r"rtkm: column '?x'? (holds|spans) .*; (divide|multiply) .*\n"
        assert outcome.code == 1
        assert re.fullmatch(sentence, outcome.err)
        return
    assert not NO_NUMBER.search((tmp_path / "r.html").read_text())
    assert not NO_NUMBER.search(outcome.out)
    found = json.loads((tmp_path / "j.json").read_text())
    for feature in found["distributions"]["features"]:
        assert np.all(np.diff(np.divide(feature["edges"], 2)) > 0)
        drawn = np.sum(list(feature["counts"].values()))
        assert drawn + sum(feature["beyond"].values()) == 60


@pytest.mark.parametrize(
    "values",
    [[-LARGEST, LARGEST], [LARGEST], [-LARGEST, 0, LARGEST], [1e308, 9e307]],
)
def test_edges_of_bins_are_finite_and_rise(values):
    _, edges = bins_of(np.array(values * 10, dtype=float))
    assert np.isfinite(edges).all()
    assert np.all(np.diff(edges / 2) > 0)
    assert edges[0] <= min(values)
    assert edges[-1] >= max(values)


@pytest.mark.parametrize("size", [1e-310, 1e-200, 1.0, 1e200, 8e307])
def test_contrasts_do_not_depend_on_the_size_of_numbers(size):
    centers = np.array([[-size, 0.0], [size, 0.0]])
    spreads = np.array([[size / 4, 1.0]] * 2)
    found = contrasts(centers, spreads, [range(10), range(30)], ["x", "y"])
    assert [one["feature"] for one in found] == ["x", "y"]
    assert found[0]["apart"] == pytest.approx(8.0, rel=1e-9)
