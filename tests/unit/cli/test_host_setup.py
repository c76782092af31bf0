"""Hooks in another host's settings: written beside others', trusted, taken out."""

import json
import tomllib
from pathlib import Path

import pytest

from memlayer.cli.host_setup import REGISTERED, check_hosts, groups_of, set_up, take_out
from memlayer.edge.capture.hosts import CODEX
from memlayer.errors import UserError

ROOT = "/opt/mem layer's"
FOREIGN = {
    "description": "나의 훅",
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say 끝 codex"}]}],
        "PostToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "/x/hooks/run me"}]}],
    },
}
TOML = 'model = "가"\n\n[features]\nhooks = true\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    (tmp_path / ".codex").mkdir()
    return tmp_path / ".codex"


def trust(folder: Path, *, enabled: bool = True) -> None:
    """Note the trust in all hooks, as the host does."""
    from memlayer.cli.host_setup import _registered

    text = (folder / "config.toml").read_text(encoding="utf-8")
    for (event, group, handler), made, _ in _registered(CODEX, json.loads((folder / "hooks.json").read_text("utf-8"))):
        key = f"{folder}/hooks.json:{event}:{group}:{handler}"
        text += f'\n[hooks.state."{key}"]\ntrusted_hash = "{made}"\n' + ("" if enabled else "enabled = false\n")
    (folder / "config.toml").write_text(text, encoding="utf-8")


def said() -> list[tuple[str, str]]:
    return [(check.state, check.says) for check in check_hosts(ROOT)]


def test_nothing_registered_is_no_check() -> None:
    assert said() == []


def test_new_files_then_none(folder: Path) -> None:
    assert len(set_up(CODEX, ROOT)) == 2
    hooks = json.loads((folder / "hooks.json").read_text(encoding="utf-8"))["hooks"]
    assert hooks == {event: [group] for event, group in groups_of(CODEX, ROOT).items()}
    assert set_up(CODEX, ROOT) == []
    trust(folder)
    assert said() == [("ok", "10 hooks are trusted, the server of tools is registered")]
    assert len(take_out(CODEX)) == 3
    assert list(folder.iterdir()) == [] and take_out(CODEX) == []


def test_folder_of_the_host_is_made(folder: Path) -> None:
    folder.rmdir()
    set_up(CODEX, ROOT)
    assert (folder / "hooks.json").exists()


def test_others_hooks_and_settings_stay_to_the_byte(folder: Path) -> None:
    before = {"hooks.json": json.dumps(FOREIGN, ensure_ascii=False, indent=4), "config.toml": TOML}
    for name, text in before.items():
        (folder / name).write_text(text, encoding="utf-8")
    set_up(CODEX, ROOT)
    hooks = json.loads((folder / "hooks.json").read_text(encoding="utf-8"))
    assert hooks["description"] == "나의 훅" and hooks["hooks"]["Stop"][0] == FOREIGN["hooks"]["Stop"][0]  # type: ignore[index]
    assert len(hooks["hooks"]["Stop"]) == 2 and '\n    "description"' in (folder / "hooks.json").read_text("utf-8")
    trust(folder)
    assert said()[0][0] == "ok"
    take_out(CODEX)
    assert {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()} == before


def test_foreign_trust_survives_removal(folder: Path) -> None:
    set_up(CODEX, ROOT)
    trust(folder)
    other = '\n[hooks.state."/repo/.codex/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:남"\n'
    text = (folder / "config.toml").read_text(encoding="utf-8") + other
    (folder / "config.toml").write_text(text, encoding="utf-8")
    take_out(CODEX)
    left = tomllib.loads((folder / "config.toml").read_text(encoding="utf-8"))
    assert left == {"hooks": {"state": {"/repo/.codex/hooks.json:stop:0:0": {"trusted_hash": "sha256:남"}}}}


def test_moved_program_replaces_its_hooks(folder: Path) -> None:
    set_up(CODEX, "/old")
    trust(folder)
    assert said() == [("warn", "its hooks are of another memlayer, or some are missing")]
    set_up(CODEX, ROOT)
    assert "/old" not in (folder / "hooks.json").read_text(encoding="utf-8")
    assert said() == [("warn", "10 of 10 hooks are not trusted, and do not run")]


def test_doctor_tells_each_state(folder: Path) -> None:
    set_up(CODEX, ROOT)
    server = (folder / "config.toml").read_text(encoding="utf-8")
    assert said() == [("warn", "10 of 10 hooks are not trusted, and do not run")]
    trust(folder, enabled=False)
    assert said() == [("warn", "some of its hooks are switched off")]
    (folder / "config.toml").write_text("")
    trust(folder)
    assert said() == [("warn", "its hooks are trusted; the server of tools is not registered")]
    (folder / "config.toml").write_text("[features]\nhooks = false\n" + server)
    assert said()[0][1].startswith("hooks are off in ")
    (folder / "config.toml").write_text("[한글")
    assert "is no TOML" in said()[0][1]


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": []}', '{"hooks": {"Stop": 7}}'])
def test_odd_file_is_left_alone(folder: Path, text: str) -> None:
    (folder / "hooks.json").write_text(text)
    for do in (lambda: set_up(CODEX, ROOT), lambda: take_out(CODEX)):
        with pytest.raises(UserError, match=r"hooks\.json"):
            do()
    assert (folder / "hooks.json").read_text() == text and not (folder / "config.toml").exists()


def test_each_registered_host_has_a_server_entry() -> None:
    from memlayer.cli.mcp_clients import CLIENTS

    assert set(REGISTERED) <= set(CLIENTS)
