"""Secrets that detect-secrets knows by their shape.

They are gone after redaction, and named. Others maintain that detector.
"""

import warnings
from collections.abc import Iterator

import pytest

from memlayer.edge.redaction.privacy import redact
from tests.support.corpus import items, secrets

# Not these: entropy alone takes every long word for a secret; an address is none; the first line of a PuTTY key stays.
LEFT_OUT = ("Base64HighEntropyString", "HexHighEntropyString", "IPPublicDetector")
HEADERS = ("PuTTY-User-Key-File-2", "PuTTY-User-Key-File-3")


@pytest.fixture(scope="module")
def scan() -> Iterator[object]:
    """Return a function: text -> [(type, value)] of detect-secrets."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
        from detect_secrets.core.scan import scan_line
        from detect_secrets.settings import transient_settings

    kinds = [one.__name__ for one in get_mapping_from_secret_type_to_class().values()]
    with transient_settings({"plugins_used": [{"name": name} for name in kinds if name not in LEFT_OUT]}):
        yield lambda text: [(one.type, one.secret_value) for line in text.split("\n") for one in scan_line(line)]


def test_detect_secrets_finds_nothing(scan) -> None:  # type: ignore[no-untyped-def]
    found = [item for item in secrets() if scan(item["text"])]
    assert len(found) >= 80
    left = {item["text"][:80]: scan(redact(item["text"])) for item in found}
    assert {text: [one for one in seen if one[1] not in HEADERS] for text, seen in left.items() if seen and any(
        one[1] not in HEADERS for one in seen)} == {}  # fmt: skip


def test_detectors_agree_on_ordinary_texts(scan) -> None:  # type: ignore[no-untyped-def]
    """detect-secrets reports at most one in twenty ordinary texts.

    So no whole kind of secret is called ordinary here.
    """
    ordinary = [*items("secrets_negative"), *items("secrets_heldout_negative")]
    reported = [item["text"] for item in ordinary if scan(item["text"])]
    assert len(reported) <= 0.05 * len(ordinary), reported
