"""A share in an object store: `s3://bucket/prefix`, by LanceDB alone.

`?endpoint=` and `?region=` name a store of another provider. Signing in is LanceDB's: variables, profile, role.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar
from urllib.parse import parse_qsl, urlsplit

from memlayer.adapters.lance.share_tables import ShareTables
from memlayer.config.providers import is_loopback
from memlayer.errors import ShareError, StoreError, UserError
from memlayer.sharing.engine import Layout, reason_of
from memlayer.sharing.log_format import SHARE, is_machine

T = TypeVar("T")
OPTIONS = ("endpoint", "region")
TIMES = {"timeout": "60s", "connect_timeout": "10s", "client_max_retries": "2", "client_retry_timeout": "30"}
UNCONDITIONAL = (
    "this store has no conditional writes: of writers at once one overwrites another. Take a store that has them, or a "
    "folder or git"
)


def direct(endpoint: str) -> dict[str, str]:
    """Return options that ask a store on this machine by no proxy.

    LanceDB heeds the variables of a proxy unless it is given one. It is given one that excludes the store.
    """
    host = urlsplit(endpoint).hostname or ""
    return {"proxy_url": endpoint, "proxy_excludes": "127.0.0.0/8,::1,::ffff:127.0.0.0/104,localhost,%s" % host}


class TableEngine:
    """Objects as rows of a LanceDB table a machine."""

    def __init__(self, address: str, layout: Layout = SHARE) -> None:
        """Raises UserError for an address with other parameters."""
        parts = urlsplit(address)
        given = dict(parse_qsl(parts.query))
        if not parts.netloc or set(given) - set(OPTIONS):
            raise UserError("give s3://bucket/prefix, with ?endpoint= and &region= for another provider's store")
        options = {**TIMES, **given}
        if given.get("endpoint", "").startswith("http://"):
            options["allow_http"] = "true"
        if is_loopback(given.get("endpoint", "")):
            options |= direct(given["endpoint"])
        self._shown = "%s://%s%s" % (parts.scheme, parts.netloc, parts.path)
        # Tables of a share lie in the prefix itself, since the first version.
        inner = self._shown if layout is SHARE else "%s/%s" % (self._shown.rstrip("/"), layout.folder)
        self._tables, self._is_object = ShareTables(inner, options), layout.is_object
        self._machines: list[str] = []

    def check(self) -> None:
        self.refresh()
        if not self._machines and self._asked(self._tables.loses_commits):
            raise ShareError(f"{self._shown}: {UNCONDITIONAL}")

    def refresh(self) -> None:
        self._machines = [name for name in self._asked(self._tables.refresh) if is_machine(name)]

    def machines(self) -> list[str]:
        return sorted(self._machines)

    def names(self, machine: str) -> list[str]:
        if machine not in self._machines:
            return []
        return [name for name in self._asked(lambda: self._tables.names(machine)) if self._is_object(name)]

    def read(self, machine: str, names: Sequence[str]) -> dict[str, bytes]:
        return self._asked(lambda: self._tables.read(machine, names)) if machine in self._machines else {}

    def change(self, machine: str, add: Mapping[str, bytes], remove: Collection[str]) -> None:
        self._asked(lambda: self._tables.change(machine, add, remove))
        self._machines = sorted({*self._machines, machine})

    def drop(self, machine: str) -> None:
        self._asked(lambda: self._tables.drop(machine))
        self._machines = [name for name in self._machines if name != machine]

    def purge(self) -> bool:
        return True  # old versions go with each change

    def _asked(self, ask: Callable[[], T]) -> T:
        try:
            return ask()
        except StoreError as bad:
            raise ShareError(f"{self._shown}: {reason_of(str(bad))}") from bad
