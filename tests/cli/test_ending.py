"""Closed streams, full disks and signals: what a command writes, and how it ends."""

from __future__ import annotations

import fcntl
import os
import random
import select
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from processes import default_signals, ending_of

from rtkm import load
from rtkm.cli.main import main

pytest_plugins = ("typed",)

RTKM = [sys.executable, "-m", "rtkm"]
SCRIPT = Path(sys.executable).with_name("rtkm")
FIT = ["fit", "people.csv", "-k", "2", "--missing", "drop"]
FILES = {
    "--output": "out.csv",
    "--report": "report.html",
    "--json": "found.json",
    "--model": "model.rtkm",
}
ALL = [word for pair in FILES.items() for word in pair]
ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
INTERRUPTED = b"rtkm: interrupted.\n"


def in_shell(arguments, redirected, folder, command=RTKM):
    """Run a command with streams as a shell is told to leave them."""
    line = ["sh", "-c", f'exec "$0" "$@" {redirected}', *command, *arguments]
    return subprocess.run(line, capture_output=True, cwd=folder, check=False)


@contextmanager
def start(arguments, folder, command=RTKM):
    with subprocess.Popen(
        [*command, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        preexec_fn=default_signals,
    ) as run:
        try:
            yield run
            run.wait()
        finally:
            run.kill()


def traces(folder):
    return [name for name in os.listdir(folder) if name.startswith(".")]


# Streams


@pytest.mark.parametrize(
    ("redirected", "code", "message"),
    [
        ("2>&-", 0, b""),
        (">&-", 0, b""),
        pytest.param("<&- >&- 2>&-", 0, b"", marks=pytest.mark.slow),
        pytest.param("2>/dev/full", 0, b"", marks=pytest.mark.slow),
        (
            ">/dev/full",
            1,
            b"rtkm: standard output cannot be written (No space left on device).\n",
        ),
        pytest.param(">/dev/full 2>/dev/full", 1, b"", marks=pytest.mark.slow),
    ],
)
def test_files_are_written_whatever_becomes_of_the_streams(
    rtkm, people, tmp_path, redirected, code, message
):
    run = in_shell([*FIT, *ALL], redirected, tmp_path)
    assert (run.returncode, run.stderr) == (code, message)
    assert sorted(os.listdir(tmp_path)) == sorted(["people.csv", *FILES.values()])
    assert rtkm(*FIT, "--output", "again.csv").code == 0
    # nothing that was printed has got into it
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "again.csv").read_bytes()
    assert load(tmp_path / "model.rtkm").n_features_in_ == 2


def test_answers_that_flow_out_need_a_standard_output(people, tmp_path):
    words = [*FIT, "--output", "-", "--report", "report.html"]
    run = in_shell(words, ">&-", tmp_path)
    assert run.returncode == 1
    assert run.stderr == b"rtkm: standard output is closed; name a file instead of -.\n"
    assert sorted(os.listdir(tmp_path)) == ["people.csv"]


@pytest.mark.slow
def test_answers_that_cannot_flow_out_are_an_error(people, tmp_path):
    words = [*FIT, "--quiet", "--output", "-", "--report", "report.html"]
    run = in_shell(words, ">/dev/full", tmp_path)
    assert run.returncode == 1
    assert run.stderr == (
        b"rtkm: standard output cannot be written (No space left on device).\n"
    )
    assert (tmp_path / "report.html").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "redirected", "code"),
    [
        (["--help"], ">/dev/full", 1),
        (["--completion", "bash"], ">/dev/full", 1),
        (["methods"], ">/dev/full", 1),
        (["--help"], ">&-", 0),
        (["--version"], ">&-", 0),
        (["methods"], ">&- 2>&-", 0),
        (["fit", "--nonsense"], "2>&-", 2),
        (["fit", "--nonsense"], "2>/dev/full", 2),
        (["fit", "-", "-k", "2"], "<&-", 1),
        (["fit", "-", "-k", "2"], "<&- 2>&-", 1),
        (["compare", "people.csv", "-k", "2", "--missing", "drop"], "2>&-", 0),
        (["demo"], ">&- 2>&-", 0),
        (["demo"], ">/dev/full", 1),
    ],
)
def test_no_command_minds_its_streams(people, tmp_path, arguments, redirected, code):
    run = in_shell(arguments, redirected, tmp_path)
    assert run.returncode == code
    assert len(run.stderr.splitlines()) <= 1


def test_a_stream_that_does_not_wait_loses_nothing(people, tmp_path):
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    os.set_blocking(writing, False)
    words = ["fit", "people.csv", "-k", "2", "--missing", "drop", "--json", "-"]
    with subprocess.Popen(
        [*RTKM, *words, "--quiet"], stdout=writing, cwd=tmp_path
    ) as run:
        os.close(writing)
        with open(reading, "rb") as stream:
            content = stream.read()
    assert run.returncode == 0
    assert len(content) > 4096
    assert content.endswith(b"}")


# Signals


def test_the_handlers_of_the_caller_are_back_afterwards(rtkm, people):
    def mine(number, frame):
        raise AssertionError

    kept = {number: signal.getsignal(number) for number in ENDING}
    given = [signal.default_int_handler, mine, signal.SIG_IGN]
    try:
        for number, handler in zip(ENDING, given, strict=True):
            signal.signal(number, handler)
        assert rtkm(*FIT, *ALL).code == 0
        assert rtkm("--version").code == 0
        assert rtkm("fit", "no.csv", "-k", "2").code == 1
        assert list(map(signal.getsignal, ENDING)) == given
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


@pytest.mark.parametrize("name", ["mine.py", "rtkm.py", "-c"])
def test_importing_the_library_installs_no_handler(tmp_path, name):
    code = (
        "import signal\n"
        "names = 'SIGINT', 'SIGTERM', 'SIGHUP'\n"
        "def handlers(): return [signal.getsignal(getattr(signal, n)) for n in names]\n"
        "before = handlers()\n"
        "import rtkm._early_interrupt, rtkm.cli.main\n"
        "assert handlers() == before\n"
    )
    if name == "-c":
        command = [sys.executable, "-c", code]
    else:
        (tmp_path / "scripts").mkdir()
        (tmp_path / "scripts" / name).write_text(code)
        command = [sys.executable, "-P", tmp_path / "scripts" / name]
    subprocess.run(command, check=True)


@pytest.mark.parametrize(
    "command",
    [
        RTKM,
        pytest.param(
            [sys.executable, str(SCRIPT)],
            marks=pytest.mark.skipif(not SCRIPT.exists(), reason="rtkm is no script"),
        ),
    ],
    ids=["module", "script"],
)
@pytest.mark.parametrize("module", [b"numpy.version", b"sklearn.base"])
def test_ctrl_c_while_importing_is_no_traceback(tmp_path, command, module):
    python, *arguments = command
    with start(["methods"], tmp_path, [python, "-X", "importtime", *arguments]) as run:
        for line in run.stderr:
            if line.split()[-1] == module:
                break
        run.send_signal(signal.SIGINT)
        err = run.stderr.read()
    assert run.returncode == -signal.SIGINT
    assert b"Traceback" not in err
    said = [line for line in err.splitlines() if not line.startswith(b"import time:")]
    assert said == [b"rtkm: interrupted."]


def ready(process, test):
    """Wait for what a process does, as long as it runs."""
    while not test():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)


@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, *(pytest.param(n, marks=pytest.mark.slow) for n in ENDING[1:])],
)
def test_a_signal_ends_the_reading(tmp_path, number):
    os.mkfifo(tmp_path / "pipe")
    with start(["fit", "pipe", "-k", "2", *ALL], tmp_path) as run:
        opened = []

        def is_read():
            try:
                opened.append(os.open(tmp_path / "pipe", os.O_WRONLY | os.O_NONBLOCK))
            except OSError:  # nobody has it open
                return False
            return True

        ready(run, is_read)
        run.send_signal(number)
        assert run.stderr.read() == INTERRUPTED
    os.close(opened[0])
    assert run.returncode == -number
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.parametrize(
    "number",
    [signal.SIGTERM, *(pytest.param(n, marks=pytest.mark.slow) for n in ENDING[::2])],
)
def test_a_signal_ends_the_fit(people, tmp_path, number):
    # more starts than any machine gets through
    words = ["--n-swaps", "0", "--n-init", "1000000000"]
    with start([*FIT, *words, *ALL], tmp_path) as run:
        assert run.stdout.readline().startswith(b"Read 62 rows")
        run.send_signal(number)
        assert run.stderr.read() == INTERRUPTED
    assert run.returncode == -number
    assert os.listdir(tmp_path) == ["people.csv"]


@contextmanager
def stalled(folder, command=RTKM):
    """Start a command that waits in the midst of writing; yields it and the pipe."""
    for name in FILES.values():
        (folder / name).write_text("before")
    (folder / "report.html").unlink()
    os.mkfifo(folder / "report.html")
    reading = os.open(folder / "report.html", os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(reading, fcntl.F_SETPIPE_SZ, 4096)
    with open(reading, "rb") as pipe:
        with start([*FIT, "--quiet", *ALL], folder, command) as run:
            ready(run, lambda: select.select([pipe], [], [], 0)[0])
            yield run, pipe


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_while_writing_leaves_all_as_it_was(people, tmp_path, number):
    with stalled(tmp_path) as (run, _):
        assert len(traces(tmp_path)) == 3  # the parts of the other files
        run.send_signal(number)
        assert run.stderr.read() == INTERRUPTED
    assert run.returncode == -number
    assert traces(tmp_path) == []
    for name in ("out.csv", "found.json", "model.rtkm"):
        assert (tmp_path / name).read_text() == "before"


def test_a_signal_that_is_ignored_stays_so(people, tmp_path):
    ignoring = ["sh", "-c", 'trap "" HUP INT TERM; exec "$0" "$@"', *RTKM]
    with stalled(tmp_path, ignoring) as (run, pipe):
        for number in ENDING:
            run.send_signal(number)
        os.set_blocking(pipe.fileno(), True)
        assert pipe.read().endswith(b"</html>\n")
        assert run.stderr.read() == b""
    assert run.returncode == 0
    assert traces(tmp_path) == []
    for name in ("out.csv", "found.json", "model.rtkm"):
        assert (tmp_path / name).read_bytes() != b"before"


# Kills


def test_a_run_that_was_killed_is_repaired_and_told_by_the_next(people, tmp_path, rtkm):
    with stalled(tmp_path) as (run, _):
        run.kill()
    assert len(traces(tmp_path)) == 3
    (tmp_path / "report.html").unlink()
    outcome = rtkm(*FIT, "--json", "other.json")
    assert outcome.code == 0
    assert outcome.out.replace("\n", " ").startswith(
        "An earlier run was stopped before it had written its files: removed 3 "
        f"unfinished files in {tmp_path}. Read 62 rows"
    )
    assert traces(tmp_path) == []


def fit_and_be_killed(moment):
    for act in ("fsync", "link", "replace", "unlink"):
        setattr(os, act, killing(getattr(os, act), moment))
    sys.exit(main([*FIT, "--quiet", *ALL]))


def test_commands_change_all_files_or_none_if_killed(rtkm, people, tmp_path):
    moment, code, seen = 0, -signal.SIGKILL, set()
    while code:
        moment += 1
        for name in FILES.values():
            (tmp_path / name).write_text("before")
        code = ending_of(fit_and_be_killed, moment)
        assert code in (0, -signal.SIGKILL)
        assert rtkm(*FIT, "--json", "other.json").code == 0
        files = [(tmp_path / name).read_bytes() for name in FILES.values()]
        is_old = [content == b"before" for content in files]
        assert all(is_old) or not any(is_old), moment
        assert traces(tmp_path) == []
        seen.add(all(is_old))
    assert seen == {True, False}


CALLS = [0]


def killing(function, moment):
    """Return a function that kills the process at the given one of all calls."""

    def call(*arguments, **options):
        CALLS[0] += 1
        if CALLS[0] == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)

    return call


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, *ENDING])
def test_files_are_old_or_new_together_after_a_signal_at_random(
    people, tmp_path, number
):
    rng = random.Random(int(number))
    for _ in range(5):
        for name in FILES.values():
            (tmp_path / name).write_text("before")
        with start([*FIT, *ALL], tmp_path) as run:
            run.stdout.readline()
            time.sleep(rng.uniform(0, 0.3))
            run.send_signal(number)
            err = run.stderr.read()
        assert run.returncode in (0, -number)
        assert err in (b"", INTERRUPTED)
        if number != signal.SIGKILL:
            assert traces(tmp_path) == []
        assert main(["fit", str(people), *FIT[2:], "--quiet", *other(tmp_path)]) == 0
        is_old = [(tmp_path / n).read_bytes() == b"before" for n in FILES.values()]
        assert all(is_old) or not any(is_old)
        assert traces(tmp_path) == []


def other(folder):
    return ["--json", str(folder / "other.json")]
