"""A folder that is given a project of its own, and where that is refused."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.cli_process import Cli
from tests.support.processes import ROOT, Daemon


@pytest.mark.parametrize("how", [("part",), ("join", "가게 shop")])
def test_folder_of_a_repository_takes_none_of_it_along(tmp_path: Path, how: tuple[str, ...]) -> None:
    repository, tools = tmp_path / "가게 shop", tmp_path / "가게 shop" / "도구 tools"
    tools.mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", str(repository)], check=True)
    with Daemon(ROOT, tmp_path / "home", {"embedding": {"provider": "none"}}):
        assert Cli(tmp_path / "home", repository)("remember", "포트는 7481번이다").returncode == 0
        refused = Cli(tmp_path / "home", tools)("project", *how)
        assert refused.returncode == 1 and str(repository) in refused.stderr and "one project" in refused.stderr
        assert "show --file PATH" in refused.stderr
        listed = json.loads(Cli(tmp_path / "home", repository)("list", "--json").stdout)
        assert [row["text"] for row in listed["memories"]] == ["포트는 7481번이다"]


def test_alone_it_lists_the_projects(tmp_path: Path) -> None:
    folder = tmp_path / "가게 shop"
    folder.mkdir()
    with Daemon(ROOT, tmp_path / "home", {"embedding": {"provider": "none"}}):
        cli = Cli(tmp_path / "home", folder)
        cli("remember", "포트는 7481번이다")
        alone = cli("project")
        assert (alone.returncode, alone.stdout) == (0, cli("project", "list").stdout) and "가게 shop" in alone.stdout


def test_parted_project_has_a_name_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "가게 shop"
    folder.mkdir()
    with Daemon(ROOT, tmp_path / "home", {"embedding": {"provider": "none"}}):
        cli = Cli(tmp_path / "home", folder)
        assert cli("remember", "포트는 7481번이다").returncode == 0
        assert "(own)" in cli("project", "part").stdout
        joined = cli("project", "join", "가게 shop")
        assert joined.returncode == 0, joined.stderr
        assert "7481" in cli("list").stdout
        other = tmp_path / "다른 곳"
        other.mkdir()
        beside = Cli(tmp_path / "home", other)
        joined = beside("project", "join", "../가게 shop")
        assert joined.returncode == 0, joined.stderr
        assert "7481" in beside("list").stdout


@pytest.mark.parametrize("link", ["옛 shop -> 새 shop", "옛 shop -> 다른 곳", "src -> data"])
def test_renamed_folder_keeps_its_memory_though_a_link_stands_there(tmp_path: Path, link: str) -> None:
    """OLD names the folder that was there, also where a link stands now."""
    old = tmp_path / "src" / "옛 shop"
    new = tmp_path / ("data/옛 shop" if "data" in link else "src/새 shop")
    other = tmp_path / "src" / "다른 곳"
    old.mkdir(parents=True)
    other.mkdir()
    with Daemon(ROOT, tmp_path / "home", {"embedding": {"provider": "none"}}):
        assert Cli(tmp_path / "home", old)("remember", "포트는 7481번이다").returncode == 0
        assert Cli(tmp_path / "home", other)("remember", "the port is 9090").returncode == 0
        if "data" in link:
            old.parent.rename(new.parent)
            old.parent.symlink_to("data")
        else:
            old.rename(new)
            old.symlink_to(new if "새" in link else other)
        moved = Cli(tmp_path / "home", new)("project", "join", str(old))
        assert moved.returncode == 0, moved.stderr
        listed = Cli(tmp_path / "home", new)("list").stdout
        assert "7481" in listed and "9090" not in listed
