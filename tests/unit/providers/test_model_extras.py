"""SDKs as extras: the message without them, and their absence."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from memlayer.config.providers import PROVIDERS, Provider
from memlayer.edge.bootstrap.extras import EXTRAS

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("provider", [row for row in PROVIDERS.values() if row.package])
def test_a_missing_package_is_one_line_with_the_command(provider: Provider, tmp_path: Path) -> None:
    """In an interpreter whose import system does not know the SDK."""
    code = (
        "import sys; sys.modules[%r] = None; sys.path.insert(0, %r)\n"
        "from memlayer.config.providers import PROVIDERS\n"
        "from memlayer.providers.anthropic_chat import AnthropicChat\n"
        "from memlayer.providers.endpoint import Asker, Endpoint\n"
        "try: AnthropicChat(Endpoint(PROVIDERS[%r], Asker('agent', is_daemon=False))).check()\n"
        "except Exception as bad: print(type(bad).__name__, bad)\n"
    ) % (provider.package.partition(".")[0], str(ROOT), provider.name)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=50)
    [line] = done.stdout.splitlines()
    assert line.startswith("NotSent the %s package is not installed: run " % provider.package), done.stderr
    assert sys.executable in line and "'%s'" % EXTRAS[provider.name] in line


def test_each_extra_belongs_to_a_provider() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    kept_apart = {contract["id"] for contract in project["tool"]["importlinter"]["contracts"]}
    assert EXTRAS.keys() <= kept_apart
    told = project["project"]["optional-dependencies"]
    assert told == {name: [requirement] for name, requirement in EXTRAS.items()}
    assert EXTRAS.keys() == {row.name for row in PROVIDERS.values() if row.package}
    development = (ROOT / "requirements-dev.in").read_text().splitlines()
    assert set(EXTRAS.values()) <= set(development)
    runtime = (ROOT / "requirements.lock").read_text()
    assert not [package for package in ("anthropic", "openai") if package + "==" in runtime]
