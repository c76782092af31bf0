"""Importing recorded transcripts beside hooked events: each turn once, no generated text."""

import json
from pathlib import Path

import pytest

from memlayer.edge.capture.payload import read_payload
from memlayer.ports import MemoryQuery
from tests.support.past import Past
from tests.support.transcripts import LONG_AGO_S, RECORDED, VERSIONS, recorded, write


@pytest.fixture
def past(home: Path) -> Past:
    home.mkdir()
    return Past(home)


def play(past: Past, version: str, sessions: set[str]) -> None:
    """Return the hooked events of these sessions, as recorded."""
    names = {"SessionStart": "session_start", "UserPromptSubmit": "user_prompt_submit", "Stop": "stop"}
    began_ms = {"2.1.197": 1_795_260_813_500, "2.1.330": 1_795_260_823_200}[version]
    for number, line in enumerate((RECORDED / ("hook_stdin_%s.jsonl" % version)).read_text().splitlines()):
        said = json.loads(line)
        if said["session_id"] in sessions and said["hook_event_name"] in names:
            at_ms = began_ms + number * 300
            event = read_payload(names[said["hook_event_name"]], line.encode(), project_dir="", at_ms=at_ms).event
            assert event is not None
            past.ingest.take([event])


@pytest.mark.parametrize("version", VERSIONS)
def test_recorded_session_is_not_doubled(past: Past, version: str) -> None:
    session = recorded(past.projects_folder, "resumed", version)
    play(past, version, {session})
    before = (past.said, past.turns)
    past.end(session)
    counts = past.run()
    assert (counts.new, counts.known, counts.turns) == (0, 4, 2)
    assert (past.said, past.turns) == before
    assert [one for one in past.said if one] == ["answer 1", "answer 2", "first prompt", "second by resume"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_fork_and_its_parent_hold_each_turn_once(past: Past, version: str) -> None:
    recorded(past.projects_folder, "forked_then_continued", version, at_s=LONG_AGO_S + 10)  # newest first
    parent = recorded(past.projects_folder, "resumed", version)
    counts = past.run()
    assert past.turns == [
        "User: first prompt\nAssistant: answer 1",
        "User: fourth by continue\nAssistant: answer 4",
        "User: second by resume\nAssistant: answer 2",
        "User: third by fork\nAssistant: answer 3",
    ]
    assert counts.skipped["copies of another session"] == 4
    assert len(past.store.memories(MemoryQuery(session_id=parent))) == 2
    assert past.run().new == 0


@pytest.mark.parametrize("version", VERSIONS)
def test_a_fork_alone_keeps_its_copies_apart(past: Past, version: str) -> None:
    """Newer hosts give all of them one prompt id."""
    recorded(past.projects_folder, "forked_then_continued", version)
    past.run()
    assert len(past.turns) == 4
    assert past.turns[0] == "User: first prompt\nAssistant: answer 1"


@pytest.mark.parametrize("version", VERSIONS)
def test_fork_of_hooked_parent_adds_nothing(past: Past, version: str) -> None:
    fork = recorded(past.projects_folder, "forked_then_continued", version)
    first = (RECORDED / f"hook_stdin_{version}.jsonl").read_text().splitlines()[0]
    play(past, version, {json.loads(first)["session_id"], fork})
    turns = past.turns
    past.end(fork)
    assert past.run().new == 0
    assert past.turns == turns


@pytest.mark.parametrize("version", VERSIONS)
def test_commands_and_meta_are_no_human_text(past: Past, version: str) -> None:
    for number, name in enumerate(["tui_escaped", "tui_cleared", "interrupted", "killed_then_resumed"]):
        recorded(past.projects_folder, name, version, at_s=LONG_AGO_S + number)
    counts = past.run()
    asked = {event.text for event in past.store.events(kind="user")}
    assert asked == {
        "hello there",
        "HANG now",
        "after esc",
        "after clear",
        "HANG sigint",
        "HANG please",
        "AFTER kill resume",
    }
    assert counts.skipped["commands and generated"] > 3
    assert not any("command-name" in text or "Caveat" in text for text in past.said)


def test_compaction_summary_is_no_turn(past: Past) -> None:
    text = (RECORDED.parent / "transcript_compact_2.1.197.jsonl").read_text()
    write(past.projects_folder, "352af829-c0b1-4317-a35b-a32e4695a386", text, cwd="/home/dev/shop")
    counts = past.run()
    assert counts.skipped["summaries"] == 1
    assert {event.text for event in past.store.events(kind="user")} >= {"first question", "third question"}
    assert not any("continued from a previous conversation" in text for text in past.said)


def test_tool_results_stay_out(past: Past) -> None:
    text = (RECORDED.parent / "transcript_tools_2.1.197.jsonl").read_text()
    write(past.projects_folder, "f771e7ec-e341-4e5a-b975-22819446a952", text, cwd="/home/dev/shop")
    counts = past.run()
    assert past.said == ["All done: final answer.", "Please do the work"]
    assert counts.skipped["tool results"] == 6
