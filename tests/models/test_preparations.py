"""What was done to a table, as a model file says it."""

from __future__ import annotations

import numpy as np
import pytest

from rtkm.models.schema import PreparationField, plain_preparation

SOUND = {
    "columns": ["x", "y"],
    "missing": "drop",
    "fill": [0.0, 1.0],
    "scale": "robust",
    "center": [0.0, 1.0],
    "spread": [1.0, 2.0],
    "n_unnamed": 0,
    "id": "name",
    "log": ["y"],
    "offset": [0.0, 1.0],
    "categories": [],
}
WITH_CATEGORIES = SOUND | {
    "columns": ["y", "color=red", "color=blue"],
    "fill": [1.0, 1.0, 0.0],
    "center": [1.0, 0.0, 0.0],
    "spread": [2.0, 0.7, 0.7],
    "offset": [1.0, 0.0, 0.0],
    "categories": [["color", ["red", "blue"]]],
}


@pytest.mark.parametrize(
    "damage",
    [
        {"columns": ["x"]},
        {"columns": ["x", "x"]},
        {"columns": ["x", 3]},
        {"columns": "xy"},
        {"missing": "mean"},
        {"scale": ["robust"]},
        {"fill": [0.0, float("nan")]},
        {"fill": None},
        {"center": [0.0, "1"]},
        {"center": [0.0, True]},
        {"spread": [1.0, 0.0]},
        {"spread": [1.0, float("inf")]},
        {"spread": [1.0, 10**400]},
        {"n_unnamed": True},
        {"n_unnamed": -1},
        {"n_unnamed": 2},
        {"scale": "auto"},
        {"id": None},
        {"log": ["z"]},
        {"log": "y"},
        {"offset": [0.0, -1.0]},
        {"more": 1},
    ],
    ids=str,
)
def test_damaged_preparations_are_refused(damage):
    check_comes_back(SOUND)
    check_is_refused(SOUND | damage)


@pytest.mark.parametrize(
    "damage",
    [
        {"categories": [["color", ["red"]]]},
        {"categories": [["color", ["red", "green"]]]},
        {"categories": [["color", ["blue", "red"]]]},
        {"categories": [["color", ["red", "blue"]], ["size", []]]},
        {"categories": [["color", ["red", 3]]]},
        {"categories": [["color", "red"]]},
        {"categories": [["color"]]},
        {"categories": ["color"]},
        {"categories": None},
        {"log": ["color=red"]},
        {"n_unnamed": 2},
    ],
    ids=str,
)
def test_damaged_categories_are_refused(damage):
    check_comes_back(WITH_CATEGORIES)
    check_is_refused(WITH_CATEGORIES | damage)


def check_comes_back(content):
    sound = PreparationField().validate("preparation_", content, {})
    plain = {
        key: part.tolist() if isinstance(part, np.ndarray) else part
        for key, part in plain_preparation(sound).items()
    }
    assert plain == content


def check_is_refused(content):
    with pytest.raises(ValueError, match="preparation_ is damaged; fit the model"):
        PreparationField().validate("preparation_", content, {})


@pytest.mark.parametrize("content", [None, [], "x", {}, {"columns": ["x"]}])
def test_other_content_is_no_preparation(content):
    with pytest.raises(ValueError, match="preparation_ is damaged"):
        PreparationField().validate("preparation_", content, {})
