"""A home's projects, for the tests of which folders are one."""

from pathlib import Path

import pytest

from memlayer.records.projects import Projects, root_commit
from tests.support.repositories import Identify


@pytest.fixture
def projects(home: Path) -> Projects:
    return Projects(str(home), root_commit)


@pytest.fixture
def identify(projects: Projects) -> Identify:
    """The project id of a folder, asked as the daemon asks for a hook that runs there."""
    return lambda folder: projects.resolve(str(folder))[0]
