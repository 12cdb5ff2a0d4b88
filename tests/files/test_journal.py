"""Files of one run change as one, whatever ends it."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import stat
import tempfile
from pathlib import Path

import pytest
from processes import CLEAN, ending_of, joined, paused, send_at, send_no_more

import rtkm._files
import rtkm._journal
from rtkm._files import PART_NAME, remove_unfinished, replacing, writing_part
from rtkm._journal import NAME, repair, replace_together
from rtkm._signals import ending_by_signals
from rtkm.cli.files import write_together
from rtkm.tables.messages import InputError

OLD, NEW = b"old", b"new"


def contents(paths):
    return [path.read_bytes() if path.exists() else None for path in paths]


def traces(*folders):
    """Return what runs have left in folders."""
    return [
        str(path)
        for folder in folders
        for path in folder.iterdir()
        if PART_NAME.fullmatch(path.name) or path.name == NAME
    ]


def write_all(paths, content=NEW):
    return write_together({path: lambda s: s.write(content) for path in paths})


def write_unsynced(paths):
    """Write files on a disk whose power is not cut."""
    os.fsync = lambda number: None
    write_all(paths)


def write_and_send(number, moment, by, paths):
    send_at(number, moment, by)
    write_unsynced(paths)


def repair_and_send(number, moment, by, folders):
    send_at(number, moment, by)
    os.fsync = lambda number: None
    repair(folders)


def write_and_end(number, moment, by, paths):
    signal.signal(number, signal.SIG_DFL)  # even in the background
    with ending_by_signals(remove_unfinished):
        send_at(number, moment, by)
        write_unsynced(paths)
        send_no_more()


# between two calls that change files, or locks, nothing can be seen from outside, but
# a signal may meet this process itself at any line; some of them stand for all
each_moment = pytest.mark.parametrize(
    ("by", "stride"), [("call", 1), pytest.param("line", 19, marks=pytest.mark.slow)]
)


@pytest.fixture(params=["one folder", "three folders", "new files"])
def places(request, tmp_path, monkeypatch):
    """Four files in one folder or three, which are there or not."""
    monkeypatch.setattr(os, "fsync", lambda number: None)  # no power is cut here
    folders = [tmp_path]
    if request.param == "three folders":
        folders = [tmp_path / name for name in ("b", "a", "c")]
        for folder in folders:
            folder.mkdir()
    paths = [folders[i % len(folders)] / f"file {i}" for i in range(4)]
    before = None if request.param == "new files" else OLD

    def reset():
        for path in paths:
            path.unlink(missing_ok=True)
            if before is not None:
                path.write_bytes(before)

    reset()
    return paths, folders, [before] * 4, reset


@each_moment
def test_files_are_old_or_new_together_after_a_kill_at_any_moment(places, by, stride):
    paths, folders, before, reset = places
    seen, moment, code = set(), 0, -signal.SIGKILL
    while code:
        moment += stride
        reset()
        code = ending_of(write_and_send, signal.SIGKILL, moment, by, paths)
        assert code in (0, -signal.SIGKILL)
        has_parts = any(name.endswith(".part") for name in traces(*folders))
        found = contents(paths)
        notes = repair(folders)
        repaired = contents(paths)
        assert repaired in (before, [NEW] * 4), moment
        assert traces(*folders) == []
        assert notes or not has_parts
        assert notes or repaired == found
        seen.add((found == before, found == [NEW] * 4, repaired == before))
    if stride == 1:  # cut short before, in and after the row of renames
        assert {
            (True, False, True),
            (False, False, False),
            (False, True, False),
        } <= seen


@each_moment
def test_a_repair_that_is_killed_is_repaired(places, by, stride):
    paths, folders, _, reset = places
    moment, code = 0, -signal.SIGKILL
    while code:
        moment += stride
        reset()
        assert ending_of(be_killed_in_row, paths) == -signal.SIGKILL
        code = ending_of(repair_and_send, signal.SIGKILL, moment, by, folders)
        repair(folders)
        assert contents(paths) == [NEW] * 4, moment
        assert traces(*folders) == []
    assert moment > 10


def be_killed_in_row(paths, after=1, content=NEW):
    """Write files, and be killed after some of them have been renamed."""
    rename, count = os.replace, 0

    def replace(part, target):
        nonlocal count
        if count == after:
            os.kill(os.getpid(), signal.SIGKILL)
        count += 1
        rename(part, target)

    os.replace = replace
    write_all(paths, content)


@each_moment
@pytest.mark.parametrize(
    "number",
    [
        signal.SIGTERM,
        pytest.param(signal.SIGINT, marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, marks=pytest.mark.slow),
    ],
)
def test_a_signal_at_any_moment_leaves_nothing_behind(places, number, by, stride):
    paths, folders, before, reset = places
    moment, code, outcomes = 0, -number, set()
    while code:
        moment += stride
        reset()
        code = ending_of(write_and_end, number, moment, by, paths)
        assert code in (0, -number), moment
        outcomes.add(tuple(contents(paths)))
        assert traces(*folders) == [], moment
    assert outcomes == {tuple(before), (NEW,) * 4}


# What is not to be touched


@pytest.fixture
def pair(tmp_path):
    paths = [tmp_path / "a", tmp_path / "b"]
    for path in paths:
        path.write_bytes(OLD)
    return paths


def leave_half_done(paths):
    assert ending_of(be_killed_in_row, paths) == -signal.SIGKILL
    assert contents(paths) == [NEW, OLD]


def test_files_that_were_changed_since_are_left_alone(pair, tmp_path):
    leave_half_done(pair)
    with replacing(pair[1]) as stream:
        stream.write(b"newer")
    assert repair([tmp_path]) == [
        "An earlier run was stopped while it replaced its files: did not replace "
        f"{pair[1]}, changed since."
    ]
    assert contents(pair) == [NEW, b"newer"]
    assert traces(tmp_path) == []


def test_files_that_were_removed_since_do_not_come_back(pair, tmp_path):
    leave_half_done(pair)
    pair[1].unlink()
    repair([tmp_path])
    assert contents(pair) == [NEW, None]
    assert traces(tmp_path) == []


def test_it_is_said_what_is_repaired(pair, tmp_path):
    leave_half_done(pair)
    assert repair([tmp_path]) == [
        "An earlier run was stopped while it replaced its files: finished replacing "
        f"{pair[1]}."
    ]
    assert repair([tmp_path]) == []
    assert ending_of(be_killed_in_last, pair) == -signal.SIGKILL
    assert repair([tmp_path]) == [
        "An earlier run was stopped before it had written its files: removed 2 "
        f"unfinished files in {tmp_path}."
    ]


def be_killed_in_last(paths):
    """Write files, and be killed before the last of them has been written."""

    def be_killed(stream):
        os.kill(os.getpid(), signal.SIGKILL)

    write_together(dict.fromkeys(paths, lambda stream: None) | {paths[-1]: be_killed})


def write_slowly(path, pause):
    with replacing(path) as stream:
        pause()
        stream.write(NEW)


def test_parts_of_a_run_that_is_alive_are_left_alone(pair, tmp_path):
    with paused(write_slowly, pair[0]):
        before = traces(tmp_path)
        assert len(before) == 1
        assert repair([tmp_path]) == []
        write_all(pair, b"other")
        assert traces(tmp_path) == before
        assert contents(pair) == [b"other"] * 2
    assert contents(pair) == [NEW, b"other"]
    assert traces(tmp_path) == []


def rename_slowly(paths, pause):
    rename = os.replace

    def replace(part, target):
        rename(part, target)
        if target == paths[0]:
            pause()

    os.replace = replace
    write_all(paths)


def test_a_row_waits_for_that_of_another_run(pair, tmp_path, monkeypatch):
    with paused(rename_slowly, pair):
        monkeypatch.setattr(rtkm._journal, "PATIENCE", 0.0)
        assert repair([tmp_path]) == []
        assert contents(pair) == [NEW, OLD]
        assert traces(tmp_path) != []
    monkeypatch.undo()
    assert contents(pair) == [NEW, NEW]
    assert traces(tmp_path) == []


def write_often(paths, name):
    for i in range(20):
        write_all(paths, name + b"%d" % i)


def test_runs_at_the_same_time_leave_the_files_of_one_of_them(places):
    paths, folders, _, _ = places
    writers = [
        CLEAN.Process(target=write_often, args=(paths, name)) for name in (b"x", b"y")
    ]
    for writer in writers:
        writer.start()
    write_often(paths, b"z")
    assert [joined(writer) for writer in writers] == [0, 0]
    assert len(set(contents(paths))) == 1
    assert traces(*folders) == []


def test_journals_of_others_are_not_believed(pair, tmp_path, monkeypatch):
    leave_half_done(pair)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert repair([tmp_path]) == []
    assert contents(pair) == [NEW, OLD]
    write_all(pair, b"mine")  # goes without a journal
    assert contents(pair) == [b"mine"] * 2
    monkeypatch.undo()
    repair([tmp_path])
    assert contents(pair) == [b"mine"] * 2
    assert traces(tmp_path) == []


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"[]",
        b"\xff",
        b'{"id": "x", "folders": ["."], "moves": [1]}',
        b'{"id": "x", "folders": [], "moves": []}',
        b'{"id": "x", "folders": ["."], "moves": [["a", null, "b", null]]}',
        b'{"id": "x", "folders": ["."], "moves": [["a", [1], "b", "c"]]}',
        b"[" * 100_000,
    ],
)
def test_a_journal_that_is_not_whole_counts_for_nothing(pair, tmp_path, content):
    (tmp_path / NAME).write_bytes(content)
    repair([tmp_path])
    assert contents(pair) == [OLD, OLD]
    assert traces(tmp_path) == []
    (tmp_path / NAME).write_bytes(content)
    write_all(pair)
    assert contents(pair) == [NEW, NEW]
    assert traces(tmp_path) == []


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, lambda p: os.symlink("x", p)])
def test_a_folder_that_can_have_no_journal_goes_without(pair, tmp_path, make):
    make(tmp_path / NAME)
    write_all(pair)
    assert contents(pair) == [NEW, NEW]
    assert repair([tmp_path]) == []
    assert not (tmp_path / "x").exists()


def test_a_disk_without_locks_or_links_goes_without(pair, tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))

    monkeypatch.setattr(rtkm._files.fcntl, "flock", fail)
    monkeypatch.setattr(os, "link", fail)
    write_all(pair)
    assert contents(pair) == [NEW, NEW]
    assert traces(tmp_path) == []
    leave_half_done_without_journal = tmp_path / ".a.0123456789abcdef.rtkm.part"
    leave_half_done_without_journal.touch()
    assert repair([tmp_path]) == []  # it may be alive
    assert leave_half_done_without_journal.exists()


def test_a_folder_that_was_moved_is_repaired_where_it_is(tmp_path):
    (tmp_path / "here").mkdir()
    paths = [tmp_path / "here" / name for name in "ab"]
    for path in paths:
        path.write_bytes(OLD)
    leave_half_done(paths)
    (tmp_path / "here").rename(tmp_path / "there")
    repair([tmp_path / "there"])
    assert contents([tmp_path / "there" / name for name in "ab"]) == [NEW, NEW]
    assert traces(tmp_path / "there") == []


@pytest.mark.parametrize("visited", [0, 1])
def test_any_of_the_folders_is_enough_to_repair_all(tmp_path, visited):
    folders = [tmp_path / "x", tmp_path / "y"]
    for folder in folders:
        folder.mkdir()
    paths = [folder / "file" for folder in folders]
    for path in paths:
        path.write_bytes(OLD)
    leave_half_done(paths)
    repair([folders[visited]])
    assert contents(paths) == [NEW, NEW]
    assert traces(*folders) == []


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="there is no other disk")
def test_files_on_two_disks_change_together(tmp_path):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as there:
        paths = [tmp_path / "a", Path(there) / "b"]
        for path in paths:
            path.write_bytes(OLD)
        leave_half_done(paths)
        repair([tmp_path])
        assert contents(paths) == [NEW, NEW]
        write_all(paths, b"newer")  # replaced, not appended to
        assert contents(paths) == [b"newer", b"newer"]
        assert traces(tmp_path, Path(there)) == []


# Failures that are no kills


@pytest.mark.parametrize("failing", range(4))
def test_a_rename_that_fails_brings_the_others_back(places, failing, monkeypatch):
    paths, folders, before, _ = places
    rename = os.replace

    def replace(part, target):
        if target == paths[failing]:
            monkeypatch.setattr(os, "replace", rename)  # what undoes it works
            reason = os.strerror(errno.EPERM)
            raise PermissionError(errno.EPERM, reason, str(part), None, str(target))
        rename(part, target)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(InputError) as caught:
        write_all(paths)
    assert str(caught.value) == (
        f"{paths[failing]} cannot be written (Operation not permitted)."
    )
    assert contents(paths) == before
    assert traces(*folders) == []


def test_a_disk_too_full_for_a_journal_goes_without(pair, tmp_path, monkeypatch):
    def fail(self, content):
        self.stream.write(content[:10])
        self.stream.flush()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(rtkm._journal.Journal, "write", fail)
    write_all(pair)
    assert contents(pair) == [NEW, NEW]
    assert traces(tmp_path) == []


def test_a_full_disk_leaves_all_files(pair, tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Python ignores the signal, so that writing fails as on a full disk
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(InputError) as caught:
            write_together(
                {
                    pair[0]: lambda s: s.write(NEW),
                    pair[1]: lambda s: s.write(b"x" * 10**6),
                }
            )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert str(caught.value) == f"{pair[1]} cannot be written (File too large)."
    assert contents(pair) == [OLD, OLD]
    assert traces(tmp_path) == []


def test_links_are_followed_and_permissions_kept(tmp_path):
    for folder in ("there", "here"):
        (tmp_path / folder).mkdir()
    targets = [tmp_path / "there" / name for name in "ab"]
    links = [tmp_path / "here" / name for name in "ab"]
    for link, target in zip(links, targets, strict=True):
        target.touch(mode=0o640)
        target.chmod(0o604)
        link.symlink_to(target)
    write_all(links)
    assert contents(targets) == [NEW, NEW]
    assert all(link.is_symlink() for link in links)
    assert [stat.S_IMODE(t.stat().st_mode) for t in targets] == [0o604] * 2
    assert sorted(os.listdir(tmp_path / "here")) == ["a", "b"]
    assert traces(tmp_path / "there") == []


def test_a_journal_is_on_the_disk_before_the_first_rename(pair, monkeypatch):
    acts = []
    fsync, rename = os.fsync, os.replace

    def watched_fsync(number):
        acts.append(Path(os.readlink(f"/proc/self/fd/{number}")).name)
        fsync(number)

    def watched_replace(part, target):
        assert json.loads((pair[0].parent / NAME).read_bytes())["folders"] == ["."]
        acts.append("rename")
        rename(part, target)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(os, "replace", watched_replace)
    write_all(pair)
    folder = pair[0].parent.name
    assert acts[2:] == [folder, NAME, folder, "rename", "rename", folder, folder]


def test_parts_are_removed_when_writing_fails(pair, tmp_path):
    def fail(stream):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        write_together({pair[0]: lambda s: s.write(NEW), pair[1]: fail})
    assert contents(pair) == [OLD, OLD]
    assert traces(tmp_path) == []
    assert not rtkm._files.unfinished


def test_no_files_are_no_trouble(tmp_path):
    assert replace_together([]) == []
    with writing_part(tmp_path / "a") as part:
        part.stream.write(NEW)
        part.finish()
        assert replace_together([part]) == []
    assert (tmp_path / "a").read_bytes() == NEW
