"""A share in an object store: `s3://bucket/prefix`, by LanceDB alone.

`?endpoint=` and `?region=` name a store of another provider. Signing in is LanceDB's: variables, profile, role.
"""

from urllib.parse import parse_qsl, urlsplit

from memlayer.adapters.lance.share_tables import ShareTables
from memlayer.config.providers import is_loopback
from memlayer.errors import UserError
from memlayer.sharing.engine import Layout, reason_of
from memlayer.sharing.ledger import SHARE, is_machine

OPTIONS = ("endpoint", "region")
TIMES = {"timeout": "60s", "connect_timeout": "10s", "client_max_retries": "2", "client_retry_timeout": "30"}


def direct(endpoint: str) -> dict[str, str]:
    """Return options that ask a store on this machine by no proxy.

    LanceDB heeds the variables of a proxy unless it is given one. It is given one that excludes the store.
    """
    host = urlsplit(endpoint).hostname or ""
    return {"proxy_url": endpoint, "proxy_excludes": "127.0.0.0/8,::1,::ffff:127.0.0.0/104,localhost,%s" % host}


class TableEngine(ShareTables):
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
        place = "%s://%s%s" % (parts.scheme, parts.netloc, parts.path)
        # Tables of a share lie in the prefix itself, since the first version.
        inner = place if layout is SHARE else "%s/%s" % (place.rstrip("/"), layout.folder)
        super().__init__(
            inner, options, is_machine=is_machine, is_object=layout.is_object,
            told=lambda words: f"{place}: {reason_of(words)}", max_bytes=layout.max_bytes,
        )  # fmt: skip
