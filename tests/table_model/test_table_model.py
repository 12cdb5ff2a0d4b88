"""One model for both worlds: what TableModel does with tables of every kind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pyarrow import csv
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

import rtkm
from rtkm import CBLOF, KMOR, LDOF, OKM, RTKM, TableModel, TrimmedKMeans
from rtkm.cli.main import main

OLD_FILES = Path(__file__).parents[1] / "models" / "format-1"
SPREAD = ["height", "income"]
TWO = RTKM(2, contamination=2, random_state=0)


def read_exactly(path):
    """Read numbers to the last digit, which pandas before version 3 does not."""
    return csv.read_csv(path).to_pandas()


@pytest.fixture
def people():
    """Sixty people in two groups, two of them far out; spreads from 1 to 9,000."""
    rng = np.random.default_rng(3)
    group = np.arange(60) % 2
    frame = pd.DataFrame(
        {
            "name": [f"p{i}" for i in range(60)],
            "height": 1.6 + 0.3 * group + rng.normal(0, 0.03, 60),
            "income": 30_000 + 9_000 * rng.normal(size=60),
            "customer_id": rng.permutation(60),
        }
    )
    frame.loc[7, "height"] = 3.0
    frame.loc[30, "income"] = 900_000
    return frame


def holes_in(frame):
    holes = frame.copy()
    holes.loc[[4, 9], "income"] = np.nan
    holes.loc[9, "height"] = np.nan
    return holes


# It behaves like an estimator


@pytest.mark.parametrize(
    "model",
    [
        TableModel(),
        TableModel(
            RTKM(3, contamination=0.1, random_state=0), missing="median", scale="none"
        ),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:.* rows are too few to choose from")
def test_it_passes_the_checks_of_scikit_learn(model):
    results = check_estimator(model, on_fail=None, on_skip=None)
    assert [r["check_name"] for r in results if r["status"] == "failed"] == []


def test_nothing_that_was_given_is_changed(people):
    before, estimator = people.copy(), clone(TWO)
    model = TableModel(estimator, scale="robust", missing="median").fit(people)
    model.predict(people)
    pd.testing.assert_frame_equal(people, before)
    X = np.ascontiguousarray(people[["height", "income"]])
    kept = X.copy()
    TableModel(estimator, scale="standard").fit(X).predict(X)
    assert_array_equal(X, kept)
    assert not hasattr(estimator, "labels_")


def test_by_default_it_is_rtkm_as_on_the_command_line(people):
    model = TableModel().fit(people)
    assert type(model.estimator_) is RTKM
    assert model.estimator_.random_state == 0
    assert_array_equal(
        model.labels_, TableModel(RTKM(random_state=0)).fit(people).labels_
    )


def test_it_is_part_of_a_pipeline(people):
    pipeline = make_pipeline(FunctionTransformer(), TableModel(TWO))
    pipeline.fit(people)
    assert_array_equal(pipeline.predict(people), TableModel(TWO).fit_predict(people))


# Choosing columns


def test_it_uses_the_columns_of_numbers_and_says_so(people):
    model = TableModel(TWO).fit(people)
    assert model.feature_names_in_.tolist() == ["height", "income"]
    assert model.n_features_in_ == 2
    assert "Left out text: 'name' (such as 'p0')." in model.notes_
    assert "Left out identifiers: 'customer_id'" in " ".join(model.notes_)


def test_columns_can_be_named_dropped_and_used_as_ids(people):
    fit = TableModel(TWO, columns=["income"]).fit(people)
    assert fit.feature_names_in_.tolist() == ["income"]
    fit = TableModel(TWO, drop=["income"]).fit(people)
    assert fit.feature_names_in_.tolist() == ["height"]
    fit = TableModel(TWO, id="name").fit(people)
    assert fit.explain(people[7:9]).index.tolist() == ["p7", "p8"]


def of_every_kind(frame, tmp_path):
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    parquet = tmp_path / "people.parquet"
    frame.to_parquet(parquet, index=False)
    polars = pl.from_pandas(frame)
    return {
        "pandas": frame,
        "nullable": frame.convert_dtypes(),
        "polars": polars,
        "arrow": polars.to_arrow(),
        "path": path,
        "name of a file": str(parquet),
    }


@pytest.mark.parametrize("missing", ["drop", "median"])
def test_every_kind_of_table_gives_the_same_answers(people, tmp_path, missing):
    model = TableModel(TWO, missing=missing)
    expected = model.fit(holes_in(people))
    for kind, table in of_every_kind(holes_in(people), tmp_path).items():
        found = clone(model).fit(table)
        assert found.preparation_ == expected.preparation_, kind
        assert_array_equal(found.labels_, expected.labels_, kind)
        assert_array_equal(found.cluster_centers_, expected.cluster_centers_, kind)
        assert_array_equal(
            found.score_samples(table), expected.score_samples(people.pipe(holes_in))
        )


def test_arrays_are_used_whole_under_numbered_names():
    X = np.random.default_rng(0).normal(size=(30, 3))
    model = TableModel(TWO).fit(X)
    assert model.preparation_.columns == ("x0", "x1", "x2")
    assert not hasattr(model, "feature_names_in_")
    assert_array_equal(model.labels_, clone(TWO).fit(X).labels_)
    some = TableModel(TWO, columns=["x0", "x2"]).fit(X)
    assert_array_equal(some.labels_, clone(TWO).fit(X[:, [0, 2]]).labels_)
    assert some.n_features_in_ == 3
    assert_array_equal(some.predict(X), some.labels_)


@pytest.mark.parametrize("scale", ["auto", "none", "standard"])
def test_csr_matrices_stay_sparse_and_are_never_shifted(scale):
    rng = np.random.default_rng(1)
    X = sparse.csr_array(rng.random((60, 8)) * (rng.random((60, 8)) < 0.3))
    model = TableModel(TWO, scale=scale).fit(X)
    divided = X.toarray()
    if scale == "standard":
        divided /= divided.std(axis=0)
    expected = clone(TWO).fit(divided)
    assert_array_equal(model.labels_, expected.labels_)
    assert_allclose(model.estimator_.cluster_centers_, expected.cluster_centers_)
    assert_array_equal(model.predict(X), model.labels_)


def test_a_constant_column_of_a_csr_matrix_keeps_its_unit():
    X = np.random.default_rng(0).normal(size=(50, 2))
    X[:, 1] = 1e6 + 0.1
    model = TableModel(TWO, scale="standard").fit(sparse.csr_array(X))
    assert_allclose(model.preparation_.spread, [X[:, 0].std(), 1.0])


def test_csr_matrices_refuse_what_they_cannot_have():
    X = sparse.csr_array(np.eye(30))
    with pytest.raises(ValueError, match="scale='robust' needs medians"):
        TableModel(TWO, scale="robust").fit(X)
    with pytest.raises(ValueError, match=r"drop=\['a'\] names columns, and a CSR"):
        TableModel(TWO, drop=["a"]).fit(X)
    X.data[3] = np.nan
    with pytest.raises(
        ValueError, match=r"1 missing value \(NaN or infinite\), first in row 4"
    ):
        TableModel(TWO).fit(X)
    dropped = TableModel(TWO, missing="drop").fit(X)
    assert np.flatnonzero(~dropped.kept_mask_).tolist() == [3]
    filled = TableModel(TWO, missing="median").fit(X)
    assert filled.preparation_.fill[3] == 0.0


# Units


def test_centers_are_in_the_units_of_the_table(people):
    model = TableModel(TWO, scale="robust").fit(people)
    inside = ~model.outlier_mask_
    for cluster, center in enumerate(model.cluster_centers_):
        rows = people.loc[inside & (model.labels_ == cluster), ["height", "income"]]
        assert_allclose(center, rows.mean(), rtol=1e-12)


@pytest.mark.filterwarnings("ignore::rtkm.ScaleWarning")
def test_scores_and_distances_are_those_of_the_scaled_columns(people):
    model = TableModel(TWO, scale="standard").fit(people)
    X = people[["height", "income"]].to_numpy()
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    plain = clone(TWO).fit(scaled)
    assert_allclose(model.transform(people), plain.transform(scaled), rtol=1e-9)
    assert_allclose(model.score_samples(people), plain.score_samples(scaled), rtol=1e-9)
    assert_array_equal(model.labels_, plain.labels_)
    assert model.offset_ == pytest.approx(plain.offset_)


def test_changes_are_in_the_units_of_the_table_and_make_inliers(people):
    model = TableModel(TWO, scale="robust").fit(people)
    frame = model.explain(people)
    assert_array_equal(frame["score"], model.outlier_scores_)
    assert frame.loc[30, "change_feature"] == "income"
    assert frame.loc[30, "change_from"] == 900_000
    changed = people.astype({"income": float})
    changed.loc[30, "income"] = frame.loc[30, "change_to"]
    assert model.predict(people)[30] == -1
    assert model.predict(changed)[30] >= 0


def test_the_automatic_scale_sees_units_and_no_warning_comes(people, recwarn):
    assert TableModel(TWO).fit(people).preparation_.scale == "robust"
    same = people.assign(income=people["income"] / 200_000)
    assert TableModel(TWO).fit(same).preparation_.scale == "none"
    assert not recwarn.list


# Missing values


def test_a_row_that_is_left_out_is_neither_in_a_cluster_nor_an_outlier(people):
    holes = holes_in(people)
    model = TableModel(TWO, missing="drop").fit(holes)
    left_out = ~model.kept_mask_
    assert np.flatnonzero(left_out).tolist() == [4, 9]
    assert model.labels_.shape == (60,)
    assert set(model.labels_[left_out]) == {-3}
    assert not model.outlier_mask_[left_out].any()
    assert not model.assignments_[left_out].any()
    for values in (model.outlier_scores_, model.memberships_, model.inlier_weights_):
        assert np.isnan(values[left_out]).all()
        assert not np.isnan(values[~left_out]).any()
    used = clone(model).fit(holes[~left_out])
    assert_array_equal(model.labels_[~left_out], used.labels_)
    assert model.n_outliers_ == 2


def test_new_rows_with_missing_values_have_an_answer_each(people):
    model = TableModel(TWO, missing="drop").fit(people)
    new = holes_in(people)[:12]
    assert np.flatnonzero(model.predict(new) == -3).tolist() == [4, 9]
    assert model.predict_confidence(new)[[4, 9]].tolist() == ["missing"] * 2
    for method in ("score_samples", "decision_function", "discriminant_factors"):
        assert np.isnan(getattr(model, method)(new)[[4, 9]]).all()
    assert np.isnan(model.transform(new)[4]).all()
    assert np.isnan(model.predict_memberships(new)[9]).all()
    explained = model.explain(new)
    assert len(explained) == 12
    assert explained.loc[4, "confidence"] == "missing"
    assert explained.loc[4, "nearest_cluster"] == -3
    assert np.isnan(explained.loc[4, "score"])
    kept = [i for i in range(12) if i not in (4, 9)]
    assert model.score(new) == model.score(people[:12].iloc[kept])


def test_missing_values_are_filled_by_the_medians_of_the_fit(people):
    holes = holes_in(people)
    model = TableModel(TWO, missing="median").fit(holes)
    assert_array_equal(model.preparation_.fill, holes[["height", "income"]].median())
    filled = holes.fillna(holes[["height", "income"]].median())
    assert_array_equal(model.predict(holes[:10]), model.predict(filled[:10]))
    assert model.kept_mask_.all()


# What is refused, by column and row


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.to_numpy(), r"fitted to columns by name \('height', 'income'\)"),
        (lambda t: t.rename(columns={"height": "hight"}), "did you mean 'hight'"),
        (lambda t: t.drop(columns="income"), "no column 'income'"),
        (lambda t: t.assign(income="x"), "'income' holds text, such as 'x' in row 1"),
        (lambda t: t[["height", "height", "income"]], "more than one column 'height'"),
        (lambda t: t[:0], "0 rows"),
        (holes_in, "1 in 'height', 2 in 'income', the first in row 5"),
        (lambda t: t.assign(height=np.inf), "column 'height' has 60 infinite cells"),
        (lambda t: sparse.csr_array(np.eye(2)), "this table has none"),
    ],
)  # fmt: skip
def test_new_tables_that_do_not_fit_are_refused(people, change, message):
    model = TableModel(TWO).fit(people[["height", "income"]])
    for method in ("predict", "score_samples", "explain", "transform"):
        with pytest.raises(ValueError, match=message):
            getattr(model, method)(change(people))


def test_order_and_further_columns_do_not_matter(people):
    model = TableModel(TWO).fit(people)
    other = people[["income", "customer_id", "height", "name"]].assign(more="x")
    assert_array_equal(model.predict(other), model.predict(people))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"estimator": RTKM}, "estimator=.* is not valid for TableModel"),
        ({"columns": "height"}, "columns='height' is not valid for TableModel"),
        ({"columns": []}, "columns= leaves no column to use"),
        ({"drop": ["x"]}, "drop='x': the table has no such column"),
        ({"id": "x"}, "id='x': the table has no such column"),
        ({"missing": "mean"}, "missing='mean' is not valid for TableModel"),
        ({"scale": "minmax"}, "scale='minmax' is not valid for TableModel"),
    ],
)  # fmt: skip
def test_bad_parameters_are_refused(people, parameters, message):
    with pytest.raises(ValueError, match=message):
        TableModel(**parameters).fit(people)


def test_messages_of_the_estimator_name_columns(people):
    with pytest.raises(ValueError, match=r"column income spans .* divide the column"):
        TableModel(TWO, scale="none").fit(
            people.assign(income=people["income"] * 1e300)
        )


# Weights


@pytest.mark.parametrize("scale", ["none", "standard", "robust", "auto"])
def test_a_row_of_weight_two_is_that_row_twice(people, scale):
    weights = np.random.default_rng(0).integers(0, 4, len(people))
    repeated = people.loc[people.index.repeat(weights)]
    by_weight = TableModel(TWO, scale=scale).fit(people, sample_weight=weights)
    by_rows = TableModel(TWO, scale=scale).fit(repeated)
    assert by_weight.preparation_.scale == by_rows.preparation_.scale
    assert_allclose(by_weight.preparation_.center, by_rows.preparation_.center)
    assert_allclose(by_weight.preparation_.spread, by_rows.preparation_.spread)
    assert_allclose(by_weight.cluster_centers_, by_rows.cluster_centers_)


def test_a_column_can_hold_the_weights(people):
    weights = np.random.default_rng(0).integers(1, 4, len(people))
    expected = TableModel(TWO).fit(people, sample_weight=weights)
    table = people.assign(count=weights)
    found = TableModel(TWO).fit(table, sample_weight="count")
    assert found.feature_names_in_.tolist() == ["height", "income"]
    assert_array_equal(found.labels_, expected.labels_)
    with pytest.raises(ValueError, match=r"sample_weight='cuont': .* 'count'"):
        TableModel(TWO).fit(table, sample_weight="cuont")
    with pytest.raises(ValueError, match="sample_weight='count' holds -1 in row 1"):
        TableModel(TWO).fit(table.assign(count=-1), sample_weight="count")
    with pytest.raises(ValueError, match="KMOR does not take sample_weight"):
        TableModel(KMOR(2)).fit(table, sample_weight="count")


# Other estimators


@pytest.mark.parametrize("estimator", [CBLOF(), LDOF(novelty=True)], ids=str)
def test_detectors_have_their_own_answers(people, estimator):
    model = TableModel(estimator, missing="drop").fit(holes_in(people))
    assert set(model.predict(holes_in(people))) == {-3, -1, 1}
    assert set(model.fit_predict(holes_in(people))) == {-3, -1, 1}
    assert not hasattr(model, "explain")
    assert not hasattr(model, "transform")
    assert not hasattr(model, "predict_memberships")
    assert model.outlier_scores_.shape == (60,)


def test_distances_come_as_frames_if_asked_for(people):
    model = TableModel(TWO).fit(people)
    names = model.get_feature_names_out().tolist()
    assert names == ["rtkm0", "rtkm1"]
    frame = model.set_output(transform="pandas").transform(people.set_index("name"))
    assert frame.columns.tolist() == names
    assert frame.index.tolist() == people["name"].tolist()
    polars = clone(model).fit(people).set_output(transform="polars").transform(people)
    assert polars.columns == names
    with pytest.raises(ValueError, match="set_output"):
        model.set_output(transform="excel")


# Files


@pytest.mark.parametrize(
    "estimator",
    [TWO, TrimmedKMeans(2, init=[[1.6, 3e4], [1.9, 3e4]]), KMOR(2), OKM(2), CBLOF()],
    ids=str,
)
def test_a_saved_model_answers_as_before(people, tmp_path, estimator):
    model = TableModel(estimator, missing="median", id="name").fit(people)
    model.save(tmp_path / "model.rtkm")
    loaded = rtkm.load(tmp_path / "model.rtkm")
    assert type(loaded) is TableModel
    assert loaded.preparation_ == model.preparation_
    assert loaded.get_params().keys() == model.get_params().keys()
    assert (loaded.missing, loaded.id, loaded.drop) == ("median", "name", ())
    new = holes_in(people)
    assert_array_equal(loaded.predict(new), model.predict(new))
    assert_array_equal(loaded.score_samples(new), model.score_samples(new))
    with pytest.raises(AttributeError, match="describes the training rows"):
        loaded.kept_mask_  # noqa: B018
    with pytest.raises(AttributeError, match="describes the training rows"):
        loaded.outlier_mask_  # noqa: B018


def run(*arguments):
    assert main([str(argument) for argument in arguments]) == 0


def tables_for_both_worlds(people):
    holes = holes_in(people)
    shuffled = holes[["income", "name", "customer_id", "height"]]
    as_text = holes.assign(income=holes["income"].map("{:.2f} EUR".format))
    as_text.loc[[4, 9], "income"] = "n/a"
    return {
        "two columns of spreads 1 to 9,000": (people[SPREAD], people[SPREAD]),
        "text beside": (people, people),
        "missing values, filled": (holes, holes),
        "another order of columns": (holes, shuffled),
        "numbers written as text": (as_text, as_text),
        "further columns": (holes, holes.assign(more=np.arange(60.0), other="x")),
    }  # fmt: skip


@pytest.mark.parametrize("missing", ["drop", "median"])
@pytest.mark.parametrize("case", range(6))
def test_a_model_of_the_command_line_answers_the_same_in_python(
    people, tmp_path, monkeypatch, case, missing
):
    monkeypatch.chdir(tmp_path)
    train, new = list(tables_for_both_worlds(people).values())[case]
    train.to_csv("train.csv", index=False)
    new.to_csv("new.csv", index=False)
    options = ["-k", 2, "--contamination", 2, "--missing", missing, "--quiet"]
    run("fit", "train.csv", *options, "--model", "model.rtkm")
    run("predict", "model.rtkm", "new.csv", "--output", "out.parquet", "--quiet")
    out = pd.read_parquet("out.parquet")
    model = rtkm.load("model.rtkm")
    kept = out["label"].notna()
    for table in (new, "new.csv", read_exactly("new.csv"), pl.read_csv("new.csv")):
        labels = model.predict(table)
        assert_array_equal(labels[kept], out.loc[kept, "label"])
        assert (labels[~kept] == -3).all()
        assert_array_equal(-model.score_samples(table), out["score"])
        confidence = model.predict_confidence(table)
        assert_array_equal(confidence[kept], out.loc[kept, "confidence"])
    fitted = TableModel(RTKM(2, contamination=2, random_state=0), missing=missing)
    assert_array_equal(fitted.fit(train).cluster_centers_, model.cluster_centers_)


@pytest.mark.parametrize("name", ["model", "dropped"])
def test_files_of_format_1_still_load_and_answer_as_they_did(name):
    answers = "answers" if name == "model" else "dropped"
    expected = read_exactly(OLD_FILES / f"{answers}.csv")
    model = rtkm.load(OLD_FILES / f"{name}.rtkm")
    assert type(model) is TableModel
    assert model.id == "name"
    table = read_exactly(OLD_FILES / "table.csv")
    kept = expected["label"].notna()
    assert_array_equal(model.predict(table)[kept], expected.loc[kept, "label"])
    assert (model.predict(table)[~kept] == -3).all()
    assert_array_equal(-model.score_samples(table), expected["score"])
    confidence = model.predict_confidence(table)
    assert_array_equal(confidence[kept], expected.loc[kept, "confidence"])


def test_a_second_fit_takes_the_estimator_of_now(people):
    model = TableModel(TWO).fit(people)
    model.set_params(estimator__n_clusters=3).fit(people)
    assert len(model.cluster_centers_) == 3
    model.set_params(estimator=rtkm.TrimmedKMeans(2, contamination=1)).fit(people)
    assert isinstance(model.estimator_, rtkm.TrimmedKMeans)
    assert model.fit(people).estimator_.n_clusters == 2
    model.set_params(estimator=rtkm.OKM(2))
    with pytest.raises(ValueError, match="OKM does not take sample_weight"):
        model.fit(people, sample_weight=np.ones(len(people)))


def test_lists_are_transformed_into_frames():
    X = [[0.0, 1.0], [1.0, 0.0], [9.0, 9.0], [8.0, 9.0]]
    model = TableModel(rtkm.RTKM(2, contamination=0)).set_output(transform="pandas")
    frame = model.fit_transform(X)
    pd.testing.assert_frame_equal(frame, model.transform(tuple(X)))


@pytest.mark.slow
def test_frames_and_arrays_need_neither_pandas_nor_pyarrow(tmp_path, people):
    TableModel(TWO).fit(people).save(tmp_path / "model.rtkm")
    code = f"""if True:
        import sys
        for name in ("pandas", "pyarrow", "jinja2", "charset_normalizer"):
            sys.modules[name] = None
        import numpy as np, polars as pl, rtkm
        frame = pl.DataFrame({{"height": [1.0] * 30 + [2.0] * 30, "name": ["a"] * 60}})
        model = rtkm.TableModel(rtkm.RTKM(2, contamination=0)).fit(frame)
        assert model.feature_names_in_.tolist() == ["height"]
        rtkm.TableModel(rtkm.RTKM(2)).fit(np.random.rand(50, 2))
        model = rtkm.load({str(tmp_path / "model.rtkm")!r})
        model.predict(pl.DataFrame({{"height": [1.7], "income": [3e4]}}))
        open("table.csv", "w").write("x,y\\n1,2\\n3,4\\n")
        for table in ("table.csv", pl.DataFrame({{"x": ["1", "2"] * 9}})):
            try:
                rtkm.TableModel().fit(table)
            except ImportError as error:
                assert 'pip install "rtkm[cli]"' in str(error), error
            else:
                raise AssertionError("pyarrow is there")
    """
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
