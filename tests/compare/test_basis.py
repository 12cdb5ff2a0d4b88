"""What there is to choose a method by without a truth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

from rtkm import LDOF, OKM, RTKM, compare, metrics, stability
from rtkm.compare.basis import agreements, recommend

rng = np.random.default_rng(0)
CENTERS = np.array([[0, 0], [20, 0], [0, 20]])
X = (CENTERS[:, None] + rng.normal(size=(3, 40, 2))).reshape(-1, 2)
CLOUD = rng.normal(size=(120, 2))


def frame_of(*rows):
    """Return runs of methods as (method, stability, agreement)."""
    return pd.DataFrame(rows, columns=["method", "stability", "agreement"])


# What is measured


def test_stability_is_that_of_the_model():
    frame = compare(CLOUD, ["RTKM"], n_clusters=4, init=None, random_state=3)
    seed = np.random.RandomState(3).randint(2**31 - 1, size=(1, 2))[0, 1]
    model = RTKM(4, random_state=int(seed)).fit(CLOUD)
    found = stability(model, CLOUD, 5, random_state=int(seed)).labels.mean()
    assert frame["stability"].tolist() == [found]
    assert found < 1


def test_clusters_that_are_there_come_back_and_others_do_not():
    there = compare(X, ["RTKM"], n_clusters=3, random_state=0)
    cloud = compare(CLOUD, ["RTKM"], n_clusters=6, random_state=0)
    assert there["stability"].iloc[0] > 0.98
    assert cloud["stability"].iloc[0] < 0.9


def test_agreement_is_the_mean_index_with_the_others():
    methods = [RTKM(3, contamination=0), KMeans(3), OKM(3)]
    frame = compare(X, methods, init=X[[0, 40, 80]])
    fits = [m.set_params(init=X[[0, 40, 80]]).fit(X) for m in methods]
    labels, other, sets = fits[0].labels_, fits[1].labels_, fits[2].assignments_
    first, second = (
        metrics.omega_index(labels, other),
        metrics.omega_index(labels, sets),
    )
    assert first == 1
    assert frame["agreement"].iloc[0] == pytest.approx((first + second) / 2)
    assert frame["agreement"].iloc[1] == frame["agreement"].iloc[0]
    assert frame["agreement"].iloc[2] == pytest.approx(second)


def test_what_has_no_clusters_takes_no_part():
    frame = compare(X, ["RTKM", LDOF(3)], n_clusters=3)
    assert "agreement" not in frame
    assert frame["stability"].notna().tolist() == [True, False]
    assert agreements([None, None]) == [None, None]


def test_too_few_rows_to_halve_leave_stability_out():
    frame = compare(X[::30], ["RTKM"], n_clusters=3)
    assert (frame["error"] == "").all()
    assert "stability" not in frame


def test_no_resamples_and_a_truth_leave_it_out():
    frame = compare(X, ["RTKM", "OKM"], n_clusters=3, n_resamples=0)
    assert "stability" not in frame
    assert frame.attrs["recommendation"]["method"] is None
    frame = compare(X, ["RTKM", "OKM"], np.repeat([0, 1, 2], 40), n_clusters=3)
    assert not {"stability", "agreement"} & set(frame)
    assert frame.attrs == {}
    with pytest.raises(ValueError, match="n_resamples=-1 is not valid for compare"):
        compare(X, ["RTKM"], n_resamples=-1)


def test_frames_with_names_are_compared():
    table = pd.DataFrame(X, columns=["a", "b"])
    named, plain = (
        compare(each, ["RTKM", "KMOR"], n_clusters=3, random_state=0)
        for each in (table, X)
    )
    assert named["stability"].tolist() == plain["stability"].tolist()


# What it comes to


def test_the_most_stable_method_is_recommended():
    found = recommend(frame_of(("A", 0.85, 0.9), ("B", 0.97, 0.5), ("C", 0.5, 0.9)))
    assert found.method == "B"
    assert found.reason == (
        "B is recommended: its labels come back in 97 % of fits to half of the rows, "
        "against 85 % of A, the next."
    )


def test_of_those_stable_alike_the_one_that_others_agree_with():
    found = recommend(frame_of(("A", 0.98, 0.6), ("B", 0.97, 0.8), ("C", 0.5, 0.9)))
    assert found.method == "B"
    assert "agrees most with all others (0.80, the next 0.60)" in found.reason


def test_what_nothing_separates_is_not_recommended():
    found = recommend(frame_of(("A", 0.98, 0.8), ("B", 0.97, 0.79), ("C", 0.5, 0.8)))
    assert found.method is None
    assert found.reason.startswith("There is nothing to choose between A and B: ")
    assert found.reason.endswith("with the others (0.79 to 0.80).")
    found = recommend(frame_of(("A", 0.98, 0.8), ("B", 0.98, 0.8), ("C", 0.5, 0.8)))
    assert found.reason.endswith("with the others (0.80).")


def test_no_method_is_recommended_that_is_not_stable():
    found = recommend(frame_of(("A", 0.6, 0.8), ("B", 0.3, 0.8)))
    assert found.method is None
    assert "even those of A, the most stable," in found.reason
    assert recommend(frame_of(("A", 0.9, np.nan))).method is None


def test_runs_count_by_their_mean():
    runs = [("A", 1.0, 0.8), ("A", 0.8, 0.8), ("B", 0.97, 0.8), ("B", 0.97, 0.8)]
    assert recommend(frame_of(*runs)).method == "B"


def test_the_frame_has_the_recommendation():
    frame = compare(X, ["RTKM", "OKM"], n_clusters=3, random_state=0)
    assert frame.attrs["recommendation"] == recommend(frame)._asdict()
