"""Counts and latencies of the daemon's answers: numbers, kept over restarts."""

import os
import re
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memlayer.records import small_files

HOOK = "hook."
KEPT = 500  # latencies an op. Enough for a p95
_REDACTED = re.compile(r"\[redacted:([a-z0-9-]{1,40})\]")


@dataclass
class Figures:
    """The figures that outlive a daemon."""

    recall: dict[str, int] = field(default_factory=lambda: {"prompts": 0, "answered": 0, "entries": 0, "chars": 0})
    arrived: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    redacted: dict[str, int] = field(default_factory=dict)
    ops: dict[str, dict[str, int]] = field(default_factory=dict)
    embedding: dict[str, float] = field(default_factory=dict)
    worked_ms: dict[str, int] = field(default_factory=dict)
    at_action: dict[str, int] = field(default_factory=dict)


class Metrics:
    """Metrics of a daemon: counts and latencies. Thread-safe.

    Per op: how often, how long (milliseconds), how often later than the client waited. Beside that: prompts and notes,
    events, private spans and secrets taken out by kind, time spent on embedding.
    """

    def __init__(self, home: str) -> None:
        self._path = os.path.join(home, "metrics.json")
        self._figures = small_files.read(self._path, Figures) or Figures()
        self._took_ms: dict[str, deque[float]] = {}
        self._lock = threading.Lock()

    def record(self, op: str, took_ms: float, *, late: bool) -> None:
        """Count one answered op."""
        with self._lock:
            counts = self._figures.ops.setdefault(op, {"count": 0, "late": 0})
            counts["count"] += 1
            counts["late"] += late
            if op.startswith(HOOK) and not late:
                self._figures.worked_ms[op[len(HOOK) :]] = time.time_ns() // 1_000_000
            self._took_ms.setdefault(op, deque(maxlen=KEPT)).append(took_ms)

    def worked_ms(self) -> dict[str, int]:
        """When each hook was last answered in time, Unix time in ms."""
        with self._lock:
            return dict(self._figures.worked_ms)

    def recalled(self, entries: int, chars: int) -> None:
        """Count a prompt and the block added to it."""
        with self._lock:
            _add(self._figures.recall, {"prompts": 1, "answered": entries > 0, "entries": entries, "chars": chars})

    def arrived(self) -> None:
        """Count one event that a hook brought."""
        with self._lock:
            self._figures.arrived += 1

    def refused(self, why: str) -> None:
        """Count an unkept hook call. why: fixed words, none in brackets."""
        with self._lock:
            _add(self._figures.refused, {why.partition(" (")[0]: 1})

    def at_action(self) -> dict[str, int]:
        """Return the lines told at a call by their effect."""
        with self._lock:
            return dict(self._figures.at_action)

    def told_at_action(self, effect: str) -> None:
        """Count a line at a call by its effect."""
        with self._lock:
            _add(self._figures.at_action, {effect: 1})

    def redacted(self, texts: Iterable[str]) -> None:
        """Count the redactions in these texts, by their marks."""
        kinds = Counter(kind for text in texts if "[redacted:" in text for kind in _REDACTED.findall(text))
        with self._lock:
            _add(self._figures.redacted, kinds)

    def embedded(self, kind: str, texts: int, took_ms: float) -> None:
        """Count a call of the embedding model. kind: query or passage."""
        name = "queries" if kind == "query" else "passages"
        with self._lock:
            _add(self._figures.embedding, {name: texts, name + "_ms": took_ms})

    def summary(self) -> dict[str, Any]:
        """Return the counts and latencies of this daemon's life.

        {"hooks": {op: {count, late, p50_ms, p95_ms}}, "recall": {...}, "arrived": events that hooks brought, "refused":
        {why: calls}, "redacted": {kind: how often}, "embedding": {"queries", "passages": texts, "query_ms",
        "passage_ms": mean of a text}}. Percentiles of this daemon's life.
        """
        with self._lock:
            kept = self._figures
            hooks: dict[str, dict[str, Any]] = {}
            for op, counts in kept.ops.items():
                took = sorted(self._took_ms.get(op, ()))
                hooks[op] = {**counts, "p50_ms": _percentile(took, 0.5), "p95_ms": _percentile(took, 0.95)}
            embedding: dict[str, float | None] = {}
            for name, timing in (("queries", "query_ms"), ("passages", "passage_ms")):
                texts, took_ms = int(kept.embedding.get(name, 0)), kept.embedding.get(name + "_ms", 0.0)
                embedding[name], embedding[timing] = texts, round(took_ms / texts, 2) if texts else None
            return {
                "recall": dict(kept.recall), "arrived": kept.arrived, "refused": dict(kept.refused),
                "redacted": dict(kept.redacted), "hooks": hooks,
                "embedding": embedding,
            }  # fmt: skip

    def save(self) -> None:
        """Raises OSError."""
        with self._lock:
            small_files.write(self._path, self._figures)


def _add(counts: dict[str, Any], more: Mapping[str, float]) -> None:
    for name, count in more.items():
        counts[name] = counts.get(name, 0) + count


def _percentile(ordered: list[float], share: float) -> float | None:
    return round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 2) if ordered else None
