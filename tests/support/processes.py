"""Real processes for tests.

A hook script as the host runs it, a daemon and its end.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from memlayer.edge.home import paths
from memlayer.edge.ipc.client import Client
from memlayer.errors import DaemonError
from tests.support.leftovers import left_running
from tests.support.prepared_processes import MODULES, ROOT, ForkedProcess, fork_daemon
from tests.support.waiting import wait_for


def end_daemons(home: Path) -> None:
    """Stop the daemons that clients have started, also one that waits to take over."""

    def are_gone() -> bool:
        Client(str(home), str(ROOT), sys.executable).stop()
        return not left_running(home, 0.2)

    wait_for(are_gone, "end of the daemons of %s" % home, within_s=40)


class HookResult:
    """The outcome of a hook process."""

    def __init__(self, done: subprocess.CompletedProcess[bytes]) -> None:
        self.returncode = done.returncode
        self.stdout = done.stdout
        self.stderr = done.stderr

    @property
    def output(self) -> dict[str, Any]:
        """The JSON it printed; {} when it printed nothing."""
        return dict(json.loads(self.stdout)) if self.stdout else {}

    @property
    def context(self) -> str:
        """Return the context given to the model."""
        return str(self.output.get("hookSpecificOutput", {}).get("additionalContext", ""))


class HookRunner:
    """Runs hooks/<name>.py with an interpreter, isolated, with an environment built from nothing."""

    def __init__(self, root: Path, home: Path, project: Path, python: str = sys.executable) -> None:
        self.root, self.home, self.project, self.python = root, home, project, python
        self.sessions_of = ""  # where tests share a home, the name of the test before each session's
        self.environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(home.parent / "person"),
            "MEMLAYER_HOME": str(home),
            "CLAUDE_PROJECT_DIR": str(project),
        }
        if "MEMLAYER_RUNTIME_DIR" in os.environ:
            self.environment["MEMLAYER_RUNTIME_DIR"] = os.environ["MEMLAYER_RUNTIME_DIR"]

    def forbid_background(self) -> None:
        """Keep these hooks from starting a daemon or a setup.

        There is no runtime, and a setup has just been tried.
        """
        self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.environment["MEMLAYER_RUNTIME_DIR"] = str(self.home / "none")
        for name in ("setup.stamp", "setup.noticed"):
            (self.home / name).touch()

    def raw(self, name: str, stdin: bytes, timeout_s: float = 20.0, host: str = "") -> HookResult:
        """Run hooks/<name>.py on these bytes. host: that calls it, by its argument."""
        script = self.root / "hooks" / (name + ".py")
        done = subprocess.run(
            [self.python, "-I", "-S", str(script), *([host] if host else [])], input=stdin, capture_output=True,
            timeout=timeout_s, env=self.environment, cwd=self.project, check=False,
        )  # fmt: skip
        return HookResult(done)

    def __call__(self, name: str, session: str = "s1", prompt_id: str = "", **fields: Any) -> HookResult:
        """Run a hook with a payload in the host's shape."""
        session = self.sessions_of + session
        payload: dict[str, Any] = {"session_id": session, "transcript_path": "", "cwd": str(self.project), **fields}
        if prompt_id:
            payload["prompt_id"] = prompt_id
        return self.raw(name, json.dumps(payload, ensure_ascii=False).encode())

    def context(self, name: str, session: str, prompt_id: str = "", **fields: Any) -> str:
        """Return a hook's context; on a busy machine an answer may come too late, and the hook is called again."""
        answers = (self(name, session, prompt_id and "%s-%d" % (prompt_id, at), **fields).context for at in range(5))
        return next(filter(None, answers), "")

    def turn(self, session: str, prompt_id: str, prompt: str, answer: str) -> None:
        """A whole turn."""
        for name, fields in (("user_prompt_submit", {"prompt": prompt}), ("stop", {"last_assistant_message": answer})):
            done = self(name, session, prompt_id, **fields)
            assert (done.returncode, done.stderr) == (0, b"")

    @property
    def spooled(self) -> list[dict[str, Any]]:
        """The events waiting in the spool."""
        return [json.loads(path.read_text()) for path in sorted((self.home / "spool").glob("[0-9]*.json"))]


class Daemon:
    """A daemon process of a home.

    Settings are given as a dict for config.yaml's groups.
    """

    # True: each daemon is a new process, for tests of the start, of memory and of faults, and for measurements.
    is_fresh = False
    was_asked = True  # about notes of a model: further notices are the tests' own

    def __init__(self, root: Path, home: Path, settings: dict[str, Any] | None = None) -> None:
        self.root, self.home = root, home
        self.settings = {"embedding": {"provider": "none"}} if settings is None else settings
        self.process: subprocess.Popen[bytes] | ForkedProcess | None = None
        self.client = Client(str(home), str(root), sys.executable)

    def start(self) -> "Daemon":
        """Start it and wait until it answers."""
        self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
        (self.home / "config.yaml").write_text(json.dumps(self.settings))
        if self.was_asked:
            paths.write_whole(paths.notes_offered(str(self.home)), b"3\n")
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "MEMLAYER_HOME": str(self.home)}
        if self.is_fresh or self.root != ROOT:
            script = self.root / "memlayer" / "daemon" / "__main__.py"
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-X", "faulthandler", str(script)], env=environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd="/",
            )  # fmt: skip
        else:
            named = self.settings.get("consolidation", {}).get("provider", "")
            self.process = fork_daemon(environment, imports=named if named in MODULES else "")
        self.wait_for(self._answers, "answer")
        return self

    def _answers(self) -> bool:
        try:
            return bool(self.call("status"))
        except DaemonError:
            return False

    def call(self, op: str, **fields: Any) -> dict[str, Any]:
        """One op."""
        return self.client.call(op, fields, deadline_s=40.0, start=False)

    def settle(self, deadline_s: float = 40.0) -> dict[str, Any]:
        """Everything that the hooks brought is in the store and embedded."""
        done: dict[str, Any] = {}
        for _ in range(5):  # a prompt stays out of a batch until its answer is on record; no hook waits for that
            done = self.client.call("flush", {"wait": True}, deadline_s=deadline_s, start=False)
            if not done["waiting"]:
                break
        return done

    def wait_for(self, condition: Any, awaited: str, timeout_s: float = 20.0) -> None:
        """Poll until `condition` holds."""
        process = self.process
        assert process is not None
        wait_for(lambda: condition() or process.poll() is not None, awaited, within_s=timeout_s)
        assert process.poll() is None, self.stderr()

    def stderr(self) -> str:
        """Return the stderr of an ended daemon."""
        assert self.process is not None and self.process.stderr is not None
        if self.process.stderr.seekable():
            self.process.stderr.seek(0)
        return self.process.stderr.read().decode(errors="replace")

    def stop(self, timeout_s: float = 20.0) -> int:
        """Send SIGTERM and return the exit code.

        A daemon that does not go reports its threads, and fails the test.
        """
        assert self.process is not None and self.process.stderr is not None
        with contextlib.closing(self.process.stderr):
            if self.process.poll() is None:
                self.process.terminate()
            try:
                return self.process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                self.process.send_signal(signal.SIGABRT)  # faulthandler writes the threads' frames
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(timeout_s)
                self.process.kill()
                raise AssertionError("the daemon did not go: %s" % self.stderr()) from None

    def kill(self) -> None:
        """SIGKILL, with nothing settled."""
        assert self.process is not None
        self.process.kill()
        self.stop()

    def __enter__(self) -> "Daemon":
        return self.start()

    def __exit__(self, *_: object) -> None:
        has_left = self.process is not None and self.process.poll() is not None
        self.stop()
        if has_left:  # told by a verb, and the next verb has started another
            self.client.stop()
