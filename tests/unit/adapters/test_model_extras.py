"""SDKs as extras: the message without them, and their absence."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from memlayer.adapters.embedding import gemini_embedder
from memlayer.adapters.llm import anthropic_model, openai_model

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("provider_name", ["anthropic", "openai"])
def test_a_missing_package_is_one_line_with_the_command(provider_name: str, tmp_path: Path) -> None:
    """In an interpreter whose import system does not know the SDK."""
    code = (
        "import sys; sys.modules[%r] = None; sys.path.insert(0, %r)\n"
        "from memlayer.adapters.llm.anthropic_model import AnthropicModel\n"
        "from memlayer.adapters.llm.openai_model import OpenAIModel\n"
        "one = {'anthropic': lambda: AnthropicModel('m', base_url='', key_variable='K'),\n"
        "       'openai': lambda: OpenAIModel('m', base_url='', key_variable='K', temperature=0)}[%r]()\n"
        "try: one.complete('s', 'p', max_tokens=1, deadline_s=1)\n"
        "except Exception as bad: print(type(bad).__name__, bad)\n"
    ) % (provider_name, str(ROOT), provider_name)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=50)
    [line] = done.stdout.splitlines()
    assert line.startswith("ModelMissing the %s package is not installed: run " % provider_name), done.stderr
    assert sys.executable in line and "'%s>=" % provider_name in line


def test_the_extras_are_what_the_adapters_ask_for() -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    asked = {
        "anthropic": [anthropic_model.REQUIREMENT],
        "openai": [openai_model.REQUIREMENT],
        "gemini": [gemini_embedder.REQUIREMENT],
    }
    assert told == asked
    development = (ROOT / "requirements-dev.in").read_text().splitlines()
    assert {requirement for [requirement] in asked.values()} <= set(development)
    runtime = (ROOT / "requirements.lock").read_text()
    assert not [package for package in ("anthropic", "openai", "google-genai") if package + "==" in runtime]
