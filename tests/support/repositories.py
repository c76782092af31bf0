"""Real git repositories for tests of projects.

Also the project id of a folder.
"""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from memlayer.edge.home import registry
from memlayer.edge.home.project import locate

Identify = Callable[[Path], str]
REMOTE = "git@example.com:acme/shop.git"


def git(folder: Path, *words: str) -> None:
    environment = {
        "PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com",
        "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
    }  # fmt: skip
    subprocess.run(
        ["git", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", *words],
        cwd=folder, env=environment, check=True, capture_output=True, timeout=30,
    )  # fmt: skip


def repository(folder: Path, remote: str = "", commit: str = "first") -> Path:
    """Make a repository at `folder` with a commit.

    commit: its message, "" for none.
    """
    folder.mkdir(parents=True)
    git(folder, "init")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    if commit:
        git(folder, "commit", "--allow-empty", "-m", commit)
    return folder


def on_disk(home: Path, folder: Path) -> str:
    """Return the project id of a folder without running git.

    As in a hook without a daemon.
    """
    return registry.find_place(registry.load(str(home)), locate(str(folder)))
