"""The verbs that transfer: import transcripts and exports, export everything."""

import contextlib
import glob
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator

import click

from memlayer.cli.terminal.invocation import (
    STREAM,
    Incomplete,
    ask,
    complete_file,
    complete_folder,
    end_with_json,
    home,
    json_option,
    not_empty,
    project_dir,
    settings,
)
from memlayer.cli.terminal.output import duration, line, say, short_path, table, when
from memlayer.edge.counting import counted
from memlayer.edge.home import paths as home_paths
from memlayer.edge.terminal import streams
from memlayer.errors import UserError
from memlayer.transcripts import importer
from memlayer.wire import transfer as ops

_MARK = "memlayer_export"
TEMPORARY = home_paths.TEMPORARY + "transfer-"
KEPT_S = 86_400.0
HEAD_BYTES = 4096


@click.command("import")
@click.argument("paths", nargs=-1, metavar="[PATH]...", shell_complete=complete_file)
@click.option(
    "--project",
    callback=not_empty,
    metavar="PATH",
    shell_complete=complete_folder,
    help="Only sessions of this folder's project. Chats of claude.ai and ChatGPT go there.",
)
@click.option(
    "--from",
    "agent",
    type=click.Choice((*importer.agents(), importer.ALL)),
    help="The agent whose sessions they are. all: every agent found on this machine.",
)
@click.option("--dry-run", is_flag=True, help="Only count the turns that would be imported.")
@json_option
def import_verb(paths: tuple[str, ...], project: str | None, agent: str | None, dry_run: bool, as_json: bool) -> None:
    """Import earlier sessions, also of other agents, or an export.

    Without a PATH all transcripts of Claude Code on this machine, newest first. A PATH is a transcript, a folder of
    transcripts, or a file that `memlayer export` has written. A single - is an export on standard input. With --from
    the sessions of another agent: those found on this machine, or in a PATH. Nothing is imported twice, and forgotten
    turns stay forgotten. An interrupted import continues where it stopped.

    \b
    Examples:
      memlayer import --dry-run
      memlayer import --project ~/src/shop
      memlayer import --from all --dry-run
      memlayer import --from chatgpt export.zip --project ~/src/shop
      memlayer import backup.jsonl
      ssh laptop memlayer export - | memlayer import -
    """
    files = [os.path.abspath(os.path.expanduser(path)) for path in paths]
    if not agent and (STREAM in paths or any(map(is_export, files))):
        if len(files) > 1 or project:
            raise Incomplete("An export is imported alone, and as a whole")
        with stdin_as_file() if STREAM in paths else contextlib.nullcontext(files[0]) as path:
            import_export(path, dry_run, as_json)
        return
    folder = project_dir(project) if project else ""
    wanted = ops.Import(dry_run, folder, tuple(files))
    if agent:
        wanted = wanted.changed(origins=origins_of(agent, files, folder))
    elif not files:
        wanted = wanted.changed(paths=(transcripts_folder(),))
    done = ask(wanted, is_long=True, quiet=as_json)
    if files and not project and not done.files and not done.unchanged:
        why = ", ".join(f"{line(reason)}: {count(number)}" for reason, number in done.skipped.items())
        place = ", ".join(files)
        missing = f"There is no {'session of ' + agent if agent else 'transcript and no export'} in {place}"
        raise UserError(f"Nothing to import in {place}. Left out: {why}" if why else missing)
    if as_json:
        end_with_json(done, 1 if done.problems else 0)
    say_imported(done, f" of {folder}" if folder else "")
    others = [] if agent or files else [name for name in importer.found(importer.ALL) if name != "claude"]
    if others:
        say(f"There are sessions of {', '.join(others)} too: `memlayer import --from all --dry-run` shows them.")
    if done.problems:
        raise UserError(". ".join(map(line, done.problems)))
    if not dry_run and done.new_turns:
        offer_notes()


def say_imported(done: ops.Imported, place: str) -> None:
    """Print an import's finds, those left out, and counts."""
    finds = [
        (row.agent, line(short_path(row.folder)), count(row.sessions), count(row.turns), count(row.new_turns),
         when(row.first_ms)[:10], when(row.last_ms)[:10])
        for row in done.found
    ]  # fmt: skip
    left = [("left out", f"{line(reason)}: {count(number)}", *[""] * 5) for reason, number in done.skipped.items()]
    if done.dry_run or left:
        table(("agent", "folder", "sessions", "turns", "new", "first", "last"), [*finds, *left])
    if done.new_turns:
        verb, read = "Would import" if done.dry_run else "Imported", counted(done.files, "transcript")
        new = counted(done.new_turns, "new turn")
        kinds = "" if any(row.agent != "claude" for row in done.found) else ", prompts and answers alone,"
        say(f"{verb} {new}{place}{kinds} from {read} ({duration(done.seconds)}).")
    known = [counted(done.known_turns, "known turn")] if done.known_turns else []
    known += [f"{counted(done.unchanged, 'transcript')} unchanged since the last import"] if done.unchanged else []
    if not done.new_turns:
        why = ", ".join(known) or ("see above" if left else "no session was found")
        say(f"Nothing new to import{place}: {why}.")
    elif known:
        say(", ".join(known) + ".")
    if done.unembedded:
        chunks = counted(done.unembedded, "chunk")
        say(f"Found by their words now. Vectors of {chunks} follow in the background: `memlayer daemon status`")


def origins_of(agent: str, files: list[str], project_dir: str) -> tuple[ops.Origin, ...]:
    """Return where an agent's sessions are read. Raises UserError."""
    if files and agent == importer.ALL:
        raise Incomplete("A PATH holds the sessions of one agent: name it with --from")
    if agent in importer.EXPORTS and not files:
        raise Incomplete("Give the export that you have downloaded: its zip, or conversations.json")
    if agent in importer.EXPORTS and not project_dir:
        raise Incomplete("These chats have no folder: give the one of the project that they belong to with --project")
    found = {agent: files} if files else importer.found(agent)
    if not found:
        raise UserError(f"There are no sessions of {agent} on this machine. Give a PATH")
    return tuple(ops.Origin(name, tuple(paths)) for name, paths in found.items())


def offer_notes() -> None:
    """Offer notes on imported sessions, unless the person said no."""
    held = settings()
    is_off = held.consolidation.provider == "rules"
    if not held.notes.enabled or (is_off and held.origin("consolidation.provider") != "default"):
        return
    turn_on = ", after `memlayer notes on`" if is_off else ""
    cost = "`memlayer notes read --last 30 --dry-run` says its cost."
    say(f"A model can write notes on these sessions{turn_on}: {cost}")


@click.command("export")
@click.argument("file", metavar="FILE", default="", shell_complete=complete_file)
@json_option
def export_verb(file: str, as_json: bool) -> None:
    """Export everything to a file that `memlayer import` reads.

    Projects, sessions, events and memories, also memories that hold no more. Only you can read the file. - is
    standard output.

    \b
    Examples:
      memlayer export ~/memories-2026-11-19.jsonl
      memlayer export - | gzip > memories.jsonl.gz
    """
    if not file.strip():
        raise Incomplete("Give a path to export to, or - for standard output")
    if file == STREAM:
        if as_json:
            raise Incomplete("An export to standard output is JSON Lines already. Leave --json out")
        export_to_stdout()
        return
    path = os.path.abspath(os.path.expanduser(file))
    if os.path.isdir(path) or not os.path.isdir(os.path.dirname(path)):
        raise UserError(f"{path} cannot be written. Give a file in a folder that exists")
    done = ask(ops.Export(path), as_json, is_long=True)
    say(f"Written to {line(path)}: {held_in(done)}.")


def held_in(done: ops.ExportCounts) -> str:
    """Return the numbers of rows in an export, in words."""
    nouns = {"projects": "project", "sessions": "session", "events": "event", "memories": "memory"}
    return ", ".join(counted(getattr(done, name), noun) for name, noun in nouns.items())


def export_to_stdout() -> None:
    """Copy an export, made as a private file, to standard output."""
    with private_folder() as folder:
        path = os.path.join(folder, "export.jsonl")
        done = ask(ops.Export(path), is_long=True)
        sys.stdout.flush()
        with open(path, "rb") as file:
            os.unlink(path)  # nothing of it stays on disk, even if this process is killed while the file is read
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    streams.tell_line(f"written: {held_in(done)}")


@contextlib.contextmanager
def stdin_as_file() -> Iterator[str]:
    """Copy standard input into a file. Raises UserError for no export."""
    with private_folder() as folder:
        path = os.path.join(folder, "import.jsonl")
        head = sys.stdin.buffer.readline(HEAD_BYTES)
        if not is_head(head):  # before it is copied: it may have no end
            raise UserError("Standard input holds no export. Give the output of `memlayer export -`")
        with open(path, "xb") as file:
            file.write(head)
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield path


@contextlib.contextmanager
def private_folder() -> Iterator[str]:
    """Make a temporary folder in the home; drop those of killed processes."""
    for left in glob.glob(os.path.join(glob.escape(home()), TEMPORARY + "*")):
        if time.time() - os.lstat(left).st_mtime > KEPT_S:
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=TEMPORARY, dir=home_paths.make_folder(home())) as folder:
        yield folder


def import_export(path: str, dry_run: bool, as_json: bool) -> None:
    """Import an export file and print the numbers of rows."""
    done = ask(ops.ImportExport(path, dry_run), as_json, is_long=True)
    known = f"; {counted(done.known, 'row')} known already" if done.known else ""
    forgotten = f"; {counted(done.forgotten, 'row', 'stay')} forgotten" if done.forgotten else ""
    say(f"{'Would import' if dry_run else 'Imported'} {held_in(done)}{known}{forgotten}.")
    if done.bad:
        say(f"Left out {counted(done.bad, 'line')} that could not be read:")
        for reason in done.reasons:
            say("  " + line(reason))


def is_export(path: str) -> bool:
    """True for a file that begins like an export."""
    return is_head(home_paths.read_start(path, HEAD_BYTES).partition(b"\n")[0])


def is_head(first_line: bytes) -> bool:
    """True for the first line of an export."""
    try:
        head = json.loads(first_line)
    except (ValueError, RecursionError):
        return False
    return isinstance(head, dict) and _MARK in head


def transcripts_folder() -> str:
    """Return the host's folder of transcripts. Raises UserError without one."""
    folder = home_paths.host_projects()
    if not os.path.isdir(folder):
        others = "`memlayer import --from all --dry-run` looks for other agents' sessions"
        raise UserError(f"There are no transcripts of Claude Code in {folder}. Give a PATH; {others}")
    return os.path.abspath(folder)


def count(value: object) -> str:
    """Return a number with thousands separators; "" for none."""
    return f"{value:,}" if isinstance(value, int) else ""
