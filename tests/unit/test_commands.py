"""The slash commands: each runs one verb that exists, and what the user typed is words to it, whatever they are."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import click
import pytest

from memlayer.cli.app import cli
from memlayer.core.payload import OWN_COMMAND, prompt_detail

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = sorted((ROOT / "commands").glob("*.md"))
SHELL = re.compile(r"^```!\n(.*?)^```", re.MULTILINE | re.DOTALL)
ENDS = "MEMLAYER_${CLAUDE_SESSION_ID}"
HEREDOC = re.compile(r"<<'%s'\n\$ARGUMENTS\n%s\n" % (re.escape(ENDS), re.escape(ENDS)))


def parts(path: Path) -> tuple[dict[str, str], str]:
    """(front matter, body)."""
    _, head, body = path.read_text(encoding="utf-8").split("---\n", 2)
    return dict(line.split(": ", 1) for line in head.splitlines()), body


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_a_command_says_what_it_may_run_and_is_left_to_the_user(path: Path) -> None:
    head, body = parts(path)
    assert head["name"] == path.stem and len(head["description"]) > 20
    assert head["disable-model-invocation"] == "true"
    verb = re.fullmatch(
        r'Bash\("\$\{CLAUDE_PLUGIN_ROOT\}/bin/memlayer" ([a-z]+)(?: --stdin)?:\*\)', head["allowed-tools"]
    )
    assert verb is not None
    ran = re.findall(r'^"\$\{CLAUDE_PLUGIN_ROOT\}/bin/memlayer" ([a-z]+)([^<\n]*)', body, re.MULTILINE)
    assert ran and {name for name, _ in ran} == {verb.group(1)}
    command = cli.get_command(click.Context(cli), verb.group(1))
    assert command is not None
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for _, words in ran for word in words.split() if word.startswith("--")} <= known
    assert prompt_detail("/%s 무엇" % path.stem) == prompt_detail("/memlayer:%s 무엇" % path.stem) == OWN_COMMAND


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_what_the_user_typed_stands_only_in_a_quoted_heredoc(path: Path) -> None:
    _, body = parts(path)
    blocks = SHELL.findall(body)
    assert blocks and all(block.endswith("\ntrue\n") for block in blocks)  # a problem is told, not raised
    for block in blocks:
        assert block.count("$ARGUMENTS") == len(HEREDOC.findall(block))


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
@pytest.mark.parametrize("typed", ["'; touch owned; '", "$(touch owned) `touch owned`", '"${HOME}" \\ 한글', "--help"])
def test_a_shell_hands_the_words_on_as_they_are(path: Path, typed: str, tmp_path: Path) -> None:
    _, body = parts(path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "memlayer").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\ncat\n')
    (tmp_path / "bin" / "memlayer").chmod(0o700)
    for block in SHELL.findall(body):
        # As the host does it: variables of the plugin and the arguments are put in as text.
        script = block.replace("${CLAUDE_PLUGIN_ROOT}", str(tmp_path)).replace("${CLAUDE_SESSION_ID}", "0f-1")
        script = script.replace("${CLAUDE_PROJECT_DIR}", "/p").replace("$ARGUMENTS", typed)
        done = subprocess.run(
            ["sh", "-c", script], capture_output=True, text=True, cwd=tmp_path, stdin=subprocess.DEVNULL, timeout=20
        )
        assert (done.returncode, done.stderr) == (0, "")
        if "$ARGUMENTS" in block:
            assert done.stdout.endswith(typed + "\n")
    assert not (tmp_path / "owned").exists()
