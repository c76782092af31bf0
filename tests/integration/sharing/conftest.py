"""Places, homes and an object store for the tests of shares."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memlayer.adapters.lance.share_tables import ShareTables
from tests.support.shared_homes import SharedHome, shared_homes
from tests.support.shares import PLACES, ObjectStore, bucket_of


@pytest.fixture(scope="module")
def object_store() -> Iterator[ObjectStore]:
    store = ObjectStore()
    yield store
    store.close()


@pytest.fixture(params=[*PLACES, pytest.param("s3", marks=pytest.mark.slow)])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param in PLACES:
        return PLACES[request.param](tmp_path)
    monkeypatch.setattr(ShareTables, "loses_commits", lambda self: False)  # seconds; one test has it as it is
    return bucket_of(request.getfixturevalue("object_store"), monkeypatch)


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[list[SharedHome]]:
    with shared_homes(tmp_path, ["a", "b"]) as homes:
        yield homes
