"""Keeps what was typed after one of memlayer's slash commands until the command takes it, redacted."""

from __future__ import annotations

import json
import os

from memlayer.edge.capture import commands
from memlayer.edge.capture.commands import MAX_TYPED_CHARS, own_command
from memlayer.edge.home import paths
from memlayer.edge.redaction.privacy import redact


def keep_typed(raw: bytes, home_raw: bytes, project_raw: bytes) -> None:
    """Keep the words of a UserPromptExpansion payload; those of other commands are none of ours. Raises OSError, and
    ValueError for what is no payload."""
    said = json.loads(raw.decode("utf-8", "replace"))
    command, words, session_id = (said.get(name) for name in ("command_name", "command_args", "session_id"))
    command = own_command(command) if isinstance(command, str) else ""
    if not (command and isinstance(words, str) and isinstance(session_id, str) and session_id):
        return
    os.umask(0o077)
    home = os.fsdecode(home_raw)
    paths.make_folder(home)
    if os.stat(home).st_uid != os.getuid():
        return
    is_too_long = len(words) > MAX_TYPED_CHARS
    folder = os.fsdecode(project_raw) or said.get("cwd")
    commands.put(
        home,
        session_id,
        command,
        {
            "text": "" if is_too_long else redact(words),
            "problem": "%d characters" % len(words) if is_too_long else "",
            "project_dir": folder if isinstance(folder, str) else "",
        },
    )
