"""Rows between clusters: which they are, and how likely another answer is."""

from __future__ import annotations

import numpy as np
import pytest
from report_samples import make_findings

from rtkm import OKM, RTKM, FuzzyCMeans, TrimmedKMeans
from rtkm.report.between import MOST_LISTED, between, n_doubtful
from rtkm.report.summary import how_likely
from rtkm.report.table_results import results_of_fit
from rtkm.tables.frames import as_table
from rtkm.tables.preparation import prepare


def answers_of(model, X):
    prepared = prepare(as_table(X), scale="none")
    return results_of_fit(model.fit(prepared.X), prepared)


def test_a_row_worked_by_hand():
    # of -2, -1, 1, 2 and 4, and of 8, 9, 11 and 12
    X = np.array([-2.0, -1, 1, 2, 4, 8, 9, 11, 12])[:, None]
    model = TrimmedKMeans(2, contamination=0, random_state=0)
    answers = answers_of(model, X)
    (low, high) = sorted(model.cluster_centers_[:, 0])
    assert (low, high) == pytest.approx((0.8, 10.0))
    # squares about 0.8: 7.84 + 3.24 + .04 + 1.44 + 10.24; about 10: 10; of 9 rows
    variance = (22.8 + 10) / 9
    # row 5 (4) is 3.2 and 6 away
    likely = np.exp(-(36 - 10.24) / (2 * variance))
    assert likely < 0.1
    assert between(answers) is None
    # nearer to the middle, at 5: centers 1 and 10, squares 9 + 4 + 0 + 1 + 16 and 10
    X[4] = 5
    answers = answers_of(model, X)
    variance = (30 + 10) / 9
    likely = np.exp(-(25 - 16) / (2 * variance))
    told = between(answers)
    (row,) = told["rows"]
    own = int(model.labels_[4])
    assert (row["row"], row["id"]) == (5, None)
    assert (row["clusters"], row["second"]) == ([own], [1 - own])
    assert row["times_as_likely"] == pytest.approx(likely)
    assert row["times_as_far"] == pytest.approx(5 / 4)
    assert told["times_as_likely"] == row["times_as_likely"]
    assert how_likely(told, 1) == "another label is 0.36 times as likely"


ROWS = np.random.default_rng(0).normal(size=(3000, 2))


@pytest.mark.parametrize(
    "model",
    [
        RTKM(4, contamination=0.1, random_state=0),
        RTKM(4, contamination=0.1, n_memberships=2, random_state=0),
        FuzzyCMeans(4, random_state=0),
        OKM(4, random_state=0),
    ],
    ids=str,
)
def test_they_are_listed_by_doubt_with_another_answer(model):
    answers = answers_of(model, ROWS)
    told = between(answers)
    rows = told["rows"]
    assert n_doubtful(answers) >= len(rows) > 100
    assert len(rows) <= MOST_LISTED
    likely = [row["times_as_likely"] for row in rows]
    assert likely == sorted(likely, reverse=True)
    assert 0.1 < min(likely) <= max(likely) <= 1
    assert 0.1 < told["times_as_likely"] < 1
    for row in rows:
        assert row["clusters"] != row["second"]
        place = row["row"] - 1
        assert answers.labels[place] in row["clusters"]
        assert not answers.outliers[place]
    factors = model.discriminant_factors(ROWS)
    places = [row["row"] - 1 for row in rows]
    np.testing.assert_allclose(likely, np.exp(factors[places]), rtol=1e-9)


def test_the_second_of_two_memberships_is_exchanged_for_the_next_center():
    model = RTKM(4, contamination=0.1, n_memberships=2, random_state=0)
    answers = answers_of(model, ROWS)
    distances = model.transform(ROWS)
    for row in between(answers)["rows"]:
        own = distances[row["row"] - 1]
        first, last, following = np.sort(own)[:3]
        # centers may be equal
        assert np.sort(own[row["clusters"]]) == pytest.approx([first, last])
        assert np.sort(own[row["second"]]) == pytest.approx([first, following])
        assert row["times_as_far"] == pytest.approx(following / last)


def test_where_sets_are_compared_no_distance_is_told():
    rows = between(answers_of(OKM(4, random_state=0), ROWS))["rows"]
    assert all(row["times_as_far"] is None for row in rows)
    # the other set has one cluster more, one less, or another instead
    assert {len(set(row["clusters"]) ^ set(row["second"])) for row in rows} <= {1, 2}


def test_the_page_lists_them():
    from test_report_page import read

    findings = make_findings(seed=3)
    row = {
        **{"row": 7, "id": "x", "clusters": [0], "second": [2]},
        **{"times_as_likely": 0.5, "times_as_far": 1.25},
    }
    findings |= {"n_doubtful": 3, "between": {"times_as_likely": 0.5, "rows": [row]}}
    page = read(findings)
    assert (
        "3 inliers may as well be in another cluster. The 1 most doubtful" in page.words
    )
    assert "7x 0 20.501.25" in page.words
