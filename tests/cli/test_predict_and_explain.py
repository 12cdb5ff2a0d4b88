"""rtkm predict and rtkm explain, as they are typed."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rtkm import CBLOF, KMOR, RTKM, TableModel
from rtkm.cli.flags import methods
from rtkm.models.container import pack, unpack

pytest_plugins = ("typed",)

FIT = ["fit", "people.csv", "-k", "2", "--missing", "median", "--model", "model.rtkm"]
# these look for the sets of new rows from nothing, not from those of the fit
FROM_NOTHING = {"NEOKMeans", "OKM", "ROKM"}


@pytest.fixture
def model(rtkm, people):
    assert rtkm(*FIT, "--contamination", "1", "--id", "name").code == 0
    return "model.rtkm"


@pytest.mark.parametrize(
    "method", [name for name in sorted(methods()) if name not in ("LDOF", "CBOD")]
)
def test_the_training_table_gets_its_answers_again(rtkm, people, tmp_path, method):
    k = [] if method == "CBLOF" else ["-k", "2"]
    options = ["--missing", "median", "--method", method, "--model", "model.rtkm"]
    assert rtkm("fit", "people.csv", *k, *options, "--output", "a.csv").code == 0
    outcome = rtkm("predict", "model.rtkm", "people.csv", "--output", "b.csv")
    assert outcome.code == 0, outcome.err
    fitted, again = (pd.read_csv(tmp_path / name) for name in ("a.csv", "b.csv"))
    if method in FROM_NOTHING:
        fitted, again = fitted[["score"]], again[["score"]]
    pd.testing.assert_frame_equal(fitted, again)


@pytest.mark.slow
def test_answers_survive_another_process(rtkm, people, tmp_path, model):
    rtkm(*FIT, "--contamination", "1", "--output", "a.csv")
    command = [sys.executable, "-m", "rtkm", "predict", model, "people.csv"]
    subprocess.run([*command, "--output", "b.csv"], cwd=tmp_path, check=True)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_new_rows_are_prepared_as_the_old_ones_were(rtkm, tmp_path, model):
    (tmp_path / "new.csv").write_text(
        "weight,comment,height,name\n55,fine,160,a\n90,,190,b\n,lost,160,c\n56,tall,400,d\n"
    )
    outcome = rtkm("predict", model, "new.csv", "--output", "out.csv")
    assert outcome.code == 0
    assert "Filled in medians for missing values: 1 in 'weight'." in outcome.out
    labels = pd.read_csv(tmp_path / "out.csv")["label"].tolist()
    assert labels[3] == -1
    assert labels[0] != labels[1]
    assert "row 4    d" in outcome.out  # by the column that named the training rows
    assert f"Next: rtkm explain {model} new.csv --row d" in outcome.out


def test_a_column_that_is_not_there_is_named(rtkm, tmp_path, model):
    (tmp_path / "new.csv").write_text("hight,weight\n160,55\n")
    outcome = rtkm("predict", model, "new.csv")
    assert outcome.code == 1
    assert outcome.err == (
        "rtkm: new.csv has no column 'height', which the model needs; did you mean "
        "'hight'?\n"
    )


def test_columns_of_another_table_are_listed(rtkm, tmp_path, model):
    (tmp_path / "new.csv").write_text("mass,price\n160,55\n")
    error = rtkm("predict", model, "new.csv").err
    assert "which the model needs; it has 'mass', 'price'." in error


def test_a_model_given_after_the_table_is_told(rtkm, people, model):
    for command in ("predict", "explain"):
        outcome = rtkm(command, "people.csv", model)
        assert outcome.code == 1
        assert outcome.err == f"rtkm: {model} is the model; give it before the table.\n"


@pytest.mark.parametrize("content", [b"", b"height,weight\n1,2\n"])
def test_a_file_that_is_no_model_is_refused(rtkm, people, tmp_path, content):
    (tmp_path / "bad.rtkm").write_bytes(content)
    for command in ("predict", "explain"):
        outcome = rtkm(command, "bad.rtkm", "people.csv")
        assert outcome.code == 1
        message = "bad.rtkm is not loaded: it does not begin as a model"
        assert message in outcome.err


def test_a_damaged_model_is_refused(rtkm, people, tmp_path, model):
    content = bytearray((tmp_path / model).read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / model).write_bytes(content)
    outcome = rtkm("predict", model, "people.csv")
    assert outcome.code == 1
    assert f"rtkm: {model} is not loaded" in outcome.err


def test_a_damaged_preparation_is_refused(rtkm, people, tmp_path):
    X = pd.read_csv(people)[["height"]]
    fitted = RTKM(2, contamination=0.1, random_state=0).fit(X)
    TableModel(fitted).fit(X).save(tmp_path / "m.rtkm")
    description, arrays = unpack((tmp_path / "m.rtkm").read_bytes())
    description["model"]["learned"]["preparation_"]["columns"] = []
    (tmp_path / "m.rtkm").write_bytes(pack(description, arrays))
    outcome = rtkm("predict", "m.rtkm", "people.csv")
    assert outcome.code == 1
    assert "preparation_ is damaged" in outcome.err


def test_models_saved_in_python_answer_for_tables(rtkm, people, tmp_path):
    X = pd.read_csv(people)[["height", "weight"]].dropna()
    fitted = RTKM(2, contamination=1, random_state=0).fit(X)
    fitted.save(tmp_path / "m.rtkm")
    options = ["--missing", "drop", "--output", "out.csv"]
    assert rtkm("predict", "m.rtkm", "people.csv", *options).code == 0
    answers = pd.read_csv(tmp_path / "out.csv")["label"].dropna()
    np.testing.assert_array_equal(answers, fitted.predict(X))
    # without names, a table of nothing else
    KMOR(2, random_state=0).fit(X.to_numpy()).save(tmp_path / "n.rtkm")
    outcome = rtkm("predict", "n.rtkm", "people.csv")
    assert outcome.code == 1
    assert "people.csv has 4 columns; the model was fitted to 2 features" in outcome.err
    X.to_csv(tmp_path / "numbers.csv", index=False)
    assert rtkm("explain", "n.rtkm", "numbers.csv").code == 0


def test_one_row_is_explained_by_its_id(rtkm, model):
    outcome = rtkm("explain", model, "people.csv", "--row", "giant")
    assert outcome.code == 0
    words = " ".join(outcome.out.split())
    told = (
        r"Row 11 \('giant'\) is an outlier, 1st of \d+: its score is [\d.,]+, (.*?)\. "
    )
    assert re.search(told, words)[1].split(" of ")[0].endswith("times the cut-off")
    first = outcome.out.split("share\n")[1].split("\n")[0].split()
    assert first[:2] == ["height", "310"]
    assert "would make it an inlier: 'height' from 310 to" in outcome.out


def test_an_inlier_is_explained_too(rtkm, model):
    out = rtkm("explain", model, "people.csv", "--row", "p3").out
    assert "Row 4 ('p3') is in cluster" in out
    assert "(core)" in out
    assert "would make it" not in out


def test_numbers_name_rows_that_have_ids_too(rtkm, model):
    for name in ("11", "giant"):
        out = rtkm("explain", model, "people.csv", "--row", name).out
        assert "Row 11 ('giant') is an outlier" in out
    assert (
        "did you mean 'giant'?"
        in rtkm("explain", model, "people.csv", "--row", "Giant").err
    )


def test_cells_that_were_filled_in_are_marked(rtkm, people, tmp_path):
    text = people.read_text().replace("light,160,", "light,260,")
    people.write_text(text)
    options = ["--contamination", "2", "--id", "name", "--output", "out.csv"]
    out = rtkm(*FIT, *options, "--json", "found.json").out
    found = json.loads((tmp_path / "found.json").read_text())
    light = next(row for row in found["outliers"]["rows"] if row["id"] == "light")
    assert light["filled"] == ["weight"]
    assert "weight filled in" in out
    frame = pd.read_csv(tmp_path / "out.csv", index_col="name")
    assert frame.loc["light", "reason"] == "filled in 'weight'"
    assert frame["reason"].notna().sum() == 1
    out = rtkm("explain", "model.rtkm", "people.csv", "--row", "light").out
    line = next(line for line in out.splitlines() if line.startswith("  weight"))
    assert "filled in" in line


def test_the_change_names_the_cluster_it_leads_to(rtkm, tmp_path):
    # tall and light: nearest to the tall, but lighter it would be short
    rows = [f"{h},{w}" for h, w in [(160, 50), (162, 52), (190, 90), (192, 92)] * 5]
    (tmp_path / "people.csv").write_text("h,w\n" + "\n".join(rows) + "\n176,200\n")
    options = ["-k", "2", "--contamination", "1", "--scale", "none"]
    rtkm("fit", "people.csv", *options, "--json", "found.json")
    found = json.loads((tmp_path / "found.json").read_text())
    row = found["outliers"]["rows"][0]
    assert row["row"] == 21
    assert row["change"]["feature"] == "w"
    centers = [cluster["center"] for cluster in found["clusters"]]
    moved = [176, row["change"]["to"]]
    nearest = np.argmin([np.square(np.subtract(moved, c)).sum() for c in centers])
    assert row["change"]["cluster"] == nearest


def test_an_id_column_that_is_gone_is_missed(rtkm, people, tmp_path, model):
    people.write_text(people.read_text().replace("name,", "Names,"))
    out = rtkm("predict", model, "people.csv").out
    assert "There is no column 'name', which named the rows of the model" in out
    assert "did you mean 'Names'?" in out.replace("\n", " ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--row", "nobody"], "no row has this id; expected one of 'p0', 'p1'"),
        (["--id", "team", "--row", "red"], "rows 1, 2, 3, 4, 5 and 26 more all"),
        (
            ["--missing", "drop", "--row", "light"],
            "no number in 'weight'; --missing median ",
        ),
        (["--id", "nmae"], "did you mean 'name'?"),
    ],
)
def test_rows_that_cannot_be_explained(rtkm, model, options, message):
    outcome = rtkm("explain", model, "people.csv", *options)
    assert outcome.code == 1
    assert message in outcome.err


def test_without_ids_rows_go_by_their_number(rtkm, people):
    rtkm(*FIT, "--contamination", "1", "--drop", "name")
    assert (
        "Row 11 is an outlier"
        in rtkm("explain", "model.rtkm", "people.csv", "--row", "11").out
    )
    for wrong in ("0", "63", "p3", "\u0663", "-1"):
        outcome = rtkm("explain", "model.rtkm", "people.csv", f"--row={wrong}")
        assert outcome.code == 1
        assert "expected a number from 1 to 62, or --id." in outcome.err


def test_text_that_differs_in_all_rows_names_them(rtkm, people):
    fitted = rtkm(*FIT, "--contamination", "1")
    assert "Row names are from 'name' (--id for another column)." in fitted.out
    assert "The outlier is row 11 ('giant')" in fitted.out
    explained = rtkm("explain", "model.rtkm", "people.csv", "--row", "giant")
    assert "Row 11 ('giant') is an outlier" in explained.out


def test_an_id_of_several_rows_is_no_advice(rtkm, people):
    people.write_text(people.read_text().replace("outlier", "red"))
    more = ["--contamination", "1", "--report", "page.html"]
    fitted = rtkm(*FIT, *more, "--id", "team")
    command = fitted.out.splitlines()[-1].removeprefix("Next: rtkm ")
    assert command == "explain model.rtkm people.csv --row 11"
    assert "Row 11 (" in rtkm(*shlex.split(command)).out
    refused = rtkm("explain", "model.rtkm", "people.csv", "--row", "red").err
    assert "all have this id; give the number of one." in refused


def test_new_rows_need_no_names(rtkm, people, tmp_path):
    rtkm(*FIT, "--contamination", "1")
    (tmp_path / "new.csv").write_text("height,weight\n310,70\n")
    outcome = rtkm("predict", "model.rtkm", "new.csv")
    assert outcome.code == 0
    assert "  row 1 " in outcome.out


def test_parts_sum_to_the_score_in_what_is_written(rtkm, tmp_path, model):
    assert rtkm("explain", model, "people.csv", "--output", "why.parquet").code == 0
    frame = pd.read_parquet(tmp_path / "why.parquet")
    parts = frame[["part_height", "part_weight"]].sum(axis=1)
    np.testing.assert_allclose(parts, frame["score"], rtol=1e-9, atol=0)
    giant = frame[frame["outlier"]]
    assert giant["name"].tolist() == ["giant"]
    assert giant["change_feature"].tolist() == ["height"]
    assert giant["change_from"].tolist() == [310]
    assert frame.loc[~frame["outlier"], "change_to"].isna().all()


def test_detectors_have_no_clusters_to_explain_by(rtkm, people, tmp_path):
    X = pd.read_csv(people)[["height"]]
    CBLOF().fit(X).save(tmp_path / "m.rtkm")
    outcome = rtkm("explain", "m.rtkm", "people.csv")
    assert outcome.code == 1
    assert "CBLOF has no clusters that distances could be explained by" in outcome.err
    outcome = rtkm("predict", "m.rtkm", "people.csv", "--output", "out.csv")
    assert outcome.code == 0
    assert "no outlier" in outcome.out
    assert "label" not in pd.read_csv(tmp_path / "out.csv")


def test_model_files_carry_the_command(rtkm, tmp_path, model):
    from rtkm import describe_model

    extra = describe_model(tmp_path / model)["extra"]
    assert extra["command"].startswith("rtkm fit people.csv -k 2")
    assert json.dumps(extra)


@pytest.mark.parametrize("method", ["OKM", "MOC", "ESP"])
def test_rows_are_compared_with_what_their_clusters_make_together(
    rtkm, people, tmp_path, method
):
    options = ["--method", method, "--scale", "none"]
    rtkm(*FIT, *options)
    rtkm("explain", "model.rtkm", "people.csv", "--output", "why.csv")
    frame = pd.read_csv(tmp_path / "why.csv")
    row = frame["score"].idxmax()
    out = rtkm("explain", "model.rtkm", "people.csv", "--row", row + 1).out
    for feature in ("height", "weight"):
        line = next(li for li in out.splitlines() if li.startswith(f"  {feature}"))
        cells = line.replace(" filled in", "").replace(",", "").split()
        value, center, part = map(float, cells[1:4])
        assert (value - center) ** 2 == pytest.approx(part, rel=0.05, abs=0.1)
    assert "This method calls no row an outlier." in out


IDS = {
    "float": pa.array([4.0, 2.5, None]),
    "bool": pa.array([True, False, None]),
    "date": pa.array([0, 10**6, None], pa.date32()),
    "far date": pa.array([10**9, 0, None], pa.date32()),
    "time": pa.array([0, 1, None], pa.timestamp("us")),
    "zone": pa.array([0, 1, None], pa.timestamp("ns", "UTC")),
    "duration": pa.array([0, 1, None], pa.duration("s")),
    "list": pa.array([[1], [2, 3], None]),
    "bytes": pa.array([b"\xff", b"a", None]),
    "words": pa.array(["a", "b", None]).dictionary_encode(),
}


@pytest.mark.parametrize("kind", IDS)
def test_rows_are_found_by_what_they_are_called(rtkm, tmp_path, kind):
    table = pa.table({"x": [1.0, 9.0, 5.0], "name": IDS[kind]})
    pq.write_table(table, tmp_path / "t.parquet")
    options = ["-k", "2", "--contamination", "1", "--id", "name"]
    words = ["--model", "m.rtkm", "--json", "j.json"]
    outcome = rtkm("fit", "t.parquet", *options, *words)
    assert outcome.code == 0, outcome.err
    found = json.loads((tmp_path / "j.json").read_text())
    for name in found["scatter"]["points"]["id"] if found["scatter"] else ["a"]:
        if name is not None:
            outcome = rtkm("explain", "m.rtkm", "t.parquet", f"--row={name}")
            assert outcome.code == 0, outcome.err


def test_the_next_command_works(rtkm, people, tmp_path):
    people.write_text(people.read_text().replace(",", ";"))
    (tmp_path / "model.rtkm").unlink(missing_ok=True)
    fit = rtkm("fit", "people.csv", *FIT[2:], "--sep=;", "--report", "r.html")
    predict = rtkm(
        "predict",
        "model.rtkm",
        "people.csv",
        "--sep=;",
        "--id",
        "name",
        "--missing",
        "drop",
        "--output",
        "o.csv",
    )
    for outcome in (fit, predict):
        line = outcome.out.splitlines()[-1].removeprefix("Next: rtkm ")
        assert "--sep=" in line
        assert rtkm(*shlex.split(line)).code == 0


def test_detectors_are_not_asked_to_explain(rtkm, people):
    rtkm("fit", "people.csv", "--method", "CBLOF", *FIT[4:], "--report", "r.html")
    out = rtkm("predict", "model.rtkm", "people.csv", "--output", "o.csv").out
    assert "rtkm explain" not in out


@pytest.mark.parametrize("extra", [{"id": []}, {"id": {}}, {"id": 3}, {"other": 1}])
def test_odd_extras_do_no_harm(rtkm, people, tmp_path, extra):
    X = pd.read_csv(people)[["height"]]
    RTKM(2, contamination=0.1, random_state=0).fit(X).save(
        tmp_path / "m.rtkm", extra=extra
    )
    assert rtkm("predict", "m.rtkm", "people.csv").code == 0


def test_the_model_is_not_overwritten_by_its_answers(rtkm, people, tmp_path):
    X = pd.read_csv(people)[["height"]]
    RTKM(2, contamination=0.1, random_state=0).fit(X).save(tmp_path / "m.csv")
    outcome = rtkm("predict", "m.csv", "people.csv", "--output", "m.csv")
    assert outcome.code == 1
    assert "--output m.csv would replace the model" in outcome.err


def test_new_rows_are_compared_with_the_training_rows(rtkm, people, tmp_path, model):
    frame = pd.read_csv(people)
    frame["height"] /= 2.54
    frame.to_csv(tmp_path / "inches.csv", index=False)
    words = ["--report", "new.html", "--json", "new.json"]
    outcome = rtkm("predict", model, "inches.csv", *words)
    assert outcome.code == 0, outcome.err
    said = " ".join(outcome.out.split())
    assert "'height' looks like it is in other units" in said
    assert "1/2.54 of what they were" in said
    assert "100 % of the new rows are outliers, against 1.6 % of the training" in said
    found = json.loads((tmp_path / "new.json").read_text())
    assert found["model"] == model
    assert found["drift"]["labels"][0]["count_then"] == 1
    assert found["drift"]["labels"][0]["count_now"] == len(frame)
    assert list(found["seconds"]) == ["read", "predict", "compare", "explain"]
    page = (tmp_path / "new.html").read_text()
    assert "Compared with the training rows" in page


def test_the_training_table_itself_does_not_differ(rtkm, people, model):
    out = rtkm("predict", model, "people.csv").out
    assert "The new rows are like the training rows" in out
    shares = [line.split()[-4:] for line in out.splitlines() if " outliers " in line]
    assert shares == [["1.6", "%", "1.6", "%"]]


def test_models_without_a_summary_say_nothing_of_drift(rtkm, people, tmp_path, model):
    description, arrays = unpack((tmp_path / model).read_bytes())
    for name in description["model"]["learned"].pop("reference_"):
        arrays.pop(f"model.reference_.{name}", None)
    (tmp_path / "old.rtkm").write_bytes(pack(description, arrays))
    words = ["--report", "new.html", "--json", "new.json", "--output", "out.csv"]
    outcome = rtkm("predict", "old.rtkm", "people.csv", *words)
    assert outcome.code == 0, outcome.err
    assert "in training" not in outcome.out
    assert "training rows" not in outcome.out
    assert json.loads((tmp_path / "new.json").read_text())["drift"] is None
    assert "training rows" not in (tmp_path / "new.html").read_text()


def test_a_report_must_be_a_page(rtkm, people, model):
    outcome = rtkm("predict", model, "people.csv", "--report", "new.csv")
    assert outcome.code == 1
    assert "--report new.csv ends in '.csv'; expected .html." in outcome.err
