"""Remotes as keys of a project; relative remotes are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from memlayer.edge.home.project import locate, normalise_remote
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
