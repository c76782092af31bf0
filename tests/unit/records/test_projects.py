"""Identity of projects: real git folders moved, copied, linked, nested, deleted."""

import json
import shutil
from pathlib import Path

import pytest

from memlayer.edge.home import registry
from memlayer.edge.home.project import locate
from memlayer.errors import UserError
from memlayer.memory_files.pages import Book
from memlayer.records.projects import Projects, root_commit
from tests.support.repositories import REMOTE, Identify, git, on_disk, repository


@pytest.mark.parametrize("remote", [REMOTE, ""], ids=["remote", "no remote"])
class TestOneRepository:
    """Cases with a remote and cases with the root commit alone."""

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
        # A hook without a daemon must not take it for the old one either.
        assert on_disk(home, tmp_path / "shop") == new
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
        # A hook without a daemon finds the place in the daemon's record.
        assert on_disk(home, repo) == before


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


def test_root_commit_proves_descent_alone(identify: Identify, tmp_path: Path) -> None:
    repo = repository(tmp_path / "one" / "shop")
    git(tmp_path, "clone", str(repo), "copy")
    assert identify(tmp_path / "copy") == (before := identify(repo))  # its remote is the other
    git(tmp_path, "clone", str(repo), "apart")
    git(tmp_path / "apart", "remote", "remove", "origin")
    assert identify(tmp_path / "apart") != before
    assert identify(repository(tmp_path / "two" / "shop", commit="another history")) != before
    assert identify(repo.rename(tmp_path / "moved")) == before


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
    # Nothing but its path says which folder it is: a renamed folder begins anew, and the old name keeps its memories.
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


def test_damaged_entry_costs_no_other(projects: Projects, tmp_path: Path, home: Path) -> None:
    first, second = (repository(tmp_path / name, f"git@example.com:{name}.git") for name in ("shop", "blog"))
    ids = [projects.resolve(str(one))[0] for one in (first, second)]
    stored = json.loads((home / "projects.json").read_text())
    del stored[ids[0]]["keys"]
    stored |= {"x1": "가게", "x2": {"keys": {"path:/": 1}}, "x3": {"keys": [7, None, "path:/없음"]}}
    (home / "projects.json").write_text(json.dumps(stored))
    assert set(registry.load(str(home))) == {ids[1], "x3"}
    again = Projects(str(home), lambda _: "")
    assert [again.resolve(str(one))[0] for one in (first, second)] == ids


def test_asking_registers_nothing(projects: Projects, tmp_path: Path, home: Path) -> None:
    repo = repository(tmp_path / "shop")
    assert projects.find(str(repo))[0] == ""
    assert not (home / "projects.json").exists()
    known, _ = projects.resolve(str(repo))
    moved = repo.rename(tmp_path / "moved")
    assert projects.find(str(moved))[0] == known


@pytest.mark.parametrize("foreign", ["../../x", "/etc/x", "", "..", "a/b", "쇼핑몰", "x\0"])
def test_an_id_that_is_none_of_ours_becomes_no_path(home: Path, foreign: str) -> None:
    with pytest.raises(UserError):
        Projects(str(home), root_commit).adopt(foreign, {"keys": []})
    with pytest.raises(UserError):
        registry.write_working_set(str(home), foreign, "text")
    with pytest.raises(UserError):
        Book(str(home), foreign)
    assert not home.exists()
