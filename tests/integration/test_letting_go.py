"""Forgetting through a real daemon.

A deleted memory leaves no byte, whatever held it, and does not come back.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memlayer.edge.capture import spool
from memlayer.edge.home import paths
from tests.support.processes import HookRunner
from tests.support.told_story import DECIDED, LEARNT, MARKS, OLD_MS, ROOT, Story

# --- memories that are deleted together


def test_statement_forgotten_alone(story: Story) -> None:
    story.say(2, *DECIDED)
    story.daemon.settle()
    learnt = story.core_of(LEARNT)
    done = story.cli("forget", learnt["citation"], "--keep-sources", "--yes")
    assert done.returncode == 0 and "1 memory, 0 events" in done.stdout
    for _ in range(2):
        assert LEARNT not in str(story.daemon.call("list", category="core")["memories"])
        assert story.turns() == 4
        story.cli("doctor", "repair")
        story.daemon.call("reindex")
        story.daemon.settle()


def test_forgotten_statement_can_be_relearnt(story: Story) -> None:
    said = ("Always answer in Korean. 배포는 매주 화요일 오전 10시야.", "Understood.")
    inside = HookRunner(ROOT, story.home, story.project, python=story.hook.python)
    inside.turn("first", "f1", *said)
    story.daemon.settle()

    def learnt() -> set[tuple[str, str]]:
        found = story.daemon.call("list", category="core", limit=100)["memories"]
        return {(one["project"], one["text"]) for one in found if "Korean" in one["text"] or "화요일" in one["text"]}

    before = learnt()
    assert {project for project, _ in before} == {"secret 프로젝트"} and len(before) == 2
    story.forget("--session", "first")
    assert learnt() == set()
    story.hook.turn("elsewhere", "e1", *said)
    story.daemon.settle()
    assert learnt() == {("other", text) for _, text in before}
    inside.turn("again", "a1", *said)
    story.daemon.settle()
    assert learnt() == before | {("other", text) for _, text in before}


def test_remember_request_is_erased_too(story: Story) -> None:
    where = ("--project", str(story.project))
    for words in ("금고 열쇠는 딱따구리 둥지에 있다", "The spare key is under the woodpecker-nest."):
        assert story.cli("remember", words, *where).returncode == 0
    story.daemon.settle()
    kept = story.core_of("woodpecker-nest")
    gone = story.core_of("딱따구리")
    story.cli("edit", gone["citation"], "금고 열쇠는 뻐꾸기 둥지에 있다")
    done = story.cli("forget", gone["citation"], "--keep-sources", "--yes")
    assert done.returncode == 0 and "2 memories, 1 event" in done.stdout
    for _ in range(2):
        assert story.holds("딱따구리", "뻐꾸기") == []
        assert story.core_of("woodpecker-nest") == kept
        story.cli("doctor", "repair")
        story.daemon.call("reindex")
        story.daemon.settle()


def test_statement_takes_its_turn(story: Story) -> None:
    story.say(2, *DECIDED)
    story.daemon.settle()
    learnt = story.core_of(LEARNT)
    dry = json.loads(story.cli("forget", learnt["key"], "--dry-run", "--json").stdout)
    along = {one["category"]: one["along"] for one in dry["memories"]}
    assert along["core"] is False and along["conversation"] is True
    assert dry["events"] == 2
    story.forget(learnt["key"])
    assert story.holds(LEARNT, "올빼미쪽지") == []
    assert story.turns() == 3


def test_untaken_command_words_are_erased(story: Story) -> None:
    asked = {"command_name": "memlayer:memory-remember", "command_args": "열쇠는 딱새둥지에 있다"}
    story.hook("user_prompt_expansion", "kept", "k9", **asked)
    [path] = (story.home / "typed").iterdir()
    os.utime(path, (path.stat().st_mtime - 60, path.stat().st_mtime - 60))
    assert story.holds("딱새둥지")
    story.say(2, *DECIDED)
    story.daemon.settle()
    story.forget(story.core_of(LEARNT)["key"])
    assert not path.exists() and story.holds("딱새둥지") == []


def test_tool_events_go_with_turn(story: Story) -> None:
    story.hook("user_prompt_submit", "kept", "k5", prompt="배포 스크립트를 돌려줘")
    said = {"tool_input": {"command": "deploy 딱새둥지"}, "tool_response": {"stdout": "딱새둥지"}}
    story.hook("post_tool_use", "kept", "k5", tool_name="Bash", tool_use_id="t1", **said)
    story.hook("stop", "kept", "k5", last_assistant_message="돌렸습니다. 끝.")
    story.daemon.settle()
    assert story.holds("딱새둥지")
    listed = story.daemon.call("list", session_id="kept", category="conversation")["memories"]
    [turn] = [one for one in listed if one["prompt_id"] == "k5"]
    story.forget(turn["citation"])
    assert story.holds("딱새둥지", "배포 스크립트를") == []


def test_earlier_versions_are_erased(story: Story) -> None:
    added = story.cli("remember", "금고 번호는 딱따구리7781 이다", "--project", str(story.project), "--json")
    assert added.returncode == 0, added.stderr
    found = story.core_of("딱따구리7781")
    assert story.cli("edit", found["citation"], "금고 번호는 비밀이다").returncode == 0
    story.daemon.settle()
    assert story.holds("딱따구리7781")
    story.forget(found["citation"])
    assert story.holds("딱따구리7781", "금고 번호는 비밀이다") == []


@pytest.mark.parametrize(
    ("added", "why"),
    [
        (b"<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> other\n", "it holds an unresolved merge"),
        (b"caf\xe9 \xff\n", "it is not UTF-8 text"),
    ],
)
def test_unreadable_page_is_named_then_cleaned(story: Story, added: bytes, why: str) -> None:
    where = ("--project", str(story.project))
    for words in ("금고 열쇠는 딱따구리 둥지에 있다", "The spare key is under the woodpecker-nest."):
        assert story.cli("remember", words, *where).returncode == 0
    story.daemon.settle()
    [page] = (story.home / "projects").rglob("MEMORY.md")
    page.write_bytes(page.read_bytes() + added)
    done = story.cli("forget", story.core_of("딱따구리")["citation"], "--yes")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1:] == ["It may still stand in %s: left alone and not read: %s" % (page, why)]
    assert {path for path, _ in story.holds("딱따구리")} == {page.relative_to(story.home).as_posix()}
    told = json.loads(story.cli("forget", story.core_of("woodpecker")["citation"], "--yes", "--json").stdout)
    assert [one.partition(": ")[0] for one in told["left"]] == [str(page)]

    page.write_bytes(page.read_bytes().replace(added, b""))
    story.daemon.call("files", project_dir=str(story.project))
    assert story.holds("딱따구리", "woodpecker") == []
    assert "딱따구리" not in str(story.daemon.call("list", all=True))


# --- other places that could hold or bring back its words


def test_copies_bring_nothing_back(story: Story, tmp_path: Path) -> None:
    export = tmp_path / "all.jsonl"
    assert story.cli("export", str(export)).returncode == 0
    assert "두루미칠성반닫이" in export.read_text()
    story.forget("--session", "gone")
    copy = story.transcript.read_text().replace('"gone"', '"forked"').replace('"p0"', '"q0"').replace('"p1"', '"q1"')
    fork = tmp_path / "forked.jsonl"
    fork.write_text(copy)
    assert story.cli("import", str(fork)).returncode == 0
    story.daemon.settle()
    story.assert_gone()
    taken = story.cli("import", str(export))
    assert taken.returncode == 0, taken.stderr
    story.daemon.settle()
    story.assert_gone()


def test_quarantined_files_are_forgotten(story: Story) -> None:
    folder = Path(paths.make_folder(paths.quarantine(str(story.home))))
    for event, whole in zip(story.events, (True, False, True, False), strict=True):
        path = spool.put(str(story.home), event)
        raw = Path(path).read_text()
        Path(path).write_text(raw if whole else raw[: len(raw) * 3 // 4])
        spool.quarantine(str(story.home), path, "torn: not JSON")
    other = {**story.events[0], "id": "0" * 32, "session_id": "another", "text": "다른 세션의 말"}
    for number, text in enumerate((json.dumps(other), json.dumps(other)[:-20])):
        path = folder / ("%013d-%032d.json" % (OLD_MS, number))
        path.write_text(text)
        path.with_name(path.name + ".reason").write_text("foreign: kind 'other'\n")
    story.forget("--session", "gone")
    assert story.holds(*MARKS) == []
    assert len(spool.quarantined(str(story.home))) == 2
    story.with_retention(conversation_days=30)
    story.daemon.call("gc")
    assert spool.quarantined(str(story.home)) == []


def killed_while_writing(story: Story) -> list[Path]:
    """Return the remains of a killed daemon and a killed hook.

    The daemon dies at the rename of a working set, the hook at that of its event.
    """
    code = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from memlayer.edge.capture.payload import read_payload
from memlayer.edge.capture import spool
from memlayer.edge.home import registry
os.rename = lambda *paths: os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[3] == "daemon":
    registry.write_working_set(sys.argv[2], "0" * 32, "두루미칠성반닫이")
said = b'{"session_id": "gone", "prompt_id": "p9", "prompt": "zephyrine-quokka"}'
spool.put(sys.argv[2], read_payload("user_prompt_submit", said, project_dir=sys.argv[2], at_ms=1).event)
"""
    for who in ("daemon", "hook"):
        done = subprocess.run([sys.executable, "-c", code, str(ROOT), str(story.home), who], check=False)
        assert done.returncode == -signal.SIGKILL
    left = sorted(path for path in story.home.rglob(".tmp-*") if path.is_file())
    assert [path.parent.name for path in left] == ["spool", "working_sets"]
    return left


@pytest.mark.parametrize("by", ["forget", "start"])
def test_half_written_files_are_forgotten(story: Story, by: str) -> None:
    if by == "start":
        story.forget("--session", "gone")
    of_hook, of_daemon = killed_while_writing(story)
    living = of_hook.with_name(".tmp-1-being-written-%d" % os.getpid())
    living.write_text("a hook that still writes")
    seconds_ago = time.time() - 10
    for path in (of_hook, living):
        os.utime(path, (seconds_ago, seconds_ago))
    if by == "forget":
        story.forget("--session", "gone")
    else:
        story.daemon.stop()
        story.daemon.start()
        story.daemon.settle()
    assert not of_daemon.exists() and living.exists()
    story.assert_gone()


def test_fresh_leftover_goes_with_next_prompt(story: Story) -> None:
    of_hook, _ = killed_while_writing(story)
    story.forget("--session", "gone")
    seconds_ago = time.time() - 10
    if of_hook.exists():
        os.utime(of_hook, (seconds_ago, seconds_ago))
    story.hook("user_prompt_submit", "kept", "k2", prompt="점심은 뭐 먹지?")
    story.daemon.settle()
    assert not of_hook.exists()


def test_forget_request_keeps_no_words(story: Story) -> None:
    asked = "/memlayer:memory-forget 두루미칠성반닫이 zephyrine-quokka"
    story.hook.turn("kept", "k2", asked, "This would go: 두루미칠성반닫이 lives on zephyrine-quokka [mem:a7Bc3x]")
    story.hook("user_prompt_submit", "kept", "k3", prompt="/memlayer:memory-show a7Bc3x")
    story.daemon.settle()
    story.hook("stop", "kept", "k3", last_assistant_message="두루미칠성반닫이 는 zephyrine-quokka 에.")
    story.daemon.settle()
    story.forget("--session", "gone")
    story.assert_gone()


def test_slash_command_shows_before_forgetting(story: Story) -> None:
    where = ("--project", str(story.project))
    shown = story.cli("forget", "-", *where, stdin="zephyrine-quokka 두루미칠성반닫이\n").stdout
    assert "Nothing is forgotten yet" in shown and "두루미칠성반닫이" in shown
    assert story.turns() == 3
    ids = shown.splitlines()[-1].rpartition(": ")[2]
    mixed = story.cli("forget", "-", *where, stdin="zzzzzz %s" % ids).stdout
    assert mixed.startswith('"zzzzzz" is no citation.\nNothing is forgotten yet.') and mixed.endswith(f": {ids}\n")
    assert "no citation" not in shown
    refused = story.cli("forget", ids.split()[0], "zzzzzz", "아무것도", "--yes")
    assert refused.returncode == 1 and "'zzzzzz', '아무것도'" in refused.stderr
    assert story.turns() == 3  # one of them is no id
    done = story.cli("forget", "-", *where, stdin=" ".join("[mem:%s]" % one for one in ids.split()))
    assert done.stdout.startswith("Forgotten: "), done.stderr
    story.assert_gone()
    assert "Nothing matches" in story.cli("forget", "-", *where, stdin="두루미칠성반닫이").stdout
