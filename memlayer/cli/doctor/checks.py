"""What a check of `memlayer doctor` comes to, and how that is told."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from memlayer.cli.terminal.output import print_json, say

OK = "ok"
WARN = "warn"
FAIL = "fail"
STYLES = {OK: "green", WARN: "yellow", FAIL: "bold red"}


class Check(NamedTuple):
    """state: ok, warn (works less well than it could), fail (something is lost or at risk)."""

    name: str
    state: str
    says: str
    remedy: str = ""


def tell(found: Iterable[Check], as_json: bool) -> int:
    """Print each check as it comes; returns the exit code: 1 when something is lost or at risk."""
    checks = []
    for check in found:
        checks.append(check)
        if not as_json:
            say((f"{check.state:<4}", STYLES[check.state]), "  ", (check.name, "bold"), f": {check.says}")
            if check.remedy:
                say(("-> ", "dim"), check.remedy, indent=6)
    failed = [check.name for check in checks if check.state == FAIL]
    if as_json:
        print_json({"ok": not failed, "checks": [check._asdict() for check in checks]})
    elif failed:
        say("")
        say(("At risk", "bold red"), ": " + ", ".join(failed))
    return 1 if failed else 0
