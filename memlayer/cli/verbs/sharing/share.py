"""The verb share: one person's memories on several machines."""

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator

import click

from memlayer.cli.terminal.invocation import (
    Incomplete,
    agree,
    ask,
    client,
    home,
    json_option,
    restart_daemon,
    start_daemon,
    yes_option,
)
from memlayer.cli.terminal.output import line, pairs, print_json, say, short_path, table, when
from memlayer.edge.counting import counted, size
from memlayer.edge.home import paths
from memlayer.errors import MemlayerError
from memlayer.wire import sharing as ops

CONSENT = (
    "will carry your prompts, answers, notes, tasks and uses of memories, redacted, of every project, with what you "
    "forget. Not: vectors, settings, keys."
)


@click.group("share", invoke_without_command=True)
@click.pass_context
def share_verb(context: click.Context) -> None:
    """Share memories between your machines, by folder, git or bucket.

    Nothing leaves this machine before `memlayer share setup`. Afterwards it is sent and taken in by itself at a
    session's start and end, in the background. See docs/sharing.md. Without another word it shows the state.

    \b
    Examples:
      memlayer share setup git@git.example.com:me/memory.git
      memlayer share setup file:///home/me/Syncthing
      memlayer share key | ssh laptop memlayer share setup git@git.example.com:me/memory.git --key-stdin --yes
      memlayer share status
    """
    if context.invoked_subcommand is None:
        context.invoke(status)


@share_verb.command("setup")
@click.argument("url", metavar="URL", default="")
@click.option("--key-stdin", is_flag=True, help="Read the key of a share that is there from standard input.")
@click.option("--name", default="", help="The name of this machine; default: its host name.")
@click.option(
    "--encrypt/--plain",
    "encrypt",
    default=None,
    help="Default: encrypted. Whoever writes into a plain share writes your memory.",
)
@click.option("--by-hand", is_flag=True, help="Share only at `memlayer share sync`.")
@yes_option
@json_option
def setup(url: str, key_stdin: bool, name: str, encrypt: bool | None, by_hand: bool, yes: bool, as_json: bool) -> None:
    """Begin to share at URL, or join the share that is there.

    URL: file:///folder (Syncthing, a drive), a git remote (a private one), or s3://bucket/prefix.

    \b
    Examples:
      memlayer share setup s3://my-bucket/memory
      memlayer share setup file:///home/me/Syncthing
    """
    if not url.strip():
        raise Incomplete("Give an address: file:///folder, a git remote, or s3://bucket/prefix")
    url = os.path.abspath(os.path.expanduser(url)) if url.startswith(("/", "~", ".")) else url
    secret = sys.stdin.read(1000).strip() if key_stdin else ""
    if key_stdin and not secret:
        raise Incomplete("Standard input is empty. `memlayer share key` prints the key on another machine")
    client().ask(ops.ShareSetup(url, dry_run=True))  # nobody is asked about a refused place
    if not yes:
        told = f"{line(url)} {CONSENT}"
        agree(
            "Share?", would=f"{told} Add --yes", no="Nothing is shared", as_json=key_stdin or as_json,
            show=lambda: say(told),
        )  # fmt: skip
    encryption = "" if encrypt is None else "on" if encrypt else "off"
    with new_place(paths.share(home())):
        state = client().ask(ops.ShareSetup(url, secret, name, encryption, by_hand), deadline_s=300.0)
    if as_json:
        print_json(state)
        return
    say(f"Shared at {line(state.address)} as {line(state.name)}, {how_safe(state)}.")
    if state.is_encrypted:
        say("Carry the key to your other machines yourself: `memlayer share key`. Without it the share cannot be read.")
    if by_hand:
        say("`memlayer share sync` sends what is here, and takes in what is there.")


@contextlib.contextmanager
def new_place(folder: str) -> Iterator[None]:
    """Give the daemon a share's variables; leave nothing at a failure."""
    paths.make_folder(folder)  # with it a daemon is given them
    restart_daemon()
    with contextlib.ExitStack() as failing:
        failing.callback(_take_back, folder)
        yield
        failing.pop_all()


def _take_back(folder: str) -> None:
    with contextlib.suppress(MemlayerError):
        client().stop()
        if not {"share.json", "team.json"} & {name for _, _, names in os.walk(folder) for name in names}:
            shutil.rmtree(folder, ignore_errors=True)
        start_daemon()


def how_safe(state: ops.ShareState) -> str:
    """Return whether a share is encrypted, in words."""
    return "encrypted before it leaves" if state.is_encrypted else "not encrypted"


@share_verb.command("sync")
@json_option
def sync(as_json: bool) -> None:
    """Send all that is new, and take in your other machines' memories.

    It happens by itself at a session's start and end.

    Example: memlayer share sync
    """
    done = ask(ops.ShareSync(), as_json, is_long=True)
    sent, taken = done.pushed, done.pulled
    kinds = (("events", "event"), ("memories", "memory"), ("usages", "use"), ("tombstones", "tombstone"))
    told = ", ".join(counted(getattr(sent, name), noun) for name, noun in kinds)
    say(f"Sent: {told} ({size(sent.bytes)})." if sent.bytes else "Sent: nothing new.")
    if sent.erased:
        say(f"{counted(sent.erased, 'forgotten row')} left this machine's objects.")
    told = ", ".join(counted(getattr(taken, name), noun) for name, noun in kinds[:3])
    say(f"Taken in: {told} ({size(taken.bytes)}).")
    if taken.erased:
        say(f"Gone here, too: {counted(taken.erased, 'row')} that another machine forgot.")
    if taken.behind:
        say((f"{counted(taken.behind, 'commit')} could not be read: ", "yellow"), line(taken.behind_why))
    if taken.skipped_lines:
        say(f"{counted(taken.skipped_lines, 'line', 'wait')} for an update of memlayer: another machine's is newer.")


@share_verb.command("status")
@json_option
def status(as_json: bool) -> None:
    """Show rows not yet sent or taken in. Asks no server.

    Example: memlayer share status
    """
    state = ask(ops.ShareStatus(), as_json)
    if not state.address:
        say("Nothing is shared. `memlayer share setup URL` begins it.")
        return
    is_joining = state.is_automatic and state.has_key and not state.problem
    pairs("Share", [
        ("address", line(state.address)),
        ("this machine", f"{line(state.name)} ({state.machine[:6]})"),
        ("safety", how_safe(state) if state.has_key else "its key is not on this machine"),
        ("by itself", "at a session's start and end" if state.is_automatic else "no: by `memlayer share sync` alone"),
        ("to send", counted(state.to_send, "row")),
        ("sent", f"{when(state.push_ms) or 'never'}, {counted(state.objects, 'object')}, {size(state.bytes)}"),
        ("taken in", when(state.pull_ms) or ("not yet: it begins by itself" if is_joining else "never")),
        ("behind", f"{counted(state.behind, 'commit')}: {line(state.behind_why)}" if state.behind else ""),
        ("to erase", counted(state.to_erase, "forgotten row") if state.to_erase else ""),
        ("problem", f"{line(state.problem)} ({when(state.problem_ms)})" if state.problem else ""),
        ("new name", when(state.renamed_ms) and f"since {when(state.renamed_ms)}: restored or copied"),
    ])  # fmt: skip
    table(
        ("machine", "id", "commits", "last written"),
        [
            (
                line(row.name) + (" (earlier name)" if row.is_former else ""), row.machine[:6], str(row.commits),
                when(row.written_ms) + (" (its clock is ahead)" if row.is_ahead else ""),
            )
            for row in state.machines
        ],
    )  # fmt: skip


@share_verb.command("key")
@json_option
def key(as_json: bool) -> None:
    """Print the key, to be carried to another machine.

    Whoever has it and can reach the share reads all of it.

    Example: memlayer share key | ssh laptop memlayer share setup URL --key-stdin --yes
    """
    print(ask(ops.ReadShareKey(), as_json).key)


@share_verb.command("drop")
@click.argument("machine", metavar="MACHINE", default="")
@json_option
def drop(machine: str, as_json: bool) -> None:
    """Take over the log of a machine that is gone for good.

    Its rows are taken in and sent by this machine. Its objects are removed.

    Example: memlayer share drop old-laptop
    """
    if not machine.strip():
        raise Incomplete("Give a machine, as `memlayer share status` shows it")
    done = ask(ops.ShareDrop(machine.strip()), as_json, is_long=True)
    say(f"The log of {line(done.machine)} is this machine's now.")


@share_verb.command("rewrite")
@json_option
def rewrite(as_json: bool) -> None:
    """Send all that this machine wrote anew, and remove the old log.

    For git after a forget: a repository on this machine is cleared of old commits as well. A server keeps them until
    its own garbage collection.

    Example: memlayer share rewrite
    """
    done = ask(ops.ShareRewrite(), as_json, is_long=True)
    say(f"Sent anew: {counted(done.objects, 'object')} ({size(done.bytes)}); the old log is gone.")
    if not done.is_purged:
        say((
            "The server keeps earlier commits, encrypted as they are, until its own garbage collection. To be sure, "
            "delete that repository, and set the share up anew with another.", "yellow",
        ))  # fmt: skip


@share_verb.command("stop")
@click.option("--delete", is_flag=True, help="Remove what this machine sent from the share as well.")
@json_option
def stop(delete: bool, as_json: bool) -> None:
    """Stop sharing. Every memory stays here.

    What this machine sent stays in the share for the others, and its key in share.key of the home, so that the machine
    can join again. With --delete both go.

    Example: memlayer share stop
    """
    done = ask(ops.ShareStop(delete), as_json, is_long=True)
    say(f"Nothing is shared at {line(done.address)} any more. Every memory is still here.")
    if delete:
        say("All that this machine sent there is deleted, and the key is gone from this machine.")
        return
    say("All that this machine sent stays there: delete it by hand, or next time stop with `--delete`.")
    key = paths.former_key(home())
    if os.path.exists(key):
        say(f"The key stays in {short_path(key)}: `memlayer share setup URL` joins again with it.")
