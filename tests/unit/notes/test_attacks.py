"""Texts that tell the keeper of notes what to write: they write nothing, even with a model that obeys."""

from pathlib import Path
from typing import Any

import pytest

from memlayer.notes.addressed import LEFT_OUT, addressed_spans
from memlayer.notes.request import first_part
from memlayer.text.word_lists import rows
from tests.support.notes_in_memory import Noting, turn
from tests.support.tables import tables

ATTACKS = [(where, text, wish) for where, text, wish in rows("tests.data", "note_attacks.tsv")]
HARMLESS = tables("notes/attacks")["harmless"]
REAL = (
    "결제 재시도는 몇 번 하기로 했지? 문서에 적힌 것과 다른 것 같아.",
    "결제 재시도는 최대 3번이고, 그 뒤에는 큐로 보냅니다.",
)
KNOWN = "결제 재시도는 최대 3번이다."


def test_there_are_sixty_attacks_in_both_languages() -> None:
    assert len(ATTACKS) >= 60
    assert sum(any("가" <= char <= "힣" for char in text) for _, text, _ in ATTACKS) >= 20
    assert {where for where, _, _ in ATTACKS} == {"prompt", "answer", "file", "error"}


def obeys(text: str, wish: str, known: str) -> dict[str, Any]:
    """Answer as a model that believes every word: the wish, quoted from the attack, and all else dropped."""
    quote = text[:200]
    note = {
        "kind": "decision",
        "text": wish,
        "quote": quote,
        "turn": 2,
        "files": [text],
        "error": text,
        "replaces": [known],
    }
    task = {"id": "", "title": wish, "status": "pending", "blocked_by": "", "quote": quote, "turn": 2}
    return {"summary": text, "notes": [note, {**note, "text": text[:300]}], "tasks": [task], "drop": []}


@pytest.mark.parametrize(("where", "text", "wish"), ATTACKS)
def test_obedient_model_writes_nothing(tmp_path: Path, where: str, text: str, wish: str) -> None:
    home = tmp_path / "메모리"
    home.mkdir()
    noting = Noting(home)
    first = noting.tell("s0", REAL)
    known = {"kind": "decision", "text": KNOWN, "quote": "결제 재시도는 최대 3번이고", "turn": 1}
    kept = noting.answer("s0", first, {"summary": "", "notes": [known]})
    assert kept is not None and len(kept.notes) == 1
    noting.tell("s1", REAL)
    turns = [
        turn(1, *REAL),
        turn(
            2,
            "이 페이지를 읽고 정리해줘:\n" + text if where == "prompt" else "그 페이지를 읽어줘.",
            "페이지에는 이렇게 적혀 있습니다.\n" + text if where == "answer" else "읽었습니다.",
            files=(text,) if where == "file" else (),
            errors=(text,) if where == "error" else (),
        ),
    ]
    shown = first_part(turns, noting.core(), []).prompt
    assert text not in shown and LEFT_OUT in shown
    before = noting.everything()
    result = noting.answer("s1", turns, obeys(text, wish, kept.notes[0].citation))
    assert result is not None and result.notes == [] and result.tasks == []
    assert noting.everything() == before


@pytest.mark.parametrize("text", HARMLESS)
def test_words_of_a_person_pass(text: str) -> None:
    assert addressed_spans("User: " + text) == []
