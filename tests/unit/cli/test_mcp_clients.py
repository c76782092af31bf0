"""`memlayer mcp install` and `uninstall`: other programs' files, foreign keys kept, put back to the byte."""

import json
import os
import tomllib
from pathlib import Path

import pytest

from memlayer.cli.mcp_clients import BACKUP, CLIENTS, carry_out, client_of, entry_of, path_of, planned
from memlayer.errors import UserError

ENTRY = {"command": "/opt/memlayer/bin/memlayer", "args": ["mcp", "--project", "/home/dev/가게"]}
FOREIGN = (
    '{\n    "theme": "어둡게",\n    "mcpServers": {\n        "other": {"command": "x"}\n    },\n    "z": [1, 2]\n}'
)
TOML = '# 설정\nmodel = "o9"\n\n[mcp_servers.other]\ncommand = "x"  # keep\n\n[profiles.fast]\nmodel = "mini"\n'


@pytest.fixture(autouse=True)
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def write(name: str, text: str) -> Path:
    path = Path(path_of(client_of(name).path))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", CLIENTS)
def test_new_file_then_gone(name: str, person: Path) -> None:
    carry_out(planned(client_of(name), ENTRY))
    path = Path(path_of(client_of(name).path))
    assert path.is_relative_to(person) and path.stat().st_mode & 0o777 == 0o600
    whole = tomllib.loads(path.read_text()) if path.suffix == ".toml" else json.loads(path.read_text())
    assert whole[client_of(name).key]["memlayer"] == ENTRY
    assert not planned(client_of(name), ENTRY).is_needed
    carry_out(planned(client_of(name), None))
    assert not path.exists() and not Path(str(path) + BACKUP).exists()


@pytest.mark.parametrize(("name", "text"), [("cursor", FOREIGN), ("claude-desktop", FOREIGN), ("codex", TOML)])
def test_foreign_settings_stay(name: str, text: str) -> None:
    path = write(name, text)
    path.chmod(0o644)
    carry_out(planned(client_of(name), ENTRY))
    after = path.read_text(encoding="utf-8")
    assert path.stat().st_mode & 0o777 == 0o644
    if path.suffix == ".toml":
        assert after.startswith(text.rstrip("\n")) and tomllib.loads(after)["mcp_servers"]["memlayer"] == ENTRY
    else:
        assert list(json.loads(after)) == ["theme", "mcpServers", "z"]
        assert list(json.loads(after)["mcpServers"]) == ["other", "memlayer"] and '\n    "theme"' in after
    assert Path(str(path) + BACKUP).read_text(encoding="utf-8") == text
    carry_out(planned(client_of(name), None))
    assert path.read_text(encoding="utf-8") == text


def test_later_changes_survive_uninstall() -> None:
    path = write("cursor", FOREIGN)
    carry_out(planned(client_of("cursor"), ENTRY))
    path.write_text(path.read_text(encoding="utf-8").replace("어둡게", "밝게"), encoding="utf-8")
    carry_out(planned(client_of("cursor"), None))
    assert json.loads(path.read_text(encoding="utf-8")) == json.loads(FOREIGN.replace("어둡게", "밝게"))


def test_new_entry_replaces_old() -> None:
    path = write("codex", TOML)
    carry_out(planned(client_of("codex"), {**ENTRY, "env": {"MEMLAYER_HOME": "/x"}}))
    carry_out(planned(client_of("codex"), ENTRY))
    servers = tomllib.loads(path.read_text(encoding="utf-8"))["mcp_servers"]
    assert servers["memlayer"] == ENTRY and servers["other"] == {"command": "x"}


@pytest.mark.parametrize(
    ("name", "text"),
    [("cursor", "{ // JSON with comments\n}"), ("cursor", "[]"), ("cursor", '{"mcpServers": 7}'), ("codex", "[["),
     ("codex", '[mcp_servers]\nmemlayer = {command = "x"}\n')],
)  # fmt: skip
def test_odd_files_are_left_alone(name: str, text: str) -> None:
    path = write(name, text)
    with pytest.raises(UserError, match="nothing is changed"):
        planned(client_of(name), ENTRY)
    assert path.read_text() == text


def test_link_stays_a_link(person: Path) -> None:
    real = person / "dotfiles.json"
    real.write_text("{}")
    path = person / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.symlink_to(real)
    carry_out(planned(client_of("cursor"), ENTRY))
    assert path.is_symlink() and json.loads(real.read_text())["mcpServers"]["memlayer"] == ENTRY


def test_projects_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMLAYER_HOME", raising=False)
    desktop, cursor, codex = client_of("claude-desktop"), client_of("cursor"), client_of("codex")
    with pytest.raises(UserError, match="--all-projects"):
        entry_of(desktop, "/opt", project="", all_projects=False)
    assert entry_of(desktop, "/opt", project="", all_projects=True)["args"] == ["mcp", "--all-projects"]
    assert entry_of(cursor, "/opt", project="", all_projects=False)["args"] == [
        "mcp",
        "--project",
        "${workspaceFolder}",
    ]
    assert entry_of(codex, "/opt", project="", all_projects=False) == {
        "command": os.path.join("/opt", "bin", "memlayer"), "args": ["mcp"],
    }  # fmt: skip
    monkeypatch.setenv("MEMLAYER_HOME", "/data/기억")
    assert entry_of(codex, "/opt", project="/p", all_projects=False)["env"] == {"MEMLAYER_HOME": "/data/기억"}
