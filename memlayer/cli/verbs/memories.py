"""The verbs for single memories: remember, pin, edit, restore, history."""

from __future__ import annotations

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
    form_option,
    json_option,
    keep,
    memory_id,
    project_dir,
    project_option,
    words,
)
from memlayer.cli.terminal.output import line, memory_title, say, say_body, say_headline, session_name, when
from memlayer.cli.terminal.typist import mark_of_model
from memlayer.cli.verbs.browse import say_text
from memlayer.edge.home.registry import GLOBAL
from memlayer.errors import MemlayerError, UserError
from memlayer.text.context_block import quoted
from memlayer.turns.remembered import is_all_redacted, refuse_too_long, remember_event, says_everywhere
from memlayer.wire import memories as memory_ops
from memlayer.wire import sessions as session_ops

stdin_option = click.option("--stdin", "from_stdin", is_flag=True, help="Read the text or ID from stdin.")
id_argument = click.argument("id_", metavar="ID", nargs=-1)
NO_TEXT = "Give a text to remember, or - to read it from standard input"
WHOLE = 100_000
WHOLE_ID = 36  # characters of the host's session ids
# Field of an answer -> the relation of its memories to the one that was remembered.
RELATIONS: Mapping[Literal["older", "newer", "contradicts"], str] = {
    "older": "Replaces ",
    "newer": "Already replaced by ",
    "contradicts": "Stays, since it is pinned (`memlayer edit` changes it): ",
}
NO_NEW_TEXT = "Give the new text after the ID, or - to read it from standard input"


@click.command("remember")
@click.argument("text", nargs=-1)
@stdin_option
@project_option
@click.option("--global", "is_global", is_flag=True, help="For every project: each session starts with it.")
@click.option("--session", default="", metavar="ID", help="The session that already has it in its context.")
@json_option
def remember_verb(
    text: tuple[str, ...], from_stdin: bool, project: str | None, is_global: bool, session: str, as_json: bool
) -> None:
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
    content = words(text, from_stdin, NO_TEXT)
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
    if is_all_redacted(str(event["text"])) or not str(event["text"]).strip():
        raise UserError("Nothing to remember: all of it is private")
    refuse_too_long(str(event["text"]))
    done = keep(event, memory_ops.Remember(str(event["id"])), "remembered")
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


@click.command("pin")
@id_argument
@click.option("--off", is_flag=True, help="Unpin the memory.")
@json_option
def pin_verb(id_: tuple[str, ...], off: bool, as_json: bool) -> None:
    """Pin a memory: it ranks first, and only an edit changes it.

    \b
    Examples:
      memlayer edit --pin a7Bc3x
      memlayer edit --pin core_81d2 --off
    """
    _say_done(ask(memory_ops.Pin(memory_id(id_), off), as_json), "Unpinned" if off else "Pinned")


@click.command("edit")
@click.argument("id_", metavar="ID", default="")
@click.argument("text", nargs=-1)
@click.option("--headline", metavar="LINE", help='Its line at a session\'s start: 120 characters at most, "" for none.')
@click.option("--subject", metavar="NAME", help='The group of that line: 20 characters at most, "" for none.')
@stdin_option
@form_option("--pin", "It ranks first, and only an edit changes it; --off ends that.")
@form_option("--restore", "Bring a replaced memory back.")
@json_option
def edit_verb(
    id_: str, text: tuple[str, ...], headline: str | None, subject: str | None, from_stdin: bool, as_json: bool
) -> None:
    """Change, pin or bring back a memory.

    Its id, key and citation stay. The old text is kept: see `memlayer show --history`. Another text takes the
    headline away, unless a new one comes with it. A turn cannot be edited: it is a record of the conversation.

    \b
    Examples:
      memlayer edit a7Bc3x "order events go to ClickHouse, kept for 90 days"
      memlayer edit a7Bc3x - < note.txt
      memlayer edit a7Bc3x --headline "Order events: ClickHouse, 90 days" --subject Storage
    """
    if not id_:
        raise Incomplete(NO_MEMORY)
    same_text = not text and not from_stdin and (headline is not None or subject is not None)
    citation = memory_id((id_,))
    content = "" if same_text else words(text, from_stdin, NO_NEW_TEXT)
    _say_done(ask(memory_ops.Edit(citation, content, headline, subject), as_json), "Changed")


@click.command("restore")
@id_argument
@click.option("--keep-both", is_flag=True, help="Also keep the memory that replaced it.")
@json_option
def restore_verb(id_: tuple[str, ...], keep_both: bool, as_json: bool) -> None:
    """Bring a replaced memory back.

    The memory that replaced it is replaced in turn, unless --keep-both. The id of an earlier wording (see
    `memlayer show --history`) gives its memory that text back.

    \b
    Examples:
      memlayer edit --restore core_81d2
      memlayer edit --restore a7Bc3x --keep-both
    """
    _say_done(ask(memory_ops.Restore(memory_id(id_), keep_both), as_json), "Back again:")


@click.command("history")
@id_argument
@stdin_option
@json_option
def history_verb(id_: tuple[str, ...], from_stdin: bool, as_json: bool) -> None:
    """Show every version of a memory, the current one first.

    \b
    Examples:
      memlayer show --history a7Bc3x
      memlayer show --history core_81d2 --json
    """
    answer = ask(memory_ops.History(memory_id(id_, from_stdin)), as_json)
    for version in answer.versions:
        _say_version(version, version.id == answer.asked)


def _say_version(version: memory_ops.Version, is_asked: bool) -> None:
    ended = when(version.ended_ms) if version.ended_because else ""
    colour = "yellow" if version.ended_because else "green"
    say(
        "> " if is_asked else "  ",
        (line(version.ended_because) or "in force", colour),
        f" {ended}  " if ended else "  ",
        *memory_title(version),
    )
    say_text(version.text)
    say((f"by {line(version.by)}", "dim"), indent=2)
    sources = [
        f"{line(source.kind)} {when(source.at_ms)} {session_name(source.session_id)}" for source in version.sources
    ]
    if sources:
        say(("from " + ", ".join(sources), "dim"), indent=2)


def _say_done(done: memory_ops.Changed, change: str) -> None:
    memory = done.memory
    say(change, " ", *memory_title(memory))
    say_headline(memory)
    say_body(memory.text, WHOLE)
