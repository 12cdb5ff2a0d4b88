"""Damaged and other files are refused, by name and in one sentence."""

from __future__ import annotations

import numpy as np
import pytest
import toy_yeast
from numpy.testing import assert_array_equal

from rtkm.datasets import (
    _authors,
    fetch_saved_starts,
    fetch_yeast,
    make_yeast_noise,
)


@pytest.fixture(autouse=True)
def toy(monkeypatch, tmp_path):
    """The toy table in place of yeast; the list of its downloads."""
    return toy_yeast.install(monkeypatch, tmp_path)


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
    assert toy_yeast.refusal(ValueError, path=file) == f"{file} {message}"


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe\x00garbage\x80", np.random.default_rng(0).bytes(5000)],
    ids=["short", "long"],  # the same in all processes that share the tests
)
def test_binary_garbage_is_refused(tmp_path, content):
    file = tmp_path / "yeast.arff"
    file.write_bytes(b"\xff" + content)
    assert toy_yeast.refusal(ValueError, path=file) == (
        f"{file} is not text; expected a table of numbers."
    )


def test_other_numbers_are_refused_with_both_hashes(tmp_path):
    X = toy_yeast.X.copy()
    X[3, 50] += 1e-6
    file = tmp_path / "yeast.arff"
    file.write_text(toy_yeast.arff(X))
    assert toy_yeast.refusal(ValueError, path=file) == (
        f"{file} has content of sha256 {toy_yeast.fingerprint(X)}; expected "
        f"{toy_yeast.SOURCE.sha256}, the features of yeast."
    )


def test_other_labels_are_refused(tmp_path):
    labels = toy_yeast.LABELS.copy()
    labels[3, 5] = 1 - labels[3, 5]
    file = tmp_path / "yeast.arff"
    file.write_text(toy_yeast.arff(labels=labels))
    assert toy_yeast.refusal(ValueError, path=file) == (
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
        # the right numbers, but reading them would run what a pickle says
        np.savez(file, data=toy_yeast.X.astype(object), target=toy_yeast.LABELS)
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
    message = toy_yeast.refusal(ValueError, data_home=tmp_path)
    assert message == f"{kept} is damaged; delete it to have yeast fetched anew."
    assert toy == ["yeast"]
    kept.unlink()
    assert_array_equal(fetch_yeast(data_home=tmp_path).data, toy_yeast.X)


@pytest.mark.parametrize(
    "content", ["garbage", "empty", "truncated", "objects", "header"]
)
def test_damaged_starts_are_refused(tmp_path, content):
    file = tmp_path / "yeast_centers.npy"
    array = np.zeros((14, 103, 5), dtype=object if content == "objects" else float)
    np.save(file, array, allow_pickle=True)
    if content == "truncated":
        file.write_bytes(file.read_bytes()[:1000])
    elif content == "header":
        file.write_bytes(file.read_bytes().replace(b"103, 5)", b"103, 5 "))
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


def test_published_noise_is_checked(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="does not hold yeast_noise/data_yeast"):
        make_yeast_noise(path=tmp_path)
    np.save(tmp_path / "data_yeast_noise.npy", np.zeros((103, 2567)))
    with pytest.raises(FileNotFoundError, match="not hold yeast_noise/labels_yeast_no"):
        make_yeast_noise(path=tmp_path)
    np.save(tmp_path / "labels_yeast_noise.npy", np.zeros((2567, 14)))
    with pytest.raises(ValueError, match=r"shape \(2567, 14\); expected \(2567, 15\)"):
        make_yeast_noise(path=tmp_path)
    np.save(tmp_path / "labels_yeast_noise.npy", np.zeros((2567, 15)))
    with pytest.raises(ValueError, match="features of yeast and noise"):
        make_yeast_noise(path=tmp_path)
    zeros = toy_yeast.fingerprint(np.zeros((2567, 103)))
    monkeypatch.setattr(_authors, "NOISE_SHA256", zeros)
    with pytest.raises(ValueError, match=r"labels_yeast_noise.*the labels of both"):
        make_yeast_noise(path=tmp_path)
