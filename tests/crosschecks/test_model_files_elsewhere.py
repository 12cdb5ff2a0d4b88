"""Model files are read by the library that others read them with."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from rtkm import CBOD, RTKM

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "model",
    [
        RTKM(3, contamination=0.1, random_state=0),
        CBOD(),
        RTKM(2, contamination=0.1, init=[[0, 0, 0], [9, 9, 9]]),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_safetensors_reads_a_model(model, dtype, blobs, tmp_path):
    safetensors = pytest.importorskip(
        "safetensors", reason="safetensors is not installed"
    )
    model.fit(blobs.astype(dtype)).save(tmp_path / "m", extra={"a": "\u00df"})
    with safetensors.safe_open(tmp_path / "m", framework="numpy") as file:
        description = json.loads(file.metadata()["rtkm"])
        centers = file.get_tensor("model.cluster_centers_")
        names = {*file.keys()}
    assert description["extra"] == {"a": "\u00df"}
    assert centers.dtype == dtype
    assert_array_equal(centers, model.cluster_centers_)
    assert "sha256" in names
