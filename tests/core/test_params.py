"""Parameter rules: what they accept, and what they say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from pkgutil import walk_packages
from typing import get_args

import numpy as np
import pytest
from conftest import CLUSTERERS, DETECTORS
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import rtkm
from rtkm import (
    CBOD,
    ESP,
    ISP,
    KMOR,
    MOC,
    ODC,
    OKM,
    ORC,
    ROKM,
    RTKM,
    FuzzyCMeans,
    KMeansMinusMinus,
    NEOKMeans,
    RelaxedKMeans,
    TrimmedKMeans,
    estimate_neo_parameters,
)
from rtkm.core.params import (
    AboveOne,
    Auto,
    Count,
    Number,
    OutlierRows,
    Positive,
    Rule,
    Tally,
    Tolerance,
    Verbosity,
    check_params,
    check_value,
    hints_of,
    whole_rows,
)

ACCEPTED = [
    (Count, [1, 7, np.int64(3)], [0, -1, 2.0, True, "1", None, np.bool_(True)]),
    (Tally, [0, 5], [-1, 0.0, False, "0"]),
    (Positive, [1, 0.1, np.float32(2)], [0, -1.0, np.inf, np.nan, True, "a"]),
    (Number, [-1, 0, 10**300, Fraction(1, 3)], [-np.inf, np.nan, False, "0", 1j]),
    (Tolerance, [0, 0.0, 1e-6], [-1e-9, np.nan, np.inf, "0"]),
    (OutlierRows, [0, 3, 0.0, 0.25, np.float32(0.5)], [1.0, 1.5, -1, -0.1, True, "a"]),
    (Auto, ["auto"], ["aut", None, 1]),
    (Auto | Positive, ["auto", 1.1], ["x", 0]),
]


@pytest.mark.parametrize(("rule", "good", "bad"), ACCEPTED)
def test_a_rule_accepts_what_it_says_and_nothing_else(rule, good, bad):
    for value in good:
        check_value("name", value, rule, "Owner")
    for value in bad:
        with pytest.raises(ValueError, match="is not valid for Owner; expected"):
            check_value("name", value, rule, "Owner")


@pytest.mark.parametrize("rule", [Number, Positive, Tolerance, AboveOne, Auto | Number])
def test_a_number_beyond_all_floats_is_not_finite(rule):
    for value in (10**400, -(10**400), Fraction(10**400)):
        with pytest.raises(ValueError, match="is not valid for Owner; expected"):
            check_value("name", value, rule, "Owner")


@pytest.mark.parametrize("value", [2**63, 10**400, 10**10_000], ids=int.bit_length)
@pytest.mark.parametrize("cls", [*CLUSTERERS, *DETECTORS])
def test_integers_nothing_can_be_counted_by_are_refused(cls, value):
    counts = [
        name
        for name, hint in hints_of(cls).items()
        if any("integer" in w or "number of rows" in w for w in wishes(hint))
        and name not in ("verbose", "clusterer")
    ]
    assert counts or cls is CBOD
    for name in counts:
        message = (
            rf"^{name}, an integer beyond 2\*\*63 of about \d+ digits, is not valid"
        )
        with pytest.raises(ValueError, match=message) as caught:
            cls(**{name: value}).fit(np.eye(5))
        assert len(str(caught.value)) < 300


def wishes(hint):
    """What the rules of a field say in words."""
    for option in (hint, *get_args(hint)):
        yield from (rule.wanted for rule in getattr(option, "__metadata__", ()))


@pytest.mark.parametrize("tol", [1e100, 1e200, 1.7e308, np.float64(1e308), 10**300])
@pytest.mark.parametrize(
    "model",
    [
        RTKM(2, contamination=0.1, step=1e-3, random_state=0),
        FuzzyCMeans(2, random_state=0),
    ],
)
def test_a_tolerance_of_everything_ends_with_the_first_step(model, tol):
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = clone(model).set_params(tol=tol).fit(X)
    assert model.converged_
    assert len(model.objective_path_) == 2


def test_a_message_names_the_value_the_owner_and_every_option():
    message = (
        "^step='fast' is not valid for RTKM; expected 'auto' or a positive number.$"
    )
    with pytest.raises(ValueError, match=message):
        check_value("step", "fast", Auto | Positive, "RTKM")


def test_a_field_without_a_rule_takes_anything():
    @dataclass
    class Method:
        free: int = 3

    check_params(Method(free="anything"))


@pytest.mark.parametrize(
    ("share", "mass", "rows"),
    [
        (0.1, 25, 3),  # 2.5 rounds up
        (0.3, 45, 14),  # 13.5, though 0.3 * 45 is a little less in binary
        (0.1, 24, 2),
        (0.0, 10, 0),
        (0.02, 24, 0),  # 0.48
        (4, 10, 4),
    ],
)
def test_shares_become_whole_rows_half_up(share, mass, rows):
    assert whole_rows(share, mass) == rows


def test_verbosity_may_be_a_bool():
    check_value("verbose", True, Verbosity, "Owner")
    with pytest.raises(ValueError, match="a bool or an integer of at least 0"):
        check_value("verbose", "yes", Verbosity, "Owner")


# Through the estimators

SHARE = "a share in [0, 1) or a number of rows, 0 or more (write 1 for one row)"
AT_LEAST_0, AT_LEAST_1 = "an integer of at least 0", "an integer of at least 1"
CHOSEN = f"'auto' or {AT_LEAST_1} or one or more of these to choose from"
NOT_NEGATIVE, ABOVE_1 = "a number of at least 0", "a number above 1"
UP_TO_1 = "a number in (0, 1]"
POSITIVE = "'auto' or a positive number"
OR_SHARE = f"'auto' or {SHARE}"
BAD = [
    *((RTKM, "contamination", v, OR_SHARE) for v in (1.0, 1.5, -1, -0.1, "a", None)),
    *((TrimmedKMeans, "contamination", v, SHARE) for v in (1.0, 1.5, -1, "a", True)),
    *((KMeansMinusMinus, "n_outliers", v, SHARE) for v in (1.0, 1.5, -1, "a", True)),
    *((RTKM, "n_clusters", v, CHOSEN) for v in (0, -1, 2.5, "3", None, True)),
    *((RTKM, "n_clusters", v, CHOSEN) for v in ([], [0], [2, 2.5], [[2, 3]], "23")),
    *((OKM, "n_clusters", v, AT_LEAST_1) for v in (0, -1, 2.5, 2.0, "3", None, [2])),
    *((RTKM, "step", v, POSITIVE) for v in (0, -1, "x", np.nan, np.inf, None, True)),
    *((RelaxedKMeans, "step", v, POSITIVE) for v in (0, -1, "x", np.nan)),
    *((RTKM, "n_memberships", v, AT_LEAST_1) for v in (0, 1.5, "auto")),
    *((RTKM, "n_swaps", v, f"'auto' or {AT_LEAST_0}") for v in (-1, 1.5, None)),
    (TrimmedKMeans, "n_swaps", -1, f"'auto' or {AT_LEAST_0}"),
    *((RTKM, "n_init", v, f"'auto' or {AT_LEAST_1}") for v in (0, 2.5)),
    *((RTKM, "tol", v, NOT_NEGATIVE) for v in (-1, np.nan, "0")),
    *((RTKM, "max_iter", v, AT_LEAST_1) for v in (0, 1.5)),
    *((RTKM, "on_step", v, "None or a callable") for v in (3, "print")),
    (RTKM, "verbose", -1, f"a bool or {AT_LEAST_0}"),
    *((KMOR, "max_outliers", v, SHARE) for v in (1.0, 1.5, -1, "auto", None)),
    *((KMOR, "cutoff_factor", v, NOT_NEGATIVE) for v in (-1, np.inf, "3", None)),
    *((KMOR, "outlier_step", v, "'exact' or 'published'") for v in ("paper", None, 1)),
    *((NEOKMeans, "overlap", v, "a number above -1") for v in (-1, np.nan, "a", None)),
    *((NEOKMeans, "contamination", v, SHARE) for v in (1.0, -1, "a")),
    *((ROKM, "overlap_penalty", v, "a number") for v in (np.nan, "auto", None)),
    *((ROKM, "penalty", v, "'size' or 'distance'") for v in ("R1", None, 2)),
    *((ESP, "n_memberships", v, AT_LEAST_1) for v in (0, 1.5, None)),
    *((ISP, "overlap_penalty", v, f"'auto' or {NOT_NEGATIVE}") for v in (-1, "a")),
    *((FuzzyCMeans, "fuzzifier", v, ABOVE_1) for v in (1, 0.5, np.inf, "2")),
    *(
        (FuzzyCMeans, "membership_threshold", v, f"{UP_TO_1} or None")
        for v in (0, 1.01, -1, "auto")
    ),
    *((ORC, "threshold", v, UP_TO_1) for v in (0, -0.1, 1.01, np.nan, None)),
    *((ORC, "n_rounds", v, AT_LEAST_0) for v in (-1, 1.5, None)),
    *((ODC, "cutoff_factor", v, ABOVE_1) for v in (1, 0.5, -1, np.inf, "2")),
]


@pytest.mark.parametrize(("cls", "name", "value", "expected"), BAD)
def test_bad_parameters_are_refused(cls, name, value, expected):
    message = f"{name}={value!r} is not valid for {cls.__name__}; expected {expected}."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        cls(**{name: value}).fit(np.eye(9))


@pytest.mark.parametrize("value", ["x", 1.5, -1])
def test_bad_random_states_are_refused(clusterer, value):
    start = (
        f"random_state={value!r} is not valid for {clusterer.__name__}; expected None"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(start)}"):
        clusterer(2, random_state=value).fit(np.eye(9))


# Parameters that make a method meaningless


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            NEOKMeans(3, overlap=2.1),
            "overlap=2.1 asks for more than every row in each of n_clusters=3; "
            "expected at most 2.",
        ),
        (
            NEOKMeans(3, overlap=-0.5),
            "overlap=-0.5 leaves out 10 of 20 rows, contamination=0.1 only 2; raise "
            "either.",
        ),
        (
            ROKM(3, penalty="distance", overlap_penalty=-1.0),
            "overlap_penalty=-1.0 is not valid for ROKM with penalty='distance'; "
            "expected a number of at least 0.",
        ),
        (
            KMOR(3, max_outliers=20),
            "max_outliers=20 leaves 0 of 20 rows, too few for "
            "n_clusters=3; ask for fewer outliers or fewer clusters.",
        ),
    ],
    ids=str,
)
def test_parameters_that_contradict_the_others_are_refused(model, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        model.fit(np.random.default_rng(0).normal(size=(20, 2)))


def test_more_clusters_than_sums_can_tell_apart_are_refused():
    X = np.random.default_rng(0).normal(size=(70, 2))
    message = (
        "n_clusters=65 is not valid for MOC; expected at most 64, since every cluster "
        "doubles the sets to choose from."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        MOC(65).fit(X)


def test_limits_of_what_is_meaningful_are_accepted():
    X = np.random.default_rng(0).normal(size=(20, 2))
    everything = NEOKMeans(3, overlap=2, contamination=0, init=X[:3]).fit(X)
    assert everything.assignments_.all()
    fewest = NEOKMeans(3, overlap=-0.1, init=X[:3]).fit(X)
    assert fewest.n_outliers_ == 2
    assert ROKM(3, overlap_penalty=-1.0, init=X[:3]).fit(X).assignments_.sum() > 20
    # so dear that the price is no float any more
    for model in (ROKM(3, overlap_penalty=1e4), ISP(3, overlap_penalty=1e308)):
        assert model.set_params(init=X[:3]).fit(X).assignments_.sum() == 20
    whole = ESP(3, n_memberships=9, init=X[:3]).fit(X)
    assert whole.objective_ == ISP(3, overlap_penalty=0, init=X[:3]).fit(X).objective_
    assert ORC(3, threshold=1, init=X[:3]).fit(X).n_outliers_ == 0
    assert ORC(3, n_rounds=0, init=X[:3]).fit(X).n_outliers_ == 0


def test_overlap_in_one_cluster_warns_and_works():
    X = np.random.default_rng(0).normal(size=(20, 2))
    message = (
        "^overlap=0.1 has no effect at n_clusters=1, which leaves no second cluster to "
        "be in.$"
    )
    with pytest.warns(UserWarning, match=message) as caught:
        model = NEOKMeans(1).fit(X)
    assert caught[0].filename == __file__
    assert_allclose(model.cluster_centers_, [X.mean(axis=0)], rtol=1e-12)
    NEOKMeans(1, overlap=0).fit(X)  # nothing to warn of


def test_blurred_memberships_warn():
    X = np.random.default_rng(0).normal(size=(200, 60))
    message = (
        "^at fuzzifier=2.0 every row has about the same share in all clusters; lower "
        "it to tell them apart.$"
    )
    with pytest.warns(UserWarning, match=message) as caught:
        FuzzyCMeans(3, random_state=0).fit(X)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("n_clusters", 0, AT_LEAST_1),
        ("strategy", "angle", "'radius' or 'share'"),
        ("overlap_deviations", np.nan, "a number"),
        ("outlier_deviations", "6", "a number"),
        ("n_init", 0, AT_LEAST_1),
        ("max_iter", 0, AT_LEAST_1),
        ("as_published", "yes", "True or False"),
        (
            "random_state",
            -1,
            "None, an integer from 0 to 2**32 - 1, or a RandomState",
        ),
    ],
)
def test_bad_parameters_of_the_neo_estimates_are_refused(name, value, expected):
    message = (
        f"{name}={value!r} is not valid for estimate_neo_parameters; expected "
        f"{expected}."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        estimate_neo_parameters(np.eye(9), **{name: value})


def test_neo_estimates_need_a_row_a_cluster():
    message = "n_clusters=4 needs at least 4 rows; X has n_samples=3."
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        estimate_neo_parameters(np.eye(3), 4)
    with pytest.raises(ValueError, match=r"^Input contains NaN"):
        estimate_neo_parameters([[np.nan], [1.0]], 1)
    message = "n_clusters=3 exceeds the number of distinct rows, 2; some clusters will"
    with pytest.warns(ConvergenceWarning, match=f"^{message}") as caught:
        assert estimate_neo_parameters(np.eye(2)[[0, 0, 1, 1]], 3) == (0.0, 0.0)
    assert caught[0].filename == __file__


def test_every_rule_is_written_once():
    modules = [
        import_module(found.name)
        for found in walk_packages(rtkm.__path__, "rtkm.")
        if not found.name.endswith("__main__")
    ]
    rules = {
        rule: f"{module.__name__}.{name}"
        for module in modules
        for name, value in vars(module).items()
        for rule in getattr(value, "__metadata__", ())
        if isinstance(rule, Rule)
    }
    by_words = {rule.wanted: place for rule, place in rules.items()}
    assert sorted(by_words.values()) == sorted(rules.values())
