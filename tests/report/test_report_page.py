"""The report: complete, honest about what it leaves out, and deaf to hostile text."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import re
from collections import Counter
from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from report_samples import hostile_findings, make_findings

from rtkm.report.page import preparation_table, render
from rtkm.report.pictures import SCATTER
from rtkm.report.templating import (
    N_COLORS,
    TEMPLATES,
    color_class,
    make_environment,
    number,
    printable,
    shortened,
)

VOID = {"meta", "link", "input", "br"}
HOSTILE = (
    "<script>window.hacked=1</script>",
    '"><img src=x onerror=window.hacked=1>',
    "'-alert(1)-'",
    "</title></style></script><svg onload=window.hacked=1>",
    "<!--",
    "]]>",
    "${window.hacked=1}",
    "&lt;b&gt; &amp;",
    "$title $$",
)


class Page(HTMLParser):
    """A page taken apart; raises if an element is not closed where it should be."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.cells = [], [], {}
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == [], self.open

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), (tag, names)
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.text += data

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]

    @property
    def ids(self):
        return [attrs["id"] for _, attrs in self.tags if "id" in attrs]

    @property
    def words(self):
        return " ".join(self.text.split())


def read(findings):
    """Render, and check what must hold of every page."""
    text = render(findings)
    text.encode()  # no half of a surrogate pair is left
    page = Page(text)
    assert max(Counter(page.ids).values()) == 1
    for tag, attrs in page.tags:
        for name, value in attrs.items():
            assert not name.startswith("on"), (tag, name)
            assert name != "style"  # the policy would refuse it
            if name in ("aria-labelledby", "aria-describedby", "for"):
                assert set(value.split()) <= set(page.ids), value
            if name in ("href", "src"):
                assert value == "data:," or value[1:] in page.ids, value
    assert Counter(tag for tag, _ in page.tags)["h1"] == 1
    assert len(page.all("script")) == 2
    for svg in page.all("svg"):
        assert svg["role"] == "img"
    for head in page.all("th"):
        assert head["scope"] in ("row", "col")
    assert "nan" not in re.findall(r"[a-z]+", path_data(page))
    assert "inf" not in re.findall(r"[a-z]+", path_data(page))
    return page


def path_data(page):
    return " ".join(attrs["d"] for attrs in page.all("path"))


def embedded(text):
    found = re.search(
        r'<script type="application/json" id="drawn">(.*?)</script>', text, re.S
    )
    return json.loads(found[1])


@pytest.fixture(scope="module")
def usual():
    return make_findings(overlap=True)


@pytest.fixture(scope="module")
def page(usual):
    return read(usual)


def changed(findings, **parts):
    """Return a copy of findings with other parts."""
    return copy.deepcopy(findings) | parts


# The whole page


def test_sections_come_in_order(page):
    sections = [attrs["id"] for attrs in page.all("section")]
    assert sections == [
        *("summary", "map", "clusters", "distributions", "outliers", "overlap"),
        *("objective", "method", "table"),
    ]


def test_the_page_has_landmarks_and_a_way_past_them(page):
    for tag in ("header", "nav", "main", "footer"):
        assert len(page.all(tag)) == 1
    assert page.all("html")[0]["lang"] == "en"
    assert page.all("a")[0]["href"] == "#content"


def test_nothing_comes_before_the_document_type(usual):
    assert render(usual).startswith("<!DOCTYPE html>\n<html")


def test_same_findings_give_the_same_bytes(usual):
    assert render(copy.deepcopy(usual)) == render(usual)


def test_findings_are_not_changed(usual):
    before = copy.deepcopy(usual)
    render(usual)
    assert usual == before


def test_a_large_table_gives_less_than_a_megabyte():
    findings = make_findings(
        n_rows=10_000, n_clusters=8, n_features=20, n_outliers=1000
    )
    assert len(findings["outliers"]["rows"]) == 1000
    assert len(findings["scatter"]["points"]["x"]) == 5000
    text = render(findings)
    assert len(text.encode()) < 1_000_000
    svg = re.search(r'<svg id="scatter".*?</svg>', text, re.S)[0]
    assert len(svg.encode()) < 100_000


def test_the_policy_allows_this_style_and_this_program_only(usual):
    text = render(usual)
    (policy,) = [
        attrs["content"]
        for attrs in Page(text).all("meta")
        if attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    for tag, rule in (("style", "style-src"), ("script", "script-src")):
        content = re.search(f"<{tag}>(.*?)</{tag}>", text, re.S)[1]
        sha256 = hashlib.sha256(content.encode()).digest()
        assert rules[rule] == f"'sha256-{base64.b64encode(sha256).decode()}'"


def test_the_program_writes_no_html():
    text = render(make_findings(n_rows=50, n_outliers=5))
    program = re.search("<script>(.*?)</script>", text, re.S)[1]
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval", "fetch"):
        assert way not in program
    assert "://" not in program.replace("http://www.w3.org/2000/svg", "")


# Text of the user's


@pytest.mark.parametrize("payload", HOSTILE)
def test_hostile_text_is_text(payload):
    page = read(hostile_findings(payload, n_rows=60, n_outliers=6))
    harmless = read(hostile_findings("x", n_rows=60, n_outliers=6))
    tags = Counter(tag for tag, _ in page.tags)
    assert tags == Counter(tag for tag, _ in harmless.tags)
    assert payload in page.text


def test_embedded_text_cannot_end_its_element():
    findings = make_findings(n_rows=20, n_outliers=4)
    findings["scatter"]["points"]["id"][3] = "</script>&\u2028<!--"
    text = render(findings)
    assert "</script>&\\u" not in text
    drawn = embedded(text)
    assert sum("</script>&" in id for id in drawn["ids"]) == 1


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.text(st.characters(codec=None), max_size=60))
def test_any_text_leaves_the_page_whole(text):
    # text that no table can hold among it
    told = json.dumps(hostile_findings("hostile", n_rows=60, n_outliers=6))
    read(json.loads(told.replace("hostile", json.dumps(text)[1:-1])))


def test_text_that_turns_other_text_around_is_disarmed():
    assert printable("a\u202eb\x00\x1bc\ud800") == "a\ufffdb\ufffd\ufffdc\ufffd"
    own = make_environment().get_template("macros.html").module.own
    assert own("a\u202eb") == "<bdi>a\ufffdb</bdi>"


def test_long_names_are_shortened_and_whole_in_the_title(usual):
    name = "x" * 9999 + "y"
    findings = json.loads(json.dumps(usual).replace("clump thickness", name))
    text = render(findings)
    assert f'title="{name}"' in text
    assert "xxx\N{HORIZONTAL ELLIPSIS}xxx" in text
    assert len(text) < 1_000_000


@given(st.text(), st.integers(4, 60))
def test_shortened_text_is_no_longer_than_asked(text, most):
    short = shortened(text, most)
    # marks without width may come on top, one on each letter
    assert len(short) <= 2 * most + 1
    if len(printable(text)) <= most // 2:
        assert short == " ".join(printable(text).split())


# Numbers


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0, "0"),
        (-0.0, "0"),
        (1234.5, "1,234"),
        (0.5, "0.5"),
        (1e-300, "1e-300"),
        (-1.23456e300, "-1.235e300"),
        (9_999_999, "9,999,999"),
        (None, "\N{EN DASH}"),
        (float("nan"), "\N{EN DASH}"),
    ],
)
def test_numbers_are_written_for_people(value, written):
    assert number(value) == written


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_written_numbers_are_close(value):
    read_back = float(number(value, 6).replace(",", ""))
    assert read_back == pytest.approx(value, rel=1e-4, abs=1e-320)


# Scatter


def test_every_point_is_drawn_with_its_row(usual):
    text = render(usual)
    drawn = embedded(text)
    told = usual["scatter"]["points"]
    paths = re.findall(r'data-label="(-?\d+)" d="([^"]*)"', text)
    counts = {int(label): d.count("M") for label, d in paths}
    assert counts == Counter(told["label"])
    assert int(paths[-1][0]) == -1  # outliers on top
    labels = dict(zip(told["row"], told["label"], strict=True))
    order = [int(label) for label, d in paths for _ in range(d.count("M"))]
    assert [labels[row] for row in drawn["rows"]] == order
    ids = dict(zip(told["row"], told["id"], strict=True))
    assert [ids[row] for row in drawn["rows"]] == drawn["ids"]


def test_a_sample_is_said_to_be_one():
    findings = make_findings(n_rows=6000)
    told = "Samples are drawn: 4,940 of 5,940 inliers and 60 of 60 outliers."
    assert told in read(findings).words
    assert "All 600 rows are drawn." in read(make_findings()).words


def test_far_outliers_do_not_squeeze_the_picture():
    findings = make_findings(n_rows=300, n_outliers=3)
    scatter = findings["scatter"]
    points, (across, _) = scatter["points"], scatter["axes"]
    far = points["label"].index(-1)
    points["x"][far] = 1e9
    low, high = across["low"], 1000 * across["high"]
    plain = {"plain_low": low, "plain_high": across["high"]}
    scatter["axes"][0] = {"low": low, "high": high, **plain}
    scatter["beyond"][0]["high"] = 1
    page = read(findings)
    assert "Beyond the dotted lines the scale is logarithmic" in page.words
    assert "Rows farther out still are drawn at the edge" in page.words
    assert "1 \N{RIGHTWARDS ARROW}" in page.words
    (largest, *_, outlying) = [p["d"] for p in page.all("path") if "data-label" in p]
    across = [int(x) for x in re.findall(r"M(-?\d+)", largest)]
    assert max(across) - min(across) > 100
    rightmost = max(int(x) for x in re.findall(r"M(-?\d+)", outlying))
    assert max(across) < rightmost < 2 * SCATTER.right


def test_one_feature_is_a_histogram_above_its_rows():
    findings = make_findings(n_features=1, n_clusters=2, n_outliers=5)
    page = read(findings)
    assert "Rows by clump thickness: how many in each column" in page.words
    columns = [p for p in page.all("path") if "stacked" in p.get("class", "")]
    assert len(columns) == 3  # two clusters, and the outliers on top of them
    heights = [float(y) for _, y in re.findall(r"([\d.]+) ([\d.]+)", columns[0]["d"])]
    rows = [p for p in page.all("path") if "data-label" in p]
    assert sum(p["d"].count("M") for p in rows) == 600
    lowest = min(int(y) for p in rows for y in re.findall(r"M-?\d+ (\d+)", p["d"]))
    assert max(heights) < lowest / 2  # in halves of pixels


def test_two_features_are_named_at_their_axes():
    words = read(make_findings(n_features=2, n_clusters=2)).words
    told = "Rows by clump thickness (across) and uniformity of cell size (up)"
    assert told in words


def test_directions_are_named_by_their_features(usual):
    page = read(usual)
    for direction in usual["scatter"]["directions"]:
        assert direction["feature"] is None
        for loading in direction["loadings"]:
            assert (
                f"{loading['feature']} ({number(loading['weight'], 2)})" in page.words
            )


# Clusters, distributions


def rows_of(text, name):
    body = re.search(rf'<table id="{name}">.*?<tbody>(.*?)</tbody>', text, re.S)[1]
    rows = re.findall(r"<tr.*?</tr>", body, re.S)
    return [
        [
            unescape(re.sub(r"<[^>]+>", "", cell)).strip()
            for cell in re.findall(CELL, row, re.S)
        ]
        for row in rows
    ]


CELL = r"<t[hd][^>]*>(.*?)</t[hd]>"


def small_findings(centers, spreads):
    """Return findings with one feature and given centers of clusters of one size."""
    findings = make_findings(
        n_rows=60, n_features=1, n_clusters=len(centers), n_outliers=6
    )
    for cluster, center, spread in zip(
        findings["clusters"], centers, spreads, strict=True
    ):
        cluster |= {"center": [center], "spread": [spread], "size": 18}
    return findings


def colors(findings):
    found = re.findall(r'class="number h(-?\d)"', render(findings))
    return [int(step) for step in found]


def test_profiles_of_clusters_by_hand():
    # mean 6; variance 9 within and (36 + 0 + 36) / 3 between: 6 is 1.04 of its root
    findings = small_findings([0, 6, 12], [3, 3, 3])
    assert colors(findings) == [-3, 0, 3]
    assert "0.00 \N{MINUS SIGN}1.06.00 012.00 +1.0" in read(findings).words
    # mean 4; variance (16 + 16 + 64) / 3: 0.71 and 1.41 of its root
    assert colors(small_findings([0, 0, 12], [0, 0, 0])) == [-2, -2, 3]


def test_large_clusters_count_for_more():
    findings = small_findings([0, 10], [1, 1])
    findings["clusters"][0]["size"] = 99 * findings["clusters"][1]["size"]
    # mean 0.1; variance 1 + 0.99 * 0.01 + 0.01 * 98.01 = 1.99
    assert colors(findings) == [0, 4]
    assert "+7.0" in read(findings).words


def test_profiles_without_spread_or_center():
    assert colors(small_findings([3, 3, 3], [0, 0, 0])) == [0, 0, 0]
    assert colors(small_findings([None, 3, 3], [None, None, None])) == [0, 0, 0]
    assert colors(small_findings([-1e308, 0, 1e308], [1, 1, 1])) == [-3, 0, 3]


def test_a_single_cluster_is_compared_with_nothing():
    words = read(small_findings([5], [1])).words
    assert "standard deviations of all inliers" not in words


def test_the_table_begins_as_it_was_given():
    findings = make_findings(n_features=3, n_rows=30, n_outliers=2, comment="a <b> c")
    page = read(findings)
    first = findings["first_rows"]
    assert first["columns"] == ["name", *findings["features"], "comment"]
    assert [row[0] for row in first["rows"]] == [
        f"patient {i}" for i in range(1001, 1006)
    ]
    assert "2 columns left out: name (text), comment (text)." in page.words
    assert page.text.count("a <b> c") >= 5


def test_one_feature_alone_is_why_a_row_is_far():
    findings = make_findings(n_features=1, n_rows=60, n_outliers=4)
    told = " ".join(findings["summary"])
    assert re.search(r"The farthest is row \S+ .*, due to '.*' alone: ", told)
    assert "100 %" not in told


def test_only_numbers_that_were_used_are_told_of_columns():
    findings = make_findings(n_features=3, n_rows=30, n_outliers=2)

    def heads(**changed):
        return preparation_table(findings["preparation"] | changed).heads

    usual = {"scale": "none", "missing": "error", "categories": {}}
    assert heads(**usual) == []
    assert heads(**usual | {"scale": "robust"}) == ["center", "spread"]
    assert heads(**usual | {"categories": {"c": ["a"]}}) == ["center", "spread"]
    assert heads(**usual | {"missing": "drop"}) == []
    assert heads(**usual | {"missing": {"x": "median", "*": "drop"}}) == ["if missing"]
    findings["preparation"] |= usual
    assert "Columns as they were prepared" not in read(findings).words


def test_of_many_columns_the_first_rows_show_some():
    findings = make_findings(n_rows=60, n_features=500, n_outliers=4)
    assert len(findings["first_rows"]["columns"]) == 40
    assert "of 502 columns the first 40" in read(findings).words


def test_sizes_are_all_told(usual):
    rows = rows_of(render(usual), "sizes")
    assert [row[2] for row in rows] == [str(c["size"]) for c in usual["clusters"]]


def test_many_features_are_said_to_be_left_out():
    text = render(make_findings(n_rows=60, n_features=1000, n_outliers=4))
    said = "the 40 features that tell clusters apart most, of 1,000"
    assert Page(text).words.count(said) == 2
    assert len(text) < 200_000


def test_fifty_clusters_fit():
    findings = make_findings(
        n_rows=4000, n_clusters=50, n_features=40, n_outliers=90, overlap=True
    )
    page = read(findings)
    assert "colors repeat after 12 clusters" in page.words
    assert "Shown are the 40 of 50 clusters that share most rows" in page.words
    tables = [attrs["id"] for attrs in page.all("table")]
    assert [name for name in tables if name.startswith("centers")] == [
        f"centers-{i}" for i in range(5)
    ]
    assert len(render(findings).encode()) < 1_000_000


def test_hundreds_of_clusters_are_cut_to_the_largest():
    findings = make_findings(n_rows=900, n_clusters=200, n_features=3, n_outliers=2)
    words = read(findings).words
    assert "Shown here are the 50 largest of 200 clusters." in words


def test_rows_beyond_the_edges_are_counted():
    findings = make_findings(n_features=1)
    findings["distributions"]["features"][0]["beyond"] = {"low": 0, "high": 1234}
    words = read(findings).words
    assert "1,234 rows beyond: 0 below, 1,234 above." in words


@pytest.mark.parametrize(
    "edges", [[1.0, 1.0, 1.0], [-1.7e308, 0.0, 1.7e308], [1e-300, 2e-300, 3e-300]]
)
def test_edges_of_any_size(edges):
    findings = make_findings(n_features=1, n_clusters=2)
    feature = findings["distributions"]["features"][0]
    feature["edges"] = edges
    feature["counts"] = {"0": [3, 0], "1": [0, 0], "-1": [1, 2]}
    page = read(findings)
    assert "feature-0" in page.ids


def test_edges_that_are_not_known():
    findings = make_findings(n_features=1)
    findings["distributions"]["features"][0]["edges"][0] = None
    assert "Nothing to draw." in read(findings).words


# Outliers


@pytest.mark.parametrize("letter", ["x", "\u0416", "\u6f22"])
def test_long_ids_keep_the_page_small(letter):
    findings = make_findings(
        n_rows=10_000, n_outliers=1000, n_features=20, id=letter * 50 + "{}"
    )
    assert findings["outliers"]["rows"][0]["id"].startswith(letter * 50)
    assert len(render(findings).encode()) < 2**20


def test_the_table_of_outliers_by_hand():
    findings = make_findings(n_rows=40, n_outliers=1)
    findings["outliers"]["rows"] = [
        {
            **{"row": 1217, "id": "A-17", "score": 41.2, "nearest": 1},
            **{"times_cutoff": 3.21, "rank": 2},
            "confidence": "doubtful",
            "reasons": [
                {"feature": "height", "share": 0.81, "value": 310.0, "center": 172.0}
            ],
            "filled": ["weight"],
            "change": {"feature": "height", "from": 310.0, "to": 203.1, "cluster": 1},
        }
    ]
    (row,) = rows_of(render(findings), "outlier-rows")
    assert [cell.replace("\N{NO-BREAK SPACE}", " ") for cell in row] == [
        *("1,217", "A-17", "41.20 3.2 times the cut-off, 2nd", "1", "doubtful"),
        "81 % height 310, center 172 filled in: weight",
        "height 310 \N{RIGHTWARDS ARROW} 203.1  1",
    ]
    # a small change is written so that it is seen
    findings["outliers"]["rows"][0]["change"]["to"] = 309.998
    (row,) = rows_of(render(findings), "outlier-rows")
    assert "310 \N{RIGHTWARDS ARROW} 309.998" in row[-1].replace(
        "\N{NO-BREAK SPACE}", " "
    )


def test_at_most_500_outliers_are_listed_and_that_is_said():
    findings = make_findings(n_rows=2000, n_outliers=1200)
    text = render(findings)
    assert len(rows_of(text, "outlier-rows")) == 500
    words = Page(text).words
    assert "1,200 rows (60 %) were trimmed, as you asked" in words
    assert "The 500 with the largest scores are listed." in words


def test_no_outliers():
    page = read(make_findings(n_outliers=0))
    assert "No row was trimmed, as you asked" in page.words
    assert "search" not in page.ids


def test_nearly_all_outliers():
    page = read(make_findings(n_rows=300, n_outliers=297))
    assert "297 outliers among them" in page.words


def test_detectors_have_neither_clusters_nor_objective():
    page = read(make_findings(n_clusters=0, ids=False))
    sections = [attrs["id"] for attrs in page.all("section")]
    assert sections == [
        "summary",
        "map",
        "distributions",
        "outliers",
        "method",
        "table",
    ]
    columns = [attrs["data-sorts"] for attrs in page.all("th") if "data-sorts" in attrs]
    assert columns == ["number", "number"]  # row and score


# What may be missing


def test_little_is_known(usual):
    findings = changed(usual, scatter=None, overlap=None, objective=None)
    for cluster in findings["clusters"]:
        cluster["center"] = cluster["spread"] = [None] * 10
        cluster["share"] = None
    for row in findings["outliers"]["rows"]:
        row |= {"id": None, "score": None, "nearest": None, "confidence": None}
        row |= {"reasons": [], "change": None, "times_cutoff": None, "rank": None}
    findings["outliers"] |= {"cutoff": None, "share": None}
    findings["seconds"] = {"read": None}
    findings["preparation"] |= {"center": [None] * 10, "spread": [None] * 10}
    page = read(findings)
    assert "scatter" not in page.ids


def test_points_without_a_place_are_not_drawn(usual):
    findings = changed(usual)
    points = findings["scatter"]["points"]
    points["x"][0] = points["y"][1] = None
    findings["scatter"]["centers"][0] = [None, None]
    n_outliers = sum(points["label"][row] == -1 for row in (0, 1))
    told = f"{540 - 2 + n_outliers} of 540 inliers and {60 - n_outliers} of 60 outliers"
    assert told in read(findings).words


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_numbers_of_any_size(usual, scale):
    findings = json.loads(json.dumps(usual), parse_float=lambda s: float(s) * scale)
    read(findings)


# The objective


@pytest.mark.parametrize(
    ("path", "logs"),
    [([5.0, 4.0, 3.0], False), ([1e6, 10.0, 3.0], True), ([1e6, 0.0], False)],
)
def test_a_logarithmic_scale_where_it_helps(usual, path, logs):
    objective = {"value": path[-1], "path": path, "n_iter": 2, "converged": False}
    words = read(changed(usual, objective=objective)).words
    assert ("on a logarithmic scale; lower" in words) is logs
    assert "It had not settled yet." in words


@pytest.mark.parametrize("path", [[], [1.0], [None, 3.0], [2.0] * 3, [1.0] * 5000])
def test_odd_paths(usual, path):
    objective = {"value": 1.0, "path": path, "n_iter": 1, "converged": True}
    text = render(changed(usual, objective=objective))
    read(changed(usual, objective=objective))
    assert 'id="objective-path"' not in text  # nothing falls


def test_a_path_up_to_the_largest_number_is_drawn(usual):
    path = [1.7e308, 1e300, 1e285]
    objective = {"value": 1e285, "path": path, "n_iter": 2, "converged": True}
    text = render(changed(usual, objective=objective))
    drawn = re.search('<svg id="objective-path".*?</svg>', text, re.S)[0]
    powers = [int(power) for power in re.findall(r">1e(\d+)</text>", drawn)]
    assert len(powers) >= 3
    assert max(powers) <= 308


# Looks


def variables(css):
    """Return the colors of both schemes by name."""
    blocks = re.findall(r":root \{(.*?)\}", css, re.S)
    found = [dict(re.findall(r"--([\w-]+): (#\w{6})", block)) for block in blocks]
    light, dark = found[0], found[0] | found[1]
    return {"light": light, "dark": dark}


def luminance(color):
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    bright, dim = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(usual, scheme):
    css = re.search("<style>(.*?)</style>", render(usual), re.S)[1]
    colors = variables(css)[scheme]
    assert len(colors) >= 29
    for text in ("ink", "quiet", "link"):
        for ground in ("paper", "card"):
            assert contrast(colors[text], colors[ground]) >= 4.5, (text, ground)
    for ground in ("mark", *(f"h{step}" for step in range(-4, 5))):
        assert contrast(colors["ink"], colors[ground]) >= 4.5, ground
    assert contrast(colors["quiet"], colors["mark"]) >= 4.5
    for i in range(12):
        assert contrast(colors[f"c{i}"], colors["paper"]) >= 3, i


def test_there_are_as_many_colors_as_clusters_are_given():
    css = (TEMPLATES / "colors.css").read_text()
    for scheme in variables(css).values():
        colors = {int(name[1:]) for name in scheme if re.fullmatch(r"c\d+", name)}
        assert colors == set(range(N_COLORS))
    classes = {color_class(label) for label in range(N_COLORS + 1)}
    assert classes == {f"c{i}" for i in range(N_COLORS)}
    assert color_class(-1) == "outlying"
    for name in classes | {"outlying", "together"}:
        assert f".{name} {{ color: var(--" in css


def test_the_contrast_of_black_and_white_is_21():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
