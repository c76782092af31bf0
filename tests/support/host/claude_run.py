"""Runs the installed host against the scripted API.

Its environment is built from nothing.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.host.installed_host import InstalledHost
from tests.support.host.messages_api import MessagesApi, Request

RUN_TIMEOUT_S = 90.0
# An application in which a person types, whose name the host keeps; and `claude -p` itself.
AS_TYPED = {"CLAUDE_CODE_ENTRYPOINT": "claude-desktop"}
AS_RUN = {"CLAUDE_CODE_ENTRYPOINT": "cli"}


@dataclass(frozen=True)
class Run:
    """One finished run of the host, with its API requests."""

    returncode: int
    stdout: str
    stderr: str
    requests: list[Request]

    @property
    def turns(self) -> list[Request]:
        """The main loop's requests."""
        return [request for request in self.requests if request.is_turn]

    @property
    def turn(self) -> Request:
        """The only main request of this run."""
        assert len(self.turns) == 1, f"{len(self.turns)} requests, stdout {self.stdout!r}, stderr {self.stderr!r}"
        return self.turns[0]


@dataclass
class Claude:
    """The host as one user on one machine has it.

    A home, a memlayer home, a project to start in, plugins. `plugin` is the copy whose CLI answers `memlayer(...)`;
    with `is_plugin_loaded` every run also loads it (--plugin-dir).
    """

    host: InstalledHost
    api: MessagesApi
    home: Path
    project: Path
    plugin: Path
    is_plugin_loaded: bool = True
    extra_environ: dict[str, str] = field(default_factory=dict)

    @property
    def memlayer_home(self) -> Path:
        """MEMLAYER_HOME of every run."""
        return self.home / ".memlayer"

    @property
    def environ(self) -> dict[str, str]:
        """The whole environment: nothing of the caller's own reaches the host."""
        real_python = Path(os.path.realpath(sys.executable)).parent
        return {
            "HOME": str(self.home),
            "PATH": f"{real_python}:/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "TMPDIR": str(self.home.parent),
            "GIT_CONFIG_NOSYSTEM": "1",
            "ANTHROPIC_API_KEY": "sk-ant-dummy",
            "ANTHROPIC_BASE_URL": self.api.base_url,
            "NO_PROXY": "127.0.0.1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "MEMLAYER_HOME": str(self.memlayer_home),
            **AS_TYPED,
            **self.extra_environ,
        }

    def __call__(
        self,
        prompt: str,
        *,
        session: str | None = None,
        resume: str | None = None,
        is_fork: bool = False,
        cwd: Path | None = None,
        environ: dict[str, str] | None = None,
        timeout_s: float = RUN_TIMEOUT_S,
    ) -> Run:
        """Run `claude -p`, the prompt on stdin.

        `session` names a new session, `resume` goes on with one.
        """
        arguments = ["-p", *self._session_arguments(session, resume, is_fork)]
        return self.run(arguments, stdin=prompt, cwd=cwd, environ=environ, timeout_s=timeout_s)

    def run(
        self,
        arguments: list[str],
        *,
        stdin: str = "",
        cwd: Path | None = None,
        environ: dict[str, str] | None = None,
        timeout_s: float = RUN_TIMEOUT_S,
    ) -> Run:
        """Run `claude` with these arguments to its end."""
        before = len(self.api.requests)
        done = subprocess.run(
            [self.host.claude, *arguments],
            cwd=cwd or self.project,
            env={**self.environ, **(environ or {})},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        return Run(done.returncode, done.stdout, done.stderr, self.api.requests[before:])

    @contextmanager
    def started(self, prompt: str, *, session: str | None = None) -> Iterator[subprocess.Popen[str]]:
        """Start `claude -p` and leave it running for the block.

        It is killed afterwards if it still runs.
        """
        process = self._popen(["-p", *self._session_arguments(session, None, False)])
        assert process.stdin is not None
        with process:
            process.stdin.write(prompt)
            process.stdin.close()
            try:
                yield process
            finally:
                process.kill()

    @contextmanager
    def chat(self, *, session: str | None = None) -> "Iterator[Chat]":
        """Hold several turns in one run of the host.

        Its stream-json mode; the session ends with the block.
        """
        streaming = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
        process = self._popen(["-p", *streaming, *self._session_arguments(session, None, False)])
        with process:
            try:
                yield Chat(process, self.api)
                assert process.stdin is not None
                process.stdin.close()
                process.wait(timeout=RUN_TIMEOUT_S)
            finally:
                process.kill()

    def memlayer(self, *arguments: str, stdin: str = "", timeout_s: float = RUN_TIMEOUT_S) -> Any:
        """Run the plugin's CLI with `--json` and return its output.

        In this user's environment.
        """
        said = self.printed(*arguments, "--json", stdin=stdin, timeout_s=timeout_s)
        return json.loads(said) if said.strip() else None

    def printed(self, *arguments: str, stdin: str = "", timeout_s: float = RUN_TIMEOUT_S) -> str:
        """Run the plugin's CLI and return its standard output."""
        done = subprocess.run(
            [self.plugin / "bin" / "memlayer", *arguments],
            cwd=self.project,
            env=self.environ,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        assert done.returncode == 0, (
            f"memlayer {' '.join(arguments)}: {done.returncode}\n{done.stdout}{done.stderr}\n{self.logs()}"
        )
        return done.stdout

    def settle(self) -> None:
        """Wait until everything captured so far is in the store."""
        self.memlayer("doctor", "flush")

    def memory_texts(self) -> list[str]:
        """Return the texts of this project's turns.

        Everything captured so far is in the store first.
        """
        self.settle()
        asked = ("list", "conversation", "--project", str(self.project))
        return [memory["text"] for memory in self.memlayer(*asked)["memories"]]

    def logs(self) -> str:
        """The ends of memlayer's own log files."""
        files = sorted((self.memlayer_home / "logs").glob("*.log"))
        return "\n".join(f"{path.name}:\n{path.read_text('utf-8')[-4000:]}" for path in files)

    def transcripts(self, project: Path | None = None) -> list[Path]:
        """The transcripts of a project (default: this one's), oldest first."""
        slug = re.sub(r"[^A-Za-z0-9]", "-", str(project or self.project))
        found = (self.home / ".claude" / "projects" / slug).glob("*.jsonl")
        return sorted(found, key=lambda path: path.stat().st_mtime_ns)

    def hook_failures(self) -> list[Any]:
        """Return the hook failures in any transcript of the host.

        Hooks that failed, blocked or timed out.
        """
        bad = {"hook_non_blocking_error", "hook_blocking_error", "hook_cancelled", "hook_error_during_execution"}
        files = (self.home / ".claude" / "projects").rglob("*.jsonl")
        lines = [json.loads(line) for path in files for line in path.read_text("utf-8").splitlines()]
        notes = [line["attachment"] for line in lines if line.get("type") == "attachment"]
        return [note for note in notes if note.get("type") in bad]

    def _session_arguments(self, session: str | None, resume: str | None, is_fork: bool) -> list[str]:
        arguments = ["--plugin-dir", str(self.plugin)] if self.is_plugin_loaded else []
        if session:
            arguments += ["--session-id", session]
        if resume:
            arguments += ["--resume", resume]
        if is_fork:
            arguments += ["--fork-session"]
        return arguments

    def _popen(self, arguments: list[str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.host.claude, *arguments],
            cwd=self.project,
            env=self.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )


class Chat:
    """A running session of several turns."""

    def __init__(self, process: subprocess.Popen[str], api: MessagesApi) -> None:
        self._process = process
        self._api = api

    def say(self, prompt: str) -> list[Request]:
        """Send one prompt and return the main requests it caused.

        Its result is waited for.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        before = len(self._api.requests)
        stdin.write(json.dumps({"type": "user", "message": {"role": "user", "content": prompt}}) + "\n")
        stdin.flush()
        for line in stdout:
            if json.loads(line).get("type") == "result":
                return [request for request in self._api.requests[before:] if request.is_turn]
        raise AssertionError(f"the host ended before it answered {prompt!r}")
