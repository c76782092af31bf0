"""A home of commit 8908da90 (schema 5), opened by the code of today.

The home is packed: tests/fixtures/make_home_8908da90.py made it with that commit.
"""

import json
import re
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from memlayer.adapters.lance.opening import SCHEMA_VERSION
from memlayer.kinds import Ended
from tests.fixtures.make_home_8908da90 import ARCHIVE, FORGOTTEN, REMOTE, RULE, SEARCHES, TURNS
from tests.support.cli_process import Cli
from tests.support.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parents[2]


class OldHome(NamedTuple):
    """The unpacked home, a clone of its project elsewhere, and its contents by the old version's account."""

    home: Path
    project: Path
    memories: dict[str, dict[str, Any]]  # by id
    searches: dict[str, list[str]]  # query -> keys of the first three hits

    @property
    def schema(self) -> int:
        return int(json.loads((self.home / "store" / "schema.json").read_text())["version"])


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OldHome]:
    folder = tmp_path_factory.mktemp("옛 home")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    project = folder / "a clone"
    project.mkdir()
    for arguments in (["init", "--quiet"], ["remote", "add", "origin", REMOTE]):
        subprocess.run(["git", *arguments], cwd=project, check=True)
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    found = OldHome(folder / "home", project, {one["id"]: one for one in expected["memories"]}, expected["searches"])
    assert found.schema == 5
    yield found


@pytest.fixture(scope="module")
def daemon(old: OldHome) -> Iterator[Daemon]:
    with Daemon(ROOT, old.home) as running:
        running.settle()
        yield running


@pytest.fixture
def cli(old: OldHome, daemon: Daemon) -> Cli:
    return Cli(old.home, old.project)


def listed(cli: Cli) -> list[dict[str, Any]]:
    done = cli("list", "--all", "--limit", "1000", "--json")
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout)["memories"])


def test_archive_is_small_and_of_no_machine() -> None:
    assert ARCHIVE.stat().st_size < 300_000
    with tarfile.open(ARCHIVE) as archive:
        files = [archive.extractfile(entry) for entry in archive if entry.isfile()]
        raw = b"\n".join(file.read() for file in files if file is not None)
    # Its projects lay in a folder for temporary files; any other absolute path of three parts names a machine.
    assert set(re.findall(rb'"(/[\w.-]+/)[\w. -]+/', raw)) <= {b"/tmp/"}


def test_memories_are_the_same_by_id(old: OldHome, cli: Cli) -> None:
    found = {one["id"]: one for one in listed(cli)}
    assert len([one for one in old.memories.values() if one["category"] == "conversation"]) >= 100
    assert {one["category"] for one in old.memories.values()} == {"conversation", "core", "daily"}
    assert old.memories.keys() <= found.keys()
    for id_, was in old.memories.items():
        now = found[id_]
        assert all(now[name] == was[name] for name in ("citation", "key", "category", "kind", "text"))
        # Newer rules read the old turns again, and end statements that they would not draw.
        assert bool(now["ended_because"]) == (was["state"] != "current") or now["ended_because"] == Ended.READ_ANEW, now
    assert {one["project_id"] for one in found.values()} == {next(iter(found.values()))["project_id"]}


def test_authors_and_ends_are_said(old: OldHome, cli: Cli) -> None:
    by_text = {one["text"]: one for one in listed(cli)}
    assert (by_text[RULE]["by"], by_text[RULE]["ended_because"]) == ("person", "")
    assert by_text["환불은 14일 안에만 받는다. 그 뒤에는 쿠폰으로 준다."]["by"] == "person"
    assert {one["by"] for one in by_text.values() if one["category"] == "daily"} == {"memlayer"}
    rules = json.loads(cli("rules", "--json").stdout)["memories"]
    assert RULE in [one["text"] for one in rules]


@pytest.mark.parametrize("query", SEARCHES)
def test_searches_find_the_same(old: OldHome, cli: Cli, query: str) -> None:
    retired = {one["key"] for one in listed(cli) if one["ended_because"]}
    [first, *_] = [key for key in old.searches[query] if key not in retired]
    hits = json.loads(cli("search", query, "--json").stdout)["hits"]
    assert hits[0]["key"] == first


def test_remembered_and_edited_statements_stay(old: OldHome, cli: Cli) -> None:
    core = [one["text"] for one in listed(cli) if one["category"] == "core" and not one["ended_because"]]
    assert "환불은 14일 안에만 받는다. 그 뒤에는 쿠폰으로 준다." in core
    assert "The staging server is called 한라산 (hallasan)." in core
    [file] = old.home.glob("projects/*/MEMORY.md")
    assert "한라산" in file.read_text("utf-8")


def test_forgotten_turn_stays_gone(old: OldHome, daemon: Daemon, cli: Cli) -> None:
    hook = HookRunner(ROOT, old.home, old.project)
    hook.forbid_background()
    number = next(at for at, (prompt, _) in enumerate(TURNS) if FORGOTTEN in prompt)
    # as a spool or a transcript that was kept would tell it
    hook.turn("session-%d" % (number // 12), "p%d" % number, *TURNS[number])
    daemon.settle()
    assert not [one for one in listed(cli) if FORGOTTEN in one["text"]]
    assert json.loads(cli("search", FORGOTTEN, "--json").stdout)["hits"] == []
    assert daemon.call("reindex")
    store = b"".join(path.read_bytes() for path in (old.home / "store").rglob("*") if path.is_file())
    assert FORGOTTEN.encode() not in store


def test_migrated_once(old: OldHome, daemon: Daemon) -> None:
    assert old.schema == SCHEMA_VERSION == 6
    schema = old.home / "store" / "schema.json"
    written_ns = schema.stat().st_mtime_ns
    daemon.stop()
    daemon.start()
    assert len(daemon.call("list", limit=1000, all=True)["memories"]) >= len(old.memories)
    assert schema.stat().st_mtime_ns == written_ns and old.schema == 6
    told = "\n".join(path.read_text("utf-8") for path in (old.home / "logs").glob("*.log"))
    assert '"error"' not in told and "damage" not in told
