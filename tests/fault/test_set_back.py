"""Memories whose newest version stood in a damaged file.

With a real daemon: the last change of each holds.
"""

import json
from pathlib import Path

import pytest

from tests.fault.test_damage import ROOT, compact, cut_short, data_files
from tests.support.cli_process import diagnosis, run_verb
from tests.support.processes import Daemon


@pytest.mark.timeout(180)
def test_pin_outlives_its_damaged_file(home: Path, project: Path) -> None:
    """The file with the newest version of a row is hit.

    repair names the rows that it brought back.
    """
    with Daemon(ROOT, home) as daemon:
        for text in ("배포는 화요일 오전에만 한다", "the staging port is 8443"):
            assert run_verb(home, "remember", text, "--project", str(project)).returncode == 0
        daemon.settle()
        compact(daemon)
        daemon.wait_for(lambda: daemon.call("status")["store"] == "open", "store")
        table = home / "store" / "memories.lance"
        whole = set(data_files(table))
        listed = {one["text"]: one["citation"] for one in daemon.call("list", category="core")["memories"]}
        daemon.call("pin", id=listed["배포는 화요일 오전에만 한다"])
        daemon.call("edit", id=listed["the staging port is 8443"], text="the staging port is 9443")
        daemon.stop()
        for path in set(data_files(table)) - whole:
            cut_short(path)
        daemon.start()
        daemon.wait_for(lambda: daemon.call("status")["store"] == "open", "store")
        assert diagnosis(home)["store"][0] == "fail"
        repaired = json.loads(run_verb(home, "doctor", "repair", "--json").stdout)
        assert repaired["memories"] >= 2 and repaired["in_doubt"] == []
        found = {one["text"]: one["pinned"] for one in daemon.call("list", category="core")["memories"]}
        assert found == {"배포는 화요일 오전에만 한다": True, "the staging port is 9443": False}
        assert diagnosis(home)["store"] == ("ok", "open")
        assert run_verb(home, "doctor", "repair").stdout == "Nothing to repair.\n"
