"""Which folders are the same project: with real git, moved, copied, linked, nested, renamed and deleted."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from memlayer.adapters.git import root_commit
from memlayer.service.projects import Projects
from memlayer.wire import registry
from memlayer.wire.project import locate, normalise_remote

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
    """A repository at `folder` with a commit of that message, "" for none."""
    folder.mkdir(parents=True)
    git(folder, "init")
    if remote:
        git(folder, "remote", "add", "origin", remote)
    if commit:
        git(folder, "commit", "--allow-empty", "-m", commit)
    return folder


@pytest.fixture
def projects(home: Path) -> Projects:
    return Projects(str(home), root_commit)


@pytest.fixture
def identify(projects: Projects) -> Identify:
    """The project id of a folder, asked as the daemon asks for a hook that runs there."""
    return lambda folder: projects.resolve(str(folder))[0]


@pytest.mark.parametrize("remote", [REMOTE, ""], ids=["remote", "no remote"])
class TestOneRepository:
    """What is the same project, whether a remote or the root commit identifies the repository."""

    def test_a_sub_folder_belongs_to_its_root(self, identify: Identify, tmp_path: Path, remote: str) -> None:
        repo = repository(tmp_path / "상점 shop", remote)
        below = repo / "src" / "결제"
        below.mkdir(parents=True)
        assert identify(repo) == identify(below)

    def test_a_linked_work_tree(self, identify: Identify, tmp_path: Path, remote: str) -> None:
        repo = repository(tmp_path / "shop", remote)
        git(repo, "worktree", "add", str(tmp_path / "elsewhere" / "hotfix"))
        assert identify(tmp_path / "elsewhere" / "hotfix") == identify(repo)
        here, there = locate(str(repo)), locate(str(tmp_path / "elsewhere" / "hotfix"))
        assert (there.git_dir, there.remote) == (here.git_dir, here.remote)

    def test_a_work_tree_that_was_removed_after_it_was_seen(
        self, identify: Identify, tmp_path: Path, remote: str
    ) -> None:
        repo = repository(tmp_path / "shop", remote)
        work_tree = tmp_path / "hotfix"
        git(repo, "worktree", "add", str(work_tree))
        before = identify(work_tree)
        git(repo, "worktree", "remove", str(work_tree))
        assert identify(work_tree) == before == identify(repo)

    def test_a_symlink_to_it(self, identify: Identify, tmp_path: Path, remote: str) -> None:
        repo = repository(tmp_path / "shop", remote)
        (repo / "src").mkdir()
        (tmp_path / "link").symlink_to(repo)
        assert identify(tmp_path / "link") == identify(repo) == identify(tmp_path / "link" / "src")

    def test_moved_and_renamed(self, identify: Identify, tmp_path: Path, remote: str) -> None:
        before = identify(repository(tmp_path / "shop", remote))
        (tmp_path / "archive").mkdir()
        moved = (tmp_path / "shop").rename(tmp_path / "archive" / "상점")
        assert identify(moved) == before

    def test_another_repository_in_the_folder_it_left(
        self, identify: Identify, tmp_path: Path, remote: str, home: Path
    ) -> None:
        before = identify(repository(tmp_path / "shop", remote))
        moved = (tmp_path / "shop").rename(tmp_path / "old shop")
        # While the old one is not seen in its new place, only its identity says that this is another.
        new = identify(repository(tmp_path / "shop", remote and "git@example.com:acme/new.git", commit="another first"))
        assert new != before
        # A hook without a daemon, which runs no git, must not take it for the old one either.
        assert registry.find(registry.load(str(home)), registry.keys_of(locate(str(tmp_path / "shop")))) == new
        assert identify(moved) == before
        assert identify(tmp_path / "shop") == new

    def test_the_folder_is_deleted_while_the_session_lives(
        self, identify: Identify, tmp_path: Path, remote: str
    ) -> None:
        repo = repository(tmp_path / "shop", remote)
        (repo / "gone").mkdir()
        before = identify(repo)
        (repo / "gone").rmdir()
        assert identify(repo / "gone") == before
        shutil.rmtree(repo)
        assert identify(repo) == before

    def test_a_daemon_that_starts_anew_knows_it(
        self, identify: Identify, tmp_path: Path, remote: str, home: Path
    ) -> None:
        repo = repository(tmp_path / "shop", remote)
        before = identify(repo)
        assert Projects(str(home), root_commit).resolve(str(repo))[0] == before
        # A hook without a daemon runs no git; it finds the place by what the daemon wrote down.
        assert registry.find(registry.load(str(home)), registry.keys_of(locate(str(repo)))) == before


def test_clones_of_one_remote_are_one_project(identify: Identify, tmp_path: Path) -> None:
    origin = repository(tmp_path / "origin")
    git(tmp_path, "clone", str(origin), "here/shop")
    git(tmp_path, "clone", str(origin), "there/상점")
    git(tmp_path, "clone", "--depth", "1", origin.as_uri(), "shallow")
    git(tmp_path / "shallow", "remote", "set-url", "origin", str(origin))
    assert identify(tmp_path / "here" / "shop") == identify(tmp_path / "there" / "상점")
    assert identify(tmp_path / "here" / "shop") == identify(tmp_path / "shallow")


def test_the_same_remote_by_ssh_and_by_https(identify: Identify, tmp_path: Path) -> None:
    by_ssh = repository(tmp_path / "a", REMOTE, commit="")
    by_https = repository(tmp_path / "b", "https://me:s3cret-token@example.com:443/acme/shop", commit="")
    assert identify(by_ssh) == identify(by_https)


def test_a_password_in_a_remote_is_not_kept(identify: Identify, tmp_path: Path, home: Path) -> None:
    identify(repository(tmp_path / "a", "https://me:s3cret-token@example.com/acme/shop.git"))
    assert b"s3cret-token" not in (home / "projects.json").read_bytes()


def test_a_fork_with_another_remote_is_another_project(identify: Identify, tmp_path: Path) -> None:
    upstream = repository(tmp_path / "upstream", REMOTE)
    git(tmp_path, "clone", str(upstream), "fork")
    git(tmp_path / "fork", "remote", "set-url", "origin", "git@example.com:me/shop.git")
    assert identify(tmp_path / "fork") != identify(upstream)
    assert identify(tmp_path / "fork") == identify(tmp_path / "fork")


def test_a_clone_whose_remote_moves_keeps_its_memory(identify: Identify, projects: Projects, tmp_path: Path) -> None:
    repo = repository(tmp_path / "shop", REMOTE)
    git(tmp_path, "clone", str(repo), "fork")
    git(tmp_path / "fork", "remote", "set-url", "origin", "git@example.com:me/shop.git")
    before, fork = identify(repo), identify(tmp_path / "fork")
    git(repo, "remote", "set-url", "origin", "https://code.example.org/acme-new-name/shop.git")
    assert projects.find(str(repo))[0] == before
    assert identify(repo) == before
    assert identify(tmp_path / "fork") == fork != before
    # Another repository in its place is no longer the one that moved.
    shutil.rmtree(repo)
    assert identify(repository(repo, "git@example.com:acme/other.git", commit="another first")) != before


@pytest.mark.parametrize(
    "remote", ["../origin.git", "./origin", "origin", ".", "..", "", "상점/원본:2", "file://origin"]
)
def test_a_relative_remote_makes_no_two_repositories_one(identify: Identify, tmp_path: Path, remote: str) -> None:
    ours = repository(tmp_path / "고객 A" / "app", commit="ours")
    theirs = repository(tmp_path / "고객 B" / "web", commit="theirs")
    for one in (ours, theirs):
        git(one, "config", "remote.origin.url", remote)
        assert locate(str(one)).remote == ""
    git(tmp_path / "고객 A", "clone", str(ours), "copy")
    git(tmp_path / "고객 A" / "copy", "config", "remote.origin.url", remote)
    before = identify(ours)
    assert before != identify(theirs)
    assert identify(tmp_path / "고객 A" / "copy") == before
    assert identify(ours.rename(tmp_path / "elsewhere")) == before  # where another folder is at `../origin.git`


def test_a_remote_in_the_home_folder_is_named_by_its_whole_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/지수")
    assert normalise_remote("~/git/상점.git") == "file:/home/지수/git/상점"


def test_a_project_that_was_known_by_a_relative_remote_is_known_by_its_other_keys(tmp_path: Path, home: Path) -> None:
    with_commit, without = repository(tmp_path / "a" / "app"), repository(tmp_path / "b" / "웹", commit="")
    theirs = repository(tmp_path / "c" / "app", commit="theirs")
    for one in (with_commit, without, theirs):
        git(one, "remote", "add", "origin", "../origin.git")
    commit = root_commit(str(with_commit / ".git"))
    old = "remote:file:../origin"
    registry.save(
        str(home),
        {
            # What two repositories with this remote had become; the one that came second left no commit.
            "a" * 16: {"keys": [old, "commit:" + commit, "path:%s" % theirs, "git:%s/.git" % theirs]},
            "b" * 16: {"keys": [old, "git:%s/.git" % without]},
        },
    )
    projects = Projects(str(home), root_commit)
    assert projects.find(str(with_commit))[0] == "a" * 16
    assert projects.resolve(str(with_commit))[0] == "a" * 16
    assert projects.resolve(str(without))[0] == "b" * 16
    assert projects.resolve(str(theirs))[0] not in ("a" * 16, "b" * 16)
    assert b"../origin" not in (home / "projects.json").read_bytes()


def test_a_relative_remote_in_an_export_makes_no_two_projects_one(
    projects: Projects, home: Path, tmp_path: Path
) -> None:
    entry = {"name": "app", "root": "/x/app", "since_ms": 1}
    first = projects.adopt("a" * 16, {**entry, "keys": ["remote:file:../origin", "commit:1"]})
    assert projects.adopt("b" * 16, {**entry, "keys": ["remote:file:../origin", "commit:2"]}) != first
    assert projects.adopt("c" * 16, {**entry, "keys": ["remote:file:../origin", "commit:1"]}) == first
    # Its id was made of that remote: two homes have the same for two projects.
    other = projects.adopt("a" * 16, {**entry, "keys": ["remote:file:../origin", "commit:3"]})
    assert other != first
    assert projects.adopt("a" * 16, {**entry, "keys": ["commit:3"]}) == other
    assert projects.adopt("a" * 16, {**entry, "keys": ["commit:1"]}) == first


def test_without_a_remote_the_root_commit_decides(identify: Identify, tmp_path: Path) -> None:
    repo = repository(tmp_path / "one" / "shop")
    git(tmp_path, "clone", str(repo), "copy")
    git(tmp_path / "copy", "remote", "remove", "origin")
    git(tmp_path / "copy", "commit", "--allow-empty", "-m", "went on by itself")
    assert identify(tmp_path / "copy") == identify(repo)
    assert identify(repository(tmp_path / "two" / "shop", commit="another history")) != identify(repo)


def test_it_grows_a_commit_and_then_a_remote_and_stays_the_same(identify: Identify, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    bare = identify(folder)
    git(folder, "init")
    assert identify(folder) == bare
    git(folder, "commit", "--allow-empty", "-m", "first")
    assert identify(folder) == bare
    git(folder, "remote", "add", "origin", REMOTE)
    assert identify(folder) == bare
    assert identify(folder.rename(tmp_path / "elsewhere")) == bare


def test_nested_repositories_differ(identify: Identify, tmp_path: Path) -> None:
    outer = repository(tmp_path / "outer")
    inner = repository(outer / "vendor" / "inner", commit="inner")
    library = repository(tmp_path / "library", commit="library")
    git(outer, "submodule", "add", str(library), "lib")
    ids = [identify(outer), identify(inner), identify(outer / "lib"), identify(library)]
    assert len(set(ids[:3])) == 3
    assert ids[2] == ids[3]  # a submodule is a clone, whoever holds it


def test_folders_without_git(identify: Identify, projects: Projects, tmp_path: Path) -> None:
    one, two = tmp_path / "one" / "shop", tmp_path / "two" / "shop"
    one.mkdir(parents=True)
    two.mkdir(parents=True)
    before = identify(one)
    assert before != identify(two)
    assert projects.name(before) == projects.name(identify(two)) == "shop"
    (tmp_path / "link").symlink_to(one)
    assert identify(tmp_path / "link") == before
    # Nothing but its path says which folder it is: a renamed one begins anew, and the old name keeps what it had.
    assert identify(one.rename(tmp_path / "one" / "renamed")) != before
    one.mkdir()
    assert identify(one) == before


def test_a_folder_that_only_looks_like_a_repository(identify: Identify, tmp_path: Path) -> None:
    outer = repository(tmp_path / "outer", REMOTE)
    for name, content in (("a", "gitdir: /nonexistent\n"), ("b", "nonsense\n")):
        (outer / name).mkdir()
        (outer / name / ".git").write_text(content)
    (outer / "c" / ".git").mkdir(parents=True)
    assert identify(outer / "b") == identify(outer / "c") == identify(outer)
    assert identify(outer / "a") != identify(outer)  # a work tree whose repository is away: not ours to guess


def test_asking_registers_nothing(projects: Projects, tmp_path: Path, home: Path) -> None:
    repo = repository(tmp_path / "shop")
    assert projects.find(str(repo))[0] == ""
    assert not (home / "projects.json").exists()
    known, _ = projects.resolve(str(repo))
    git(tmp_path, "clone", str(repo), "copy")
    git(tmp_path / "copy", "remote", "remove", "origin")
    assert projects.find(str(tmp_path / "copy"))[0] == known


@pytest.mark.parametrize(
    ("url", "same_as"),
    [
        ("git@Example.com:acme/shop.git", "example.com/acme/shop"),
        ("ssh://git@example.com:22/acme/shop.git/", "example.com/acme/shop"),
        ("https://user:pass@example.com/acme/shop", "example.com/acme/shop"),
        ("ssh://git@example.com:2222/acme/shop", "example.com:2222/acme/shop"),
        ("/srv/git/상점.git", "file:/srv/git/상점"),
        ("file:///srv/git/상점.git", "file:/srv/git/상점"),
    ],
)
def test_a_remote_is_named_by_host_and_path(url: str, same_as: str) -> None:
    assert normalise_remote(url) == same_as
