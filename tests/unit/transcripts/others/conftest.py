"""A home for sessions of other agents."""

from pathlib import Path

import pytest

from tests.support.past import Past


@pytest.fixture
def past(home: Path) -> Past:
    home.mkdir()
    return Past(home)
