"""Fixtures of the integration tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.told_story import Story


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    """A home with old secrets of a session, and its daemon."""
    made = Story(tmp_path)
    with made.daemon:
        made.tell()
        yield made
