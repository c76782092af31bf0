"""A throw-away memlayer home, asked through the real hooks or the daemon."""

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memlayer.edge.capture.payload import read_payload
from memlayer.edge.home import paths
from memlayer.edge.ipc.client import Client

ROOT = Path(__file__).resolve().parent.parent
_IDS = uuid.UUID("8d1c3d52-6a0e-4d0b-9a55-3b7f2c1e9f00")
QUIET_S = 60.0
SETTLED_S = 7200.0
_FAILED = b"hook.user_prompt_submit failed"
_LATE_WORDS = (b"a recall was late", b"daemon late", b"daemon kept")

Progress = Callable[[str, int, int], None]


def session_id(name: str) -> str:
    """The host's kind of id for a session of the set."""
    return str(uuid.uuid5(_IDS, "session " + name))


def prompt_id(turn: str) -> str:
    """The host's kind of id for a turn of the set."""
    return str(uuid.uuid5(_IDS, "turn " + turn))


class Home:
    """One memlayer home under `base`, with a folder for each project."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.home = base / "home"
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        runtime = os.environ.get("MEMLAYER_RUNTIME_DIR") or str(Path(sys.executable).parent.parent)
        os.environ["MEMLAYER_RUNTIME_DIR"] = runtime
        bare = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
        (self.home / "python").write_text(bare + "\n")
        self._environment = {
            "PATH": "/usr/bin:/bin", "HOME": str(base), "MEMLAYER_HOME": str(self.home),
            "CLAUDE_PLUGIN_ROOT": str(ROOT), "MEMLAYER_RUNTIME_DIR": runtime,
        }  # fmt: skip
        self.client = Client(str(self.home), str(ROOT), sys.executable)
        self._lines = _hook_lines()

    def folder(self, project: str) -> Path:
        """The folder that the project is worked on in."""
        folder = self.base / "projects" / project
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def settle(self, show: Progress) -> None:
        """Everything that waits is in the store, embedded, indexed and consolidated."""

        def told(step: dict[str, Any]) -> None:
            show(step["phase"], step["done"], step["total"])

        self.client.call("flush", {"wait": True}, deadline_s=7200, on_progress=told)
        ends = time.monotonic() + SETTLED_S
        while (stats := self.client.call("stats", {}, deadline_s=60))["to_consolidate"]:
            if time.monotonic() > ends:
                raise SystemExit("%d turns are not consolidated" % stats["to_consolidate"])
            done = stats["consolidated"]
            show("consolidate", done, done + stats["to_consolidate"])
            time.sleep(0.2)
        self.wait_until_quiet(SETTLED_S)  # of many turns the memory files and indexes take their time too

    def hook(self, name: str, folder: Path, session: str, fields: dict[str, str]) -> tuple[str, bool]:
        """Run a hook as the host does.

        Returns (the text for the model, whether a deadline was missed). Raises SystemExit when the hook or the daemon
        fails.
        """
        marks = self._log_sizes()
        stdin = {"session_id": session, "transcript_path": "", "cwd": str(folder), **fields}
        done = subprocess.run(
            ["/bin/sh", "-c", self._lines[name]], input=json.dumps(stdin, ensure_ascii=False).encode(),
            capture_output=True, env={**self._environment, "CLAUDE_PROJECT_DIR": str(folder)}, cwd=folder, check=False,
        )  # fmt: skip
        if done.returncode or done.stderr:
            raise SystemExit("the hook %s failed: %d %r" % (name, done.returncode, done.stderr))
        said = json.loads(done.stdout) if done.stdout else {}
        context = str(said.get("hookSpecificOutput", {}).get("additionalContext", ""))
        return context, not context and self._was_late(marks)

    def wait_until_quiet(self, within_s: float = QUIET_S) -> None:
        """Wait until the daemon's writer has nothing to do.

        Raises SystemExit when it never has.
        """
        ends = time.monotonic() + within_s
        while time.monotonic() < ends:
            status = self.client.call("status", {})
            if not status["job"] and not status["jobs_waiting"]:
                return
            time.sleep(0.01)
        raise SystemExit("the daemon is never quiet")

    def spool(self, hook: str, project: str, session: str, fields: dict[str, Any], at_ms: int) -> int:
        """Spool one call of a hook, as a hook without a daemon does.

        Returns how many events it was.
        """
        folder = Path(paths.make_folder(paths.spool(str(self.home))))
        raw = json.dumps({"session_id": session_id(session), **fields}, ensure_ascii=False).encode()
        event = read_payload(hook, raw, project_dir=str(self.folder(project)), at_ms=at_ms).event
        if event is None:
            return 0
        (folder / ("%013d-%s.json" % (at_ms, event["id"]))).write_text(json.dumps(event, ensure_ascii=False), "utf-8")
        return 1

    def _logs(self) -> list[str]:
        return [paths.hook_log(str(self.home)), paths.daemon_log(str(self.home))]

    def _log_sizes(self) -> list[int]:
        return [os.path.getsize(path) if os.path.exists(path) else 0 for path in self._logs()]

    def _was_late(self, marks: list[int]) -> bool:
        for path, mark in zip(self._logs(), marks, strict=True):
            if os.path.exists(path):
                with open(path, "rb") as file:
                    file.seek(mark)
                    new = file.read()
                if _FAILED in new:  # it would look like silence
                    raise SystemExit("recall failed inside the daemon: see %s" % path)
                if any(words in new for words in _LATE_WORDS):
                    return True
        return False


def _hook_lines() -> dict[str, str]:
    """The shell line of each hook, by its script's stem, from hooks.json."""
    registered = json.loads((ROOT / "hooks.json").read_text("utf-8"))["hooks"]
    lines = [groups[0]["hooks"][0]["command"] for groups in registered.values()]
    stems = (
        "session_start", "user_prompt_submit", "post_tool_use", "post_tool_use_failure", "stop", "session_end",
    )  # fmt: skip
    return {stem: next(line for line in lines if " %s " % stem in line + " ") for stem in stems}
