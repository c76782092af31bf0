"""Memory given back to the system, seen from a process that has some to give."""

import subprocess
import sys
from pathlib import Path

import pytest

from memlayer import compose
from memlayer.config import Settings
from memlayer.daemon import lifecycle
from memlayer.daemon.resources.memory import unchanged_code
from memlayer.daemon.resources.state import HeldSettings, State
from memlayer.records.metrics import Metrics
from memlayer.records.sessions import Sessions

ROOT = Path(__file__).resolve().parents[3]
LIBRARY = """\
7f10-7f20 r-xp 00001000 fd:00 1312 /usr/lib/{name}
Rss:                  64 kB
Anonymous:             {changed} kB
VmFlags: rd ex mr mw me
"""
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc to look into")


def places(text: str) -> list[tuple[int, int]]:
    return list(unchanged_code(text.splitlines(keepends=True)))


def test_only_unchanged_code_of_libraries_counts() -> None:
    whole = LIBRARY.format(name="libarrow.so.2600", changed=0)
    assert places(whole + LIBRARY.format(name="my lib/x 한글.so", changed=0)) == [(0x7F10, 0x7F20)] * 2
    assert places(LIBRARY.format(name="x.so", changed=4)) == []
    assert places(LIBRARY.format(name="python3.11", changed=0)) == []
    for rights in ("r--p", "rw-p", "r-xs", "rwxp"):
        assert places(whole.replace("r-xp", rights)) == []
    assert places("7f10-7f20 r-xp 00000000 00:00 0 [vdso]\nAnonymous: 0 kB\n7f30-7f40 r-xp 00000000 00:00 0 \n") == []


@linux_only
def test_process_survives_unmapped_code() -> None:
    code = """
        import sys
        sys.path.insert(0, sys.argv[1])
        import numpy
        from memlayer.daemon.resources import memory

        def total():
            return float((numpy.arange(300.0).reshape(30, 10) @ numpy.ones((10, 30))).sum())

        before = total()
        held = [bytes(700 + number % 300) for number in range(100_000)]
        kept = held[::500]
        full = memory.rss_bytes()
        del held
        memory.loaded()
        assert memory.rss_bytes() < full - 50e6, (full, memory.rss_bytes())
        here = memory.rss_bytes()
        assert memory.unmap_code() > 1e6
        assert total() == before and len(kept) == 200
        assert sys.getallocatedblocks() and __import__("gc").get_freeze_count() > 1000
    """
    done = subprocess.run(
        [sys.executable, "-I", "-c", "\n".join(line[8:] for line in code.splitlines()), str(ROOT)],
        capture_output=True, text=True, timeout=50, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_daemon_at_rest_gives_memory_back_once(tmp_path: Path) -> None:
    home = str(tmp_path / "집")
    state = State(
        home=home, held=HeldSettings(home, Settings()), projects=compose.open_projects(home), sessions=Sessions(home),
        metrics=Metrics(home),
    )  # fmt: skip
    for after_s, jobs in ((30.0, 0), (70.0, 1), (75.0, 1)):
        lifecycle._look_at_rest(state, state.life.last_request + after_s)
        assert state.jobs.pending == jobs
    state.jobs.start()
    assert state.jobs.close(20.0) and not state.jobs.failing
    state.life.last_request += 100.0  # somebody came
    lifecycle._look_at_rest(state, state.life.last_request + 70.0)
    assert state.jobs.pending == 1
