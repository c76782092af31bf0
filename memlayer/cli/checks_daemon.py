"""Checks that need the daemon: does it come, does the store open, is the model there."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from memlayer.cli.checks import FAIL, OK, WARN, Check
from memlayer.cli.daemon import one_line
from memlayer.cli.output import line
from memlayer.errors import MemlayerError
from memlayer.wire.client import Client

SETTLE_S = 20.0
POLL_S = 0.2


def daemon(client: Client) -> Iterator[Check]:
    """Whether it answers (it is started if need be), then store and model as it tells of them."""
    try:
        found = settled(client)
    except MemlayerError as error:
        yield Check("daemon", FAIL, str(error), "turns are kept in the spool meanwhile; try `memlayer daemon restart`")
        yield Check("store", WARN, "unknown: no daemon answers")
        yield Check("model", WARN, "unknown: no daemon answers")
        return
    yield jobs(found)
    yield store(found)
    yield model(found)


def settled(client: Client) -> dict[str, Any]:
    """Its status, once store and model are there or known not to come. Raises DaemonError."""
    ends = time.monotonic() + SETTLE_S
    while True:
        found = client.call("status", {}, deadline_s=5.0)
        busy = found.get("store") == "opening" or "still loading" in str(found.get("why"))
        if not busy or time.monotonic() > ends:
            return found
        time.sleep(POLL_S)


def jobs(found: dict[str, Any]) -> Check:
    """The daemon itself and its background work."""
    errors = found.get("job_errors") or 0
    if errors:
        return Check(
            "daemon",
            WARN,
            f"{one_line(found)}; {errors} background jobs failed, last {line(found.get('last_job_error'))}",
            "logs/daemon.log in the memlayer home says more",
        )
    return Check("daemon", OK, one_line(found))


def store(found: dict[str, Any]) -> Check:
    """Whether it opened."""
    state = line(found.get("store"))
    if state == "failed":
        why = line(found.get("store_error")) or "it does not say why"
        return Check("store", FAIL, f"does not open: {why}", "turns are kept in the spool until it does")
    if state == "opening":
        return Check("store", WARN, f"still opening after {SETTLE_S:g} s", "run `memlayer doctor` again in a while")
    damage = found.get("damage") or []
    if damage:
        says = "; ".join(line("table %s: %s" % (note["table"], note["says"]), 120) for note in damage)
        if all(note["is_minor"] for note in damage):
            return Check("store", WARN, f"was damaged and is being made whole: {says}")
        return Check("store", FAIL, f"is damaged, the rest of it works: {says}", "memlayer repair")
    rebuilding = line(found.get("rebuilding"))
    return Check("store", OK, f"open, the index is being rebuilt: {rebuilding}" if rebuilding else "open")


def model(found: dict[str, Any]) -> Check:
    """Whether memories are found by meaning."""
    told = found.get("model") or {}
    if found.get("mode") != "lexical":
        return Check("model", OK, f"{line(told.get('name')) or 'loaded'}: search by full text and meaning")
    if told.get("provider") == "none":
        return Check("model", OK, "none, as set: search by full text only")
    remedy = "memories are still found by their words; see embedding.model in docs/configuration.md"
    return Check("model", WARN, f"search by full text only: {line(found.get('why')) or 'no reason given'}", remedy)
