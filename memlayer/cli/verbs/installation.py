"""The verbs about this installation: setup, completion, mcp."""

import os
import sys
from typing import Any

import click

from memlayer.cli.host_setup import REGISTERED, set_up, take_out
from memlayer.cli.mcp_clients import CLIENTS, carry_out, client_of, entry_of, planned
from memlayer.cli.terminal.invocation import Incomplete, home, json_option
from memlayer.cli.terminal.output import print_json, say
from memlayer.edge.bootstrap import provision, runtime
from memlayer.edge.bootstrap.extras import checked
from memlayer.edge.bootstrap.runtime import plugin_root
from memlayer.edge.capture.hosts import Host
from memlayer.edge.terminal import launch
from memlayer.errors import UserError

client_option = click.option("--client", "name", type=click.Choice(list(CLIENTS)), required=True, help="The program.")


@click.command("setup")
@click.option(
    "--with",
    "extras",
    metavar="NAMES",
    help="Install SDKs of providers, now and with each later runtime: anthropic, openai; commas between.",
)
@click.option(
    "--host", type=click.Choice(list(REGISTERED)), help="Register memlayer with another host than Claude Code."
)
@click.option("--remove", is_flag=True, help="With --host: take memlayer out of its settings.")
@json_option
def setup_verb(extras: str | None, host: str | None, remove: bool, as_json: bool) -> None:
    """Build memlayer's runtime, unless it is up to date.

    Other verbs do so automatically. With --host: write memlayer's hooks and its server of tools into that program's
    settings. The rest of them stays, and the earlier text stands beside it.

    \b
    Examples:
      memlayer setup
      memlayer setup --with openai
      memlayer setup --host codex
      memlayer setup --host codex --remove
    """
    root = plugin_root()
    if host is not None:
        return set_up_host(REGISTERED[host], root, remove=remove, as_json=as_json)
    if remove:
        raise Incomplete("--remove goes with --host")
    if not os.path.exists(os.path.join(root, runtime.LOCK_FILE)):
        if extras is not None:
            names = ",".join(checked(extras))
            raise UserError(f"memlayer is installed as a package: install memlayer[{names}] in its place")
        provision.remember_python(home(), sys.executable)  # for the plugin's hooks
        built = {"runtime": sys.executable, "built": False, "seconds": 0.0}
        if as_json:
            print_json(built)
        else:
            say(f"Nothing to set up: memlayer is installed as a package, and runs on {sys.executable}")
        return
    sys.exit(launch.setup(root, [*(["--with", extras] if extras is not None else []), *["--json"] * as_json]))


def set_up_host(host: Host, root: str, *, remove: bool, as_json: bool) -> None:
    """Register memlayer with a host, or take it out."""
    try:
        changes = take_out(host) if remove else set_up(host, root)
    except OSError as bad:
        raise UserError(f"{host.title}'s settings are not changed: {bad.strerror}: {bad.filename}") from bad
    if as_json:
        print_json({"host": host.name, "removed": remove, "changed": sorted({change.path for change in changes})})
        return
    for path in sorted({change.path for change in changes}):
        say(f"{'Taken out of' if remove else 'Written to'} {path}")
    if not changes:
        say(f"Nothing to do: {host.title} {'has no memlayer' if remove else 'has memlayer already'}.")
    elif not remove:
        say(f"Now start `{host.name}`, type /hooks and trust memlayer's {len(host.hooks)} hooks: until then none runs.")
        say("`memlayer doctor` says whether they are trusted.")


@click.command("completion")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")), required=False)
@json_option
def completion_verb(shell: str | None, as_json: bool) -> None:
    """Print the script that completes verbs in your shell.

    Save it once where the shell looks for it. New verbs need no new script.

    \b
    Examples:
      memlayer completion bash > ~/.local/share/bash-completion/completions/memlayer
      memlayer completion zsh > ~/.zfunc/_memlayer    # ~/.zfunc must be in $fpath before compinit
      memlayer completion fish > ~/.config/fish/completions/memlayer.fish
    """
    if shell is None:
        raise Incomplete("Give a shell: bash, zsh or fish")
    from click.shell_completion import get_completion_class

    from memlayer.cli.app import cli

    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(cli, {}, "memlayer", launch.COMPLETION)
    source = script.source_template % script.source_vars()  # .source() would run bash to ask for its version
    print_json({"shell": shell, "script": source}) if as_json else print(source)


@click.group("mcp", invoke_without_command=True)
@click.option("--project", metavar="FOLDER", help="The project whose memories are meant; default: of this folder.")
@click.option("--all-projects", is_flag=True, help="Every project.")
@click.pass_context
def mcp_verb(context: click.Context, project: str | None, all_projects: bool) -> None:
    """Serve memories over MCP, or register the server with a client.

    The server uses standard input and output. The plugin registers it with Claude Code by itself.

    \b
    Examples:
      memlayer mcp install --client cursor
      memlayer mcp install --client claude-desktop --all-projects --dry-run
      memlayer mcp uninstall --client cursor
    """
    if context.invoked_subcommand is None:
        from memlayer.edge import mcp

        folder = ["--all-projects"] if all_projects else ["--project", project] if project else []
        sys.exit(mcp.main(plugin_root(), home(), folder))


@mcp_verb.command("install")
@client_option
@click.option("--project", metavar="FOLDER", help="Always this project's memories.")
@click.option("--all-projects", is_flag=True, help="Every project's memories.")
@click.option("--dry-run", is_flag=True, help="Show the file's new text and change nothing.")
@json_option
def install_verb(name: str, project: str | None, all_projects: bool, dry_run: bool, as_json: bool) -> None:
    """Register the server with a client.

    The client's other settings stay as they are.
    """
    if project and all_projects:
        raise Incomplete("Give --project or --all-projects, not both")
    folder = os.path.abspath(os.path.expanduser(project)) if project else ""
    if folder and not os.path.isdir(folder):
        raise UserError(f"There is no folder {folder}")
    entry = entry_of(client_of(name), plugin_root(), project=folder, all_projects=all_projects)
    _register(name, entry, dry_run=dry_run, as_json=as_json)


@mcp_verb.command("uninstall")
@client_option
@json_option
def uninstall_verb(name: str, as_json: bool) -> None:
    """Take the server out of a client's settings.

    A file that nobody changed since is as it was before.
    """
    _register(name, None, as_json=as_json)


def _register(name: str, entry: dict[str, Any] | None, *, dry_run: bool = False, as_json: bool) -> None:
    change = planned(client_of(name), entry)
    if change.is_needed and not dry_run:
        try:
            carry_out(change)
        except OSError as bad:
            raise UserError(f"{change.path} is not changed: {bad.strerror}") from bad
    if as_json:
        print_json({"client": name, "path": change.path, "changed": change.is_needed and not dry_run, "entry": entry})
    elif dry_run:
        say(f"{change.path} would be:")
        click.echo(change.text, nl=False)
    elif not change.is_needed:
        say(f"Nothing to do: {change.path} {'has it already' if entry else 'does not name memlayer'}.")
    else:
        done = "Registered in" if entry else "Taken out of"
        say(f"{done} {change.path}. Restart {name} to have it take effect.")
