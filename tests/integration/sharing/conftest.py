"""A place and two homes for the tests of shares."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.shared_homes import SharedHome, shared_homes
from tests.support.shares import PLACES


@pytest.fixture
def place(tmp_path: Path) -> str:
    """A folder; what other engines do is told by tests/contract/test_share_engines.py."""
    return PLACES["folder"](tmp_path)


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[list[SharedHome]]:
    with shared_homes(tmp_path, ["a", "b"]) as homes:
        yield homes
