"""The findings are what the model found, counted again here in the plainest way."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from report_samples import fit_findings

from rtkm import OKM, RTKM
from rtkm.datasets import make_outlier_blobs
from rtkm.report.page import histograms, render
from rtkm.report.plots import MOST_POINTS
from rtkm.report.summary import about_clusters, about_differences, about_outliers


def findings_of(folder, frame, model, **options):
    path = folder / "table.csv"
    frame.to_csv(path, index=False)
    return fit_findings(path, model, **options)


@pytest.fixture(scope="module")
def blobs(tmp_path_factory):
    """Three clusters of 300 rows in three features of different units, scaled."""
    X, _, _ = make_outlier_blobs(300, n_features=3, n_clusters=3, random_state=0)
    frame = pd.DataFrame(X * [1, 100, 0.01] + [0, 5000, 0], columns=["a", "b", "c"])
    frame.insert(0, "name", [f"r{i}" for i in range(300)])
    frame.loc[7, "b"] = np.nan
    model = RTKM(3, contamination=0.1, random_state=0)
    folder = tmp_path_factory.mktemp("blobs")
    answers, found = findings_of(folder, frame, model, missing="drop", id="name")
    assert found["preparation"]["scale"] == "robust"
    return frame, answers, found


def rows_of(frame):
    return frame.dropna()[["a", "b", "c"]].to_numpy()


def test_findings_are_plain_json(blobs):
    found = blobs[2]
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_sizes_centers_and_spreads_are_those_of_the_rows(blobs):
    frame, answers, found = blobs
    X, labels = rows_of(frame), answers.model.labels_
    assert found["source"]["n_rows"] == 300
    assert found["source"]["n_used"] == 299
    assert found["source"]["n_dropped"] == 1
    for cluster in found["clusters"]:
        mine = X[labels == cluster["label"]]
        assert cluster["size"] == len(mine)
        assert cluster["share"] == len(mine) / 299
        np.testing.assert_allclose(cluster["center"], mine.mean(axis=0), rtol=1e-9)
        np.testing.assert_allclose(cluster["spread"], mine.std(axis=0), rtol=1e-9)
        assert sum(cluster["confidence"].values()) == len(mine)


def test_outliers_are_listed_with_the_largest_parts_first(blobs):
    frame, answers, found = blobs
    model, X = answers.model, rows_of(frame)
    listed = found["outliers"]["rows"]
    assert found["outliers"]["count"] == len(listed) == model.n_outliers_ == 30
    scores = [row["score"] for row in listed]
    assert scores == sorted(scores, reverse=True)
    assert [row["rank"] for row in listed] == list(range(1, 31))
    for row in listed:
        assert row["times_cutoff"] * -model.offset_ == pytest.approx(row["score"])
        assert row["times_cutoff"] >= 1
    assert set(scores) == set(model.outlier_scores_[model.outlier_mask_])
    spread = np.array(found["preparation"]["spread"])
    for row in listed:
        assert row["id"] == frame["name"][row["row"] - 1]
        values = frame.loc[row["row"] - 1, ["a", "b", "c"]].to_numpy(float)
        center = np.array(found["clusters"][row["nearest"]]["center"])
        parts = ((values - center) / spread) ** 2
        assert parts.sum() == pytest.approx(row["score"], rel=1e-9)
        reasons = row["reasons"]
        shares = [reason["share"] for reason in reasons]
        assert shares == sorted(shares, reverse=True)
        for reason in reasons:
            j = "abc".index(reason["feature"])
            assert reason["share"] == pytest.approx(parts[j] / parts.sum(), rel=1e-9)
            assert reason["value"] == pytest.approx(values[j], rel=1e-11)
            assert reason["center"] == pytest.approx(center[j], rel=1e-11)
    assert len(X) == 299


def test_the_change_makes_an_inlier_and_a_little_less_does_not(blobs):
    frame, answers, found = blobs
    preparation = answers.prepared.preparation
    n_changes = 0
    for row in found["outliers"]["rows"]:
        change = row["change"]
        if change is None:
            continue
        n_changes += 1
        values = frame.loc[[row["row"] - 1], ["a", "b", "c"]].astype(float)
        assert change["from"] == pytest.approx(values[change["feature"]].iloc[0])
        for share, expected in [(1, 0), (1 - 1e-6, -1)]:
            new = values.copy()
            new[change["feature"]] = change["to"]
            if share < 1:
                new[change["feature"]] += (1 - share) * (change["from"] - change["to"])
            scaled = preparation.scaled(new.to_numpy())
            label = answers.model.predict(scaled)[0]
            assert (label == -1) == (expected == -1)
    assert n_changes > 0


def test_contrasts_rank_features_by_how_far_centers_are_apart(blobs):
    found = blobs[2]
    clusters = found["clusters"]
    for contrast in found["contrasts"]:
        j = found["features"].index(contrast["feature"])
        centers = [cluster["center"][j] for cluster in clusters]
        squares = sum(c["size"] * c["spread"][j] ** 2 for c in clusters)
        within = np.sqrt(squares / sum(c["size"] for c in clusters))
        apart = (max(centers) - min(centers)) / within
        assert contrast["apart"] == pytest.approx(apart)
    order = [contrast["apart"] for contrast in found["contrasts"]]
    assert order == sorted(order, reverse=True)


def test_centers_of_categories_are_told_as_shares(tmp_path):
    frame = pd.DataFrame({"x": np.arange(90.0) % 7, "kind": ["a", "b", "c"] * 30})
    model = RTKM(3, contamination=0, random_state=0)
    _, found = findings_of(tmp_path, frame, model, categories=["kind"])
    (sentence,) = about_differences(found)
    assert "'kind=a' (0 % to 100 %)" in sentence
    page = render(found)
    assert "of a category, the share of rows that are in it" in page
    table = page.split('id="centers-0"')[1].split("</table>")[0]
    assert "kind=a" in table
    assert "100\N{NO-BREAK SPACE}%" in table
    assert "Of a category, the bar is the share of rows that are in it." in page
    shares = [c["center"][found["features"].index("kind=a")] for c in found["clusters"]]
    (kind_a,) = [
        drawn
        for told, drawn in zip(
            found["distributions"]["features"], histograms(found), strict=True
        )
        if told["feature"] == "kind=a"
    ]
    ends = [float(strip.path.split("H")[1].split("V")[0]) for strip in kind_a.strips]
    wide = kind_a.right - kind_a.left
    np.testing.assert_allclose(ends, kind_a.left + wide * np.array(shares), atol=0.1)


def test_a_single_outlier_is_not_the_farthest(tmp_path):
    frame = pd.DataFrame({"x": [*np.arange(30.0), 1000.0], "y": 1.0})
    model = RTKM(1, contamination=1, random_state=0)
    _, found = findings_of(tmp_path, frame, model)
    sentences = about_outliers(found)
    assert sentences[1].startswith("The outlier is row 31, due to 'x' alone")
    found["outliers"]["rows"][0]["reasons"][0]["share"] = 0.9999
    assert "row 31, more than 99.9 % of whose" in about_outliers(found)[1]


def test_clusters_of_one_row_are_each_of_one(tmp_path):
    frame = pd.DataFrame({"x": np.arange(12.0) ** 2})
    _, found = findings_of(tmp_path, frame, RTKM(12, contamination=0))
    assert about_clusters(found)[0].endswith("as you asked, of 1 row each.")


def test_histograms_count_every_row_once(blobs):
    _, answers, found = blobs
    labels = answers.model.labels_
    # as they come back from scaling, which is what is counted
    X = answers.prepared.preparation.in_data_units(answers.prepared.X)
    shown = [entry["feature"] for entry in found["distributions"]["features"]]
    assert shown == [contrast["feature"] for contrast in found["contrasts"]]
    for entry in found["distributions"]["features"]:
        j = "abc".index(entry["feature"])
        edges = np.array(entry["edges"])
        for label in (-1, 0, 1, 2):
            expected = np.histogram(X[labels == label, j], edges)[0]
            assert entry["counts"][str(label)] == expected.tolist()
        n_inside = sum(map(sum, entry["counts"].values()))
        assert n_inside + sum(entry["beyond"].values()) == 299


def test_points_lie_along_the_principal_directions_of_the_inliers(blobs):
    _, answers, found = blobs
    inside = answers.prepared.X[~answers.model.outlier_mask_]
    values, vectors = np.linalg.eigh(np.cov(inside.T))
    scatter = found["scatter"]
    shares = [direction["share"] for direction in scatter["directions"]]
    np.testing.assert_allclose(shares, values[::-1][:2] / values.sum(), rtol=1e-6)
    points = np.array([scatter["points"]["x"], scatter["points"]["y"]]).T
    assert len(points) == 299
    expected = (answers.prepared.X - inside.mean(axis=0)) @ vectors[:, ::-1][:, :2]
    expected *= np.sign((expected * points).sum(axis=0))
    kept = ~answers.model.outlier_mask_
    width = np.ptp(points, axis=0)
    assert (np.abs(points - expected)[kept] < width / 1000).all()
    assert scatter["points"]["label"] == answers.model.labels_.tolist()
    assert scatter["points"]["row"][7] == 9  # row 8 was left out
    assert scatter["points"]["id"][7] == "r8"


def test_a_far_outlier_does_not_squeeze_histograms(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(100, 2)), columns=["a", "b"])
    frame.loc[3] = [1e9, 0]
    model = RTKM(1, contamination=1, random_state=0)
    _, found = findings_of(tmp_path, frame, model, scale="none")
    assert found["distributions"]["features"][0]["beyond"] == {"low": 0, "high": 1}


def test_large_numbers_keep_all_their_digits(tmp_path):
    first = 1_700_000_009_999_999.0
    times = first - np.arange(40.0) * 1e9
    times[0] += 1e15
    frame = pd.DataFrame({"t": times})
    model = RTKM(1, contamination=1, random_state=0)
    _, found = findings_of(tmp_path, frame, model, scale="none")
    row = found["outliers"]["rows"][0]
    assert row["reasons"][0]["value"] == row["change"]["from"] == times[0]
    edges = found["distributions"]["features"][0]["edges"]
    assert len(set(edges)) == len(edges)


def test_empty_clusters_are_told_alike_everywhere(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 1, 1, 1, 9]})
    with pytest.warns(UserWarning, match="distinct"):
        _, found = findings_of(
            tmp_path, frame, RTKM(3, contamination=0, random_state=0)
        )
    assert found["summary"][0] == (
        "RTKM divides 5 rows into 2 clusters, as you asked, of 4 and 1 rows. 1 cluster "
        "is empty."
    )
    assert "<dt>clusters</dt><dd>2</dd>" in render(found)


def test_overlap_counts_rows_in_two_clusters(tmp_path):
    X, _, _ = make_outlier_blobs(200, n_features=2, n_clusters=3, random_state=1)
    frame = pd.DataFrame(X, columns=["a", "b"])
    for model in (
        RTKM(3, contamination=0.1, n_memberships=2, random_state=0),
        OKM(3, random_state=0),
    ):
        answers, found = findings_of(tmp_path, frame, model)
        inside = answers.model.assignments_.astype(int)
        several = int((inside.sum(axis=1) > 1).sum())
        assert several > 0
        assert found["overlap"]["several"] == several
        assert found["overlap"]["matrix"] == (inside.T @ inside).tolist()


def test_without_overlap_there_is_no_matrix(blobs):
    assert blobs[2]["overlap"] is None


def test_large_tables_are_drawn_from_a_sample_and_counted_whole(tmp_path):
    X, _, _ = make_outlier_blobs(20_000, n_features=2, n_clusters=2, random_state=0)
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = RTKM(2, contamination=0.1, random_state=0)
    _, found = findings_of(tmp_path, frame, model)
    assert found["outliers"]["count"] == 2000
    assert len(found["outliers"]["rows"]) == 1000
    points = found["scatter"]["points"]
    assert found["scatter"]["n_rows"] == 20_000
    assert len(points["x"]) == MOST_POINTS
    assert sum(c["size"] for c in found["clusters"]) == 18_000


def test_outliers_are_drawn_near_the_clusters_as_well_as_far_out(tmp_path):
    X, _, _ = make_outlier_blobs(20_000, n_features=2, n_clusters=2, random_state=0)
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = RTKM(2, contamination=0.1, random_state=0)
    answers, found = findings_of(tmp_path, frame, model)
    points = found["scatter"]["points"]
    drawn = np.array(points["row"])[np.array(points["label"]) == -1] - 1
    assert 1000 <= len(drawn) <= 1020
    scores = answers.model.outlier_scores_
    ranks = np.argsort(np.argsort(-scores[answers.model.outlier_mask_]))
    rank_of = dict(zip(np.flatnonzero(answers.model.outlier_mask_), ranks, strict=True))
    drawn_ranks = np.array([rank_of[row] for row in drawn])
    assert set(range(20)) <= set(drawn_ranks.tolist())
    # half of all are drawn: about half of each quarter, the nearest one too
    quarters = np.bincount(drawn_ranks * 4 // 2000)
    assert ((quarters > 200) & (quarters < 300)).all()


def test_two_features_are_drawn_as_they_are(tmp_path):
    X, _, _ = make_outlier_blobs(300, n_features=2, n_clusters=2, random_state=0)
    frame = pd.DataFrame(X * [1, 500] + [0, 70_000], columns=["a", "b"])
    model = RTKM(2, contamination=0.1, random_state=0)
    _, found = findings_of(tmp_path, frame, model, scale="robust")
    scatter = found["scatter"]
    assert [direction["feature"] for direction in scatter["directions"]] == ["a", "b"]
    width = np.ptp(frame, axis=0)
    for axis, name in zip("xy", "ab", strict=True):
        drawn = np.array(scatter["points"][axis])
        assert np.abs(drawn - frame[name]).max() < width[name] / 1000
    centers = [cluster["center"] for cluster in found["clusters"]]
    assert np.abs(np.array(scatter["centers"]) - centers).max() < width["b"] / 1000


def test_rows_outside_the_picture_are_counted_drawn_or_not(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 2))
    X[:40, 0] = 1e7 * np.arange(1, 41)
    X[40:43, 1] = -1e7
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = RTKM(1, contamination=43, random_state=0)
    _, found = findings_of(tmp_path, frame, model, scale="none")
    assert found["scatter"]["beyond"] == [
        {"low": 0, "high": 40},
        {"low": 3, "high": 0},
    ]
    page = render(found)
    assert "40 →" in page
    assert "↓ 3" in page


def test_one_row_inside_draws_nothing(tmp_path):
    frame = pd.DataFrame({"a": [0.0, 5.0, 9.0], "b": [0.0, 5.0, 1.0]})
    _, found = findings_of(tmp_path, frame, RTKM(1, contamination=2, random_state=0))
    assert found["scatter"] is None
    assert found["clusters"][0]["size"] == 1


def test_rows_that_are_all_the_same_are_found_the_same(tmp_path):
    frame = pd.DataFrame({"a": [2.0] * 9, "b": [3.0] * 9})
    _, found = findings_of(tmp_path, frame, RTKM(1, contamination=0, random_state=0))
    assert found["clusters"][0]["center"] == [2.0, 3.0]
    assert found["outliers"] == {
        "count": 0,
        "share": 0.0,
        "cutoff": None,
        "decided_by": "asked",
        "standing_out": 0,
        "also_standing_out": 0,
        "due_to_skewness": None,
        "rows": [],
    }
    json.dumps(found, allow_nan=False)
