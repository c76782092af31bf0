"""A share of two versions of memlayer: the first that could share, out of this repository's history, and this one."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.support.shared_homes import shared_homes
from tests.support.shares import git_address

FIRST = "5de9daf"  # the commit
PROCESS = ROOT / "tests" / "support" / "version_process.py"
pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package of the older version."""
    packed = subprocess.run(
        ["git", "-C", str(ROOT), "archive", FIRST, "memlayer"], capture_output=True, check=False, timeout=60
    )
    if packed.returncode:
        pytest.skip("this copy has no history")
    folder = tmp_path_factory.mktemp("older")
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def test_an_older_version_and_this_one_become_equal(older: Path, tmp_path: Path) -> None:
    """Over git; a folder's layout is told by tests/contract/test_share_engines.py. Four processes: some seconds."""
    address, home = git_address(tmp_path), tmp_path / "old-home"
    with shared_homes(tmp_path, ["new"]) as [new]:

        def by_older(*steps: str) -> list[Any]:
            done = subprocess.run(
                [sys.executable, str(PROCESS), str(older), str(home), str(new.project), *steps],
                capture_output=True, text=True, timeout=120, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            return [json.loads(line) for line in done.stdout.splitlines()]

        *_, secret = by_older("setup", address, "", "chat", "old", "30", "push", "key")
        new.chat("new", 30, 2)
        new.sharing.set_up(address, secret=secret)
        assert new.sharing.pull().events == 60
        new.sharing.push()
        [pulled] = by_older("pull")
        assert pulled["events"] == 60
        gone = new.turn_of("(old7)")
        new.forget(gone.id)
        new.sharing.push()
        [pulled, _, rows] = by_older("pull", "push", "rows")
        assert pulled["erased"] >= 3
        new.sharing.pull()
        here = {table: {id_: row.get("text") for id_, row in found.items()} for table, found in new.rows().items()}
        assert rows == here and len(here["events"]) == 118 and gone.id not in here["memories"]
