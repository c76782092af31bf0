"""Notes for a changed file: about exactly this file, binding, and five a session."""

from __future__ import annotations

import pytest

from memlayer.consolidation.statement import statement_of
from memlayer.kinds import Author, Kind
from memlayer.model import Memory, replace
from memlayer.moments.changed_files import MARK, binds, moment_of

TEXT = "정산.py 의 반올림은 반드시 내림이어야 한다: 은행이 그렇게 받는다."


def note(text: str = TEXT, file: str = "결제/정산.py") -> Memory:
    made = statement_of(
        "p", text, Kind.DECISION, by=Author.PERSON, origin=text, session_id="s", source_ids=["e"], at_ms=1
    )
    return replace(made, files=(file,))


def test_note_of_exactly_this_file() -> None:
    moment = moment_of("/w/shop/결제/정산.py", [note()], (), ())
    assert moment is not None
    assert TEXT in moment.block
    assert moment_of("/w/shop/환불/정산.py", [note()], (), ()) is None
    assert moment_of("/w/shop/결제/정산.py", [note(file="정산.py")], (), ()) is None  # a base name is many files


def test_none_twice_and_five_at_most() -> None:
    path, known = "/w/결제/정산.py", note()
    assert moment_of(path, [known], (known.id,), ()) is None
    assert moment_of(path, [known], (), (known.citation,)) is None
    told = [MARK + str(number) for number in range(5)]
    assert moment_of(path, [known], told[:4], ()) is not None
    assert moment_of(path, [known], told, ()) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT, True),
        ("재시도 간격을 늘려도 소용없었다.", True),
        ("The hook must return nil.", True),
        ("Filtering by path failed for merged branches.", True),
        ("정산.py 는 월 정산을 계산한다.", False),
        ("The note lists the session's notable files.", False),
    ],
)
def test_binding_words(text: str, expected: bool) -> None:
    assert binds(text) is expected
