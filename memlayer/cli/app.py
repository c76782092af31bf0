"""The command `memlayer`, its verbs, imported as they are used."""

import importlib
import os
import sys
import textwrap
from difflib import get_close_matches

import click
from click.shell_completion import CompletionItem

from memlayer.cli.terminal.typist import BY_PERSON, guarded
from memlayer.edge.terminal.streams import wants_json

textwrap.TextWrapper.wordsep_re = textwrap.TextWrapper.wordsep_simple_re  # help never breaks `--keep-both` in two
SLASH_TEXTS = ("forget", "remember", "search")  # verbs of slash commands that take a text on standard input
SLASH_IDS = {"edit": 1, "merge": 2}  # a decision of review -> ids before its text, which keeps its lines
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
        "doctor": ("health", "Check everything; repair, index or shrink the store."),
    },
    "Find": {
        "list": ("browse", "List memories, newest first, with those for every project."),
        "sessions": ("overview", "List sessions, newest first, with turns and tokens."),
        "rules": ("curation.rules", "Show your rules in force, or keep them in a file."),
    },
    "Correct": {
        "edit": ("memories", "Change, pin or bring back a memory."),
        "review": ("curation.review", "Go through memories that are doubtful, stale or unused."),
    },
    "Work": {
        "task": ("project.tasks", "List, add, close, block or show tasks."),
        "project": ("project.choice", "List projects, or choose a folder's project."),
        "agent": ("agent", "Talk with a language model that has this memory."),
        "team": ("sharing.team", "Share promoted notes with colleagues, by git, folder or bucket."),
        "share": ("sharing.share", "Share memories between your machines, by folder, git or bucket."),
    },
    "Machinery": {
        "import": ("transfer", "Import earlier sessions, also of other agents, or an export."),
        "export": ("transfer", "Export everything to a file that `memlayer import` reads."),
        "stats": ("overview", "Show counts, disk use, search, model and daemon."),
        "config": ("settings", "Show a project's settings and the source of each value."),
        "daemon": ("health", "Stop, restart or show the process that owns the store."),
        "setup": ("installation", "Build memlayer's runtime, unless it is up to date."),
        "mcp": ("installation", "Serve memories over MCP, or register the server with a client."),
        "completion": ("installation", "Print the script that completes verbs in your shell."),
    },
    "": {"statusline": ("search", "Print Claude Code's status line: notes given, turns waiting, errors.")},
}
VERBS = {name: row for section in SECTIONS.values() for name, row in section.items()}
# Verbs of other programs, and options of another verb -> ours that do the same.
MEANT = {
    "add": "remember", "delete": "forget", "remove": "forget", "rm": "forget", "find": "search", "query": "search",
    "ls": "list", "status": "stats", "install": "setup", "settings": "config", "browse": "view", "why": "given",
    "todo": "task", "undo": "edit --restore", "log": "sessions", "chat": "agent", "check": "doctor", "backup": "export",
    "version": "--version", "history": "show --history", "recall": "search --as-prompt", "pin": "edit --pin",
    "store": "doctor", "--unpin": "edit --unpin", "--undo": "edit --restore",
    "--pin": "edit --pin", "--restore": "edit --restore", "--history": "show --history", "--cited": "list --cited",
    "--rules": "rules", "--error": "search --error", "--as-prompt": "search --as-prompt",
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
        verb = args[0]
        if verb not in ("slash", *VERBS) and verb[:1] != "-" and not ctx.resilient_parsing:
            near = [MEANT[verb]] if verb in MEANT else get_close_matches(verb, VERBS, n=1)
            ctx.fail(f"No such verb {verb[:40]!r}" + "".join(f". Did you mean `memlayer {name}`?" for name in near))
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "slash":
            return slash_verb
        if cmd_name not in VERBS:
            return None
        command = getattr(importlib.import_module(f"memlayer.cli.verbs.{VERBS[cmd_name][0]}"), f"{cmd_name}_verb")
        assert isinstance(command, click.Command)
        return guarded(command)

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
    try:
        os.chdir(typed.get("project_dir") or ".")  # the session's, wherever its shell has gone
    except OSError as bad:
        raise UserError(f"There is no folder {typed['project_dir']}") from bad
    root = ctx.find_root().command
    assert isinstance(root, click.Group)
    text = typed.get("text", "")
    if verb in SLASH_TEXTS:
        options, text = options_of(root.get_command(ctx, verb), text, is_any_place=verb != "remember")
        arguments = [verb, "-", *options, *(["--session", session_id] if verb == "remember" else [])]
        sys.stdin = io.TextIOWrapper(io.BytesIO(text.encode("utf-8", "replace")), encoding="utf-8")
    else:
        how, *rest = text.split(None, 1) or [""]
        ids = SLASH_IDS.get(how) if verb == "review" else None
        arguments = [*verb.split(), *([how, "--", *"".join(rest).strip().split(None, ids)] if ids else text.split())]
    if verb in SLASH_NEEDS and not text.strip():
        raise Incomplete(f"Give it behind the command: /memlayer:{command} {SLASH_NEEDS[verb]}")
    root.main(arguments, prog_name="memlayer", standalone_mode=False, obj=BY_PERSON)


def options_of(command: click.Command | None, text: str, *, is_any_place: bool) -> tuple[list[str], str]:
    """Part a typed text into a verb's options and the other words.

    is_any_place: a sentence to remember may end with an option's name, a search does not.
    """
    known = {
        name: option for option in (command.params if command else ()) if isinstance(option, click.Option)
        for name in (*option.opts, *option.secondary_opts) if option.name != "as_json"
    }  # fmt: skip
    given: list[str] = []
    rest: list[str] = []
    words = text.split()
    while words and words[0] != "--" and (is_any_place or not rest):
        option = known.get(words[0].partition("=")[0])
        has_value = option is not None and not option.is_flag and "=" not in words[0]
        taken = given if option else rest
        taken += words[: 1 + has_value]
        del words[: 1 + has_value]
    if is_any_place:
        return given, " ".join([*rest, *words]) if given else text
    return given, "".join(text.split(None, len(given))[len(given) :])
