"""Ctrl-C in the midst of native work."""

from __future__ import annotations

import subprocess
import sys
import textwrap

# The work is under way once it has used processor time, and ends soon if it uses little
# more: neither depends on what else the machine does.
WATCH = """
import signal, threading, time

signal.signal(signal.SIGINT, signal.default_int_handler)  # even in the background
pressed = []

def press(begin):
    while time.process_time() < begin + 1:
        time.sleep(0.01)
    pressed.append(time.process_time())
    signal.raise_signal(signal.SIGINT)

def press_soon():
    threading.Thread(target=press, args=[time.process_time()], daemon=True).start()
"""
WORK = """
try:
    work()
except KeyboardInterrupt:
    print(time.process_time() - pressed[0])
"""


def processor_seconds_after_ctrl_c(code):
    """Return how long the `work` of some code, which calls `press_soon`, goes on after.

    Seconds are those of all processors; left alone, the work should use 10 and more.
    """
    program = WATCH + textwrap.dedent(code) + WORK
    answer = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=600,
    )
    return float(answer.stdout)
