"""Notes and summaries that a recording showed to be refused wrongly."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memlayer.kinds import Kind
from memlayer.notes.answer import DraftNote
from memlayer.notes.checks import MAX_TEXT_CHARS, CheckedNote, Refusal, RefusedNote, check, checked_summary
from memlayer.notes.reader import SessionReader
from memlayer.notes.reading_log import ReadingLog
from memlayer.notes.session_turns import turns_of
from memlayer.records.model_budget import ModelBudget
from memlayer.turns.turn_memory import MAX_HEADLINE_CHARS
from tests.support.notes_in_memory import Noting, turn
from tests.support.tables import tables
from tests.support.turns_in_memory import PROJECT

TABLES = tables("notes/checks")

PLAN = turn(
    1,
    "Implement the plan: keep the vector search behind a feature flag named SEARCH_V2, and run both for a week.",
    "Both searches run now; SEARCH_V2 switches between them. The old one is the default until the numbers are in.",
)


def note(text: str, quote: str, kind: Kind = Kind.ATTEMPT) -> DraftNote:
    return DraftNote(kind, text, quote, 1)


def test_open_question_behind_a_finding_is_kept() -> None:
    quote = "Both searches run now; SEARCH_V2 switches between them."
    text = "SEARCH_V2 switches between both searches. Open question: is the old one still the default?"
    assert isinstance(check(note(text, quote), [PLAN]), CheckedNote)
    alone = check(note("Is the old search still the default behind SEARCH_V2?", quote), [PLAN])
    assert isinstance(alone, RefusedNote) and alone.reason is Refusal.QUESTION
    both = check(note("SEARCH_V2는 언제 켜나요? 예전 검색은 계속 기본인가요?", quote), [PLAN])
    assert isinstance(both, RefusedNote) and both.reason is Refusal.QUESTION


def test_korean_note_on_an_english_plan_is_kept() -> None:
    quote = "keep the vector search behind a feature flag named SEARCH_V2"
    kept = check(note("벡터 검색은 SEARCH_V2 플래그 뒤에 두고 일주일 동안 둘 다 돌린다.", quote, Kind.DECISION), [PLAN])
    assert isinstance(kept, CheckedNote)
    invented = check(note("벡터 검색은 SEARCH_V3 플래그 뒤에 둔다.", quote, Kind.DECISION), [PLAN])
    assert isinstance(invented, RefusedNote) and invented.reason is Refusal.NEW_NUMBER
    off = check(note("The mobile team moves its invoices to another bank next spring", quote), [PLAN])
    assert isinstance(off, RefusedNote) and off.reason is Refusal.OFF_TOPIC


def test_short_korean_order_is_a_quote() -> None:
    said = turn(1, "배포 스크립트도 고쳐줘. 이것도 수정부탁해.", "배포 스크립트를 고쳤습니다.")
    assert isinstance(check(note("배포 스크립트도 수정해야 한다", "이것도 수정부탁해."), [said]), CheckedNote)
    short = check(note("배포 스크립트도 수정해야 한다", "고쳐줘."), [said])
    assert isinstance(short, RefusedNote) and short.reason is Refusal.SHORT_QUOTE
    elsewhere = check(note("배포 스크립트도 수정해야 한다", "그런 말은 여기 한 번도 없었다"), [said])
    assert isinstance(elsewhere, RefusedNote) and elsewhere.reason is Refusal.NO_QUOTE


def test_summary_may_name_what_its_request_showed() -> None:
    summary = "SEARCH_V2 is in; hooks_git_cmd.go is not adapted yet."
    assert checked_summary(summary, [PLAN]) == ""
    assert checked_summary(summary, [PLAN], ["hooks_git_cmd.go not adapted"]) == summary


def test_a_clause_is_refused_not_the_note() -> None:
    quote = "Both searches run now; SEARCH_V2 switches between them."
    text = "SEARCH_V2 switches between both searches. It took 91 minutes in src/other.py."
    kept = check(note(text, quote), [PLAN])
    assert isinstance(kept, CheckedNote) and kept.text == "SEARCH_V2 switches between both searches."
    summary = "Both searches run behind SEARCH_V2. 3,100 rows were moved."
    assert checked_summary(summary, [PLAN]) == "Both searches run behind SEARCH_V2."
    korean = turn(1, "결제 페이지가 없는 주문에서 왜 깨지는지 봐줘.", "없는 주문은 이제 주문 목록으로 보냅니다.")
    summary = "없는 주문의 결제 페이지는 404 대신 주문 목록으로 보낸다."
    assert checked_summary(summary, [korean]) == summary


@pytest.mark.parametrize("name", ["Next.js", "Node.js", "Fly.io"])
def test_product_is_no_file(name: str) -> None:
    said = turn(
        1, "The search page is built by the framework at deploy time, keep it so.", "It stays built at deploy time."
    )
    text = "The search page is built by %s at deploy time, and stays so." % name
    assert isinstance(check(note(text, "The search page is built by the framework"), [said]), CheckedNote)


@pytest.mark.parametrize(("headline", "kept"), TABLES["headline_is_checked_like_its_text"])
def test_headline_is_checked_like_its_text(headline: str, kept: bool) -> None:
    quote = "Both searches run now; SEARCH_V2 switches between them."
    draft = replace(note("SEARCH_V2 switches between both searches.", quote), headline=headline, subject="search")
    passed = check(draft, [PLAN])
    assert isinstance(passed, CheckedNote)
    assert (passed.headline, passed.subject) == (headline if kept else "", "search")


@pytest.mark.parametrize(
    ("headline", "begins"),
    [
        (
            "SEARCH_V2 switches between both searches: " + "the old one is the default and the new one waits " * 3,
            "SEARCH",
        ),
        (
            "SEARCH_V2 플래그로 두 검색을 바꾼다, " + "기본값은 예전 검색이고 새 검색은 켜야 한다 " * 4,
            "SEARCH_V2 플래그로 두 검색을",
        ),
        ("Both searches run behind SEARCH_V2 (tried, unconfirmed)", "Both searches run behind SEARCH_V2 (?)"),
        ("두 검색은 SEARCH_V2 뒤에서 돈다 (미확인)", "두 검색은 SEARCH_V2 뒤에서 돈다 (?)"),
    ],
)
def test_headline_is_cut_and_not_thrown_away(headline: str, begins: str) -> None:
    quote = "Both searches run now; SEARCH_V2 switches between them."
    passed = check(replace(note("SEARCH_V2 switches between both searches.", quote), headline=headline), [PLAN])
    assert isinstance(passed, CheckedNote)
    assert passed.headline.startswith(begins) and len(begins) <= len(passed.headline) <= MAX_HEADLINE_CHARS


@pytest.mark.parametrize(
    ("headline", "expected"),
    TABLES["headline_keeps_its_rule_where_a_remark_is_not_known"],
)  # fmt: skip
def test_headline_keeps_its_rule_where_a_remark_is_not_known(headline: str, expected: str | None) -> None:
    quote = "Both searches run now; SEARCH_V2 switches between them."
    passed = check(replace(note("SEARCH_V2 switches between both searches.", quote), headline=headline), [PLAN])
    assert isinstance(passed, CheckedNote) and passed.headline == (expected or headline)


@pytest.mark.parametrize(
    "text", ["SEARCH_V2 switches both searches of ~/shop/guides now.", "SEARCH_V2 로 ~/shop/guides 두 검색을 바꾼다."]
)
def test_note_may_name_what_its_request_showed(text: str) -> None:
    draft = note(text, "Both searches run now; SEARCH_V2 switches between them.")
    assert isinstance(check(draft, [PLAN]), RefusedNote)
    assert isinstance(check(draft, [PLAN], shown=["원본은 ~/shop/guides 에 있다."]), CheckedNote)


@pytest.mark.parametrize(
    "text", ["SEARCH_V2 switches between both searches. " * 17, "SEARCH_V2 로 두 검색을 바꾼다. " * 34]
)
def test_text_a_few_characters_too_long_is_cut(text: str) -> None:
    quote = "Both searches run now; SEARCH_V2 switches between them."
    passed = check(note(text.strip(), quote), [PLAN])
    assert isinstance(passed, CheckedNote) and passed.text.endswith((".", "다.")) and len(passed.text) <= MAX_TEXT_CHARS
    refused = check(note(text * 2, quote), [PLAN])
    assert isinstance(refused, RefusedNote) and refused.reason is Refusal.TOO_LONG


@pytest.mark.parametrize(("prompt", "quote", "text"), TABLES["true_note_is_not_refused_for_a_mark_or_its_language"])
def test_true_note_is_not_refused_for_a_mark_or_its_language(prompt: str, quote: str, text: str) -> None:
    said = turn(1, prompt, "네, 그렇게 하겠습니다.")
    assert isinstance(check(note(text, quote), [said]), CheckedNote)


def with_a_call(tmp_path: Path) -> Noting:
    """Return a project with a turn that states a decision and edits a file."""
    (tmp_path / "메모리").mkdir()
    noting = Noting(tmp_path / "메모리")
    said: dict[str, Any] = {
        "tool_name": "Edit",
        "tool_input": {"file_path": PROJECT + "/deploy.sh"},
        "tool_response": {},
    }
    prompt = "배포는 화요일 오전에 하기로 했어. deploy.sh 고쳐줘." + " 스크립트가 멈추는 까닭을 함께 찾아보자." * 4
    noting.hook("user_prompt_submit", "s1", "s1-0", 0, prompt=prompt)
    noting.hook("post_tool_use", "s1", "s1-0", 1, **said)
    noting.say("s1", "s1-0", prompt, "네, deploy.sh를 고쳤습니다.", at=2)
    return noting


def test_statement_of_the_person_stays_where_no_note_says_it(tmp_path: Path) -> None:
    noting = with_a_call(tmp_path)
    session = noting.sessions.get("s1")
    assert session is not None
    rules = noting.keeper.in_force(session.project_id)
    assert rules and all(len(rule.source_ids) == 3 for rule in rules)  # the prompt, its call, the answer
    turns = turns_of(noting.store.events(session_id="s1"), PROJECT)
    noting.answer("s1", turns, {"summary": "", "notes": [], "tasks": [], "drop": []})
    assert noting.keeper.in_force(session.project_id) == rules


def test_request_lists_no_statement_of_the_turns_that_it_shows(tmp_path: Path) -> None:
    noting = with_a_call(tmp_path)
    session = noting.sessions.get("s1")
    assert session is not None
    session.summarized_ms, session.ended = session.said_ms, "exit"
    budget = ModelBudget(str(tmp_path / "use.json"), daily_tokens=10**6)
    model: Any = None  # nothing is asked
    reader = SessionReader(noting.store, noting.keeper, ReadingLog(str(tmp_path)), model, budget, 0)
    part = reader.next_part(session)
    assert part is not None and part.request.prompt.startswith("The project has no notes yet.")
