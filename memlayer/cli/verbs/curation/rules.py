"""The verb `rules`: rules as lines, and in a block of files."""

import difflib
import os
import re
import stat

import click

from memlayer.cli.terminal.invocation import (
    Incomplete,
    agree,
    ask,
    end_with_json,
    json_option,
    project_dir,
    project_option,
)
from memlayer.cli.terminal.output import line, say
from memlayer.edge.home import paths
from memlayer.edge.home.project import locate
from memlayer.errors import UserError
from memlayer.wire import memories as ops

MAX_RULES = 600
FILES = ("AGENTS.md", "CLAUDE.md")
MAX_BYTES = 4 << 20
BEGIN, END = (
    "<!-- memlayer rules: `memlayer rules --to %s` writes these lines anew -->",
    "<!-- end of memlayer rules -->",
)
_BLOCK = re.compile(r"(?ms)^<!-- memlayer rules: .*?^" + re.escape(END) + r"(?:\n|\Z)")
_MARK = re.compile(r"(?m)^<!-- (?:memlayer rules: |end of memlayer rules)")


@click.command("rules")
@project_option
@click.option("--to", "name", type=click.Choice(FILES), help="Keep them in a marked block of this file of the project.")
@click.option("--remove", is_flag=True, help="Take the block out of the file again.")
@click.option("--yes", is_flag=True, help="Write without asking.")
@json_option
def rules_verb(project: str | None, name: str | None, remove: bool, yes: bool, as_json: bool) -> None:
    """Show your rules in force, or keep them in a file.

    Of this project and of every project, as lines of Markdown: pinned ones first, then the proven, then the newest.
    With --to they stand in a marked block of AGENTS.md or CLAUDE.md, which other agents read too. The difference is
    shown first. The rest of the file stays as it is.

    \b
    Examples:
      memlayer rules
      memlayer rules --to AGENTS.md
      memlayer rules --to AGENTS.md --remove
    """
    if (remove or yes) and not name:
        raise Incomplete("Name the file with --to")
    folder = project_dir(project)
    found = [] if remove else ask(ops.List(folder, limit=MAX_RULES, rules=True), as_json and not name).memories
    if name:
        keep_in(os.path.join(locate(folder).root, name), [line(rule.text) for rule in found], remove, yes, as_json)
        return
    for rule in found:
        click.echo(f"- {line(rule.text)}")
    if not found:
        say("No rule of yours is in force here. `memlayer remember` takes one.", to_stderr=True)


def keep_in(path: str, rules: list[str], remove: bool, yes: bool, as_json: bool) -> None:
    """Bring a file's block up to date. Raises UserError."""
    path = os.path.realpath(path)
    before = read(path)
    if not rules and not remove and not _BLOCK.search(before):
        raise UserError("No rule of yours is in force here. `memlayer remember` takes one")
    after = changed(before, "" if remove else block(os.path.basename(path), rules))
    rows = list(difflib.unified_diff(before.splitlines(), after.splitlines(), path, path + " (new)", lineterm="", n=1))
    if rows and not yes:
        agree(
            f"Write {line(path)}?",
            would="Nothing is written: add --yes to agree",
            no="Nothing is written",
            as_json=as_json,
            show=lambda: click.echo("\n".join(map(line, rows))),
        )
    if rows:
        write(path, after)
    if as_json:
        end_with_json({"path": path, "rules": len(rules), "changed": bool(rows)})
    say(f"{'Nothing to change in' if not rows else 'Written to' if after.strip() else 'Removed empty'} {line(path)}.")


def block(name: str, rules: list[str]) -> str:
    """Return the lines of a block, with its marks."""
    kept = [f"- {rule.replace('<!--', '').replace('-->', '')}" for rule in rules]
    return "\n".join([BEGIN % name, *kept, END]) + "\n"


def changed(text: str, made: str) -> str:
    """Return a file's text with another block, "" for none. Raises UserError."""
    found = _BLOCK.search(text)
    left = text[: found.start()] + text[found.end() :] if found else text
    if _MARK.search(left):
        raise UserError("The file's marks of memlayer's rules are damaged. Take them out by hand, then try again")
    if found:
        before = text[: found.start()]
        before = before if made else before.removesuffix("\n") if before.endswith("\n\n") else before
        return before + made + text[found.end() :]
    gap = "" if not text or not made else "\n" if text.endswith("\n") else "\n\n"
    return text + gap + made


def read(path: str) -> str:
    """Return a file's text, "" where there is none. Raises UserError."""
    if not os.path.lexists(path):
        return ""
    try:
        with paths.open_regular(path, max_bytes=MAX_BYTES) as file:
            text = file.read().decode("utf-8")
    except (OSError, UnicodeDecodeError) as bad:
        raise UserError(f"{path} cannot be read: {getattr(bad, 'strerror', None) or 'it is no UTF-8'}") from bad
    return text


def write(path: str, text: str) -> None:
    """Write a file whole, remove an empty one. Raises OSError."""
    if not text.strip():
        os.unlink(path)
        return
    mode = stat.S_IMODE(os.stat(path).st_mode) if os.path.exists(path) else 0o644
    paths.write_whole(path, text.encode("utf-8"))
    os.chmod(path, mode)
