"""Parameter rules: what they accept, and what they say."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pytest

from rtkm import RTKM, KMeansMinusMinus, RelaxedKMeans, TrimmedKMeans
from rtkm._params import (
    Auto,
    Count,
    OutlierRows,
    Positive,
    Tally,
    Tolerance,
    Verbosity,
    check_params,
    check_value,
    whole_rows,
)

ACCEPTED = [
    (Count, [1, 7, np.int64(3)], [0, -1, 2.0, True, "1", None, np.bool_(True)]),
    (Tally, [0, 5], [-1, 0.0, False, "0"]),
    (Positive, [1, 0.1, np.float32(2)], [0, -1.0, np.inf, np.nan, True, "a"]),
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
POSITIVE = "'auto' or a positive number"
BAD = [
    *((RTKM, "contamination", v, SHARE) for v in (1.0, 1.5, -1, -0.1, "a", True, None)),
    *((TrimmedKMeans, "contamination", v, SHARE) for v in (1.0, 1.5, -1, "a", True)),
    *((KMeansMinusMinus, "n_outliers", v, SHARE) for v in (1.0, 1.5, -1, "a", True)),
    *((RTKM, "n_clusters", v, AT_LEAST_1) for v in (0, -1, 2.5, 2.0, "3", None, True)),
    *((RTKM, "step", v, POSITIVE) for v in (0, -1, "x", np.nan, np.inf, None, True)),
    *((RelaxedKMeans, "step", v, POSITIVE) for v in (0, -1, "x", np.nan)),
    *((RTKM, "n_memberships", v, AT_LEAST_1) for v in (0, 1.5, "auto")),
    *((RTKM, "n_swaps", v, f"'auto' or {AT_LEAST_0}") for v in (-1, 1.5, None)),
    (TrimmedKMeans, "n_swaps", -1, f"'auto' or {AT_LEAST_0}"),
    *((RTKM, "n_init", v, f"'auto' or {AT_LEAST_1}") for v in (0, 2.5)),
    *((RTKM, "tol", v, "a number of at least 0") for v in (-1, np.nan, "0")),
    *((RTKM, "max_iter", v, AT_LEAST_1) for v in (0, 1.5)),
    *((RTKM, "on_step", v, "None or a callable") for v in (3, "print")),
    (RTKM, "verbose", -1, f"a bool or {AT_LEAST_0}"),
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
