"""The story's throw-away home and projects, hooks and end.

The hooks run as the host runs them.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from memlayer.edge.bootstrap.provision import remember_python
from memlayer.edge.ipc.client import Client, lock_holder
from memlayer.errors import DaemonError

ROOT = Path(__file__).resolve().parent.parent
PATH = "/usr/local/bin:/usr/bin:/bin"
STOP_S = 15.0


class Stage:
    """A context manager that removes everything it made.

    The daemon too ends with it. hook_ms: how long each hook call took, as a whole process.
    """

    def __init__(self, runtime: str) -> None:
        """runtime: the venv that the daemon and the command line run in."""
        self.folder = Path(tempfile.mkdtemp(prefix="memlayer-demo-"))
        self.home = self.folder / "home" / ".memlayer"
        self.hook_ms: list[float] = []
        self._runtime = runtime
        self._commands = _hook_commands()
        python = os.path.join(runtime, "bin", "python")
        self.client = Client(str(self.home), str(ROOT), python)

    def __enter__(self) -> "Stage":
        self.home.mkdir(parents=True, mode=0o700)
        # Setup leaves this note for the hooks; here the runtime was made by somebody else.
        remember_python(str(self.home), getattr(sys, "_base_executable", sys.executable))
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.stop_daemon()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def project(self, name: str, folder: str = "") -> Path:
        """Return a folder in a git repository of that name.

        It is made when it is missing. Runs no git: none may be installed.
        """
        root = self.folder / "src" / name
        git = root / ".git"
        if not git.exists():
            for part in ("objects", "refs"):
                (git / part).mkdir(parents=True)
            (git / "HEAD").write_text("ref: refs/heads/main\n")
            (git / "config").write_text('[remote "origin"]\n\turl = https://git.example.com/demo/%s.git\n' % name)
        (root / folder).mkdir(parents=True, exist_ok=True)
        return root / folder

    def hook(self, event: str, session_id: str, folder: Path, **fields: Any) -> str:
        """Call a hook as the host does; return its context.

        The context is given to the model, "" for none. event: the host's name for it. Raises AssertionError when the
        hook breaks a rule of hooks.
        """
        payload = {
            "session_id": session_id,
            "transcript_path": str(self.folder / "home" / ".claude" / "projects" / "demo" / (session_id + ".jsonl")),
            "cwd": str(folder),
            "hook_event_name": event,
            **fields,
        }
        started = time.perf_counter()
        done = subprocess.run(
            ["sh", "-c", self._commands[event]], input=json.dumps(payload, ensure_ascii=False).encode(),
            capture_output=True, timeout=10, env=self._environment(folder), cwd=folder, check=False,
        )  # fmt: skip
        self.hook_ms.append((time.perf_counter() - started) * 1000)
        if done.returncode or done.stderr:
            raise AssertionError("the %s hook failed: exit code %d" % (event, done.returncode))
        answer: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
        return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def command(self, *words: str) -> str:
        """Return the output of bin/memlayer for these words.

        Raises AssertionError with its own words when it fails.
        """
        done = subprocess.run(
            [str(ROOT / "bin" / "memlayer"), *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
            env=self._environment(self.folder), cwd=self.folder, check=False,
        )  # fmt: skip
        if done.returncode:
            raise AssertionError("`memlayer %s` failed: %s" % (words[0], done.stderr.decode(errors="replace").strip()))
        return done.stdout.decode("utf-8", "replace").rstrip()

    def settle(self) -> dict[str, Any]:
        """Wait until everything from the hooks is stored and indexed.

        It is then searchable by meaning.
        """
        return self.client.call("flush", {"wait": True}, deadline_s=60.0)

    def found_on_disk(self, texts: tuple[str, ...]) -> list[str]:
        """Which of these stand in any file of the memlayer home."""
        found: set[str] = set()
        for at, _, names in os.walk(self.home):  # unlike Path.rglob, at ease when a folder vanishes
            for name in names:
                try:
                    held = Path(at, name).read_bytes() if Path(at, name).is_file() else b""
                except FileNotFoundError:  # the daemon tidies up meanwhile: a moved file is seen at the end
                    continue
                found.update(text for text in texts if text.encode() in held)
        return [text for text in texts if text in found]

    def last_trouble(self) -> str:
        """Return the newest error in the daemon's log.

        The log goes with the home; "" for none. It never holds memory text.
        """
        path = self.home / "logs" / "daemon.log"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        errors = [record["what"] for record in map(json.loads, lines) if record["level"] == "error"]
        return str(errors[-1]) if errors else ""

    def stop_daemon(self) -> None:
        """Ask the daemon to go, and see that it has gone."""
        try:
            self.client.stop(deadline_s=STOP_S)
        except DaemonError:
            pid = lock_holder(str(self.home))
            if pid:
                os.kill(pid, signal.SIGKILL)

    def _environment(self, folder: Path) -> dict[str, str]:
        """Return an environment built from nothing.

        The demo must see no setting and no key of the person's.
        """
        return {
            "PATH": PATH,
            "HOME": str(self.folder / "home"),
            "MEMLAYER_HOME": str(self.home),
            "MEMLAYER_RUNTIME_DIR": self._runtime,
            "CLAUDE_PLUGIN_ROOT": str(ROOT),
            "CLAUDE_PROJECT_DIR": str(folder),
        }


def _hook_commands() -> dict[str, str]:
    """Return event -> the shell command that hooks.json gives for it.

    event: the host's name.
    """
    registered = json.loads((ROOT / "hooks.json").read_text(encoding="utf-8"))["hooks"]
    return {event: groups[0]["hooks"][0]["command"] for event, groups in registered.items()}
