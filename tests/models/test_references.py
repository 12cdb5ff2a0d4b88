"""The summary of the training rows, as a model file says it."""

from __future__ import annotations

import numpy as np
import pytest

from rtkm.models.schema import ReferenceField
from rtkm.tables.reference import Reference

SOUND = {
    "n_rows": 90,
    "label_counts": np.array([2, 40, 46]),
    "n_missing": np.array([0, 50]),
    "n_values": np.array([88, 0]),
    "quantiles": np.array([[1.0, 2.0], [0.0, 0.0]]),
    "below": np.array([[20, 40], [0, 0]]),
    "up_to": np.array([[21, 60], [0, 0]]),
}


def validate(content):
    return ReferenceField().validate("reference_", content, {"features": 2})


def test_a_sound_one_is_read():
    found = validate(SOUND)
    assert isinstance(found, Reference)
    assert found.n_used == 88


@pytest.mark.parametrize(
    "damage",
    [
        {"n_rows": 0},
        {"n_rows": 87},
        {"n_rows": True},
        {"n_rows": 90.0},
        {"label_counts": np.array([88])},
        {"label_counts": np.array([0, 0])},
        {"label_counts": np.array([-1, 89])},
        {"label_counts": [2, 86]},
        {"label_counts": np.array([2.0, 86.0])},
        {"n_missing": np.array([0, 91])},
        {"n_missing": np.array([0])},
        {"n_values": np.array([50, 0])},
        {"quantiles": np.array([[2.0, 1.0], [0.0, 0.0]])},
        {"quantiles": np.array([[1.0, np.nan], [0.0, 0.0]])},
        {"quantiles": np.array([[1.0], [0.0]])},
        {"below": np.array([[20, 61], [0, 0]])},
        {"up_to": np.array([[21, 60], [0, 1]])},
        {"more": 1},
    ],
    ids=str,
)
def test_damaged_ones_are_refused(damage):
    with pytest.raises(ValueError, match="reference_"):
        validate(SOUND | damage)


@pytest.mark.parametrize("content", [None, [], "x", {}, {"n_rows": 90}])
def test_other_content_is_none(content):
    with pytest.raises(ValueError, match="reference_ is damaged"):
        validate(content)
