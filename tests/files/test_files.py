"""A file is written whole, or what was there before stays."""

from __future__ import annotations

import errno
import os
import resource
import stat

import pytest

import rtkm
from rtkm import RTKM
from rtkm._files import replacing


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def write(path, content):
    with replacing(path) as stream:
        stream.write(content)


def write_and_fail(path, error):
    with replacing(path) as stream:
        stream.write(b"half")
        raise error


def fail(*files):
    """As fsync does, which names no file, or replace, which names both."""
    first, second = map(os.fspath, files) if len(files) == 2 else (None, None)
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), first, None, second)


@pytest.mark.parametrize("act", ["fsync", "replace"])
@pytest.mark.parametrize("before", [None, b"before"])
def test_a_failed_write_leaves_what_was_there(act, before, tmp_path, monkeypatch):
    path = tmp_path / "m"
    if before is not None:
        path.write_bytes(before)
    monkeypatch.setattr(os, act, fail)
    with pytest.raises(OSError, match="No space left on device") as caught:
        write(path, b"after")
    assert caught.value.filename == str(path)
    assert caught.value.errno == errno.ENOSPC
    if before is None:
        assert names(tmp_path) == []
    else:
        assert path.read_bytes() == before
        assert names(tmp_path) == ["m"]


def test_a_full_disk_shows_under_the_name_that_was_given(tmp_path):
    (tmp_path / "m").write_bytes(b"before")
    (tmp_path / "link").symlink_to(tmp_path / "m")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Python ignores the signal, so that writing fails as on a full disk
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            write(tmp_path / "link", bytes(200_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.filename == str(tmp_path / "link")
    assert (tmp_path / "m").read_bytes() == b"before"
    assert names(tmp_path) == ["link", "m"]


@pytest.mark.parametrize(
    "error",
    [
        ValueError("fault"),
        KeyboardInterrupt(),
        ConnectionError("they did not send it"),
        FileNotFoundError(errno.ENOENT, "No such file or directory", "another"),
    ],
)
def test_errors_of_others_pass_and_leave_what_was_there(error, tmp_path):
    (tmp_path / "m").write_bytes(b"before")
    with pytest.raises(type(error)) as caught:
        write_and_fail(tmp_path / "m", error)
    assert caught.value is error
    assert (tmp_path / "m").read_bytes() == b"before"
    assert names(tmp_path) == ["m"]


def test_a_full_disk_leaves_the_old_model(blobs, tmp_path, monkeypatch):
    model = RTKM(2, contamination=0.1, random_state=0).fit(blobs)
    model.save(tmp_path / "m")
    before = (tmp_path / "m").read_bytes()
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left on device"):
        model.set_params(tol=0.5).save(tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == before
    assert rtkm.load(tmp_path / "m").tol == 1e-6


def test_bytes_are_on_the_disk_before_they_get_their_name(tmp_path, monkeypatch):
    path = tmp_path / "m"
    path.write_bytes(b"before")
    acts = []
    replace, fsync = os.replace, os.fsync

    def watched_fsync(number):
        acts.append(("fsync", path.read_bytes()))
        fsync(number)

    def watched_replace(part, to):
        acts.append(("replace", path.read_bytes()))
        assert to == path
        assert part.parent == tmp_path  # the same file system
        assert part.read_bytes() == b"after"
        replace(part, to)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(os, "replace", watched_replace)
    write(path, b"after")
    assert acts == [
        ("fsync", b"before"),
        ("replace", b"before"),
        ("fsync", b"after"),  # the folder's
    ]
    assert names(tmp_path) == ["m"]


def test_permissions_are_those_of_the_file_replaced_or_of_any_new_one(tmp_path):
    mask = os.umask(0o027)
    try:
        write(tmp_path / "m", b"first")
        assert mode(tmp_path / "m") == 0o640
        (tmp_path / "m").chmod(0o604)
        write(tmp_path / "m", b"second")
    finally:
        os.umask(mask)
    assert mode(tmp_path / "m") == 0o604
    assert (tmp_path / "m").read_bytes() == b"second"


def test_what_is_private_is_so_while_it_is_written(tmp_path):
    (tmp_path / "m").touch(mode=0o600)
    with replacing(tmp_path / "m"):
        assert [mode(path) for path in tmp_path.iterdir()] == [0o600, 0o600]


def test_a_link_is_followed(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "m")
    write(tmp_path / "link", b"first")
    write(str(tmp_path / "link"), b"second")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "m").read_bytes() == b"second"
    assert names(tmp_path / "there") == ["m"]


@pytest.mark.parametrize("name", ["x" * 255, "\N{GRINNING FACE}" * 63])
def test_names_as_long_as_can_be_are_written(name, tmp_path):
    write(tmp_path / name, b"content")
    assert names(tmp_path) == [name]


def test_a_named_pipe_is_written_to(tmp_path):
    os.mkfifo(tmp_path / "m")
    reading = os.open(tmp_path / "m", os.O_RDONLY | os.O_NONBLOCK)
    write(tmp_path / "m", b"content")
    assert os.read(reading, 100) == b"content"
    os.close(reading)
    assert names(tmp_path) == ["m"]
    assert not (tmp_path / "m").is_file()


def test_what_has_no_name_in_a_folder_is_written_to():
    reading, writing = os.pipe()
    write(f"/dev/fd/{writing}", b"content")
    assert os.read(reading, 100) == b"content"
    os.close(reading)
    with pytest.raises(BrokenPipeError) as caught:
        write(f"/dev/fd/{writing}", b"content")
    assert caught.value.filename == f"/dev/fd/{writing}"
    os.close(writing)


@pytest.mark.parametrize("name", ["m", "/"])
def test_a_folder_is_not_written_to(name, tmp_path):
    (tmp_path / "m").mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        write(tmp_path / name, b"content")
    assert caught.value.filename == str(tmp_path / name)
    assert names(tmp_path) == ["m"]


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_a_model_is_saved_to_nothing_but_a_file(make, blobs, tmp_path):
    make(tmp_path / "m")
    with pytest.raises(OSError, match="is not a file; choose another name"):
        RTKM(2, contamination=0.1, random_state=0).fit(blobs).save(tmp_path / "m")
    assert not (tmp_path / "m").is_file()


@pytest.mark.parametrize("place", ["missing/m", "file/m"])
def test_a_folder_that_is_not_there_is_named(place, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"No such file|Not a directory") as caught:
        write(tmp_path / place, b"content")
    assert caught.value.filename == str(tmp_path / place)


def test_a_loop_of_links_is_refused_and_stays(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links") as caught:
        write(tmp_path / "a", b"content")
    assert caught.value.errno == errno.ELOOP
    assert caught.value.filename == str(tmp_path / "a")
    assert all((tmp_path / name).is_symlink() for name in "ab")
    assert names(tmp_path) == ["a", "b"]
