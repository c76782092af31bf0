"""The host writes late.

Lines that appear only after a session's end are taken in, and no more than that.
"""

import time
from pathlib import Path

import pytest

from tests.support.processes import Daemon, HookRunner
from tests.support.transcripts import record

PROMPT = "왜 이렇게 느려?"
LATE = "Because 쿼리 QUARTZ spins."


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class Host:
    """A session that is left with Esc and /exit.

    Its prompt has a hook, its answer has none.
    """

    def __init__(self, hook: HookRunner, path: Path) -> None:
        self.hook, self.path = hook, path

    def says(self, kind: str, text: str, at_ms: int = 0, **more: str) -> None:
        with self.path.open("a") as file:
            file.write(record(kind, text, at_ms or now_ms(), session="s1", cwd=str(self.hook.project), **more))

    def __call__(self, name: str, prompt_id: str = "", **said: str) -> None:
        done = self.hook(name, "s1", prompt_id, transcript_path=str(self.path), **said)
        assert (done.returncode, done.stderr) == (0, b"")

    def run(self) -> None:
        self("session_start", source="startup")
        self("user_prompt_submit", "p1", prompt=PROMPT)
        self.says("user", PROMPT, promptId="p1")
        self("session_end", reason="prompt_input_exit")


@pytest.fixture
def host(hook: HookRunner, tmp_path: Path) -> Host:
    return Host(hook, tmp_path / "s1.jsonl")


def told(daemon: Daemon) -> list[str]:
    return [str(one["text"]) for one in daemon.call("list", limit=10, category="conversation")["memories"]]


def settled(daemon: Daemon) -> None:
    """Wait for the job that the session's end has begun.

    Nothing is read beyond it.
    """
    daemon.wait_for(lambda: daemon.call("status")["jobs_waiting"] == 0, "settled session")


@pytest.mark.parametrize("by", ["flush", "session start"])
def test_last_line_after_session_end(daemon: Daemon, hook: HookRunner, host: Host, by: str) -> None:
    host.run()
    settled(daemon)
    host.says("assistant", LATE)
    if by == "session start":
        hook("session_start", "s2", source="startup")
        settled(daemon)
    else:
        daemon.settle()
    assert told(daemon) == ["User: %s\nAssistant: %s" % (PROMPT, LATE)]
    daemon.settle()
    assert len(told(daemon)) == 1


def test_end_known_only_to_spool(hook: HookRunner, host: Host, home: Path) -> None:
    host.run()
    host.says("assistant", LATE)
    with Daemon(hook.root, home) as daemon:
        daemon.settle()
        assert told(daemon) == ["User: %s\nAssistant: %s" % (PROMPT, LATE)]


def test_later_lines_without_hooks_ignored(daemon: Daemon, hook: HookRunner, host: Host) -> None:
    """`MEMLAYER_DISABLE=1 claude --continue` goes on in the same transcript."""
    host.run()
    settled(daemon)
    host.says("assistant", LATE)
    later_ms = now_ms() + 3_600_000
    host.says("user", "이건 기억하지 마", later_ms, promptId="p2")
    host.says("assistant", "As you wish.", later_ms + 500)
    for _ in range(2):
        hook("session_start", "s2", source="startup")
        daemon.settle()
        assert told(daemon) == ["User: %s\nAssistant: %s" % (PROMPT, LATE)]


@pytest.mark.parametrize("by", ["session end", "flush", "session start"])
def test_transcript_elsewhere_than_named(daemon: Daemon, hook: HookRunner, host: Host, tmp_path: Path, by: str) -> None:
    """The host named a file in a project's folder that has another name by now."""
    projects = tmp_path / "projects"
    (projects / "-다른-이름").mkdir(parents=True)
    named, host.path = projects / "-shop" / "s1.jsonl", projects / "-다른-이름" / "s1.jsonl"
    said = {"transcript_path": str(named)}
    hook("session_start", "s1", "", source="startup", **said)
    hook("user_prompt_submit", "s1", "p1", prompt=PROMPT, **said)
    host.says("user", PROMPT, promptId="p1")
    host.says("assistant", LATE)
    if by == "session end":
        hook("session_end", "s1", "", reason="other", **said)
        settled(daemon)
    elif by == "session start":
        hook("session_start", "s2", "", source="startup")
        settled(daemon)
    else:
        daemon.settle()
    assert told(daemon) == ["User: %s\nAssistant: %s" % (PROMPT, LATE)]
