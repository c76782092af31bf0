"""A session whose turns come by the real hooks and stand in its transcript, and its memories."""

from pathlib import Path
from typing import Any

from tests.support.processes import Daemon, HookRunner
from tests.support.transcripts import Conversation

MARK = "(taken back) "


class Talk(Conversation):
    """A session whose turns come by the real hooks, and stand in its transcript."""

    def __init__(self, hook: HookRunner, folder: Path, session: str = "s1") -> None:
        super().__init__(folder / (session + ".jsonl"), session, str(hook.project))
        self.hook = hook
        self("session_start", source="startup")

    def __call__(self, name: str, prompt_id: str = "", **said: Any) -> None:
        done = self.hook(name, self.session, prompt_id, transcript_path=str(self.path), **said)
        assert (done.returncode, done.stderr) == (0, b"")

    def prompt(self, prompt_id: str, text: str) -> None:
        self("user_prompt_submit", prompt_id, prompt=text)
        super().prompt(prompt_id, text)

    def answer(self, prompt_id: str, text: str) -> None:
        super().answer(prompt_id, text)
        self("stop", prompt_id, last_assistant_message=text)

    def end(self) -> None:
        self("session_end", reason="other")


class Unheard(Talk):
    """A talk that goes on without hooks."""

    def __init__(self, talk: Talk) -> None:
        self.__dict__ = talk.__dict__

    def __call__(self, name: str, prompt_id: str = "", **said: Any) -> None:
        """Call no hook."""


def core(daemon: Daemon) -> list[str]:
    """Return the texts in force."""
    daemon.settle()
    return sorted(str(row["text"]) for row in daemon.call("list", category="core", limit=50)["memories"])


def marked(daemon: Daemon) -> set[str]:
    """Return the prompt ids of the turns that say so."""
    turns = daemon.call("list", category="conversation", limit=50)["memories"]
    return {str(turn["prompt_id"]) for turn in turns if turn["text"].startswith(MARK)}


def ended(daemon: Daemon) -> dict[str, str]:
    """Return text -> why it ended."""
    rows = daemon.call("list", category="core", limit=50, **{"all": True})["memories"]
    return {str(row["text"]): str(row["ended_because"]) for row in rows if row["ended_because"]}
