"""The daemon as a talk asks it, with a circuit breaker.

After M. Nygard, Release It! (2007): after a failure it is asked when it has answered a probe. A daemon that hangs costs
a talk one wait. Events that it was not told of are in the spool.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from memlayer.edge.ipc.client import Client
from memlayer.errors import DaemonError, MemlayerError

ASK_S = 5.0
PROBE_S = 3.0
PROBE_AGAIN_S = 2.0  # after a probe without an answer
START_AGAIN_S = 30.0  # after a daemon that did not come


class DaemonLine:
    """Calls of one talk. Thread-safe.

    client: makes a new one. Threads share none. starts: False for a talk that starts no daemon.
    """

    def __init__(self, client: Callable[[], Client], *, starts: bool = True) -> None:
        self._client, self._starts = client, starts
        self._started_s = -START_AGAIN_S
        self._problem = ""
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._prober: threading.Thread | None = None

    def call(
        self, op: str, fields: Mapping[str, object], *, project_dir: str, deadline_s: float = ASK_S
    ) -> dict[str, Any]:
        """Return the daemon's reply.

        Raises DaemonError, at once after a failure until a probe in the background was answered. A call that may take
        longer than ASK_S begins with a short one: a daemon that hangs is found by that.
        """
        if self._problem:
            self._probe_on()
            raise DaemonError(self._problem)
        try:
            if deadline_s > ASK_S:
                self._call("status", {}, ASK_S)
            return self._call(op, fields, deadline_s, project_dir)
        except DaemonError as bad:
            self._problem = str(bad)
            self._probe_on()
            raise

    def close(self) -> None:
        """Probe no more."""
        self._closed.set()

    def _call(self, op: str, fields: Mapping[str, object], deadline_s: float, project_dir: str = "") -> dict[str, Any]:
        is_due = time.monotonic() - self._started_s > START_AGAIN_S
        try:
            return self._client().call(
                op, fields, deadline_s=deadline_s, project_dir=project_dir, start=self._starts and is_due
            )
        except DaemonError:
            self._started_s = time.monotonic() if is_due else self._started_s
            raise

    def _probe_on(self) -> None:
        with self._lock:
            if self._prober is None and not self._closed.is_set():
                self._prober = threading.Thread(target=self._probe, name="probes of the daemon", daemon=True)
                self._prober.start()

    def _probe(self) -> None:
        while self._problem and not self._closed.is_set():
            try:
                self._call("status", {}, PROBE_S)
                self._problem = ""
            except MemlayerError:
                self._closed.wait(PROBE_AGAIN_S)
        with self._lock:
            self._prober = None
