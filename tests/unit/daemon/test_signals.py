"""A signal that comes in the moment in which the main thread holds the event's lock still sets the event."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import os, signal, sys, threading, time
sys.path.insert(0, sys.argv[1])
from memlayer.daemon import lifecycle
event = threading.Event()
lifecycle.set_on_signal(event)
with event._cond:  # as in Event.wait, before and after it sleeps
    os.kill(os.getpid(), int(sys.argv[2]))
    time.sleep(0.05)
print(event.wait(20))
"""


@pytest.mark.parametrize("number", [1, 2, 15])
def test_signal_sets_event_under_its_lock(number: int) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-c", PROGRAM, str(ROOT), str(number)], capture_output=True, text=True, timeout=40,
        env={"PATH": os.environ["PATH"]}, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")
