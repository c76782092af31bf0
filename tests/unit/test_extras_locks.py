"""Locks of the extras: hashes for all, in the versions of the runtime's lock."""

import re

from memlayer.edge.bootstrap.extras import EXTRAS
from tests.conftest import ROOT

PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)([^\n]*\n(?:    --hash=sha256:[0-9a-f]{64}[^\n]*\n?)*)", re.MULTILINE)


def pins(name: str) -> dict[str, tuple[str, str]]:
    """Return package -> (version, hashes) of a lock."""
    text = (ROOT / name).read_text("utf-8")
    return {package: (version, hashes) for package, version, hashes in PIN.findall(text)}


def test_each_extra_has_its_tree_pinned_with_hashes() -> None:
    for name, requirement in EXTRAS.items():
        locked = pins(f"requirements-{name}.lock")
        assert requirement.partition(">")[0] in locked and len(locked) > 5
        assert [package for package, (_, hashes) in locked.items() if "--hash=sha256:" not in hashes] == []


def test_no_package_has_two_versions() -> None:
    runtime = pins("requirements.lock")
    for name in EXTRAS:
        for package, (version, _) in pins(f"requirements-{name}.lock").items():
            assert runtime.setdefault(package, (version, ""))[0] == version, package
