"""The daily budget of a language model, in calls and tokens."""

import contextlib
import fcntl
import json
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from memlayer.edge.home import paths
from memlayer.wire.notes import ModelUse, Spent

_COUNTED = ("calls", "tokens", "cost_usd")
MAX_PROBLEM_CHARS = 200
MAX_ANSWER_TOKENS = 2000  # of a call. Some models count their thinking
ANY_CALLS = 10**9
KEPT_DAYS = 8  # a clock or a time zone may go back, and the day that then is must not begin anew


@dataclass(frozen=True)
class Reserved:
    """A call that may be made. tokens: until its use is known."""

    day: str
    tokens: int


class ModelBudget:
    """Calls and tokens by local day and in all.

    Safe for threads and processes. A call is on disk before it is made: a crash in the middle of it cannot make it
    free. path: of its own file. clock: Unix time, seconds.
    """

    def __init__(
        self, path: str, *, daily_tokens: int, daily_calls: int = ANY_CALLS, clock: Callable[[], float] = time.time
    ) -> None:
        self._path = path
        self._daily_calls, self._daily_tokens = daily_calls, daily_tokens
        self._clock = clock
        self._lock = threading.Lock()

    def reserve(self, tokens: int) -> Reserved | None:
        """Count a call before it is made; None if not allowed."""
        with self._alone():
            use = self._read()
            today = use["today"]
            if today["calls"] >= self._daily_calls or today["tokens"] + tokens > self._daily_tokens:
                return None
            _add(use, use["day"], calls=1, tokens=tokens)
            return Reserved(use["day"], tokens) if self._write(use) else None

    def settle(self, reserved: Reserved, tokens: int, cost_usd: float = 0.0) -> None:
        """Note the tokens of a call; 0 leaves the reserved ones."""
        with self._alone():
            use = self._read()
            known = min(max(0, tokens), 10**9)
            cost = cost_usd if math.isfinite(cost_usd) and 0 < cost_usd < 1e6 else 0.0
            _add(use, reserved.day, tokens=known - reserved.tokens if known else 0, cost_usd=cost)
            use["problem"], use["problem_ms"] = "", 0
            self._write(use)

    def give_back(self, reserved: Reserved) -> None:
        """The call was not made."""
        with self._alone():
            use = self._read()
            _add(use, reserved.day, calls=-1, tokens=-reserved.tokens)
            self._write(use)

    def note(self, problem: str) -> None:
        """Keep the model's problem, one line, until it works again."""
        with self._alone():
            use = self._read()
            use["problem"] = " ".join(problem.split())[:MAX_PROBLEM_CHARS]
            use["problem_ms"] = int(self._clock() * 1000)
            self._write(use)

    def summary(self) -> ModelUse:
        """Return what was spent, and the bounds of a day."""
        use = self._read()
        today = Spent(**use["today"])
        return ModelUse(
            today=today,
            all=Spent(**use["all"]),
            daily_calls=self._daily_calls,
            daily_tokens=self._daily_tokens,
            is_over=today.calls >= self._daily_calls or today.tokens + MAX_ANSWER_TOKENS > self._daily_tokens,
            problem=use["problem"],
            problem_ms=use["problem_ms"],
        )

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other threads and processes from the file.

        The lock is its folder's, since the file is replaced as a whole. Without one, where the folder is yet to be made
        or its disk knows no locks, a count may be lost to another process.
        """
        with self._lock, contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):
                fd = os.open(os.path.dirname(self._path), os.O_RDONLY)
                stack.callback(os.close, fd)
                fcntl.flock(fd, fcntl.LOCK_EX)
            yield

    def _read(self) -> dict[str, Any]:
        """The file's counts, as of today. An unreadable file counts from nothing."""
        data = paths.read_object(self._path)
        day = time.strftime("%Y-%m-%d", time.localtime(self._clock()))
        problem, days = data.get("problem"), data.get("days")
        kept = {name: _counts(counts) for name, counts in (days if isinstance(days, dict) else {}).items()}
        today = kept.pop(day, None) or _counts(None)
        return {
            "day": day,
            "today": today,
            "days": {**kept, day: today},  # in the order of their last use: a clock may be years ahead for once
            "all": _counts(data.get("all")),
            "problem": problem if isinstance(problem, str) else "",
            "problem_ms": int(_number(data.get("problem_ms"))),
        }

    def _write(self, use: dict[str, Any]) -> bool:
        days = [(day, counts) for day, counts in use["days"].items() if any(counts.values())]
        kept = {"days": dict(days[-KEPT_DAYS:]), **{name: use[name] for name in ("all", "problem", "problem_ms")}}
        try:
            paths.write_whole(self._path, json.dumps(kept, ensure_ascii=False).encode())
        except OSError:
            return False
        return True


def _add(use: dict[str, Any], day: str, **amounts: float) -> None:
    """Add to the total, and to the day while it is kept."""
    for counts in (use["all"], use["days"].get(day, {})):
        for name, amount in amounts.items():
            if name in counts:
                counts[name] = max(0, counts[name] + amount)


def _counts(counts: object) -> dict[str, Any]:
    known = counts if isinstance(counts, dict) else {}
    return {
        name: round(_number(known.get(name)), 6) if name == "cost_usd" else int(_number(known.get(name)))
        for name in _COUNTED
    }


def _number(value: object) -> float:
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15
    return float(value) if good else 0.0  # type: ignore[arg-type]
