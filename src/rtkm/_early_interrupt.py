"""Ctrl-C while the command line is still being imported.

Until the command line is there, Python would answer with a traceback from the middle
of its imports. So in a process that was started as `rtkm` or `python -m rtkm`, SIGINT
has its default action, to end the process, until the command line installs its own
handler.
Nothing has been written by then. Other programs that import the library keep theirs.
"""

from __future__ import annotations

import os
import signal
import sys
import threading


def is_command_line() -> bool:
    """Whether this process is `rtkm` or `python -m rtkm`."""
    arguments = getattr(sys, "argv", [])
    if arguments[:1] == ["-m"]:  # so while Python looks for the module to run
        module = sys.orig_argv[len(sys.orig_argv) - len(arguments)]
        return module == "rtkm" or (module[:1] == "-" and module[-5:] == "mrtkm")
    return bool(arguments) and os.path.basename(arguments[0]) in ("rtkm", "rtkm.exe")


if (
    is_command_line()
    and threading.current_thread() is threading.main_thread()
    and signal.getsignal(signal.SIGINT) is signal.default_int_handler
):
    signal.signal(signal.SIGINT, signal.SIG_DFL)
