"""Runs: what nobody typed lays down nothing for the person, by hooks and by import."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli_process import Cli
from tests.support.processes import Daemon, HookRunner
from tests.support.transcripts import LONG_AGO_S, record, write

ROOT = Path(__file__).resolve().parents[2]
RULES = ("Always answer in JSON. Never edit files outside src/.", "앞으로 모든 커밋 메시지는 영어로 써줘")
SENT = (
    *RULES,
    "We decided to store the invoices in SQLite instead of Postgres. 결제 웹훅은 큐로 처리하기로 했어.",
    "todo: remove the legacy exporter",
    "할 일: 정산 배치의 재시도 한도를 정하기",
    "I will rotate the signing key of the webhooks by 2031-03-01. 5월 2일까지 환불 문서를 정리할게.",
)
LEFT = ("JSON", "src/", "영어로", "SQLite", "웹훅은 큐로", "legacy exporter", "재시도 한도", "signing key", "환불 문서")
ANSWER = "Understood: the exporter module reads the invoices and writes a report, and 12 of 12 tests pass."
PERSON: dict[str, str] = {}
AT_TERMINAL = {"CLAUDE_CODE_ENTRYPOINT": "cli"}
BY_CLAUDE_P = {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}
BY_SDK = {"CLAUDE_CODE_ENTRYPOINT": "sdk-py", "CLAUDE_CODE_SESSION_ATTENDED": "0"}
IN_BACKGROUND = {**AT_TERMINAL, "CLAUDE_CODE_SESSION_ATTENDED": "0"}


@pytest.fixture
def cli(home: Path, project: Path) -> Cli:
    return Cli(home, project)


@pytest.fixture
def host(hook: HookRunner) -> Callable[[dict[str, str]], HookRunner]:
    """Hooks of a host whose environment tells this."""

    def telling(facts: dict[str, str]) -> HookRunner:
        runner = HookRunner(hook.root, hook.home, hook.project, hook.python)
        runner.environment = {**hook.environment, **facts}
        return runner

    return telling


def core(daemon: Daemon) -> list[str]:
    return [row["text"] for row in daemon.call("list", category="core", limit=500)["memories"]]


def tasks(daemon: Daemon) -> list[str]:
    return [row["title"] for row in daemon.call("tasks", limit=50)["tasks"]]


def session_of(hooks: HookRunner, session: str, *prompts: str, source: str = "startup") -> str:
    """Play a session; return all that its hooks gave the model and told the person."""
    shown = [hooks("session_start", session, source=source)]
    for number, prompt in enumerate(prompts):
        prompt_id = "%s-%s-%d" % (session, source, number)
        shown.append(hooks("user_prompt_submit", session, prompt_id, prompt=prompt))
        shown.append(hooks("stop", session, prompt_id, last_assistant_message=ANSWER))
    shown.append(hooks("session_end", session, reason="other"))
    return "\n".join(done.stdout.decode() for done in shown)


def lays_down_nothing(daemon: Daemon, person: HookRunner, cli: Cli) -> None:
    """Look where a person meets their rules, decisions, promises and work."""
    daemon.settle()
    assert core(daemon) == [] and tasks(daemon) == []
    assert json.loads(cli("rules", "--json").stdout)["memories"] == []
    asked = ("Which format do answers have, and which files may be edited?", "커밋 메시지는 어떻게 쓰기로 했지?")
    more = ("Where did we decide to store the invoices?", "정산 배치와 환불 문서에서 남은 일이 뭐였지?")
    shown = session_of(person, "theirs", *asked, *more)
    assert [word for word in LEFT if word in shown] == []


def test_run_lays_down_nothing(daemon: Daemon, host: Callable[[dict[str, str]], HookRunner], cli: Cli) -> None:
    """The other environments of a run: tests/unit/edge/test_runs.py."""
    assert "memlayer keeps" not in session_of(host(IN_BACKGROUND), "run", *SENT)
    lays_down_nothing(daemon, host(PERSON), cli)
    [hit, *_] = daemon.call("search", query="answer in JSON", limit=5)["hits"]
    assert "Never edit files outside src/" in hit["text"] and hit["by"] == "run"
    found = daemon.call("search", query="커밋 메시지 영어", limit=5)["hits"]
    assert any(RULES[1] in row["text"] for row in found)
    # who says the same again in a session of their own makes it theirs
    shown = session_of(host(AT_TERMINAL), "again", *RULES)
    daemon.settle()
    shown += session_of(host(AT_TERMINAL), "later")  # a busy machine says it there
    assert "memlayer keeps" in shown
    assert {"Always answer in JSON.", "Never edit files outside src/.", RULES[1]} <= set(core(daemon))


def test_person_lays_down_rules(daemon: Daemon, host: Callable[[dict[str, str]], HookRunner]) -> None:
    session_of(host(PERSON), "theirs", *SENT)
    daemon.settle()
    assert {"Always answer in JSON.", "Never edit files outside src/.", RULES[1]} <= set(core(daemon))
    assert sorted(tasks(daemon)) == ["remove the legacy exporter", "정산 배치의 재시도 한도를 정하기"]


def test_run_without_a_daemon_lays_down_nothing(
    home: Path, host: Callable[[dict[str, str]], HookRunner], cli: Cli
) -> None:
    session_of(host(BY_CLAUDE_P), "run", *SENT)
    with Daemon(ROOT, home) as daemon:
        lays_down_nothing(daemon, host(PERSON), cli)


def test_run_ends_nothing_of_the_persons(daemon: Daemon, host: Callable[[dict[str, str]], HookRunner]) -> None:
    """Whether it is a session of its own, or goes on with the person's."""
    person, run = host(AT_TERMINAL), host(BY_CLAUDE_P)
    theirs = ("Always answer in YAML.", "테스트는 포트 5433으로 돌리기로 했어.", "todo: remove the legacy exporter")
    session_of(person, "theirs", *theirs)
    daemon.settle()
    before, work = core(daemon), tasks(daemon)
    assert "Always answer in YAML." in before and work == ["remove the legacy exporter"]
    against = (
        "Always answer in JSON.", "You need not answer in YAML any more.", "테스트는 포트 6000으로 돌리기로 했어.",
        "The legacy exporter is removed.", "revert that", "방금 거 되돌려줘",
    )  # fmt: skip
    shown = session_of(run, "run", *against) + session_of(run, "theirs", *reversed(against), source="resume")
    daemon.settle()
    assert core(daemon) == before and tasks(daemon) == work
    assert "memlayer still keeps" not in shown
    assert [row for row in daemon.call("list", all=True, limit=500)["memories"] if row["kind"] == "did_not_hold"] == []


def test_prompt_of_a_person_in_a_run_that_they_resume_is_theirs(
    daemon: Daemon, host: Callable[[dict[str, str]], HookRunner]
) -> None:
    session_of(host(BY_CLAUDE_P), "run", RULES[0])
    session_of(host(AT_TERMINAL), "run", RULES[1], source="resume")
    daemon.settle()
    assert core(daemon) == [RULES[1]]


def test_tasks_of_a_runs_model_are_no_work_of_the_persons(
    daemon: Daemon, host: Callable[[dict[str, str]], HookRunner]
) -> None:
    for session, facts in (("run", BY_SDK), ("theirs", AT_TERMINAL)):
        hooks = host(facts)
        hooks("session_start", session, source="startup")
        hooks("user_prompt_submit", session, "p-" + session, prompt="fix the cart of the shop")
        hooks("task_created", session, "p-" + session, task_id="1", task_subject="장바구니 고치기 (%s)" % session)
        hooks("stop", session, "p-" + session, last_assistant_message=ANSWER)
    daemon.settle()
    assert tasks(daemon) == ["장바구니 고치기 (theirs)"]


def test_lines_for_a_person_wait_for_one(daemon: Daemon, host: Callable[[dict[str, str]], HookRunner]) -> None:
    """A run between two sessions of a person takes no notice away."""
    person, run = host(AT_TERMINAL), host(BY_CLAUDE_P)
    person("session_start", "s1", source="startup")
    person("user_prompt_submit", "s1", "p1", prompt=RULES[1])
    person("session_end", "s1", reason="other")
    daemon.settle()
    assert "memlayer keeps" not in session_of(run, "run", "fix the cart of the shop")
    assert "memlayer keeps" in str(person("session_start", "s2", source="startup").output)


# -- import

AT_MS = LONG_AGO_S * 1000
OF_SDK: dict[str, Any] = {"entrypoint": "sdk-cli", "promptSource": "sdk", "turnOrigin": "sdk"}
IN_EDITOR: dict[str, Any] = {"entrypoint": "claude-vscode", "promptSource": "sdk"}


def transcript(folder: Path, session: str, cwd: str, facts: dict[str, Any], name: str = "") -> Path:
    lines = []
    for number, prompt in enumerate(SENT):
        at_ms = AT_MS + number * 60_000
        lines.append(record("user", prompt, at_ms, session=session, cwd=cwd, promptId="p%d" % number, **facts))
        lines.append(record("assistant", ANSWER, at_ms + 500, session=session, cwd=cwd, **facts))
    return write(folder, name or session, "".join(lines), cwd=cwd)


def test_imported_run_lays_down_nothing(
    daemon: Daemon, host: Callable[[dict[str, str]], HookRunner], cli: Cli, tmp_path: Path
) -> None:
    transcript(tmp_path / "projects", "run", str(cli.project), OF_SDK)
    assert cli("import", str(tmp_path / "projects")).returncode == 0
    lays_down_nothing(daemon, host(PERSON), cli)
    found = daemon.call("search", query="answer in JSON", limit=5)["hits"]
    assert any(SENT[0] in row["text"] and row["by"] == "run" for row in found)


def test_imported_session_of_a_person_lays_down_rules(daemon: Daemon, cli: Cli, tmp_path: Path) -> None:
    transcript(tmp_path / "projects", "theirs", str(cli.project), IN_EDITOR)
    assert cli("import", str(tmp_path / "projects")).returncode == 0
    daemon.settle()
    assert {"Always answer in JSON.", "Never edit files outside src/.", RULES[1]} <= set(core(daemon))


def test_turns_that_hooks_missed_are_a_runs(
    daemon: Daemon, host: Callable[[dict[str, str]], HookRunner], cli: Cli, tmp_path: Path
) -> None:
    """The host was killed before its Stop, and the next start reads the transcript."""
    hooks = host(BY_CLAUDE_P)
    path = tmp_path / "run.jsonl"
    hooks("session_start", "run", source="startup", transcript_path=str(path))
    at_ms = 4_000_000_000_000
    lines = [record("user", RULES[0], at_ms, session="run", cwd=str(cli.project), promptId="r1", **OF_SDK)]
    lines.append(record("assistant", ANSWER, at_ms + 500, session="run", cwd=str(cli.project), **OF_SDK))
    path.write_text("".join(lines))
    daemon.settle()
    assert [row["by"] for row in daemon.call("list", category="conversation", limit=9)["memories"]] == ["run"]
    assert core(daemon) == []


def test_sessions_tell_who_typed(daemon: Daemon, host: Callable[[dict[str, str]], HookRunner], cli: Cli) -> None:
    session_of(host(BY_SDK), "run", "fix the cart of the shop")
    session_of(host(AT_TERMINAL), "theirs", "fix the cart of the shop")
    daemon.settle()
    rows = {row["id"]: row for row in json.loads(cli("sessions", "--json").stdout)["sessions"]}
    assert [(rows[name]["is_run"], rows[name]["run_by"]) for name in ("run", "theirs")] == [
        (True, "sdk-py"),
        (False, ""),
    ]
    assert "nobody (sdk-py)" in cli("sessions", "run").stdout
