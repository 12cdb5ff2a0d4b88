"""Finding and keeping tables: the order of lookup, and the cache."""

from __future__ import annotations

import errno
import os

import numpy as np
import pytest
import toy_yeast
from numpy.testing import assert_array_equal
from sklearn.datasets import get_data_home

from rtkm.datasets import (
    _lookup,
    fetch_saved_starts,
    fetch_scene,
    fetch_yeast,
    make_yeast_noise,
)
from rtkm.datasets._lookup import cache


@pytest.fixture(autouse=True)
def toy(monkeypatch, tmp_path):
    """The toy table in place of yeast; the list of its downloads."""
    return toy_yeast.install(monkeypatch, tmp_path)


@pytest.fixture
def folder(tmp_path):
    """A folder laid out for RTKM_DATA."""
    (tmp_path / "tables" / "yeast").mkdir(parents=True)
    (tmp_path / "tables" / "yeast" / "yeast.arff").write_text(toy_yeast.arff())
    return tmp_path / "tables"


def names(folder):
    return sorted(file.name for file in folder.iterdir())


# where a table is looked for


@pytest.mark.parametrize("place", [".", "yeast", "yeast/yeast.arff"])
def test_path_is_a_file_or_a_folder_that_holds_it(folder, toy, place):
    yeast = fetch_yeast(path=folder / place)
    assert_array_equal(yeast.data, toy_yeast.X)
    assert_array_equal(yeast.target, toy_yeast.LABELS)
    assert yeast.path == str(folder / "yeast" / "yeast.arff")
    assert fetch_yeast(path=str(folder / place)).path == yeast.path
    assert toy == []


def test_path_then_variable_then_cache_then_download(
    folder, tmp_path, monkeypatch, toy
):
    own = tmp_path / "own.arff"
    own.write_text(toy_yeast.arff())
    home = tmp_path / "home"
    kept = home / "yeast.npz"

    assert fetch_yeast(data_home=home).path == str(kept)
    assert toy == ["yeast"]
    assert fetch_yeast(data_home=home).path == str(kept)  # the second is not fetched
    assert toy == ["yeast"]
    monkeypatch.setenv("RTKM_DATA", str(folder))
    assert fetch_yeast(data_home=home).path == str(folder / "yeast" / "yeast.arff")
    assert fetch_yeast(data_home=home, path=own).path == str(own)
    assert toy == ["yeast"]


def test_variable_without_the_file_leads_on_to_the_cache(tmp_path, monkeypatch, toy):
    monkeypatch.setenv("RTKM_DATA", str(tmp_path))
    assert fetch_yeast().path == str(tmp_path / "sklearn" / "rtkm" / "yeast.npz")
    assert toy == ["yeast"]


def test_empty_variable_is_not_set(folder, monkeypatch, toy):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("RTKM_DATA", "")
    fetch_yeast()
    assert toy == ["yeast"]


def test_cache_is_beside_scikit_learns_and_looking_creates_nothing(
    monkeypatch, tmp_path
):
    assert cache(None) == tmp_path / "sklearn" / "rtkm"
    with pytest.raises(FileNotFoundError):
        fetch_yeast(download_if_missing=False)
    assert not (tmp_path / "sklearn").exists()
    assert cache(None).parent == type(tmp_path)(get_data_home())
    monkeypatch.delenv("SCIKIT_LEARN_DATA")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache(None) == tmp_path / "scikit_learn_data" / "rtkm"
    assert cache("~/here") == tmp_path / "here"


def test_path_that_holds_nothing_is_refused_and_nothing_else_tried(
    folder, tmp_path, monkeypatch, toy
):
    monkeypatch.setenv("RTKM_DATA", str(folder))
    empty = tmp_path / "empty"
    empty.mkdir()
    for place in (empty, tmp_path / "nowhere"):
        assert toy_yeast.refusal(FileNotFoundError, path=place) == (
            f"path={str(place)!r} does not hold yeast/yeast.arff; expected the file or "
            "its folder."
        )
    assert toy == []


def test_variable_that_points_nowhere_is_refused(tmp_path, monkeypatch, toy):
    file = tmp_path / "file"
    file.touch()
    for place in (tmp_path / "nowhere", file):
        monkeypatch.setenv("RTKM_DATA", str(place))
        assert toy_yeast.refusal(NotADirectoryError) == (
            f"RTKM_DATA={str(place)!r} is not a folder; expected the folder of the "
            "paper's tables, or the variable unset."
        )
    assert toy == []


def test_missing_table_names_the_places_and_the_way_out(tmp_path, monkeypatch):
    home = tmp_path / "home"
    asked = {"data_home": home, "download_if_missing": False}
    way_out = (
        "and download_if_missing=False; set RTKM_DATA to a folder that holds "
        "yeast/yeast.arff, or pass path."
    )
    assert toy_yeast.refusal(FileNotFoundError, **asked) == (
        f"yeast is not at hand: RTKM_DATA is not set, {home} holds no yeast.npz, "
        + way_out
    )
    monkeypatch.setenv("RTKM_DATA", str(tmp_path))
    assert toy_yeast.refusal(FileNotFoundError, **asked) == (
        f"yeast is not at hand: RTKM_DATA={str(tmp_path)!r} holds no yeast/yeast.arff, "
        f"{home} holds no yeast.npz, " + way_out
    )
    assert not home.exists()


def test_half_of_a_table_is_not_found(tmp_path, monkeypatch):
    (tmp_path / "scene").mkdir()
    (tmp_path / "scene" / "scene-train.arff").write_text("@relation x")
    monkeypatch.setenv("RTKM_DATA", str(tmp_path))
    with pytest.raises(
        FileNotFoundError, match=r"train.arff and scene/scene-test.arff"
    ):
        fetch_scene(download_if_missing=False)
    with pytest.raises(FileNotFoundError, match=r"hold scene/scene-test.arff; exp"):
        fetch_scene(path=tmp_path)
    with pytest.raises(FileNotFoundError, match=r"hold scene/scene-test.arff; exp"):
        fetch_scene(path=tmp_path / "scene")


# the cache


def test_downloaded_table_comes_back_from_the_cache(tmp_path):
    first = fetch_yeast(data_home=tmp_path / "deep" / "home")
    second = fetch_yeast(
        data_home=tmp_path / "deep" / "home", download_if_missing=False
    )
    for yeast in (first, second):
        assert_array_equal(yeast.data, toy_yeast.X)
        assert_array_equal(yeast.target, toy_yeast.LABELS)
        assert yeast.target.dtype == np.int64
    assert names(tmp_path / "deep" / "home") == ["yeast.npz"]


def test_cache_that_cannot_be_written_shows_before_the_download(tmp_path, toy):
    (tmp_path / "file").touch()
    home = tmp_path / "file" / "home"
    assert toy_yeast.refusal(OSError, data_home=home) == (
        f"{home / 'yeast.npz'} cannot be written (Not a directory); pass data_home, a "
        "folder that can."
    )
    assert toy == []


@pytest.mark.parametrize("act", ["fsync", "replace"])
def test_failing_write_leaves_the_folder_as_it_was(tmp_path, monkeypatch, act):
    (tmp_path / "scene.npz").write_bytes(b"another table")

    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, act, full)
        message = toy_yeast.refusal(OSError, data_home=tmp_path)
    assert message == (
        f"{tmp_path / 'yeast.npz'} cannot be written (No space left on device); pass "
        "data_home, a folder that can."
    )
    assert names(tmp_path) == ["scene.npz"]
    assert_array_equal(fetch_yeast(data_home=tmp_path).data, toy_yeast.X)


def test_interrupted_download_leaves_nothing(tmp_path, monkeypatch):
    def interrupt(source):
        assert len(names(tmp_path)) == 1  # the file beside
        raise KeyboardInterrupt

    monkeypatch.setattr(_lookup, "download", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fetch_yeast(data_home=tmp_path)
    assert names(tmp_path) == []


# the authors' arrays


def test_missing_starts_name_the_places_and_the_way_out(tmp_path, monkeypatch):
    file = "scene/scene_centers.npy"
    way_out = (
        "and they cannot be downloaded; set RTKM_DATA to a folder that holds "
        f"{file}, or pass path."
    )
    with pytest.raises(FileNotFoundError) as caught:
        fetch_saved_starts("scene", data_home=tmp_path)
    assert str(caught.value) == (
        "the starting centers of scene are not at hand: RTKM_DATA is not set, "
        f"{tmp_path} holds no {file}, " + way_out
    )
    monkeypatch.setenv("RTKM_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=f"holds no {file}, .* holds no"):
        fetch_saved_starts("scene", data_home=tmp_path)
    with pytest.raises(
        FileNotFoundError, match=f"does not hold {file}; expected the f"
    ):
        fetch_saved_starts("scene", path=tmp_path)


def test_starts_of_an_unknown_table_are_refused():
    with pytest.raises(ValueError, match="expected 'yeast' or 'scene'") as caught:
        fetch_saved_starts("wbc")
    assert str(caught.value).startswith(
        "name='wbc' is not valid for fetch_saved_starts"
    )


def test_noise_passes_on_where_to_look(tmp_path, toy):
    with pytest.raises(FileNotFoundError, match=f"{tmp_path} holds no yeast.npz"):
        make_yeast_noise(data_home=tmp_path, download_if_missing=False)
    X, labels = make_yeast_noise(4, data_home=tmp_path)
    assert X.shape == (10, 103)
    assert labels.shape == (10, 14)
    assert toy == ["yeast"]
