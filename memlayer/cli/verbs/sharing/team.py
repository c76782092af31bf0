"""The verb team: notes of a project for colleagues."""

import contextlib
import os

import click

from memlayer.cli.terminal.invocation import (
    Incomplete,
    ask,
    client,
    end_with_json,
    home,
    json_option,
    memory_ids,
    project_dir,
    project_option,
)
from memlayer.cli.terminal.output import line, memory_title, pairs, print_json, say, when
from memlayer.cli.verbs.sharing.share import new_place
from memlayer.edge.counting import counted
from memlayer.edge.home import paths
from memlayer.wire import sharing as ops


@click.group("team", invoke_without_command=True)
@click.pass_context
def team_verb(context: click.Context) -> None:
    """Share promoted notes with colleagues, by git, folder or bucket.

    Only notes travel that `memlayer team promote` was given, each with its author, day, project and a hash of its
    evidence. Never a turn. A colleague's note counts as evidence, never as an order of yours.
    See docs/sharing.md#a-team.

    Without another word it shows the state.

    \b
    Examples:
      memlayer team setup
      memlayer team promote a7Bc3x x9Yz2w
      memlayer team status
    """
    if context.invoked_subcommand is None:
        context.invoke(status)


@team_verb.command("setup")
@click.argument("place", metavar="[PLACE]", default="folder")
@click.option("--name", default="", help="Your name on your notes; default: git's user.name.")
@click.option("--by-hand", is_flag=True, help="Exchange notes only at `memlayer team sync`.")
@project_option
@json_option
def setup(place: str, name: str, by_hand: bool, project: str | None, as_json: bool) -> None:
    """Begin or join this project's team at PLACE.

    PLACE: folder (the default: `.memlayer/team/` of the work tree, which you commit and review), git (refs of its own
    in the repository's `origin`), or the address of a place: file:///folder, a git remote, s3://bucket/prefix. The
    notes that are there are taken in, as evidence.

    \b
    Examples:
      memlayer team setup
      memlayer team setup git
      memlayer team setup s3://team-bucket/notes --name "Kim Minji"
    """
    place = os.path.abspath(os.path.expanduser(place)) if place.startswith(("/", "~", ".")) else place.strip()
    _set_up(ops.TeamSetup(project_dir(project), place, name, by_hand), as_json)


@team_verb.command("accept")
@project_option
@json_option
def accept(project: str | None, as_json: bool) -> None:
    """Take in the notes that this repository, or its remote, brings.

    Until then a clone's notes are off.

    Example: memlayer team accept
    """
    _set_up(ops.TeamSetup(project_dir(project)), as_json)


def _set_up(arguments: ops.TeamSetup, as_json: bool) -> None:
    is_first = not os.path.isdir(paths.team(home()))
    with new_place(paths.team(home())) if is_first else contextlib.nullcontext():
        state = client().ask(arguments, deadline_s=300.0)
    if as_json:
        print_json(state)
        return
    say(f"This project's team: {line(state.address)}. Your notes bear the name {line(state.name)}.")
    authors = line(", ".join(state.authors))
    say(f"{counted(state.notes, 'note')} of colleagues: {authors}." if authors else "No notes of colleagues yet.")
    _left_out(state.left_out)
    say("`memlayer team promote ID` adds a note of yours; nothing else of yours travels.")


@team_verb.command("sync")
@project_option
@json_option
def sync(project: str | None, as_json: bool) -> None:
    """Send promoted notes and take in colleagues' now.

    It happens by itself at a session's start and end.

    Example: memlayer team sync
    """
    done = ask(ops.TeamSync(project_dir(project)), as_json, is_long=True)
    say(f"{counted(done.pushed.notes, 'note')} sent, {done.pushed.withdrawn} taken back.")
    taken = done.pulled
    say(f"{counted(taken.notes, 'note')} of colleagues: {taken.new} new or changed, {taken.gone} gone.")
    _left_out(taken.left_out)


@team_verb.command("status")
@project_option
@json_option
def status(project: str | None, as_json: bool) -> None:
    """Show the team, its authors, and the notes left out with reasons.

    Example: memlayer team status
    """
    state = ask(ops.TeamStatus(project_dir(project)), as_json)
    if not state.address:
        if state.offered:
            notes = counted(state.offered, "note")
            say(f"This repository brings {notes} of a team, not accepted yet: `memlayer team accept`.")
        else:
            say("This project has no team. `memlayer team setup` begins one.")
        return
    authors = line(", ".join(state.authors), 300)
    withheld = f", {state.withheld} withheld: replaced or forgotten" if state.withheld else ""
    pairs("Team", [
        ("place", line(state.address)),
        ("your name", line(state.name)),
        ("by itself", "at a session's start and end" if state.is_automatic else "no: by `memlayer team sync` alone"),
        ("promoted", counted(state.promoted, "note") + withheld),
        ("colleagues", f"{counted(state.notes, 'note')} of {authors}" if authors else "no notes yet"),
        ("sent", when(state.push_ms) or "never"),
        ("taken in", when(state.pull_ms) or "never"),
        ("problem", f"{line(state.problem)} ({when(state.problem_ms)})" if state.problem else ""),
    ])  # fmt: skip
    _left_out(state.left_out)


@team_verb.command("leave")
@click.option("--keep", is_flag=True, help="Leave your notes at the place, such as one that is gone.")
@project_option
@json_option
def leave(keep: bool, project: str | None, as_json: bool) -> None:
    """Take your notes back, and colleagues' notes out of this home.

    Your memories stay. What git's history holds of your notes, it keeps.

    Example: memlayer team leave
    """
    done = ask(ops.TeamLeave(project_dir(project), keep), as_json, is_long=True)
    say(f"You have left the team at {line(done.address)}. Your own memories are all here.")


@team_verb.command("promote")
@click.argument("id_", metavar="ID", nargs=-1)
@click.option("--undo", is_flag=True, help="Take the note back from the team.")
@json_option
def promote_verb(id_: tuple[str, ...], undo: bool, as_json: bool) -> None:
    """Give notes of yours to the project's team.

    A note, decision, fact, cause or preference. Never a turn. `memlayer forget` and an edit travel as well.

    \b
    Examples:
      memlayer team promote a7Bc3x x9Yz2w
      memlayer team promote --undo a7Bc3x
    """
    if not id_:
        raise Incomplete("Give the ID of a note, as `memlayer list` shows it")
    done = []
    for wanted in memory_ids(id_):
        done.append(ask(ops.Promote(wanted, undo), is_long=True, quiet=as_json))
        if not as_json:
            say("Taken back: " if undo else "Promoted: ", *memory_title(done[-1].memory))
    if as_json:
        end_with_json(done[0] if len(done) == 1 else {"promoted": done})
    if done[-1].problem:
        say(("They wait: " if len(done) > 1 else "It waits: ", "yellow"), line(done[-1].problem))
    elif done[-1].address == "folder":
        say(("What changed is in .memlayer/team/; commit it as you commit code.", "dim"))


def _left_out(rows: list[ops.LeftOut]) -> None:
    for row in rows:
        say((f"{counted(row.notes, 'note')} left out: ", "yellow"), line(row.why))
