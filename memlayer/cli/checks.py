"""What a check of `memlayer doctor` comes to."""

from __future__ import annotations

from typing import NamedTuple

OK = "ok"
WARN = "warn"
FAIL = "fail"


class Check(NamedTuple):
    """state: ok, warn (works less well than it could), fail (something is lost or at risk)."""

    name: str
    state: str
    says: str
    remedy: str = ""
