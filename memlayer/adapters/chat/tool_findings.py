"""Findings about servers: whether they take tools, by address and model.

Finding out may cost a completion, which each start of a talk would pay for.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable
from typing import Any

from memlayer.edge.home import paths

KEPT_S = 7 * 86_400  # a server may be started with another template or another version
MAX_FINDINGS = 100


class ToolFindings:
    """The file of findings.

    path "": nothing is kept. clock: Unix time, seconds. A file that cannot be read or written costs a question and no
    more.
    """

    def __init__(self, path: str = "", clock: Callable[[], float] = time.time) -> None:
        self._path, self._clock = path, clock

    def get(self, url: str, model: str) -> bool | None:
        """Return a finding, None for none that is recent."""
        entry = self._read().get(_key(url, model))
        if not isinstance(entry, dict):
            return None
        at_s = entry.get("at_s")
        if not isinstance(at_s, int | float) or not 0 <= self._clock() - at_s < KEPT_S:
            return None
        takes = entry.get("takes_tools")
        return takes if isinstance(takes, bool) else None

    def put(self, url: str, model: str, takes_tools: bool | None) -> None:
        """Keep a finding; None forgets it."""
        if not self._path:
            return
        findings = self._read()
        if findings.pop(_key(url, model), None) is None and takes_tools is None:
            return
        if takes_tools is not None:
            findings[_key(url, model)] = {"takes_tools": takes_tools, "at_s": int(self._clock())}
        newest = dict(list(findings.items())[-MAX_FINDINGS:])
        with contextlib.suppress(OSError):
            paths.make_folder(os.path.dirname(self._path))
            paths.write_whole(self._path, json.dumps(newest, ensure_ascii=False).encode())

    def _read(self) -> dict[str, Any]:
        with contextlib.suppress(OSError, ValueError, RecursionError), open(self._path, encoding="utf-8") as file:
            findings = json.load(file)
            return findings if isinstance(findings, dict) else {}
        return {}


def _key(url: str, model: str) -> str:
    return "%s %s" % (url.rstrip("/"), model)
