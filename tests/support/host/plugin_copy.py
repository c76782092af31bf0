"""Copies of the plugin as a user gets it.

The repository's own files, in a folder or in a git repository.
"""

import shutil
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
LEFT_OUT = {"__pycache__", ".cache", ".git"}


def copy_plugin(destination: Path) -> Path:
    """Copy every tracked and every new, not ignored file.

    Returns `destination`.
    """
    listed = git(["ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=REPOSITORY)
    for name in filter(None, listed.split("\0")):
        source = REPOSITORY / name
        if LEFT_OUT.isdisjoint(Path(name).parts) and source.is_file():
            target = destination / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    return destination


def as_git_repository(folder: Path) -> str:
    """Commit all of `folder` to a new git repository there.

    Returns its file:// address.
    """
    git(["init", "--quiet", "--initial-branch=main"], cwd=folder)
    git(["add", "--all", "--force"], cwd=folder)
    git(["commit", "--quiet", "--message", "memlayer"], cwd=folder)
    return folder.as_uri()


def git(arguments: list[str], *, cwd: Path) -> str:
    """Run git without the machine's own settings; returns stdout."""
    bare = {
        "HOME": "/nonexistent",
        "PATH": "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "dev",
        "GIT_AUTHOR_EMAIL": "dev@example.com",
        "GIT_COMMITTER_NAME": "dev",
        "GIT_COMMITTER_EMAIL": "dev@example.com",
    }
    trusted = ["git", "-c", f"safe.directory={cwd}"]
    done = subprocess.run([*trusted, *arguments], cwd=cwd, env=bare, capture_output=True, text=True, check=True)
    return done.stdout
