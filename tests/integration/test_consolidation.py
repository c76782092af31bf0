"""Consolidation from end to end.

Real hooks, a real daemon, the command line; and daemons that are killed meanwhile.
"""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memlayer.edge.capture import spool
from memlayer.edge.capture.payload import read_payload
from memlayer.turns.remembered import remember_event
from tests.support.cli_process import MAIN, Cli
from tests.support.leftovers import end_all
from tests.support.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parents[2]
POSTGRES = ("주문 이벤트는 Postgres에 저장하기로 했어.", "네, orders 테이블에 저장하겠습니다.")
CLICKHOUSE = ("주문 이벤트는 Postgres 말고 ClickHouse에 저장하기로 했어.", "네, ClickHouse로 옮기겠습니다.")
MAYA = ("Maya owns the billing service.", "Noted, I'll ask Maya about billing.")
TALK = [
    ("고마워, 수고했어!", "별말씀을요."),
    ("What does `git rebase` do?", "It replays commits on another base."),
    ("테스트 좀 돌려줘", "테스트를 돌렸습니다. 모두 통과했습니다."),
]


class Story:
    """A home with daemon, hooks and command line in one project."""

    def __init__(self, home: Path, project: Path, settings: dict[str, Any] | None = None) -> None:
        self.daemon = Daemon(ROOT, home, settings)
        self.hook = HookRunner(ROOT, home, project, python=getattr(sys, "_base_executable", sys.executable))
        self.hook.forbid_background()
        self.cli = Cli(home, project)

    def say(self, session: str, *turns: tuple[str, str]) -> None:
        """Turns of a session, consolidated."""
        for number, turn in enumerate(turns):
            self.hook.turn(session, "%s-p%d" % (session, number), *turn)
        self.daemon.settle()

    def core(self, **asked: object) -> list[dict[str, Any]]:
        """Core memories, newest first."""
        return list(self.daemon.call("list", category="core", limit=1000, **asked)["memories"])

    def verb(self, *arguments: str, stdin: str = "") -> dict[str, Any]:
        """Return the --json output of a verb."""
        done = self.cli(*arguments, "--json", stdin=stdin)
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))

    def found(self, query: str) -> set[str]:
        """Return the keys of the memories that a search finds."""
        return {hit["key"] for hit in self.daemon.call("search", query=query, limit=50)["hits"]}

    def asked_in(self, session: str, prompt: str) -> str:
        """Return the block for a prompt of that session."""
        return self.hook("user_prompt_submit", session, "ask-" + session, prompt=prompt).context


@pytest.fixture
def story(home: Path, project: Path) -> Iterator[Story]:
    told = Story(home, project)
    with told.daemon:
        yield told


def test_turns_become_memories_small_talk_not(story: Story) -> None:
    story.say("s1", POSTGRES, *TALK, MAYA)
    texts = [memory["text"] for memory in story.core()]
    assert len(texts) == 2 and any("Postgres" in text for text in texts) and any("Maya" in text for text in texts)
    stats = story.daemon.call("stats")
    assert (stats["consolidated"], stats["to_consolidate"], stats["ended_count"]) == (5, 0, 0)
    assert sum(stats["core_by_kind"].values()) == 2
    shown = story.cli("stats").stdout
    assert "turns consolidated" in shown and "core" in shown


def test_restore_reverts_superseding(story: Story) -> None:
    story.say("s1", POSTGRES)
    [old] = story.core()
    story.say("s2", CLICKHOUSE)
    [new] = story.core()
    assert "ClickHouse" in new["text"] and new["id"] != old["id"]
    [marked] = [one for one in story.core(all=True) if one["superseded_by"]]
    assert (marked["id"], marked["superseded_by"]) == (old["id"], new["id"])
    given = story.asked_in("s3", "주문 이벤트를 어디에 저장하기로 했지?")
    assert "ClickHouse" in given and old["citation"] not in given
    found = story.found("주문 이벤트 저장")
    assert new["key"] in found and old["key"] not in found

    versions = story.verb("show", "--history", old["citation"])["versions"]
    assert [(one["id"], one["ended_because"]) for one in versions] == [(new["id"], ""), (old["id"], "replaced")]
    assert all(one["sources"] for one in versions)
    assert "replaced" in story.cli("show", "--history", new["key"]).stdout
    assert new["key"] in story.cli("show", old["key"]).stdout and old["key"] in story.cli("show", new["key"]).stdout
    assert "replaced" in story.cli("list", "--all").stdout and old["key"] not in story.cli("list").stdout

    story.verb("edit", "--restore", old["key"])
    assert [one["id"] for one in story.core()] == [old["id"]]
    given = story.asked_in("s4", "주문 이벤트를 어디에 저장하기로 했지?")
    assert "Postgres" in given and new["citation"] not in given
    found = story.found("주문 이벤트 저장")
    assert old["key"] in found and new["key"] not in found
    story.verb("edit", "--restore", new["key"], "--keep-both")
    assert len(story.core()) == 2


def test_next_prompt_recalls_remembered_statement(story: Story) -> None:
    kept = story.verb("remember", "-", stdin="스테이징 배포는 항상 $(화요일) `오전` 10시에 한다\n")["memory"]
    assert kept["text"] == "스테이징 배포는 항상 $(화요일) `오전` 10시에 한다" and kept["category"] == "core"
    assert kept["citation"] in story.asked_in("s1", "스테이징 배포는 언제 하지?")  # nothing else says it
    assert "Already known" in story.cli("remember", kept["text"]).stdout
    assert len(story.core()) == 1


def test_remember_names_superseded_keeps_no_secret(story: Story) -> None:
    story.say("s1", POSTGRES)
    done = story.cli("remember", CLICKHOUSE[0] + " <private>ghp_" + "a1B2" * 9 + "</private>")
    assert done.returncode == 0 and "Replaces" in done.stdout, done.stdout
    [memory] = story.core()
    assert "ClickHouse" in memory["text"] and "ghp_" not in memory["text"]
    refused = story.cli("remember", "<private>아무것도</private>")
    assert refused.returncode == 0 or "Nothing to remember" in refused.stderr
    assert len(story.core()) == 1


def test_what_holds_no_more_is_named_alike_everywhere(story: Story) -> None:
    for said in (MAYA, POSTGRES):
        story.say("s1", said)
    story.cli("remember", CLICKHOUSE[0])
    maya = next(one for one in story.core() if "Maya" in one["text"])
    story.cli("edit", maya["citation"], "Maya and", "Jun own billing")
    dropped = story.verb("remember", "커밋 메시지는 항상 영어로 쓴다")["memory"]
    assert story.cli("review", "drop", dropped["citation"]).returncode == 0
    every = {one["key"]: one for one in story.verb("list", "core", "--all")["memories"]}
    ends = {key: one["ended_because"] for key, one in every.items()}
    assert sorted(ends.values()) == ["", "", "let go", "replaced", "reworded"]
    listed = story.cli("list", "core", "--all").stdout
    for key, word in ends.items():
        [head] = [row for row in listed.splitlines() if row.startswith(key + " ")]
        assert head.endswith("  " + word) if word else not re.search("replaced|reworded|let go", head), head
        [version] = [one for one in story.verb("show", "--history", key)["versions"] if one["key"] == key]
        assert version["ended_because"] == word and word in story.cli("show", key).stdout


def test_pin_edit_and_their_errors(story: Story) -> None:
    story.say("s1", MAYA)
    [memory] = story.core()
    assert story.verb("edit", "--pin", memory["citation"])["memory"]["pinned"] is True
    changed = story.verb("edit", memory["key"], "Maya and", "Jun own billing")["memory"]
    assert (changed["id"], changed["text"], changed["pinned"]) == (memory["id"], "Maya and Jun own billing", True)
    versions = story.verb("show", "--history", memory["key"])["versions"]
    assert [one["ended_because"] for one in versions] == ["", "reworded"]
    assert story.verb("edit", "--restore", versions[1]["key"])["memory"]["text"] == memory["text"]
    assert story.verb("edit", "--unpin", memory["key"])["memory"]["pinned"] is False
    turn = story.daemon.call("list", category="conversation")["memories"][0]
    for arguments, says in (
        (("edit", turn["key"], "x"), "turn"),
        (("edit", "--restore", memory["key"]), "current already"),
        (("show", "--history", "nobody"), "Nothing is known"),
        (("edit", memory["key"], "--headline", "결제는 지은이 맡는다 " * 12), "at most 140 characters, this one has 1"),
        (("edit", memory["key"], "--subject", "결제 팀의 담당자 이름과 연락처와 일정표"), "a subject has at most 20"),
    ):
        done = story.cli(*arguments)
        assert done.returncode == 1 and says in done.stderr, done.stderr
    assert story.cli("edit", memory["key"], " ").returncode == 2


def test_a_change_of_nothing_is_told(story: Story) -> None:
    for text in ("배포는 화요일에 한다", "the API listens on port 8080"):
        kept = story.verb("remember", text)["memory"]
        name, key = kept["citation"], kept["key"]
        story.verb("edit", name, text + " (9시)")
        older = story.verb("show", "--history", name)["versions"][1]["key"]
        story.verb("edit", name, "--headline", "배포 9080", "--subject", "운영")
        for arguments, cure in (
            (("edit", name, text + " (9시)"), "show --history"),
            (("edit", name, "--headline", "배포 9080"), "says that"),
            (("edit", "--unpin", name), "edit --pin"),
            (("edit", "--pin", name), ""),
            (("edit", "--pin", name), "--unpin"),
            (("edit", "--restore", older), ""),
            (("edit", "--restore", older), "wording already"),
        ):
            done = story.cli(*arguments)
            is_told = done.stdout.startswith(f"Nothing is changed: {key} ") and done.stdout.count("\n") == 1
            assert (done.returncode, done.stderr, is_told, cure in done.stdout) == (0, "", bool(cure), True), (
                done.stdout
            )
            assert story.verb(*arguments)["is_changed"] is False


def test_edit_to_punctuation_is_refused(story: Story) -> None:
    kept = story.verb("remember", "배포는 화요일에 한다")["memory"]
    for said in ("<private>아무것도</private>", " [private]x[/private] <private>y</private>. "):
        refused = story.cli("edit", kept["citation"], said)
        assert refused.returncode == 1 and "private" in refused.stderr
    assert [one["text"] for one in story.core()] == [kept["text"]]
    assert story.daemon.call("status")["job_errors"] == 0  # nothing that doctor should warn of
    assert story.verb("edit", kept["citation"], "배포는 <private>x</private> 수요일")["memory"]["text"].startswith(
        "배포는"
    )


def test_superseded_before_consolidation_is_harmless(story: Story, project: Path) -> None:
    """Several at once: the daemon takes them in together.

    The first request is answered last.
    """
    said = ("API 포트는 8080이야.", "API 포트는 9090으로 바꿨어.")
    events = [remember_event(text, project_dir=str(project), at_ms=1000 + at) for at, text in enumerate(said)]
    for event in events:
        spool.put(str(story.daemon.home), event)
    first, second = (story.daemon.call("remember", id=event["id"]) for event in events)
    assert "8080" in first["memory"]["text"] and "9090" in first["newer"][0]["text"]
    assert second["newer"] == [] and "8080" in second["older"][0]["text"]


def test_concurrent_remembers_of_related_statements(story: Story) -> None:
    at_once = [
        subprocess.Popen(
            [sys.executable, "-I", str(MAIN), "remember", f"parallel fact number {number} is about topic{number}"],
            cwd=story.cli.project, env=story.cli.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for number in range(6)
    ]  # fmt: skip
    for process in at_once:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "") and out.startswith(("Remembered", "Already known")), err


def test_remember_without_daemon_waits(home: Path, project: Path) -> None:
    story = Story(home, project)
    (home / "daemon.lock").mkdir()  # no daemon can be started
    done = story.cli("remember", "배포는 화요일에 한다")
    assert done.returncode == 1 and "Kept, and remembered as soon as" in done.stderr
    end_all(home)  # the one that the verb has started
    (home / "daemon.lock").rmdir()
    with story.daemon:
        story.daemon.settle()
        assert [memory["text"] for memory in story.core()] == ["배포는 화요일에 한다"]


def test_disabled_project_remembers_nothing(story: Story) -> None:
    (story.hook.project / ".memlayer.yaml").write_text("enabled: false\n")
    done = story.cli("remember", "배포는 화요일")
    assert done.returncode == 1 and "switched off" in done.stderr
    assert story.hook.spooled == []


def spoken(project: Path, count: int) -> Iterator[dict[str, Any]]:
    """Yield the events of so many old turns.

    Each port is said, changed in part, and said again.
    """
    for number in range(count):
        service = number % (count // 3)
        port = 8000 + service + (number // (2 * count // 3)) * 500
        prompt = "서비스 svc-%d 포트는 %d으로 하기로 했어." % (service, port)
        at_ms = 1_790_000_000_000 + number * 60_000
        for name, said in (("user_prompt_submit", {"prompt": prompt}), ("stop", {"last_assistant_message": "네."})):
            raw = json.dumps({"session_id": "s%d" % number, "prompt_id": "p", **said}).encode()
            event = read_payload(name, raw, project_dir=str(project), at_ms=at_ms).event
            assert event is not None
            yield event


def outcome(home: Path, project: Path, kills: int) -> tuple[list[tuple[Any, ...]], dict[str, int]]:
    """Return (every memory, counts) after 45 turns.

    Daemons are killed while they consolidate them.
    """
    home.mkdir(parents=True)
    for event in spoken(project, 45):
        spool.put(str(home), event)
    story = Story(home, project)
    seen = 0
    for _ in range(kills):
        story.daemon.start()
        ends = time.monotonic() + 20
        done = seen
        while done <= seen and time.monotonic() < ends:
            done = story.daemon.call("stats")["consolidated"]
        story.daemon.kill()
        assert done > seen, "nothing was consolidated in time"
        seen = done
        if done == 45:
            break
    with story.daemon:
        story.daemon.settle()
        assert story.daemon.call("stats")["to_consolidate"] == 0
        found = story.daemon.call("list", limit=1000, all=True)["memories"]
        hits = story.daemon.call("search", query="svc-3 포트", limit=50)["hits"]
        chunks = story.daemon.call("stats")["chunks"]
    names = ("id", "key", "text", "superseded_by", "ended_because", "at_ms", "source_ids", "by")
    rows = sorted(tuple(str(memory[name]) for name in names) for memory in found)
    current = {memory["key"] for memory in found if not memory["superseded_by"]}
    assert {hit["key"] for hit in hits} <= current
    return rows, {"chunks": chunks, "searched": sum(1 for one in found if _is_searched(one))}


def _is_searched(memory: dict[str, Any]) -> bool:
    return memory["category"] != "daily" and not memory["superseded_by"]


def test_kills_during_consolidation_lose_nothing(tmp_path: Path, project: Path) -> None:
    undisturbed, counts = outcome(tmp_path / "whole", project, 0)
    killed, counted = outcome(tmp_path / "killed", project, 3)
    assert killed == undisturbed and counted == counts
    assert counts["chunks"] == counts["searched"]
    assert len({row[0] for row in killed}) == len(killed) == 45 * 2 + 45


def test_shipped_model_consolidates(home: Path, project: Path) -> None:
    story = Story(home, project, {})
    with story.daemon:
        story.say("s1", POSTGRES, MAYA, *TALK)
        story.say("s2", CLICKHOUSE, ("Jun owns the billing service now.", "Got it, Jun then."))
        assert {memory["text"][:8] for memory in story.core()} == {CLICKHOUSE[0][:8], "Jun owns"}
        given = story.asked_in("s3", "who owns billing now?")
        assert "Jun" in given


def test_show_lists_own_neighbours(story: Story) -> None:
    told = [(f"{number}번째: 로그는 어디서 보나요?", "대시보드에서 봅니다.") for number in range(5)]
    story.say("s1", *told, POSTGRES, ("마지막으로 로그 보관은?", "30일 보관합니다."))
    [core] = story.core()
    daily = [one for one in story.daemon.call("list", category="daily")["memories"] if "Postgres" in one["text"]]
    for one in (core, *daily):
        [match] = story.verb("show", one["citation"])["matches"]
        texts = [near["text"] for near in match["neighbours"]]
        [mine] = [near for near in match["neighbours"] if near["mine"]]
        assert "Postgres" in mine["text"] and "3번째" in texts[0] and "마지막" in texts[-1]
    assert daily


def test_start_leaves_superseded_goal_out(story: Story) -> None:
    story.say("s1", POSTGRES, ("결제 테스트를 고쳐줘", "고쳤습니다. 남은 작업은 정산 배치 테스트입니다."))
    story.hook("session_end", "s1", reason="other")
    story.say("s2", CLICKHOUSE)
    story.hook("session_end", "s2", reason="other")
    story.daemon.settle()
    block = story.hook("session_start", "s3", source="startup").context
    assert "ClickHouse" in block and "Postgres에 저장하기로" not in block
