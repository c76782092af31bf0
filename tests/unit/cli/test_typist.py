"""A model that types a verb in an agent's shell is no person."""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from memlayer.cli.app import cli as program
from memlayer.edge.home.agents import EVERYWHERE, IN_SHELLS, mark_in
from memlayer.errors import UserError
from tests.support.tables import tables

TABLES = tables("cli/typist")

REFUSED = TABLES["refused"]
# Each gets by who reads options in its own way: values that look like options, `--`, `=`, flags of another verb.
ATTACKS = TABLES["attacks"]
ALLOWED = TABLES["allowed"]
MARKS = (*IN_SHELLS, *EVERYWHERE)


@pytest.fixture(autouse=True)
def hosts_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")


def call(line: str) -> str:
    """Have click read a command line, and run nothing in its verb's place."""
    words = shlex.split(line)
    context = program.make_context("memlayer", words)
    while isinstance(context.command, click.Group) and (words := [*context._protected_args, *context.args]):
        name, command, rest = context.command.resolve_command(context, words)
        assert command is not None
        context.invoked_subcommand = name
        context = command.make_context(name, rest, parent=context)
    return str(context.invoke(lambda: "done"))


@pytest.mark.parametrize("line", [*REFUSED, *ATTACKS])
def test_a_model_may_not_do_what_is_the_persons(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="only the person may") as refusal:
        call(line)
    assert "CLAUDECODE" in str(refusal.value) and "bin/memlayer " in str(refusal.value)
    monkeypatch.delenv("CLAUDECODE")
    assert call(line) == "done"


@pytest.mark.parametrize("line", ALLOWED)
def test_a_model_may_read(line: str) -> None:
    assert call(line) == "done"


@pytest.mark.parametrize("line", ["edit --help", "share setup -h", "forget a7Bc3x --yes --help", "help export"])
def test_help_runs_nothing(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(click.exceptions.Exit):
        call(line)
    assert "Usage: memlayer " in capsys.readouterr().out


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("value", ["1", "", "0"])
def test_every_agents_shell_is_a_models(mark: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLAUDECODE")
    assert mark_in(os.environ) == "" and call("edit a7Bc3x 새글") == "done"
    monkeypatch.setenv(mark, value)
    with pytest.raises(UserError, match=f"only the person may .*{mark}"):
        call("edit a7Bc3x 새글")


def test_a_terminal_makes_no_person_of_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)  # Gemini and Cursor give their models one
    with pytest.raises(UserError, match="only the person may"):
        call("forget --yes a7Bc3x")


@pytest.mark.parametrize("name", ["MEMLAYER_FORGET_DRY_RUN", "MEMLAYER_DRY_RUN", "FORGET_DRY_RUN"])
def test_no_variable_stands_for_an_option(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "1")
    with pytest.raises(UserError, match="only the person may"):
        call("forget --yes a7Bc3x")


@pytest.mark.parametrize("line", ["edit a7Bc3x --headlin 새글", "forget a7 --dry", "export -f x", "forget -y --que x"])
def test_click_knows_no_abbreviations(line: str) -> None:
    with pytest.raises(click.UsageError):
        call(line)


def test_every_verb_passes_the_guard(project: Path) -> None:
    assert [name for name, command in verbs(program) if command.context_class is click.Context] == []


def test_each_verb_is_a_models_or_the_persons(project: Path) -> None:
    """A new one is refused to every model until `_OPEN` names it, and stands in a list of the table either way."""
    lines = [line + " " for line in (*REFUSED, *ALLOWED)]
    undecided = [name for name, _ in verbs(program) if not any(line.startswith(name + " ") for line in lines)]
    assert undecided == []


def verbs(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield each verb below a group with its name; a group that is a verb by itself as well."""
    with click.Context(group) as context:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            if not isinstance(command, click.Group) or command.invoke_without_command:
                yield before + name, command
            if isinstance(command, click.Group):
                yield from verbs(command, before + name + " ")
