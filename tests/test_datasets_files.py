"""Finding, reading and keeping tables: order of lookup, the cache, damaged files."""

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
    _tables,
    fetch_saved_starts,
    fetch_scene,
    fetch_yeast,
    make_yeast_noise,
)
from rtkm.datasets._lookup import cache


@pytest.fixture(autouse=True)
def toy(monkeypatch, tmp_path):
    """The toy table in place of yeast, no settings, and a download that is counted."""
    monkeypatch.setattr(_tables, "YEAST", toy_yeast.SOURCE)
    monkeypatch.delenv("RTKM_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "sklearn"))
    calls = []

    def download(source):
        calls.append(source.name)
        return toy_yeast.X, toy_yeast.LABELS.astype(float)

    monkeypatch.setattr(_lookup, "download", download)
    return calls


@pytest.fixture
def folder(tmp_path):
    """A folder laid out for RTKM_DATA."""
    (tmp_path / "tables" / "yeast").mkdir(parents=True)
    (tmp_path / "tables" / "yeast" / "yeast.arff").write_text(toy_yeast.arff())
    return tmp_path / "tables"


def names(folder):
    return sorted(file.name for file in folder.iterdir())


def refusal(error, *args, **kwargs):
    with pytest.raises(error) as caught:
        fetch_yeast(*args, **kwargs)
    assert "\n" not in str(caught.value)
    return str(caught.value)


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


def test_empty_variable_is_not_set(monkeypatch, toy):
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
        assert refusal(FileNotFoundError, path=place) == (
            f"path={str(place)!r} does not hold yeast/yeast.arff; expected the file or "
            "its folder."
        )
    assert toy == []


def test_variable_that_points_nowhere_is_refused(tmp_path, monkeypatch, toy):
    file = tmp_path / "file"
    file.touch()
    for place in (tmp_path / "nowhere", file):
        monkeypatch.setenv("RTKM_DATA", str(place))
        assert refusal(NotADirectoryError) == (
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
    assert refusal(FileNotFoundError, **asked) == (
        f"yeast is not at hand: RTKM_DATA is not set, {home} holds no yeast.npz, "
        + way_out
    )
    monkeypatch.setenv("RTKM_DATA", str(tmp_path))
    assert refusal(FileNotFoundError, **asked) == (
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
    with pytest.raises(FileNotFoundError, match=r"does not hold scene/scene-train"):
        fetch_scene(path=tmp_path)


# damaged files


HEADER, ROWS = toy_yeast.arff().split("@data\n")
LINES = toy_yeast.arff().splitlines()
FIRST_ROW = LINES.index("@data") + 2  # counted from 1


def changed(line, column, cell):
    rows = ROWS.splitlines()
    cells = rows[line].split(",")
    cells[column : column + 1] = cell
    return "\n".join(
        [f"{HEADER}@data", *rows[:line], ",".join(cells), *rows[line + 1 :]]
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n".join(LINES[:-1]), "has 5 rows; expected the 6 of yeast."),
        ("\n".join(LINES) + "\n" + LINES[-1], "has 7 rows; expected the 6 of yeast."),
        (
            "\n".join([*LINES[:-1], LINES[-1][:50]]),
            "is damaged: line {last} has 6 values; expected 117.",
        ),
        (
            changed(2, 4, ["1", "2"]),
            "is damaged: line {third} has 118 values; expected 117.",
        ),
        (changed(2, 4, []), "is damaged: line {third} has 116 values; expected 117."),
        (
            changed(2, 4, ["x1"]),
            "is damaged: line {third} holds 'x1'; expected a number.",
        ),
        (
            changed(2, 4, ["?"]),
            "is damaged: line {third} holds '?'; expected a number.",
        ),
        (changed(2, 4, [""]), "is damaged: line {third} holds ''; expected a number."),
        (
            changed(2, 4, ["nan"]),
            "is damaged: line {third} holds 'nan'; expected a number.",
        ),
        (
            changed(2, 4, ["inf"]),
            "is damaged: line {third} holds 'inf'; expected a number.",
        ),
        (
            changed(2, 4, ["y" * 30]),
            f"is damaged: line {{third}} holds '{'y' * 20}...'; expected a number.",
        ),
        (changed(2, 4, ["1_0"]), "is damaged; expected 117 numbers on each line."),
        (HEADER, "has no line @data; expected a whole ARFF file."),
        (f"{HEADER}@data\n", "has no rows; expected a table of numbers."),
        ("", "has no rows; expected a table of numbers."),
        ("plain words", "is damaged: line 1 has 2 values; expected 117."),
        (
            toy_yeast.arff().replace("Att3 numeric", "Att3 string"),
            "is damaged: line 5 is '@attribute Att3 stri...'; expected an attribute "
            "that is numeric or lists its values.",
        ),
        (
            toy_yeast.arff(toy_yeast.X[:, 1:]),
            "has 102 features and 14 labels; expected the 103 and 14 of yeast.",
        ),
        (
            toy_yeast.arff(labels=toy_yeast.LABELS[:, 1:]),
            "has 103 features and 13 labels; expected the 103 and 14 of yeast.",
        ),
    ],
)
def test_damaged_file_is_refused_by_line(tmp_path, text, message):
    file = tmp_path / "yeast.arff"
    file.write_text(text)
    message = message.format(third=FIRST_ROW + 2, last=len(LINES))
    assert refusal(ValueError, path=file) == f"{file} {message}"


@pytest.mark.parametrize("content", [b"\xff\xfe\x00garbage\x80", os.urandom(5000)])
def test_binary_garbage_is_refused(tmp_path, content):
    file = tmp_path / "yeast.arff"
    file.write_bytes(b"\xff" + content)
    assert refusal(ValueError, path=file) == (
        f"{file} is not text; expected a table of numbers."
    )


def test_other_numbers_are_refused_with_both_hashes(tmp_path):
    X = toy_yeast.X.copy()
    X[3, 50] += 1e-6
    file = tmp_path / "yeast.arff"
    file.write_text(toy_yeast.arff(X))
    assert refusal(ValueError, path=file) == (
        f"{file} has content of sha256 {toy_yeast.fingerprint(X)}; expected "
        f"{toy_yeast.SOURCE.sha256}, the features of yeast."
    )


def test_other_labels_are_refused(tmp_path):
    labels = toy_yeast.LABELS.copy()
    labels[3, 5] = 1 - labels[3, 5]
    file = tmp_path / "yeast.arff"
    file.write_text(toy_yeast.arff(labels=labels))
    assert refusal(ValueError, path=file) == (
        f"{file} has content of sha256 {toy_yeast.fingerprint(labels)}; expected "
        f"{toy_yeast.SOURCE.labels_sha256}, the labels of yeast."
    )


def test_what_arff_allows_is_read(tmp_path):
    text = toy_yeast.arff().replace("@attribute Att1 ", "@ATTRIBUTE 'an Att' ")
    text = text.replace("Att2 numeric", "Att2 REAL").replace(
        "Att4 numeric", "Att4 integer"
    )
    text = text.replace("Class1 {0,1}", "'Class 1'{0, 1}").replace("@data", "@DATA")
    text = "% a comment\n\n" + text.replace("@DATA\n", "@DATA\n% another\n\n")
    file = tmp_path / "yeast.arff"
    file.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert_array_equal(fetch_yeast(path=file).data, toy_yeast.X)
    assert_array_equal(fetch_yeast(path=file).target, toy_yeast.LABELS)


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


def damage_npz(kind, file):
    content = file.read_bytes()
    if kind == "truncated":
        file.write_bytes(content[: len(content) // 2])
    elif kind == "empty":
        file.write_bytes(b"")
    elif kind == "garbage":
        file.write_bytes(b"garbage" * 100)
    elif kind == "a flipped bit":
        at = len(content) // 3
        file.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    elif kind == "other arrays":
        np.savez(file, rows=toy_yeast.X)
    elif kind == "other numbers":
        np.savez(file, data=toy_yeast.X + 1, target=toy_yeast.LABELS)
    elif kind == "fewer rows":
        np.savez(file, data=toy_yeast.X[1:], target=toy_yeast.LABELS[1:])
    elif kind == "pickled objects":
        objects = np.array([{}], dtype=object)
        np.savez(file, data=objects, target=objects)
    elif kind == "no archive":
        with file.open("wb") as stream:
            np.save(stream, toy_yeast.X)


@pytest.mark.parametrize(
    "kind",
    [
        "truncated",
        "empty",
        "garbage",
        "a flipped bit",
        "other arrays",
        "other numbers",
        "fewer rows",
        "pickled objects",
        "no archive",
    ],
)
def test_damaged_cache_is_refused_with_the_way_out(tmp_path, toy, kind):
    fetch_yeast(data_home=tmp_path)
    kept = tmp_path / "yeast.npz"
    damage_npz(kind, kept)
    message = refusal(ValueError, data_home=tmp_path)
    assert message.startswith(f"{kept} is damaged (")
    assert message.endswith("); delete it to have yeast fetched anew.")
    assert toy == ["yeast"]
    kept.unlink()
    assert_array_equal(fetch_yeast(data_home=tmp_path).data, toy_yeast.X)


def test_cache_that_cannot_be_written_shows_before_the_download(tmp_path, toy):
    (tmp_path / "file").touch()
    home = tmp_path / "file" / "home"
    assert refusal(OSError, data_home=home) == (
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
        message = refusal(OSError, data_home=tmp_path)
    assert message == (
        f"{tmp_path / 'yeast.npz'} cannot be written (No space left on device); pass "
        "data_home, a folder that can."
    )
    assert names(tmp_path) == ["scene.npz"]
    assert_array_equal(fetch_yeast(data_home=tmp_path).data, toy_yeast.X)


def test_write_is_one_act(tmp_path, monkeypatch):
    """Until the new file is whole and on disk, the old one is in its place."""
    kept = tmp_path / "yeast.npz"
    kept.write_bytes(b"old")
    acts = []
    replace, fsync = os.replace, os.fsync

    def watched_fsync(number):
        acts.append(("fsync", kept.read_bytes()))
        fsync(number)

    def watched_replace(part, to):
        acts.append(("replace", kept.read_bytes()))
        assert to == kept
        assert os.path.dirname(part) == str(tmp_path)  # the same file system
        with np.load(part) as arrays:
            assert_array_equal(arrays["data"], toy_yeast.X)
        replace(part, to)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(os, "replace", watched_replace)
    with _lookup._beside(kept) as part:
        _lookup._keep(part, kept, toy_yeast.X, toy_yeast.LABELS)
    assert acts == [("fsync", b"old"), ("replace", b"old")]
    assert names(tmp_path) == ["yeast.npz"]
    with np.load(kept) as arrays:
        assert_array_equal(arrays["target"], toy_yeast.LABELS)


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


@pytest.mark.parametrize("content", ["garbage", "empty", "truncated", "objects"])
def test_damaged_starts_are_refused(tmp_path, content):
    file = tmp_path / "yeast_centers.npy"
    array = np.zeros((14, 103, 5), dtype=object if content == "objects" else float)
    np.save(file, array, allow_pickle=True)
    if content == "truncated":
        file.write_bytes(file.read_bytes()[:1000])
    elif content != "objects":
        file.write_bytes(b"garbage" * 20 * (content == "garbage"))
    with pytest.raises(ValueError, match="is damaged") as caught:
        fetch_saved_starts("yeast", path=file)
    assert str(caught.value) == (
        f"{file} is damaged; expected an array of shape (14, 103, 5) in NumPy's format."
    )


def test_other_starts_are_refused(tmp_path):
    file = tmp_path / "yeast_centers.npy"
    np.save(file, np.zeros((14, 103)))
    with pytest.raises(
        ValueError, match=r"has shape \(14, 103\); expected \(14, 103, 5"
    ):
        fetch_saved_starts("yeast", path=file)
    np.save(file, np.zeros((14, 103, 5)))
    with pytest.raises(ValueError, match=r"expected 57f4ac.*published starts of yeast"):
        fetch_saved_starts("yeast", path=file)


def test_published_noise_is_checked(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not hold yeast_noise/data_yeast"):
        make_yeast_noise(path=tmp_path)
    np.save(tmp_path / "data_yeast_noise.npy", np.zeros((103, 2567)))
    np.save(tmp_path / "labels_yeast_noise.npy", np.zeros((2567, 14)))
    with pytest.raises(ValueError, match=r"shape \(2567, 14\); expected \(2567, 15\)"):
        make_yeast_noise(path=tmp_path)
    np.save(tmp_path / "labels_yeast_noise.npy", np.zeros((2567, 15)))
    with pytest.raises(ValueError, match="features of yeast and noise"):
        make_yeast_noise(path=tmp_path)


def test_noise_passes_on_where_to_look(tmp_path, toy):
    with pytest.raises(FileNotFoundError, match=f"{tmp_path} holds no yeast.npz"):
        make_yeast_noise(data_home=tmp_path, download_if_missing=False)
    X, labels = make_yeast_noise(4, data_home=tmp_path)
    assert X.shape == (10, 103)
    assert labels.shape == (10, 14)
    assert toy == ["yeast"]
