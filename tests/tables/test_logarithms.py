"""Logarithms of very skewed columns, and back."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from rtkm import RTKM, TableModel, load
from rtkm.tables.frames import as_table
from rtkm.tables.logarithms import is_very_skewed, skewness
from rtkm.tables.messages import InputError
from rtkm.tables.preparation import prepare

RNG = np.random.default_rng(0)
N = 400
VOTES = np.exp(RNG.normal(6, 1.5, N))
VOTES[:2] = 1e9, 1e-9
RATING = np.r_[RNG.normal(4, 0.3, N // 2), RNG.normal(8, 0.3, N // 2)]
FILMS = pd.DataFrame({"votes": VOTES, "rating": RATING})
# zeros among numbers of which the smallest is 2
ZEROS = np.where(np.arange(N) % 9, VOTES.round() + 2, 0)


def fit(log, films=FILMS, **options):
    return TableModel(RTKM(2, random_state=0), log=log, **options).fit(films)


def test_logarithms_by_hand():
    x, e = np.array([1.0, 1, 1, 1, 1]), np.exp([0, 1, 2, 3, 9])
    table = as_table(pd.DataFrame({"x": x + e, "e": e}))
    prepared = prepare(table, log=["e"], scale="standard", columns=["e"])
    # of 0, 1, 2, 3 and 9 the mean is 3, the variance (9 + 4 + 1 + 0 + 36) / 5 = 10
    assert_allclose(prepared.X[:, 0], np.array([-3, -2, -1, 0, 6]) / np.sqrt(10))
    assert prepared.notes[-1] == "Logarithms are taken of 'e'."
    assert_allclose(prepared.preparation.in_data_units(prepared.X)[:, 0], e)


def test_zeros_have_a_logarithm_that_does_not_depend_on_the_unit():
    columns = {"v": ZEROS, "x": RATING}
    prepared = prepare(as_table(pd.DataFrame(columns)), log=["v"])
    assert prepared.preparation.offset == (2.0, 0.0)
    assert "'v' (plus 2, for zeros)" in " ".join(prepared.notes)
    columns["v"] = ZEROS * 1000
    thousands = prepare(as_table(pd.DataFrame(columns)), log=["v"], scale="standard")
    prepared = prepare(
        as_table(pd.DataFrame(columns | {"v": ZEROS})), log=["v"], scale="standard"
    )
    assert_allclose(thousands.X, prepared.X, rtol=1e-9, atol=1e-9)


def test_what_is_shown_is_in_the_units_of_the_table():
    model = fit(["votes"])
    by_hand = TableModel(RTKM(2, random_state=0)).fit(
        pd.DataFrame({"votes": np.log(VOTES), "rating": RATING})
    )
    assert_array_equal(model.labels_, by_hand.labels_)
    centers = by_hand.cluster_centers_
    assert_allclose(model.cluster_centers_[:, 0], np.exp(centers[:, 0]))
    assert_allclose(model.cluster_centers_[:, 1], centers[:, 1])


def test_changes_of_one_feature_make_inliers_of_outliers():
    films = pd.DataFrame({"votes": np.r_[1e9, ZEROS[1:]], "rating": RATING})
    for log, rows in ((["votes"], FILMS), (["votes"], films)):
        model = fit(log, rows)
        frame = model.explain(rows)
        changed = frame[frame["outlier"] & (frame["change_feature"] == "votes")]
        assert len(changed)
        mended = rows.loc[changed.index].copy()
        assert_allclose(changed["change_from"], mended["votes"], rtol=1e-12)
        mended["votes"] = changed["change_to"]
        assert (model.predict(mended) >= 0).all()


@pytest.mark.parametrize("log", [["votes"], "auto"])
def test_a_model_in_a_file_takes_logarithms(tmp_path, log):
    model = fit(log)
    model.save(tmp_path / "model.rtkm")
    again = load(tmp_path / "model.rtkm")
    assert again.preparation_ == model.preparation_
    assert again.preparation_.log == ("votes",)
    assert_array_equal(again.score_samples(FILMS), model.score_samples(FILMS))


@pytest.mark.parametrize("value", [0.0, -3.0])
def test_new_numbers_without_a_logarithm_are_refused_or_missing(value):
    new = pd.DataFrame({"votes": [10, value], "rating": [4.0, 4]})
    with pytest.raises(InputError) as caught:
        fit(["votes"]).predict(new)
    assert f"column 'votes' has 1 cell without a logarithm ({value:g} in row 2)" in str(
        caught.value
    )
    labels = fit(["votes"], missing="drop").predict(new)
    assert labels[0] >= -1
    assert labels[1] == -3


def test_new_zeros_are_welcome_where_there_were_some():
    model = fit(["votes"], pd.DataFrame({"votes": ZEROS, "rating": RATING}))
    zero = pd.DataFrame({"votes": [0.0], "rating": [4.0]})
    assert np.isfinite(model.score_samples(zero)).all()
    with pytest.raises(InputError, match="1 cell without a logarithm"):
        model.predict(-1 - zero)


@pytest.mark.parametrize(
    ("columns", "log", "message"),
    [
        ({"v": -RATING}, ["v"], "log='v': the column holds numbers such as -"),
        ({"v": 0 * RATING}, ["v"], "not all 0; leave it out of log="),
        (
            {"votes": VOTES},
            ["vote"],
            "log='vote': .* no such column; did you mean 'votes'",
        ),
        (
            {"t": ["a", "b"] * (N // 2)},
            ["t"],
            "holds text, such as 'a', and is not used",
        ),
        ({"id": np.arange(N)}, ["id"], "holds identifiers, .*; name it in columns="),
    ],
)
def test_columns_without_logarithms_are_refused(columns, log, message):
    table = as_table(pd.DataFrame({**columns, "x": RATING}))
    with pytest.raises(InputError, match=message):
        prepare(table, log=log)


def test_auto_takes_columns_that_are_very_skewed_only():
    columns = {"votes": VOTES, "zeros": ZEROS, "rating": RATING, "signed": -VOTES}
    columns["flag"] = np.arange(N) % 10 == 0
    prepared = prepare(as_table(pd.DataFrame(columns)), log="auto")
    assert prepared.preparation.log == ("votes", "zeros")
    prepared = prepare(as_table(pd.DataFrame({"rating": RATING})), log="auto")
    assert prepared.preparation.log == ()
    assert "No column is so skewed" in " ".join(prepared.notes)


@pytest.mark.parametrize(
    "values",
    [
        np.abs(RNG.normal(size=N)),
        RNG.exponential(size=N),
        np.exp(RNG.normal(0, 0.3, N)),
        # a small group far away, which is as far in logarithms
        np.r_[RNG.normal(10, 1, 340), RNG.normal(1000, 10, 60)],
        np.r_[RNG.normal(10, 1, N), 1e9],
        np.zeros(N),
        np.ones(N),
    ],
    ids=["half-normal", "exponential", "mild", "groups", "outlier", "zeros", "ones"],
)
def test_other_columns_are_not_very_skewed(values):
    assert not is_very_skewed(values)


def test_skewness_is_bounded_and_changes_its_sign():
    assert 0.6 < skewness(VOTES) < 1
    assert skewness(-VOTES) == -skewness(VOTES)
    assert abs(skewness(np.log(VOTES))) < 0.2
