"""Columns of categories as features, and back."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

from rtkm import RTKM, TableModel, load
from rtkm.tables.categories import MOST_CATEGORIES, OTHER
from rtkm.tables.frames import as_table
from rtkm.tables.messages import InputError
from rtkm.tables.preparation import prepare
from rtkm.tables.reading import read_table

N = 300
FUELS = np.array(["petrol", "diesel", "gas"])


def draw(seed=0):
    """Return three groups that numbers hardly tell apart, and words do."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, N)
    cars = {
        "mass": rng.normal(group, 1.5),
        "power": 100 * rng.normal(-group, 1.5),
        "origin": np.array(["USA", "Europe", "Japan"])[group],
        "fuel": FUELS[group],
    }
    return pd.DataFrame(cars), group


CARS, GROUP = draw()


def fit(table=CARS, categories=("origin", "fuel"), n_clusters=3, **options):
    estimator = RTKM(n_clusters, contamination=0.05, random_state=0)
    return TableModel(estimator, categories=categories, **options).fit(table)


def prepared(table, categories=("c",), **options):
    return prepare(as_table(pd.DataFrame(table)), categories=categories, **options)


def with_outliers():
    """Return cars of which some are far off, by a number or by a word."""
    table = CARS.copy()
    table["mass"] = 20.0 * GROUP + (table["mass"] - GROUP)
    table.loc[3, "mass"] = 500
    odd = np.flatnonzero(GROUP == 0)[:8]
    table.loc[odd, "origin"] = "Mars"
    table.loc[odd, "fuel"] = "steam"
    return table


# Features


def test_features_by_hand():
    table = {"x": [0.0, 2, 0, 2], "c": ["b", "a", "b", "c"]}
    found = prepared(table, scale="standard")
    assert found.preparation.columns == ("x", "c=b", "c=a", "c=c")
    assert found.preparation.sources == ("x", "c")
    assert found.preparation.categories == {"c": ("b", "a", "c")}
    # the shares .5, .25 and .25 have the variance 1 - (.25 + .0625 + .0625)
    unit = 1 / np.sqrt(0.625)
    expected = np.array([[-1, unit, 0, 0], [1, 0, unit, 0]])
    assert_allclose(found.X[:2], expected)
    assert_allclose(found.X[2:], [[-1, unit, 0, 0], [1, 0, 0, unit]])
    assert_allclose(np.var(found.X, axis=0)[1:].sum(), 1)
    shown = found.preparation.in_data_units(found.X)
    assert_allclose(shown[1], [2, 0, 1, 0])
    assert "Used as categories: 'c' (3, most often 'b' 50 %)." in found.notes[-1]


@pytest.mark.parametrize("scale", ["none", "standard", "robust"])
def test_a_column_of_categories_varies_as_one_of_numbers(scale):
    rng = np.random.default_rng(0)
    table = {"x": rng.normal(5, 3, 5000), "y": rng.normal(0, 4, 5000)}
    table["c"] = rng.choice(["a", "b", "c", "d"], 5000, p=[0.7, 0.1, 0.1, 0.1])
    found = prepared(table, scale=scale)
    variances = np.var(found.X, axis=0)
    usual = variances[:2].mean()
    assert_allclose(variances[2:].sum(), usual, rtol=0.1)


def test_the_rarest_of_many_categories_share_one_feature():
    names = [f"c{i:02}" for i in range(60)]
    cells = [name for i, name in enumerate(names) for _ in range(100 - i)]
    table = {"c": cells, "x": np.arange(len(cells)) % 7}
    found = prepared(table)
    known = found.preparation.categories["c"]
    assert known == (*names[: MOST_CATEGORIES - 1], OTHER)
    is_other = np.array(cells) >= names[MOST_CATEGORIES - 1]
    assert_array_equal(found.X[:, -1] > 0, is_other)
    new = found.preparation.repeat(
        as_table(pd.DataFrame({"c": ["c00", "new"], "x": [1, 2]}))
    )
    assert_array_equal(new.X[:, -1] > 0, [False, True])
    assert not any("has not seen" in note for note in new.notes)


def test_a_cell_may_hold_the_word_for_the_rarest(tmp_path):
    cells = [f"c{i % 60}" for i in range(600)] + [OTHER] * 300
    table = pd.DataFrame({"c": cells, "x": np.arange(900) % 7})
    model = fit(table, ["c"], n_clusters=2)
    assert model.preparation_.categories["c"].count(OTHER) == 1
    assert len(model.preparation_.categories["c"]) == MOST_CATEGORIES
    model.save(tmp_path / "model.rtkm")
    again = load(tmp_path / "model.rtkm")
    assert_array_equal(again.predict(table), model.predict(table))


def test_the_order_of_the_rows_does_not_matter():
    order = np.random.default_rng(1).permutation(N)
    straight, shuffled = (
        prepared(table, ("origin", "fuel")) for table in (CARS, CARS.iloc[order])
    )
    assert straight.preparation == shuffled.preparation
    assert_array_equal(straight.X[order], shuffled.X)


def test_weights_count_as_repetitions():
    counts = np.random.default_rng(2).integers(1, 4, N)
    repeated = CARS.iloc[np.repeat(np.arange(N), counts)]
    for scale in ("standard", "none"):
        weighted = prepared(
            CARS, ("origin", "fuel"), weights=counts.astype(float), scale=scale
        )
        again = prepared(repeated, ("origin", "fuel"), scale=scale)
        spreads = weighted.preparation.spread, again.preparation.spread
        assert_allclose(*spreads, rtol=1e-12)


@pytest.mark.parametrize(
    "codes",
    [
        GROUP.astype(str),
        GROUP,
        GROUP.astype(float),
        pd.Categorical(GROUP),
        pd.array(GROUP, dtype="Int8"),
        pd.array(GROUP.astype(str), dtype="string"),
    ],
    ids=lambda codes: str(codes.dtype),
)
def test_words_and_numbers_may_stand_for_groups(codes):
    table = pd.DataFrame({"mass": CARS["mass"], "group": codes})
    found = prepared(table, ("group",))
    ranked = np.argsort(-np.bincount(GROUP), kind="stable")
    assert found.preparation.categories == {"group": tuple(map(str, ranked))}
    assert_array_equal(found.X[:, 1:] > 0, GROUP[:, None] == ranked)


def test_a_file_gives_the_features_of_a_frame(tmp_path):
    CARS.to_csv(tmp_path / "cars.csv", index=False)
    sheet = read_table(tmp_path / "cars.csv")
    found = prepare(sheet, categories=["origin", "fuel"])
    assert found.preparation == prepared(CARS, ("origin", "fuel")).preparation


def test_a_table_may_have_nothing_but_categories():
    model = fit(CARS[["origin", "fuel"]])
    inliers = model.labels_ >= 0
    assert adjusted_rand_score(GROUP[inliers], model.labels_[inliers]) == 1


def test_columns_and_categories_may_name_the_same():
    found = prepared(CARS, ("origin",), columns=["mass", "origin"])
    assert found.preparation.sources == ("mass", "origin")
    assert prepared(CARS, ("origin",), columns=["mass"]).preparation == (
        found.preparation
    )


# Missing and unknown cells


def with_gaps():
    table = CARS.copy()
    table.loc[:9, "origin"] = None
    table.loc[5:14, "mass"] = np.nan
    return table


def test_missing_categories_are_an_error_unless_told():
    with pytest.raises(InputError, match="10 in 'mass', 10 in 'origin'"):
        prepared(with_gaps(), ("origin",))


def test_rows_without_a_category_can_be_left_out():
    found = prepared(with_gaps(), ("origin",), missing="drop")
    assert_array_equal(found.kept, np.arange(N) > 14)
    assert found.X.shape == (N - 15, 5)


def test_missing_categories_are_taken_for_the_most_frequent_one():
    found = prepared(with_gaps(), ("origin",), missing="median")
    most = CARS["origin"][10:].mode()[0]
    assert found.preparation.categories["origin"][0] == most
    assert (found.X[:10, 2] > 0).all()
    assert_array_equal(found.filled[:, 2:].any(axis=1), np.arange(N) < 10)
    again = found.preparation.repeat(as_table(with_gaps()))
    assert_array_equal(again.X, found.X)


def test_ways_may_differ_by_column():
    ways = {"origin": "median", "*": "drop"}
    found = prepared(with_gaps(), ("origin",), missing=ways)
    assert found.kept.sum() == N - 10


def test_unknown_categories_are_none_of_the_known_and_told():
    model = fit()
    new = CARS.head(20).copy()
    new.loc[:4, "origin"] = "Mars"
    notes = model.preparation_.repeat(as_table(new)).notes
    assert "5 cells with categories the model has not seen ('Mars')" in notes[-1]
    scores = model.score_samples(new)
    known = model.score_samples(CARS.head(20))
    assert (scores[:5] < known[:5]).all()
    assert_array_equal(scores[5:], known[5:])


def test_new_rows_need_the_columns_of_categories():
    message = "has no column 'fuel', whose categories the model needs; it has 'mass', "
    with pytest.raises(InputError, match=message):
        fit().predict(CARS.drop(columns="fuel"))


# What is refused


@pytest.mark.parametrize(
    ("categories", "options", "message"),
    [
        (["color"], {}, "categories='color': .* no such column"),
        (["name"], {}, "in 300 rows, too many .*; leave it out of categories=\\.$"),
        (["mass"], {}, "leave it out of categories=, or use it as numbers in columns="),
        (["empty"], {}, "'empty' is empty; expected categories"),
        (["origin"], {"drop": ["origin"]}, "'origin'"),
        (["origin"], {"id": "origin"}, "'origin'"),
        (["mass"], {"log": ["mass"]}, "'mass'"),
        (["origin"], {"weights": "origin"}, "'origin'"),
    ],
)
def test_what_cannot_be_categories_is_refused(categories, options, message):
    table = CARS.assign(empty=None, name=[f"car {i}" for i in range(N)])
    with pytest.raises(InputError) as caught:
        prepared(table, categories, **options)
    assert re.search(message, str(caught.value)), str(caught.value)


def test_a_column_called_like_a_feature_is_refused():
    table = CARS.assign(**{"fuel=gas": CARS["mass"]})
    with pytest.raises(InputError, match="'fuel=gas' is the name of a category's"):
        prepared(table, ("fuel",))


def test_categories_whose_features_are_called_alike_are_refused():
    twins = {"a": ["b=c", "d"] * 9, "a=b": ["c", "e"] * 9, "x": np.arange(18) % 7}
    with pytest.raises(InputError, match="'a=b=c' is the name of a category's"):
        prepared(twins, ("a", "a=b"))


# Models


def test_words_tell_groups_apart_that_numbers_do_not():
    numbers = TableModel(RTKM(3, contamination=0.05, random_state=0)).fit(CARS)
    assert adjusted_rand_score(GROUP, numbers.labels_) < 0.5
    assert adjusted_rand_score(GROUP, fit().labels_) > 0.85


def test_a_model_in_a_file_knows_its_categories(tmp_path):
    model = fit()
    model.save(tmp_path / "model.rtkm")
    again = load(tmp_path / "model.rtkm")
    assert again.preparation_ == model.preparation_
    assert_array_equal(again.score_samples(CARS), model.score_samples(CARS))
    assert_array_equal(again.feature_names_in_, ["mass", "power", "origin", "fuel"])


def test_centers_are_shares_of_categories():
    model = fit(missing="error", scale="none")
    labels = model.labels_
    names = model.preparation_.columns
    assert names[2:5] == tuple(
        f"origin={name}" for name in model.preparation_.categories["origin"]
    )
    for j, name in enumerate(names[2:5], start=2):
        of_each = [np.mean(CARS["origin"][labels == c] == name[7:]) for c in range(3)]
        assert_allclose(model.cluster_centers_[:, j], of_each, atol=1e-12)


def test_a_choice_names_the_columns_that_were_spread():
    model = fit(n_clusters="auto")
    text = model.choice_.summary()
    assert "Values repeat in most rows of columns 'origin', 'fuel'; to" in text


def test_columns_explain_scores_not_categories():
    table = with_outliers()
    model = fit(table)
    frame = model.explain(table)
    parts = frame[["part_mass", "part_power", "part_origin", "part_fuel"]]
    assert_allclose(parts.sum(axis=1), frame["score"], rtol=1e-9)
    assert_allclose(frame["score"], -model.score_samples(table), rtol=1e-9)


def test_the_smallest_change_is_of_a_number_or_of_a_category():
    table = with_outliers()
    model = fit(table)
    frame = model.explain(table)
    changed = frame[frame["outlier"] & frame["change_feature"].notna()]
    assert {"power", "origin"} <= {*changed["change_feature"]}
    for row, name in changed["change_feature"].items():
        mended = table.loc[[row]].copy()
        assert mended[name].iloc[0] == pytest.approx(changed.loc[row, "change_from"])
        mended[name] = changed.loc[row, "change_to"]
        assert model.predict(mended)[0] >= 0


def test_no_other_category_makes_an_inlier_of_a_row_that_has_none_to_change():
    table = with_outliers()
    model = fit(table)
    frame = model.explain(table)
    none = frame.index[frame["outlier"] & frame["change_feature"].isna()]
    assert len(none)
    for row in none:
        for name in ("origin", "fuel"):
            tried = table.loc[[row] * 4].copy()
            tried[name] = [*table[name].unique()][:4]
            assert (model.predict(tried) == -1).all()
