"""A model ends nothing that the person said, and its own words behind a quote are no rule."""

from pathlib import Path
from typing import Any

import pytest

from memlayer.give.standing_orders import orders_in_force
from memlayer.kinds import Ended
from memlayer.model import Memory
from memlayer.turns.remembered import remember_event
from tests.support.notes_in_memory import Noting
from tests.support.tables import tables
from tests.support.turns_in_memory import PROJECT, T0_MS

TABLES = tables("hostile/who_said_it")

# What a person says in a prompt and is told that memlayer keeps.
WISHES = TABLES["wishes"]
ANSWER = "네, 알겠습니다. The settings of checkout.py are changed and the tests are green."
# A note of a wish in a model's own words, behind words of the person that say something else.
UNRELATED = TABLES["unrelated"]


@pytest.fixture
def home_of(tmp_path: Path) -> Noting:
    home = tmp_path / "메모리"
    home.mkdir()
    return Noting(home)


def rules_of(noting: Noting) -> list[str]:
    return [row.text for row in orders_in_force(noting.store, noting.core()[0].project_id)] if noting.core() else []


@pytest.mark.parametrize("wish", WISHES)
def test_a_told_wish_stays_when_its_session_is_read(home_of: Noting, wish: str) -> None:
    turns = home_of.tell("s1", (wish, ANSWER), ("고마워, 계속 진행하자.", "네."))
    before = rules_of(home_of)
    assert before
    home_of.answer("s1", turns, {"summary": "", "notes": []})
    assert rules_of(home_of) == before


@pytest.mark.parametrize("wish", WISHES)
@pytest.mark.parametrize("how", ["drop", "replaces"])
def test_a_reading_model_only_asks_about_it(home_of: Noting, wish: str, how: str) -> None:
    home_of.tell("s1", (wish, ANSWER))
    before = rules_of(home_of)
    [theirs] = [row for row in home_of.core() if row.text == before[0]]
    turns = home_of.tell("s2", ("이제 서버 타임아웃은 60초로 늘렸어, 왜 그런지 적어줘.", "타임아웃을 늘렸습니다."))
    quoted = {"kind": "fact", "text": "서버 타임아웃은 60초다.", "quote": turns[0].prompt[:20], "turn": 1}
    value: dict[str, Any] = {"notes": [], "drop": [theirs.citation]}
    if how == "replaces":
        value = {"notes": [{**quoted, "replaces": [theirs.citation]}]}
    kept = home_of.answer("s2", turns, value)
    assert kept is not None and [row.memory_id for row in kept.questions] == [theirs.id]
    assert rules_of(home_of) == before


@pytest.mark.parametrize(("prompt", "text"), UNRELATED)
def test_a_models_words_behind_an_unrelated_quote_are_no_rule(home_of: Noting, prompt: str, text: str) -> None:
    turns = home_of.tell("s1", (prompt, ANSWER), ("고마워", "네."))
    note = {"kind": "preference", "text": text, "quote": prompt[:40], "turn": 1}
    home_of.answer("s1", turns, {"notes": [note]})
    assert rules_of(home_of) == []


def test_a_paraphrase_of_a_wish_is_a_note_and_no_rule(home_of: Noting) -> None:
    prompt = "웹훅 테스트는 샌드박스 상점 test-shop-2로만 돌리고 싶어, 운영 상점은 안 돼."
    turns = home_of.tell("s1", (prompt, ANSWER))
    text = "웹훅 테스트는 샌드박스 상점 test-shop-2로만 돌린다."
    kept = home_of.answer("s1", turns, {"notes": [{"kind": "preference", "text": text, "quote": prompt, "turn": 1}]})
    assert kept is not None and [row.text for row in kept.notes] == [text]
    assert text not in rules_of(home_of)


def test_what_a_model_ends_is_listed_with_its_reason(home_of: Noting) -> None:
    turns = home_of.tell(
        "s1", ("왜 실패했는지 봐줘, checkout.py 말이야.", "원인은 checkout.py의 재시도 설정이었습니다.")
    )
    note = {"kind": "cause", "text": "checkout.py 실패의 원인은 재시도 설정.", "quote": turns[0].answer, "turn": 1}
    kept = home_of.answer("s1", turns, {"notes": [note]})
    assert kept is not None
    later = home_of.tell("s2", ("checkout.py 재시도 설정을 지웠어.", "네, 지웠습니다."))
    kept = home_of.answer("s2", later, {"notes": [], "drop": [kept.notes[0].citation]})
    assert kept is not None and [row.ended_because for row in kept.ended] == [Ended.UNTRUE]


def by_model(noting: Noting, text: str) -> Memory:
    event = remember_event(text, project_dir=PROJECT, at_ms=T0_MS + 99, session_id="s9", by_model=True)
    noting.ingest.take([event])
    return noting.core()[-1]


@pytest.mark.parametrize(("said", "wish"), TABLES["a_model_that_remembers_the_contrary_replaces_nothing"])
def test_a_model_that_remembers_the_contrary_replaces_nothing(home_of: Noting, said: str, wish: str) -> None:
    home_of.remember(said)
    by_model(home_of, wish)
    assert said in home_of.texts()
