"""New rows beside training rows: what differs is found, and chance is not."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from rtkm import CBLOF, RTKM, TableModel, load
from rtkm.report.drift import compare_shares, holm
from rtkm.report.units import Distribution
from rtkm.tables.reference import quantiles_of

MEANS = np.array([[0.0, 0, 0, 0], [9, 9, 0, 0]])


def draw(n, seed, shares=(0.5, 0.5)):
    """Return rows of two clusters, far enough from 0 for factors to mean something."""
    rng = np.random.default_rng(seed)
    return 20 + MEANS[rng.choice(2, n, p=shares)] + rng.normal(size=(n, 4))


def fit(X, **options):
    return TableModel(RTKM(2, contamination=0.05, random_state=0), **options).fit(X)


@pytest.fixture(scope="module")
def model():
    return fit(draw(1000, 0))


def differing(changes, key):
    return [change[key] for change in changes if change["differs"]]


# Tests


def test_shares_are_compared_as_fisher_does():
    then, now = np.array([3, 40, 57]), np.array([9, 12, 29])
    changes = compare_shares(then, 100, now, 50)
    tails = []
    for a, b in zip(then, now, strict=True):
        table = [[b, 50 - b], [a, 100 - a]]
        tails.append(
            min(stats.fisher_exact(table, side)[1] for side in ("less", "greater"))
        )
    expected = holm(np.minimum(1, 2 * np.array(tails)))
    found = [change["p_value"] for change in changes]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_holm_by_hand():
    # sorted: .01 * 4, .02 * 3, .03 * 2 (no less than before), .9 * 1
    np.testing.assert_allclose(
        holm(np.array([0.03, 0.01, 0.9, 0.02])), [0.06, 0.04, 0.9, 0.06]
    )
    assert len(holm(np.array([]))) == 0


def test_the_distance_is_that_of_kolmogorov_and_smirnov_at_the_quantiles():
    rng = np.random.default_rng(0)
    values, new = np.sort(rng.normal(size=2000)), np.sort(rng.normal(0.4, 1, 300))
    n, quantiles, below, up_to = quantiles_of(values, 49)
    then = Distribution(n, quantiles, below / n, up_to / n)
    exact = stats.ks_2samp(values, new).statistic
    # between quantiles that are kept, two in a hundred rows may lie
    assert exact - 0.02 <= then.distance(new) <= exact
    assert then.p_value(then.distance(new), 300) > stats.ks_2samp(values, new).pvalue


def test_values_that_come_many_times_are_no_difference():
    rng = np.random.default_rng(0)
    X = np.c_[rng.integers(0, 2, 600), rng.integers(0, 4, 600), np.full(600, 5.0)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fit(X.astype(float))
    same = model.detect_drift(X)
    assert [change["distance"] for change in same.features] == [0, 0, 0]
    lower = model.detect_drift(X - [0, 0, 1])  # a constant has another value
    assert differing(lower.features, "feature") == ["x2"]
    assert lower.features[2]["distance"] == 1


# What is found


def test_rows_of_the_same_kind_raise_no_alarm(model):
    alarms = sum(model.detect_drift(draw(200, seed)).found for seed in range(1, 101))
    # 3 in 100 at most are expected; more than 8 would come once in 500 times
    assert alarms <= 8


def test_a_column_that_moved_is_found(model):
    for seed in range(1, 21):
        X = draw(500, seed)
        X[:, 2] += 0.5
        drift = model.detect_drift(X)
        assert differing(drift.features, "feature") == ["x2"]
        assert "'x2' has moved: its middle is 20." in drift.summary()
        assert drift.features[2]["units"] is None


def test_more_than_chance_but_small_is_not_told():
    model = fit(draw(20_000, 0))
    X = draw(20_000, 1)
    X[:, 2] += 0.1
    change = model.detect_drift(X).features[2]
    assert change["p_value"] < 1e-6
    assert not change["differs"]


def test_another_share_of_a_cluster_is_found(model):
    drift = model.detect_drift(draw(500, 1, (0.8, 0.2)))
    assert differing(drift.labels, "label") == [0, 1]
    now = {change["label"]: change["share_now"] for change in drift.labels}
    then = {change["label"]: change["share_then"] for change in drift.labels}
    assert abs(then[0] - 0.475) < 0.03
    assert sorted(np.round([now[0], now[1]], 1)) == [0.2, 0.8]
    assert "of the new rows are in cluster 0, against" in drift.summary()


def test_more_outliers_are_found(model):
    X = draw(300, 1)
    X[:60, 3] += 12 * np.resize([1, -1], 60)
    drift = model.detect_drift(X)
    assert -1 in differing(drift.labels, "label")
    assert "of the new rows are outliers, against 5 % of the training rows" in (
        drift.summary()
    )


def test_a_wider_column_spreads_differently(model):
    X = draw(500, 1)
    X[:, 3] = 20 + 2 * (X[:, 3] - 20)
    drift = model.detect_drift(X)
    assert "'x3' spreads differently: its middle half is from" in drift.summary()


@pytest.mark.parametrize("factor", [25.4, 1 / 25.4, 1000, 0.45359])
def test_a_factor_is_a_change_of_units(model, factor):
    for seed in range(1, 6):
        X = draw(200, seed)
        X[:, 2] *= factor
        (change,) = [c for c in model.detect_drift(X).features if c["differs"]]
        assert change["feature"] == "x2"
        assert change["units"]["conversion"] is None
        assert change["units"]["factor"] == pytest.approx(factor, rel=0.03)


@pytest.mark.parametrize(
    ("convert", "name"),
    [
        (lambda x: 1.8 * x + 32, "°C to °F"),
        (lambda x: (x - 32) / 1.8, "°F to °C"),
        (lambda x: x + 273.15, "°C to K"),
        (lambda x: x - 273.15, "K to °C"),
    ],
)
def test_temperatures_are_known(model, convert, name):
    X = draw(300, 3)
    X[:, 2] = convert(X[:, 2])
    change = model.detect_drift(X).features[2]
    assert change["units"]["conversion"] == name


def test_a_move_is_no_change_of_units(model):
    for seed in range(1, 21):
        X = draw(200, seed)
        X[:, 2] += 20  # the middle is twice what it was, the spread is not
        change = model.detect_drift(X).features[2]
        assert change["differs"]
        assert change["units"] is None


def test_units_are_those_of_the_table_where_columns_are_scaled_and_logged():
    rng = np.random.default_rng(0)

    def rows(n):
        return np.c_[np.exp(rng.normal(5, 1, n)), rng.normal(0, 1, n)]

    for options in ({"scale": "standard"}, {"log": ["x0"]}, {"scale": "robust"}):
        model = fit(rows(1000), **options)
        X = rows(300)
        X[:, 0] /= 1000
        drift = model.detect_drift(X)
        change = drift.features[0]
        assert change["units"]["factor"] == pytest.approx(1e-3, rel=0.25)
        middle = np.median(X[:, 0])
        assert change["quartiles_now"][1] == pytest.approx(middle, rel=0.02)
        assert "'x0' looks like it is in other units" in drift.summary()


def test_missing_values_are_found_and_not_taken_for_values():
    X, new = draw(400, 0), draw(400, 1)
    X[:4, 1] = new[:80, 1] = np.nan
    for missing in ("median", "drop"):
        drift = fit(X, missing=missing).detect_drift(new)
        assert differing(drift.missing, "feature") == ["x1"]
        assert differing(drift.features, "feature") == []
        assert drift.summary().endswith(
            "'x1' is missing in 20 % of the new rows, against 1 % of the training rows."
        )


# What is said


def test_few_rows_tell_little(model):
    drift = model.detect_drift(draw(30, 1))
    assert not drift.found
    assert "Few rows tell little: with 30 rows, a column would show only if" in (
        drift.summary()
    )
    assert "not show" in model.detect_drift(draw(2, 1)).summary()
    assert "Few rows" not in model.detect_drift(draw(300, 1)).summary()


def test_a_saved_model_says_the_same(model, tmp_path):
    model.save(tmp_path / "m.rtkm")
    X = draw(200, 1) + np.array([0, 0, 1, 0])
    assert vars(load(tmp_path / "m.rtkm").detect_drift(X)) == vars(
        model.detect_drift(X)
    )


def test_models_of_numbers_cannot_tell():
    X = draw(100, 0)
    model = TableModel.of_numbers(RTKM(2, contamination=0.1, random_state=0).fit(X))
    with pytest.raises(ValueError, match="no summary of its training rows"):
        model.detect_drift(X)


def test_detectors_compare_outliers():
    X = draw(300, 0)
    model = TableModel(CBLOF(contamination=0.05)).fit(X)
    drift = model.detect_drift(X)
    assert [change["label"] for change in drift.labels] == [-1]
    assert drift.labels[0]["count_then"] == 15
    assert not drift.found


def test_html_escapes_names():
    frame = pd.DataFrame(draw(200, 0), columns=["<b>", "b", "c", "d"])
    drift = fit(frame).detect_drift(frame * [30, 1, 1, 1])
    assert "&lt;b&gt;" in drift._repr_html_()
    assert "<b>" not in drift._repr_html_()


def test_shares_of_categories_are_compared():
    rng = np.random.default_rng(3)

    def cars(n, shares):
        origin = rng.choice(["USA", "Europe", "Japan"], n, p=shares)
        mass = 20 + 9 * rng.integers(0, 2, n) + rng.normal(size=n)
        return pd.DataFrame({"mass": mass, "origin": origin})

    model = fit(cars(1000, [0.4, 0.4, 0.2]), categories=["origin"])
    same = model.detect_drift(cars(1000, [0.4, 0.4, 0.2]))
    assert not same.found
    drift = model.detect_drift(cars(1000, [0.7, 0.1, 0.2]))
    assert differing(drift.features, "feature") == ["origin=Europe", "origin=USA"]
    moved = next(c for c in drift.features if c["feature"] == "origin=USA")
    assert moved["share_now"] == pytest.approx(0.7, abs=0.05)
    assert moved["share_then"] == pytest.approx(0.4, abs=0.05)
    assert "'origin=USA' holds for 7" in drift.summary()
    assert not any(c["units"] for c in drift.features)
