"""The real host accepts the plugin and runs its hooks.

However it was installed.
"""

import json
from pathlib import Path

import pytest

from tests.support.host.claude_run import Claude
from tests.support.host.plugin_copy import as_git_repository, copy_plugin

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

FACT = "The order events moved from Postgres to ClickHouse."
GIT_ADDRESS = "https://git.example.com/memlayer.git"


@pytest.mark.parametrize("manifest", [".", ".claude-plugin/plugin.json", ".claude-plugin/marketplace.json"])
def test_validate_strict_passes(claude: Claude, manifest: str) -> None:
    done = claude.run(["plugin", "validate", "--strict", str(claude.plugin / manifest)])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Validation passed" in done.stdout


def test_both_manifests_are_the_same_bytes(plugin: Path) -> None:
    assert (plugin / "plugin.json").read_bytes() == (plugin / ".claude-plugin" / "plugin.json").read_bytes()


def test_plugin_dir_runs_the_hooks(claude: Claude) -> None:
    done = claude(FACT)
    assert (done.returncode, done.stdout) == (0, "Mock answer 1.\n")
    assert_turn_is_stored(claude)


def test_local_marketplace_runs_hooks(claude: Claude, tmp_path: Path) -> None:
    claude.is_plugin_loaded = False
    marketplace = copy_plugin(tmp_path / "market place")
    install_from(claude, str(marketplace))
    assert claude(FACT).returncode == 0
    assert_turn_is_stored(claude)


def test_git_marketplace_runs_hooks(claude: Claude, tmp_path: Path) -> None:
    claude.is_plugin_loaded = False
    address = as_git_repository(copy_plugin(tmp_path / "memlayer"))
    settings = f'[url "{address}"]\n\tinsteadOf = {GIT_ADDRESS}\n'
    (claude.home / ".gitconfig").write_text(settings)
    install_from(claude, GIT_ADDRESS)
    cached = list((claude.home / ".claude" / "plugins" / "cache" / "memlayer").glob("memlayer/*/hooks/run"))
    assert len(cached) == 1
    assert claude(FACT).returncode == 0
    assert_turn_is_stored(claude)


def test_awkward_folder_runs_hooks(claude: Claude, tmp_path: Path) -> None:
    claude.plugin = copy_plugin(tmp_path / "it's $(touch made) `x` 플러그인")
    assert claude(FACT).returncode == 0
    assert_turn_is_stored(claude)
    assert not list(claude.project.glob("made"))


def test_large_prompt_passes_hooks(claude: Claude) -> None:
    done = claude("가나다 abc " * 30_000)
    assert (done.returncode, done.stdout) == (0, "Mock answer 1.\n")
    assert claude.hook_failures() == []


def test_disabled_hook_ignores_large_prompt(claude: Claude) -> None:
    done = claude("가나다 abc " * 30_000, environ={"MEMLAYER_DISABLE": "1"})
    assert (done.returncode, done.stdout) == (0, "Mock answer 1.\n")
    assert claude.hook_failures() == []
    assert not claude.memlayer_home.exists()


def install_from(claude: Claude, source: str) -> None:
    """Add the marketplace and install memlayer from it, as a user would."""
    for arguments in (["marketplace", "add", source], ["install", "memlayer@memlayer"]):
        done = claude.run(["plugin", *arguments])
        assert done.returncode == 0, done.stdout + done.stderr
    listed = claude.run(["plugin", "list", "--json"])
    installed = [entry["id"] for entry in json.loads(listed.stdout)]
    assert [name for name in installed if not name.endswith("@builtin")] == ["memlayer@memlayer"]  # the host's own


def assert_turn_is_stored(claude: Claude) -> None:
    """Assert that the turn is stored whole.

    Both prompt and answer, and the host saw no hook fail.
    """
    assert claude.hook_failures() == []
    texts = claude.memory_texts()
    assert len(texts) == 1, texts
    assert FACT in texts[0]
    assert "Mock answer 1." in texts[0]
