"""Consent to notes: offered twice at most, nothing read or sent before the yes."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memlayer import compose
from memlayer.config import load_settings
from memlayer.config.providers import program_path
from memlayer.daemon.resources import notes_offer
from memlayer.edge.terminal import status_line
from tests.conftest import ROOT
from tests.support.cli_process import Cli
from tests.support.processes import Daemon, HookRunner

OFFER = "/memlayer:memory-notes on"
NONE: dict[str, Any] = {"embedding": {"provider": "none"}}


@pytest.fixture(autouse=True)
def not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Daemon, "was_asked", False)


def starts(hook: HookRunner, count: int, source: str = "startup") -> Iterator[tuple[str, str]]:
    """Yield (the person's line, the model's context) of session starts."""
    for number in range(count):
        done = hook("session_start", "%s-%d" % (source, number), source=source)
        yield str(done.output.get("systemMessage", "")), done.context


def test_offered_twice_ever_a_week_apart_and_to_the_person_alone(home: Path, hook: HookRunner) -> None:
    with Daemon(ROOT, home, NONE) as daemon:
        daemon.settle()
        assert not any(OFFER in line for line, _ in starts(hook, 2))  # who has seen nothing of memlayer cannot tell
        hook.turn(
            "earlier", "p1", "웹훅이 왜 두 번 오는지 봐줘. 재시도 간격을 30초로 늘려봤어.", "원인은 10초 제한입니다."
        )
        daemon.settle()
        assert not any(line for line, _ in starts(hook, 2, "resume"))
        told = list(starts(hook, 2))
        daemon.stop()
        daemon.start()
        daemon.settle()
        for _ in range(2):
            os.utime(home / "notes.offered", (0, time.time() - 8 * 86_400))
            told += list(starts(hook, 2))
    assert [OFFER in line for line, _ in told] == [True, False, True, False, False, False]
    assert all("\n" not in line and OFFER not in context for line, context in told)
    assert ("7,000 tokens" in told[0][0]) is bool(program_path())


@pytest.mark.parametrize(
    "settings",
    [{"consolidation": {"provider": "rules"}}, {"notes": {"enabled": False}}, {"capture": {"enabled": False}}],
    ids=["said off", "notes off", "capture off"],
)
def test_not_offered_where_the_answer_is_known(home: Path, hook: HookRunner, settings: dict[str, Any]) -> None:
    with Daemon(ROOT, home, {**NONE, **settings}) as daemon:
        daemon.settle()
        assert not any(OFFER in line for line, _ in starts(hook, 2))
    assert not (home / "notes.offered").exists()


def test_not_offered_in_a_project_that_says_no(home: Path, hook: HookRunner, project: Path) -> None:
    (project / ".memlayer.yaml").write_text("notes: {enabled: false}\n")
    with Daemon(ROOT, home, NONE) as daemon:
        daemon.settle()
        assert not any(OFFER in line for line, _ in starts(hook, 2))
        (project / ".memlayer.yaml").write_text("notes: {enabled: true}\nconsolidation: {provider: claude-cli}\n")
        hook.turn("s9", "p1", "웹훅이 왜 두 번 오는지 봐줘. 재시도 간격을 30초로 늘려봤어.", "원인은 10초 제한입니다.")
        assert daemon.call("notes")["is_on"] is False  # a project never says yes


def test_unreadable_count_is_the_last(home: Path) -> None:
    home.mkdir(mode=0o700)
    (home / "notes.offered").write_text("세 번")
    assert notes_offer.line(str(home), load_settings(str(home), {})) == ""


@pytest.mark.parametrize("is_there", [True, False])
def test_own_claude_is_offered_where_there_is_one(home: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool) -> None:
    home.mkdir(mode=0o700)
    monkeypatch.setenv("PATH", str(home))
    monkeypatch.setattr(notes_offer, "program_path", lambda: program_path(places=()))
    if is_there:
        (home / "claude").write_text("#!/bin/sh\n")
        (home / "claude").chmod(0o755)
    line = notes_offer.line(str(home), load_settings(str(home), {}))
    assert "--by session" in line and ("`claude`" in line and "7,000 tokens" in line) is is_there


def test_200_sessions_without_a_yes_ask_nobody(home: Path, project: Path, hook: HookRunner, tmp_path: Path) -> None:
    """A `claude` on the PATH tells when it is started; keys lie about."""
    ran = tmp_path / "claude ran"
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "claude").write_text("#!/bin/sh\ntouch '%s'\n" % ran)
    (programs / "claude").chmod(0o755)
    path = os.environ["PATH"]
    os.environ["PATH"] = "%s:%s" % (programs, path)
    try:
        with Daemon(ROOT, home, NONE) as daemon:
            said = [("user", "%d번째로 웹훅이 왜 두 번 오는지 봐줘"), ("assistant", "%d번째 원인은 10초 제한입니다.")]
            for number in range(200):
                for place, (kind, text) in enumerate(said):
                    names = "s%d" % number, "p%d" % number
                    put(home, spooled(project, *names, kind, text % number, number * 2 + place))
            for number in range(0, 200, 40):
                hook("session_end", session="s%d" % number, reason="other")
            daemon.settle()
            state = daemon.call("notes")
            assert (state["is_on"], state["read"], state["waiting"], state["use"]["all"]["tokens"]) == (False, 0, 0, 0)
            assert len(daemon.call("sessions", limit=500)["sessions"]) == 200
    finally:
        os.environ["PATH"] = path
    assert not ran.exists() and not (home / "readings").exists() and not (home / "model_use.json").exists()


def spooled(project: Path, session: str, prompt: str, kind: str, text: str, number: int) -> dict[str, Any]:
    from memlayer.edge.capture.payload import spool_event

    return dict(
        spool_event(
            kind=kind, session_id=session, prompt_id=prompt, text=text, at_ms=1_795_000_000_000 + number * 1000,
            project_dir=str(project),
        )
    )  # fmt: skip


def put(home: Path, event: dict[str, Any]) -> None:
    from memlayer.edge.capture import spool

    spool.put(str(home), event)


def test_status_line_says_reading(home: Path) -> None:
    home.mkdir(mode=0o700)
    assert "reading" not in str(status_line.facts(str(home), {}, 0.0)["line"])
    (home / "reading.pid").write_text(str(os.getpid()))
    assert status_line.facts(str(home), {}, 0.0)["line"] == "memlayer: reading"
    (home / "reading.pid").write_text("999999999")  # a daemon that was killed
    assert status_line.facts(str(home), {}, 0.0)["is_reading"] is False


def test_reader_is_none_without_a_yes(home: Path) -> None:
    home.mkdir(mode=0o700)
    settings = load_settings(str(home), {"MEMLAYER_CONSOLIDATION__PROVIDER": "claude-cli", "ANTHROPIC_API_KEY": "x"})
    assert compose.session_reader(settings, str(home), None, None) is None  # type: ignore[arg-type]
    assert json.loads(Cli(home, home)("statusline", "--json", stdin="{}").stdout)["is_reading"] is False
