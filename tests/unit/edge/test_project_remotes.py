"""Remotes as keys of a project; relative remotes are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from memlayer.edge.home import registry
from memlayer.edge.home.project import locate, normalise_remote
from memlayer.records.projects import Projects, root_commit
from tests.support.repositories import Identify, git, repository


@pytest.mark.parametrize(
    "remote", ["../origin.git", "./origin", "origin", ".", "..", "", "상점/원본:2", "file://origin"]
)
def test_relative_remote_joins_no_repositories(identify: Identify, tmp_path: Path, remote: str) -> None:
    ours = repository(tmp_path / "고객 A" / "app", commit="ours")
    theirs = repository(tmp_path / "고객 B" / "web", commit="theirs")
    for folder in (ours, theirs):
        git(folder, "config", "remote.origin.url", remote)
        assert locate(str(folder)).remote == ""
    git(tmp_path / "고객 A", "clone", str(ours), "copy")
    git(tmp_path / "고객 A" / "copy", "config", "remote.origin.url", remote)
    before = identify(ours)
    assert before != identify(theirs)
    assert identify(tmp_path / "고객 A" / "copy") == before
    assert identify(ours.rename(tmp_path / "elsewhere")) == before  # where another folder is at `../origin.git`


def test_home_remote_has_whole_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/지수")
    assert normalise_remote("~/git/상점.git") == "file:/home/지수/git/상점"


def test_other_keys_replace_relative_remote(tmp_path: Path, home: Path) -> None:
    with_commit, without = repository(tmp_path / "a" / "app"), repository(tmp_path / "b" / "웹", commit="")
    theirs = repository(tmp_path / "c" / "app", commit="theirs")
    for folder in (with_commit, without, theirs):
        git(folder, "remote", "add", "origin", "../origin.git")
    commit = root_commit(str(with_commit / ".git"))
    old = "remote:file:../origin"
    registry.save(
        str(home),
        {
            # Two repositories with this remote; the second left no commit.
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


def test_exported_relative_remote_joins_no_projects(projects: Projects, home: Path, tmp_path: Path) -> None:
    entry = {"name": "app", "root": "/x/app", "since_ms": 1}
    first = projects.adopt("a" * 16, {**entry, "keys": ["remote:file:../origin", "commit:1"]})
    assert projects.adopt("b" * 16, {**entry, "keys": ["remote:file:../origin", "commit:2"]}) != first
    assert projects.adopt("c" * 16, {**entry, "keys": ["remote:file:../origin", "commit:1"]}) == first
    # Its id was made of that remote: two homes have the same for two projects.
    other = projects.adopt("a" * 16, {**entry, "keys": ["remote:file:../origin", "commit:3"]})
    assert other != first
    assert projects.adopt("a" * 16, {**entry, "keys": ["commit:3"]}) == other
    assert projects.adopt("a" * 16, {**entry, "keys": ["commit:1"]}) == first


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
def test_remote_is_host_and_path(url: str, same_as: str) -> None:
    assert normalise_remote(url) == same_as
