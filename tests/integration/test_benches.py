"""Each bench runs, at its smallest size: a bench that is broken is found before its figures are needed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import ROOT
from tests.support.tables import tables

TABLES = tables("integration/benches")

HELPERS = {"latency_texts", "latency_store", "plot"}  # run by the others
QUICK = TABLES["quick"]
SLOW = TABLES["slow"]
HOST = ["host.py --rounds 1", "host.py --codex --rounds 1"]


def run(tmp_path: Path, command: str) -> None:
    """Run a bench; caches go to the test's folder."""
    name, *options = command.format(tmp=tmp_path).split(" ")
    if "--cache" in (ROOT / "bench" / name).read_text("utf-8"):
        options += ["--cache", str(tmp_path / "cache")]
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / name), *options], cwd=tmp_path, capture_output=True, text=True,
        env={**os.environ, "MEMLAYER_RUNTIME_DIR": sys.prefix, "TMPDIR": str(tmp_path)}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert re.search(r"\d", done.stdout)


@pytest.mark.parametrize("command", QUICK)
def test_bench_runs(tmp_path: Path, command: str) -> None:
    run(tmp_path, command)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("command", SLOW)
def test_long_bench_runs(tmp_path: Path, command: str) -> None:
    run(tmp_path, command)


@pytest.mark.host
@pytest.mark.timeout(600)
@pytest.mark.parametrize("command", HOST)
def test_bench_of_the_host_runs(tmp_path: Path, command: str) -> None:
    run(tmp_path, command)


def test_no_bench_is_left_out() -> None:
    named = {command.partition(".py")[0] for command in (*QUICK, *SLOW, *HOST)}
    assert named == {path.stem for path in (ROOT / "bench").glob("*.py")} - HELPERS
