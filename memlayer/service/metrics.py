"""Counts and latencies of what the daemon answered: numbers only, kept over restarts."""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from typing import Any

from memlayer.wire import paths

KEPT = 500  # latencies an op; enough for a p95


class Metrics:
    """Per op: how often, how long (milliseconds), how often later than the client waited. Thread-safe."""

    def __init__(self, home: str) -> None:
        self._path = os.path.join(home, "metrics.json")
        self._ops: dict[str, dict[str, int]] = {}
        self._took_ms: dict[str, deque[float]] = {}
        self._arrived = 0
        self._refused: dict[str, int] = {}
        self._recall = {"prompts": 0, "answered": 0, "entries": 0, "chars": 0}
        self._lock = threading.Lock()
        try:
            with open(self._path, encoding="utf-8") as file:
                saved = json.load(file)
            self._ops = {str(op): {"count": int(n["count"]), "late": int(n["late"])} for op, n in saved["ops"].items()}
            self._recall.update({name: int(saved["recall"][name]) for name in self._recall})
            self._arrived = int(saved.get("arrived", 0))
            self._refused = {str(why): int(count) for why, count in saved.get("refused", {}).items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            self._ops = {}

    def record(self, op: str, took_ms: float, *, late: bool) -> None:
        """Count one answered op."""
        with self._lock:
            counts = self._ops.setdefault(op, {"count": 0, "late": 0})
            counts["count"] += 1
            counts["late"] += late
            self._took_ms.setdefault(op, deque(maxlen=KEPT)).append(took_ms)

    def recalled(self, entries: int, chars: int) -> None:
        """Count one prompt and what was added to it."""
        with self._lock:
            self._recall["prompts"] += 1
            self._recall["answered"] += entries > 0
            self._recall["entries"] += entries
            self._recall["chars"] += chars

    def arrived(self) -> None:
        """Count one event that a hook brought."""
        with self._lock:
            self._arrived += 1

    def refused(self, why: str) -> None:
        """Count one call of a hook that nothing was kept of. why: fixed words; what is in brackets is left out."""
        with self._lock:
            kind = why.partition(" (")[0]
            self._refused[kind] = self._refused.get(kind, 0) + 1

    def summary(self) -> dict[str, Any]:
        """{"hooks": {op: {count, late, p50_ms, p95_ms}}, "recall": {...}, "arrived": events that hooks brought,
        "refused": {why: calls}}; percentiles of this daemon's life."""
        with self._lock:
            hooks: dict[str, dict[str, Any]] = {}
            for op, counts in self._ops.items():
                took = sorted(self._took_ms.get(op, ()))
                hooks[op] = {**counts, "p50_ms": _percentile(took, 0.5), "p95_ms": _percentile(took, 0.95)}
            return {
                "hooks": hooks,
                "recall": dict(self._recall),
                "arrived": self._arrived,
                "refused": dict(self._refused),
            }

    def save(self) -> None:
        """Raises OSError."""
        with self._lock:
            saved = {"ops": self._ops, "recall": self._recall, "arrived": self._arrived, "refused": self._refused}
            data = json.dumps(saved).encode()
        paths.write_whole(self._path, data)


def _percentile(ordered: list[float], share: float) -> float | None:
    return round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 2) if ordered else None
