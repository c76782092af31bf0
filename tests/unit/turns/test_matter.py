"""What a session's turns came to: recaps, decisions, and turns that stay as they are."""

from collections.abc import Iterable, Mapping

import pytest

from memlayer.turns.matter import Outcome, Said, asks, assents, contests, is_progress, is_recap, outcomes
from tests.support.tables import tables


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


@pytest.mark.parametrize(
    ("asked", "guess", "assent", "tried", "objection", "found"),
    [
        (
            "월간 조회가 너무 느려. 4초 걸림",
            "복합 index 가 없습니다. 추가해 볼까요?",
            "ㅇㅇ 추가해봐",
            "`0008_date_idx` 를 추가했습니다.",
            "소용없네 그대로야",
            "제 짐작이 틀렸습니다. 원인은 `get_items()` 의 N+1 이라 `prefetch_related` 로 고쳤습니다.",
        ),
        (
            "The upload dies at 62%.",
            "The blocks are too large. Shall I make them smaller?",
            "sure, try it",
            "`BLOCK = 256` is in.",
            "no luck, same place",
            "It is the erase of sector 6, which takes 2 s. I set `ERASE_TIMEOUT_MS` to 2500.",
        ),
    ],
)
def test_a_refuted_attempt_is_told_by_its_second_half_with_its_subject(
    asked: str, guess: str, assent: str, tried: str, objection: str, found: str
) -> None:
    [outcome] = of(Said(asked, guess), Said(assent, tried), Said(objection, found), Said("오 이제 된다", "네."))
    assert (outcome.covers, outcome.turn) == ((0, 1, 2), 2)
    assert outcome.text.split("\n") == [asked.split(". ")[0].rstrip(".") + ".", objection, found]


def test_an_objection_that_nothing_answered_is_told_with_its_subject() -> None:
    [outcome] = of(
        Said("The CI cache misses on every run.", "The key has the date in it. I'll drop the date from the key."),
        Said("did nothing, still misses", "Let me look at the log of the runner."),
    )
    assert outcome.by_person
    assert outcome.text == "The CI cache misses on every run.\ndid nothing, still misses"


@pytest.mark.parametrize(
    "reply",
    [
        "great, that was it. btw the tablets are old, so no optional chaining there",
        "오 된다. 참고로 베타는 12월 3일까지 안 나가",
    ],
)
def test_an_aside_is_no_reply(reply: str) -> None:
    found = of(Said("The save fails.", "It is the proxy. I'd allow PATCH there."), Said("do it", "Allowed."))
    assert found == of(
        Said("The save fails.", "It is the proxy. I'd allow PATCH there."),
        Said("do it", "Allowed."),
        Said(reply, "네."),
    )


@pytest.mark.parametrize("code", ["`GET /meals?allergen=2`", "https://a.kr/x?q=1", "`int? x`"])
def test_a_mark_within_a_name_asks_nothing(code: str) -> None:
    assert not asks("31 passed. The address is %s." % code)
    assert asks("The address is %s. Is that right?" % code)


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("어느 DB 에 붙을까요?", "local postgres 는 5433 이야"),
        ("Which port should I use?", "5433, the other one is taken"),
        ("어느 쪽으로 할까요?", "1번, JSONB 컬럼으로"),
    ],
)
def test_the_choice_that_an_answer_asked_for_is_told(question: str, reply: str) -> None:
    [outcome] = of(Said("Run the tests.", "The first run failed. " + question), Said(reply, "18 of 18 are green now."))
    assert outcome.text == reply + "\n18 of 18 are green now."


@pytest.mark.parametrize("offer", ["Want me to implement this approach?", "이 방식으로 구현할까요?"])
def test_an_agreed_proposal_is_told_without_its_offer(offer: str) -> None:
    first = Said("The export is empty.", "Should I look at the filter?")
    proposal = "Agreed: the filter drops rows before the header is read."
    [outcome] = of(
        first, Said("no, at the reader, it never sees a header", proposal + " " + offer), Said("ok", "Done.")
    )
    assert outcome.text == proposal


@pytest.mark.parametrize(("text", "expected"), tables("turns/matter")["a_recap_begins_so_or_states_rules"])
def test_a_recap_begins_so_or_states_rules(text: str, expected: bool) -> None:
    assert is_recap(text) is expected


KOREAN_REPLY = "아니, 재시도는 3번까지만 하고 409는 절대 재시도하지 마. 대기는 30초 이하로."
DECISION = "Too strict. 429 and 408 must be retried, at most 4 attempts in all. Everything else is permanent."


@pytest.mark.parametrize(
    ("reply", "report"),
    [
        (DECISION, "Got it. I ran the tests and updated the file."),
        (DECISION, "All tests pass. Here's a summary: the client was touched, and so was its test."),
        (DECISION, "Understood. I rewrote the client. I've also rerun the suite."),
        (KOREAN_REPLY, "알겠습니다. 테스트를 돌리고 파일을 수정했습니다."),
        (KOREAN_REPLY, "요약하면, 클라이언트를 고쳤습니다. 테스트도 추가했습니다."),
    ],
)
def test_a_report_of_work_does_not_stand_for_a_decision(reply: str, report: str) -> None:
    [outcome] = of(Said("The client hammers the auth service, can you look?", GUESS), Said(reply, report))
    assert outcome.text.replace("\n", " ").startswith(reply) and outcome.by_person is (reply == DECISION)


@pytest.mark.parametrize(
    "recap",
    [
        "확정: 재시도는 3번, 409는 재시도 없음, 대기는 30초 이하입니다.",
        "알겠습니다. 재시도는 3번까지만 하기로 결정했습니다. 대기는 30초 이하입니다.",
        "Got it. Three attempts at most, never for 409. The wait is capped at 30 seconds.",
        "Settled: three attempts. I updated the file.",
    ],
)
def test_a_recap_that_restates_the_decision_stands(recap: str) -> None:
    guess = Said("왜 인증 서버를 계속 때리지?", "모든 실패를 재시도합니다. 5xx만 재시도하겠습니다.")
    [outcome] = of(guess, Said(KOREAN_REPLY, recap))
    assert not outcome.by_person and outcome.text == recap
