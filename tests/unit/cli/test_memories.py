"""The verbs that change single memories, as real processes over a scripted daemon."""

import json
from pathlib import Path
from typing import Any

import pytest

from memlayer.edge.capture import spool
from tests.support.cli_process import AT_MS, EVENT, MEMORY, Cli
from tests.support.scripted_daemon import ScriptedDaemon

CORE = {**MEMORY, "key": "core_0123", "category": "core", "kind": "decision", "text": "배포는 화요일에 한다"}
OLD = {**MEMORY, "key": "core_9999", "citation": "zZ9yY8", "text": "배포는 월요일에 한다", "ended_ms": AT_MS}


@pytest.fixture
def cli(home: Path, project: Path) -> Cli:
    return Cli(home, project)


def spooled(cli: Cli) -> list[dict[str, Any]]:
    return [json.loads(Path(path).read_text("utf-8")) for path in spool.waiting(str(cli.home))]


SESSION = "11111111-2222-4333-8444-555555555555"


def test_remember_spools_before_asking_daemon(cli: Cli) -> None:
    seen: list[list[dict[str, Any]]] = []

    def answer(_: dict[str, Any]) -> dict[str, Any]:
        seen.append(spooled(cli))
        return {"memory": CORE, "is_new": True, "older": [OLD]}

    with ScriptedDaemon(cli.home, {"remember": answer}) as daemon:
        said = "배포는 화요일 <private>비밀</private> password=hunter2hunter2\n"
        done = cli("remember", "-", "--session", SESSION, stdin=said)
    assert (done.returncode, done.stderr) == (0, "")
    [[event]] = seen
    assert daemon.heard == [("remember", {"id": event["id"]})]
    assert (event["kind"], event["session_id"], event["project_dir"]) == ("remember", SESSION, str(cli.project))
    assert "비밀" not in event["text"] and "hunter2" not in event["text"] and event["text"].startswith("배포는 화요일")
    assert "Remembered core_0123 [mem:x9Yz2w]" in done.stdout and "Replaces core_9999" in done.stdout


def test_remember_rejects_empty_text(cli: Cli) -> None:
    for said in ("", "  \n", "\x00"):
        done = cli("remember", "-", stdin=said)
        assert done.returncode == 2 and "Give a text to remember" in done.stderr
    assert spooled(cli) == []


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        (("edit", "--pin", "[mem:x9Yz2w]"), ("pin", {"id": "x9Yz2w", "off": False})),
        (("edit", "--unpin", "core_0123"), ("pin", {"id": "core_0123", "off": True})),
        (
            ("edit", "x9Yz2w", "새", "글"),
            ("edit", {"id": "x9Yz2w", "text": "새 글", "headline": None, "subject": None}),
        ),
        (
            ("edit", "x9Yz2w", "--headline", "새 줄"),
            ("edit", {"id": "x9Yz2w", "text": "", "headline": "새 줄", "subject": None}),
        ),
        (
            ("edit", "x9Yz2w", "글", "--headline", "", "--subject", "배포"),
            ("edit", {"id": "x9Yz2w", "text": "글", "headline": "", "subject": "배포"}),
        ),
        (("edit", "--restore", "x9Yz2w"), ("restore", {"id": "x9Yz2w", "keep_both": False})),
        (("edit", "--restore", "x9Yz2w", "--keep-both"), ("restore", {"id": "x9Yz2w", "keep_both": True})),
    ],
)
def test_what_is_asked_and_said(cli: Cli, arguments: tuple[str, ...], asked: tuple[str, dict[str, Any]]) -> None:
    with ScriptedDaemon(cli.home, {asked[0]: {"memory": CORE}}) as daemon:
        said, as_json = cli(*arguments), cli(*arguments, "--json")
    assert daemon.heard == [asked, asked]
    assert "core_0123 [mem:x9Yz2w]" in said.stdout and CORE["text"] in said.stdout
    assert json.loads(as_json.stdout)["memory"]["key"] == "core_0123"


def test_history_shows_states_and_sources(cli: Cli) -> None:
    versions = [
        {**CORE, "id": "new", "sources": [EVENT]},
        {**OLD, "id": "old", "ended_because": "replaced", "sources": []},
        {**OLD, "id": "word", "ended_because": "reworded", "sources": []},
    ]
    with ScriptedDaemon(cli.home, {"history": {"asked": "old", "versions": versions}}) as daemon:
        done = cli("show", "--history", "-", stdin="[mem:zZ9yY8]\n")
        assert cli("show", "--history", "-", "x", stdin="y").returncode == 2
        assert cli("show", "--history").returncode == 2
    assert daemon.heard == [("history", {"id": "zZ9yY8", "limit_dir": ""})]
    lines = done.stdout.splitlines()
    assert (
        lines[0].startswith("  in force")
        and "by person" in done.stdout
        and "user" in done.stdout
        and "8f3a12cd" in done.stdout
    )
    assert [line[:2] for line in lines if "core_9999" in line] == ["> ", "  "]
    assert "reworded" in done.stdout


def test_show_tells_what_superseded_what(cli: Cli) -> None:
    gone = {**OLD, "superseded_by": "new", "ended_because": "replaced"}
    matches = [
        {"memory": gone, "events": [], "neighbours": [], "newer": [CORE], "older": []},
        {"memory": {**CORE, "pinned": True}, "events": [], "neighbours": [], "newer": [], "older": [gone]},
        {"memory": {**OLD, "ended_because": "let go"}, "events": [], "neighbours": [], "newer": [], "older": []},
        {"memory": gone, "events": [], "neighbours": []},
    ]
    with ScriptedDaemon(cli.home, {"show": lambda _: {"matches": [matches.pop(0)]}}):
        said = [cli("show", "-", stdin="x9Yz2w\n").stdout for _ in range(4)]
    assert "replaced" in said[0] and "by core_0123" in said[0]
    assert "pinned" in said[1] and "Replaces" in said[1] and "core_9999" in said[1]
    assert "let go" in said[2]
    assert "forgotten since" in said[3]


@pytest.mark.parametrize("quote", ["배포는 화요일에 한다", "deploys go out on Tuesdays"])
def test_an_edited_memory_tells_its_wordings_apart_from_what_it_replaces(cli: Cli, quote: str) -> None:
    row = {"speaker": "user", "at_ms": AT_MS, "quote": quote, "method": "exact", "confidence": 1.0}
    older = [{**OLD, "ended_because": "replaced"}, {**OLD, "text": quote, "ended_because": "reworded"}]
    shown = {"memory": CORE, "events": [], "neighbours": [], "newer": [], "quotes": [row]}
    matches = [{**shown, "older": older}, {**shown, "older": older[:1], "quotes": [{**row, "confidence": 0.87}]}]
    with ScriptedDaemon(cli.home, {"show": lambda _: {"matches": [matches.pop(0)]}}):
        edited, as_said = (cli("show", "x9Yz2w").stdout for _ in range(2))
    assert edited.index("Worded before") < edited.index("Replaces")
    assert "Rested on the person's words" in edited and "before it was edited\n" in edited and "1.00" not in edited
    assert "Rests on the person's words" in as_said and "similar ones: 87%" in as_said and "Worded" not in as_said
