"""rtkm compare, methods, demo and what goes without a command."""

from __future__ import annotations

import json
import subprocess
import sys

import pandas as pd
import pytest

import rtkm as library
from rtkm._registry import METHODS
from rtkm.cli.flags import flags_of, methods, readings, typed_fields
from rtkm.cli.main import make_parser
from rtkm.report.docstrings import explain_parameters

pytest_plugins = ("typed",)


def test_compare_scores_methods_by_known_labels(rtkm, people, tmp_path):
    options = ["--truth", "team", "--missing", "drop", "--contamination", "1"]
    outcome = rtkm("compare", "people.csv", "-k", "2", *options, "--output", "runs.csv")
    assert outcome.code == 0
    assert "Scored by team: 2 known clusters, 1 known outlier." in outcome.out
    assert "Used 2 columns: 'height', 'weight'." in outcome.out
    line = next(li for li in outcome.out.splitlines() if li.split()[:1] == ["RTKM"])
    title = next(li for li in outcome.out.splitlines() if "M_e" in li)
    assert {"outliers", "F1", "ARI", "M_e", "seconds"} <= set(title.split())
    assert line.split()[2] == "1"  # outlier
    runs = pd.read_csv(tmp_path / "runs.csv")
    best = runs[runs["method"] == "RTKM"]
    assert len(best) == 1
    assert (best["average_f1"] == 1).all()
    assert (best["outlier_me"] == 0).all()


def test_compare_gives_what_fit_gives(rtkm, people, tmp_path):
    options = ["-k", "3", "--missing", "drop", "--contamination", "3"]
    rtkm("compare", "people.csv", *options, "--starts", "2", "--output", "runs.csv")
    runs = pd.read_csv(tmp_path / "runs.csv")
    for method in ("RTKM", "KMOR", "NEOKMeans", "KMeansMinusMinus"):
        objectives = runs.loc[runs["method"] == method, "objective"].tolist()
        for seed in (0, 1):
            words = [*options, "--seed", str(seed), "--json", "found.json"]
            rtkm("fit", "people.csv", "--method", method, *words)
            found = json.loads((tmp_path / "found.json").read_text())
            assert found["objective"]["value"] == objectives[seed]


def test_compare_tells_what_failed(rtkm, people):
    options = ["--missing", "drop", "--contamination", "40"]
    outcome = rtkm("compare", "people.csv", "-k", "30", *options, "--methods", "RTKM")
    assert outcome.code == 1
    assert "RTKM failed: --contamination 40 leaves 21 of 61 rows" in outcome.out
    assert outcome.err == "rtkm: every method failed.\n"
    some = rtkm(
        "compare", "people.csv", "-k", "30", *options, "--methods", "RTKM", "OKM"
    )
    assert some.code == 0
    assert "RTKM failed: " in some.out


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["-k", "6-2"], 2, "6-2 is not valid; expected a number of at least 1"),
        (["-k", "2", "--methods", "KMRO"], 2, "did you mean 'KMOR'?"),
        (["-k", "2", "--truth", "teem"], 1, "did you mean 'team'?"),
        (["-k", "2", "--output", "no/runs.csv"], 1, "there is no folder no."),
        (["-k", "2", "--drop", "weight", "--truth", "weight"], 1, "missing cell"),
        (["-k", "2", "--output", "people.csv"], 1, "would replace the table"),
        (["-k", "2", "--output", "runs.parquet"], 1, "expected a name in .csv."),
    ],
)
def test_comparisons_that_cannot_be_made(rtkm, people, options, code, message):
    outcome = rtkm("compare", "people.csv", *options)
    assert outcome.code == code
    assert message in outcome.err


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (["1", "2", "-1", ""], "has 1 missing cell"),
        (["a", "b", "noise", "NA"], "has 1 missing cell"),
        (["1.0", "2.0", "-1.0", "1.0"], "2 known clusters, 1 known outlier."),
        (["a", "b", "Noise", " a"], "2 known clusters, 1 known outlier."),
    ],
)
def test_known_labels_are_read_with_care(rtkm, tmp_path, cells, told):
    rows = [f"{x},{cell}" for x, cell in zip([1, 9, 5, 1.5], cells, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["x,truth", *rows]) + "\n")
    options = ["--truth", "truth", "--contamination", "1", "--methods", "RTKM"]
    outcome = rtkm("compare", "t.csv", "-k", "2", *options)
    assert told in outcome.out + outcome.err


def test_methods_are_listed_and_described(rtkm):
    outcome = rtkm("methods")
    assert outcome.code == 0
    for name in methods():
        assert f"  {name} " in outcome.out
        assert METHODS[name].purpose in outcome.out
    for name, method in methods().items():
        described = rtkm("methods", name.lower()).out
        for field in typed_fields(method):
            assert flags_of(method, field.name)[0] in described
    assert rtkm("methods", "k-means-minus").code == 2


def test_every_parameter_has_words_and_a_flag_that_sets_it(rtkm):
    for name, method in methods().items():
        explained = explain_parameters(method)
        parser = make_parser(["fit", "--method", name])
        for field in typed_fields(method):
            assert explained[field.name], (name, field.name)
            if isinstance(field.default, bool):
                continue
            for flag in flags_of(method, field.name):
                text = str(field.default)
                options = parser.parse_args(["fit", "data.csv", flag, text])
                assert getattr(options, field.name) == field.default


def test_flags_read_what_their_parameters_take():
    parser = make_parser(["fit"])
    options = parser.parse_args(
        ["fit", "d", "-k", "3", "--contamination", "5", "--step", "1.1"]
    )
    assert (options.n_clusters, options.contamination, options.step) == (3, 5, 1.1)
    options = parser.parse_args(["fit", "d", "--contamination", "0.05"])
    assert options.contamination == 0.05
    parser = make_parser(["fit", "--method", "CBLOF"])
    options = parser.parse_args(["fit", "d", "--weighted"])
    assert options.weighted is True
    assert list(readings("True")) == [True, "True"]


def test_no_flag_of_a_method_takes_the_place_of_another_option():
    for name, method in methods().items():
        own = {field.name for field in typed_fields(method)}
        parser = make_parser(["fit", "methods", "--method", name])
        plain = vars(parser.parse_args(["methods"]))
        fit = vars(parser.parse_args(["fit", "d"]))
        assert not own & (plain.keys() | fit.keys())


@pytest.mark.parametrize(
    "command", ["fit", "predict", "explain", "compare", "methods", "demo"]
)
def test_help_teaches(rtkm, command):
    outcome = rtkm(command, "--help")
    assert outcome.code == 0
    assert outcome.out.startswith(f"usage: rtkm {command}")
    if command in ("fit", "predict", "explain", "compare"):
        assert f"  rtkm {command} " in outcome.out.partition("examples:")[2]


def test_help_tells_that_skewed_columns_can_be_found(rtkm):
    words = " ".join(rtkm("fit", "--help").out.split())
    assert 'from very small to very large, or "auto"' in words


def test_help_of_a_method_has_its_options(rtkm):
    assert "--cutoff-factor" in rtkm("fit", "--method", "KMOR", "--help").out
    assert "--cutoff-factor" not in rtkm("fit", "--help").out


def test_comparisons_can_be_repeated(rtkm, people, tmp_path):
    options = ["people.csv", "-k", "2", "--missing", "drop", "--starts", "2"]
    runs = []
    for seed in (0, 0, 1):
        command = ["compare", *options, "--seed", seed, "--output", "runs.csv"]
        assert rtkm(*command).code == 0
        runs.append(pd.read_csv(tmp_path / "runs.csv").drop(columns="seconds"))
    pd.testing.assert_frame_equal(runs[0], runs[1])
    assert not runs[0].equals(runs[2])


@pytest.mark.parametrize("arguments", [(), ("--help",), ("--quick", "--out", "d"), "x"])
def test_reproduce_says_where_it_went(rtkm, arguments):
    assert rtkm("reproduce", *arguments) == (
        2,
        "",
        "rtkm: reproduce is not a command any more; run `python -m experiments` at the "
        "root of rtkm's source tree.\n",
    )
    assert "reproduce" not in rtkm("--help").out


def test_version_and_no_command(rtkm):
    assert rtkm("--version") == (0, f"rtkm {library.__version__}\n", "")
    outcome = rtkm()
    assert outcome.code == 2
    assert "the following arguments are required: COMMAND" in outcome.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion_knows_commands_and_flags(rtkm, shell):
    outcome = rtkm("--completion", shell)
    assert outcome.code == 0
    for word in ("fit", "predict", "explain", "contamination", "report"):
        assert word in outcome.out


def test_bash_accepts_the_completion(rtkm, tmp_path):
    script = tmp_path / "completion.sh"
    script.write_text(rtkm("--completion", "bash").out)
    subprocess.run(["bash", "-n", script], check=True)


def test_the_completion_of_a_name_with_bars_is_no_command(rtkm):
    assert r"robust-k-means\|\| " in rtkm("--completion", "zsh").out
    assert "'robust-k-means||'" in rtkm("--completion", "bash").out


def test_the_demonstration_runs_to_its_report(rtkm, tmp_path):
    outcome = rtkm("demo", "--out", "here/demo")
    assert outcome.code == 0
    assert "$ rtkm fit " in outcome.out
    assert "RTKM found 2 clusters in 699 rows" in outcome.out
    assert "$ rtkm explain " in outcome.out
    assert "would make it an inlier: 'mitoses'" in outcome.out
    assert (tmp_path / "here" / "demo" / "report.html").stat().st_size > 10_000


@pytest.mark.slow
def test_a_closed_pipe_is_no_error():
    command = [sys.executable, "-m", "rtkm", "methods"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as run:
        run.stdout.close()
        assert run.stderr.read() == b""
    assert run.returncode == 0


WITHOUT = "import sys; sys.modules['pyarrow'] = sys.modules['pandas'] = None\n"
RUN = "from rtkm.cli.main import main; sys.exit(main(sys.argv[1:]))"


@pytest.mark.slow
def test_commands_without_a_table_do_without_pyarrow(people):
    command = [sys.executable, "-W", "ignore", "-c", WITHOUT + RUN]
    subprocess.run([*command, "methods"], check=True, capture_output=True)
    run = subprocess.run(
        [*command, "fit", people, "-k", "2"], capture_output=True, check=False
    )
    assert run.returncode == 1
    assert run.stderr.decode() == (
        'rtkm: reading tables needs pyarrow; pip install "rtkm[cli]".\n'
    )


def test_compare_recommends_without_a_truth(rtkm, people, tmp_path):
    command = ["compare", "people.csv", "-k", "2", "--missing", "drop"]
    command += ["--methods", "RTKM", "OKM"]
    outcome = rtkm(*command, "--json", "found.json", "--output", "runs.csv.gz")
    assert outcome.code == 0
    found = json.loads((tmp_path / "found.json").read_text())
    runs = pd.read_csv(tmp_path / "runs.csv.gz")
    assert [run["method"] for run in found["runs"]] == list(runs["method"])
    assert found["runs"][0]["stability"] == pytest.approx(runs["stability"][0])
    assert found["recommendation"]["reason"] in " ".join(outcome.out.split())
    outcome = rtkm(*command, "--resamples", "0")
    assert "Nothing speaks for a method" in outcome.out
