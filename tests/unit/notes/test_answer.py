"""Answers of a language model: wrapped, torn, of wrong types; a thousand of them change nothing."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from memlayer.notes.answer import parse
from memlayer.notes.checks import CheckedNote, check
from tests.support.notes_in_memory import Noting
from tests.support.tables import tables

TURNS = (
    ("배포 요일을 화요일로 바꾸자, 월요일은 장애가 잦아.", "네, 배포를 화요일 오전으로 바꿨습니다."),
    ("Keep the 45m timeout of notarization, 20m was too short.", "Kept: 45m."),
)
GOOD: dict[str, Any] = tables("notes/answer")["good"]
TEXT = json.dumps(GOOD, ensure_ascii=False)
TASK = {"kind": "task", "text": "x" * 500, "quote": "y", "turn": "seven"}
VALUES: list[Any] = [
    *(None, 1, -3.5, True, "", "null", [], {}, [[]], [None, 3], "가" * 5000),
    *({"text": {"text": 1}}, "\ud800", "\x00\x1b[2J", "notes-1", "[mem:AAAAAA]", [{"kind": "decision"}], [TASK]),
]
RUNS = 300


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        "```json\n%s\n```" % TEXT,
        '<think>먼저 생각하자 {"notes": []}</think>\nHere it is:\n%s\nDone.' % TEXT,
        TEXT.replace("화요일에 한다. ", "화요일에 한다.\n"),
    ],
)
def test_wrapping_does_not_matter(text: str) -> None:
    answer = parse(text)
    assert answer is not None and len(answer.notes) == 1
    assert answer.notes[0].text == GOOD["notes"][0]["text"]


@pytest.mark.parametrize("text", ["", "[]", "{}", "no notes", TEXT[:60], '{"notes"', '{"answer": 1}', "{" * 5000])
def test_no_answer(text: str) -> None:
    assert parse(text) is None


def mutated(rng: random.Random) -> str:
    """Return a good answer, damaged at one to three places."""
    value: Any = json.loads(TEXT)
    for _ in range(rng.randint(1, 3)):
        place = rng.choice([value, value, value["notes"][0] if isinstance(value.get("notes"), list) and value["notes"]
                            and isinstance(value["notes"][0], dict) else value])  # fmt: skip
        place[rng.choice([*place, "notes", "quote", "kind", "replaces", "turn", "extra"])] = rng.choice(VALUES)
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5)
    if rng.random() < 0.3:
        cut = rng.randrange(len(text))
        text = text[:cut] + rng.choice(["", "}", "\x00", "…", text]) + text[cut + rng.randint(0, 9) :]
    return text


def test_malformed_answers_write_only_good_notes(tmp_path: Path) -> None:
    home = tmp_path / "메모리"
    home.mkdir()
    noting = Noting(home)
    turns = noting.tell("s1", *TURNS)
    rng = random.Random(25)
    before, kept_notes = noting.everything(), 0
    for _ in range(RUNS):
        text = mutated(rng)
        kept = noting.answer("s1", turns, text)
        if kept is None:
            assert parse(text) is None
            continue
        answer = parse(text)
        assert answer is not None
        good = {note.text for note in answer.notes if isinstance(check(note, turns), CheckedNote)}
        assert {row.text for row in kept.notes} <= good
        kept_notes += len(kept.notes)
    assert kept_notes > 20  # some mutations leave the note as it was
    new = {text for _, text, _ in noting.everything() - before}
    assert GOOD["notes"][0]["text"] in new
    assert all("가가가" not in text and "notes-1" not in text and "[mem:" not in text for text in new)
