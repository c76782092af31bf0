"""Tasks through real hooks, a real daemon and the command line."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.cli_process import Cli
from tests.support.processes import Daemon, HookRunner, end_daemons
from tests.support.waiting import wait_for

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "host"
HOOKS = {"TaskCreated": "task_created", "TaskCompleted": "task_completed", "PostToolUse": "post_tool_use"}


class Working(NamedTuple):
    """A home with a project, its hooks and its command line."""

    home: Path
    hook: HookRunner
    cli: Cli

    def json(self, *words: str) -> dict[str, Any]:
        done = self.cli(*words, "--json")
        return dict(json.loads(done.stdout))

    def history(self, name: str) -> list[str]:
        """Return the kinds of a task's steps."""
        [task] = self.json("task", "show", name)["tasks"]
        return [step["op"] for step in task["history"]]

    def tasks(self, *words: str) -> dict[str, str]:
        """Return title -> status of the tasks that are listed."""
        return {row["title"]: row["status"] for row in self.json("task", "list", *words)["tasks"]}


def working_in(home: Path, folder: Path) -> Working:
    """A project of its own, with sessions of its own."""
    project = folder / "가게"
    project.mkdir()
    hook = HookRunner(ROOT, home, project, python=getattr(sys, "_base_executable", sys.executable))
    hook.forbid_background()
    hook.sessions_of = folder.name
    return Working(home, hook, Cli(home, project))


@pytest.fixture(scope="module")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("tasks") / "home"
    with Daemon(ROOT, home):
        yield home


@pytest.fixture
def working(shared_home: Path, tmp_path: Path) -> Working:
    return working_in(shared_home, tmp_path)


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Working]:
    """The only project of its home, for a look at the home's files."""
    home = tmp_path / "home"
    with Daemon(ROOT, home):
        yield working_in(home, tmp_path)
    end_daemons(home)


@pytest.mark.parametrize(
    ("title", "related", "others"),
    [
        ("배포 문서 고치기", "배포 문서를 고치자. 어디부터 손댈까?", "장바구니 합계를 원 단위로 내려 줘"),
        ("Write the migration guide", "let us write the migration guide now", "round the cart total down"),
    ],
)
def test_start_drops_an_idle_task_that_list_and_first_prompt_still_tell(
    working: Working, title: str, related: str, others: str
) -> None:
    working.cli("task", "add", title)
    told = []
    for number in range(6):
        told.append("open: " + title in start(working, "s%d" % number))
        working.hook.turn("s%d" % number, "p%d" % number, others, "네, 했습니다.")
        working.hook("session_end", session="s%d" % number, reason="other")
        working.cli("doctor", "flush")
    assert told == [True, True, True, True, False, False]
    assert working.tasks() == {title: "pending"}
    assert title not in start(working, "s6")
    assert title in working.hook("user_prompt_submit", session="s6", prompt_id="q", prompt=related).context
    assert title not in start(working, "s7")
    assert title not in working.hook("user_prompt_submit", session="s7", prompt_id="q", prompt=others).context


@pytest.mark.parametrize("version", ["2.1.197", "2.1.331"])
def test_recorded_hooks_of_the_host_keep_its_tasks_27_6(working: Working, version: str) -> None:
    for line in (FIXTURES / f"hook_stdin_tasks_{version}.jsonl").read_text(encoding="utf-8").splitlines():
        payload = json.loads(line)
        if payload["hook_event_name"] != "PostToolUse" or payload["tool_name"] in ("TaskUpdate", "TodoWrite"):
            done = working.hook.raw(HOOKS[payload["hook_event_name"]], line.encode())
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert working.tasks("all") == {
        "Fix the login redirect": "done",
        "로그인 테스트 추가": "cancelled",
        "Write the migration": "done",
        "배포 문서 고치기": "in_progress",
    }
    shown = working.json("task", "show", "로그인 테스트 추가")["tasks"][0]
    assert "Fix the login redirect" not in shown["title"]
    assert [step["op"] for step in shown["history"]].count("task_blockers_set") == 1


def test_a_task_told_in_one_session_stands_in_the_start_of_the_next_27_12(working: Working) -> None:
    working.hook("user_prompt_submit", session="s1", prompt_id="p1", prompt="할 일: 배포 문서 고치기")
    working.hook("stop", session="s1", prompt_id="p1", last_assistant_message="알겠습니다.")
    working.hook("session_end", session="s1", reason="other")
    working.cli("doctor", "flush")
    started = working.hook("session_start", session="s2", source="startup").stdout
    assert "open: 배포 문서 고치기" in json.dumps(json.loads(started), ensure_ascii=False)


@pytest.mark.parametrize("title", ["<private>비밀 일정을 잡는다</private>", "<private>call the bank</private>"])
def test_a_task_of_which_nothing_is_left_is_none(working: Working, title: str) -> None:
    working.hook.turn("s1", "p1", f"todo: {title}", "네.")
    working.hook("session_end", session="s1", reason="other")
    assert working.tasks("all") == {}
    assert "redacted" not in start(working, "s2")


def test_start_tells_a_task_beside_the_one_that_waits_for_it_27_12(working: Working) -> None:
    working.cli("task", "add", "보안 검토")
    working.cli("task", "add", "배포", "--by", "보안 검토")
    told = working.hook("session_start", session="s2", source="startup").context
    assert "open: 보안 검토 [" in told and "open: 배포 (waits for: 보안 검토)" in told


def test_sentences_of_a_prompt_close_known_tasks_or_are_asked_once_in_review(working: Working) -> None:
    for title in ("Fix the login redirect", "배치 알림 옮기기", "Deploy the cart page", "Deploy the search page"):
        working.cli("task", "add", title)
    prompts = (
        "The login redirect is fixed",
        "배치 알림 옮기는 거 끝났어",
        "The cart page is finished",
        "the search page is finished",
    )
    for number, prompt in enumerate(prompts):
        working.hook.turn("s1", "p%d" % number, prompt, "좋아요.")
    assert working.tasks("done") == dict.fromkeys(("Fix the login redirect", "배치 알림 옮기기"), "done")
    [asked] = working.json("review")["task_questions"]
    assert (asked["quote"], asked["candidates"][0]["title"]) in [
        ("The cart page is finished", "Deploy the cart page"),
        ("the search page is finished", "Deploy the search page"),
    ]


@pytest.mark.parametrize("verb", ["done", "drop", "forget"])
def test_task_whose_blocker_is_closed_is_told_as_pending_everywhere(alone: Working, verb: str) -> None:
    alone.cli("task", "add", "보안 검토")
    alone.cli("task", "add", "Deploy the shop", "--by", "보안 검토")
    assert "waits for" in alone.cli("search", "Deploy the shop").stdout
    if verb == "forget":
        [review] = [row for row in alone.json("task", "list")["tasks"] if row["title"] == "보안 검토"]
        alone.cli("forget", review["citation"], "--yes")
    else:
        alone.cli("task", verb, "보안 검토")
    assert alone.tasks()["Deploy the shop"] == "pending"
    assert alone.tasks("blocked") == {}
    told = alone.hook("session_start", session="s2", source="startup").context
    assert "open: Deploy the shop" in told and "waits for" not in told
    alone.cli("doctor", "reindex")
    assert alone.tasks() == {"Deploy the shop": "pending"}
    alone.cli("stats", "--files")
    [page] = alone.home.glob("projects/*/MEMORY.md")
    assert "Deploy the shop" in page.read_text("utf-8")
    for text in (page.read_text("utf-8"), alone.cli("search", "Deploy the shop").stdout):
        assert "waits for" not in text


@pytest.mark.parametrize("verb", ["done", "drop"])
def test_closing_a_blocker_names_the_tasks_that_it_frees(working: Working, verb: str) -> None:
    working.cli("task", "add", "보안 검토")
    working.cli("task", "add", "Write the guide")
    working.cli("task", "add", "Deploy the shop", "--by", "보안 검토")
    working.cli("task", "add", "배포 공지 쓰기", "--by", "보안 검토")
    working.cli("task", "add", "Close the quarter", "--by", "보안 검토", "--by", "PROJ-12")
    assert "waits no more" not in working.cli("task", "start", "보안 검토").stdout
    assert "waits no more" not in working.cli("task", "done", "Write the guide").stdout
    told = working.cli("task", verb, "보안 검토").stdout
    freed = [line for line in told.splitlines() if "waits no more: [mem:" in line]
    assert len(freed) == 2 and "Close the quarter" not in told
    assert any("Deploy the shop" in line for line in freed) and any("배포 공지 쓰기" in line for line in freed)
    assert working.json("task", "done", "Deploy the shop")["freed"] == []


def test_block_list_show_and_close_27_12(working: Working) -> None:
    working.cli("task", "add", "배포 문서 고치기", "--by", "PROJ-12")
    working.cli("task", "add", "Write the migration guide")
    assert set(working.tasks("blocked")) == {"배포 문서 고치기"}
    assert working.json("task", "list", "blocked")["tasks"][0]["waits_for"] == ["PROJ-12"]
    working.cli("task", "done", "migration guide")
    assert working.tasks("done") == {"Write the migration guide": "done"}
    history = working.json("task", "show", "migration guide")["tasks"][0]["history"]
    assert [step["to"] for step in history] == ["Write the migration guide", "in_progress", "done"]
    refused = working.cli("task", "start", "Write the migration guide")
    assert refused.returncode == 2 and "it is done" in refused.stderr
    unknown = working.cli("task", "done", "없는 일")
    assert unknown.returncode == 1 and "No task is known" in unknown.stderr


def slash_done(working: Working, command: str, typed: str) -> subprocess.CompletedProcess[str]:
    """Return what a slash command ended with, its hook before it."""
    working.hook(
        "user_prompt_expansion", session="s1", expansion_type="slash_command", command_source="plugin",
        command_name=f"memlayer:{command}", command_args=typed, prompt=f"/{command} {typed}",
    )  # fmt: skip
    return working.cli("slash", command, working.hook.sessions_of + "s1")


def slash(working: Working, command: str, typed: str = "") -> str:
    """Return the output of a slash command."""
    return slash_done(working, command, typed).stdout


@pytest.mark.parametrize("title", ["write the migration guide", "배포 문서 고치기 [mem:a7Bc3x]", "[mem:b8Cd4y]"])
def test_list_shows_the_id_of_each_task(working: Working, title: str) -> None:
    working.cli("task", "add", title)
    [row] = working.json("task", "list")["tasks"]
    cell = f"[mem:{row['citation']}]"
    shown = (
        working.cli("task", "list").stdout,
        working.cli("task").stdout,
        working.cli("task", "list", "--all-projects").stdout,
        working.cli.on_terminal("task", "list", columns=120)[1],
        slash(working, "memory-tasks"),
        slash(working, "memory-tasks", "all"),
    )
    assert [text.splitlines()[1].partition(" ")[0] for text in shown] == [cell] * len(shown)
    assert all("mem:a7Bc3x" not in text and "mem:b8Cd4y" not in text for text in shown)
    assert working.cli("task", "show", cell).returncode == 0


def test_empty_lists_say_what_there_is_and_how_one_comes(working: Working) -> None:
    for listed in (
        working.cli("task", "list").stdout,
        slash(working, "memory-tasks"),
        slash(working, "memory-tasks", "done"),
    ):
        assert listed.startswith("No task is known here yet.") and "할 일:" in listed and listed.count("\n") == 1
    working.cli("task", "add", "배포 문서 고치기")
    assert (
        working.cli("task", "list", "done").stdout == "No task is done. `memlayer task list all` shows the one task.\n"
    )
    working.cli("task", "add", "write the guide")
    for title in ("배포 문서 고치기", "write the guide"):
        working.cli("task", "done", title)
    assert working.cli("task", "list").stdout == "No task is open. `memlayer task list all` shows all 2 tasks.\n"
    assert slash(working, "memory-tasks", "resting").startswith(
        "No task is resting. `memlayer task list all` shows all 2"
    )


@pytest.mark.parametrize("typed", ["bogus", "끝난 것", "DONE!", "진행중"])
def test_a_wrong_filter_names_those_that_there_are(working: Working, typed: str) -> None:
    told = [working.cli("task", "list", *typed.split()), slash_done(working, "memory-tasks", typed)]
    for done in told:
        assert (done.returncode, done.stdout) == (2, "") and "'resting', 'all'" in done.stderr, done.stderr
        assert "No task" not in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("before", "verb", "says"),
    [
        ("done", "done", "it is done already"), ("drop", "drop", "it is cancelled already"),
        ("done", "drop", "it is done"), ("drop", "done", "it is cancelled"), ("done", "block", "it is done"),
        ("start", "reopen", "it is open"), ("block", "reopen", "it is open"),
    ],
)  # fmt: skip
def test_change_that_changes_nothing_is_refused(working: Working, before: str, verb: str, says: str) -> None:
    working.cli("task", "add", "배포 문서 고치기")
    assert working.cli("task", before, "배포 문서 고치기").returncode == 0
    status = working.tasks("all")
    history = working.history("배포 문서 고치기")
    done = working.cli("task", verb, "배포 문서 고치기")
    assert done.returncode == 2 and f"Refused: {says}." in done.stderr
    told = working.cli("task", verb, "배포 문서 고치기", "--json")
    assert told.returncode == 2 and says in json.loads(told.stderr or told.stdout)["error"]["message"]
    assert working.tasks("all") == status
    refused = ["task_transition_rejected"] * 2 if verb == "block" else []
    assert working.history("배포 문서 고치기") == [*history, *refused]
    page = working.cli("task", "show", "배포 문서 고치기").stdout
    assert "spoken of" not in page


@pytest.mark.parametrize(
    ("verb", "words"),
    [
        ("done", "write THE guide"), ("drop", "guide"), ("done", "Write the guide task"), ("done", "[mem:%s]"),
        ("drop", "%s"), ("done", "guide"),
    ],
)  # fmt: skip
def test_closing_twice_is_an_error_by_any_name(working: Working, verb: str, words: str) -> None:
    working.cli("task", "add", "Write the guide")
    [row] = working.json("task", "list")["tasks"]
    working.cli("task", "done", row["citation"])
    history = working.history(row["citation"])
    name = words.replace("%s", row["citation"])
    for options in ((), ("--json",)):
        assert working.cli("task", verb, name, *options).returncode == 2
        assert working.history(row["citation"]) == history


def test_changes_that_change_something_are_not_refused(working: Working) -> None:
    for verb in ("add", "add", "start", "start", "done", "reopen", "block", "drop", "add"):
        assert working.cli("task", verb, "배포 문서 고치기").returncode == 0, verb
    assert working.cli("task", "block", "배포 문서 고치기", "--by", "PROJ-12").returncode == 0
    assert working.cli("task", "add", "배포", "--by", "보안 검토").returncode == 0
    assert [row["waits_for"] for row in working.json("task", "list")["tasks"]] == [["보안 검토"], ["PROJ-12"]]


def test_search_keeps_to_a_thing_and_show_lists_it_27_1(working: Working) -> None:
    working.cli("task", "add", "배포 문서 고치기", "--by", "PROJ-12")
    working.cli("remember", "src/cart.py rounds the total down, PROJ-12 asked for it")
    working.cli("remember", "src/order.py rounds the total up")
    hits = working.json("search", "about:PROJ-12 rounds")["hits"]
    assert [hit["text"] for hit in hits] == ["src/cart.py rounds the total down, PROJ-12 asked for it"]
    assert [hit["text"][:12] for hit in working.json("search", "about:cart.py")["hits"]] == ["src/cart.py "]
    [shown] = working.json("show", hits[0]["citation"])["matches"]
    assert any(row.startswith("PROJ-12") for row in shown["beside"])


def test_a_forgotten_task_takes_events_and_edges_along(alone: Working) -> None:
    alone.cli("task", "add", "비밀 계획 세우기", "--by", "secret-review.example")
    citation = alone.json("task", "list")["tasks"][0]["citation"]
    assert alone.cli("forget", citation, "--yes").returncode == 0
    assert alone.tasks("all") == {}
    alone.cli("doctor", "reindex")
    assert alone.tasks("all") == {}
    alone.cli("daemon", "stop")
    kept = [path for path in alone.home.rglob("*") if path.is_file() and "logs" not in path.parts]
    assert [path for path in kept if "비밀 계획".encode() in path.read_bytes()] == []
    assert [path for path in kept if b"secret-review" in path.read_bytes()] == []


def test_a_lost_graph_is_made_anew_and_an_export_brings_tasks_along(alone: Working, tmp_path: Path) -> None:
    alone.cli("task", "add", "배포 문서 고치기", "--by", "PROJ-12")
    alone.cli("task", "add", "Write the guide")
    alone.cli("task", "done", "Write the guide")
    before = alone.tasks("all")
    alone.cli("export", str(tmp_path / "all.jsonl"))
    alone.cli("daemon", "stop")
    (alone.home / "cache" / "graph.sqlite").unlink()
    assert alone.tasks("all") == before
    other = Cli(tmp_path / "other", alone.hook.project)
    other("import", str(tmp_path / "all.jsonl"))
    rows = json.loads(other("task", "list", "all", "--json").stdout)["tasks"]
    assert {row["title"]: row["status"] for row in rows} == before
    end_daemons(other.home)


def committed(folder: Path, name: str, at_s: float) -> None:
    """Change a file and commit it as of a moment."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(path.read_text() + "내림\n" if path.exists() else "올림\n")
    at = "%d +0000" % at_s
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_DATE": at,
        "GIT_COMMITTER_DATE": at, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com",
        "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
    }  # fmt: skip
    for words in (["add", "-A"], ["commit", "--quiet", "-m", "정산을 고친다"]):
        subprocess.run(["git", "-C", str(folder), *words], check=True, env=environment)


def start(working: Working, session: str) -> str:
    return working.hook("session_start", session=session, source="startup").context


def test_push_task_closes_once_its_branch_is_pushed(working: Working, tmp_path: Path) -> None:
    project, origin = working.hook.project, tmp_path / "origin.git"
    for words in (["init", "-q", "--bare", str(origin)], ["init", "-q", str(project)]):
        subprocess.run(["git", *words], check=True)
    committed(project, "결제/정산.py", time.time())
    subprocess.run(["git", "-C", str(project), "remote", "add", "origin", str(origin)], check=True)
    working.hook("user_prompt_submit", session="s1", prompt_id="p1", prompt="할 일: 변경사항 푸시")
    working.hook("stop", session="s1", prompt_id="p1", last_assistant_message="알겠습니다.")
    working.hook("session_end", session="s1", reason="other")
    working.cli("doctor", "flush")
    assert "변경사항 푸시" in start(working, "s2")
    subprocess.run(["git", "-C", str(project), "push", "-q", "-u", "origin", "HEAD"], check=True)
    wait_for(lambda: "변경사항 푸시" not in start(working, "s3"), "the look at the branch", within_s=20)
    assert working.tasks("all") == {"변경사항 푸시": "done"}
