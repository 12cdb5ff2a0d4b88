"""How many clusters, how many outliers: sentences and pictures of the choice."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
from report_samples import hostile_findings, make_findings

from rtkm.choosing.choice import Choice, SmallGroups
from rtkm.choosing.sentences import (
    COMMAND_LINE,
    on_clusters,
    on_columns,
    on_outliers,
    on_small_groups,
)
from rtkm.report.choice_pictures import (
    draw_curves,
    draw_gap,
    draw_plateau,
    draw_scores,
)
from rtkm.report.choices import labels_of
from rtkm.report.page import render, scores_to_draw
from rtkm.report.plots import N_OTHER_SCORES, N_TOP_SCORES, drawn_ranks

pytest_plugins = ("visits",)
WIDE = "document.documentElement.scrollWidth"


@pytest.fixture(scope="module")
def chosen():
    return make_findings(choose=True)


@pytest.fixture
def choice(chosen):
    return copy.deepcopy(chosen["choice"])


# Sentences


CHOICE = Choice(
    n_clusters=3,
    n_outliers=0,
    n_rows=100.0,
    init=np.zeros((3, 2)),
    n_separate=3,
    small_groups=SmallGroups(np.empty(0), np.empty((0, 2))),
    share_path=(0.1, 0.0),
    pairs=({"clusters": (0, 1), "between": 1.0, "around": (9.0, 9.0), "chance": 0.0},),
)


def told(**changes):
    """What is told of a choice on the command line."""
    choice = replace(CHOICE, **changes)
    return " ".join(
        [
            *on_clusters(choice, COMMAND_LINE),
            *on_outliers(choice),
            *on_small_groups(choice, COMMAND_LINE),
        ]
    )


def groups(*sizes):
    return SmallGroups(np.array(sizes), np.zeros((len(sizes), 2)))


def test_a_choice_is_told_in_the_words_of_a_command_line(chosen):
    text = told(alternatives=(4,), small_groups=groups(22.0))
    assert "it could also be 4 if small groups count as clusters." in text
    assert "22 rows alike" in text
    assert "-k 4, or a lower --min-cluster, makes them a cluster." in text
    assert "_" not in " ".join(chosen["choice"]["summary"])
    text = told(small_groups=groups(22.0, 5.0))
    assert "2 small groups, of 22 and 5 rows alike" in text
    assert "-k 5, or a lower --min-cluster, makes them clusters." in text
    assert "alike" not in told(small_groups=groups(1.0))


def test_what_else_it_could_be_is_told_with_what_tells_it_apart():
    text = told(alternatives=(2, 5))
    assert "2 if only the clearest gaps and larger groups count" in text
    assert "5 if narrower gaps count" in text
    text = told(alternatives=(12, 6, 8), n_clusters=9, n_separate=9)
    assert text.startswith(
        "9 clusters with gaps between them; it could also be 12 if narrower gaps "
        "count, or 6 or 8 if only the clearest gaps and larger groups count."
    )
    assert "17, 15 or 14 if narrower gaps count." in told(alternatives=(17, 15, 14))


def test_a_column_of_several_features_is_named_once():
    names = ["age", "kind", "kind", "kind", "place"]
    assert on_columns(np.arange(5), names) == "columns 'age', 'kind', 'place'"
    assert on_columns(np.array([1, 2]), names) == "column 'kind'"
    assert on_columns(np.arange(7), None) == "columns 0, 1, 2, 3, 4, ..."


def test_numbers_without_gaps_claim_none():
    text = told(n_clusters=5, pairs=())
    assert text.startswith(
        "5 clusters, the nearest of the numbers to choose from: gaps"
    )
    assert "were found between 3 groups." in text
    assert "likely" not in text
    text = told(n_clusters=2, n_separate=1, pairs=())
    assert "no gaps were found between groups." in text
    text = told(n_clusters=4)
    assert text.startswith("4 clusters with gaps between them, counting small groups")


def test_a_number_that_was_asked_for_is_held_against_the_gaps():
    given = {"given": ("n_clusters",)}
    assert told(**given).startswith("3 clusters, as you asked, with gaps between them.")
    text = told(n_clusters=2, n_separate=1, pairs=(), **given)
    assert text.startswith("2 clusters, as you asked, but no gaps were found between")
    text = told(n_clusters=2, pairs=(), **given)
    assert text.startswith(
        "2 clusters, as you asked; gaps were found between 3 groups."
    )
    text = told(n_clusters=1, n_separate=None, pairs=(), **given)
    assert text.startswith("1 cluster, as you asked.")


def test_one_cluster_offers_segments():
    choice = make_findings(choose=True, n_clusters=1, n_outliers=0)["choice"]
    first, second = choice["on_clusters"]
    assert first.startswith("No separate groups")
    assert second.startswith("If you want segments anyway")
    assert draw_gap(choice) is None


def test_rows_that_stand_out_are_counted():
    assert told().endswith("No row stands out.")
    text = told(n_outliers=1, heavy_tails=True)
    assert "1 row (1 %) stands out from the rest; other rows far out look" in text
    assert "No row stands out; rows far out look like" in told(heavy_tails=True)
    asked = {"given": ("contamination",), "share_path": ()}
    assert told(n_outliers=9, **asked).endswith(
        "9 rows (9 %) to be trimmed, as you asked."
    )


def test_few_rows_get_one_warning_and_no_claim():
    findings = make_findings(choose=True, n_rows=12, n_outliers=0)
    (warning,) = findings["choice"]["summary"]
    assert warning.startswith("12 rows are too few to choose from")
    assert findings["summary"] == [warning]
    assert "No row is an outlier" not in render(findings)


def test_pairs_have_the_labels_of_the_fit():
    chosen = np.array([[0.0, 0.0], [9.0, 9.0], [5.0, 0.0]])
    assert labels_of(chosen, chosen[[2, 0, 1]] + 0.1) == [1, 2, 0]
    assert labels_of(chosen, None) == [0, 1, 2]
    # other clusters than those of the choice
    assert labels_of(chosen, chosen[[0, 0, 0]]) is None
    assert labels_of(chosen, chosen[:2]) is None


# Pictures


def test_the_plateau_has_a_dot_for_each_number_of_cells(choice):
    drawn = draw_plateau(choice)
    trials = choice["trials"]
    agreeing = [t for t in trials if t["n_groups"] == choice["n_clusters"]]
    assert len(drawn.agreeing) == len(agreeing) > 1
    assert len(drawn.agreeing) + len(drawn.others) == len(trials)
    assert drawn.chosen == "3 clusters"
    assert {y for _, y in drawn.agreeing} == {drawn.chosen_at}
    choice["trials"] = trials[:1]
    assert draw_plateau(choice) is None


def test_the_weakest_pair_alone_has_a_histogram(choice):
    first, *others = choice["pairs"]
    assert sum(first["histogram"]) > 0
    assert all(pair["histogram"] is pair["bin_width"] is None for pair in others)
    drawn = draw_gap(choice)
    assert drawn.labels == first["clusters"]
    left, right = drawn.centers
    assert drawn.middle == pytest.approx((left + right) / 2)
    assert drawn.frame.left < left < right < drawn.frame.right


def test_the_score_of_every_row_of_a_short_table_is_drawn():
    findings = make_findings(n_rows=90, n_outliers=9)
    scores = findings["sorted_scores"]
    drawn = draw_scores(scores, findings["outliers"]["cutoff"])
    n_crosses = drawn.crosses.count("M")
    assert n_crosses + len(drawn.rings) + drawn.dots.count("M") == 90
    assert n_crosses == sum(scores["stands_out"])
    assert scores["score"] == sorted(scores["score"], reverse=True)
    assert sum(scores["outlier"]) == 9


def test_large_costs_have_few_letters(choice):
    factor = 1e8 / choice["curves"]["costs"][0][0]
    costs = [[cost * factor for cost in line] for line in choice["curves"]["costs"]]
    choice["curves"]["costs"] = costs
    texts = [tick.text for tick in draw_curves(choice).ticks_up]
    assert texts
    assert max(map(len, texts)) <= 6


def test_outliers_that_were_chosen_are_drawn_alike(chosen):
    findings = copy.deepcopy(chosen)
    scores = findings["sorted_scores"]
    assert findings["outliers"]["decided_by"] == "choice"
    scores["stands_out"] = [not is_outlier for is_outlier in scores["outlier"]]
    drawn = scores_to_draw(findings)
    assert drawn["outlier"] == scores["outlier"]
    assert drawn["stands_out"] is None
    page = render(findings)
    assert "but does not stand out" not in page
    assert 'class="ringed"' not in page


@pytest.mark.parametrize("n_rows", [1, 100, 101, 300, 10**6])
def test_long_tables_are_thinned(n_rows):
    ranks = drawn_ranks(n_rows)
    assert ranks[0] == 1
    assert ranks[-1] == n_rows
    assert (np.diff(ranks) > 0).all()
    assert len(ranks) <= N_TOP_SCORES + N_OTHER_SCORES


@pytest.mark.parametrize(
    ("values", "cutoff"),
    [
        ([5.0, 1.0, 0.0], 2.0),  # zero has no logarithm
        ([1.0, 0.0], None),
        ([1.0, 0.0], 0.0),
        ([1e308, 1e-308, 0.0], 1.0),
        ([1.7e308, 1.6e308], 1.65e308),
        ([3.0, -2.0], 1.0),  # as detectors may score
        ([5e-324, 0.0], 5e-324),
        ([3.0, 2.9], 2.95),
    ],
)
def test_odd_scores_have_places_within_the_frame(values, cutoff):
    n_rows = len(values)
    scores = {"n_rows": n_rows, "rank": list(range(1, n_rows + 1)), "score": values}
    scores |= {"outlier": [True] + [False] * (n_rows - 1), "stands_out": None}
    drawn = draw_scores(scores, cutoff)
    paths = (drawn.crosses + drawn.dots).replace("m-3-3l6 6m0-6l-6 6", "")
    heights = [float(p.split()[1]) for p in paths.replace("h0", "").split("M")[1:]]
    assert len(heights) == n_rows
    assert all(drawn.frame.top <= y <= drawn.frame.bottom for y in heights)
    assert heights == sorted(heights)


def test_equal_scores_are_left_out(chosen):
    findings = chosen | {"sorted_scores": None}
    assert 'id="sorted-scores"' not in render(findings)
    assert draw_scores(None, 1.0) is None


# In a browser


def test_the_section_is_there_and_fits_a_phone(visit, chosen):
    page = visit(chosen, viewport={"width": 360, "height": 700})
    section = page.get_by_role("region", name="How many clusters, how many outliers?")
    assert section.count() == 1
    assert page.evaluate(WIDE) <= 360
    for name in ("plateau", "gap", "sorted-scores"):
        box = page.locator(f"#{name}").bounding_box()
        assert box["width"] > 300
        told = page.locator(f"#{name}-told").text_content()
        assert told.endswith(".")
    dots = page.locator("#plateau circle")
    assert dots.count() == len(chosen["choice"]["trials"])


def test_given_numbers_have_scores_and_no_choice(visit):
    page = visit(make_findings())
    assert page.locator("#choice").count() == 0
    assert page.locator("#sorted-scores").count() == 1
    assert "were trimmed, as you asked" in page.locator("#outliers").inner_text()


def test_hostile_text_in_a_choice_stays_text(visit):
    payload = "<img src=x onerror=window.hacked=1>"
    findings = hostile_findings(payload, n_rows=200, n_outliers=6)
    findings["choice"] = make_findings(choose=True)["choice"]
    findings["choice"]["summary"].append(payload)
    page = visit(findings)
    assert payload in page.locator("#choice").inner_text()
    assert page.evaluate("window.hacked") is None
