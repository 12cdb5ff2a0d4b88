"""The pictures show what the cells hold, and come out the same every time."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from pages import CLOUDS, PROCESS

from experiments.claims.figures import CURVES, TABLE
from experiments.claims.names import label, looked_up
from experiments.drawing import style
from experiments.drawing.curves import (
    SENSITIVITY,
    TRIVIAL,
    draw_sensitivity,
    draw_table,
    draw_units,
)
from experiments.drawing.gallery import draw_all, exhibits
from experiments.drawing.rows import (
    as_colored,
    draw_clouds,
    draw_outlier_maps,
    draw_process,
)
from experiments.drawing.style import save

PAPERS = "RTKM as described (step 1.1)"


def record(f1, me=0.5, objective=1.0):
    return {"f1": f1, "f1_micro": f1 / 2, "me": me, "objective": objective}


# out of order, as processes finish: at 0.25 the starts score 0.6 and 0.8
WBC = {
    f"wbc/as described/{share}/{start}": {
        "RTKM": record(0.4),
        "RTKM, step 1.1": record(f1),
        "RTKM, no swaps": record(0.2),
        "NEO": record(0.3),
    }
    for share, start, f1 in ((0.45, 0, 0.5), (0.25, 1, 0.8), (0.25, 0, 0.6))
} | {"wbc/as published/0.25/0": {"RTKM": record(0.9)}}
OVERLAP = {
    f"overlap/as described/{table}/{start}": {
        "RTKM": record(0.4),
        "RTKM, step 1.1": record(f1, objective=objective),
        "moc": record(0.35),
    }
    for table, start, f1, objective in (
        ("yeast", 0, 0.30, 1.0),
        ("yeast", 1, 0.32, 2.0),
        ("scene", 0, 0.60, 1.0),
    )
}
UNITS = {
    f"units/as described/{scale}/0": {
        "RTKM": {"objective": 2.0, "me": 0.1, "fractional": 0.0},
        "RTKM, step 1.1": {"objective": objective, "me": 0.2, "fractional": 0.5},
    }
    for scale, objective in (("10.0", 2.0), ("0.1", 3.0))
}


def line(ax, label):
    found = [line for line in ax.get_lines() if line.get_label() == label]
    assert len(found) == 1, label
    return found[0]


def test_a_line_is_the_mean_of_the_starts_by_rising_share():
    f1 = draw_sensitivity(WBC, "wbc", "as described").axes[1]
    np.testing.assert_allclose(
        line(f1, PAPERS).get_xydata(), [[0.25, 0.7], [0.45, 0.5]]
    )


def test_a_bar_reaches_from_the_lowest_to_the_highest_start():
    f1 = draw_sensitivity(WBC, "wbc", "as described").axes[1]
    bars = f1.collections[0].get_segments()
    assert [bar[:, 1].tolist() for bar in bars] == [[0.6, 0.8], [0.5, 0.5]]


def test_the_method_as_described_is_the_most_prominent_and_colored_as_published():
    f1 = draw_sensitivity(WBC, "wbc", "as described").axes[1]
    own, default = line(f1, PAPERS), line(f1, "RTKM, default solver")
    assert own.get_linewidth() > default.get_linewidth()
    assert own.get_color() == line(f1, "RTKM, published").get_color()
    assert own.get_color() != default.get_color()


def test_hard_trimming_is_left_to_the_tables():
    f1 = draw_sensitivity(WBC, "wbc", "as described").axes[1]
    labels = [line.get_label() for line in f1.get_lines()]
    assert label("RTKM, no swaps") == "hard trimming, no swaps"
    assert label("RTKM, no swaps") not in labels


@pytest.mark.parametrize("experiment", list(CURVES))
def test_every_published_curve_is_drawn_where_it_was_measured(experiment):
    shares = SENSITIVITY[experiment].shares
    kmor = f"KMOR, gamma {SENSITIVITY[experiment].gammas[0]:g}"
    cells = {
        f"{experiment}/as published/{share!r}/0": {
            method: record(0.5) for method in ("RTKM", "NEO", kmor)
        }
        for share in shares
    }
    axes = draw_sensitivity(cells, experiment, "as published").axes
    for ax, score in zip(axes, ("me", "f1"), strict=True):
        for told, ours in (("RTKM", "RTKM"), ("NEO", "NEO"), ("KMOR", kmor)):
            name = label(ours, "as published")
            published = line(ax, f"{name}, published")
            means = [mean for mean, _, _ in CURVES[experiment][told][score]]
            np.testing.assert_array_equal(published.get_xdata(), shares)
            np.testing.assert_array_equal(published.get_ydata(), means)
            assert published.is_dashed()
            assert published.get_color() == line(ax, name).get_color()
        dotted = [bars for bars in ax.collections if bars.get_linestyle()[0][1]]
        n_varying = sum(
            any(low < high for _, low, high in scores[score])
            for scores in CURVES[experiment].values()
        )
        assert len(dotted) == n_varying


def test_only_the_protocol_asked_for_is_drawn():
    f1 = draw_sensitivity(WBC, "wbc", "as published").axes[1]
    np.testing.assert_array_equal(line(f1, "RTKM").get_ydata(), [0.9])


@pytest.mark.parametrize("protocol", ["as described", "as published"])
@pytest.mark.parametrize(
    ("experiment", "words", "value"),
    [("wbc", "average", 0.8), ("shuttle", "micro", 0.4)],
)
def test_the_f1_shown_is_averaged_as_the_published_one(
    experiment, protocol, words, value
):
    cells = {f"{experiment}/{protocol}/0.0/0": {"NEO": record(0.8)}}
    f1 = draw_sensitivity(cells, experiment, protocol).axes[1]
    assert f1.get_ylabel().startswith(words)
    np.testing.assert_array_equal(line(f1, "NEO-k-means").get_ydata(), [value])


def test_methods_in_a_figure_are_told_apart_by_color_and_marker():
    names = ["RTKM", "RTKM, step 1.1", "NEO", "KMOR, gamma 1", "KMOR, gamma 9"]
    keys = [looked_up(name, "as described") for name in names]
    assert len({style.COLORS[key] for key in keys}) == len(names)
    assert len({style.MARKERS[key] for key in keys}) == len(names)


def test_units_are_on_a_log_axis_with_objectives_relative_to_the_lowest():
    me, objective, fractional = draw_units(UNITS).axes
    assert {ax.get_xscale() for ax in (me, objective, fractional)} == {"log"}
    # 3 and 2 against a lowest objective of 2
    found = line(objective, PAPERS).get_xydata()
    np.testing.assert_array_equal(found, [[0.1, 1.5], [10, 1]])
    assert line(objective, "RTKM, default solver").get_ydata().tolist() == [1, 1]
    assert line(me, PAPERS).get_ydata().tolist() == [0.2, 0.2]
    assert line(fractional, PAPERS).get_ydata().tolist() == [0.5, 0.5]


def test_clouds_have_three_panels_and_rtkm_marks_what_it_trims():
    data, kmeans, rtkm = draw_clouds(CLOUDS).axes
    assert data.get_title() == "the data, outliers marked"
    inliers, outliers = data.collections
    assert outliers.get_offsets().tolist() == [[9, 4]]
    assert len(inliers.get_offsets()) == 4
    rows, trimmed, centers = rtkm.collections
    assert trimmed.get_offsets().tolist() == [[9, 4]]
    assert centers.get_offsets().tolist() == CLOUDS["centers"]["RTKM"]
    assert rows.get_facecolors().tolist() == inliers.get_facecolors().tolist()
    rows, trimmed, centers = kmeans.collections
    assert (len(rows.get_offsets()), len(trimmed.get_offsets())) == (5, 0)
    assert centers.get_offsets().tolist() == CLOUDS["centers"]["k-means"]


def test_clusters_take_the_numbers_of_the_clouds_they_hold_most_of():
    truth = np.array([0, 0, 0, 1, 1, 2, -1])
    labels = np.array([2, 2, 1, 1, 1, 0, 0])
    assert as_colored(truth, labels).tolist() == [0, 0, 1, 1, 1, 2, 2]


def test_the_process_has_four_stages_with_graded_colors():
    *stages, bar = draw_process(PROCESS).axes
    titles = [ax.get_title() for ax in stages]
    assert titles == [f"iteration {i}" for i in (0, 3, 5, 21)]
    for ax, weights in zip(stages, PROCESS["weights"], strict=True):
        dots, centers = ax.collections
        np.testing.assert_array_equal(dots.get_array(), weights)
        green, blue = dots.get_cmap()([0.0, 1.0])
        assert green[:3].argmax() == 1
        assert blue[:3].argmax() == 2
        assert len(centers.get_offsets()) == 2
    assert "weight" in bar.get_ylabel()


def test_maps_stand_in_a_row_the_truth_first_and_false_alarms_apart():
    plane = [[0, 0], [1, 0], [0, 1], [5, 5]]
    outliers = {
        "RTKM": [3, 1],
        "RTKM, step 1.1": [3],
        "RTKM, no swaps": [3],
        "NEO": [],
        "truth": [3, 2],
    }
    maps = {"plane": plane, "outliers": outliers}
    axes = draw_outlier_maps(maps, "as described").axes
    assert {ax.get_subplotspec().get_geometry()[:2] for ax in axes} == {(1, 4)}
    titles = [" ".join(ax.get_title().split()) for ax in axes]
    assert titles == [
        "true outliers 2",
        "RTKM as described (step 1.1) 1, 1 true",
        "RTKM, default solver 2, 1 true",
        "NEO-k-means 0, 0 true",
    ]
    kept, wrong, right = (dots.get_offsets().tolist() for dots in axes[2].collections)
    assert (kept, wrong, right) == ([[0, 0], [0, 1]], [[1, 0]], [[5, 5]])
    assert all(dots.get_rasterized() for ax in axes for dots in ax.collections)


def test_as_published_no_map_is_of_the_default_solver():
    outliers = {"truth": [1], "RTKM": [1], "NEO": [0]}
    maps = {"plane": [[0, 0], [1, 1]], "outliers": outliers}
    axes = draw_outlier_maps(maps, "as published").axes
    titles = [" ".join(ax.get_title().split()) for ax in axes]
    assert titles == ["true outliers 1", "RTKM 1, 1 true", "NEO-k-means 1, 0 true"]


def test_the_table_shows_ours_the_published_and_the_trivial_answer():
    (ax,) = draw_table(OVERLAP, "yeast", 0.37).axes
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names == [PAPERS, "RTKM, default solver", "MOC"]
    ours = line(ax, "ours, mean").get_xydata()
    np.testing.assert_allclose(ours, [[0.31, 0], [0.4, 1], [0.35, 2]])
    # the first start of RTKM has the lower objective
    best = line(ax, "ours, at the best objective").get_xdata()
    np.testing.assert_array_equal(best, [0.30, 0.4, 0.35])
    # the paper has no default solver, and no value of MOC on yeast
    published = line(ax, "published").get_xdata()
    np.testing.assert_array_equal(published, [TABLE["yeast"]["RTKM"], np.nan, np.nan])
    assert set(line(ax, TRIVIAL).get_xdata()) == {0.37}


def test_no_two_figures_share_a_file():
    again = {
        "overlap/as published/yeast/0": {"RTKM": {"f1": 0.3, "cardinality": 4.0}},
        "overlap/as published/scene/0": {"RTKM": {"f1": 0.6, "cardinality": 1.0}},
    }
    names = [e.name for e in exhibits({"cells": OVERLAP | WBC | UNITS | again})]
    assert len(names) == len(set(names)) == 5


def test_pictures_do_not_depend_on_settings_of_the_user(tmp_path):
    import matplotlib

    results = {"cells": {"process/as described/two clouds/0": PROCESS} | UNITS}
    plain = draw_all(results, tmp_path)
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "red"}):
        assert draw_all(results, tmp_path) == plain
        assert matplotlib.rcParams["font.size"] == 20  # as it was


def test_saving_twice_gives_the_same_bytes(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        figure = draw_sensitivity(WBC, "wbc", "as described")
        svg = save(figure, tmp_path / folder, "wbc")
        assert (tmp_path / folder / "wbc.svg").read_text() == svg
    for name in ("wbc.svg", "wbc.png"):
        first, second = (tmp_path / folder / name for folder in ("a", "b"))
        assert first.read_bytes() == second.read_bytes()
    assert {path.name for path in (tmp_path / "a").iterdir()} == {"wbc.svg", "wbc.png"}
    assert "<dc:date>" not in svg
    ET.fromstring(svg)


def test_without_matplotlib_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r'matplotlib; pip install "rtkm\[plot\]"'):
        draw_process(PROCESS)
