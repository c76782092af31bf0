"""What a session's turns came to: recaps, decisions, and turns that stay as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

from memlayer.turns.matter import Outcome, Said, asks, assents, contests, is_progress, outcomes


def alike(terms: Iterable[str]) -> Mapping[str, float]:
    return dict.fromkeys(terms, 1.0)


def of(*turns: Said) -> list[Outcome]:
    return list(outcomes(turns, alike))


GUESS = "The client retries every failure. I'll restrict retries to 5xx errors and treat every 4xx as permanent."
RULE = "Final policy: retry any 5xx and exactly 429 and 408, at most 4 attempts, backoff capped at 30 seconds."


def test_a_contested_guess_comes_to_the_answer_that_stands() -> None:
    [outcome] = of(
        Said("The client hammers the auth service, can you look?", GUESS),
        Said("Too strict. 429 and 408 must be retried. Everything else is permanent.", "Got it. Cap the attempts?"),
        Said("Yes. At most 4 attempts, and the backoff never above 30 seconds.", RULE),
    )
    assert (outcome.text, outcome.turn, outcome.covers, outcome.by_person) == (RULE, 2, (0, 1, 2), False)


def test_without_a_recap_the_persons_words_are_told() -> None:
    [outcome] = of(
        Said("The client hammers the auth service, can you look?", GUESS),
        Said(
            "Too strict. 429 and 408 must be retried.", "Should the attempts stay unlimited?", "No, 4 attempts at most."
        ),
    )
    assert outcome.by_person
    assert outcome.text == "Too strict.\n429 and 408 must be retried.\nNo, 4 attempts at most."


def test_in_korean() -> None:
    told = "정리하면: 장바구니는 Redis 말고 Postgres의 carts 테이블에 저장하고, 만료는 7일입니다."
    [outcome] = of(
        Said("장바구니를 어디에 저장하지?", "Redis에 저장하고 만료는 하루로 하겠습니다."),
        Said("아니 Redis 말고 Postgres에 저장해야 돼. 만료는 7일이고.", told),
    )
    assert (outcome.text, outcome.covers) == (told, (0, 1))


def test_an_agreed_proposal_stands_with_what_was_added() -> None:
    [outcome] = of(
        Said(
            "Amendment to the merge rule. Keep-latest wipes names that we had.",
            "Recency is the wrong signal. I'd keep the record with more filled fields.",
            "Exactly. And if both have the same number of filled fields, keep ours, never the incoming one.",
        )
    )
    assert outcome.text.split("\n") == [
        "Amendment to the merge rule.", "Recency is the wrong signal.", "I'd keep the record with more filled fields.",
        "Exactly.", "And if both have the same number of filled fields, keep ours, never the incoming one.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "turns",
    [
        (Said("Where is the config read?", "In `config/load.py`, by `load_settings`."), Said("thanks", "Any time.")),
        (Said("Rename the files", "I'll rename them."), Said("Can you also fix the css of the footer?", "Done.")),
        (Said("배포는 언제야?", "매주 목요일입니다."), Said("응 고마워", "네.")),
        (Said("Which color?", "Should it be red?"), Said("2", "Done. All tests pass.")),  # says nothing by itself
    ],
)
def test_settled_turns_and_new_orders_have_no_outcome(turns: tuple[Said, ...]) -> None:
    assert of(*turns) == []


def test_another_order_ends_the_matter() -> None:
    found = of(
        Said("The export breaks on commas.", "I'll quote every field."),
        Said("No, only fields with a comma, and the rows must end with CRLF.", "Final: quote only where needed, CRLF."),
        Said("Let's look at the login page now.", "I'd move the button to the right."),
        Said("Not to the right, it must stay left. Use `margin: 0`.", "Understood: left, `margin: 0`."),
    )
    assert [(row.covers, row.turn) for row in found] == [((0, 1), 1), ((2, 3), 3)]


@pytest.mark.parametrize(
    "reply", ["소용없네, 여전히 느려", "No, that is wrong", "hold on, not all of those", "그거 말고"]
)
def test_objections(reply: str) -> None:
    assert contests(reply)
    assert not assents(reply)


@pytest.mark.parametrize("reply", ["응 그렇게 해", "yes, go ahead", "That's the one. Ship it.", "좋아"])
def test_assents(reply: str) -> None:
    assert assents(reply)
    assert not contests(reply)


def test_signs_of_an_answer() -> None:
    assert asks("The key is wrong. Should I change it?")
    assert asks("인덱스를 추가하겠습니다.")
    assert not asks("The port is 5433.")
    assert is_progress("Done. I've added the index. All tests pass.")
    assert not is_progress("The rule is: percent first, then the fixed amount.")
