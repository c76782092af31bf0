"""The verbs for single memories: remember, edit."""

import os
import time
from collections.abc import Mapping
from typing import Literal

import click

from memlayer.cli.terminal.invocation import (
    NO_MEMORY,
    Incomplete,
    ask,
    begin_writing,
    end_with_json,
    json_option,
    memory_id,
    project_dir,
    project_option,
    put_and_ask,
    words,
)
from memlayer.cli.terminal.output import line, memory_title, say, say_body, say_headline
from memlayer.cli.terminal.typist import mark_of_model
from memlayer.edge.home.registry import GLOBAL
from memlayer.errors import MemlayerError, UserError
from memlayer.text.context_block import quoted
from memlayer.turns.remembered import remember_event, says_everywhere
from memlayer.wire import memories as memory_ops
from memlayer.wire import sessions as session_ops

NO_TEXT = "Give a text to remember, or - to read it from standard input"
WHOLE = 100_000
WHOLE_ID = 36  # characters of the host's session ids
# Field of an answer -> the relation of its memories to the one that was remembered.
RELATIONS: Mapping[Literal["older", "newer", "contradicts"], str] = {
    "older": "Replaces ",
    "newer": "Already replaced by ",
    "contradicts": "Stays, since it is pinned (`memlayer edit` changes it): ",
}
# Change -> why it changes nothing, and the cure.
UNCHANGED = {
    "Changed": "says that already. `memlayer show --history {}` shows its earlier wordings",
    "Pinned": "is pinned already. `memlayer edit --unpin {}` takes the pin off",
    "Unpinned": "is not pinned. `memlayer edit --pin {}` pins it",
    "Back again:": "has that wording already. `memlayer show --history {}` shows the others",
}
NO_NEW_TEXT = "Give the new text after the ID, or - to read it from standard input"


@click.command("remember")
@click.argument("text", nargs=-1)
@project_option
@click.option("--global", "is_global", is_flag=True, help="For every project: each session starts with it.")
@click.option("--session", default="", metavar="ID", help="The session that already has it in its context.")
@json_option
def remember_verb(text: tuple[str, ...], project: str | None, is_global: bool, session: str, as_json: bool) -> None:
    """Remember TEXT as a core memory at once.

    It belongs to this project, or to every project with --global or if TEXT says so. It replaces a memory that it
    changes, and merges with a memory that it repeats. It is on disk before anything else happens: without a daemon it
    is stored later. Secrets and <private> spans are removed, as everywhere.

    \b
    Examples:
      memlayer remember "배포는 항상 화요일 오전에 한다"
      memlayer remember "the API listens on port 9090 now"
      cat notes.txt | memlayer remember -
      memlayer remember --global "커밋 메시지는 한국어로 쓴다"
      memlayer remember "in all my projects, use pnpm"
    """
    content = words(text, NO_TEXT)
    if project and is_global:
        raise Incomplete("--global goes without --project")
    folder = project_dir(project)
    if project and not os.path.isdir(folder):
        raise UserError(f"There is no folder {folder}")
    by_model = bool(mark_of_model())
    is_global = (is_global or says_everywhere(content)) and not by_model
    begin_writing("/" if is_global else folder)
    now_ms = time.time_ns() // 1_000_000
    event = remember_event(
        content, project_dir=folder, at_ms=now_ms, session_id=_session_id(session), is_global=is_global,
        by_model=by_model,
    )  # fmt: skip
    done = put_and_ask(event, memory_ops.Remember(str(event["id"])), "remembered")
    if as_json:
        end_with_json(done)
    memory = done.memory
    where = " for every project" if memory.project_id == GLOBAL else ""
    say(f"Remembered{where}" if done.is_new else f"Already known{where}:", " ", *memory_title(memory))
    say_body(memory.text, WHOLE)
    for name, relation in RELATIONS.items():
        for other in getattr(done, name):
            say((relation, "yellow"), *memory_title(other))
            say_body(other.text, 200)


def _session_id(start: str) -> str:
    """Return a session's whole id, if anybody knows it. Raises UserError."""
    if len(start) >= WHOLE_ID:
        return start
    try:
        sessions = ask(session_ops.Sessions(start)).sessions if start else []
    except MemlayerError:  # unknown, or no daemon: the statement is kept all the same
        return start
    if len(sessions) > 1:
        ids = ", ".join(line(session.id, 40) for session in sessions[:8])
        raise UserError(f"{len(sessions)} sessions begin with {quoted(start)}: {ids}. Give more of the id")
    return str(sessions[0].id) if sessions else start


@click.command("edit")
@click.argument("id_", metavar="ID", default="")
@click.argument("text", nargs=-1)
@click.option("--headline", metavar="LINE", help='Its line at a session\'s start: 140 characters at most, "" for none.')
@click.option("--subject", metavar="NAME", help='The group of that line: 20 characters at most, "" for none.')
@click.option("--pin/--unpin", "pins", default=None, help="It ranks first, and only an edit changes it.")
@click.option("--restore", is_flag=True, help="Bring a replaced memory, or an earlier wording, back.")
@click.option("--keep-both", is_flag=True, help="With --restore: also keep the memory that replaced it.")
@json_option
def edit_verb(
    id_: str,
    text: tuple[str, ...],
    headline: str | None,
    subject: str | None,
    pins: bool | None,
    restore: bool,
    keep_both: bool,
    as_json: bool,
) -> None:
    """Change, pin or bring back a memory.

    Its id, key and citation stay. The old text is kept: see `memlayer show --history`. Another text takes the
    headline away, unless a new one comes with it. A turn cannot be edited: it is a record of the conversation. A
    memory that comes back replaces the one that replaced it, unless --keep-both.

    \b
    Examples:
      memlayer edit a7Bc3x "order events go to ClickHouse, kept for 90 days"
      memlayer edit a7Bc3x - < note.txt
      memlayer edit a7Bc3x --headline "Order events: ClickHouse, 90 days" --subject Storage
      memlayer edit a7Bc3x --pin
      memlayer edit core_81d2 --restore
    """
    if not id_:
        raise Incomplete(NO_MEMORY)
    citation = memory_id((id_,))
    is_headed = headline is not None or subject is not None
    if (restore or pins is not None) and (text or is_headed or (restore and pins is not None)):
        raise Incomplete("Give a new text, --pin or --restore, one at a time")
    if restore:
        change, done = "Back again:", ask(memory_ops.Restore(citation, keep_both), as_json)
    elif pins is not None:
        change, done = "Pinned" if pins else "Unpinned", ask(memory_ops.Pin(citation, not pins), as_json)
    else:
        content = "" if is_headed and not text else words(text, NO_NEW_TEXT)
        change, done = "Changed", ask(memory_ops.Edit(citation, content, headline, subject), as_json)
    if not done.is_changed:
        say(f"Nothing is changed: {done.memory.key} {UNCHANGED[change].format(done.memory.citation)}")
        return
    say(change, " ", *memory_title(done.memory))
    say_headline(done.memory)
    say_body(done.memory.text, WHOLE)
    for other in done.replaces:
        say((RELATIONS["older"], "yellow"), *memory_title(other))
