"""Commands that print a secret: nothing of their output is kept, on any way in."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from memlayer.edge.capture.payload import read_payload
from memlayer.edge.capture.tool_use import EVERY_TOOL, tool_event, without_secret_output
from memlayer.edge.redaction.secret_commands import shows_secret
from memlayer.text.word_lists import rows
from memlayer.transcripts.lines import read_calls
from tests.support.tables import tables

COMMANDS = [(row[0] == "yes", row[1].replace("\\n", "\n")) for row in rows("tests.data", "secret_commands.tsv")]
VALUE = "tide7Walnutkiln"  # no pattern knows it


def test_commands_that_show_a_secret_are_told_apart() -> None:
    assert sum(shows for shows, _ in COMMANDS) >= 150
    assert sum(not shows for shows, _ in COMMANDS) >= 150
    assert [command for shows, command in COMMANDS if shows_secret(command) is not shows] == []


@pytest.mark.parametrize("failed", [False, True])
def test_output_is_kept_of_the_others_alone(failed: bool) -> None:
    for shows, command in COMMANDS:
        data: dict[object, object] = {"tool_name": "Bash", "tool_input": {"command": command}, "duration_ms": 84}
        data |= {"error": "Exit code 1\n" + VALUE} if failed else {"tool_response": {"stdout": VALUE}}
        text, _ = tool_event(data, failed, EVERY_TOOL)
        assert (VALUE in text) is not shows, command
        assert text.startswith("Bash") and text.endswith("took 84 ms"), command


@pytest.mark.parametrize(("tool", "given", "shows"), tables("edge/secret_commands")["answers_of_other_tools"])
def test_answers_of_other_tools(tool: str, given: dict[str, Any], shows: bool) -> None:
    text, _ = tool_event({"tool_name": tool, "tool_input": given, "tool_response": VALUE}, False, EVERY_TOOL)
    assert (VALUE in text) is not shows


def test_a_command_of_the_person_keeps_no_output() -> None:
    for prompt in (
        "<bash-input>printenv DB_PASSWORD</bash-input><bash-stdout>%s</bash-stdout>" % VALUE,
        "<bash-stdout>%s</bash-stdout><bash-stderr></bash-stderr>" % VALUE,
    ):
        raw = json.dumps({"session_id": "s", "prompt_id": "p", "prompt": prompt}).encode()
        event = read_payload("user_prompt_submit", raw, project_dir="/p", at_ms=1).event
        assert event is not None and VALUE not in str(event["text"])


def test_a_transcript_read_again_gives_no_output(tmp_path: Path) -> None:
    def lines(number: int, command: str) -> list[dict[str, Any]]:
        use = {"type": "tool_use", "id": "t%d" % number, "name": "Bash", "input": {"command": command}}
        result = {"type": "tool_result", "tool_use_id": use["id"], "is_error": True, "content": "Exit code 1\n" + VALUE}
        return [
            {"type": "assistant", "message": {"content": [use]}},
            {"type": "user", "message": {"content": [result]}},
        ]

    path = tmp_path / "t.jsonl"
    chosen = [COMMANDS[0], COMMANDS[-1]]
    records = [line for number, (_, command) in enumerate(chosen) for line in lines(number, command)]
    path.write_text("".join(json.dumps(line) + "\n" for line in records), "utf-8")
    assert [(call.is_failed, VALUE in call.said) for call in read_calls(str(path))] == [(True, False), (True, True)]


def test_an_import_keeps_no_output() -> None:
    assert without_secret_output("Bash: cd x ⏎ op read op://a/b/c\n%s\ntook 84 ms" % VALUE) == (
        "Bash: cd x ⏎ op read op://a/b/c\ntook 84 ms"
    )
    assert without_secret_output("Bash failed: printenv API_KEY\n" + VALUE) == "Bash failed: printenv API_KEY"
    for text in ("Bash: make\n" + VALUE, "Edit: /srv/.env\n+ " + VALUE, "Bash: op read op://a/b/c"):
        assert without_secret_output(text) == text


def test_long_commands_take_no_longer() -> None:
    for piece in (
        "git -",
        "a=$(",
        "cat x/",
        "'\"",
        "| wc ",
        "secret/",
        "kubectl get secret ",
        ";op read x ",
        "\\",
        "비밀번호 ",
    ):
        command = (piece * 20_000)[:19_900]
        started = time.process_time()
        shows_secret(command)
        assert time.process_time() - started < 2, piece
    assert shows_secret("# " + "x" * 30_000)
