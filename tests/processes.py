"""Tasks in processes of their own, which may be killed at a chosen moment.

Processes are forked from a server that has a single thread. A test run has several,
those of its own and of libraries, and a process forked from it can wait for ever for a
lock that one of them held.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from contextlib import contextmanager

import rtkm._files
import rtkm._journal
import rtkm._signals
import rtkm.cli.files

CLEAN = multiprocessing.get_context("forkserver")
# what tasks and the modules of their tests import, once for all of them
CLEAN.set_forkserver_preload(["pytest", "rtkm.cli.fit"])

# no task takes a hundredth of it, on the busiest machine: one that does hangs
PATIENCE = 600

WATCHED = {
    module.__file__
    for module in (rtkm._files, rtkm._journal, rtkm._signals, rtkm.cli.files)
}
CHANGING = {"open", "flush", "truncate", "flock", "link", "replace", "unlink"}


def ending_of(task, *arguments):
    """Run a task, a function of a module; return its exit code, below 0 for signals."""
    process = CLEAN.Process(target=task, args=arguments)
    process.start()
    return joined(process)


def joined(process):
    process.join(PATIENCE)
    if process.exitcode is None:
        process.kill()
        raise AssertionError("the process hangs")
    return process.exitcode


@contextmanager
def paused(task, *arguments):
    """Run a task, and go on here once it calls the last argument it is given."""
    here, there = CLEAN.Pipe()
    process = CLEAN.Process(target=pausing, args=(there, task, *arguments))
    process.start()
    there.close()
    assert here.poll(PATIENCE)
    here.recv()
    try:
        yield
    finally:
        here.send("go on")
        assert joined(process) == 0


def pausing(connection, task, *arguments):
    def pause():
        connection.send("here")
        connection.recv()

    task(*arguments, pause)


def send_at(number, countdown, by):
    """Send this process a signal at a certain line or call of the code that writes."""

    def count():
        nonlocal countdown
        countdown -= 1
        if countdown == 0:
            os.kill(os.getpid(), number)

    def trace(frame, event, argument):
        if frame.f_code.co_filename not in WATCHED:
            return None
        if event == "line":
            count()
        return trace

    def profile(frame, event, argument):
        if event == "c_call" and argument.__name__ in CHANGING:
            count()

    if by == "line":
        sys.settrace(trace)
    else:
        sys.setprofile(profile)


def send_no_more():
    sys.settrace(None)
    sys.setprofile(None)


def default_signals():
    """Undo what a test run in the background, or under nohup, would inherit."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
