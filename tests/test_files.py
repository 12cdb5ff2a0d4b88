"""A file is written whole, or what was there before stays."""

from __future__ import annotations

import errno
import os
import stat

import pytest

import rtkm
from rtkm import RTKM
from rtkm._files import replace_file


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def fail(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "some other name")


@pytest.mark.parametrize("act", ["fsync", "replace"])
@pytest.mark.parametrize("before", [None, b"before"])
def test_a_failed_write_leaves_what_was_there(act, before, tmp_path, monkeypatch):
    path = tmp_path / "m"
    if before is not None:
        path.write_bytes(before)
    monkeypatch.setattr(os, act, fail)
    with pytest.raises(OSError, match="No space left on device") as caught:
        replace_file(path, b"after")
    assert caught.value.filename == str(path)
    assert caught.value.errno == errno.ENOSPC
    if before is None:
        assert names(tmp_path) == []
    else:
        assert path.read_bytes() == before
        assert names(tmp_path) == ["m"]


def test_a_full_disk_leaves_the_old_model(blobs, tmp_path, monkeypatch):
    model = RTKM(2, random_state=0).fit(blobs)
    model.save(tmp_path / "m")
    before = (tmp_path / "m").read_bytes()
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left on device"):
        model.set_params(tol=0.5).save(tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == before
    assert rtkm.load(tmp_path / "m").tol == 1e-6


def test_an_interrupt_leaves_what_was_there(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    (tmp_path / "m").write_bytes(b"before")
    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        replace_file(tmp_path / "m", b"after")
    assert (tmp_path / "m").read_bytes() == b"before"
    assert names(tmp_path) == ["m"]


def test_bytes_are_on_the_disk_before_they_get_their_name(tmp_path, monkeypatch):
    acts = []
    monkeypatch.setattr(
        os, "fsync", lambda _, do=os.fsync: acts.append("fsync") or do(_)
    )
    monkeypatch.setattr(
        os, "replace", lambda *a, do=os.replace: acts.append("replace") or do(*a)
    )
    replace_file(tmp_path / "m", b"after")
    assert (tmp_path / "m").read_bytes() == b"after"
    assert acts == ["fsync", "replace", "fsync"]  # the last one is the folder's


def test_permissions_are_those_of_the_file_replaced_or_of_any_new_one(tmp_path):
    mask = os.umask(0o027)
    try:
        replace_file(tmp_path / "m", b"first")
        assert mode(tmp_path / "m") == 0o640
        (tmp_path / "m").chmod(0o604)
        replace_file(tmp_path / "m", b"second")
    finally:
        os.umask(mask)
    assert mode(tmp_path / "m") == 0o604
    assert (tmp_path / "m").read_bytes() == b"second"


def test_a_link_is_followed(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "m")
    replace_file(tmp_path / "link", b"first")
    replace_file(str(tmp_path / "link"), b"second")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "m").read_bytes() == b"second"
    assert names(tmp_path / "there") == ["m"]


def test_names_as_long_as_can_be_are_written(tmp_path):
    replace_file(tmp_path / ("x" * 255), b"content")
    assert names(tmp_path) == ["x" * 255]


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_file_is_not_replaced(make, tmp_path):
    make(tmp_path / "m")
    with pytest.raises(OSError, match="is not a file; choose another name"):
        replace_file(tmp_path / "m", b"content")
    assert not (tmp_path / "m").is_file()


@pytest.mark.parametrize("place", ["missing/m", "file/m"])
def test_a_folder_that_is_not_there_is_named(place, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"No such file|Not a directory") as caught:
        replace_file(tmp_path / place, b"content")
    assert caught.value.filename == str(tmp_path / place)
