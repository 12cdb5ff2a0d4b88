"""Ending by a signal, with nothing left behind.

Only the command line calls `ending_by_signals`; importing the library installs nothing.
Python runs the handler in the main thread, between two instructions. It cleans up there
and then and lets the signal take its default action, so that whoever started the
process sees which signal it was. An exception in its place could be lost in a
destructor or a callback, or come out of a half-finished import as an ImportError.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)
]


class Deferral:
    """Whether signals wait, and the one that does."""

    depth = 0
    pending: int | None = None


_deferral = Deferral()


@contextmanager
def ending_by_signals(clean_up: Callable[[], object]) -> Iterator[None]:
    """End by SIGINT, SIGTERM and SIGHUP after a clean-up, until the block is left.

    A signal that is ignored, as under nohup, stays so, and one that the caller handles
    stays the caller's. A forked child, which also inherits the handler, ends without
    the clean-up: the files are its parent's.
    """
    owner = os.getpid()

    def end(number: int, frame: FrameType | None) -> None:
        if os.getpid() == owner:
            if _deferral.depth:
                _deferral.pending = number
                return
            clean_up()
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)
        os._exit(128 + number)  # where the signal is blocked

    replaced = {}
    is_main = threading.current_thread() is threading.main_thread()
    try:
        for number in ENDING if is_main else ():
            if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                replaced[number] = signal.signal(number, end)
        yield
    finally:
        for number, handler in replaced.items():
            signal.signal(number, handler)


@contextmanager
def deferring_signals() -> Iterator[None]:
    """Let signals that would end the process wait for the end of the block."""
    _deferral.depth += 1
    try:
        yield
    finally:
        _deferral.depth -= 1
        if not _deferral.depth and _deferral.pending is not None:
            number, _deferral.pending = _deferral.pending, None
            signal.raise_signal(number)
