"""Record of each hook's input and end, compared with the store.

The comparison comes in the end.
"""

import collections
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from memlayer.adapters.lance.store import LanceStore
from memlayer.edge.capture import spool
from memlayer.edge.home import paths
from memlayer.edge.ipc.client import Client, lock_holder
from memlayer.model import Event, turn_memory_id
from memlayer.ports import MemoryQuery

ROOT = Path(__file__).resolve().parent.parent.parent
BARE = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
Key = tuple[str, str, str]  # session id, prompt id, kind
KINDS = {"user_prompt_submit": "user", "stop": "assistant"}


class Called(NamedTuple):
    """How one hook call ended. took_s: the whole process."""

    returncode: int
    stdout: bytes
    took_s: float

    @property
    def was_killed(self) -> bool:
        return self.returncode == -signal.SIGKILL


class Witness:
    """Calls hooks as the host does (`sh hooks/run <stem>`).

    From any number of threads, in any number of projects.
    """

    def __init__(self, home: Path, *, idle_minutes: float = 1.0) -> None:
        self.home = home
        self.daemons_seen: set[int] = set()
        self.told: dict[Key, str] = {}
        self.project_of: dict[Key, Path] = {}
        self.acknowledged: set[Key] = set()
        self.failures: list[str] = []
        self._lock = threading.Lock()
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        settings = {"embedding": {"provider": "none"}, "daemon": {"idle_minutes": idle_minutes}}
        (home / "config.yaml").write_text(json.dumps(settings))
        (home / "python").write_text(BARE + "\n")

    def environment(self, project: Path) -> dict[str, str]:
        """Return an environment built from nothing, as for every hook here.

        A hook may start a real daemon.
        """
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.home.parent / "person"),
            "MEMLAYER_HOME": str(self.home),
            "CLAUDE_PROJECT_DIR": str(project),
            "MEMLAYER_RUNTIME_DIR": os.environ.get("MEMLAYER_RUNTIME_DIR", str(Path(sys.executable).parent.parent)),
        }

    def call(
        self, stem: str, project: Path, session: str, prompt_id: str = "", text: str = "", kill_after_s: float = -1.0,
        wrap: tuple[str, ...] = (),
    ) -> Called:  # fmt: skip
        """Call one hook.

        With kill_after_s >= 0 it is killed (SIGKILL) unless it is done by then. wrap: a command that confines it.
        """
        payload: dict[str, Any] = {"session_id": session, "transcript_path": "", "cwd": str(project)}
        key = (session, prompt_id, KINDS.get(stem, stem))
        if stem in KINDS:
            field = "prompt" if stem == "user_prompt_submit" else "last_assistant_message"
            payload.update({"prompt_id": prompt_id, field: text})
            with self._lock:
                self.told[key], self.project_of[key] = text, project
        else:
            payload.update({"source": "startup"} if stem == "session_start" else {"reason": "other"})
        started = time.perf_counter()
        process = subprocess.Popen(
            [*wrap, "/bin/sh", str(ROOT / "hooks" / "run"), stem], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=self.environment(project), cwd=project,
        )  # fmt: skip
        assert process.stdin is not None
        killed = threading.Timer(max(0.0, kill_after_s), process.kill) if kill_after_s >= 0 else None
        if killed is not None:
            killed.start()
        out, err = process.communicate(json.dumps(payload, ensure_ascii=False).encode(), timeout=60)
        took_s = time.perf_counter() - started
        if killed is not None:
            killed.cancel()
        with self._lock:
            if process.returncode == 0 and stem in KINDS:
                self.acknowledged.add(key)
            elif process.returncode not in (0, -signal.SIGKILL) or err:
                self.failures.append("%s: exit %s, stderr %r" % (stem, process.returncode, err[-300:]))
        return Called(process.returncode, out, took_s)

    @property
    def client(self) -> Client:
        return Client(str(self.home), str(ROOT), sys.executable, wait_s=40.0)

    def daemon_pid(self) -> int:
        """Who holds the daemon's lock; 0 when nobody does."""
        pid = lock_holder(str(self.home))
        if pid:
            self.daemons_seen.add(pid)
        return pid

    def kill_daemon(self) -> bool:
        """Send SIGKILL to the lock's holder.

        False when nobody holds it. The next hook may start the next daemon at once.
        """
        pid = self.daemon_pid()
        (self.home / "wake.stamp").unlink(missing_ok=True)
        if not pid:
            return False
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True

    def settle_and_stop(self) -> None:
        """Everything that waits is taken in; then nobody holds the store."""
        self.client.call("flush", {"wait": True}, deadline_s=300.0)
        self.client.stop(deadline_s=60.0)

    def verdict(self) -> "Verdict":
        """Compare; no daemon may run."""
        store = LanceStore.open(Path(paths.store(str(self.home))), 0)
        try:
            events = store.events(limit=10_000_000)
            memories = collections.Counter(memory.id for memory in store.memories(MemoryQuery(limit=10_000_000)))
            chunked = collections.Counter[str]()
            store.scan_terms(lambda chunk_id, _: chunked.update([chunk_id]))
        finally:
            store.close()
        return Verdict(self, events, memories, chunked)


class Verdict:
    """The faults of a run.

    Each field is empty after a good run.
    """

    def __init__(
        self,
        witness: Witness,
        events: Iterable[Event],
        memories: collections.Counter[str],
        chunked: collections.Counter[str],
    ) -> None:
        said = [event for event in events if event.kind in ("user", "assistant")]
        found: dict[Key, list[Event]] = {}
        for event in said:
            found.setdefault((event.session_id, event.prompt_id, event.kind), []).append(event)
        self.stored = len(said)
        self.lost = sorted(key for key in witness.acknowledged if key not in found)
        self.doubled = sorted(key for key, group in found.items() if len(group) > 1)
        self.altered = sorted(key for key, group in found.items() if group[0].text != witness.told.get(key))
        self.quarantined = spool.quarantined(str(witness.home))
        self.waiting = spool.waiting(str(witness.home))
        turns = {turn_memory_id(session, prompt) for session, prompt, _ in found}
        self.forgotten_turns = sorted(turns - set(memories))
        self.doubled_memories = sorted(found for found, count in memories.items() if count > 1)
        self.doubled_chunks = sorted(found for found, count in chunked.items() if count > 1)
        self.failures = witness.failures
        by_project: dict[Path, set[str]] = {}
        for key, group in found.items():
            if key in witness.project_of:
                by_project.setdefault(witness.project_of[key], set()).update(one.project_id for one in group)
        ids = [project_id for group in by_project.values() for project_id in group]
        # One project id for each folder, and no id for two folders.
        self.misplaced = [] if len(ids) == len(set(ids)) == len(by_project) else sorted(map(str, by_project.items()))

    def faults(self) -> dict[str, Any]:
        """Return only the fields with faults."""
        return {name: value for name, value in vars(self).items() if name != "stored" and value}
