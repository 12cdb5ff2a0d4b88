"""Methods that are compared start from the same centers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from comparisons import LABELS, Distance, X, row, without_times
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans

from rtkm import KMOR, OKM, RTKM, TrimmedKMeans, compare, seeding
from rtkm.compare.frame import TRIVIAL, draw_seeds


def first_centers(methods, **options):
    """Return the objectives and centers the methods begin at."""
    begun = []

    def watch(state):
        if state.n_iter == 0:
            begun.append((state.objective, state.C.copy()))

    for method in methods:
        method.set_params(on_step=watch)
    frame = compare(X, methods, random_state=0, **options)
    assert (frame["error"] == "").all()
    return begun


@pytest.mark.parametrize("init", seeding.SEEDINGS)
def test_methods_start_from_the_same_centers(init):
    methods = [
        RTKM(3, contamination=0.1, n_swaps=0),
        TrimmedKMeans(3, n_swaps=0),
        KMOR(3),
        OKM(3),
    ]
    begun = first_centers(methods, init=init)
    assert len(begun) == 4
    for _, C in begun[1:]:
        np.testing.assert_array_equal(C, begun[0][1])
    assert begun[0][0] == begun[1][0]


def test_trimming_takes_the_same_path_under_two_names():
    paths = {RTKM: [], TrimmedKMeans: []}
    methods = [
        cls(
            3,
            contamination=0.1,
            n_swaps=0,
            on_step=lambda s, path=path: path.append(s.objective),
        )
        for cls, path in paths.items()
    ]
    compare(X, methods, init="random", n_starts=2, random_state=5)
    assert len(paths[RTKM]) > 4
    assert paths[RTKM] == paths[TrimmedKMeans]


def test_starts_differ_from_each_other():
    begun = first_centers([KMOR(3)], n_starts=3)
    assert len(begun) == 3
    assert len({C.tobytes() for _, C in begun}) == 3


def test_starts_do_not_depend_on_the_company():
    alone = compare(X, [KMOR(3)], n_starts=2, random_state=0)
    among = compare(
        X, [OKM(4), RTKM(3, contamination=0.1), KMOR(3)], n_starts=3, random_state=0
    )
    among = among[(among["method"] == "KMOR") & (among["start"] < 2)]
    among = among[list(alone)]  # others bring columns: agreement, what stands out
    pd.testing.assert_frame_equal(
        without_times(alone), without_times(among).reset_index(drop=True)
    )


@pytest.mark.parametrize(
    ("init", "seeding"),
    [
        ("k-means++", seeding.k_means_plus_plus),
        ("robust-k-means++", seeding.robust_k_means_plus_plus),  # a tenth by default
        ("robust-k-means||", seeding.robust_k_means_parallel),
        ("random", seeding.random_rows),
    ],
)
def test_centers_are_drawn_as_asked(init, seeding):
    seeds = draw_seeds(0, 2)
    begun = first_centers([OKM(4)], init=init, n_starts=2)
    for (_, C), (seed, _) in zip(begun, seeds, strict=True):
        np.testing.assert_array_equal(C, seeding(X, 4, random_state=seed))


def test_more_starts_leave_the_first_as_they_are():
    assert draw_seeds(0, 5)[:2] == draw_seeds(0, 2)


def test_robin_is_one_start():
    frame = compare(X, ["KMOR"], n_clusters=3, init="robin", n_starts=3)
    assert frame["start"].tolist() == [0]


def test_a_method_cannot_spoil_the_start_of_another():
    class Careless(BaseEstimator):
        def __init__(self, n_clusters=3, init=None):
            self.n_clusters = n_clusters
            self.init = init

        def fit(self, X, y=None):
            seen.append(self.init.copy())
            self.init += 1
            self.labels_ = np.zeros(len(X), dtype=int)
            return self

    seen = []
    compare(X, {"a": Careless(), "b": Careless()})
    np.testing.assert_array_equal(seen[0], seen[1])


def test_given_centers_are_one_start_and_fit_one_number_of_clusters():
    frame = compare(
        X, [KMOR(3), RTKM(4, contamination=0.1)], init=X[:3].tolist(), n_starts=5
    )
    assert frame["start"].tolist() == [0, 0]
    assert row(frame, "KMOR")["error"] == ""
    assert row(frame, "RTKM")["error"] == (
        "ValueError: init has shape (3, 2); expected (n_clusters, n_features) = (4, 2)."
    )


def test_a_callable_is_asked_once_for_each_start():
    asked = []

    def last_rows(X, n_clusters, random_state):
        asked.append(n_clusters)
        return X[random_state.choice(len(X), n_clusters)]

    compare(
        X, [KMOR(3), OKM(3), RTKM(2, contamination=0.1)], init=last_rows, n_starts=2
    )
    assert asked == [3, 3, 2, 2]


def test_n_starts_gives_rows_to_methods_that_start_somewhere():
    frame = compare(X, [KMOR(3), Distance(), KMeans(3)], LABELS, n_starts=3)
    assert frame["method"].value_counts().to_dict() == {
        "KMOR": 3,
        "KMeans": 3,
        "Distance": 1,
        TRIVIAL: 1,
    }
    assert frame["start"].tolist() == [0, 1, 2, pd.NA, 0, 1, 2, pd.NA]
    assert frame["method"].iloc[-1] == TRIVIAL


def test_the_same_random_state_gives_the_same_frame():
    methods = [RTKM(3, contamination=0.1), Distance(), KMeans(3)]
    frames = [compare(X, methods, n_starts=2, random_state=s) for s in (1, 1, 2)]
    pd.testing.assert_frame_equal(*map(without_times, frames[:2]))
    assert not frames[0]["n_iter"].equals(frames[2]["n_iter"])


def test_a_random_state_of_its_own_is_left_to_a_method():
    class Telling(Distance):
        def fit(self, X, y=None):
            seen.append(self.random_state)
            return super().fit(X)

    seen = []
    compare(X, {"own": Telling(random_state=7), "none": Telling()}, random_state=0)
    assert seen[0] == 7
    assert isinstance(seen[1], int)


def test_estimators_are_left_as_they_were():
    method = KMOR(5, init="random")
    compare(X, [method], n_clusters=3)
    assert method.get_params() == KMOR(5, init="random").get_params()
    assert not hasattr(method, "labels_")


def test_given_arrays_are_left_as_they_were():
    rows, centers = X.copy(), X[:3].copy()
    compare(rows, ["KMOR", KMeans()], LABELS, n_clusters=3, init=centers)
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(centers, X[:3])
