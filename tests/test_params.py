"""Parameter rules: what they accept, and what they say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from rtkm._params import (
    Auto,
    Count,
    OutlierRows,
    Positive,
    Tally,
    Tolerance,
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
