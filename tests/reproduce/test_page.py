"""The page holds every figure and table, and nothing that comes from outside."""

from __future__ import annotations

import re
from collections import Counter

import pytest

pytest.importorskip("matplotlib")

from pages import CLAIMS, FIGURES, HOSTILE, TABLES, Reader, make_results, write_sample

from rtkm.reproduce._gallery import exhibits
from rtkm.reproduce._page import make_page

NOT_TOLD = "\N{EN DASH}"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return write_sample(tmp_path_factory.mktemp("page")).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def read(page):
    return Reader(page)


def test_every_figure_is_there_with_a_picture_and_a_caption(read):
    assert read.ids("figure") == FIGURES
    tags = Counter(tag for tag, _ in read.tags)
    assert tags["svg"] == tags["figcaption"] == len(FIGURES)


def test_every_table_is_there_with_heads_and_a_caption(read):
    assert read.ids("table") == TABLES
    tags = Counter(tag for tag, _ in read.tags)
    assert tags["caption"] == tags["thead"] == len(TABLES)
    assert all(attrs.get("scope") for tag, attrs in read.tags if tag == "th")


def test_every_picture_says_what_it_shows(read):
    labels = [attrs.get("aria-label") for tag, attrs in read.tags if tag == "svg"]
    assert all(labels)
    assert len(set(labels)) == len(labels)


def test_no_two_elements_share_an_id_and_every_reference_is_kept(read, page):
    ids = Counter(attrs["id"] for _, attrs in read.tags if "id" in attrs)
    assert [name for name, count in ids.items() if count > 1] == []
    used = set(re.findall(r'(?:url\(|href=")#([^")]+)', page))
    assert used
    assert used <= set(ids)


def test_nothing_is_fetched_and_nothing_runs(read, page):
    outside = [url for url in read.fetched() if not url.startswith(("#", "data:"))]
    assert outside == []
    tags = {tag for tag, _ in read.tags}
    assert tags.isdisjoint({"script", "link", "iframe", "img", "object", "embed"})
    assert not re.search(r"@import|url\((?!#)", page)
    assert not [name for _, attrs in read.tags for name in attrs if name[:2] == "on"]


def test_only_citations_lead_outside(read):
    links = [attrs["href"] for tag, attrs in read.tags if tag == "a"]
    outside = [link for link in links if not link.startswith("#")]
    assert {link.split("/")[2] for link in outside} == {"arxiv.org", "github.com"}


def test_contents_lead_to_every_section(read):
    links = {attrs["href"] for tag, attrs in read.tags if tag == "a"}
    assert {f"#{name}" for name in read.ids("section")} <= links


def test_hostile_names_are_shown_as_they_are(read):
    assert read.rows["claims"][2][0] == HOSTILE
    assert [HOSTILE, HOSTILE] in read.rows["versions"]
    assert HOSTILE in read.rows["numbers-wbc-as-described-me"][1]


def test_the_verdicts_are_counted_and_listed(read):
    assert "Reproduced: 1; not reproduced: 1; true only under a condition: 1" in (
        " ".join(read.text.split())
    )
    shown = [row[1].split(" ", 1)[1] for row in read.rows["claims"][1:]]
    assert shown == [claim["verdict"] for claim in CLAIMS]


def test_numbers_stand_beside_the_published_ones(read):
    heads, row = read.rows["numbers-wbc-as-described-f1"][1:]
    assert heads[:2] == ["RTKM", "NEO-k-means"]
    # 0.6 and 0.7 over two starts; then the published F1 at the first share
    assert row[:2] == ["0.25", "0.65000.6000 to 0.7000"]
    assert row[4:] == ["0.8818", "0.8818", "0.3959"]


def test_micro_scores_are_shown_where_the_published_ones_are_micro(read):
    row = read.rows["numbers-shuttle-as-published-f1_micro"][2]
    assert row[1] == "0.75000.7000 to 0.8000"
    # the third of the published shares is 0.02
    assert row[4] == "0.68780.6871 to 0.6887"


def test_the_table_of_nine_methods_has_cardinality_and_the_trivial_answer(read):
    _, *methods, trivial = read.rows["numbers-overlap-yeast"]
    assert len(methods) == 9
    assert methods[0] == ["RTKM", "0.35000.3000 to 0.4000", "0.317", "2.5000"]
    assert methods[3][2] == NOT_TOLD  # MOC on yeast was not published
    assert trivial[1:] == ["0.3771", NOT_TOLD, "14.0000"]


def test_captions_name_protocol_starts_and_what_is_dashed():
    for exhibit in exhibits(make_results()):
        if exhibit.experiment in ("wbc", "shuttle", "yeast_noise"):
            assert exhibit.protocol in exhibit.caption
            assert "2 starts" in exhibit.caption
            assert "Dashed" in exhibit.caption


@pytest.mark.parametrize("quick", [True, False])
def test_a_quick_run_says_so(quick):
    results = make_results() | {"quick": quick}
    svgs = {exhibit.name: "<svg></svg>" for exhibit in exhibits(results)}
    page = make_page(results, svgs, [])
    assert ("quick run" in page) == quick
    assert ("rtkm reproduce --quick" in page) == quick


def test_a_missing_picture_is_named():
    with pytest.raises(ValueError, match="No picture of process, wbc-as-described"):
        make_page(make_results(), {}, [])


def test_the_same_run_gives_the_same_page(page, tmp_path):
    assert write_sample(tmp_path).read_text(encoding="utf-8") == page


def test_half_a_run_has_a_page_of_its_own():
    results = make_results()
    results["cells"] = {
        key: cell for key, cell in results["cells"].items() if key.startswith("wbc")
    }
    svgs = {exhibit.name: "<svg></svg>" for exhibit in exhibits(results)}
    read = Reader(make_page(results, svgs, CLAIMS))
    assert read.ids("section") == {"verdicts", "wbc", "repeat"}
