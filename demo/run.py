"""Plays a story to memlayer in a throw-away home.

It shows which memories are kept, which come back, and which do not. Exits with 1 and says why when a memory that must
come back did not, or one came where nothing belongs.
"""

import argparse
import json
import os
import signal
import statistics
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from demo.local_model import LocalModel
from demo.screen import Screen
from demo.sessions import AGENT_FILE, READING_FILE, Session, load_reading, load_search, load_sessions
from demo.stage import Stage
from memlayer.errors import MemlayerError

STORY = Path(__file__).resolve().parent / "story"
READ_S, POLL_S = 30.0, 0.3  # for the model to read a session


def main() -> int:
    """Play the story; returns the exit code."""
    parser = argparse.ArgumentParser(description="Show memlayer at work, in a throw-away home.")
    parser.add_argument("--story", type=Path, default=STORY, metavar="FOLDER", help="another story than ours")
    story = parser.parse_args().story
    runtime = os.environ.get("MEMLAYER_RUNTIME_DIR") or sys.prefix
    started = time.monotonic()
    screen = Screen()
    screen.say("memlayer: the next session knows the facts of the last one.", "bold")
    screen.say("Real hooks, a real daemon, a throw-away home; nothing of yours is read or changed.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the stage is cleared then too
    with Stage(runtime) as stage:
        try:
            wrong = play(stage, screen, story)
        except (MemlayerError, AssertionError) as bad:
            screen.say("The demo cannot go on: %s" % bad, "bold red")
            screen.say(stage.last_trouble())
            return 1
    screen.chapter("The end: the daemon has left, the throw-away home is deleted")
    median_ms = statistics.median(stage.hook_ms)
    screen.say("%d hook calls, %.0f ms each in the median, as whole processes." % (len(stage.hook_ms), median_ms))
    screen.say("The demo took %.1f s." % (time.monotonic() - started))
    for line in wrong:
        screen.say("WRONG: " + line, "bold red")
    if not wrong:
        screen.say("Everything that had to come back did, and nothing came where nothing belongs.", "bold green")
    return 1 if wrong else 0


def play(stage: Stage, screen: Screen, story: Path) -> list[str]:
    """Play the whole story; return its failures, a line each."""
    wrong: list[str] = []
    secrets: tuple[str, ...] = ()
    for session in load_sessions(story):
        screen.chapter(session.title)
        wrong += play_session(stage, screen, session)
        secrets += session.never_kept
        wrong += ["%r is on disk" % text for text in stage.found_on_disk(secrets)]
        settled = stage.settle()
        if settled["waiting"] or settled["unembedded"]:
            wrong.append("not everything was settled: %s" % settled)
        kept_secret = ": the private words and the password are nowhere on disk" if session.never_kept else ""
        screen.say("\nThe session ends. All of it is stored and indexed%s." % kept_secret, "dim")
    screen.chapter("Looking into the memory by hand")
    search = load_search(story)
    folder = str(stage.project(search.project))
    found = stage.command("search", search.words, "--limit", "2", "--project", folder)
    screen.printed("memlayer search %s --limit 2" % search.words, found)
    missing = search.expected.missing(found)
    if missing:
        wrong.append("`memlayer search %s`: %s" % (search.words, missing))
    screen.printed("memlayer stats", stage.command("stats"))
    wrong += ask_agent(stage, screen, story)
    wrong += read_session(stage, screen, story)
    stage.stop_daemon()
    wrong += ["%r is on disk" % text for text in stage.found_on_disk(secrets)]
    return list(dict.fromkeys(wrong))


def play_session(stage: Stage, screen: Screen, session: Session) -> list[str]:
    """Play one session through the four hooks.

    Returns its failures.
    """
    wrong: list[str] = []
    folder = stage.project(session.project, session.folder)
    begun = stage.hook("SessionStart", session.id, folder, source="startup", model="claude-opus-5-5")
    listens_only = not any(turn.expected.given for turn in session.turns)
    missing = session.begins_with.missing(begun)
    if missing:
        wrong.append("at the start of %r: %s" % (session.title, missing))
    if not listens_only:
        screen.begun(begun, missing)
    prompt_id = ""
    for turn in session.turns:
        prompt_id = str(uuid4())
        asked = {"prompt_id": prompt_id, "permission_mode": "default"}
        given = stage.hook("UserPromptSubmit", session.id, folder, **asked, prompt=turn.prompt)
        missing = turn.expected.missing(given)
        if missing:
            why = why_missing(stage, folder, turn.prompt, turn.expected.words)
            wrong.append("%r: %s%s" % (turn.prompt, missing, why))
        if not listens_only:
            screen.asked(turn.prompt, turn.why, given, missing)
        stage.hook(
            "Stop", session.id, folder, **asked, stop_hook_active=False, last_assistant_message=turn.answer,
            background_tasks=[], session_crons=[],
        )  # fmt: skip
    if listens_only:
        screen.told([(turn.prompt, turn.answer) for turn in session.turns])
    stage.hook("SessionEnd", session.id, folder, prompt_id=prompt_id, reason=session.end)
    return wrong


def ask_agent(stage: Stage, screen: Screen, story: Path) -> list[str]:
    """Ask a scripted local model on the same memory; return failures.

    Needs the package openai, and a story with a prompt for it.
    """
    if not (story / AGENT_FILE).exists() or find_spec("openai") is None:
        return []
    screen.chapter("The same memory without Claude Code: a local model answers with the note that it was given")
    asked = load_search(story, AGENT_FILE)
    with LocalModel() as model:
        words = ("--provider", "openai", "--model", "local", "--base-url", model.url)
        said = stage.command("agent", *words, "--project", str(stage.project(asked.project)), asked.words)
    screen.printed("memlayer agent %r" % asked.words, said)
    missing = asked.expected.missing(said)
    return ["`memlayer agent`: %s" % missing] if missing else []


def read_session(stage: Stage, screen: Screen, story: Path) -> list[str]:
    """Have a scripted model read a finished session; return failures.

    Its notes are given to the next session. Needs the package openai, and a story with a reading.
    """
    if not (story / READING_FILE).exists() or find_spec("openai") is None:
        return []
    told = load_reading(story)
    screen.chapter(told.session.title)
    with LocalModel(told.answer) as model:
        words = ("--provider", "openai", "--model", "local", "--base-url", model.url)
        screen.printed("memlayer notes on", stage.command("notes", "on", *words, "--yes"))
        wrong = play_session(stage, screen, told.session)
        stage.settle()
        deadline = time.monotonic() + READ_S
        while not json.loads(stage.command("notes", "status", "--json"))["read"]:
            if time.monotonic() > deadline:
                return [*wrong, "the session was not read: %s" % stage.command("notes", "status")]
            time.sleep(POLL_S)
        screen.say("\nThe session ends, and the model reads it once. A note that it made up is refused:", "dim")
        refused = stage.command("notes", "refused", "--all-projects")
        screen.printed("memlayer notes refused", refused)
        wrong += ["the note about %r was kept" % text for text in told.refused if text not in refused]
        screen.chapter(told.next.title)
        wrong += play_session(stage, screen, told.next)
        stage.command("notes", "off")
    return wrong


def why_missing(stage: Stage, folder: Path, prompt: str, words: tuple[str, ...]) -> str:
    """Explain a missing memory.

    It came too late for its hook, or recall does not find it.
    """
    if not words:
        return ""
    found = stage.client.call("recall", {"prompt": prompt, "project_dir": str(folder)}, deadline_s=20.0)
    if all(word in found["block"] for word in words):
        return " in time: this machine is very busy, or very slow"
    return " (%s)" % (found["gate"] or "recall is %s and does not find it" % found["mode"])


if __name__ == "__main__":
    sys.exit(main())
