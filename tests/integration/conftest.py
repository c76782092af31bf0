"""Fixtures of the integration tests."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_process import Terminal, settings_of
from tests.support.chat_api import ChatScript, Spoken
from tests.support.cli_process import Cli
from tests.support.model_api import ModelApi
from tests.support.processes import Daemon
from tests.support.told_story import Story

ROOT = Path(__file__).resolve().parents[2]
Open = Callable[..., Terminal]


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    """A home with old secrets of a session, and its daemon."""
    made = Story(tmp_path)
    with made.daemon:
        made.tell()
        yield made


@pytest.fixture
def api() -> Iterator[ModelApi]:
    """The model's server; it answers `네.` until a test says otherwise."""
    with ModelApi(ChatScript([Spoken("네.")])) as served:
        yield served


@pytest.fixture
def served(api: ModelApi, home: Path, project: Path) -> Iterator[Daemon]:
    """A daemon of a home whose agent is set up."""
    with Daemon(ROOT, home, settings_of(api)) as running:
        yield running


@pytest.fixture
def cli(home: Path, project: Path) -> Cli:
    """The command line of that home."""
    made = Cli(home, project)
    made.environment["MEMLAYER_RUNTIME_DIR"] = sys.prefix
    made.environment["ANTHROPIC_API_KEY"] = "sk-ant-두루미"
    return made


@pytest.fixture
def terminal(cli: Cli) -> Iterator[Open]:
    """Opens terminals with a talk each."""
    opened: list[Terminal] = []

    def make(*arguments: str, is_ready: bool = True, **options: Any) -> Terminal:
        opened.append(Terminal(cli, *arguments, **options))
        if is_ready:
            opened[-1].ready()
        return opened[-1]

    yield make
    for one in opened:
        one.close()
