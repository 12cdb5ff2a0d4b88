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
    sound = PreparationField().validate("preparation_", SOUND, {})
    plain = {
        key: part.tolist() if isinstance(part, np.ndarray) else part
        for key, part in plain_preparation(sound).items()
    }
    assert plain == SOUND
    with pytest.raises(ValueError, match="preparation_ is damaged; fit the model"):
        PreparationField().validate("preparation_", SOUND | damage, {})


@pytest.mark.parametrize("content", [None, [], "x", {}, {"columns": ["x"]}])
def test_other_content_is_no_preparation(content):
    with pytest.raises(ValueError, match="preparation_ is damaged"):
        PreparationField().validate("preparation_", content, {})
