"""The pictures show what the cells hold, and come out the same every time."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from rtkm.reproduce import _pictures
from rtkm.reproduce._figures import CURVES, TABLE
from rtkm.reproduce._pictures import (
    SHARES,
    draw_outlier_maps,
    draw_process,
    draw_sensitivity,
    draw_table,
    save,
)

pytest.importorskip("matplotlib")


def record(f1, me=0.5, objective=1.0):
    return {"f1": f1, "f1_micro": f1 / 2, "me": me, "objective": objective}


# out of order, as processes finish: at 0.25 the starts score 0.6 and 0.8
WBC = {
    "wbc/as described/0.45/0": {"RTKM": record(0.5), "NEO": record(0.3)},
    "wbc/as described/0.25/1": {"RTKM": record(0.8), "NEO": record(0.3)},
    "wbc/as described/0.25/0": {"RTKM": record(0.6), "NEO": record(0.3)},
    "wbc/as described/0.45/1": {"RTKM": record(0.5), "NEO": record(0.3)},
    "wbc/as published/0.25/0": {"RTKM": record(0.9)},
}
OVERLAP = {
    "overlap/as described/yeast/0": {"RTKM": record(0.30), "moc": record(0.35)},
    "overlap/as described/yeast/1": {"RTKM": record(0.32), "moc": record(0.35)},
    "overlap/as described/scene/0": {"RTKM": record(0.60), "moc": record(0.55)},
}
PROCESS = {
    "X": [[0, 0], [1, 0], [4, 4]],
    "iterations": [0, 3, 5, 21],
    "centers": [[[0, 0], [1, 1]]] * 4,
    "weights": [[0.5, 0.5, 0.5], [0.9, 0.5, 0.1], [1, 0.6, 0], [1, 1, 0]],
}


def line(ax, label):
    found = [line for line in ax.get_lines() if line.get_label() == label]
    assert len(found) == 1, label
    return found[0]


def test_a_line_is_the_mean_of_the_starts_by_rising_share():
    f1 = draw_sensitivity(WBC, "wbc", "as described").axes[1]
    np.testing.assert_allclose(
        line(f1, "RTKM").get_xydata(), [[0.25, 0.7], [0.45, 0.5]]
    )


def test_a_band_reaches_from_the_lowest_to_the_highest_start():
    f1 = draw_sensitivity(WBC, "wbc", "as described").axes[1]
    corners = f1.collections[0].get_paths()[0].vertices
    at_first = corners[corners[:, 0] == 0.25, 1]
    assert (at_first.min(), at_first.max()) == (0.6, 0.8)


@pytest.mark.parametrize("experiment", list(CURVES))
def test_every_published_curve_is_drawn_where_it_was_measured(experiment):
    cells = {
        f"{experiment}/as described/{share!r}/0": {
            method: record(0.5) for method in ("RTKM", "NEO", "KMOR, gamma 1")
        }
        for share in SHARES[experiment]
    }
    axes = draw_sensitivity(cells, experiment, "as described").axes
    for ax, score in zip(axes, ("me", "f1"), strict=True):
        for method, label in (("RTKM", "RTKM"), ("NEO", "NEO-k-means")):
            published = line(ax, f"{label}, published")
            means = [mean for mean, _, _ in CURVES[experiment][method][score]]
            np.testing.assert_array_equal(published.get_xdata(), SHARES[experiment])
            np.testing.assert_array_equal(published.get_ydata(), means)
            assert published.is_dashed()
            assert published.get_color() == line(ax, label).get_color()
        thin = [line for line in ax.get_lines() if line.get_linestyle() == ":"]
        n_varying = sum(
            any(low < high for _, low, high in scores[score])
            for scores in CURVES[experiment].values()
        )
        assert len(thin) == 2 * n_varying


def test_only_the_protocol_asked_for_is_drawn():
    f1 = draw_sensitivity(WBC, "wbc", "as published").axes[1]
    np.testing.assert_array_equal(line(f1, "RTKM").get_ydata(), [0.9])


@pytest.mark.parametrize(
    ("protocol", "words", "value"),
    [("as described", "average", 0.8), ("as published", "micro", 0.4)],
)
def test_shuttle_as_published_shows_the_micro_average(protocol, words, value):
    cells = {f"shuttle/{protocol}/0.0/0": {"RTKM": record(0.8)}}
    f1 = draw_sensitivity(cells, "shuttle", protocol).axes[1]
    assert f1.get_ylabel().startswith(words)
    np.testing.assert_array_equal(line(f1, "RTKM").get_ydata(), [value])


def test_methods_are_told_apart_by_color_and_marker():
    names = ["RTKM", "RTKM, step 1.1", "NEO", "KMOR, gamma 1", "KMOR, gamma 9"]
    assert len({_pictures.COLORS[name] for name in names}) == len(names)
    assert len({_pictures.MARKERS[name] for name in names}) == len(names)


def test_the_process_has_four_stages_with_graded_colors():
    *stages, bar = draw_process(PROCESS).axes
    titles = [ax.get_title() for ax in stages]
    assert titles == [f"iteration {i}" for i in (0, 3, 5, 21)]
    for ax, weights in zip(stages, PROCESS["weights"], strict=True):
        dots, centers = ax.collections
        np.testing.assert_array_equal(dots.get_array(), weights)
        assert len(centers.get_offsets()) == 2
    assert "weight" in bar.get_ylabel()


@pytest.mark.parametrize("n_maps", [1, 3, 5])
def test_a_map_for_the_truth_and_every_method(n_maps):
    plane = [[0, 0], [1, 0], [0, 1], [5, 5]]
    outliers = {"truth": [3], "RTKM": [3, 1], "NEO": [], "a": [0], "b": [2]}
    wanted = dict(list(outliers.items())[:n_maps])
    axes = draw_outlier_maps({"plane": plane, "outliers": wanted}).axes
    panels = [ax for ax in axes if ax.axison]
    assert len(panels) == n_maps
    for ax, (name, rows) in zip(panels, wanted.items(), strict=True):
        inliers, marked = (dots.get_offsets() for dots in ax.collections)
        assert marked.tolist() == [plane[row] for row in rows]
        assert len(inliers) == len(plane) - len(rows)
        assert ax.get_title() == f"{_pictures.label(name)} ({len(rows)})"


def test_the_table_shows_ours_the_published_and_the_trivial_answer():
    (ax,) = draw_table(OVERLAP, "yeast", 0.37).axes
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names == ["RTKM", "MOC"]
    ours = line(ax, "ours")
    np.testing.assert_allclose(ours.get_xydata(), [[0.31, 0], [0.35, 1]])
    # MOC has no published value on yeast
    published = line(ax, "published").get_xydata()
    np.testing.assert_array_equal(published, [[TABLE["yeast"]["RTKM"], 0]])
    assert set(line(ax, _pictures.TRIVIAL).get_xdata()) == {0.37}


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
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(_pictures, "import_module", absent)
    with pytest.raises(ImportError, match=r'matplotlib; pip install "rtkm\[plot\]"'):
        draw_process(PROCESS)
