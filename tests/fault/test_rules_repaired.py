"""A repair draws what a damage took of memories again: a person's rules are theirs as before."""

from pathlib import Path

import pytest

from tests.fault.test_damage import Damaging, largest_cut, table_gone
from tests.support.cli_process import run_verb
from tests.support.processes import Daemon, HookRunner

pytestmark = pytest.mark.timeout(180)
ROOT = Path(__file__).resolve().parent.parent.parent
RULES = ("앞으로 테스트는 항상 uv run pytest로 돌려줘", "always answer in English in PR descriptions")
REMEMBERED = "커밋 메시지는 항상 영어로 써줘"
DROPPED = "앞으로 배포는 항상 금요일에 해줘"
REPLACED = ("로그는 loguru로 하자", "로그를 structlog로 바꾸자")
FACTS = ("text", "kind", "by", "pinned", "ended_because", "superseded_by", "source_ids", "prompt_id", "evidence")


def core(daemon: Daemon, project: Path) -> dict[str, dict[str, object]]:
    """Return text -> the facts of each core memory in force."""
    found = daemon.call("list", project_dir=str(project), category="core", limit=100)["memories"]
    return {row["text"]: {name: row[name] for name in FACTS if name in row} for row in found}


def assert_same(now: dict[str, dict[str, object]], before: dict[str, dict[str, object]]) -> None:
    assert now.keys() == before.keys()
    for text, facts in before.items():
        assert {name: (now[text][name], fact) for name, fact in facts.items() if now[text][name] != fact} == {}


def rules(home: Path, project: Path) -> list[str]:
    return run_verb(home, "rules", "--project", str(project)).stdout.splitlines()


def tell(home: Path, project: Path, daemon: Daemon) -> HookRunner:
    hook = HookRunner(ROOT, home, project)
    hook.forbid_background()
    for number, said in enumerate((*RULES, DROPPED, *REPLACED)):
        hook.turn("s%d" % number, "p%d" % number, said, "네, 알겠습니다.")
        hook("session_end", "s%d" % number, reason="other")
        daemon.settle()
    assert run_verb(home, "remember", REMEMBERED, "--project", str(project)).returncode == 0
    daemon.settle()
    (dropped,) = (row for row in daemon.call("list", project_dir=str(project), category="core")["memories"]
                  if row["text"] == DROPPED)  # fmt: skip
    done = run_verb(home, "review", "drop", dropped["citation"], "--project", str(project))
    assert done.returncode == 0, done.stdout + done.stderr
    daemon.settle()
    return hook


def mended(tmp_path: Path, damage: Damaging, *tables: str) -> None:
    home, project = tmp_path / "home", tmp_path / "가게"
    project.mkdir()
    with Daemon(ROOT, home) as daemon:
        hook = tell(home, project, daemon)
        before, kept = core(daemon, project), rules(home, project)
        assert len(kept) == len(RULES) + 1, kept
        daemon.stop()
        for table in tables:
            damage(home / "store" / (table + ".lance"))
        daemon.start()
        done = run_verb(home, "doctor", "repair")
        assert "Was damaged" in done.stdout and "ould not be brought back" not in done.stdout, done.stdout
        assert sorted(rules(home, project)) == sorted(kept)
        assert_same(core(daemon, project), before)
        daemon.settle()
        daemon.call("reindex")
        assert sorted(rules(home, project)) == sorted(kept)
        assert_same(core(daemon, project), before)
        started = hook("session_start", "later", source="startup").context
        assert all(rule in started for rule in RULES) and DROPPED not in started
        again = run_verb(home, "doctor", "repair").stdout
        assert_same(core(daemon, project), before)
        assert "othing to repair" in again, again


def test_cut_memories_are_drawn_again(tmp_path: Path) -> None:
    mended(tmp_path, largest_cut, "memories")


def test_lost_memories_are_drawn_again(tmp_path: Path) -> None:
    mended(tmp_path, table_gone, "memories")


def test_memories_are_drawn_again_without_an_index(tmp_path: Path) -> None:
    mended(tmp_path, table_gone, "memories", "chunks")


def test_rules_without_events_are_counted_and_asked_about(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "가게"
    project.mkdir()
    with Daemon(ROOT, home) as daemon:
        tell(home, project, daemon)
        daemon.stop()
        for table in ("memories", "events"):
            table_gone(home / "store" / (table + ".lance"))
        daemon.start()
        done = run_verb(home, "doctor", "repair")
        assert "3 rules could not be brought back" in done.stdout, done.stdout
        asked = run_verb(home, "review", "--project", str(project)).stdout
        assert all(rule in asked for rule in (*RULES, REMEMBERED)) and DROPPED not in asked
