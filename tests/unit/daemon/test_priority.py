"""The thread that writes goes behind all others, and only that thread."""

import os
import sys
import threading

import pytest

from memlayer.daemon.resources.jobs import NICENESS, go_second

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="threads have no priority of their own elsewhere")


def test_only_calling_thread_goes_second() -> None:
    before = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    seen: list[int] = []

    def work() -> None:
        for _ in range(2):
            go_second()
            seen.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [max(before, NICENESS)] * 2
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == before
