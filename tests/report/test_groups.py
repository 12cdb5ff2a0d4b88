"""How clusters and outliers differ in columns that were not used."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import stats

from rtkm import CBLOF, RTKM, TableModel
from rtkm.report.collect import find
from rtkm.report.group_sentences import about_groups, in_words
from rtkm.report.group_tests import count_chances, from_middle, rank_sums, upper_tail
from rtkm.report.groups import matters
from rtkm.report.page import render
from rtkm.report.table_results import results_of_fit
from rtkm.tables.frames import as_table

pytest_plugins = ("typed",)

N = 150  # rows of a cluster
N_OUTLIERS = 30


def features(rng):
    """Return rows of two clusters, and outliers."""
    centers = np.repeat([0.0, 30.0, 0.0], [N, N, N_OUTLIERS])[:, None]
    X = rng.normal(centers, 1.0, (len(centers), 2))
    X[2 * N :, 1] = rng.normal(1000.0, 100.0, N_OUTLIERS)
    return {"x": X[:, 0], "y": X[:, 1]}


def left_out(more, seed=0, estimator=None, sample_weight=None, **options):
    """Fit a table with more columns, and return what is found in these."""
    frame = pd.DataFrame(features(np.random.default_rng(seed)) | more)
    estimator = estimator or RTKM(2, contamination=N_OUTLIERS, random_state=0)
    options = {"columns": ["x", "y"], "scale": "none"} | options
    table = as_table(pa.Table.from_pandas(frame, preserve_index=False))
    model = TableModel(estimator, **options)
    prepared = model.prepare(table, sample_weight)
    answers = results_of_fit(model.fit_prepared(prepared).estimator_, prepared)
    return find(answers, table, command="", notes=[])


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(1)


def groups_in(findings):
    return {group["label"]: group for group in findings["left_out"]["groups"]}


def by_cluster(*values):
    """Return a column with a value for each cluster and the outliers."""
    return np.repeat(np.array(values, object), [N, N, N_OUTLIERS])


# The tests


def test_tails_are_at_least_those_of_the_hypergeometric_distribution(rng):
    for _ in range(500):
        n_rows = int(rng.integers(4, 2000))
        size, total = rng.integers(1, n_rows, 2)
        count = rng.integers(max(0, size + total - n_rows), min(size, total) + 1)
        exact = stats.hypergeom.sf(count - 1, n_rows, total, size)
        bound = float(upper_tail(*np.array([[count], [size], [total]]), n_rows)[0])
        assert bound >= exact * (1 - 1e-9)
        if 1e-200 < exact < 0.05:
            assert bound <= 1.2 * exact


def test_chances_of_small_counts_by_hand():
    # 2 of 4 rows are drawn, of which 2 are marked: 1 draw in 6 has both, 1 has none
    counts = np.array([[2, 0]])
    chances = count_chances(counts, np.array([2]), np.array([2, 2]), 4)
    np.testing.assert_allclose(chances, 2 / 6)


def test_rank_sums_are_those_of_mann_and_whitney(rng):
    codes = rng.integers(0, 40, 300)
    group = np.flatnonzero(codes + rng.normal(0, 30, 300) > 40)
    others = np.setdiff1d(np.arange(300), group)
    expected = stats.mannwhitneyu(codes[group], codes[others], method="asymptotic")
    larger, chances = rank_sums(codes, [group])
    pairs = len(group) * len(others)
    np.testing.assert_allclose(larger, expected.statistic / pairs)
    np.testing.assert_allclose(chances, expected.pvalue, rtol=1e-9)


def test_missing_cells_have_no_rank():
    codes = np.array([0, -1, 1, 2, -1, 3])
    larger, _ = rank_sums(codes, [np.array([1, 4, 3, 5]), np.array([1, 4])])
    assert larger.tolist() == [1.0, 0.5]


def test_codes_from_the_middle():
    codes = np.array([0, 1, 2, 3, 4, -1])
    assert from_middle(codes).tolist() == [2, 1, 0, 1, 2, -1]


@pytest.mark.parametrize(
    ("share", "of_all", "told"),
    [
        *((0.5, 0.3, True), (0.3, 0.5, True), (0.45, 0.3, False)),
        *((0.08, 0.03, True), (0.04, 0.01, False), (0.02, 0.1, False)),
    ],
)
def test_what_matters(share, of_all, told):
    assert matters(share, of_all) is told


# What is told


def test_categories_of_clusters_and_outliers(rng):
    sex = np.where(rng.random(2 * N + N_OUTLIERS) < 0.5, "male", "female")
    sex[2 * N :] = "male"
    sex[-1] = "female"
    findings = left_out({"origin": by_cluster("USA", "Japan", "USA"), "sex": sex})
    groups = groups_in(findings)
    assert findings["left_out"]["tested"] == ["origin", "sex"]
    (usa,) = groups[0]["categories"]
    share_of_all = (N + N_OUTLIERS) / (2 * N + N_OUTLIERS)
    told = ("origin", "USA", N, 1.0, share_of_all)
    keys = ("column", "category", "count", "share", "share_of_all")
    assert tuple(usa[key] for key in keys) == told
    male = next(c for c in groups[-1]["categories"] if c["column"] == "sex")
    assert (male["category"], male["count"]) == ("male", N_OUTLIERS - 1)
    text = " ".join(findings["summary"])
    assert "Cluster 1: 100 % are 'origin' = 'Japan' (45 % of all)." in text
    assert "; 29 of 30 are 'sex' = 'male' (5" in text


def test_columns_that_were_used_name_rows_or_weigh_them_are_not_tested():
    n = 2 * N + N_OUTLIERS
    findings = left_out(
        {
            "name": [f"row {i}" for i in range(n)],
            "long": [f"{'a' * 50}{i}" for i in range(n)],
            "w": by_cluster(1.0, 2.0, 1.0).astype(float),
            "constant": "a",
        },
        sample_weight="w",
    )
    assert findings["left_out"]["tested"] == []
    assert findings["left_out"]["untested"] == ["long", "constant"]


def test_columns_without_a_relation_are_told_rarely():
    n_told = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = 2 * N + N_OUTLIERS
        columns = {f"c{j}": rng.choice(list("abcdefgh"), n) for j in range(10)}
        columns |= {f"v{j}": rng.normal(size=n) for j in range(10)}
        findings = left_out(columns, seed)
        assert len(findings["left_out"]["tested"]) == 20
        n_told += bool(findings["left_out"]["groups"])
    assert n_told <= 3


def test_missing_cells_are_a_category(rng):
    n = 2 * N + N_OUTLIERS
    deck = rng.choice(list("ABC"), n).astype(object)
    deck[:N] = None
    weight = rng.normal(size=n)
    weight[N : 2 * N] = np.nan
    groups = groups_in(left_out({"deck": deck, "weight": weight}))
    assert groups[0]["categories"][0]["category"] is None
    assert about_groups({"tested": [], "untested": [], "groups": [groups[0]]})[1] == (
        "Cluster 0: 100 % have no 'deck' (45 % of all); 100 % have 'weight' "
        "(55 % of all)."
    )
    told = groups[1]["categories"][0]
    assert (told["column"], told["category"], told["count"]) == ("weight", None, N)
    assert groups[1]["shifts"] == []


def test_dates_that_are_later_and_dates_in_between(rng):
    first = pd.Timestamp("2000-01-01")
    days = np.r_[rng.integers(0, 2000, N), rng.integers(2000, 4000, N)]
    between = rng.integers(1900, 2100, N_OUTLIERS)
    dates = first + pd.to_timedelta(np.r_[days, between], unit="D")
    groups = groups_in(left_out({"date": dates}))
    (early,), (late,), (middle,) = (groups[label]["shifts"] for label in (0, 1, -1))
    assert early["larger"] < 0.1
    assert late["larger"] > 0.9
    assert early["quartiles"][1] < "2005" < late["quartiles"][1]
    assert abs(middle["larger"] - 0.5) < 0.1
    assert middle["farther"] < 0.1
    assert middle["quartiles"][0] >= "2005-03"


def test_few_numbers_are_categories_and_many_are_compared_by_order(rng):
    n = 2 * N + N_OUTLIERS
    columns = {
        "cylinders": by_cluster(4, 8, 4).astype(int),
        "price": np.r_[rng.normal(10, 1, N), rng.normal(20, 1, n - N)],
    }
    group = groups_in(left_out(columns))[0]
    (cylinders,), (price,) = group["categories"], group["shifts"]
    assert cylinders["category"] == "4"
    assert price["larger"] == pytest.approx(0.0, abs=1e-3)
    assert "half have 'price' between 9." in " ".join(
        about_groups({"tested": [], "untested": [], "groups": [group]})
    )


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("2014", "2014"),
        ("2014-05-01", "2014-05-01"),
        ("2600000", "2,600,000"),
        ("9.123456789", "9.123"),
    ],
)
def test_quartiles_are_written_for_people(cell, told):
    assert in_words(cell) == told


def test_rows_that_are_left_out_do_not_count():
    origin = by_cluster("USA", "Japan", "USA")
    age = np.ones(len(origin)) + np.arange(len(origin)) % 2
    age[:20] = np.nan
    findings = left_out(
        {"origin": origin, "age": age}, columns=["x", "y", "age"], missing="drop"
    )
    usa = groups_in(findings)[1]["categories"][0]
    assert (usa["category"], usa["count"], usa["share"]) == ("USA", N - 20, 1.0)


def test_detectors_have_outliers_alone():
    findings = left_out(
        {"origin": by_cluster("USA", "USA", "Japan")},
        estimator=CBLOF(contamination=N_OUTLIERS),
    )
    assert set(groups_in(findings)) == {-1}
    assert "Outliers: 30 of 30 are 'origin' = 'Japan'" in " ".join(findings["summary"])
    assert "&#39;origin&#39; = &#39;Japan&#39;" in render(findings)


def test_the_page_tells_all_of_it_near_the_cluster():
    columns = {f"c{j}": by_cluster("USA", "Japan", "USA") for j in range(4)}
    findings = left_out(columns)
    short = " ".join(findings["summary"])
    assert "'c1' = 'USA'" in short
    assert "'c2' = 'USA'" not in short
    assert "and 2 more columns" in short
    page = render(findings)
    place = page.index("Columns that were not used</h3>")
    assert page.index('id="clusters"') < place < page.index('id="distributions"')
    assert "&#39;c3&#39; = &#39;Japan&#39;" in page[place:]


def test_the_command_line_says_it(rtkm, tmp_path):
    frame = pd.DataFrame(features(np.random.default_rng(0)))
    frame["origin"] = by_cluster("USA", "Japan", "USA")
    frame.to_csv(tmp_path / "cars.csv", index=False)
    fit = ["fit", "cars.csv", "-k", "2", "--contamination", "30", "--scale", "none"]
    outcome = rtkm(*fit, "--json", "a.json")
    assert outcome.code == 0, outcome.err
    told = " ".join(outcome.out.split())
    assert "Columns that were not used tell the groups apart, too:" in told
    assert "Cluster 1: 100 % are 'origin' = 'Japan' (45 % of all)." in told
    written = json.loads((tmp_path / "a.json").read_text())["left_out"]
    assert written["tested"] == ["origin"]
    assert [group["label"] for group in written["groups"]] == [0, 1, -1]


@pytest.mark.parametrize("kind", ["object", "str", "category"])
def test_reports_from_python_tell_it_too(tmp_path, kind):
    frame = pd.DataFrame(features(np.random.default_rng(0)))
    frame["origin"] = pd.Series(by_cluster("USA", "Japan", "USA")).astype(kind)
    estimator = RTKM(2, contamination=N_OUTLIERS, random_state=0)
    model = TableModel(estimator, columns=["x", "y"], scale="none")
    model.fit(frame).report(frame, tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    assert "100 % are &#39;origin&#39; = &#39;Japan&#39;" in page
