"""The one place that calls git.

A repository's own configuration names programs and addresses, and a clone brings it: no call runs such a program or
reaches a network. A share's remote is the person's choice: its calls name the protocols that they may use.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence

from memlayer.edge.home import project

LIMIT_S = 10.0

# For each call, also of a share.
CONFIGURATION = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.pager": "cat",
    "core.alternateRefsCommand": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.ext.allow": "never",
}
# A call without a protocol needs no program of a connection, a signature or a person's name either.
LOCAL = {
    "core.sshCommand": "false",
    "core.gitProxy": "false",
    "core.askPass": "false",
    "credential.helper": "",
    "log.showSignature": "false",
    "log.mailmap": "false",
    "gpg.program": "false",
    "safe.bareRepository": "explicit",
}
# A partial clone fetches what it lacks: newer git is told not to, older git finds no protocol that is allowed.
ENVIRONMENT = {
    "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat",
    "GIT_NO_REPLACE_OBJECTS": "1", "LC_ALL": "C",
}  # fmt: skip


def run(
    words: Sequence[str],
    *,
    limit_s: float,
    sent: bytes = b"",
    protocols: str = "",
    environment: Mapping[str, str] | None = None,
    configuration: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run git, with a verb of git's own.

    protocols: that it may use, as in GIT_ALLOW_PROTOCOL. "" for none. Raises OSError, subprocess.TimeoutExpired.
    """
    chosen = {**CONFIGURATION, **({} if protocols else LOCAL), **(configuration or {})}
    options = [word for name, value in chosen.items() for word in ("-c", "%s=%s" % (name, value))]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(
        ["git", "--no-pager", *options, *words], input=sent, capture_output=True, timeout=limit_s, check=False, cwd="/",
        env={**kept, **ENVIRONMENT, **(environment or {}), "GIT_ALLOW_PROTOCOL": protocols},
    )  # fmt: skip


def in_folder(folder: str, *words: str, limit_s: float = LIMIT_S) -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder, not in one above. Raises as run()."""
    above = {"GIT_CEILING_DIRECTORIES": os.path.dirname(project.real(folder))}
    return run(["-C", folder, *words], limit_s=limit_s, environment=above)
