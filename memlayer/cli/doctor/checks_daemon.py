"""Checks that need the daemon: start, store, models, captured turns."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping

from memlayer.cli.doctor.bare import daemon_line
from memlayer.cli.doctor.checks import FAIL, OK, WARN, Check
from memlayer.cli.terminal.output import counted, line
from memlayer.edge.home import paths
from memlayer.edge.ipc import ops, share_ops
from memlayer.edge.ipc.client import Client
from memlayer.edge.ipc.upkeep_answers import ModelUse, Status
from memlayer.errors import MemlayerError

SETTLE_S = 20.0
POLL_S = 0.2
READ_TRANSCRIPTS_S = 120.0
ANSWER_S = 10.0
TELLING_NOTES = 100  # fewer say nothing about recall
LEAST_CITED = 0.05  # share of the notes shown, below which most of them are noise
SHARE_PAGE = "docs/sharing.md"
NOTES_PAGE = "docs/notes.md#when-sessions-wait"
# How a person sees for themselves whether the model answers.
ASK_YOURSELF = {
    "claude-cli": "`claude -p hello` in a terminal says whether it is signed in, over its limit or offline",
    "anthropic": "look at the key, its limit and the network",
    "openai": "look whether the server answers, at the key and its limit",
}
RESTART = "`memlayer daemon restart`"


def daemon(client: Client) -> Iterator[Check]:
    """Check the daemon, started if need be, and its store, models, turns."""
    try:
        found = settled(client)
    except MemlayerError as error:
        yield Check("daemon", FAIL, str(error), "turns are kept on disk meanwhile; try `memlayer daemon restart`")
        yield Check("store", WARN, "unknown: no daemon answers")
        yield Check("model", WARN, "unknown: no daemon answers")
        yield Check("turns kept", WARN, "unknown: no daemon answers")
        return
    if found.get("job_errors"):
        with contextlib.suppress(MemlayerError):  # a job that failed once may succeed now: run all of them again
            client.ask(ops.Flush(wait=True), deadline_s=READ_TRANSCRIPTS_S)
            found = settled(client)
    yield jobs(found)
    if is_behind(client.home, found):
        yield Check("settings", WARN, f"{paths.settings(client.home)} has changed since the daemon started", RESTART)
    yield store(found)
    yield model(found)
    yield from memory_files(found)
    yield kept(client)
    yield from used(client)
    yield from share(client)
    use = found.get("language_model") or {}
    yield from memory_notes(client, use) if use.get("reads") == "session" else language_model(use)


def share(client: Client) -> Iterator[Check]:
    """Check the share of this person's machines, if there is one."""
    try:
        found = client.ask(share_ops.ShareStatus(), deadline_s=ANSWER_S)
    except MemlayerError as error:
        yield Check("share", WARN, line(error, 300))
        return
    if not found.get("address"):
        return
    waiting = counted(found.get("to_send"), "row") + (" waits" if found.get("to_send") == 1 else " wait")
    ahead = [line(row.get("name")) for row in found.get("machines") or () if row.get("is_ahead")]
    if not found.get("has_key"):
        yield Check("share", WARN, f"{waiting}: its key is not on this machine", SHARE_PAGE + "#the-key")
    elif found.get("problem"):
        yield Check("share", WARN, f"{waiting} to be sent: {line(found['problem'], 300)}", SHARE_PAGE + "#trouble")
    elif found.get("behind"):
        behind = counted(found["behind"], "commit")
        yield Check("share", WARN, f"{behind} not taken in: {line(found['behind_why'], 300)}", SHARE_PAGE + "#trouble")
    elif ahead:
        yield Check("share", WARN, f"the clock of {', '.join(ahead)} is ahead", "set it; nothing is lost by it")
    else:
        yield Check("share", OK, f"{counted(found.get('objects'), 'object')} sent, {waiting}")


def memory_notes(client: Client, use: ModelUse) -> Iterator[Check]:
    """Check the language model that reads sessions, if one is on."""
    if not use.get("is_on"):
        return
    try:
        found = client.ask(ops.Notes(), deadline_s=ANSWER_S)
    except MemlayerError:
        return
    name, model_name = "memory notes", f"{line(use.get('provider'))} {line(use.get('model'))}"
    if not found.get("is_on"):
        yield Check(name, OK, "off: no session is read")
        return
    waiting = counted(found.get("waiting"), "session") + (" waits" if found.get("waiting") == 1 else " wait")
    if found.get("model_missing"):
        yield Check(name, WARN, f"{model_name}: {waiting}: {line(found['model_missing'], 300)}", NOTES_PAGE)
    elif found.get("problem"):
        remedy = f"{ASK_YOURSELF[str(use['provider'])]}; none is lost, it is tried again by itself. {NOTES_PAGE}"
        yield Check(name, WARN, f"{model_name}: {waiting}: {line(found['problem'], 300)}", remedy)
    elif found.get("is_over"):
        yield Check(name, OK, f"{model_name}: {waiting}: today's budget is spent, they are read from tomorrow on")
    else:
        yield Check(name, OK, f"{model_name}: {counted(found.get('read'), 'session')} read, {waiting}")


def used(client: Client) -> Iterator[Check]:
    """Report the share of given notes that were cited, if enough."""
    try:
        found = client.ask(ops.UsageShare(), deadline_s=ANSWER_S)
    except MemlayerError:
        return
    shown, cited = int(found.get("shown") or 0), int(found.get("cited_of_shown") or 0)
    if shown < TELLING_NOTES:
        return
    says = f"{cited} of {shown} notes shown in {found.get('window_days')} days were cited ({100 * cited / shown:.0f} %)"
    if cited < LEAST_CITED * shown:
        yield Check("recall", WARN, says, "`memlayer given` shows them; a higher recall.min_chance gives fewer")
    else:
        yield Check("recall", OK, says)


def hooks_worked(client: Client) -> dict[str, int]:
    """Return hook -> Unix time in ms of its last timely answer."""
    try:
        found = (client.status() or {}).get("hooks_worked_ms")
    except MemlayerError:
        return {}
    return found if isinstance(found, dict) else {}


def is_behind(home: str, found: Mapping[str, object]) -> bool:
    """True if settings changed since the daemon (status: found) read them."""
    from memlayer.config import settings_stamp

    return bool(found.get("settings_stamp")) and found["settings_stamp"] != settings_stamp(home)


def settled(client: Client) -> Status:
    """Return the daemon's status once it has loaded. Raises DaemonError."""
    ends = time.monotonic() + SETTLE_S
    while True:
        found = client.ask(ops.Status(), deadline_s=5.0)
        busy = found.get("store") == "opening" or "still loading" in str(found.get("why"))
        if not busy or time.monotonic() > ends:
            return found
        time.sleep(POLL_S)


def jobs(found: Status) -> Check:
    """Check the daemon's background jobs."""
    errors = found.get("job_errors") or 0
    if errors:
        return Check(
            "daemon",
            WARN,
            f"{daemon_line(found)}; {errors} background jobs failed, last {line(found.get('last_job_error'))}",
            "see logs/daemon.log in the memlayer home",
        )
    return Check("daemon", OK, daemon_line(found))


def store(found: Status) -> Check:
    """Check that the store has opened undamaged."""
    state = line(found.get("store"))
    if state == "failed":
        why = line(found.get("store_error")) or "no reason given"
        return Check("store", FAIL, f"does not open: {why}", "turns are kept on disk until it does")
    if state == "opening":
        return Check("store", WARN, f"still opening after {SETTLE_S:g} s", "run `memlayer doctor` again in a while")
    damage = found.get("damage") or []
    if damage:
        says = "; ".join(line("table %s: %s" % (note["table"], note["says"]), 120) for note in damage)
        if all(note["is_minor"] for note in damage):
            return Check("store", WARN, f"was damaged and is being repaired: {says}", "memlayer repair")
        return Check("store", FAIL, f"is damaged, the other tables work: {says}", "memlayer repair")
    rebuilding = line(found.get("rebuilding"))
    return Check("store", OK, f"open, the index is being rebuilt: {rebuilding}" if rebuilding else "open")


def memory_files(found: Status) -> Iterator[Check]:
    """Report unreadable memory files and changes that were not followed."""
    notices = [line(notice, 300) for notice in found.get("file_notices") or []]
    if notices:
        says = f"{len(notices)} notices, the first: {notices[0]}" if len(notices) > 1 else notices[0]
        yield Check("memory files", WARN, says, "`memlayer files` lists all; docs/memory.md lists the changes it reads")


def kept(client: Client) -> Check:
    """Check that the host's turns are in the store, and how."""
    try:
        found = client.ask(ops.Witness(), deadline_s=READ_TRANSCRIPTS_S)
    except MemlayerError as error:
        return Check("turns kept", WARN, f"unknown: {line(error)}")
    state, says, remedy = found["finding"]
    return Check("turns kept", state, line(says), line(remedy))


def language_model(found: ModelUse) -> Iterator[Check]:
    """Check the language model that reads turns, if one is on."""
    name = "language model"
    if not found.get("is_on"):
        return
    model_name = f"{line(found.get('provider'))} {line(found.get('model'))}"
    if found.get("missing") or found.get("problem"):
        why = line(found.get("missing") or found.get("problem"), 300)
        yield Check(name, WARN, f"{model_name}: the rules read turns instead: {why}", "docs/language-model.md")
    elif found.get("is_over"):
        yield Check(name, OK, f"{model_name}: today's budget is spent, the rules read turns until tomorrow")
    else:
        yield Check(name, OK, f"{model_name}: {found['today']['calls']} calls today")


def model(found: Status) -> Check:
    """Check the embedding model. Without it search is by full text only."""
    status = found["model"]
    place = line(status.get("place"))
    if found.get("mode") != "lexical" and place:
        says = f"{place}: search by full text and meaning; stored texts and prompts are sent there"
        return Check("model", OK, says)
    if found.get("mode") != "lexical":
        return Check("model", OK, f"{line(status.get('name')) or 'loaded'}: search by full text and meaning")
    if status.get("provider") == "none":
        return Check("model", OK, "none, as set: search by full text only")
    remedy = "memories are still found by their words; see embedding.model in docs/configuration.md"
    if status["provider"] not in ("", "fastembed"):
        remedy = "memories are still found by their words; see docs/language-model.md"
    return Check("model", WARN, f"search by full text only: {line(found.get('why')) or 'no reason given'}", remedy)
