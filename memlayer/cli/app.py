"""The command `memlayer`, its verbs and its slash commands.

Each verb is imported only when it is used.
"""

from __future__ import annotations

import importlib
import os
import sys

import click
from click.shell_completion import CompletionItem

from memlayer import __version__
from memlayer.cli.terminal.typist import BY_PERSON, refuse_model

SLASH_WITH_PROJECT = ("forget", "list", "remember", "review", "search", "tasks")


# Module in memlayer.cli.verbs, and the first line of the help: in the order of the help, which imports no verb.
VERBS = {
    "search": ("search", "Search memories of earlier sessions."),
    "recall": ("search", "Print the block that the hook would add to a prompt."),
    "given": ("search", "Show the notes that the last prompts were given, and why."),
    "blame": ("project.past_work", "Show a file's notes, failed attempts on it, and its sessions."),
    "fix": ("project.past_work", "Show what worked after this error in earlier sessions."),
    "statusline": ("search", "Print Claude Code's status line: notes given, turns waiting, errors."),
    "show": ("browse", "Show memories with their source events and the turns around them."),
    "list": ("browse", "List memories, newest first, with those for every project."),
    "timeline": ("browse", "Show the turns around memories, or of a session, a line each."),
    "citations": ("browse", "List the memories that answers cited, the newest citation first."),
    "sessions": ("overview", "List sessions, newest first: turns, tokens in the context, compactions, flushes."),
    "remember": ("memories", "Remember TEXT as a core memory at once."),
    "history": ("memories", "Show every version of a memory, the current one first."),
    "edit": ("memories", "Change the text, headline or subject of a memory."),
    "pin": ("memories", "Pin a memory: it ranks first, and only an edit changes it."),
    "restore": ("memories", "Bring a replaced memory back."),
    "review": ("curation.review", "Go through memories that are doubtful, contradict, are stale or never used."),
    "notes": ("notes", "Have a language model read finished sessions and write notes."),
    "topics": ("project.topics", "Show a month's work as topics of sessions that share words."),
    "mode": ("project.topics", "Show or choose the mode: session, or endless."),
    "tasks": ("project.tasks", "List this project's open tasks, with the things that each waits for."),
    "task": ("project.tasks", "Add, close, block or show a task."),
    "project": ("project.choice", "List projects, and choose the one that a folder belongs to."),
    "agent": ("agent", "Talk with a language model that has this memory."),
    "view": ("project.view", "Open the memory in a browser: see, search, correct and forget."),
    "stats": ("overview", "Show counts, disk use, index, model, daemon and hook timings."),
    "files": ("maintenance", "Show the paths of a project's memory files."),
    "flush": ("maintenance", "Store the events that wait on disk, and consolidate and index them."),
    "reindex": ("maintenance", "Rebuild the search index from events and memories."),
    "repair": ("maintenance", "Repair a damaged store as far as its contents can be recovered."),
    "quarantine": ("maintenance", "Show, retry or remove events that could not be read."),
    "forget": ("forget", "Forget memories for good."),
    "gc": ("maintenance", "Remove everything older than the retention settings allow."),
    "import": ("transfer", "Import earlier sessions from the host's transcripts, or an export."),
    "export": ("transfer", "Export everything to a file of JSON Lines that `memlayer import` reads."),
    "promote": ("sharing.team", "Give a note of yours to the project's team."),
    "team": ("sharing.team", "Share promoted notes with colleagues, by git, folder or bucket."),
    "share": ("sharing.share", "Share memories between your machines, by folder, git or bucket."),
    "daemon": ("health", "Start, stop or show the background process that owns the store."),
    "doctor": ("health", "Check everything."),
    "config": ("settings", "Show a project's settings and the source of each value."),
    "setup": ("installation", "Build memlayer's runtime, unless it is up to date."),
    "mcp": ("installation", "Serve memories over MCP, or register the server with a client."),
    "completion": ("installation", "Print the script that completes verbs, options and settings in your shell."),
    "version": ("installation", "Show the versions of memlayer, its protocol and its Python."),
}


class Verbs(click.Group):
    """A group of the commands in VERBS, and the hidden `slash`.

    Every call of a verb passes `resolve_command`: a model in the host's shell is no person.
    """

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        if name and name != "slash" and ctx.obj is not BY_PERSON:
            refuse_model(name, rest)
        return name, command, rest

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "slash":
            return slash_verb
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"memlayer.cli.verbs.{VERBS[cmd_name][0]}")
        command = getattr(module, f"{cmd_name}_verb")
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of verbs from their summaries."""
        limit = formatter.width - 6 - max(map(len, VERBS))
        stubs = [click.Command(name, help=summary) for name, (_, summary) in VERBS.items()]
        with formatter.section("Commands"):
            formatter.write_dl([(str(stub.name), stub.get_short_help_str(limit)) for stub in stubs])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete verbs from their summaries, and the options."""
        verbs = [CompletionItem(name, help=line) for name, (_, line) in VERBS.items() if name.startswith(incomplete)]
        return verbs + click.Command.shell_complete(self, ctx, incomplete)


@click.command(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="memlayer %(version)s")
def cli() -> None:
    """Search, correct and erase the long-term memory of Claude Code.

    Everything stays on this machine, in ~/.memlayer (MEMLAYER_HOME overrides). Every verb has --json.

    \b
    Examples:
      memlayer search "order events clickhouse"
      memlayer recall "어느 DB에 저장하기로 했지?" --explain
      memlayer show x9Yz2w
      memlayer doctor
    """


@click.command("slash", hidden=True)
@click.argument("command")
@click.argument("session_id", metavar="SESSION")
@click.pass_context
def slash_verb(ctx: click.Context, command: str, session_id: str) -> None:
    """Run slash command COMMAND with the arguments typed in this session.

    For the files in commands/. The arguments come from the UserPromptExpansion hook: a shell line would change some
    characters. Raises UserError.
    """
    import io

    from memlayer.cli.terminal.invocation import home
    from memlayer.edge.capture.spool import MAX_TYPED_CHARS, VERB_OF, take_typed
    from memlayer.edge.home.project_env import is_disabled
    from memlayer.errors import UserError

    if command not in VERB_OF:
        raise click.BadParameter(f"{command!r} is not one of {', '.join(sorted(VERB_OF))}")
    verb = VERB_OF[command]
    typed = take_typed(home(), session_id, command)
    if typed is None:
        why = (
            "MEMLAYER_DISABLE=1 switches memlayer's hooks off"
            if is_disabled(os.environ.get("MEMLAYER_DISABLE"))
            else "are hooks switched off? See `memlayer doctor`"
        )
        raise UserError(f"the arguments did not arrive, and nothing was done: {why}. In a terminal: memlayer {verb}")
    if typed.get("problem"):
        raise UserError(f"that is too long, and nothing was done: {typed['problem']}; {MAX_TYPED_CHARS} at most")
    arguments = [verb, "--stdin"]
    if verb in SLASH_WITH_PROJECT and typed.get("project_dir"):
        arguments += ["--project", typed["project_dir"]]
    if verb == "remember":
        arguments += ["--session", session_id]
    text = typed.get("text", "").encode("utf-8", "replace")
    sys.stdin = io.TextIOWrapper(io.BytesIO(text), encoding="utf-8")
    root = ctx.find_root().command
    assert isinstance(root, click.Group)
    root.main(arguments, prog_name="memlayer", standalone_mode=False, obj=BY_PERSON)
