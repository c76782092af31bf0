"""JSON of all verbs over a real daemon: a field has one name and one type everywhere."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.support.cli_process import runner
from tests.support.processes import Daemon, HookRunner
from tests.support.repositories import git
from tests.unit.cli.test_every_verb import VERBS

# Their keys are data: categories, settings, tables, operations of the daemon.
KEYED = (
    "counts", "taken_back", "skipped", "by_category", "core_by_kind", "extra", "used_ever", "entry",
    "tables", "hooks", "by_project", "by_kind", "days", "refused", "trouble",
)  # fmt: skip
# A setting's value has the setting's type; a window of use is of a size and of a length of time.
# Still to be named apart: the embedding model and a session's; trouble of a day, and trouble in a line.
OF_ANY_TYPE = ("value", "model", "trouble")
pytestmark = pytest.mark.timeout(240)  # its first test waits for every verb


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Return verb -> its --json output, of a varied home."""
    folder = tmp_path_factory.mktemp("동사")
    home, project = folder / "home", folder / "shop"
    project.mkdir()
    run = runner(home, project)
    hook = HookRunner(ROOT, home, project)
    hook.forbid_background()
    git(project, "init")
    drive = folder / "drive"
    drive.mkdir()
    transcripts = folder / "none.jsonl"
    said = {"type": "user", "cwd": str(project), "sessionId": "old", "uuid": "u1", "message": {"content": "배포는?"}}
    transcripts.write_text(json.dumps({**said, "timestamp": "2026-11-19T09:00:00Z"}) + "\n")
    with Daemon(ROOT, home):
        hook.turn("one", "p1", "Where do we keep order events?", "Decided: order events go to ClickHouse.")
        run("remember", "the API listens on port 8080")
        changed = json.loads(run("remember", "the API listens on port 9090 now", "--json").stdout)
        citation = changed["memory"]["citation"]
        untried = "gzip slowed the export (tried, unconfirmed)"
        doubtful = json.loads(run("remember", untried, "--json").stdout)["memory"]["citation"]
        run("doctor", "flush")
        old, renamed = folder / "old", folder / "renamed"
        old.mkdir()
        run("remember", "the old folder ships on Fridays", "--project", str(old))
        old.rename(renamed)
        backup = str(folder / "all.jsonl")
        typed = {
            "search": "search order port",
            "search --as-prompt": "search --as-prompt which port does the API listen on?",
            "show": f"show {citation}", "list --cited": "list --cited newest",
            "list": "list --all", "rules": "rules", "remember": "remember 배포는 화요일에 한다",
            "show --history": f"show --history {citation}", "edit": f"edit {citation} the API listens on port 9091 now",
            "edit --pin": f"edit --pin {citation}", "stats": "stats", "stats --files": "stats --files",
            "doctor flush": "doctor flush",
            "doctor reindex": "doctor reindex", "doctor repair": "doctor repair",
            "forget": "forget --query order --dry-run",
            "doctor gc": "doctor gc --dry-run",
            "export": f"export {backup}", "import": f"import {backup} --dry-run",
            "import transcripts": f"import {transcripts} --dry-run", "doctor": "doctor", "config": "config",
            "config set": "config set recall.max_entries 3", "config unset": "config unset recall.max_entries",
            "--version": "--version", "mcp install": "mcp install --client codex --dry-run",
            "mcp uninstall": "mcp uninstall --client codex",
            "completion": "completion bash", "daemon status": "daemon status",
            "setup": "setup", "doctor quarantine": "doctor quarantine",
            "doctor quarantine --drop": "doctor quarantine --drop",
            "given": "given", "sessions": "sessions --all-projects", "statusline": "statusline",
            "review": "review", "review keep": f"review keep {doubtful}", "review undo": "review undo",
            "review edit": f"review edit {doubtful} gzip slows it", "review undo edit": "review undo",
            "review merge": f"review merge {doubtful} {citation}", "review undo merge": "review undo",
            "review drop": f"review drop {doubtful}",
            "project list": "project list", "project part": "project part",
            "project join": f"project join {project}",
            "project join renamed": f"project join {old} --project {renamed}",
            "config get": "config get recall.max_entries",
            "project topics": "project topics", "project mode": "project mode",
            "show --file": "show --file shop.py", "search --error": "search --error 오류",
            "task add": "task add 배포 문서 고치기 --by PROJ-12", "task list": "task list all",
            "task show": "task show 배포 문서 고치기", "task start": "task start 배포 문서 고치기",
            "task block": "task block 배포 문서 고치기 --by acme/core#42", "task done": "task done 배포 문서 고치기",
            "task reopen": "task reopen 배포 문서 고치기", "task drop": "task drop 배포 문서 고치기",
            "share setup": f"share setup {drive} --yes", "share sync": "share sync",
            "team setup": "team setup --name 김민지", "team promote": f"team promote {citation}",
            "team accept": "team accept",
            "team sync": "team sync", "team status": "team status",
            "team leave": "team leave",
            "share status": "share status", "share rewrite": "share rewrite", "share stop": "share stop --delete",
            "notes status": "notes status", "notes refused": "notes refused", "notes read": "notes read --dry-run",
        }  # fmt: skip
        said = {verb: json.loads(run(*words.split(" "), "--json").stdout) for verb, words in typed.items()}
        older = json.loads(run("show", "--history", citation, "--json").stdout)["versions"][-1]["key"]
        said["edit --restore"] = json.loads(run("edit", "--restore", older, "--json").stdout)
        said["daemon stop"] = json.loads(run("daemon", "stop", "--json").stdout)
        yield said


def fields(value: object, within: str = "") -> Iterator[tuple[str, object]]:
    """Yield (name, value) of every field at any depth.

    Only fields whose name is a name and not data.
    """
    if isinstance(value, list):
        for one in value:
            yield from fields(one, within)
    elif isinstance(value, dict):
        for name, one in value.items():
            if within not in KEYED and name not in OF_ANY_TYPE:
                yield name, one
            yield from fields(one, name)


def type_of(value: object) -> str:
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


def test_all_verbs_are_asked(answers: dict[str, Any]) -> None:
    assert set(VERBS) - set(answers) <= {
        "project accept",  # of a clone's memory file: tests/hostile/test_memory_file_of_a_clone.py
        "daemon restart",
        "notes on",
        "notes off",
        "share key",  # of an encrypted share
        "share drop",  # of a second machine
        "agent",
        "view",  # it serves until Ctrl-C: tests/integration/view
    }  # agent prints a line for each event


def test_field_has_one_type_everywhere(answers: dict[str, Any]) -> None:
    types: dict[str, dict[str, str]] = {}
    for verb, said in answers.items():
        for name, value in fields(said):
            if value is not None:
                types.setdefault(name, {}).setdefault(type_of(value), verb)
    # What one answer lists, another one counts.
    assert {name: found for name, found in types.items() if len(found) > 1 and set(found) != {"list", "number"}} == {}
    for name in ("memories", "superseded_by", "text", "snippet", "at_ms"):
        assert name in types, name


def test_memories_have_the_same_fields(answers: dict[str, Any]) -> None:
    [wanted] = {frozenset(one) for one in answers["list"]["memories"]}
    for verb in ("show", "remember", "edit", "edit --pin", "edit --restore", "search", "forget", "show --history"):
        found = [one for one in objects(answers[verb]) if "importance" in one and "project_id" in one]
        assert found and all(wanted <= set(one) for one in found), verb


def objects(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for one in value:
            yield from objects(one)
    elif isinstance(value, dict):
        yield value
        for one in value.values():
            yield from objects(one)


def test_export_and_import_stream(tmp_path: Path) -> None:
    run = runner(tmp_path / "home", tmp_path)
    second = tmp_path / "둘째"
    with Daemon(ROOT, tmp_path / "home"):
        run("remember", "결제는 토스로 한다")
        written = run("export", "-")
        assert written.stderr.startswith("memlayer: written: 1 project")
        assert run("export", "-", "--json", code=2).stderr == ""
    with Daemon(ROOT, second):
        into = runner(second, tmp_path)
        assert "1 memory" in into("import", "-", "--dry-run", stdin=written.stdout).stdout
        assert json.loads(into("import", "-", "--json", stdin=written.stdout).stdout)["memories"] == 1
        assert "토스" in into("list").stdout
        for said in ("", "no export\n", '{"type": "user"}\n'):
            assert "Standard input holds no export" in into("import", "-", stdin=said, code=1).stderr
        assert into("import", "-", "other.jsonl", code=2).stdout == ""
        assert not [path for path in second.iterdir() if path.name.startswith(".tmp-")]
        assert "ㅁ" in into("remember", "-", stdin="ㅁ 대신 네모라고 쓴다\n").stdout


def test_forget_reports_unknown_project(tmp_path: Path) -> None:
    run = runner(tmp_path / "home", tmp_path)
    with Daemon(ROOT, tmp_path / "home"):
        run("remember", "결제는 토스로 한다")
        nowhere = str(tmp_path / "없는 폴더")
        for more in ([], ["--yes"], ["--dry-run"]):
            assert run("forget", "--project", nowhere, *more).stdout.startswith(f"Nothing is remembered of {nowhere}.")
        assert json.loads(run("forget", "--project", nowhere, "--json").stdout)["memories"] == []
        assert "토스" in run("list").stdout
