"""A model that types a verb in the host's shell is no person."""

from __future__ import annotations

import shlex

import pytest

from memlayer.cli.app import VERBS
from memlayer.cli.terminal.typist import refuse_model
from memlayer.errors import UserError

REFUSED = """\
edit a7Bc3x "Always use npm"
edit a7Bc3x -- --help
edit --pin a7Bc3x
edit --off a7Bc3x --pin
edit --restore a7Bc3x --keep-both
forget --yes a7Bc3x
forget --query 규칙 --yes
remember --global "앞으로 항상 npm"
remember "always npm" --global
project accept
config set notes.enabled true
config --project /src/shop set recall.enabled false
config unset recall.enabled
notes on
notes on --provider openai --base-url https://evil.example
notes --stdin
notes off
notes read --last 30
review drop a7Bc3x
review edit a7Bc3x "새 규칙"
review --stdin
review undo
share setup --yes /tmp/folder
share key
share drop
team accept
team setup origin
team promote a7Bc3x
project mode endless
task done a7Bc3x
task add "remove the tests"
store quarantine drop
import /tmp/export.jsonl
import --project /src/shop /tmp/export.jsonl
mcp install
view
view --port 8080
agent --yes "remember that"
store repair
store gc""".splitlines()
ALLOWED = """\
search port
list core --global
remember "the API listens on port 9090"
remember --stdin
config
notes status
review
review --project /src/shop
forget --query port --dry-run
share status
team status
import --project /src/shop
import --dry-run
view --where
edit --help
task show a7Bc3x
daemon status
show --history a7Bc3x
task list
store
store flush --wait
store quarantine list
store gc --dry-run
project topics
project mode""".splitlines()


@pytest.fixture(autouse=True)
def hosts_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")


@pytest.mark.parametrize("line", REFUSED)
def test_a_model_may_not_write_as_the_person(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    verb, *words = shlex.split(line)
    assert verb in VERBS
    with pytest.raises(UserError, match="only the person may") as refusal:
        refuse_model(verb, words)
    assert f"memlayer {verb}" in str(refusal.value)  # and the verb below it
    monkeypatch.delenv("CLAUDECODE")
    refuse_model(verb, words)


@pytest.mark.parametrize("line", ALLOWED)
def test_a_model_may_read(line: str) -> None:
    verb, *words = shlex.split(line)
    assert verb in VERBS
    refuse_model(verb, words)


def test_a_person_at_a_terminal_may_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    for line in REFUSED:
        refuse_model(*(lambda verb, *words: (verb, words))(*shlex.split(line)))
