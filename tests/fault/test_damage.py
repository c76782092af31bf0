"""A damaged store: recall goes on with its readable part.

doctor says so, and one command repairs everything repairable. Events are never rewritten in place: a damaged file
stands in store/damaged afterwards, byte for byte. MEMLAYER_TORTURE=1 tries every damage on every table.
"""

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memlayer.errors import MemlayerError
from tests.support.cli_process import diagnosis, run_verb
from tests.support.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parent.parent.parent
TURNS = 12
OLD = 8  # of these are in the first, compacted data file
Damaging = Callable[[Path], None]


def data_files(table: Path) -> list[Path]:
    return sorted((table / "data").iterdir(), key=lambda path: path.stat().st_mtime_ns)


PLAIN_REASONS = ("a file is cut short", "a file is damaged", "a file is missing", "versions are gone", "folder is gone")


def manifests(table: Path) -> list[Path]:
    """The newest first."""
    return sorted((table / "_versions").glob("*.manifest"))


def cut_short(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def zeroed(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[: len(raw) // 3] = bytes(len(raw) // 3)
    path.write_bytes(raw)


def largest_cut(table: Path) -> None:
    cut_short(max(data_files(table), key=lambda path: path.stat().st_size))


def largest_zeroed(table: Path) -> None:
    zeroed(max(data_files(table), key=lambda path: path.stat().st_size))


def one_data_file_gone(table: Path) -> None:
    data_files(table)[-2].unlink()


def newest_manifest_gone(table: Path) -> None:
    manifests(table)[0].unlink()


def newest_manifest_cut(table: Path) -> None:
    cut_short(manifests(table)[0])


def all_manifests_gone(table: Path) -> None:
    for manifest in manifests(table):
        manifest.unlink()


def all_manifests_but_the_oldest_gone(table: Path) -> None:
    for manifest in manifests(table)[:-1]:
        manifest.unlink()


def indexes_gone(table: Path) -> None:
    shutil.rmtree(table / "_indices")


def table_gone(table: Path) -> None:
    shutil.rmtree(table)


DAMAGES: list[Damaging] = [
    largest_cut, largest_zeroed, one_data_file_gone, newest_manifest_gone, newest_manifest_cut, all_manifests_gone,
    all_manifests_but_the_oldest_gone, indexes_gone, table_gone,
]  # fmt: skip


# By itself: indexes are derived, and a power failure leaves one version that is missing or torn.
HEALING = (indexes_gone, newest_manifest_gone, newest_manifest_cut)


EVERY = [(table, damage) for table in ("events", "memories", "chunks") for damage in DAMAGES]
SHORT = [
    ("events", largest_cut), ("events", newest_manifest_gone), ("memories", one_data_file_gone),
    ("chunks", largest_cut), ("chunks", indexes_gone),
]  # fmt: skip
CHOSEN = EVERY if os.environ.get("MEMLAYER_TORTURE") else SHORT


def question(number: int) -> str:
    return "주문 이벤트 %d번은 어디에 저장하지?" % number


def answer(number: int) -> str:
    return "Order events of kind %d are stored in warehouse%d." % (number, number)


def write_transcript(path: Path, number: int) -> None:
    """Write the host's own record of a turn.

    It has the parts that memlayer reads.
    """
    with path.open("a") as file:
        for kind, content in (("user", question(number)), ("assistant", [{"type": "text", "text": answer(number)}])):
            record = {
                "type": kind, "uuid": "%s-%d" % (kind, number), "sessionId": "s1", "promptId": "p%d" % number,
                "timestamp": "2099-01-01T00:%02d:00.000Z" % number, "cwd": str(path.parent), "isSidechain": False,
                "message": {"role": kind, "content": content},
            }  # fmt: skip
            file.write(json.dumps(record, ensure_ascii=False) + "\n")


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """Return (home, project) with TURNS turns in the store.

    Some of them are compacted, the rest a commit each.
    """
    base = tmp_path_factory.mktemp("healthy")
    home, project = base / "home", base / "project 폴더"
    project.mkdir()
    hook = HookRunner(ROOT, home, project)
    hook.forbid_background()
    path = str(project / "transcript.jsonl")
    with Daemon(ROOT, home) as daemon:
        for number in range(TURNS):
            hook("user_prompt_submit", "s1", "p%d" % number, prompt=question(number), transcript_path=path)
            hook("stop", "s1", "p%d" % number, last_assistant_message=answer(number), transcript_path=path)
            write_transcript(Path(path), number)
            if number >= OLD - 1:
                daemon.settle()
            if number == OLD - 1:
                hook("session_end", "s1", reason="other", transcript_path=path)
                daemon.settle()
                compact(daemon)
        (home / "wake.stamp").unlink(missing_ok=True)
        assert daemon.call("stats")["by_category"]["conversation"] == TURNS
    yield home, project


def compact(daemon: Daemon) -> None:
    """Compact all rows so far into one data file."""
    from memlayer.adapters.lance.store import LanceStore

    daemon.stop()
    store = LanceStore.open(daemon.home / "store", 0)
    store.upkeep(force=True)
    store.close()
    daemon.start()


@pytest.fixture
def damaged(healthy: tuple[Path, Path], tmp_path: Path) -> tuple[Path, Path]:
    """A copy of it, to be damaged."""
    home, project = healthy
    shutil.copytree(home, tmp_path / "home", ignore=shutil.ignore_patterns("daemon.sock"))
    return tmp_path / "home", project


def found(daemon: Daemon, project: Path, number: int) -> bool:
    """Whether recall answers a prompt about this turn with it."""
    prompt = "warehouse%d order events kind %d" % (number, number)
    return answer(number) in daemon.call("recall", prompt=prompt, project_dir=str(project))["block"]


@pytest.mark.timeout(180)
@pytest.mark.parametrize(("table", "damage"), CHOSEN, ids=lambda one: getattr(one, "__name__", one))
def test_repair_mends_damage(damaged: tuple[Path, Path], table: str, damage: Damaging) -> None:
    home, project = damaged
    damage(home / "store" / (table + ".lance"))
    with Daemon(ROOT, home) as daemon:
        daemon.wait_for(lambda: daemon.call("status")["store"] != "opening", "store")
        assert daemon.call("status")["store"] == "open"
        recalled = [number for number in range(TURNS) if found(daemon, project, number)]
        state, says = diagnosis(home)["store"]
        if table == "chunks" or damage in HEALING:
            assert state in ("ok", "warn"), says
        else:
            assert state == "fail" and "table " + table in says
            assert any(reason in says for reason in PLAIN_REASONS), says
        assert not any(word in says for word in ("Error", "lance", "LANC", "panicked", ".rs")), says
        hook = HookRunner(ROOT, home, project)
        hook.forbid_background()
        hook.turn("s2", "new", "and a new turn after the damage", "it is kept as well, 새 턴")
        done = run_verb(home, "doctor", "repair", "--json")
        assert done.returncode == 0, done.stderr
        repaired = json.loads(done.stdout)
        assert daemon.call("stats")["by_category"]["conversation"] == TURNS + 1
        assert [number for number in range(TURNS) if not found(daemon, project, number)] == []
        events = daemon.call("stats")["events"]
        assert events in (2 * TURNS + 2, 2 * TURNS + 3)  # transcripts know nothing of the end of a session
        assert diagnosis(home)["store"] == ("ok", "open")
        daemon.settle()
        daemon.stop()
        daemon.start()
        daemon.wait_for(lambda: daemon.call("status")["store"] != "opening", "store")
        assert (daemon.call("status")["store"], daemon.call("status")["damage"]) == ("open", [])
        assert daemon.call("stats")["events"] == events
    print("\n%s %s: %d of %d recalled before, %s" % (table, damage.__name__, len(recalled), TURNS, repaired))


@pytest.mark.timeout(180)
def test_unrecoverable_damage_is_reported(damaged: tuple[Path, Path]) -> None:
    home, project = damaged
    for path in (home / "sessions").glob("*.json"):
        path.unlink()  # nobody knows of a transcript any more
    table = home / "store" / "events.lance"
    largest = max(data_files(table), key=lambda path: path.stat().st_size)
    cut_short(largest)
    remains = largest.read_bytes()
    with Daemon(ROOT, home) as daemon:
        daemon.wait_for(lambda: daemon.call("status")["store"] != "opening", "store")
        state, says = diagnosis(home)["store"]
        assert state == "fail" and "events" in says and "%d cannot be read" % (2 * OLD + 1) in says
        # Memories and index of the lost events are whole: nothing is missing from recall.
        assert [number for number in range(TURNS) if not found(daemon, project, number)] == []
        assert json.loads(run_verb(home, "doctor", "repair", "--json").stdout)["aside"]
        assert diagnosis(home)["store"] == ("ok", "open")
        assert daemon.call("stats")["events"] == 2 * (TURNS - OLD)
        assert daemon.call("stats")["by_category"]["conversation"] == TURNS
        (kept,) = (home / "store" / "damaged").rglob(largest.name)
        assert kept.read_bytes() == remains
        # Forgetting erases damaged files as well.
        daemon.call("forget", project_dir=str(project))
        assert not (home / "store" / "damaged").exists()


@pytest.mark.timeout(120)
def test_index_outlives_lost_tables(damaged: tuple[Path, Path]) -> None:
    home, project = damaged
    for path in (home / "sessions").glob("*.json"):
        path.unlink()
    for name in ("events", "memories"):
        table_gone(home / "store" / (name + ".lance"))
    with Daemon(ROOT, home) as daemon:
        daemon.wait_for(lambda: daemon.call("status")["store"] != "opening", "store")
        assert daemon.call("repair")["damage"]
        assert (daemon.call("stats")["events"], daemon.call("stats")["by_category"]["conversation"]) == (0, TURNS)
        assert [number for number in range(TURNS) if not found(daemon, project, number)] == []
        (newest,) = daemon.call("list", category="conversation", limit=1)["memories"]
        (shown,) = daemon.call("show", ids=[newest["citation"]])["matches"]
        assert answer(TURNS - 1) in shown["memory"]["text"]


@pytest.mark.timeout(180)
@pytest.mark.parametrize("table", sorted({table for table, _ in EVERY}) if CHOSEN is EVERY else ["events"])
def test_vanished_files_under_daemon(damaged: tuple[Path, Path], table: str) -> None:
    """The daemon notices when something fails, and says so.

    It goes on with the remaining files, without a restart.
    """
    home, project = damaged
    with Daemon(ROOT, home) as daemon:
        assert found(daemon, project, 3)
        pid = daemon.call("status")["pid"]
        for path in data_files(home / "store" / (table + ".lance")):
            path.unlink()
        hook = HookRunner(ROOT, home, project)
        hook.forbid_background()
        hook.turn("s2", "new", "and a new turn after the damage", "it is kept as well, 새 턴")
        for op in ("list", "stats", "search"):
            with contextlib.suppress(MemlayerError):
                daemon.call(op, query="warehouse3 order events", limit=50)
        daemon.wait_for(lambda: "damaged" in (home / "logs" / "daemon.log").read_text(), "word of the damage", 40.0)
        state, says = diagnosis(home)["store"]
        assert state == ("warn" if table == "chunks" else "fail") or says == "open", says
        done = run_verb(home, "doctor", "repair", "--json")
        assert done.returncode == 0, done.stderr
        assert [number for number in range(TURNS) if not found(daemon, project, number)] == []
        assert daemon.call("status")["pid"] == pid
        assert daemon.call("stats")["by_category"]["conversation"] == TURNS + 1
