"""RTKM with numbers that it chooses itself, and the cut for new rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

import rtkm
from rtkm import KMOR, RTKM, KMeansMinusMinus, NEOKMeans, TrimmedKMeans, choose
from rtkm.datasets import make_outlier_blobs

N_OUTLIERS = 8


def three_groups(seed=0, n_each=90, far=40.0):
    rng = np.random.RandomState(seed)
    groups = [rng.normal(center, 1, (n_each, 3)) for center in (0, 9, 18)]
    outliers = rng.choice([-far, far], (N_OUTLIERS, 3)) * rng.uniform(1, 2, (8, 3))
    return np.concatenate([*groups, outliers])


@pytest.fixture(scope="module")
def table():
    return three_groups()


@pytest.fixture(scope="module")
def model(table):
    return RTKM(random_state=0).fit(table)


def test_nothing_has_to_be_said(model, table):
    assert model.n_clusters_ == len(model.cluster_centers_) == 3
    # all of them, and about one flag in seven is a false alarm
    assert model.outlier_mask_[-N_OUTLIERS:].all()
    assert model.n_outliers_ <= N_OUTLIERS + 2
    assert model.standing_out_mask_[-N_OUTLIERS:].all()
    assert model.n_standing_out_ == model.standing_out_mask_.sum() <= N_OUTLIERS + 2
    assert model.contamination_ == model.n_outliers_ / len(table)
    assert_array_equal(model.predict(table), model.labels_)
    assert model.get_params()["n_clusters"] == "auto"


def test_the_choice_is_that_of_choose(model, table):
    choice = choose(table, random_state=0)
    assert choice.summary() == model.choice_.summary()
    given = RTKM(**choice.params, random_state=0).fit(table)
    assert given.choice_ is None
    assert (given.n_clusters_, given.contamination_) == (3, model.contamination_)
    assert_array_equal(given.labels_, model.labels_)
    assert given.offset_ == pytest.approx(model.offset_, rel=1e-9)


@pytest.mark.parametrize("form", ["float32", "CSR", "weights", "threads"])
def test_other_forms_of_a_table_choose_alike(form, model, table, monkeypatch):
    weights = None
    if form == "float32":
        table = table.astype(np.float32)
    elif form == "CSR":
        table = sparse.csr_array(table)
    elif form == "threads":
        monkeypatch.setattr("rtkm.core.table.n_threads", lambda: 3)
    else:
        weights = np.ones(len(table))
    found = RTKM(random_state=0).fit(table, sample_weight=weights)
    assert found.n_clusters_ == 3
    assert_array_equal(found.labels_, model.labels_)


def test_numbers_to_choose_from(table):
    assert RTKM([2, 5], random_state=0).fit(table).n_clusters_ == 2
    assert RTKM(np.array([4, 5]), random_state=0).fit(table).n_clusters_ == 4
    found = RTKM(range(2, 9), contamination=0, random_state=0).fit(table)
    assert (found.n_outliers_, found.contamination_) == (0, 0)
    with pytest.raises(ValueError, match="n_clusters=400 needs at least 400 rows"):
        RTKM([2, 400]).fit(table)


def test_the_number_of_clusters_follows_from_centers_and_memberships(table):
    found = RTKM(init=table[:5], n_swaps=0).fit(table)
    assert found.n_clusters_ == 5
    assert found.choice_.given == ("n_clusters",)
    one_group = np.random.RandomState(1).normal(size=(200, 2))
    with pytest.warns(UserWarning, match="all centers agree"):
        model = RTKM(n_memberships=3, random_state=0).fit(one_group)
    assert model.n_clusters_ == 3


@pytest.mark.parametrize("step", ["auto", 1.1])
def test_centers_say_how_many_clusters_where_nothing_is_chosen(table, step):
    known = {"init": table[:5], "contamination": 7, "step": step, "random_state": 0}
    found, told = RTKM(**known).fit(table), RTKM(5, **known).fit(table)
    assert found.n_clusters == "auto"
    assert found.n_clusters_ == 5
    assert found.choice_ is None
    np.testing.assert_array_equal(found.labels_, told.labels_)


def test_a_fixed_step_gets_the_chosen_numbers(table, model):
    found = RTKM(step=1.1, random_state=0).fit(table)
    assert found.n_clusters_ == 3
    assert found.contamination_ == model.contamination_


def test_few_rows_are_one_cluster_and_a_warning():
    X = np.random.RandomState(0).normal(size=(19, 2))
    message = "^19 rows are too few to choose from; at least 20 show"
    with pytest.warns(UserWarning, match=message):
        model = RTKM().fit(X)
    assert (model.n_clusters_, model.n_outliers_) == (1, 0)


def test_a_start_that_is_given_wins_if_it_is_better():
    X = make_outlier_blobs(300, 2, 3, random_state=0)[0]
    found = RTKM(random_state=0).fit(X)
    plain = RTKM(**found.choice_.params, random_state=0).fit(X)
    assert found.objective_ <= plain.objective_ * (1 + 1e-9)


def test_a_fit_that_fails_changes_nothing(table):
    model = RTKM(random_state=0).fit(table)
    before = dict(vars(model))

    def stop(state):
        raise RuntimeError

    model.set_params(on_step=stop, n_clusters=2)
    with pytest.raises(RuntimeError):
        model.fit(table[:100])
    for name in ("n_clusters_", "choice_", "cluster_centers_", "labels_"):
        assert vars(model)[name] is before[name]


def test_verbose_says_what_was_chosen(table, capsys):
    RTKM(random_state=0, verbose=1).fit(table)
    assert capsys.readouterr().out.startswith("3 clusters with gaps between them;")


# Files


def test_a_choice_is_saved_and_loaded(model, tmp_path):
    model.save(tmp_path / "m.rtkm")
    loaded = rtkm.load(tmp_path / "m.rtkm")
    assert repr(loaded.choice_) == repr(model.choice_)
    for part in ("table", "pairs", "given", "share_path"):
        assert getattr(loaded.choice_, part) == getattr(model.choice_, part)
    assert loaded.choice_.fitted_tail.cutoff() == model.choice_.fitted_tail.cutoff()
    assert loaded.n_clusters_ == 3
    assert loaded.contamination_ == model.contamination_
    assert loaded.get_params()["contamination"] == "auto"


def test_numbers_to_choose_from_are_saved(table, tmp_path):
    RTKM(range(2, 5), random_state=0).fit(table).save(tmp_path / "m.rtkm")
    loaded = rtkm.load(tmp_path / "m.rtkm")
    assert loaded.n_clusters == [2, 3, 4]
    assert loaded.fit(table).n_clusters_ == 3


# The cut for new rows


@pytest.mark.parametrize("far", [15, 50, 1e3, 1e6])
@pytest.mark.parametrize(
    "cls", [RTKM, TrimmedKMeans, KMeansMinusMinus, NEOKMeans, "auto"]
)
def test_rows_between_clusters_and_gross_outliers_are_outliers(cls, far):
    rng = np.random.RandomState(0)
    X = np.concatenate([rng.normal(size=(990, 2)), np.full((10, 2), far)])
    X[-10:] += rng.normal(size=(10, 2))
    if cls == "auto":
        model = RTKM(random_state=0)
    else:
        number = "n_outliers" if cls is KMeansMinusMinus else "contamination"
        model = cls(1, random_state=0, **{number: 10})
        if cls is NEOKMeans:
            model.set_params(overlap=-0.01)  # its outliers are then exactly so many
    model.fit(X)
    assert model.n_outliers_ == 10
    angles = rng.uniform(0, 2 * np.pi, 200)
    ring = np.c_[np.cos(angles), np.sin(angles)]
    assert (model.predict(8 * ring) == -1).all()
    assert (model.predict(2 * ring) == 0).all()
    assert_array_equal(model.predict(X), model.labels_)


def test_without_outliers_new_rows_are_judged_only_where_they_were_looked_for():
    X = np.random.RandomState(0).normal(size=(500, 2))
    far, beyond = [[1e3, 0.0]], [[0.0, 5.0]]
    asked = RTKM(1, contamination=0).fit(X)
    assert asked.offset_ == -np.inf
    assert_array_equal(asked.predict(far), [0])
    assert_array_equal(asked.predict_confidence(far), ["border"])
    found = RTKM(random_state=0).fit(X)
    assert found.n_outliers_ == 0
    assert_array_equal(found.predict(far), [-1])
    assert_array_equal(found.predict(X), 0)
    assert_array_equal(asked.predict_confidence(beyond), ["border"])


def test_kmor_cuts_by_its_own_rule_and_says_when_its_limit_decided():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(400, 2))
    free = KMOR(1, cutoff_factor=30, random_state=0).fit(X)
    assert free.n_outliers_ == 0
    assert free.offset_ == -30
    assert_array_equal(free.predict([[1e6, 0.0]]), [-1])
    assert not free.at_limit_
    full = KMOR(1, max_outliers=3, cutoff_factor=2, random_state=0).fit(X)
    assert full.n_outliers_ == 3
    assert full.at_limit_
