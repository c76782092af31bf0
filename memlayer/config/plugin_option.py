"""The plugin's own setting in the host: yes or no to notes.

The host asks for it when the plugin is installed, and keeps the answer in `pluginConfigs` of a settings file. Only the
file in the person's home counts: those of a project come with a clone, and so may the variable that the host makes of
them (`CLAUDE_PLUGIN_OPTION_NOTES`), which is therefore never read.
"""

import contextlib
import json
import os
import stat
from typing import Any

PLUGIN = "memlayer"
MAX_BYTES = 1 << 20
FILE = (".claude", "settings.json")
READER = "claude-cli"


def settings_file(home: str) -> str:
    """Return the path of the host's settings, "" if unknown.

    It lies beside ~/.memlayer. Of another home nobody can tell whether a clone brought what lies beside it.
    """
    own = os.path.expanduser("~")
    if not os.path.isabs(own) or os.path.normpath(home) != os.path.normpath(os.path.join(own, ".memlayer")):
        return ""
    return os.path.join(own, *FILE)


def notes_answer(home: str) -> bool | None:
    """Return the person's answer, None for none. Never raises.

    Of several entries of the plugin (one a marketplace) a no counts.
    """
    settings = _read(settings_file(home))
    configs = settings.get("pluginConfigs") if isinstance(settings, dict) else None
    answers = [_option(entry) for name, entry in _items(configs) if name.partition("@")[0] == PLUGIN]
    known = [answer for answer in answers if isinstance(answer, bool)]
    return all(known) if known else None


def consolidation(home: str) -> dict[str, str]:
    """Return the answer as settings of consolidation."""
    answer = notes_answer(home)
    return {} if answer is None else {"provider": READER if answer else "rules"}


def _option(entry: object) -> object:
    options = entry.get("options") if isinstance(entry, dict) else None
    return options.get("notes") if isinstance(options, dict) else None


def _items(value: object) -> list[tuple[str, object]]:
    return [(str(name), entry) for name, entry in value.items()] if isinstance(value, dict) else []


def _read(path: str) -> Any:
    """Return the JSON of this user's regular file, else None."""
    if not path:
        return None
    with contextlib.suppress(OSError, ValueError, RecursionError):
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe without a writer would wait for ever
        with os.fdopen(fd, "rb") as file:
            state = os.fstat(fd)
            if stat.S_ISREG(state.st_mode) and state.st_uid == os.getuid() and state.st_size <= MAX_BYTES:
                return json.loads(file.read(MAX_BYTES + 1).decode("utf-8-sig"))
    return None
