"""Counts and latencies of the daemon's answers: numbers, kept over restarts."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable
from typing import Any

from memlayer.edge.home import paths

HOOK = "hook."
KEPT = 500  # latencies an op. Enough for a p95
_REDACTED = re.compile(r"\[redacted:([a-z0-9-]{1,40})\]")


class Metrics:
    """Metrics of a daemon: counts and latencies. Thread-safe.

    Per op: how often, how long (milliseconds), how often later than the client waited. Beside that: prompts and notes,
    events, private spans and secrets taken out by kind, time spent on embedding.
    """

    def __init__(self, home: str) -> None:
        self._path = os.path.join(home, "metrics.json")
        self._ops: dict[str, dict[str, int]] = {}
        self._took_ms: dict[str, deque[float]] = {}
        self._arrived = 0
        self._recall = Counter(prompts=0, answered=0, entries=0, chars=0)
        self._embedding = {"queries": 0.0, "queries_ms": 0.0, "passages": 0.0, "passages_ms": 0.0}
        self._worked_ms: dict[str, int] = {}
        self._refused: Counter[str] = Counter()
        self._redacted: Counter[str] = Counter()
        self._lock = threading.Lock()
        try:
            with open(self._path, encoding="utf-8") as file:
                saved = json.load(file)
            self._recall.update({name: int(saved["recall"][name]) for name in self._recall})
            self._arrived = int(saved.get("arrived", 0))
            for name, counts in (
                ("worked_ms", self._worked_ms),
                ("refused", self._refused),
                ("redacted", self._redacted),
            ):
                counts.update({str(kind): int(count) for kind, count in saved.get(name, {}).items()})
            embedding = saved.get("embedding", {})
            self._embedding.update({name: float(embedding.get(name, 0)) for name in self._embedding})
            self._ops = {str(op): {"count": int(n["count"]), "late": int(n["late"])} for op, n in saved["ops"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return  # no such file, or none of ours: its figures count on

    def record(self, op: str, took_ms: float, *, late: bool) -> None:
        """Count one answered op."""
        with self._lock:
            counts = self._ops.setdefault(op, {"count": 0, "late": 0})
            counts["count"] += 1
            counts["late"] += late
            if op.startswith(HOOK) and not late:
                self._worked_ms[op[len(HOOK) :]] = time.time_ns() // 1_000_000
            self._took_ms.setdefault(op, deque(maxlen=KEPT)).append(took_ms)

    def worked_ms(self) -> dict[str, int]:
        """When each hook was last answered in time, Unix time in ms."""
        with self._lock:
            return dict(self._worked_ms)

    def recalled(self, entries: int, chars: int) -> None:
        """Count a prompt and the block added to it."""
        with self._lock:
            self._recall.update(prompts=1, answered=entries > 0, entries=entries, chars=chars)

    def arrived(self) -> None:
        """Count one event that a hook brought."""
        with self._lock:
            self._arrived += 1

    def refused(self, why: str) -> None:
        """Count an unkept hook call. why: fixed words, none in brackets."""
        with self._lock:
            self._refused[why.partition(" (")[0]] += 1

    def redacted(self, texts: Iterable[str]) -> None:
        """Count the redactions in these texts, by their marks."""
        kinds = Counter(kind for text in texts if "[redacted:" in text for kind in _REDACTED.findall(text))
        with self._lock:
            self._redacted.update(kinds)

    def embedded(self, kind: str, texts: int, took_ms: float) -> None:
        """Count a call of the embedding model. kind: query or passage."""
        name = "queries" if kind == "query" else "passages"
        with self._lock:
            self._embedding[name] += texts
            self._embedding[name + "_ms"] += took_ms

    def summary(self) -> dict[str, Any]:
        """Return the counts and latencies of this daemon's life.

        {"hooks": {op: {count, late, p50_ms, p95_ms}}, "recall": {...}, "arrived": events that hooks brought, "refused":
        {why: calls}, "redacted": {kind: how often}, "embedding": {"queries", "passages": texts, "query_ms",
        "passage_ms": mean of a text}}. Percentiles of this daemon's life.
        """
        with self._lock:
            hooks: dict[str, dict[str, Any]] = {}
            for op, counts in self._ops.items():
                took = sorted(self._took_ms.get(op, ()))
                hooks[op] = {**counts, "p50_ms": _percentile(took, 0.5), "p95_ms": _percentile(took, 0.95)}
            embedding: dict[str, float | None] = {}
            for name, timing in (("queries", "query_ms"), ("passages", "passage_ms")):
                embedding[name] = int(self._embedding[name])
                embedding[timing] = _mean(self._embedding[name + "_ms"], self._embedding[name])
            return {**self._counts(), "hooks": hooks, "embedding": embedding}

    def save(self) -> None:
        """Raises OSError."""
        with self._lock:
            saved = {**self._counts(), "ops": self._ops, "embedding": self._embedding, "worked_ms": self._worked_ms}
            data = json.dumps(saved).encode()
        paths.write_whole(self._path, data)

    def _counts(self) -> dict[str, Any]:
        return {
            "recall": dict(self._recall),
            "arrived": self._arrived,
            "refused": dict(self._refused),
            "redacted": dict(self._redacted),
        }


def _percentile(ordered: list[float], share: float) -> float | None:
    return round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 2) if ordered else None


def _mean(total: float, count: float) -> float | None:
    return round(total / count, 2) if count else None
