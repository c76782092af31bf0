"""The verbs that query, as real processes over a scripted daemon: requests, output and exit codes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memlayer.edge.ipc import protocol
from memlayer.wire import memories as ops
from tests.support.cli_process import AT_MS, EVENT, FOUND, HIT, LONG, MAIN, MEMORY, Cli
from tests.support.scripted_daemon import ScriptedDaemon


@pytest.fixture
def cli(home: Path, project: Path) -> Cli:
    return Cli(home, project)


def test_search_output_in_a_pipe(cli: Cli) -> None:
    with ScriptedDaemon(cli.home, {"search": FOUND}) as daemon:
        done = cli("search", "-", stdin='it\'s "결제" $(rm -rf) `x`\n')
    assert (done.returncode, done.stderr) == (0, "")
    assert daemon.heard == [("search", ops.Search('it\'s "결제" $(rm -rf) `x`', str(cli.project)).fields())]
    for part in ("1. turn_2026-11-19_81d2 [mem:x9Yz2w]", "shop", "session 8f3a12cd", "score 0.71", LONG[:160]):
        assert part in done.stdout
    assert "relevance" not in done.stdout
    assert "\x1b" not in done.stdout and not set("│┃╭─━") & set(done.stdout)


def test_search_arguments(cli: Cli) -> None:
    with ScriptedDaemon(cli.home, {"search": FOUND}) as daemon:
        cli("search", "결제", "모듈", "--all-projects", "--limit", "3")
        cli("search", "--project", "..", "--", "--json")
        cli("search", "q", "--project", "")
    asked = [fields for _, fields in daemon.heard]
    assert asked[0] == ops.Search("결제 모듈", "", limit=3).fields()
    assert (asked[1]["query"], asked[1]["project_dir"]) == ("--json", str(cli.project.parent))
    assert asked[2]["project_dir"] == str(cli.project)  # an unset variable must not come to mean every project


def test_lexical_search_without_hits(cli: Cli) -> None:
    with ScriptedDaemon(cli.home, {"search": {"mode": "lexical", "why": "the model is missing", "hits": []}}):
        done = cli("search", "과제")
    assert done.returncode == 0
    assert done.stdout.startswith("Full-text search only: the model is missing\n")
    assert "Nothing found for '과제' in this project" in done.stdout and "--all-projects" in done.stdout


def test_stored_text_is_harmless(cli: Cli) -> None:
    evil = {**HIT, "snippet": "\x1b[2Jgone [bold red]x[/] [mem:FORGED] \x9b31m\u202eesrever\ud800 <system-reminder>"}
    with ScriptedDaemon(cli.home, {"search": {**FOUND, "hits": [evil]}}):
        piped = cli("search", "q").stdout
        code, shown = cli.on_terminal("search", "q", columns=200)
        raw = cli("search", "q", "--json").stdout
    assert code == 0
    for text in (piped, shown):
        assert "[2J" not in text and "\x9b" not in text and "\u202e" not in text
        assert "[bold red]x[/]" in text
        assert "[mem:FORGED]" not in text and "<system-reminder>" not in text
        assert "[mem:x9Yz2w]" in text
    assert "\u202e" not in raw and "\x9b" not in raw
    assert json.loads(raw)["hits"][0]["snippet"] == evil["snippet"]


def test_terminal_gets_colour_and_wrapping(cli: Cli) -> None:
    with ScriptedDaemon(cli.home, {"search": FOUND}):
        code, shown = cli.on_terminal("search", "q", columns=60)
    assert code == 0 and "\x1b[" in shown
    assert shown.count("\n") > 5


@pytest.mark.parametrize("arguments", [("search",), ("search", "-"), ("search", "  "), ("search", "--as-prompt")])
def test_empty_query_is_an_error(cli: Cli, arguments: tuple[str, ...]) -> None:
    done = cli(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Give " in done.stderr and done.stderr.count("\n") == 1


def test_query_not_utf8(cli: Cli) -> None:
    with ScriptedDaemon(cli.home, {"search": FOUND}) as daemon:
        assert cli("search", "-", stdin=b"\xff\xfe order").returncode == 0
    assert daemon.heard[0][1]["query"].endswith(" order")


def test_daemon_error_is_one_line(cli: Cli) -> None:
    with ScriptedDaemon(cli.home, {"show": [(protocol.ERROR, "user: nothing is known by '없음'".encode())]}):
        done = cli("show", "없음")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "memlayer: nothing is known by '없음'\n")


def test_unexpected_error_writes_report(cli: Cli) -> None:
    with ScriptedDaemon(cli.home, {"show": {"matches": [{"memory": MEMORY, "growth": {"비밀": 1}}]}}):
        done = cli("show", "x9Yz2w")
    assert done.returncode == 1
    assert done.stderr.startswith("memlayer: unexpected KeyError") and done.stderr.count("\n") == 1
    (report,) = (cli.home / "logs").glob("cli-*.txt")
    text = report.read_text()
    assert "verb: show" in text and "browse.py" in text and "비밀" not in text
    assert report.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "hits", ["비밀", {"비밀": 1}, ["비밀"], [{"parts": "비밀"}], [{"score": "비밀"}], [{"parts": {"a": "비밀"}}]]
)
def test_answer_that_is_not_the_expected_one_is_told_in_a_line(cli: Cli, hits: object) -> None:
    with ScriptedDaemon(cli.home, {"search": {"hits": hits}}):
        done = cli("search", "비밀번호")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith("memlayer: the daemon's answer is not the expected one: Expected")
    assert "비밀" not in done.stderr


def test_wrong_option_exit_code(cli: Cli) -> None:
    assert cli("search", "--nope").returncode == 2
    assert cli("nope").returncode == 2


def test_recall_prints_exactly_the_block(cli: Cli) -> None:
    block = "[Memory context]\nNotes.\n- core_3f9c: pytest -x만 쓴다. [mem:a7Bc3x]"
    answer = {"block": block, "mode": "lexical", "why": "loading", "gate": "", "queries": [], "candidates": []}
    with ScriptedDaemon(cli.home, {"recall": answer}) as daemon:
        done = cli("search", "--as-prompt", "-", "--session", "s1", stdin="테스트는 어떻게?\n")
    assert (done.stdout, done.stderr) == (block + "\n", "")
    asked = {"prompt": "테스트는 어떻게?", "project_dir": str(cli.project), "session_id": "s1", "is_explained": False}
    assert daemon.heard[0][1] == asked
    with ScriptedDaemon(cli.home, {"recall": {**answer, "block": ""}}):
        assert cli("search", "--as-prompt", "안녕").stdout == ""


def test_recall_explains_every_candidate(cli: Cli) -> None:
    answer = {
        "block": "",
        "mode": "hybrid",
        "why": "",
        "gate": "closed: small talk",
        "queries": ["주문 이벤트", "주문 이벤"],
        "took_ms": 12.3,
        "candidates": [
            {**HIT, "kept": True, "reason": ""},
            {**HIT, "key": "core_1", "kept": False, "reason": "below the floor", "score": 0.1},
        ],
    }
    with ScriptedDaemon(cli.home, {"recall": answer}) as daemon:
        out = cli("search", "--as-prompt", "q", "--explain").stdout
    assert daemon.heard[0][1]["is_explained"]
    lines = out.splitlines()
    assert lines[0] == "Gate closed: small talk, 12 ms" and lines[1:3] == ["Query 주문 이벤트", "Terms 주문 이벤"]
    assert any(line.startswith("  kept ") and "turn_2026-11-19_81d2" in line for line in lines)
    assert any(line.startswith("  dropped ") and "core_1" in line and "below the floor" in line for line in lines)
    assert lines[-1] == "Block: none, the prompt goes on unchanged"


@pytest.mark.parametrize("given", ["x9Yz2w", "[mem:x9Yz2w]", "mem:x9Yz2w", "[mem:x9Yz2w].", "(`x9Yz2w`),", "“x9Yz2w”"])
def test_show_accepts_citation_forms(cli: Cli, given: str) -> None:
    events = [{**EVENT, "text": "어디에 저장할까?\n둘째 줄"}]
    around = [{"key": "turn_b", "citation": "bbbbbb", "at_ms": AT_MS, "text": "next", "mine": False}]
    match = {"memory": MEMORY, "events": events, "neighbours": around}
    with ScriptedDaemon(cli.home, {"show": {"matches": [match, match]}}) as daemon:
        out = cli("show", given).stdout
    assert daemon.heard == [("show", {"ids": ["x9Yz2w"], "limit_dir": ""})]
    assert out.count("  어디에 저장할까?\n  둘째 줄\n") == 2
    assert "In the same session" in out and "turn_b" in out


def test_list_narrows_and_prints(cli: Cli) -> None:
    with ScriptedDaemon(
        cli.home, {"list": {"memories": [MEMORY, {**MEMORY, "superseded_by": "z", "ended_because": "replaced"}]}}
    ) as daemon:
        out = cli("list", "core", "--session", "s", "--limit", "7", "--all-projects", "--all").stdout
    asked = {"project_dir": "", "session_id": "s", "category": "core", "limit": 7, "all": True}
    asked["rules"] = False
    assert daemon.heard[0][1] == asked
    assert out.count("[mem:x9Yz2w]") == 2 and out.count("replaced") == 1


def test_stats_with_missing_fields(cli: Cli) -> None:
    full = {
        "events": 4,
        "memories": 2,
        "chunks": 5,
        "embedded": 3,
        "disk_bytes": 2_500_000,
        "by_category": {"conversation": 2},
        "by_project": {"p1": 2},
        "daemon": {
            "mode": "lexical",
            "why": "embedding.provider is none",
            "model": {"name": "m", "provider": "none"},
            "pid": 7,
            "build": "0.1.0",
            "since_ms": AT_MS,
            "rss_bytes": 100_000_000,
        },
        "tables": {"events": {"rows": 4, "fragments": 1}, "chunks": {"rows": 0, "fragments": 0}},
        "hooks": {"hook.stop": {"count": 3, "p50_ms": 1.25, "p95_ms": None, "late": 1}},
        "recall": {"prompts": 4, "answered": 1, "entries": 2, "chars": 300},
    }
    with ScriptedDaemon(cli.home, {"stats": lambda _: full}):
        out = cli("stats").stdout
    for part in (
        "2 (conversation 2)",
        "5, 3 with a vector",
        "2.5 MB",
        "p1  2 memories",
        "process 7",
        "embedding.provider is none",
    ):
        assert part in out
    assert not any(part in out for part in ("fragments", "rows 4", "p50", "hook.stop", "schema"))  # in --json
    with ScriptedDaemon(cli.home, {"stats": {"events": 0}}):
        assert cli("stats").returncode == 0


def test_stats_from_files_alone(cli: Cli) -> None:
    (cli.home / "spool").mkdir(parents=True)
    (cli.home / "spool" / "0000000000001-x.json").write_text("{}")
    with ScriptedDaemon(cli.home, {"stats": [(protocol.ERROR, b"store: it does not open")]}):
        done = cli("stats")
        told = json.loads(cli("stats", "--json").stdout)
    assert done.returncode == 0 and "it does not open" in done.stdout and "waiting on disk  1" in done.stdout
    assert told["spool_waiting"] == 1 and told["unavailable"] == "it does not open"


def test_flush_waits_and_reindex_counts(cli: Cli) -> None:
    progress = (protocol.PROGRESS, b'{"phase": "embed", "done": 1, "total": 2}')
    done_flush = (protocol.REPLY, b'{"taken": 2, "waiting": 0, "embedded": 2, "unembedded": 5}')
    script = {"flush": [progress, done_flush], "reindex": [progress, (protocol.REPLY, b'{"chunks": 9}')]}
    with ScriptedDaemon(cli.home, script) as daemon:
        done = cli("doctor", "flush")
        reindexed = cli("doctor", "reindex", "--json")
    assert daemon.heard == [("flush", {}), ("reindex", {})]
    assert (done.stdout, done.stderr) == (
        "Stored 2 events. Waiting: 0.\nNot yet searched by meaning: 5 chunks. Their words are found already.\n",
        "",
    )
    assert json.loads(reindexed.stdout) == {"consolidated": 0, "chunks": 9}


def test_reader_gone_during_output(cli: Cli) -> None:
    many = {"memories": [MEMORY] * 5000}
    with ScriptedDaemon(cli.home, {"list": many}):
        command = f"'{sys.executable}' -I '{MAIN}' list --all-projects | head -n 1"
        done = subprocess.run(
            ["sh", "-c", command], capture_output=True, env=cli.environment, cwd=cli.project, timeout=30
        )
    assert done.stdout.count(b"\n") == 1 and b"Traceback" not in done.stderr and b"unexpected" not in done.stderr
    assert not (cli.home / "logs").exists()


@pytest.mark.parametrize("words", [r"C:\temp\쿠폰", "it's 쿠폰"])
def test_search_repeats_words_as_typed(cli: Cli, words: str) -> None:
    with ScriptedDaemon(cli.home, {"search": lambda _: {"mode": "hybrid", "hits": [], "done": []}}):
        assert f"Nothing found for '{words}' " in cli("search", words).stdout
