"""A home and its page, once for all tests that only look."""

from collections.abc import Iterator

import pytest

from tests.support.page_process import PageProcess, ViewedHome


@pytest.fixture(scope="module")
def viewed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ViewedHome]:
    """A home that was told a story, and its daemon."""
    made = ViewedHome(tmp_path_factory.mktemp("보기"))
    with made.daemon:
        made.tell()
        yield made


@pytest.fixture(scope="module")
def page(viewed: ViewedHome) -> Iterator[PageProcess]:
    """The page of that home."""
    with viewed.page() as opened:
        yield opened
