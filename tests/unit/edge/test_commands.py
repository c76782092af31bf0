"""Slash commands: each runs an existing verb with any typed words."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest

from memlayer.cli.app import cli
from memlayer.edge.capture import spool
from memlayer.edge.capture.payload import OWN_COMMAND, prompt_detail
from memlayer.edge.capture.spool import VERB_OF
from tests.support.cli_process import MEMORY, Cli
from tests.support.processes import HookRunner
from tests.support.scripted_daemon import ScriptedDaemon
from tests.support.tables import tables

TABLES = tables("edge/commands")

ROOT = Path(__file__).resolve().parents[3]
COMMANDS = sorted((ROOT / "commands").glob("*.md"))
SHELL = re.compile(r"^```!\n(.*?)^```", re.MULTILINE | re.DOTALL)
WORDED = sorted(VERB_OF.keys() - {"memory-view"})  # which takes none, and is the person's alone
NO_SESSIONS: dict[str, Any] = {"sessions": {"sessions": [], "total": 0}}
HARD = TABLES["hard"]


def parts(path: Path) -> tuple[dict[str, str], str]:
    """Return (front matter, body)."""
    _, head, body = path.read_text(encoding="utf-8").split("---\n", 2)
    return dict(line.split(": ", 1) for line in head.splitlines()), body


@pytest.fixture
def memlayer(home: Path, project: Path) -> Cli:
    return Cli(home, project)


def expand(hook: HookRunner, command: str, words: str, session: str = "0f-1") -> None:
    """Run the hook as the host does before a command."""
    done = hook(
        "user_prompt_expansion", session, "p1", hook_event_name="UserPromptExpansion",
        command_name="memlayer:" + command, command_args=words, prompt="/%s %s" % (command, words),
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def kept(home: Path) -> list[Path]:
    return sorted((home / "typed").glob("*"))


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_command_allows_its_own_verbs(path: Path) -> None:
    head, body = parts(path)
    assert head["name"] == path.stem and len(head["description"]) > 20
    assert head["disable-model-invocation"] == "true"
    tool = r'Bash\("\$\{CLAUDE_PLUGIN_ROOT\}/bin/memlayer" ([a-z -]+):\*\)'
    allowed = re.findall(tool, head["allowed-tools"])
    assert re.fullmatch(f"{tool}(, {tool})*", head["allowed-tools"])
    ran = re.findall(r'^"\$\{CLAUDE_PLUGIN_ROOT\}/bin/memlayer" ([^<\n]*)', body, re.MULTILINE)
    assert ran and all(words.startswith(tuple(allowed)) for words in ran)
    for verb in allowed:
        command = cli.get_command(click.Context(cli), verb.split()[0])
        assert command is not None
        known = {option for parameter in command.params for option in parameter.opts}
        given = [word for words in ran if words.startswith(verb) for word in words.split()]
        assert {word for word in given if word.startswith("--")} <= known
    assert prompt_detail("/%s 무엇" % path.stem) == prompt_detail("/memlayer:%s 무엇" % path.stem) == OWN_COMMAND


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_shell_lines_hold_no_words(path: Path) -> None:
    head, body = parts(path)
    blocks = SHELL.findall(body)
    assert blocks and all(block.endswith("\ntrue\n") for block in blocks)  # a problem is reported, not raised
    assert not any(re.search(r"\$(?:ARGUMENTS|\d)", block) for block in blocks)
    takes_words = "argument-hint" in head and path.stem != "memory-import"
    assert takes_words == (path.stem in WORDED)
    if path.stem in VERB_OF:
        assert blocks == ['"${CLAUDE_PLUGIN_ROOT}/bin/memlayer" slash %s "${CLAUDE_SESSION_ID}"\ntrue\n' % path.stem]


@pytest.mark.parametrize("words", HARD.values(), ids=HARD)
def test_words_are_remembered_whole(words: str, hook: HookRunner, memlayer: Cli) -> None:
    events: list[str] = []

    def answer(_: dict[str, Any]) -> dict[str, Any]:
        events.extend(str(json.loads(Path(path).read_text("utf-8"))["text"]) for path in spool.waiting(str(hook.home)))
        return {"memory": MEMORY, "is_new": True}

    expand(hook, "memory-remember", words)
    with ScriptedDaemon(hook.home, {"remember": answer, **NO_SESSIONS}):
        done = memlayer("slash", "memory-remember", "0f-1")
    assert (done.returncode, done.stderr) == (0, "")
    assert events == [words.strip()]
    assert "Remembered" in done.stdout and kept(hook.home) == []
    assert not list(hook.project.rglob("owned"))


@pytest.mark.parametrize("words", HARD.values(), ids=HARD)
def test_words_are_searched_whole(words: str, hook: HookRunner, memlayer: Cli, project: Path) -> None:
    expand(hook, "memory-search", words)
    with ScriptedDaemon(hook.home, {"search": lambda _: {"mode": "lexical", "why": "", "hits": []}}) as daemon:
        done = memlayer("slash", "memory-search", "0f-1")
    assert (done.returncode, done.stderr) == (0, "")
    [(_, request)] = daemon.heard
    assert request["query"] == words.strip()
    assert request["project_dir"] == str(project)


@pytest.mark.parametrize(("typed", "query", "asked"), TABLES["options_are_taken_as_in_a_terminal"])
def test_options_are_taken_as_in_a_terminal(
    hook: HookRunner, memlayer: Cli, typed: str, query: str, asked: dict[str, Any]
) -> None:
    expand(hook, "memory-search", typed)
    with ScriptedDaemon(hook.home, {"search": lambda _: {"mode": "lexical", "why": "", "hits": []}}) as daemon:
        assert memlayer("slash", "memory-search", "0f-1").returncode == 0
    [(_, request)] = daemon.heard
    wanted = {"project_dir": str(hook.project), **asked}
    assert request["query"] == query and {name: request[name] for name in wanted} == wanted


@pytest.mark.parametrize(("typed", "text"), TABLES["what_is_remembered_has_its_options_before_it"])
def test_what_is_remembered_has_its_options_before_it(hook: HookRunner, memlayer: Cli, typed: str, text: str) -> None:
    events: list[dict[str, Any]] = []

    def answer(_: dict[str, Any]) -> dict[str, Any]:
        events.extend(json.loads(Path(path).read_text("utf-8")) for path in spool.waiting(str(hook.home)))
        return {"memory": MEMORY, "is_new": True}

    expand(hook, "memory-remember", typed)
    with ScriptedDaemon(hook.home, {"remember": answer, **NO_SESSIONS}):
        assert memlayer("slash", "memory-remember", "0f-1").returncode == 0
    [event] = events
    assert (event["text"], event["detail"]) == (text, "global" if typed[:8] == "--global" else "")


@pytest.mark.parametrize(
    ("command", "typed", "names"),
    TABLES["a_word_that_is_not_known_is_told_those_that_are"],
)  # fmt: skip
def test_a_word_that_is_not_known_is_told_those_that_are(
    hook: HookRunner, memlayer: Cli, command: str, typed: str, names: str
) -> None:
    expand(hook, command, typed)
    with ScriptedDaemon(hook.home, {}) as daemon:
        done = memlayer("slash", command, "0f-1")
    assert (done.returncode, done.stdout, daemon.heard) == (2, "", [])
    assert names in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "command", ["memory-search 배포", "memory-list", "memory-tasks", "memory-review", "memory-forget 배포"]
)
def test_a_project_where_memory_is_off_is_told_so(hook: HookRunner, memlayer: Cli, command: str) -> None:
    (hook.project / ".memlayer.yaml").write_text("enabled: false\n")
    name, _, typed = command.partition(" ")
    expand(hook, name, typed)
    answers = {
        "search": {"mode": "lexical", "hits": []}, "list": {"memories": [], "total": 0}, "tasks": {"tasks": []},
        "review": {"items": [], "task_questions": []}, "forget": {"unknown": ["배포"]},
    }  # fmt: skip
    with ScriptedDaemon(hook.home, answers):
        done = memlayer("slash", name, "0f-1")
    assert done.returncode == 0 and done.stdout
    assert done.stderr.count("Memory is switched off here") == 1 and ".memlayer.yaml" in done.stderr


@pytest.mark.parametrize(
    "verb", [("show", "a7Bc3x"), ("list", "--json"), ("search", "배포", "--json"), ("stats", "--json")]
)
def test_a_project_that_is_off_is_told_for_ids_and_json_too(
    hook: HookRunner, memlayer: Cli, verb: tuple[str, ...]
) -> None:
    answers = {"search": {"hits": []}, "list": {"memories": []}, "show": {"unknown": ["a7Bc3x"]}, "stats": {}}
    with ScriptedDaemon(hook.home, answers):
        assert "switched off" not in memlayer(*verb).stderr
        (hook.project / ".memlayer.yaml").write_text("enabled: false\n")
        done = memlayer(*verb)
        elsewhere = memlayer("list", "--all-projects")
    assert done.stderr.count("Memory is switched off here") == 1 and "switched off" not in done.stdout
    assert "switched off" not in elsewhere.stderr  # not asked of this project


def test_lone_surrogate_is_replaced(hook: HookRunner, memlayer: Cli) -> None:
    payload = {"session_id": "0f-1", "command_name": "memlayer:memory-search", "command_args": "한 \ud83d 글"}
    assert hook.raw("user_prompt_expansion", json.dumps(payload).encode()).returncode == 0
    with ScriptedDaemon(hook.home, {"search": lambda _: {"mode": "lexical", "why": "", "hits": []}}) as daemon:
        assert memlayer("slash", "memory-search", "0f-1").returncode == 0
    assert [request["query"] for _, request in daemon.heard] == ["한 ? 글"]


@pytest.mark.parametrize("command", WORDED)
def test_missing_words_are_reported(command: str, hook: HookRunner, memlayer: Cli) -> None:
    with ScriptedDaemon(hook.home, {}) as daemon:
        done = memlayer("slash", command, "0f-1")
        assert done.returncode == 1 and "did not arrive, and nothing was done" in done.stderr
        assert done.stderr.count("\n") == 1 and "doctor" in done.stderr
        expand(hook, command, "다른 세션", session="another")
        assert memlayer("slash", command, "0f-1").returncode == 1
        memlayer.environment["MEMLAYER_DISABLE"] = "1"
        assert "MEMLAYER_DISABLE=1" in memlayer("slash", command, "0f-1").stderr
    assert daemon.heard == []


def test_words_are_taken_once(hook: HookRunner, memlayer: Cli) -> None:
    expand(hook, "memory-search", "첫째")
    expand(hook, "memory-forget", "둘째")
    expand(hook, "memory-search", "셋째")
    with ScriptedDaemon(hook.home, {"search": lambda _: {"mode": "lexical", "why": "", "hits": []}}) as daemon:
        assert memlayer("slash", "memory-search", "0f-1").returncode == 0
        assert memlayer("slash", "memory-search", "0f-1").returncode == 1
    assert [request["query"] for _, request in daemon.heard] == ["셋째"]
    assert len(kept(hook.home)) == 1


@pytest.mark.parametrize("command", WORDED)
def test_empty_words_stay_empty(command: str, hook: HookRunner, memlayer: Cli) -> None:
    expand(hook, command, "")
    state = {"use": {"provider": "rules"}}
    answers = {
        "list": {"memories": [], "total": 0},
        "notes": state,
        "notes.read": {},
        "review": {"items": [], "task_questions": []},
        "tasks": {"tasks": []},
        "team.status": {"address": "", "offered": 0},
    }
    with ScriptedDaemon(hook.home, answers):
        done = memlayer("slash", command, "0f-1")
    if command in ("memory-list", "memory-notes", "memory-review", "memory-tasks", "memory-team"):
        assert (done.returncode, done.stderr) == (0, "")
    else:
        assert done.returncode == 2 and f"Give it behind the command: /memlayer:{command} " in done.stderr
        assert "standard input" not in done.stderr.lower()


def test_words_are_redacted_on_disk(hook: HookRunner) -> None:
    expand(hook, "memory-remember", "배포 <private>비밀회의</private> password=hunter2hunter2")
    [path] = kept(hook.home)
    text = path.read_text("utf-8")
    assert "hunter2" not in text and "비밀회의" not in text and "[redacted:private]" in text
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700


def test_foreign_commands_are_not_kept(hook: HookRunner) -> None:
    for name in ("other:memory-search", "memory-palace", "memlayer:memory-stats", "search", ""):
        hook("user_prompt_expansion", command_name=name, command_args="남의 말")
    for raw in (b"", b"[]", b"{}", b'{"command_name":1}', b"\xff", b'{"command_name":"memory-search"}'):
        assert hook.raw("user_prompt_expansion", raw).returncode == 0
    assert kept(hook.home) == []


def test_too_many_words_are_refused(hook: HookRunner, memlayer: Cli) -> None:
    expand(hook, "memory-remember", "가" * 4001)
    with ScriptedDaemon(hook.home, NO_SESSIONS) as daemon:
        done = memlayer("slash", "memory-remember", "0f-1")
        assert done.returncode == 1 and "too long" in done.stderr and "4,000" in done.stderr
        expand(hook, "memory-search", "나" * 100_001)
        done = memlayer("slash", "memory-search", "0f-1")
        assert done.returncode == 1 and "too long" in done.stderr
    assert {op for op, _ in daemon.heard} <= {"sessions"}  # the words went nowhere
    assert spool.waiting(str(hook.home)) == []


def test_unclaimed_words_are_removed(hook: HookRunner, home: Path) -> None:
    expand(hook, "memory-remember", "잊힌 말")
    [path] = kept(home)
    spool.sweep_typed(str(home), path.stat().st_mtime + spool.TYPED_KEPT_S - 1)
    assert kept(home) == [path]
    spool.sweep_typed(str(home), path.stat().st_mtime + spool.TYPED_KEPT_S + 1)
    assert kept(home) == []


def test_link_is_not_read(hook: HookRunner, memlayer: Cli, tmp_path: Path) -> None:
    expand(hook, "memory-search", "말")
    [path] = kept(hook.home)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(elsewhere)
    assert "did not arrive" in memlayer("slash", "memory-search", "0f-1").stderr


def test_shell_runs_lines_unchanged(hook: HookRunner, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "memlayer").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (tmp_path / "bin" / "memlayer").chmod(0o700)
    for path in COMMANDS:
        for block in SHELL.findall(parts(path)[1]):
            # As the host does it: variables of the plugin are put in as text.
            script = block.replace("${CLAUDE_PLUGIN_ROOT}", str(tmp_path)).replace("${CLAUDE_SESSION_ID}", "0f-1")
            script = script.replace("${CLAUDE_PROJECT_DIR}", "/p")
            done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, cwd=tmp_path, timeout=20)
            assert (done.returncode, done.stderr) == (0, "")
            if path.stem in VERB_OF:
                assert done.stdout == "slash\n%s\n0f-1\n" % path.stem
