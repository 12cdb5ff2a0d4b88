"""What a model and its saved copy must have in common."""

from __future__ import annotations

import numpy as np

import rtkm
from rtkm.core.fields import declared

ANSWERS = (
    "predict score_samples decision_function transform predict_memberships score "
    "predict_confidence discriminant_factors"
).split()


def reload(model, folder):
    """Save a model and return what is loaded."""
    model.save(folder / "model.rtkm")
    return rtkm.load(folder / "model.rtkm")


def answers(model, X):
    """All that a model says about rows, by method."""
    found = [name for name in ANSWERS if hasattr(model, name)]
    return {name: getattr(model, name)(X) for name in found}


def bits(value):
    """A value as its bytes and what they mean."""
    array = np.asarray(value)
    if array.dtype == object:
        return type(value), array.tolist()
    return array.dtype, array.shape, array.tobytes()


def assert_same_answers(a, b, X):
    found, expected = answers(a, X), answers(b, X)
    assert found.keys() == expected.keys()
    for name in expected:
        assert bits(found[name]) == bits(expected[name]), name


def kept_names(model):
    """Fitted attributes that a file holds: plain values and arrays."""
    kinds = declared(type(model))
    return [
        name for name, kind in kinds.items() if name in vars(model) and not kind.absence
    ]
