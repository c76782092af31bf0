"""A folder used again: a new repository is a new project."""

import os
import shutil
from pathlib import Path

import pytest

from memlayer.edge.home import registry
from memlayer.records.projects import Projects, root_commit
from tests.support.repositories import REMOTE, Identify, git, on_disk, repository

BEGUN_ANEW = [
    ("", "first", "", ""),
    ("", "first", "", "new"),
    ("", "first", REMOTE, ""),
    ("", "first", REMOTE, "new"),
    ("", "", "", ""),
    ("", "", "", "new"),
    (REMOTE, "first", "", ""),
    (REMOTE, "first", "", "new"),
    (REMOTE, "", "", "new"),
]


@pytest.mark.parametrize(("old_remote", "old_commit", "remote", "commit"), BEGUN_ANEW)
def test_a_repository_that_is_begun_anew_in_its_folder_is_another_project(
    identify: Identify, projects: Projects, tmp_path: Path, home: Path,
    old_remote: str, old_commit: str, remote: str, commit: str,
) -> None:  # fmt: skip
    before = identify(repository(tmp_path / "상점", old_remote, old_commit))
    shutil.rmtree(tmp_path / "상점")
    repo = repository(tmp_path / "상점", remote, commit)
    assert on_disk(home, repo) == ""
    assert projects.find(str(repo))[0] == ""
    new = identify(repo)
    assert new != before
    assert on_disk(home, repo) == new
    git(repo, "commit", "--allow-empty", "-m", "and so it goes on")
    assert Projects(str(home), root_commit).resolve(str(repo))[0] == new == on_disk(home, repo)


def test_a_clone_in_the_folder_of_another_repository_is_another_project(
    identify: Identify, tmp_path: Path, home: Path
) -> None:
    before = identify(repository(tmp_path / "shop"))
    origin = repository(tmp_path / "origin", commit="another")
    shutil.rmtree(tmp_path / "shop")
    git(tmp_path, "clone", str(origin), "shop")
    assert on_disk(home, tmp_path / "shop") == ""
    assert identify(tmp_path / "shop") != before


def test_a_folder_whose_repository_is_taken_away_is_not_that_repository(
    identify: Identify, tmp_path: Path, home: Path
) -> None:
    repo = repository(tmp_path / "shop")
    before = identify(repo)
    (repo / ".git").rename(tmp_path / "away")
    assert on_disk(home, repo) == ""
    assert identify(repo) != before
    (tmp_path / "away").rename(repo / ".git")
    assert identify(repo) == before


def test_a_branch_that_has_no_commit_yet_changes_nothing(identify: Identify, tmp_path: Path, home: Path) -> None:
    repo = repository(tmp_path / "shop")
    before = identify(repo)
    git(repo, "config", "user.name", "지수")
    git(repo, "checkout", "--orphan", "문서")
    assert Projects(str(home), root_commit).resolve(str(repo))[0] == before == on_disk(home, repo)


def test_where_nothing_but_the_configuration_tells_when_it_was_made_the_commit_decides(
    identify: Identify, projects: Projects, tmp_path: Path, home: Path
) -> None:
    def made(commit: str = "") -> Path:
        repo = repository(tmp_path / "shop", commit=commit)
        (repo / ".git" / "description").unlink()
        return repo

    repo = made()
    before = identify(repo)
    git(repo, "config", "user.name", "지수")
    assert identify(repo) == before == on_disk(home, repo)
    git(repo, "commit", "--allow-empty", "-m", "first")
    assert identify(repo) == before == on_disk(home, repo)
    git(repo, "config", "user.name", "a")
    assert on_disk(home, repo) == ""  # may be another one, as far as a hook can see
    assert identify(repo) == before == on_disk(home, repo)
    shutil.rmtree(repo)
    assert projects.find(str(made("another")))[0] == ""
    assert on_disk(home, repo) == ""


def test_a_registry_that_does_not_say_when_repositories_were_made(
    identify: Identify, tmp_path: Path, home: Path
) -> None:
    with_commit, without = repository(tmp_path / "a"), repository(tmp_path / "b", commit="")
    known = {identify(repository): repository for repository in (with_commit, without)}
    old = registry.load(str(home))
    for entry in old.values():
        del entry["born"]
    registry.save(str(home), old)
    assert on_disk(home, with_commit) == ""  # until a daemon, which asks git, has seen it
    later = Projects(str(home), root_commit)
    assert {later.resolve(str(repository))[0]: repository for repository in (with_commit, without)} == known
    assert {on_disk(home, repository): repository for repository in (with_commit, without)} == known


def test_a_project_of_another_home_is_found_whenever_its_repository_was_made(tmp_path: Path, home: Path) -> None:
    repo = repository(tmp_path / "shop", commit="")
    there = Projects(str(tmp_path / "there"), root_commit)
    before = there.resolve(str(repo))[0]
    os.utime(repo / ".git" / "description", (1, 1))  # a copy of it, made by other means than git's
    here = Projects(str(home), root_commit)
    here.adopt(before, there.known()[before])
    assert here.resolve(str(repo))[0] == before
