"""Log of the daemon, a JSON line a record.

It holds ids and numbers, never memory text.
"""

from __future__ import annotations

import json
import logging
import logging.handlers
import os
from io import TextIOWrapper
from typing import cast

from memlayer.edge.home import paths

MAX_BYTES = 1_000_000


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at_ms": int(record.created * 1000),
            "level": record.levelname.lower(),
            "where": record.name,
            "what": record.getMessage(),
            "pid": os.getpid(),
        }
        return json.dumps(line, ensure_ascii=False)


class _File(logging.handlers.RotatingFileHandler):
    def _open(self) -> TextIOWrapper:
        """Open the file, but no link that was planted in the home."""
        return cast(TextIOWrapper, open(self.baseFilename, self.mode, encoding=self.encoding, opener=_open_no_link))

    def handleError(self, record: logging.LogRecord) -> None:
        """Ignore a full disk.

        It must not stop the daemon, and there is nowhere else to say so.
        """


def _open_no_link(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), paths.FILE_MODE)


def start(home: str, level: str) -> None:
    """Send this process's log to the home's log file."""
    paths.make_folder(paths.logs(home))
    handler = _File(paths.daemon_log(home), maxBytes=MAX_BYTES, backupCount=1, encoding="utf-8", delay=True)
    handler.setFormatter(_Lines())
    own = logging.getLogger("memlayer")
    own.handlers[:] = [handler]
    own.setLevel(level.upper())
    own.propagate = False
