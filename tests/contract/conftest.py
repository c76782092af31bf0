"""The store under test, and the chat providers with their server.

The store: first the double, then the real store.
"""

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from memlayer.adapters.lance.store import LanceStore
from memlayer.ports import Store
from tests.support.memory_store import MemoryStore
from tests.support.model_api import ModelApi
from tests.support.store_rows import DIMENSIONS
from tests.support.talks import KEY, SDKS


@pytest.fixture(params=["memory", "lance"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened: Store = (
        MemoryStore(DIMENSIONS) if request.param == "memory" else LanceStore.open(tmp_path / "store", DIMENSIONS)
    )
    yield opened
    opened.close()


@pytest.fixture
def no_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients that read no certificates: 28 ms each, and the servers here speak no TLS."""
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", lambda *_, **__: None)


@pytest.fixture
def api(no_certificates: None) -> Iterator[ModelApi]:
    with ModelApi() as served:
        yield served


@pytest.fixture(params=SDKS)
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def foreign_variables(no_certificates: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key, and variables that no SDK may read."""
    for name in SDKS:
        for variable in ("API_KEY", "BASE_URL", "AUTH_TOKEN"):
            monkeypatch.setenv(f"{name.upper()}_{variable}", "http://127.0.0.1:9/never")
    monkeypatch.setenv("MY_KEY", KEY)
