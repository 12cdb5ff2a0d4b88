"""The report in a browser: sorted, searched, pointed at, printed and attacked."""

from __future__ import annotations

import pytest
from report_samples import COMMAND, hostile_findings, make_findings

pytest_plugins = ("visits",)

PAYLOADS = (
    "<script>window.hacked=1</script>",
    '"><img src=x onerror=window.hacked=1>',
    "' onmouseover='window.hacked=1",
    "</script><script>window.hacked=1</script>",
    "</title></style><svg onload=window.hacked=1>",
    "<iframe srcdoc='<script>parent.hacked=1</script>'>",
    "javascript:window.hacked=1",
    "<a href=javascript:window.hacked=1>x</a>",
    "--><script>window.hacked=1</script><!--",
    "<style>*{display:none}</style>",
    "{{constructor.constructor('window.hacked=1')()}}",
    "\u202ehacked\u2028\u0000<b>",
)
WIDE = "document.documentElement.scrollWidth"
ELEMENTS = "document.querySelectorAll('*').length"


def column(page, position):
    cells = page.locator(
        f"#outlier-rows tbody tr:not([hidden]) > :nth-child({position})"
    )
    return cells.all_inner_texts()


def numbers(texts):
    return [float(text.replace(",", "")) for text in texts]


def sort_by(page, name):
    page.get_by_role("button", name=name, exact=True).click()
    table = page.locator("#outlier-rows")
    head = table.get_by_role("columnheader", name=name, exact=True)
    return head.get_attribute("aria-sort")


# The table


def scores(page):
    """Return the scores, without what stands below them."""
    return [cell.splitlines()[0] for cell in column(page, 3)]


def test_numbers_are_sorted_as_numbers(visit):
    page = visit()
    assert sort_by(page, "score") == "ascending"
    rising = numbers(scores(page))
    assert rising == sorted(rising)
    assert sort_by(page, "score") == "descending"
    assert numbers(scores(page)) == sorted(rising, reverse=True)
    assert sort_by(page, "row") == "ascending"
    assert numbers(column(page, 1)) == sorted(numbers(column(page, 1)))
    assert page.locator("th[aria-sort]").count() == 1


def test_text_is_sorted_as_text_with_the_unknown_last(visit):
    findings = make_findings(n_rows=40, n_outliers=4)
    for row, id in zip(
        findings["outliers"]["rows"], ("b 10", None, "B 9", "a"), strict=True
    ):
        row["id"] = id
    page = visit(findings)
    sort_by(page, "id")
    assert column(page, 2) == ["a", "B 9", "b 10", "\N{EN DASH}"]
    sort_by(page, "id")
    assert column(page, 2) == ["b 10", "B 9", "a", "\N{EN DASH}"]


def test_every_column_can_be_sorted_with_the_keyboard(visit):
    page = visit()
    heads = page.locator("#outlier-rows thead button")
    assert heads.count() == 7
    for i in range(7):
        heads.nth(i).focus()
        page.keyboard.press("Enter")
        sorts = page.locator("#outlier-rows thead th").nth(i).get_attribute("aria-sort")
        assert sorts == "ascending"


def test_searching_counts_what_it_finds(visit):
    findings = make_findings()
    page = visit(findings)
    assert page.locator("#found").inner_text() == "60 of 60 lines"
    wanted = findings["outliers"]["rows"][7]
    page.get_by_label("Search the outliers").fill(wanted["id"].upper())
    assert page.locator("#found").inner_text() == "1 of 60 lines"
    assert numbers(column(page, 1)) == [wanted["row"]]
    page.get_by_label("Search the outliers").fill("<b>nothing</b>")
    assert page.locator("#found").inner_text() == "No line holds “<b>nothing</b>”."
    assert column(page, 1) == []
    page.get_by_label("Search the outliers").fill("")
    assert len(column(page, 1)) == 60


# The points


def point_of(page, row):
    """Return where a row is drawn on the screen."""
    return page.evaluate(
        """row => {
          const svg = document.getElementById("scatter");
          const rows = JSON.parse(document.getElementById("drawn").textContent).rows;
          const marks = [...svg.querySelectorAll("path[data-label]")].flatMap(
            path => [...path.getAttribute("d").matchAll(/M(-?\\d+) (-?\\d+)/g)]);
          const [, x, y] = marks[rows.indexOf(row)];
          const group = svg.querySelector(".points").getScreenCTM();
          return [group.a * x + group.e, group.d * y + group.f];
        }""",
        row,
    )


def lone_outlier(findings):
    """Return an outlier within the frame that no other point is drawn near to."""
    points = findings["scatter"]["points"]
    places = list(zip(points["x"], points["y"], points["row"], strict=True))
    inner = [abs(x) < 10 and abs(y) < 10 for x, y, _ in places]

    def gap(place):
        x, y, row = place
        return min(abs(a - x) + abs(b - y) for a, b, other in places if other != row)

    outlying = [
        place
        for place, label, within in zip(places, points["label"], inner, strict=True)
        if label == -1 and within
    ]
    row = max(outlying, key=gap)[2]
    return next(one for one in findings["outliers"]["rows"] if one["row"] == row)


def test_pointing_at_an_outlier_tells_id_and_reason_and_leads_to_its_line(visit):
    findings = make_findings()
    outlier = lone_outlier(findings)
    page = visit(findings)
    page.locator("#scatter").scroll_into_view_if_needed()
    x, y = point_of(page, outlier["row"])
    page.mouse.move(x - 40, y - 40)
    page.mouse.move(x + 2, y - 2)
    tip = page.locator("#tip")
    assert tip.get_attribute("aria-live") == "polite"
    told = tip.inner_text()
    assert outlier["id"] in told
    assert f"row {outlier['row']}, outlier" in told
    assert outlier["reasons"][0]["feature"] in told
    page.mouse.click(x, y)
    line = page.locator(f'tr[data-row="{outlier["row"]}"]')
    assert "found" in line.get_attribute("class")
    assert line.evaluate("line => line.contains(document.activeElement)")


def test_pointing_at_nothing_shows_nothing(visit):
    page = visit()
    page.locator("#scatter").scroll_into_view_if_needed()
    x, y = point_of(page, 1)
    page.mouse.move(x, y)
    page.mouse.move(x + 1, y)
    assert page.locator("#tip").inner_text() != ""
    page.mouse.move(2, 2)
    assert page.locator("#tip").inner_text() == ""


def test_a_touch_shows_the_tip_and_the_next_one_goes_on(visit):
    findings = make_findings()
    outlier = lone_outlier(findings)
    page = visit(findings, has_touch=True)
    page.locator("#scatter").scroll_into_view_if_needed()
    x, y = point_of(page, outlier["row"])
    page.touchscreen.tap(x, y)
    assert outlier["id"] in page.locator("#tip").inner_text()
    in_line = "document.activeElement.closest('tr[data-row]') !== null"
    assert not page.evaluate(in_line)
    page.touchscreen.tap(x, y)
    assert page.evaluate(in_line)


def test_keys_step_through_the_outliers(visit):
    findings = make_findings()
    first, second, *_ = findings["outliers"]["rows"]
    page = visit(findings)
    page.locator("#plot").focus()
    tip = page.locator("#tip")
    page.keyboard.press("ArrowRight")
    assert first["id"] in tip.inner_text()
    page.keyboard.press("ArrowDown")
    assert second["id"] in tip.inner_text()
    page.keyboard.press("ArrowLeft")
    assert first["id"] in tip.inner_text()
    page.keyboard.press("End")
    assert findings["outliers"]["rows"][-1]["id"] in tip.inner_text()
    page.keyboard.press("Escape")
    assert tip.inner_text() == ""
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    line = page.locator(f'tr[data-row="{first["row"]}"]')
    assert line.evaluate("line => line.contains(document.activeElement)")


def test_enter_finds_lines_that_the_search_has_hidden(visit):
    page = visit()
    page.get_by_label("Search the outliers").fill("nothing like it")
    page.locator("#plot").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert len(column(page, 1)) == 60


def test_a_line_shows_its_point(visit):
    findings = make_findings()
    row = findings["outliers"]["rows"][3]
    page = visit(findings)
    page.locator(f'tr[data-row="{row["row"]}"] button').click()
    assert row["id"] in page.locator("#tip").inner_text()
    assert page.locator(".ring").get_attribute("visibility") == "visible"
    assert page.locator("#plot").evaluate("plot => plot === document.activeElement")


def test_the_command_is_copied_or_selected(visit):
    page = visit()
    page.get_by_role("button", name="Copy the command").click()
    page.locator("#copied", has_text=".").wait_for()
    said = page.locator("#copied").inner_text()
    assert said in (
        "Copied.",
        "The browser refused: it is selected, copy it by hand.",
    )


def test_a_refused_clipboard_leaves_the_command_selected(visit):
    page = visit()
    page.evaluate(
        """() => {
          navigator.clipboard.writeText = () => Promise.reject(new Error("no"));
          document.execCommand = () => false;
        }"""
    )
    page.get_by_role("button", name="Copy the command").click()
    page.locator("#copied", has_text="by hand").wait_for()
    selected = page.evaluate("getSelection().toString()")
    assert selected == COMMAND


# Hostile text


def attacked(payload):
    # a table of text holds no zero bytes
    return hostile_findings(payload.replace("\0", ""), n_rows=80, n_outliers=8)


@pytest.mark.slow
def test_no_text_becomes_a_program_or_an_element(visit):
    harmless = visit(attacked("x")).evaluate(ELEMENTS)
    for payload in PAYLOADS:
        page = visit(attacked(payload))
        page.locator("#plot").focus()
        page.keyboard.press("ArrowRight")
        page.get_by_label("Search the outliers").fill(payload)
        page.get_by_role("button", name="id", exact=True).click()
        page.keyboard.press("Escape")
        assert page.evaluate("typeof window.hacked") == "undefined"
        page.locator("#plot").focus()
        page.keyboard.press("Escape")
        assert page.evaluate(ELEMENTS) == harmless, payload


def test_the_policy_refuses_programs_that_get_in_all_the_same(visit):
    page = visit()
    page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.hacked = 1";
          document.body.append(script);
        }"""
    )
    assert page.evaluate("typeof window.hacked") == "undefined"
    (made,) = visit.visits
    assert len(made.complaints) == 1
    assert "Content Security Policy" in made.complaints.pop()


def test_requests_to_others_are_seen(visit):
    address = "http://outside.example/x.png"
    page = visit(bypass_csp=True)
    with page.expect_console_message():  # of the failure
        page.evaluate("address => { new Image().src = address; }", address)
    (made,) = visit.visits
    assert made.requests.pop() == address
    assert "ERR_FAILED" in made.complaints.pop()


# Looks


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize(
    "options",
    [
        {"overlap": True},
        {"n_clusters": 1, "n_features": 1, "n_outliers": 4},
        {"n_clusters": 0},
        {"names": ["W" * 10_000, "\u202eabc" * 99, "a b " * 999], "n_features": 3},
    ],
    ids=["usual", "one feature", "detector", "long names"],
)
def test_the_page_is_not_wider_than_the_screen(visit, width, options):
    page = visit(make_findings(**options), viewport={"width": width, "height": 800})
    assert page.evaluate(WIDE) <= width
    page.locator("#plot").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(WIDE) <= width


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 1280])
def test_many_clusters_are_not_wider_than_the_screen(visit, width):
    findings = make_findings(
        n_rows=3000, n_clusters=50, n_features=40, n_outliers=90, overlap=True
    )
    page = visit(findings, viewport={"width": width, "height": 800})
    assert page.evaluate(WIDE) <= width


def test_light_and_dark(visit):
    grounds = {
        scheme: visit(color_scheme=scheme).evaluate(
            "getComputedStyle(document.body).backgroundColor"
        )
        for scheme in ("light", "dark")
    }
    assert grounds == {"light": "rgb(255, 255, 255)", "dark": "rgb(13, 17, 23)"}


def test_paper_is_white_and_has_all_lines_and_no_controls(visit):
    page = visit(color_scheme="dark")
    page.emulate_media(media="print")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(255, 255, 255)"
    assert not page.get_by_label("Search the outliers").is_visible()
    hidden = "box => box.scrollHeight - box.clientHeight"
    assert page.locator(".tall").evaluate(hidden) <= 1


@pytest.mark.slow
def test_the_page_prints(visit, tmp_path):
    pdf = visit().pdf(format="A4")
    assert pdf.startswith(b"%PDF-")
    assert pdf.count(b"/Type /Page\n") > 3


def test_all_is_there_without_a_program(visit):
    page = visit(java_script_enabled=False)
    assert page.locator("#outlier-rows tbody tr").count() == 60
    assert not page.get_by_label("Search the outliers").is_visible()
    assert not page.get_by_role("button", name="Copy the command").is_visible()
    for name in ("#scatter", "#feature-0", "#objective-path"):
        box = page.locator(name).bounding_box()
        assert min(box["width"], box["height"]) > 50
    assert page.locator("#outlier-rows button").count() == 0


def test_the_keyboard_reaches_all_and_shows_where_it_is(visit):
    page = visit(make_findings(n_rows=60, n_outliers=2))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.locator(".skip").bounding_box()["x"] >= 0
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id"))
        assert page.evaluate(
            """() => document.activeElement === document.body
            || getComputedStyle(document.activeElement).outlineStyle !== "none" """
        )
    assert {"plot", "search", "copy"} <= reached


def test_on_a_phone_the_reason_of_an_outlier_is_seen_without_scrolling(visit):
    page = visit()
    page.set_viewport_size({"width": 390, "height": 844})
    box = page.locator("#outlier-rows").locator("..")
    assert box.evaluate("box => box.scrollWidth - box.clientWidth") <= 0
    reason = page.locator("#outlier-rows .why").first.bounding_box()
    assert 0 <= reason["x"] < reason["x"] + reason["width"] <= 390
    # a line that no change mends says nothing of one
    assert page.locator("#outlier-rows td.none").count() > 0
    assert not page.locator("#outlier-rows td.none:visible").count()


@pytest.mark.parametrize(("table", "width"), [("sizes", 390), ("outlier-rows", 1280)])
def test_no_column_is_hidden_at_the_side(visit, table, width):
    findings = make_findings()
    findings["resampling"] = {"n_fits": 10, "n_rows": 99_999, "n_changing": 0}
    for cluster in findings["clusters"]:
        cluster |= {"size": 33_333, "stability": 0.97}
        cluster["confidence"] = {"core": 33_000, "border": 0, "doubtful": 333}
    page = visit(findings, viewport={"width": width, "height": 844})
    box = page.locator(f"#{table}").locator("..")
    assert box.evaluate("box => box.scrollWidth - box.clientWidth") <= 0
