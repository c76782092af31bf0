"""The root commit of a repository, asked from git."""

from __future__ import annotations

import subprocess

LIMIT_S = 5.0


def root_commit(git_dir: str) -> str:
    """Return the oldest commit without parents that HEAD reaches.

    "" for an empty repository, without git, or when git fails.

    A shallow clone has no true root commit, so it answers "". Raises TimeoutError.
    """
    try:
        shallow = _git(git_dir, "rev-parse", "--is-shallow-repository")
        if shallow != "false":
            return ""
        roots = _git(git_dir, "rev-list", "--max-parents=0", "HEAD").split()
    except subprocess.TimeoutExpired as late:  # a pipe among its files, or more history than can be walked in time
        raise TimeoutError("git takes too long: " + git_dir) from late
    except (OSError, subprocess.SubprocessError):
        return ""
    return roots[-1] if roots else ""


def _git(git_dir: str, *words: str) -> str:
    # A repository's own configuration can name programs; these two verbs start none, and the user's hooks stay out.
    done = subprocess.run(
        ["git", "--git-dir", git_dir, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", *words],
        capture_output=True, text=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    return done.stdout.strip() if done.returncode == 0 else ""
