"""The command `memlayer`, its verbs, imported as they are used."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from difflib import get_close_matches

import click
from click.shell_completion import CompletionItem

from memlayer.cli.terminal.typist import BY_PERSON, guarded
from memlayer.edge.terminal.streams import wants_json

SLASH_WITH_PROJECT = ("forget", "list", "remember", "review", "search", "task list", "team", "view")
# A slash command's verb -> an example of the words that it needs.
SLASH_NEEDS = {
    "search": "WORDS",
    "remember": "TEXT",
    "forget": "WORDS, then its ids",
    "show": "ID",
    "show --history": "ID",
}
# Heading of the help -> verb -> module in memlayer.cli.verbs, and first line: the help imports no verb.
SECTIONS = {
    "In the first week": {
        "search": ("search", "Search memories of earlier sessions."),
        "show": ("browse", "Show memories, their sources and the turns around them."),
        "given": ("search", "Show the notes that the last prompts were given, and why."),
        "remember": ("memories", "Remember TEXT as a core memory at once."),
        "forget": ("forget", "Forget memories for good."),
        "notes": ("curation.notes", "Have a language model read finished sessions and write notes."),
        "view": ("project.view", "Open the memory in a browser: see, search, correct and forget."),
        "doctor": ("health", "Check everything."),
    },
    "Find": {
        "list": ("browse", "List memories, newest first, with those for every project."),
        "rules": ("browse", "Print your rules in force, as lines for CLAUDE.md."),
        "sessions": ("overview", "List sessions, newest first, with turns and tokens."),
    },
    "Correct": {
        "edit": ("memories", "Change, pin or bring back a memory."),
        "review": ("curation.review", "Go through memories that are doubtful, stale or unused."),
    },
    "Work": {
        "task": ("project.tasks", "List, add, close, block or show tasks."),
        "project": ("project.choice", "List projects, show topics, or choose a folder's project."),
        "agent": ("agent", "Talk with a language model that has this memory."),
        "team": ("sharing.team", "Share promoted notes with colleagues, by git, folder or bucket."),
        "share": ("sharing.share", "Share memories between your machines, by folder, git or bucket."),
    },
    "Machinery": {
        "import": ("transfer", "Import the host's earlier sessions, or an export."),
        "export": ("transfer", "Export everything to a file that `memlayer import` reads."),
        "stats": ("overview", "Show counts, disk use, search, model and daemon."),
        "store": ("maintenance", "Flush, index, repair or shrink the store."),
        "config": ("settings", "Show a project's settings and the source of each value."),
        "daemon": ("health", "Start, stop or show the background process that owns the store."),
        "setup": ("installation", "Build memlayer's runtime, unless it is up to date."),
        "mcp": ("installation", "Serve memories over MCP, or register the server with a client."),
        "completion": ("installation", "Print the script that completes verbs in your shell."),
    },
    "": {"statusline": ("search", "Print Claude Code's status line: notes given, turns waiting, errors.")},
}
VERBS = {name: row for section in SECTIONS.values() for name, row in section.items()}
# Verbs with an option that makes another command of them -> its module and name there.
FORMS = {
    "search --as-prompt": ("search", "recall_verb"),
    "show --around": ("browse", "timeline_verb"),
    "show --history": ("memories", "history_verb"),
    "show --file": ("project.past_work", "blame_verb"),
    "search --error": ("project.past_work", "fix_verb"),
    "edit --pin": ("memories", "pin_verb"),
    "edit --restore": ("memories", "restore_verb"),
    "list --cited": ("browse", "citations_verb"),
    "stats --files": ("maintenance", "files_verb"),
}
FORM = "form"  # the parameter by which such a command takes that option
# Verbs of other programs -> ours that do the same.
MEANT = {
    "add": "remember", "delete": "forget", "remove": "forget", "rm": "forget", "find": "search", "query": "search",
    "ls": "list", "status": "stats", "install": "setup", "settings": "config", "browse": "view", "why": "given",
    "todo": "task", "undo": "edit --restore", "log": "sessions", "chat": "agent", "check": "doctor", "backup": "export",
    "version": "--version", "history": "show --history", "recall": "search --as-prompt", "pin": "edit --pin",
}  # fmt: skip


class Verbs(click.Group):
    """A group of the commands in VERBS, and the hidden `slash`.

    Every verb passes `get_command`, and is guarded there: a model in an agent's shell is no person.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Answer `help` and --version."""
        args = [*args[1:], "--help"] if args[:1] == ["help"] else args
        if args[:1] == ["--version"] and not ctx.resilient_parsing:
            from memlayer.cli.doctor import bare

            bare.version(wants_json(args))
            ctx.exit()
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        verb, *rest = args
        if verb not in ("slash", *VERBS) and verb[:1] != "-" and not ctx.resilient_parsing:
            near = [MEANT[verb]] if verb in MEANT else get_close_matches(verb, VERBS, n=1)
            ctx.fail(f"No such verb {verb[:40]!r}" + "".join(f". Did you mean `memlayer {name}`?" for name in near))
        return super().resolve_command(ctx, [self._form(ctx, verb, rest), *rest])

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "slash":
            return slash_verb
        row = FORMS.get(cmd_name) or ((VERBS[cmd_name][0], f"{cmd_name}_verb") if cmd_name in VERBS else None)
        if row is None:
            return None
        command = getattr(importlib.import_module(f"memlayer.cli.verbs.{row[0]}"), row[1])
        assert isinstance(command, click.Command)
        if cmd_name in FORMS and FORM not in [option.name for option in command.params]:
            declared = [FORM, cmd_name.split()[1]]
            command.params.append(click.Option(declared, is_flag=True, expose_value=False, hidden=True))
        return guarded(command)

    def _form(self, ctx: click.Context, verb: str, rest: list[str]) -> str:
        """Return the verb, or its form if click finds that option."""
        options = {form.split()[1]: form for form in FORMS if form.split()[0] == verb}
        command = self.get_command(ctx, verb)
        if command is None or not options.keys() & set(rest):
            return verb
        parser = command.make_parser(ctx)
        parser.ignore_unknown_options = parser.allow_interspersed_args = True  # those of the form are not known here
        with contextlib.suppress(click.UsageError):  # the verb says what is wrong
            given = parser.parse_args(list(rest))[0]
            names = (options.get(option.opts[0]) for option in command.params if option.name in given)
            return next(filter(None, names), verb)
        return verb

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one screen: the verbs by their headings."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        formatter.write("\n")
        width = max(map(len, VERBS))
        for heading, verbs in SECTIONS.items():
            formatter.write(f"{heading}:\n" if heading else "")
            for name, (_, summary) in verbs.items() if heading else ():
                short = click.Command(name, help=summary).get_short_help_str(formatter.width - 4 - width)
                formatter.write(f"  {name:<{width}}  {short}\n")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete verbs from their summaries, and the options."""
        verbs = [CompletionItem(name, help=line) for name, (_, line) in VERBS.items() if name.startswith(incomplete)]
        return verbs + click.Command.shell_complete(self, ctx, incomplete)


@click.command(
    cls=Verbs,
    options_metavar="[--version]",
    subcommand_metavar="VERB [--help] [--json] ...",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--version", is_flag=True, expose_value=False, help="The versions of memlayer and its Python.")
def cli() -> None:
    """Search, correct and erase the long-term memory of Claude Code."""


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

    from memlayer.cli.terminal.invocation import Incomplete, home
    from memlayer.cli.terminal.output import in_shell
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
        raise UserError(f"the arguments did not arrive, and nothing was done: {why}. In a terminal: {in_shell(verb)}")
    if typed.get("problem"):
        raise UserError(f"that is too long, and nothing was done: {typed['problem']}; {MAX_TYPED_CHARS} at most")
    if verb in SLASH_NEEDS and not typed.get("text", "").strip():
        raise Incomplete(f"Give it behind the command: /memlayer:{command} {SLASH_NEEDS[verb]}")
    arguments = verb.split() + (["--stdin"] if verb != "view" else [])
    if verb in SLASH_WITH_PROJECT and typed.get("project_dir"):
        arguments += ["--project", typed["project_dir"]]
    if verb == "remember":
        arguments += ["--session", session_id]
    text = typed.get("text", "").encode("utf-8", "replace")
    sys.stdin = io.TextIOWrapper(io.BytesIO(text), encoding="utf-8")
    root = ctx.find_root().command
    assert isinstance(root, click.Group)
    root.main(arguments, prog_name="memlayer", standalone_mode=False, obj=BY_PERSON)
