"""A pipe in place of a git file.

A repository out of an archive may hold one: no hook waits for it, and no other project.
"""

import os
import time
from pathlib import Path

import pytest

from memlayer.edge.home.project import locate
from memlayer.records.projects import Projects, root_commit
from tests.support.processes import Daemon, HookRunner
from tests.support.repositories import git, repository

ROOT = Path(__file__).resolve().parent.parent.parent
PIPES = [".git/config", ".git/HEAD", ".git/packed-refs", ".git/refs/heads/main", ".git/description", ".git"]


def with_pipe(folder: Path, name: str) -> Path:
    """Return a repository with a pipe in place of a file."""
    if name == ".git":
        folder.mkdir(parents=True)
    else:
        repository(folder)
        git(folder, "pack-refs", "--all")
        if (folder / name).exists():
            (folder / name).unlink()
    os.mkfifo(folder / name)
    return folder


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", PIPES)
def test_hook_ignores_git_pipes(hook: HookRunner, project: Path, name: str) -> None:
    folder = with_pipe(project / "받은 것", name)
    hook.environment["CLAUDE_PROJECT_DIR"] = str(folder)
    started = time.monotonic()
    hook("session_start", "s1", source="startup")
    hook.turn("s1", "p1", "결제 포트는 8443", "네, 8443입니다.")
    assert time.monotonic() - started < 5
    assert [one["kind"] for one in hook.spooled] == ["session_start", "user", "assistant"]


@pytest.mark.timeout(30)
def test_pipe_behind_linked_worktree(tmp_path: Path) -> None:
    repo = repository(tmp_path / "shop")
    git(repo, "worktree", "add", str(tmp_path / "wt"))
    shared = repo / ".git" / "worktrees" / "wt" / "commondir"
    shared.unlink()
    os.mkfifo(shared)
    assert locate(str(tmp_path / "wt")).root == str(tmp_path / "wt")


@pytest.mark.timeout(30)
def test_huge_file_read_in_part(tmp_path: Path) -> None:
    repo = repository(tmp_path / "shop", "git@example.com:acme/shop.git")
    with open(repo / ".git" / "config", "ab") as file:
        file.truncate(1 << 34)  # a hole: 16 GB that take no room
    assert locate(str(repo)).remote == "example.com/acme/shop"
    (tmp_path / "pointer").mkdir()
    with open(tmp_path / "pointer" / ".git", "wb") as file:
        file.write(b"gitdir: " + os.fsencode(repo / ".git") + b"\n")
        file.truncate(1 << 34)
    assert locate(str(tmp_path / "pointer")).git_dir == str(repo / ".git")


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", PIPES)
def test_git_awaited_at_most_once(name: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memlayer.records.projects.GIT_LIMIT_S", 2.0)
    projects = Projects(str(home), root_commit)
    folder = with_pipe(tmp_path / "받은 것", name)
    first = projects.resolve(str(folder))[0]
    started = time.monotonic()
    for _ in range(5):
        assert projects.resolve(str(folder))[0] == first
    assert time.monotonic() - started < 2


@pytest.mark.timeout(60)
def test_another_project_is_answered_meanwhile(hook: HookRunner, home: Path, project: Path, tmp_path: Path) -> None:
    folder = with_pipe(tmp_path / "받은 것", ".git/config")
    with Daemon(ROOT, home) as daemon:
        hook.turn("s1", "p1", "결제 포트는 8443으로 하기로 했다", "네, 8443입니다.")
        daemon.settle()
        hook.environment["CLAUDE_PROJECT_DIR"] = str(folder)
        for i in range(3):
            hook.turn("s2", "p%d" % i, "여기는 다른 곳", "네")
        hook.environment["CLAUDE_PROJECT_DIR"] = str(project)
        assert "8443" in hook("user_prompt_submit", "s3", "q", prompt="결제 포트가 몇 번이었지?").context
        daemon.settle()
        assert daemon.call("stats")["events"] == 9
