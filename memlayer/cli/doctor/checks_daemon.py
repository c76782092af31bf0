"""Checks that need the daemon: start, store, models, captured turns."""

import contextlib
import time
from collections.abc import Iterator, Mapping

from memlayer.cli.doctor.bare import daemon_line
from memlayer.cli.doctor.checks import FAIL, OK, WARN, Check
from memlayer.cli.terminal.output import line, sent_line
from memlayer.edge.counting import counted
from memlayer.edge.ipc.client import Client
from memlayer.errors import MemlayerError
from memlayer.wire import memories as memory_ops
from memlayer.wire import notes as note_ops
from memlayer.wire import sharing
from memlayer.wire import upkeep as upkeep_ops

SETTLE_S = 20.0
POLL_S = 0.2
ASK_SETTINGS_S = 3.0
VARIABLES = "MEMLAYER_"
READ_TRANSCRIPTS_S = 120.0
ANSWER_S = 10.0
TELLING_NOTES = 100  # fewer say nothing about recall
LEAST_CITED = 0.05  # share of the notes shown, below which most of them are noise
AGAIN = "run `memlayer doctor` again once the daemon answers"
SHARE_PAGE = "docs/sharing.md"
NOTES_PAGE = "docs/notes.md#when-sessions-wait"


def held_settings(client: Client, folder: str, environ: Mapping[str, str]) -> upkeep_ops.SettingsHeld:
    """Return the settings that hold, from a running daemon where one answers.

    To load what reads them takes longer than all else of a verb. Starts no daemon.
    """
    named = tuple(f"{name}={value}" for name, value in environ.items() if name.upper().startswith(VARIABLES))
    try:
        return client.ask(upkeep_ops.Settings(folder, named), deadline_s=ASK_SETTINGS_S, start=False)
    except MemlayerError:  # none runs, or it hangs, as its own check will say
        from memlayer.config import what_holds

        return upkeep_ops.Settings().read_answer(what_holds(client.home, folder, environ))


def daemon(client: Client) -> Iterator[Check]:
    """Check the daemon, started if need be, and its store, models, turns."""
    try:
        status = settled(client)
    except MemlayerError as error:
        yield Check("daemon", FAIL, str(error), "turns are kept on disk meanwhile; try `memlayer daemon restart`")
        for name in ("store", "model", "turns kept"):
            yield Check(name, WARN, "unknown: no daemon answers", AGAIN)
        return
    if status.job_errors:
        with contextlib.suppress(MemlayerError):  # a job that failed once may succeed now: run all of them again
            client.ask(upkeep_ops.Flush(), deadline_s=READ_TRANSCRIPTS_S)
            status = settled(client)
    yield jobs(status)
    yield store(status)
    yield model(status)
    yield from memory_files(status)
    if status.sends is not None:
        yield Check("sends", OK, sent_line(status.sends))
    yield kept(client)
    yield from used(client)
    yield from at_calls(client)
    yield from share(client)
    yield from memory_notes(client, status.language_model)


def share(client: Client) -> Iterator[Check]:
    """Check the share of this person's machines, if there is one."""
    try:
        status = client.ask(sharing.ShareStatus(), deadline_s=ANSWER_S)
    except MemlayerError as error:
        yield Check("share", WARN, line(error, 300), "`memlayer share status` says more")
        return
    if not status.address:
        return
    waiting = counted(status.to_send, "row", "wait")
    ahead = [line(row.name) for row in status.machines or () if row.is_ahead]
    if not status.has_key:
        yield Check("share", WARN, f"{waiting}: its key is not on this machine", SHARE_PAGE + "#the-key")
    elif status.problem:
        yield Check("share", WARN, f"{waiting} to be sent: {line(status.problem, 300)}", SHARE_PAGE + "#trouble")
    elif status.behind:
        behind = counted(status.behind, "commit")
        yield Check("share", WARN, f"{behind} not taken in: {line(status.behind_why, 300)}", SHARE_PAGE + "#trouble")
    elif ahead:
        yield Check("share", WARN, f"the clock of {', '.join(ahead)} is ahead", "set it; nothing is lost by it")
    else:
        yield Check("share", OK, f"{counted(status.objects, 'object')} sent, {waiting}")


def memory_notes(client: Client, use: note_ops.ModelUse) -> Iterator[Check]:
    """Check the language model that reads sessions, if one is on."""
    if not use.is_on:
        return
    try:
        status = client.ask(note_ops.Notes(), deadline_s=ANSWER_S)
    except MemlayerError:
        return
    name, model_name = "memory notes", f"{line(use.provider)} {line(use.model)}"
    if not status.is_on:
        yield Check(name, OK, "off: no session is read")
        return
    waiting = counted(status.waiting, "session", "wait")
    if use.lacks:
        yield Check(name, WARN, f"{model_name}: {waiting}: {line(use.lacks, 300)}", NOTES_PAGE)
    elif use.problem:
        from memlayer.config.providers import PROVIDERS

        remedy = f"{PROVIDERS[use.provider].remedy}; none is lost, it is tried again by itself. {NOTES_PAGE}"
        yield Check(name, WARN, f"{model_name}: {waiting}: {line(use.problem, 300)}", remedy)
    elif use.is_over:
        yield Check(name, OK, f"{model_name}: {waiting}: today's budget is spent, they are read from tomorrow on")
    else:
        yield Check(name, OK, f"{model_name}: {counted(status.read, 'session')} read, {waiting}")


def used(client: Client) -> Iterator[Check]:
    """Report the share of given notes that were cited, if enough."""
    try:
        usage = client.ask(memory_ops.CountUses(), deadline_s=ANSWER_S)
    except MemlayerError:
        return
    shown, cited = int(usage.shown or 0), int(usage.cited_of_shown or 0)
    if shown < TELLING_NOTES:
        return
    share = f"{100 * cited / shown:.0f} %"
    says = f"{cited} of {shown} notes given at prompts in {usage.window_days} days were cited ({share})"
    if cited < LEAST_CITED * shown:
        yield Check("recall", WARN, says, "`memlayer given` shows them; a higher recall.min_chance gives fewer")
    else:
        yield Check("recall", OK, says)


def at_calls(client: Client) -> Iterator[Check]:
    """Report the lines told at calls, and their effects."""
    try:
        effects = (client.status() or {}).get("at_action")
    except MemlayerError:
        return
    if isinstance(effects, dict) and effects:
        told = ", ".join(f"{count} {line(effect)}" for effect, count in sorted(effects.items()))
        yield Check("lines at calls", OK, f"{counted(sum(effects.values()), 'line')} told; what followed: {told}")


def hooks_worked(client: Client) -> dict[str, int]:
    """Return hook -> Unix time in ms of its last timely answer."""
    try:
        worked_ms = (client.status() or {}).get("hooks_worked_ms")
    except MemlayerError:
        return {}
    return worked_ms if isinstance(worked_ms, dict) else {}


def settled(client: Client) -> upkeep_ops.StatusFound:
    """Return the daemon's status once it has loaded. Raises DaemonError."""
    ends = time.monotonic() + SETTLE_S
    while True:
        status = client.ask(upkeep_ops.Status(), deadline_s=5.0)
        busy = status.store == "opening" or "still loading" in str(status.why)
        if not busy or time.monotonic() > ends:
            return status
        time.sleep(POLL_S)


def jobs(status: upkeep_ops.StatusFound) -> Check:
    """Check the daemon's background jobs."""
    errors = status.job_errors
    if errors:
        return Check(
            "daemon",
            WARN,
            f"{daemon_line(status.fields())}; {errors} background jobs failed, last {line(status.last_job_error)}",
            "see logs/daemon.log in the memlayer home",
        )
    return Check("daemon", OK, daemon_line(status.fields()))


def store(status: upkeep_ops.StatusFound) -> Check:
    """Check that the store has opened undamaged."""
    state = line(status.store)
    if state == "failed":
        why = line(status.store_error) or "no reason given"
        return Check("store", FAIL, f"does not open: {why}", "turns are kept on disk until it does")
    if state == "opening":
        return Check("store", WARN, f"still opening after {SETTLE_S:g} s", "run `memlayer doctor` again in a while")
    damage = status.damage or []
    if damage:
        says = "; ".join(line("table %s: %s" % (note.table, note.says), 120) for note in damage)
        if all(note.is_minor for note in damage):
            return Check("store", WARN, f"was damaged and is being repaired: {says}", "memlayer doctor repair")
        return Check("store", FAIL, f"is damaged, the other tables work: {says}", "memlayer doctor repair")
    rebuilding = line(status.rebuilding)
    return Check("store", OK, f"open, the index is being rebuilt: {rebuilding}" if rebuilding else "open")


def memory_files(status: upkeep_ops.StatusFound) -> Iterator[Check]:
    """Report unreadable memory files and changes that were not followed."""
    notices = [line(notice, 300) for notice in status.file_notices or []]
    if notices:
        says = f"{len(notices)} notices, the first: {notices[0]}" if len(notices) > 1 else notices[0]
        yield Check(
            "memory files", WARN, says, "`memlayer stats --files` lists all; docs/memory.md lists the changes it reads"
        )


def kept(client: Client) -> Check:
    """Check that the host's turns are in the store, and how."""
    try:
        answer = client.ask(upkeep_ops.Witness(), deadline_s=READ_TRANSCRIPTS_S)
    except MemlayerError as error:
        return Check("turns kept", WARN, f"unknown: {line(error)}", AGAIN)
    state, says, remedy = answer.finding
    return Check("turns kept", state, line(says), line(remedy))


def model(status: upkeep_ops.StatusFound) -> Check:
    """Check the embedding model. Without it search is by full text only."""
    embedding = status.model
    place = line(embedding.place)
    if status.mode != "lexical" and place:
        says = f"{place}: search by full text and meaning; stored texts and prompts are sent there"
        return Check("model", OK, says)
    if status.mode != "lexical":
        return Check("model", OK, f"{line(embedding.name) or 'loaded'}: search by full text and meaning")
    if embedding.provider == "none":
        return Check("model", OK, "none, as set: search by full text only")
    remedy = "memories are still found by their words; see embedding.model in docs/configuration.md"
    if embedding.provider not in ("", "fastembed"):
        remedy = "memories are still found by their words; see docs/language-model.md"
    return Check("model", WARN, f"search by full text only: {line(status.why) or 'no reason given'}", remedy)
