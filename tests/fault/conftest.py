"""Marker of the fault tests, and a witness with its daemon.

The daemon ends with the test.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.leftovers import end_all
from tests.support.witness import Witness

HERE = Path(__file__).resolve().parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """All of them are `fault`; where that is not a marker, `slow`."""
    known = any(line.startswith("fault:") for line in config.getini("markers"))
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.fault if known else pytest.mark.slow)


@pytest.fixture
def witness(home: Path) -> Iterator[Witness]:
    """Call real hooks in a home; they may start a daemon."""
    calling = Witness(home)
    yield calling
    calling.kill_daemon()


@pytest.fixture(autouse=True)
def no_daemon_after_a_fault(tmp_path: Path) -> Iterator[None]:
    """End the daemons that a fault leaves: verbs and hooks start them, and nothing stops them."""
    yield
    end_all(tmp_path)
