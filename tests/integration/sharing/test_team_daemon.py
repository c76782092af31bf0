"""`memlayer team` and `promote` over the command line, hooks and real daemons: two colleagues."""

import json
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.cli_process import Run, runner
from tests.support.processes import Daemon, HookRunner
from tests.support.repositories import git
from tests.support.waiting import wait_for

pytestmark = pytest.mark.timeout(180)
TEXT = "배포는 매주 화요일 오전에 하기로 했어"


def person(folder: Path, name: str, who: str) -> tuple[Run, HookRunner, Path, Path]:
    """A colleague's home and clone."""
    home, clone = folder / name, folder / (name + "-clone") / "shop"
    git(folder, "clone", str(folder / "origin.git"), str(clone))
    for key, value in (("user.name", who), ("user.email", "a@example.com")):
        git(clone, "config", key, value)
    hook = HookRunner(ROOT, home, clone)
    hook.forbid_background()
    return runner(home, clone), hook, home, clone


def said(hook: HookRunner, session: str) -> str:
    """The person's line of a start."""
    done = hook("session_start", session, source="startup")
    return str(json.loads(done.stdout or "{}").get("systemMessage", ""))


def test_a_decision_goes_from_one_to_the_other(tmp_path: Path) -> None:
    """Takes long: the daemons of two persons start anew."""
    git(tmp_path, "init", "--bare", str(tmp_path / "origin.git"))
    run_a, hook_a, home_a, clone_a = person(tmp_path, "a", "김민지")
    run_b, hook_b, home_b, clone_b = person(tmp_path, "b", "Bob")
    with Daemon(ROOT, home_a), Daemon(ROOT, home_b):
        hook_a.turn("s1", "p1", TEXT, "네, 화요일로 적어 두겠습니다.")
        run_a("doctor", "flush")
        found = json.loads(run_a("list", "--json").stdout)["memories"]
        [note] = [row for row in found if row["category"] == "core"]
        [turn] = [row for row in found if row["category"] == "conversation"]
        assert "has no team" in run_a("team", "promote", note["citation"], code=1).stderr
        assert "김민지" in run_a("team", "setup").stdout
        assert "is no note" in run_a("team", "promote", turn["citation"], code=1).stderr
        assert "commit it as you commit code" in run_a("team", "promote", note["citation"]).stdout
        git(clone_a, "add", "--all")
        git(clone_a, "commit", "-m", "notes")
        git(clone_a, "push", "origin", "HEAD:main")
        git(clone_b, "pull", "origin", "main")
        offer = "This repository brings 1 note of a team, not accepted yet: `memlayer team accept`."
        assert offer in run_b("team", "status").stdout  # before the first session as well
        assert json.loads(run_b("project", "list", "--json").stdout)["projects"] == []  # a look registers nothing
        told = [said(hook_b, session) for session in ("s0", "s00")]
        assert "brings notes of a team (1)" in told[0] and "/memlayer:memory-team accept" in told[0]
        assert "\n" not in told[0] and TEXT not in told[0] and "of a team" not in told[1]  # one line, once
        assert "of a team" not in said(hook_a, "s9")  # who has the team knows
        _, hook_c, home_c, clone_c = person(tmp_path, "c", "Cho")
        git(clone_c, "pull", "origin", "main")
        assert "of a team" not in said(hook_c, "c1")  # no daemon is there yet
        with Daemon(ROOT, home_c) as fresh:
            fresh.wait_for(lambda: fresh.call("stats")["events"] >= 0, "the store")
            told = [
                json.loads(hook_c("user_prompt_submit", "c1", "p%d" % number, prompt=words).stdout or "{}")
                for number, words in enumerate(("장바구니 테스트를 돌려 줘", "run the cart tests again"))
            ]
        assert "brings notes of a team (1)" in told[0]["systemMessage"] and "of a team" not in str(told[1])
        assert offer in run_b("team").stdout
        (clone_b / "inner").mkdir()
        assert offer in run_b("team", "status", "--project", str(clone_b / "inner")).stdout
        assert TEXT not in run_b("search", "배포 화요일").stdout
        assert "1 note of colleagues: 김민지" in run_b("team", "accept").stdout
        start = json.loads(hook_b("session_start", "s2", source="startup").stdout)
        assert "(decision by 김민지, team) " + TEXT in start["hookSpecificOutput"]["additionalContext"]
        asked = hook_b("user_prompt_submit", "s3", "p1", prompt="우리 배포 무슨 요일에 하기로 했었지?").stdout
        assert "(decision by 김민지, team) " + TEXT in json.loads(asked)["hookSpecificOutput"]["additionalContext"]
        for words in (("search", "배포 화요일"), ("given",), ("list",)):
            shown = " ".join(run_b(*words).stdout.split())
            assert "(decision by 김민지, team) " in shown, words
        listed = json.loads(run_b("list", "--json").stdout)["memories"]
        [held] = [row for row in listed if row["kind"].startswith("team:")]  # beside the prompt of s3
        assert "colleague's note" in run_b("edit", held["citation"], "수요일", code=1).stderr
        assert "(decision by 김민지, team)" in run_b("show", held["citation"]).stdout
        assert "김민지" in run_b("team", "status").stdout
        run_a("team", "promote", "--undo", note["citation"])
        assert list((clone_a / ".memlayer" / "team").iterdir()) == []
        run_b("team", "leave")
        assert TEXT not in run_b("search", "배포 화요일").stdout
        for run in (run_a, run_b):
            run("daemon", "stop")  # the one that `team` has started


def test_several_notes_at_once_and_by_a_slash_command(tmp_path: Path) -> None:
    git(tmp_path, "init", "--bare", str(tmp_path / "origin.git"))
    run, hook, home, clone = person(tmp_path, "a", "김민지")
    with Daemon(ROOT, home):
        for text in (TEXT, "the API listens on port 9440", "커밋 메시지는 한국어로 쓴다"):
            run("remember", text)
        ids = [row["citation"] for row in json.loads(run("list", "core", "--json").stdout)["memories"]]
        assert "colleagues" in run("team", "setup").stdout
        assert "no notes yet" in run("team").stdout and "nobody" not in run("team").stdout
        promoted = run("team", "promote", *ids[:2]).stdout
        assert promoted.count("Promoted: ") == 2 and promoted.count("commit it as you commit code") == 1
        assert len(list((clone / ".memlayer" / "team").rglob("*.md"))) == 2
        wrong = run("team", "promote", ids[2], "nobody", code=1)
        assert wrong.stdout.count("Promoted: ") == 1 and "nobody" in wrong.stderr  # what was done is told
        both = json.loads(run("team", "promote", "--undo", *ids[:2], "--json").stdout)["promoted"]
        assert {row["memory"]["citation"] for row in both} == set(ids[:2])
        for words, shown in (
            ("", "promoted  "),
            ("promote " + ids[0], "Promoted: "),
            ("지우기", "Give one of accept, leave"),
        ):
            hook(
                "user_prompt_expansion", "s1", "p1", command_name="memlayer:memory-team", command_args=words, prompt=""
            )
            done = run("slash", "memory-team", "s1", code=2 if words == "지우기" else 0)
            assert shown in done.stdout + done.stderr
        run("daemon", "stop")


def test_teams_exchange_notes_by_themselves_through_the_remote(tmp_path: Path) -> None:
    """Takes long: the daemons of two persons start anew, and look."""
    git(tmp_path, "init", "--bare", str(tmp_path / "origin.git"))
    run_a, hook_a, home_a, _ = person(tmp_path, "a", "김민지")
    run_b, hook_b, home_b, _ = person(tmp_path, "b", "Bob")
    with Daemon(ROOT, home_a), Daemon(ROOT, home_b):
        hook_a.turn("s1", "p1", TEXT, "네.")
        run_a("doctor", "flush")
        run_a("team", "setup", "git")
        run_b("team", "setup", "git")
        [note] = [row for row in json.loads(run_a("list", "--json").stdout)["memories"] if row["category"] == "core"]
        run_a("team", "promote", note["citation"])
        hook_b("session_start", "s1", source="startup")
        wait_for(lambda: TEXT in run_b("search", "배포 화요일").stdout)
        run_a("forget", note["citation"], "--yes")
        hook_a("session_end", "s1", reason="other")
        wait_for(lambda: json.loads(run_a("team", "status", "--json").stdout)["promoted"] == 0)
        wait_for(lambda: json.loads(run_b("team", "sync", "--json").stdout)["pulled"]["notes"] == 0)
        for run in (run_a, run_b):
            run("daemon", "stop")
