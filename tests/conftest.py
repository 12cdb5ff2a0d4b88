"""Estimators and small tables that the tests share."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from sklearn.base import clone
from sklearn.cluster import KMeans

from rtkm import (
    CBLOF,
    CBOD,
    ESP,
    ISP,
    KMOR,
    LDOF,
    MOC,
    ODC,
    OKM,
    ORC,
    ROKM,
    RTKM,
    ClusterDetector,
    FuzzyCMeans,
    KMeansMinusMinus,
    NEOKMeans,
    RelaxedKMeans,
    TrimmedKMeans,
)
from rtkm.datasets import make_outlier_blobs

# an estimator in this list is held to all of contract/ and core/test_validation.py;
# promises.py says what only some of them promise
CLUSTERERS = [
    RTKM,
    RelaxedKMeans,
    TrimmedKMeans,
    KMeansMinusMinus,
    KMOR,
    NEOKMeans,
    OKM,
    ROKM,
    MOC,
    ESP,
    ISP,
    FuzzyCMeans,
    ORC,
    ODC,
]

# the same classes where a parameter leads to other code
VARIANTS = [
    RTKM(3, contamination=0.1, step=1.1, random_state=0),
    RTKM(4, contamination=0.1, n_memberships=2, random_state=0),
    RTKM(4, contamination=0.1, n_memberships=2, step=5.0, random_state=0),
    RelaxedKMeans(3, step=5.0, random_state=0),
    TrimmedKMeans(3, n_swaps=0, random_state=0),
    KMOR(3, outlier_step="published", random_state=0),
    ROKM(3, penalty="distance", random_state=0),
    ORC(3, n_rounds=3, random_state=0),
]

MODELS = [
    # what RTKM chooses by itself is tested in choosing/
    cls(3, n_init=2, random_state=0, **({"contamination": 0.1} if cls is RTKM else {}))
    for cls in CLUSTERERS
] + VARIANTS

# an estimator in this list is held to all of detectors/test_detector_contract.py
DETECTORS = [CBLOF, LDOF, CBOD, ClusterDetector]

DETECTOR_MODELS = [
    *(cls() for cls in DETECTORS),
    CBLOF(TrimmedKMeans(4, random_state=0), weighted=True, contamination=25),
    LDOF(n_neighbors=7, novelty=True),
    CBOD(radius=0.7, min_outlier_share=0.02),
    ClusterDetector(contamination=0.05),
    ClusterDetector(KMeans(3, n_init=1, random_state=0), contamination=30),
]

# a slow or busy machine is no reason to fail
settings.register_profile("rtkm", deadline=None)
settings.load_profile("rtkm")


@pytest.fixture(params=CLUSTERERS, ids=lambda cls: cls.__name__)
def clusterer(request):
    """Each class in turn."""
    return request.param


@pytest.fixture(params=MODELS, ids=str)
def model(request):
    """Each class, and each variant, in turn: an unfitted copy that tests may change."""
    return clone(request.param)


@pytest.fixture(params=DETECTORS, ids=lambda cls: cls.__name__)
def detector_class(request):
    """Each class of detectors in turn."""
    return request.param


@pytest.fixture(params=DETECTOR_MODELS, ids=str)
def detector(request):
    """Each detector, and each variant, in turn: a copy that tests may change."""
    return clone(request.param)


@pytest.fixture
def blobs():
    """Six blobs that touch among 10 % of outliers, 400 rows; generic, without ties."""
    return make_outlier_blobs(400, 3, 6, separation=1.0, random_state=1)[0]


@pytest.fixture(name="X")
def two_places():
    """Sixty rows of unit variance around two places."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[:30] += 8
    return X


@pytest.fixture
def duplicates():
    """Three places, 1000, 2000 and 3000 times over, and 40 rows on a fourth."""
    places = np.array([[0.0, 0.0], [5.0, 1.0], [-3.0, 4.0], [50.0, 50.0]])
    return np.repeat(places, [1000, 2000, 3000, 40], axis=0)


@pytest.fixture(scope="session")
def data_file():
    """A function that finds the paper's tables which do not travel with the package."""
    beside_the_checkout = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("RTKM_DATA") or beside_the_checkout)

    def find(name):
        if not (folder / name).is_file():
            pytest.skip(f"no {name} in {folder}; set RTKM_DATA to the paper's tables")
        return folder / name

    return find


@pytest.fixture
def paper_tables(data_file, monkeypatch):
    """The paper's tables, where the loaders look for them."""
    folder = data_file("shuttle.trn").parent
    monkeypatch.setenv("RTKM_DATA", str(folder))
