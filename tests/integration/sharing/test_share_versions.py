"""A share of two versions of memlayer: one that told authors and ends otherwise, and this one."""

import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from memlayer.kinds import Author
from memlayer.ports import MemoryQuery
from tests.conftest import ROOT
from tests.support.shared_homes import shared_homes
from tests.support.shares import git_address

OLDER = "8908da90"  # the commit
PROCESS = ROOT / "tests" / "support" / "version_process.py"
pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package of the older version."""
    packed = subprocess.run(
        ["git", "-C", str(ROOT), "archive", OLDER, "memlayer"], capture_output=True, check=False, timeout=60
    )
    if packed.returncode:
        pytest.skip("this copy has no history")
    folder = tmp_path_factory.mktemp("older")
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def test_an_older_version_waits_for_its_update_and_loses_nothing(older: Path, tmp_path: Path) -> None:
    """This one takes all of the older's rows. The older says that it has to be updated, and keeps its own."""
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
        memories = new.services.store.memories(MemoryQuery(limit=10_000))
        assert {row.by for row in memories if row.category == "conversation"} == {Author.PERSON}
        assert all(row.holds for row in memories if row.category == "conversation")
        new.sharing.push()
        [pulled, rows] = by_older("pull", "rows")
        assert pulled["events"] == 0 and "another version of memlayer" in pulled["behind_why"]
        assert len(rows["events"]) == 60 and rows["events"].keys() <= new.rows()["events"].keys()
