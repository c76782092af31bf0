"""A browser, a home that is worth looking at, and its page."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.page_process import PageProcess, ViewedHome

CHROMIUM = os.environ.get("MEMLAYER_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]  # fmt: skip
Tab = Callable[..., Any]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


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


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Debian's chromium, driven by playwright."""
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


class Watched:
    """A tab whose console, dialogs and requests are kept."""

    def __init__(self, context: Any, home: PageProcess) -> None:
        self.tab = context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self._home, self.host = home, home.host
        self.tab.on("console", lambda message: self.said.append(message.text))
        self.tab.on("pageerror", lambda error: self.said.append(str(error)))
        self.tab.on("dialog", lambda dialog: (self.said.append("dialog: " + dialog.message), dialog.dismiss()))
        context.on("request", lambda request: self.asked.append(request.url))

    def go(self, path: str) -> Any:
        """Load an address of the page; return the tab."""
        answer = self.tab.goto(f"http://{self._home.host}{path}")
        assert answer is not None and answer.status == 200, path
        return self.tab

    def strangers(self) -> list[str]:
        """Return the requests to other hosts."""
        ours = (f"http://{self._home.host}/", f"ws://{self._home.host}/", "data:")
        return [url for url in self.asked if not url.startswith(ours)]


@pytest.fixture
def tab(chromium: Any, page: PageProcess) -> Iterator[Tab]:
    """Open tabs that have the cookie: tab(width, dark, script)."""
    contexts = []

    def opened(width: int = 1440, dark: bool = False, script: bool = True) -> Watched:
        context = chromium.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            java_script_enabled=script,
        )
        contexts.append(context)
        made = Watched(context, page)
        made.go(f"/?token={page.token}")
        return made

    yield opened
    for context in contexts:
        context.close()
