"""The verb `memlayer notes` over a daemon and a scripted model."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.test_session_reading import CAUSE, GOOD, TURNS, answer, core, play
from tests.support.cli_process import MAIN, Cli, diagnosis, runner
from tests.support.model_api import ModelApi, Said
from tests.support.processes import Daemon, HookRunner
from tests.support.transcripts import LONG_AGO_S
from tests.support.waiting import wait_for


@pytest.fixture
def api() -> Iterator[ModelApi]:
    with ModelApi() as served:
        served.script = lambda asked: answer(GOOD)
        yield served


def on(api: ModelApi) -> list[str]:
    return ["notes", "on", "--provider", "openai", "--model", "tiny", "--base-url", api.url + "/v1", "--yes"]


def transcripts(folder: Path, project: Path, count: int, **facts: str) -> Path:
    """Write earlier sessions of the host."""
    folder.mkdir()
    for number in range(count):
        session, rows = "old-%d" % number, []
        for place, (prompt, said) in enumerate(TURNS):
            at = "2026-10-%02dT09:%02d:00Z" % (number + 1, place)
            shared = {"cwd": str(project), "sessionId": session, "timestamp": at, **facts}
            rows += [
                {**shared, "type": "user", "uuid": "u%d-%d" % (number, place), "promptId": "p%d-%d" % (number, place),
                 "message": {"role": "user", "content": "%d번. %s" % (number, prompt)}},
                {**shared, "type": "assistant", "uuid": "a%d-%d" % (number, place),
                 "parentUuid": "u%d-%d" % (number, place),
                 "message": {"role": "assistant", "content": [{"type": "text", "text": said}]}},
            ]  # fmt: skip
        file = folder / (session + ".jsonl")
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        os.utime(file, (LONG_AGO_S, LONG_AGO_S))  # its last turn is over
    return folder


def test_on_reads_status_tells_off_stops(
    home: Path, project: Path, hook: HookRunner, api: ModelApi, daemon: Daemon
) -> None:
    run = runner(home, project)
    assert "off: nothing is read or sent" in run("notes").stdout
    play(hook, "before")
    daemon.settle()
    said = run(*on(api)).stdout
    assert (
        "127.0.0.1 (tiny) reads each session once" in said
        and "7,000 tokens" in said
        and said.count("\n") == 5
        and "--by session" in said
    )
    assert len(api.asked) == 1 and said.count("\nOn.\n") == 1  # a word; the session from before is left alone
    api.asked.clear()
    play(hook, "s1")
    wait_for(lambda: json.loads(run("notes", "status", "--json").stdout)["read"] == 1)  # notes are kept before the log
    assert CAUSE in core(daemon)
    state = json.loads(run("notes", "status", "--json").stdout)
    assert (state["is_on"], state["read"], state["waiting"], state["refused_notes"]) == (True, 1, 0, 1)
    assert (
        state["use"]["today"]["tokens"] == state["use"]["all"]["tokens"] == state["tokens"] + 760 == 1520
    )  # with the word
    refused = run("notes", "refused").stdout
    assert "5433" in refused and "reason" in refused
    assert "Off" in run("notes", "off").stdout
    offered = run("notes", "status").stdout.partition("If you turn it on")[2]  # by `notes on` alone
    assert "`claude` command" in offered and "127.0.0.1" not in offered and "tiny" not in offered
    play(hook, "s2")
    daemon.settle()
    assert len(api.asked) == 1
    assert "provider: rules" in (home / "config.yaml").read_text("utf-8")
    assert CAUSE in core(daemon)


PRICE = "7,000 tokens a session"


def claude_in(folder: Path) -> Path:
    """Write a program of the host's name."""
    folder.mkdir()
    (folder / "claude").write_text("#!/bin/sh\nexit 1\n")
    (folder / "claude").chmod(0o755)
    return folder


@pytest.fixture
def with_claude(home: Path, project: Path, tmp_path: Path) -> Cli:
    """The command line where a program of the host's name is."""
    made = Cli(home, project)
    made.environment["PATH"] += os.pathsep + str(claude_in(tmp_path / "bin"))
    return made


@pytest.mark.parametrize(
    ("verb", "typed"), [("notes", "n"), ("notes", ""), ("notes --provider anthropic", "n"), ("notes --by session", "n")]
)
def test_terminal_tells_the_price_and_asks_before(home: Path, with_claude: Cli, verb: str, typed: str) -> None:
    first, *options = verb.split()
    code, said = with_claude.on_terminal(first, "on", *options, types=typed + "\n", columns=300)
    assert code == 1 and "Turn it on? [y/N]" in said and "Nothing is changed" in said
    assert ("150 tokens a note" if "session" in verb else PRICE) in said.partition("Turn it on?")[0]
    assert not (home / "config.yaml").exists()


@pytest.mark.parametrize(("option", "typed"), [((), "y\n"), (("--yes",), "")])
def test_yes_on_a_terminal_turns_it_on(
    home: Path, with_claude: Cli, daemon: Daemon, option: tuple[str, ...], typed: str
) -> None:
    code, said = with_claude.on_terminal("notes", "on", *option, types=typed, columns=300)
    assert code == 0 and ("Turn it on?" in said) is (not option)
    assert said.index(PRICE) < said.index("Its notes: ") and "haiku" in said
    assert "provider: claude-cli" in (home / "config.yaml").read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "typed"),
    [((), ""), ((), "y\n"), (("--json",), ""), (("--by", "session"), "예\n"), (("--provider", "anthropic"), "yes\n")],
)
def test_without_a_terminal_it_takes_a_yes(home: Path, with_claude: Cli, options: tuple[str, ...], typed: str) -> None:
    refused = with_claude("notes", "on", *options, stdin=typed)
    assert refused.returncode == 1 and "--yes" in refused.stderr + refused.stdout
    assert not (home / "config.yaml").exists()


@pytest.mark.parametrize("typed", ["on", "on --provider claude-cli", " on\n"])
def test_slash_command_is_the_persons_yes(
    home: Path, with_claude: Cli, hook: HookRunner, daemon: Daemon, typed: str
) -> None:
    hook("user_prompt_expansion", "s1", command_name="memlayer:memory-notes", command_args=typed)
    done = with_claude("slash", "memory-notes", "s1")
    assert done.returncode == 0 and PRICE in done.stdout and "On" in done.stdout
    assert "provider: claude-cli" in (home / "config.yaml").read_text("utf-8")


def test_state_while_off_tells_the_reader_the_price_and_the_way(
    home: Path, project: Path, hook: HookRunner, tmp_path: Path, daemon: Daemon
) -> None:
    cli = Cli(home, project)
    cli.environment["PATH"] = os.environ["PATH"] + os.pathsep + str(claude_in(tmp_path / "bin"))
    run = cli("notes").stdout
    assert "your own `claude` command (haiku), found at" in run and PRICE in run and "at most 200,000 a day" in run
    assert "`memlayer notes on`" in run and "earlier sessions" not in run and "ANTHROPIC_API_KEY" not in run
    play(hook, "before")
    daemon.settle()
    planned = json.loads(cli("notes", "read", "--dry-run", "--json").stdout)
    cli.environment.update(ANTHROPIC_API_KEY="k", OPENAI_API_KEY="", CLAUDECODE="1")
    told = cli("notes", "status").stdout
    assert "1 session, about {:,} tokens, 1,500 of them `claude`'s own".format(round(planned["tokens"], -2)) in told
    assert "with the key in ANTHROPIC_API_KEY: `/memlayer:memory-notes on --provider anthropic`" in told
    assert "OPENAI_API_KEY" not in told and "/memlayer:memory-notes on`" in told
    assert "memlayer notes on" not in told
    cli.environment["PATH"] = "/usr/bin:/bin"
    told = cli("notes").stdout.partition("If you turn it on")[2]
    assert "no `claude` command is found on this machine" in told and "say yes" not in told


@pytest.mark.parametrize("on", [[], ["--yes"], ["--json"], ["--model", "haiku"]])
def test_a_reader_that_is_not_here_is_not_turned_on(home: Path, project: Path, on: list[str]) -> None:
    cli = Cli(home, project)
    cli.environment.update(PATH="/usr/bin:/bin", ANTHROPIC_API_KEY="k")
    refused = cli("notes", "on", *on)
    assert refused.returncode == 2 and not (home / "config.yaml").exists()
    for way in ("--by session`", "in ANTHROPIC_API_KEY: `memlayer notes on --provider anthropic`", "--base-url URL"):
        assert way in refused.stderr + refused.stdout


def test_what_is_off_tells_no_old_error(home: Path, project: Path, daemon: Daemon) -> None:
    run = runner(home, project)
    tried = run(
        "notes", "on", "--provider", "openai", "--model", "없는-모델", "--base-url", "http://127.0.0.1:9/v1", "--yes"
    )
    assert "it cannot be asked yet: openai: no connection" in tried.stdout and "no connection" in run("notes").stdout
    assert any("no connection" in says for _, says in diagnosis(home).values())
    run("notes", "off")
    for told in (run("notes").stdout, run("stats").stdout, run("doctor").stdout):
        assert "no connection" not in told and "없는-모델" not in told, told
    assert "없는-모델" not in run("notes", "on", code=2).stderr


def test_earlier_sessions_are_read_once(
    home: Path, project: Path, tmp_path: Path, api: ModelApi, daemon: Daemon
) -> None:
    run = runner(home, project)
    folder = transcripts(tmp_path / "transcripts", project, 4)
    run("import", str(folder))
    planned = json.loads(run("notes", "read", "--last", "3", "--dry-run", "--json").stdout)
    assert (planned["sessions"], planned["is_on"]) == (3, False)
    assert "No model reads sessions" in run("notes", "read", "--yes", code=1).stderr
    run(*on(api))
    api.asked.clear()
    told = run("notes", "read", "--last", "3", code=1).stderr
    assert told.startswith("memlayer: A model would read 3 sessions, about ") and "Add --yes" in told
    again = json.loads(run("notes", "read", "--last", "3", "--dry-run", "--json").stdout)
    assert (again["own_tokens"], planned["own_tokens"]) == (0, 3 * 1500)  # a server adds nothing of its own
    assert abs(again["tokens"] - (planned["tokens"] - planned["own_tokens"])) < 200  # and notes known meanwhile
    assert api.asked == []
    done = json.loads(run("notes", "read", "--last", "3", "--yes", "--json").stdout)
    assert (done["read"], done["waiting"], done["problem"], done["calls"]) == (3, 0, "", 3)
    sent = [asked.body["messages"][1]["content"] for asked in api.asked]
    assert ["%d번" % number in text for number, text in zip((1, 2, 3), sent, strict=True)] == [True] * 3
    assert done["tokens"] < planned["tokens"] * 3
    rest = run("notes", "read", "--last", "3", "--yes").stdout
    assert "Read 1 of 1 session:" in rest and len(api.asked) == 4
    assert "There is no session" in run("notes", "read", "--yes").stdout


def test_imported_run_only_claims(home: Path, project: Path, tmp_path: Path, api: ModelApi, daemon: Daemon) -> None:
    run = runner(home, project)
    run("import", str(transcripts(tmp_path / "transcripts", project, 1, entrypoint="sdk-cli", promptSource="sdk")))
    run(*on(api))
    assert json.loads(run("notes", "read", "--yes", "--json").stdout)["read"] == 1
    assert core(daemon) == {"실행의 주장: " + CAUSE: "cause"}


@pytest.mark.fault
def test_ctrl_c_stops_and_the_rest_goes_on_later(
    home: Path, project: Path, tmp_path: Path, api: ModelApi, daemon: Daemon
) -> None:
    run = runner(home, project)
    run("import", str(transcripts(tmp_path / "transcripts", project, 6)))
    run(*on(api))
    api.asked.clear()

    def slowly(asked: object) -> Said:
        time.sleep(0.7)
        return answer(GOOD)

    api.script = slowly
    verb = Cli(home, project)
    command = [sys.executable, "-I", str(MAIN), "notes", "read", "--yes"]
    running = subprocess.Popen(
        command, env=verb.environment, cwd=project, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    wait_for(lambda: len(api.asked) >= 2)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=20)
    assert b"Stopped. What was read stays read" in told and running.returncode == 130
    asked = len(api.asked)
    time.sleep(2.5)
    assert len(api.asked) <= asked + 1 < 6
    api.script = lambda asked: answer(GOOD)
    run("notes", "read", "--yes")
    assert len(api.asked) == 6


@pytest.mark.fault
def test_failing_model_leaves_sessions_waiting(
    home: Path, project: Path, tmp_path: Path, api: ModelApi, daemon: Daemon
) -> None:
    run = runner(home, project)
    run("import", str(transcripts(tmp_path / "transcripts", project, 2)))
    run(*on(api))
    api.script = lambda asked: Said({"error": {"message": "no"}}, status=401)
    done = run("notes", "read", "--yes").stdout
    assert "Read 0 of 2 sessions" in done and "HTTP 401" in done
    shown = run("notes", "status").stdout
    assert "last error" in shown and "HTTP 401" in shown and "2: " in shown
    state, says = diagnosis(home)["memory notes"]
    assert state == "warn" and "2 sessions wait" in says and "HTTP 401" in says
    assert "sessions wait" in run("stats").stdout


@pytest.mark.parametrize(
    ("typed", "part"),
    [
        ("--provider openai", "openai needs a model"),
        ("--base-url http://127.0.0.1:1/v1", "with --provider"),
        ("--provider nosuch", "nosuch"),
        ("--provider openai --model x --base-url ftp://x", "http://"),
    ],
)
def test_wrong_choices_change_nothing(home: Path, project: Path, typed: str, part: str) -> None:
    done = Cli(home, project)("notes", "on", *typed.split(), "--yes")
    assert done.returncode in (1, 2) and part in done.stderr and done.stderr.count("\n") == 1
    assert not (home / "config.yaml").exists()


def test_nobody_is_asked_about_what_is_refused(home: Path, project: Path) -> None:
    wrong = ("--provider", "openai", "--model", "x", "--base-url", "ftp://모델")
    code, said = Cli(home, project).on_terminal("notes", "on", *wrong, types="y\n", columns=300)
    assert code == 1 and "http://" in said and "Turn it on?" not in said


SERVERS = {
    "no connection": None, "HTTP 401": Said({"error": {"message": "no"}}, status=401),
    "a web page": Said(b"<html>\xec\x95\x88\xeb\x85\x95</html>"), "": Said({"choices": []}),
    "HTTP 404": Said({}, status=404), "HTTP 503": Said({}, status=503),
}  # fmt: skip


@pytest.mark.timeout(180)
def test_server_that_gives_no_answer_is_told_at_once(home: Path, project: Path, api: ModelApi, daemon: Daemon) -> None:
    run = runner(home, project)
    for why, said in SERVERS.items():
        typed = on(api)
        if said is None:
            typed = [word.replace(api.url, "http://127.0.0.1:9") for word in typed]
        else:
            api.script = lambda asked, said=said: said
        told = run(*typed).stdout
        line = next(line for line in told.splitlines() if line.startswith("On"))
        assert line.startswith("On, but it cannot be asked yet: ") and line.endswith("wait until it can."), why
        shown = json.loads(run("notes", "status", "--json").stdout)
        assert shown["is_on"] and shown["use"]["problem"] and shown["use"]["problem"] in line and why in line
        run("notes", "off")
