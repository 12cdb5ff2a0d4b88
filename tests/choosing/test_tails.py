"""Tails against scipy.stats, and cuts worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from rtkm.choosing.outliers import quantile
from rtkm.choosing.tails import (
    HIGH,
    LOW,
    MIDDLE,
    Inner,
    Tail,
    benjamini_hochberg,
    fit_heavy,
    fit_light,
    mixture_cutoff,
)

SCORES = np.array([0.0, 0.3, 1.0, 4.0, 30.0])


def inner_of(distribution, dimension, mass=1e6):
    return Inner(*distribution.ppf([LOW, MIDDLE, HIGH]), dimension, mass)


def test_light_tails_are_chi_square():
    tail = Tail(5.0, np.inf, 2.0)
    expected = stats.chi2(5).sf(SCORES / 2 * 5)
    assert tail.beyond(SCORES) == pytest.approx(expected)
    assert tail.score_at(1e-6) == pytest.approx(stats.chi2(5).isf(1e-6) / 5 * 2)


def test_heavy_tails_are_those_of_f():
    tail = Tail(5.0, 4.0, 2.0)
    assert tail.beyond(SCORES) == pytest.approx(stats.f(5, 4).sf(SCORES / 2))
    assert tail.score_at(1e-6) == pytest.approx(2 * stats.f(5, 4).isf(1e-6))


@pytest.mark.parametrize("degrees", [1, 2, 7, 60])
def test_degrees_of_freedom_are_found_again(degrees):
    tail = fit_light(inner_of(stats.chi2(degrees, scale=3), dimension=degrees))
    assert tail.degrees == pytest.approx(degrees, rel=0.01)
    assert tail.scale == pytest.approx(3 * degrees, rel=0.01)
    assert fit_heavy(inner_of(stats.chi2(degrees), degrees)).beyond(
        SCORES
    ) == pytest.approx(stats.chi2(degrees).sf(SCORES), abs=0.01)


@pytest.mark.parametrize("nu", [1, 3, 20])
def test_heaviness_is_found_again(nu):
    tail = fit_heavy(inner_of(stats.f(4, nu, scale=5), dimension=4.0))
    assert tail.nu == pytest.approx(nu, rel=0.05)
    assert tail.scale == pytest.approx(5, rel=0.02)


def test_few_rows_tell_less_about_their_tail_than_the_dimension():
    few, many = (
        fit_light(inner_of(stats.chi2(3), dimension=2.0, mass=mass)).degrees
        for mass in (20, 1e6)
    )
    assert 2 < few < 2.5
    assert many == pytest.approx(3, rel=0.01)


def test_benjamini_and_hochberg_worked_by_hand():
    # five rows, level 0.2: p of .01 .05 .13 .15 .5 against .04 .08 .12 .16 .20;
    # the third is above its line, but the fourth is below, and takes it along
    p = np.array([0.5, 0.13, 0.01, 0.15, 0.05])
    assert benjamini_hochberg(p, np.count_nonzero, 5.0, 0.2) == 0.15
    assert benjamini_hochberg(p, np.count_nonzero, 5.0, 0.1) == 0.01
    assert benjamini_hochberg(p, np.count_nonzero, 5.0, 0.04) == -1.0
    assert benjamini_hochberg(p[:0], np.count_nonzero, 5.0, 0.2) == -1.0


def test_benjamini_and_hochberg_agree_with_scipy_and_count_weights():
    rng = np.random.RandomState(0)
    for _ in range(20):
        p = rng.beta(0.4, 1, size=60)
        weights = rng.randint(1, 4, size=60).astype(float)
        repeated = np.repeat(p, weights.astype(int))
        flagged = repeated[stats.false_discovery_control(repeated) <= 0.15]
        limit = benjamini_hochberg(
            p, lambda some, w=weights: w[some].sum(), weights.sum(), 0.15
        )
        assert limit == pytest.approx(flagged.max(initial=-1.0))


def test_quantiles_count_weights_as_repetitions():
    rng = np.random.RandomState(1)
    for share in 0.001, 0.3, 0.5, 0.9, 1.0:
        values = rng.normal(size=41)
        weights = rng.randint(0, 4, size=41).astype(float)
        repeated = np.repeat(values, weights.astype(int))
        assert quantile(values, weights, share) == quantile(repeated, None, share)
    # 0.4 * 0.9 of 100 rows are 36, not 36.00000000000001
    values = rng.permutation(100).astype(float)
    assert quantile(values, None, 0.4 * 0.9) == 35
    assert quantile(values, np.ones(100), 0.4 * 0.9) == 35


def test_the_cut_of_a_mixture_has_the_chance_asked_for():
    tail = Tail(3.0, np.inf, 1.0)
    scales, masses = np.array([1.0, 9.0, 0.0]), np.array([300.0, 100.0, 50.0])
    cut = mixture_cutoff(tail, scales, masses, 0.01)
    beyond = (
        0.75 * tail.beyond(np.array([cut]))[0]
        + 0.25 * tail.beyond(np.array([cut / 9]))[0]
    )
    assert beyond == pytest.approx(0.01)
    assert mixture_cutoff(tail, np.zeros(2), np.ones(2), 0.01) == 0
