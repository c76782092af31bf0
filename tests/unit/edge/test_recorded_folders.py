"""Folders as transcripts and hooks record them: of Windows, of WSL, relative, of another home."""

import json
from pathlib import Path

import pytest

from memlayer.edge.capture.payload import read_payload
from memlayer.edge.home import project
from tests.support.past import Past
from tests.support.transcripts import turn, write

NOT_HERE = [
    "C:\\Users\\kim\\없음", "c:/Users/kim/없음", "\\\\wsl.localhost\\Ubuntu\\없음\\shop", "\\\\wsl$\\Debian",
    "\\\\nas\\share\\shop", "home/kim/shop", "~/x", "~", ".", "..", "./shop", "D:", "C:shop", "한글", 
    "?/C:/shop/../x", "\\", "\\\\", " /srv",
]  # fmt: skip


@pytest.fixture
def drives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The drive C: as WSL has it."""
    monkeypatch.setattr(project, "WINDOWS_DRIVES", str(tmp_path / "mnt"))
    (tmp_path / "mnt" / "c" / "Users" / "김 kim" / "shop").mkdir(parents=True)
    return tmp_path / "mnt"


@pytest.mark.parametrize(
    "recorded",
    ["C:\\Users\\김 kim\\shop", "c:\\Users\\김 kim\\shop\\", "C:/Users/김 kim/shop", "C:\\Users/김 kim\\shop"],
)
def test_drive_of_windows_is_found(drives: Path, recorded: str) -> None:
    assert project.here(recorded) == str(drives / "c" / "Users" / "김 kim" / "shop")


@pytest.mark.parametrize("share", ["\\\\wsl.localhost\\Ubuntu", "\\\\wsl$\\Debian", "//WSL.LOCALHOST/Ubuntu-24.04"])
def test_share_of_wsl_is_found(tmp_path: Path, share: str) -> None:
    assert project.here(share + str(tmp_path).replace("/", "\\")) == str(tmp_path)


@pytest.mark.parametrize("recorded", NOT_HERE)
def test_folder_of_elsewhere_is_none(drives: Path, recorded: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(drives)
    assert project.here(recorded) == ""


@pytest.mark.parametrize("recorded", NOT_HERE)
def test_import_leaves_it_out_with_a_reason(home: Path, recorded: str) -> None:
    home.mkdir()
    past = Past(home)
    write(past.projects_folder, "old", turn(1, session="old", cwd=recorded), cwd=recorded)
    counts = past.run()
    assert (counts.new, counts.skipped) == (0, {"files without a folder of this machine": 1})
    assert past.projects.known() == {}


@pytest.mark.parametrize("recorded", NOT_HERE)
def test_hook_keeps_nothing_and_says_why(recorded: str) -> None:
    raw = json.dumps({"session_id": "s1", "prompt_id": "p1", "prompt": "포트는 7481번", "cwd": recorded}).encode()
    found = read_payload("user_prompt_submit", raw, project_dir="", at_ms=1)
    assert found.event is None and found.problem == "no folder of this machine: " + recorded


def test_hooks_folder_goes_before_a_foreign_one(tmp_path: Path) -> None:
    raw = json.dumps({"session_id": "s1", "prompt_id": "p1", "prompt": "포트는 7481번", "cwd": "C:\\x"}).encode()
    found = read_payload("user_prompt_submit", raw, project_dir=str(tmp_path), at_ms=1)
    assert found.event is not None and found.event["project_dir"] == str(tmp_path)
