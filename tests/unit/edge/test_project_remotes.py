"""Remotes as keys of a project; relative remotes are none."""

import os
from pathlib import Path

import pytest
import yaml

from memlayer.edge.home import registry
from memlayer.edge.home.project import locate
from memlayer.edge.home.remotes import normalise_remote
from tests.support.repositories import Identify, git, on_disk, repository

ROOT = Path(__file__).resolve().parents[3]


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


SPELT = yaml.safe_load((ROOT / "tests/data/remote_spellings.yaml").read_text())


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    person = tmp_path / "person"
    files = {
        "ssh": ".ssh/config",
        "ssh_included": ".ssh/conf.d/lab",
        "git": ".gitconfig",
        "git_included": "more.gitconfig",
    }
    for key, name in files.items():
        (person / name).parent.mkdir(parents=True, exist_ok=True)
        (person / name).write_text(SPELT[key])
    monkeypatch.setenv("HOME", str(person))
    return person


@pytest.mark.parametrize("group", SPELT["groups"], ids=[group["same"][0] for group in SPELT["groups"]])
def test_one_repository_has_one_address(configured: Path, group: dict[str, list[str]]) -> None:
    known = {url: normalise_remote(url) for url in group["same"]}
    assert len(set(known.values())) == 1, known
    assert not {normalise_remote(url) for url in group["other"]} & set(known.values())


@pytest.mark.parametrize("group", SPELT["groups"], ids=[group["same"][0] for group in SPELT["groups"]])
def test_clones_of_other_spellings_are_one_project(
    configured: Path, identify: Identify, tmp_path: Path, group: dict[str, list[str]]
) -> None:
    first, *rest = (
        repository(tmp_path / str(number), remote=url, commit=url) for number, url in enumerate(group["same"])
    )
    assert {identify(clone) for clone in rest} == {identify(first)}
    assert identify(repository(tmp_path / "other", remote=group["other"][0], commit="x")) != identify(first)


def test_projects_of_an_earlier_version_keep_their_memory(identify: Identify, tmp_path: Path, home: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "둘"]
    urls = ["git@github.com:Acme/Shop.git", "https://www.github.com/acme/shop"]
    for folder, url in zip(folders, urls, strict=True):
        repository(folder, remote=url, commit=url)
    old = {
        "1" * 16: {"keys": ["remote:github.com/Acme/Shop", "path:" + str(folders[0])], "root": str(folders[0])},
        "2" * 16: {"keys": ["remote:www.github.com/acme/shop", "path:" + str(folders[1])], "root": str(folders[1])},
    }
    home.mkdir(exist_ok=True)
    registry.save(str(home), old)
    assert [on_disk(home, folder) for folder in folders] == ["1" * 16, "2" * 16]
    assert on_disk(home, repository(tmp_path / "new", remote="ssh://git@ssh.github.com:443/acme/shop")) == "1" * 16


@pytest.mark.parametrize("name", [".ssh/config", ".gitconfig"])
@pytest.mark.parametrize("way", ["pipe", "itself", "folder", "bytes"])
def test_odd_configuration_waits_for_nothing(configured: Path, name: str, way: str) -> None:
    path = configured / name
    path.unlink()
    if way == "pipe":
        os.mkfifo(path)
    elif way == "folder":
        path.mkdir()
    elif way == "bytes":
        path.write_bytes(b'\xff\x00[url "\n insteadOf\nHost\nHostName\n[include]\npath\n' * 100)
    else:
        path.write_text("Include config\n[include]\npath = .gitconfig\n")
    assert normalise_remote("git@github.com:acme/shop") == "github.com/acme/shop"
