"""rtkm fit, as it is typed."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from workbook_files import write_xlsx

from rtkm import RTKM, load
from rtkm.cli.flags import methods
from rtkm.seeding import SEEDINGS

pytest_plugins = ("typed",)

PEOPLE = ["people.csv", "-k", "2", "--contamination", "1", "--missing", "drop"]
ALL_FILES = {
    "--output": "out.csv",
    "--report": "report.html",
    "--json": "found.json",
    "--model": "model.rtkm",
}
ALL = [word for pair in ALL_FILES.items() for word in pair]


def test_it_tells_what_was_read_done_and_found(rtkm, people):
    outcome = rtkm("fit", *PEOPLE, "--id", "name")
    assert outcome.code == 0
    assert not outcome.err
    for part in [
        "Read 62 rows of 4 columns from people.csv",
        "Used 2 columns: 'height', 'weight'.",
        "Left out text: 'team' (such as 'red').",
        "Left out 1 row with missing values: 1 in 'weight'.",
        "RTKM divides 61 rows into 2 clusters, as you asked, of 30 and 30 rows.",
        "1 row (1.6 %) was trimmed, as you asked; it stands out.",
        "The outlier is row 11 ('giant'),",
        "row 11   giant",
        "height 310",
        "Next: rtkm fit people.csv -k 2",
    ]:
        assert part in outcome.out


def test_centers_of_categories_are_printed_as_shares(rtkm, people):
    outcome = rtkm("fit", *PEOPLE, "--categories", "team")
    table = outcome.out.partition("team=")[2].partition("team=")[2]
    assert re.search(r"^ +0 +30 +49 %.* 100 %", table, re.MULTILINE)


def test_columns_that_hold_nothing_are_not_printed(rtkm, people):
    outcome = rtkm("fit", "people.csv", "--missing", "drop", "--method", "CBLOF")
    (header,) = [line for line in outcome.out.splitlines() if "times cut-off" in line]
    assert header.split() == ["rank", "outlier", "id", "score", "times", "cut-off"]
    header = rtkm("fit", *PEOPLE).out.partition("times cut-off")[2].splitlines()[0]
    assert header.split() == ["nearest", "because", "of"]


@pytest.mark.parametrize("init", SEEDINGS)
def test_starts_are_chosen_by_name(rtkm, people, init, tmp_path):
    given = ["-k", "2", "--missing", "drop", "--init", init]
    assert rtkm("fit", "people.csv", *given, "--model", "of.rtkm").code == 0
    assert load(tmp_path / "of.rtkm").estimator.init == init


def test_rows_come_back_in_their_order_with_answers(rtkm, people, tmp_path):
    assert rtkm("fit", *PEOPLE, "--output", "out.csv").code == 0
    given = people.read_text().splitlines()
    written = (tmp_path / "out.csv").read_text().splitlines()
    assert all(new.startswith(old) for new, old in zip(written, given, strict=True))
    frame = pd.read_csv(tmp_path / "out.csv")
    assert list(frame.columns[4:]) == [
        "label",
        "membership_0",
        "membership_1",
        "outlier",
        "score",
        "confidence",
        "reason",
    ]
    dropped = frame[frame["name"] == "light"].iloc[0]
    assert dropped["reason"] == "no number in 'weight'"
    assert dropped[["label", "score", "outlier", "confidence"]].isna().all()
    giant = frame[frame["name"] == "giant"].iloc[0]
    assert giant["label"] == -1
    assert giant["outlier"]
    assert giant["confidence"] == "outlier"
    assert (giant[["membership_0", "membership_1"]] == 0).all()
    others = frame[~frame["name"].isin(["light", "giant"])]
    assert set(others["label"]) == {0, 1}
    assert (others.groupby("team")["label"].nunique() == 1).all()
    assert (others["membership_0"] == (others["label"] == 0)).all()


def test_answers_are_those_of_the_method_in_python(rtkm, people, tmp_path):
    table = pd.read_csv(people).dropna()[["height", "weight"]]
    model = RTKM(2, contamination=1, random_state=7).fit(table)
    rtkm("fit", *PEOPLE, "--seed", "7", "--scale", "none", "--output", "out.parquet")
    frame = pd.read_parquet(tmp_path / "out.parquet").dropna(subset=["label"])
    np.testing.assert_array_equal(frame["label"], model.labels_)
    np.testing.assert_array_equal(frame["score"], model.outlier_scores_)
    inside = frame["outlier"] == False  # noqa: E712
    expected = model.predict_confidence(table)[inside.to_numpy()]
    np.testing.assert_array_equal(frame["confidence"][inside], expected)


def test_the_same_command_gives_the_same_files(rtkm, people, tmp_path):
    contents = []
    for _ in range(2):
        assert rtkm("fit", *PEOPLE, *ALL).code == 0
        found = json.loads((tmp_path / "found.json").read_text())
        del found["seconds"]
        files = [(tmp_path / name).read_bytes() for name in ("out.csv", "model.rtkm")]
        contents.append((found, files))
    assert contents[0] == contents[1]


def test_quiet_says_nothing(rtkm, people):
    assert rtkm("fit", *PEOPLE, *ALL, "--quiet") == (0, "", "")


@pytest.mark.slow
def test_standard_input_is_read(rtkm, people, tmp_path):
    command = [sys.executable, "-m", "rtkm", "fit", "-", *PEOPLE[1:], "--output"]
    run = subprocess.run(
        [*command, tmp_path / "out.csv"],
        input=people.read_bytes(),
        capture_output=True,
        check=True,
    )
    assert b"from standard input" in run.stdout
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 63


@pytest.mark.parametrize("method", sorted(methods()))
def test_every_method_fits_tells_and_writes(rtkm, people, tmp_path, method):
    k = ["-k", "2"] if "n_clusters" in methods()[method]().get_params() else []
    files = ["--output", "out.csv", "--report", "report.html", "--json", "found.json"]
    options = ["--missing", "median", "--method", method, *k, *files]
    outcome = rtkm("fit", "people.csv", *options)
    assert outcome.code == 0, outcome.err
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["method"]["name"] == method
    frame = pd.read_csv(tmp_path / "out.csv")
    assert found["outliers"]["count"] == frame["outlier"].sum()
    if k:
        sizes = [cluster["size"] for cluster in found["clusters"]]
        labels = frame["label"]
        counts = [(labels == label).sum() for label in range(2)]
        if found["overlap"]:
            assert sizes == np.diag(found["overlap"]["matrix"]).tolist()
            assert all(np.greater_equal(sizes, counts))
        else:
            assert sizes == counts


def test_decisions_are_said_aloud(rtkm, tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 2)) * [1, 1000]
    np.savetxt(tmp_path / "wide.csv", rows, delimiter=",", header="a,b", comments="")
    out = rtkm("fit", "wide.csv", "-k", "2").out
    assert "Columns are scaled, by median and middle nine tenths: 'b'" in out
    assert "--scale none" in out


def test_what_a_fit_warns_of_is_a_note_in_words_of_flags(rtkm, people, tmp_path):
    options = ["-k", "6", "--max-iter", "1", "--n-swaps", "0", "--json", "found.json"]
    outcome = rtkm("fit", *PEOPLE, *options)
    text = "RTKM stopped at --max-iter 1"
    assert text in outcome.out
    found = json.loads((tmp_path / "found.json").read_text())
    assert any(note.startswith(text) for note in found["notes"])
    assert any("raise --max-iter" in line for line in found["summary"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-k", "99"], "-k 99 needs at least 99 rows; the table has 61 rows."),
        (["--contamination", "61"], "--contamination 61 leaves 0 of 61 rows"),
        (["-s", "3"], "-s 3 needs at least 3 clusters; -k is 2."),
        (["--columns", "hieght"], "has no such column; did you mean 'height'?"),
        (["--columns", "team"], "column 'team' holds text, such as 'red'"),
        (["--drop", "height", "weight"], "has no column of numbers to use"),
        (
            ["--missing", "error"],
            "1 missing value (NaN): 1 in 'weight', the first",
        ),
        (["--id", "nmae"], "--id nmae: people.csv has no such column; did you mean"),
        (["--output", "people.csv"], "would replace the table; choose another name."),
        (["--report", "people.csv"], "would replace the table; choose another name."),
        (["--output", "out.xlsx"], "expected .csv, .tsv or .parquet."),
        (["--json", "no/where.json"], "--json no/where.json: there is no folder no."),
        (["--report", "."], "--report . is a folder; expected the name of a file."),
        (["--report", "page.pdf"], "--report page.pdf ends in '.pdf'; expected .html."),
        (["--model", "page.html"], "--model page.html ends in '.html', as other files"),
        (["--json", "a", "--model", "a"], "would replace what --json is to be"),
        (["--method", "LDOF", "--model", "m"], "LDOF answers by its training rows"),
        (["--sep", "ab"], "--sep 'ab' is not valid; expected one character."),
        (["--encoding", "utf-99"], "utf-99"),
    ],
)
def test_what_cannot_be_used_is_told_and_nothing_written(
    rtkm, people, tmp_path, options, message
):
    before = sorted(os.listdir(tmp_path))
    words = PEOPLE
    if "LDOF" in options:
        words = [word for word in PEOPLE if word not in ("-k", "2")]
    code, _, err = rtkm("fit", *words, *options)
    assert code == 1
    assert message in err
    assert err.startswith("rtkm: ")
    assert len(err.splitlines()) == 1
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["people.csv", "-k", "2,x"], "2,x is not valid; expected a number"),
        (
            ["people.csv", "-k", "0"],
            "0 is not valid; expected a number of at least 1, such as 3, or numbers",
        ),
        (["-k", "2"], "the following arguments are required: DATA"),
        ([*PEOPLE, "--method", "KMRO"], "no such method; did you mean 'KMOR'?"),
        ([*PEOPLE, "--method"], "expected one argument"),
        ([*PEOPLE, "--cutoff-factor", "3"], "it is an option of KMOR, ODC."),
        ([*PEOPLE, "--zzz"], "no option --zzz; `rtkm fit --help` lists all."),
        ([*PEOPLE, "--contaminaton", "1"], "did you mean --contamination?"),
        ([*PEOPLE, "--contamination", "0,05"], "Did you mean 0.05?"),
        ([*PEOPLE, "--contamination", "5%"], "Did you mean 0.05?"),
        ([*PEOPLE, "--seed", "x"], "expected an integer from 0 to 2**32 - 1."),
        ([*PEOPLE, "--skip", "-1"], "expected a whole number of at least 0."),
        ([*PEOPLE, "more.csv"], "unrecognized arguments: more.csv"),
        ([*PEOPLE, "--step", "-1"], "expected 'auto' or a positive number"),
        ([*PEOPLE, "--scale", "log"], "invalid choice: 'log'"),
    ],
)
def test_mistyped_commands_are_usage(rtkm, people, arguments, message):
    code, out, err = rtkm("fit", *arguments)
    assert code == 2
    assert not out
    assert message in err
    assert err.startswith("usage: rtkm")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("full", ALL_FILES)
def test_a_full_disk_leaves_all_files_as_they_were(rtkm, people, tmp_path, full):
    names = dict(ALL_FILES)
    for name in names.values():
        (tmp_path / name).write_text("before")
    disk = tmp_path / f"full{Path(names.pop(full)).suffix}"
    disk.symlink_to("/dev/full")
    others = [word for pair in names.items() for word in pair]
    code, _, err = rtkm("fit", *PEOPLE, *others, full, disk)
    assert code == 1
    assert err == f"rtkm: {disk} cannot be written (No space left on device).\n"
    for name in names.values():
        assert (tmp_path / name).read_text() == "before"
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]


def test_a_file_that_cannot_be_written_keeps_the_others_from_changing(
    rtkm, people, tmp_path, monkeypatch
):
    for name in ALL_FILES.values():
        (tmp_path / name).write_text("before")

    def no_model(*arguments):
        raise OSError(errno.EIO, "the disk is gone")

    monkeypatch.setattr("rtkm.cli.fit.as_bytes", no_model)
    assert rtkm("fit", *PEOPLE, *ALL).code == 1
    for name in ALL_FILES.values():
        assert (tmp_path / name).read_text() == "before"


def test_a_saved_model_is_the_fitted_one(rtkm, people, tmp_path):
    rtkm("fit", *PEOPLE, "--scale", "none", "--model", "model.rtkm")
    table = pd.read_csv(people).dropna()[["height", "weight"]]
    model = RTKM(2, contamination=1, random_state=0).fit(table)
    loaded = load(tmp_path / "model.rtkm")
    np.testing.assert_array_equal(loaded.cluster_centers_, model.cluster_centers_)
    assert loaded.estimator.get_params() == model.get_params()
    assert loaded.missing == "drop"
    assert loaded.scale == "none"


@pytest.mark.slow
def test_the_work_goes_on_when_nobody_listens(people, tmp_path):
    command = [sys.executable, "-m", "rtkm", "fit", *PEOPLE, "--output", "out.csv"]
    reading, writing = os.pipe()
    os.close(reading)
    run = subprocess.run(
        command, stdout=writing, stderr=subprocess.PIPE, cwd=tmp_path, check=False
    )
    os.close(writing)
    assert run.returncode == 0
    assert run.stderr == b""
    assert (tmp_path / "out.csv").exists()


@pytest.mark.slow
def test_letters_that_a_terminal_lacks_are_spelled_out(people, tmp_path):
    text = people.read_text().replace("height", "höhe \u6570")
    (tmp_path / "people.csv").write_text(text, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "rtkm", "fit", *PEOPLE],
        capture_output=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=True,
    )
    assert b"h\\xf6he \\u6570" in run.stdout
    assert run.stderr == b""


@pytest.mark.slow
def test_answers_flow_out_and_words_go_aside(rtkm, people, tmp_path):
    assert rtkm("fit", *PEOPLE, "--output", "out.csv").code == 0
    command = [sys.executable, "-m", "rtkm", "fit", *PEOPLE, "--output", "-"]
    run = subprocess.run(command, capture_output=True, cwd=tmp_path, check=True)
    assert run.stdout == (tmp_path / "out.csv").read_bytes()
    assert b"Rows and answers are in standard output." in run.stderr
    command = [*command[:-2], "--json", "-", "--quiet"]
    run = subprocess.run(command, capture_output=True, cwd=tmp_path, check=True)
    assert json.loads(run.stdout)["source"]["n_rows"] == 62
    assert run.stderr == b""


def closed_pipe():
    reading, writing = os.pipe()
    os.close(reading)
    return writing


def run_with(arguments, folder, **streams):
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
    return subprocess.run(
        [sys.executable, "-m", "rtkm", *arguments], cwd=folder, check=False, **streams
    )


@pytest.mark.slow
def test_files_are_there_even_if_nobody_takes_what_flows_out(people, tmp_path):
    files = ["--output", "-", "--report", "r.html", "--json", "j.json"]
    run = run_with(["fit", *PEOPLE, *files], tmp_path, stdout=closed_pipe())
    assert run.returncode == 0
    assert (tmp_path / "r.html").exists()
    assert (tmp_path / "j.json").exists()


@pytest.mark.slow
def test_answers_flow_out_even_if_nobody_hears_the_words(people, tmp_path):
    run = run_with(["fit", *PEOPLE, "--output", "-"], tmp_path, stderr=closed_pipe())
    assert run.returncode == 0
    assert len(run.stdout.splitlines()) == 63


@pytest.mark.slow
def test_a_log_that_standard_output_goes_to_keeps_its_lines(people, tmp_path):
    for name in ("/dev/stdout", "/dev/fd/1"):
        with (tmp_path / "log.txt").open("wb") as log:
            log.write(b"precious\n")
            log.flush()
            words = ["--quiet", "--json", name]
            assert (
                run_with(["fit", *PEOPLE, *words], tmp_path, stdout=log).returncode == 0
            )
        first, second = (tmp_path / "log.txt").read_bytes().splitlines()
        assert first == b"precious"
        assert json.loads(second)["source"]["n_rows"] == 62


def test_nothing_from_a_table_commands_the_terminal(rtkm, tmp_path):
    escape = "\x1b]0;title\x07\x1b[31m"
    filler = "".join(f"{i},{i * i % 7},word{i}\n" for i in range(400))
    (tmp_path / "t.csv").write_text(f"x{escape},y,name\n{filler}9999,1,{escape}\n")
    options = ["-k", "2", "--contamination", "1", "--id", "name", "--model", "m"]
    outcome = rtkm("fit", "t.csv", *options, "--report", "r.html")
    assert outcome.code == 0
    assert "\x1b" not in outcome.out
    assert "Next: rtkm explain m t.csv --row 401" in outcome.out
    (tmp_path / "t.csv").write_text(f"x{escape}\n1e300\n1\n" + 200 * "2\n")
    outcome = rtkm("fit", "t.csv", "-k", "1", "--scale", "none")
    assert outcome.code == 1
    assert "\x1b" not in outcome.err


def test_rows_in_several_clusters_count_in_each(rtkm, tmp_path, people):
    options = ["-k", "3", "--memberships", "2", "--contamination", "3"]
    words = ["--missing", "drop", "--json", "j.json", "--output", "o.csv"]
    rtkm("fit", "people.csv", *options, *words)
    found = json.loads((tmp_path / "j.json").read_text())
    frame = pd.read_csv(tmp_path / "o.csv")
    for cluster in found["clusters"]:
        mine = frame[frame[f"membership_{cluster['label']}"] > 0]
        assert cluster["size"] == len(mine)
        spread = mine[["height", "weight"]].std(ddof=0)
        np.testing.assert_allclose(cluster["spread"], spread, rtol=1e-9)
    assert sum(cluster["size"] for cluster in found["clusters"]) == 2 * 58


def test_outliers_that_the_cut_off_does_not_tell_are_told(rtkm, tmp_path):
    (tmp_path / "t.csv").write_text("x\n" + "1\n" * 9 + "5\n" * 9)
    options = ["-k", "1", "--contamination", "4", "--scale", "none"]
    rtkm("fit", "t.csv", *options, "--json", "j.json")
    notes = json.loads((tmp_path / "j.json").read_text())["notes"]
    assert any("as new rows they would be judged differently" in note for note in notes)


def test_a_few_rows_get_one_warning(rtkm, tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("a,b\n" + "".join(f"{i},{i * i % 7}\n" for i in range(15)))
    for command in ("fit", "choose"):
        outcome = rtkm(command, "few.csv")
        assert outcome.code == 0
        assert outcome.out.count("15 rows are too few to choose from") == 1
        assert "No row" not in outcome.out


def test_missing_cells_are_treated_by_column(rtkm, people):
    by_column = ["--missing", "drop", "--missing", "weight=median"]
    outcome = rtkm("fit", "people.csv", "-k", "2", *by_column)
    assert outcome.code == 0
    assert "Filled in medians for missing values: 1 in 'weight'." in outcome.out
    assert rtkm("fit", "--missing", "drop", "people.csv", "-k", "2").code == 0
    outcome = rtkm("fit", "people.csv", "--missing", "weight=mean")
    assert outcome.code == 2
    assert "invalid choice: 'weight=mean' (choose from error, drop" in outcome.err
    outcome = rtkm("fit", "people.csv", "--missing", "wieght=drop")
    assert "--missing wieght: people.csv has no such column" in outcome.err


def test_a_sheet_of_a_workbook_is_fitted(rtkm, tmp_path):
    rows = [["x", "y"], *([i % 3 * 10 + i / 100, i % 7] for i in range(60))]
    write_xlsx(tmp_path / "book.xlsx", {"Notes": [["see Data"]], "Data": rows})
    command = ["fit", "book.xlsx", "--sheet", "Data", "-k", "3", "--output", "out.csv"]
    outcome = rtkm(*command, "--contamination", "1", "--model", "m")
    assert outcome.code == 0
    assert "Read 60 rows of 2 columns from sheet 'Data' of book.xlsx" in outcome.out
    assert (tmp_path / "out.csv").read_text().startswith('"x","y","label"')
    outcome = rtkm("explain", "m", "book.xlsx", "--sheet", "Data", "--row", "1")
    assert outcome.code == 0
    assert rtkm("fit", "book.xlsx").err == (
        "rtkm: sheet 'Notes' of book.xlsx has 1 column but no rows; expected a table "
        "of numbers; --sheet NAME reads another: 'Data'.\n"
    )


def test_categories_are_used_and_explained_in_words(rtkm, tmp_path):
    group = np.arange(120) % 2
    table = pd.DataFrame(
        {
            "mass": np.random.default_rng(0).normal(5 * group),
            "origin": np.array(["USA", "Japan"])[group],
            "size": group,
        }
    )
    table.loc[3, "origin"] = "Mars"
    table.to_csv(tmp_path / "cars.csv", index=False)
    fit = ["fit", "cars.csv", "-k", "2", "--contamination", "1", "--model", "m.rtkm"]
    outcome = rtkm(*fit, "--categories", "origin", "size", "--output", "fit.csv")
    assert outcome.code == 0, outcome.err
    assert "Used as categories: 'origin' (3, most often" in " ".join(
        outcome.out.split()
    )
    fitted = pd.read_csv(tmp_path / "fit.csv")
    assert_array_equal(np.flatnonzero(fitted["outlier"]), [3])

    outcome = rtkm("explain", "m.rtkm", "cars.csv", "--row", "4")
    assert re.search(r"origin +Mars +Japan ", outcome.out)
    assert "'origin' from Mars to Japan" in " ".join(outcome.out.split())
    for name, read in (("e.csv", pd.read_csv), ("e.parquet", pd.read_parquet)):
        assert rtkm("explain", "m.rtkm", "cars.csv", "--output", name).code == 0
        row = read(tmp_path / name).loc[3]
        expected = ["origin", "Mars", "Japan"]
        assert [*row[["change_feature", "change_from", "change_to"]]] == expected

    table["origin"] = table["origin"].replace("Japan", "Nippon")
    table.to_csv(tmp_path / "new.csv", index=False)
    outcome = rtkm("predict", "m.rtkm", "new.csv", "--report", "p.html")
    told = " ".join(outcome.out.split())
    assert "categories the model has not seen ('Nippon')" in told
    assert re.search("'origin=Japan' holds for 0 % of the new rows, against 49", told)


def test_a_column_of_categories_has_one_use(rtkm, people):
    outcome = rtkm("fit", "people.csv", "--categories", "team", "--drop", "team")
    assert outcome.code == 1
    assert "'team' is named in both --categories and --drop" in outcome.err
