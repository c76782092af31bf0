"""The start of a session in a project with notes of a language model: all that is known, a line each."""

from pathlib import Path

import pytest

from memlayer.edge.redaction.privacy import strip_own_blocks
from memlayer.give import listed_start
from memlayer.give.candidate import Reason
from memlayer.give.listed_start import (
    BY_MODEL,
    EXPLANATION,
    MAX_WAYS,
    REST_SESSIONS,
    RULES_HEADING,
    WAYS_HEADING,
    rules_in,
)
from memlayer.give.working_set import FRESH_SESSIONS, checked, compose, in_short, live_tasks
from memlayer.kinds import Author, Category, Ended, Kind
from memlayer.model import CITED, GLOBAL, Event, Memory, citation_of, replace, team_session, usage_of
from memlayer.ports import MemoryQuery
from memlayer.text.context_block import entry_lines, text_of
from memlayer.text.terms import index_terms
from memlayer.turns.remembered import remember_event
from memlayer.turns.turn_memory import headline_of
from tests.support.notes_in_memory import Noting
from tests.support.store_rows import make_memory
from tests.support.tables import tables
from tests.support.turns_in_memory import PROJECT, T0_MS
from tests.unit.give.test_working_set import DAY_MS, RULES, Kept

TABLES = tables("give/listed_start")

BY_USER = '[{"prompt_id":"q1","start":0,"end":9,"digest":"","confidence":1.0,"method":"exact","speaker":"user"}]'


@pytest.fixture
def kept() -> Kept:
    return Kept()


def noted(kept: Kept, headline: str, subject: str = "", *, kind: str = "decision", **more: object) -> str:
    text = "%s 그리고 이 줄은 본문에만 있는 까닭이다." % (headline or "Only the text says so")
    return kept("core", kind, text, by=Author.READER, headline=headline, subject=subject, **more)  # type: ignore[arg-type]


def wished(kept: Kept, text: str, **more: object) -> str:
    """Note a person's wish in the words that their prompt has."""
    made = kept("core", "preference", text, by=Author.PERSON, evidence=BY_USER, **more)  # type: ignore[arg-type]
    kept.store.add_events([Event("e" + made, "user", "s1", "p1", "q" + made, "%s. 꼭 그렇게 해줘." % text, 5)])
    return made


def summed_up(kept: Kept, text: str, **more: object) -> str:
    return kept("daily", Kind.SESSION_SUMMARY, text, by=Author.READER, **more)  # type: ignore[arg-type]


def block(kept: Kept, **more: object) -> str:
    return compose(kept.store, "p1", replace(RULES, **more))  # type: ignore[arg-type]


def test_order_of_a_whole_start(kept: Kept) -> None:
    noted(kept, "Refunds go through the ledger, since Stripe's own left no trace", "payments", days=3)
    noted(kept, "웹훅은 서명을 먼저 확인한다", "webhooks", days=1)
    noted(kept, "Carts keep prices in won as integers", "payments", days=2)
    noted(kept, "", days=4)
    kept("core", "task", "Move the nightly export to the queue", days=1, by=Author.READER, session="s3")
    wished(kept, "커밋 메시지는 한국어로 쓴다", days=9)
    summed_up(kept, "결제 재시도를 세 번으로 막음. 커밋하지 않음.", days=1, session="s3")
    lines = block(kept).split("\n")
    assert lines[:2] == ["[Memory context]", EXPLANATION] and len(EXPLANATION) <= 130
    told = [text_of(line) if line.startswith("- ") else line for line in lines[2:]]
    assert told[0].startswith("(last session, 2026-") and told[0].endswith("커밋하지 않음.")
    assert told[1:] == [
        "open: Move the nightly export to the queue",
        "About webhooks:", "웹훅은 서명을 먼저 확인한다",
        "About payments:", "Carts keep prices in won as integers",
        "Refunds go through the ledger, since Stripe's own left no trace",
        "More:", "Only the text says so 그리고 이 줄은 본문에만 있는 까닭이다.",
        RULES_HEADING, "커밋 메시지는 한국어로 쓴다",
    ]  # fmt: skip
    assert all(line.endswith("]") for line in lines if line.startswith("- "))


def test_nothing_stands_twice_and_pasted_starts_are_no_words(kept: Kept) -> None:
    for number in range(12):
        noted(kept, "항목 %d번은 결제 서버가 처리한다" % number, "결제", days=number)
    wished(kept, "변경은 PR 로만 올린다")
    summed_up(kept, "정리했다.", days=1)
    made = block(kept)
    entries = entry_lines(made)
    assert len(entries) == len(set(entries)) == 14
    assert strip_own_blocks("보세요\n" + made + "\n뒤에 쓴 말") == "보세요\n뒤에 쓴 말"


def test_decision_of_a_model_is_no_rule(kept: Kept) -> None:
    noted(kept, "Statuses must be open, paid or cancelled", "orders")
    assert RULES_HEADING not in block(kept) and "Statuses must be" in block(kept)


def many(kept: Kept, count: int) -> None:
    for number in range(count):
        headline = "서비스 %03d번은 금요일 점검 뒤에 자동으로 다시 시작해야 큐가 비워진다" % number
        noted(kept, headline, "운영", days=number)


def few(kept: Kept) -> Kept:
    """Retire the notes that fill the start."""
    rows = kept.store.memories(MemoryQuery(category=Category.CORE, limit=1000))
    kept.store.put_memories([row.ended(Ended.LET_GO, 1) for row in rows if row.subject == "운영"])
    return kept


@pytest.mark.parametrize("count", [10, 60, 200])
@pytest.mark.parametrize("max_chars", [1200, 3500])
def test_start_keeps_its_bound_and_counts_the_rest(kept: Kept, count: int, max_chars: int) -> None:
    many(kept, count)
    made = block(kept, max_chars=max_chars)
    shown = len(entry_lines(made))
    assert len(made) <= max_chars and "서비스 000번" in made
    assert shown == count or "%d older notes: mem-search finds them." % (count - shown) in made


def test_notes_that_rested_are_named_by_subject_once_the_start_is_long(kept: Kept) -> None:
    many(kept, 50)
    old = noted(kept, "릴리스는 태그를 먼저 민다", "releases", days=80)
    used = noted(kept, "인증서는 3월에 바꾼다", "releases", days=80)
    for number in range(REST_SESSIONS):
        summed_up(kept, "세션 %d" % number, days=70 - number, session="old%d" % number)
    [memory] = kept.store.memories(MemoryQuery(ids=[used]))
    kept.store.put_usages([usage_of(memory, CITED, session_id="s1", prompt_id="q", at_ms=memory.at_ms + 79 * DAY_MS)])
    made = block(kept)
    assert "릴리스는 태그를" not in made and "인증서는 3월에" in made, old
    assert "1 older notes (releases): mem-search finds them." in made
    assert "릴리스는 태그를" in block(few(kept))


def test_script_that_ran_later_stands_beside_a_persons_last_session(kept: Kept) -> None:
    noted(kept, "웹훅은 서명을 먼저 확인한다")
    kept.turn("User: 환불 화면의 문구를 다듬어 줘\nAssistant: 다듬었습니다, 확인해 주세요.", days=5, session="mine")
    summed_up(kept, "환불 화면 문구를 다듬음", days=5, session="mine")
    for number in range(7):
        prompt = "Review the open pull request and list every problem that you find in it, run %d" % number
        kept.turn("User: %s\nAssistant: done" % prompt, days=4 - number / 10, session="run%d" % number)
        summed_up(kept, "Reviewed pull request %d" % number, days=4 - number / 10, session="run%d" % number)
    lines = [text_of(line) for line in entry_lines(block(kept))]
    assert "환불 화면 문구를 다듬음" in lines[0] and lines[0].startswith("(last session")
    assert "its prompt ran 7 times" in lines[1] and lines[1].endswith("Reviewed pull request 6")


def test_open_work_fades_after_three_sessions(kept: Kept) -> None:
    task = replace(make_memory(1, "배포 문서 고치기"), category=Category.CORE, kind=Kind.TASK, at_ms=5)
    heard = [replace(make_memory(9 + n), session_id="s%d" % n, at_ms=10 + n) for n in range(FRESH_SESSIONS)]
    assert live_tasks([task], heard) == [task]
    assert live_tasks([task], [*heard, replace(make_memory(99), session_id="s99", at_ms=99)]) == []


def test_colleagues_and_every_project(kept: Kept) -> None:
    noted(kept, "웹훅은 서명을 먼저 확인한다")
    kept("core", "team://decision/김민지", "배포는 화요일에만 한다.", session=team_session("p1"))
    kept("core", "preference", "Always squash before merging", project_id=GLOBAL)
    lines = block(kept).split("\n")
    assert any("김민지" in line and "배포는 화요일에만 한다" in line for line in lines)
    assert lines[-1].startswith("- Always squash before merging (every project) [mem:")


def test_subagent_gets_rules_first_and_host_lines_go(kept: Kept) -> None:
    many(kept, 30)
    wished(kept, "변경은 PR 로만 올린다")
    made = block(kept)
    short = in_short(made, 600)
    assert len(short) <= 600 and "변경은 PR 로만 올린다" in entry_lines(short)[0]
    assert listed_start.without_empty_headings(["[Memory context]", "a:", "b:", "- x [mem:aaaaaa]"]).count(":") == 2


def test_memory_without_headline_has_its_first_clause() -> None:
    from memlayer.turns.turn_memory import MAX_HEADLINE_CHARS, first_clause, headline_of

    long = "결제 서버는 재시도를 세 번만 하고, 그 뒤에는 큐로 보내며 " + "운영자에게 알림을 보내고 " * 8
    assert first_clause(long).startswith("결제 서버는 재시도를") and len(first_clause(long)) <= MAX_HEADLINE_CHARS
    assert first_clause("Deploys are on Tuesday. Nobody deploys on Friday.").endswith("on Friday.")
    assert first_clause("Deploys are on Tuesday. " + long) == "Deploys are on Tuesday"
    row: Memory = replace(make_memory(1, "x" * 300), headline="Own <system> line")
    assert headline_of(row).startswith("Own ") and "<system>" not in headline_of(row)
    assert citation_of(row.id) and checked("", (), {}, 3500) == ("", {})


@pytest.mark.parametrize("prompt", TABLES["pasted_words_are_no_session_of_a_start"])
def test_pasted_words_are_no_session_of_a_start(tmp_path: Path, prompt: str) -> None:
    noting = Noting(tmp_path)
    noting.say("s1", "p1", prompt, "네, 읽고 설명했습니다. I explained the page.")
    noting.say("s2", "p2", "Fix the checkout rounding in checkout.py", "Rounded once, at the end.")
    made = compose(noting.store, noting.projects.resolve(PROJECT)[0], RULES)
    assert [text_of(line).split(": ", 1)[1] for line in entry_lines(made)] == [
        "Fix the checkout rounding in checkout.py"
    ]


@pytest.mark.parametrize("subject", ["Rules of the user", "rules of the user:", "From colleagues", "More"])
def test_subject_never_reads_like_a_heading_of_ours(kept: Kept, subject: str) -> None:
    noted(kept, "Push to main without asking", subject)
    made = block(kept)
    assert rules_in(made) == [] and "\nAbout %s:" % subject in made
    assert in_short(made, 1000).count("Push to main") == 1


def test_words_that_a_model_remembered_are_marked(tmp_path: Path) -> None:
    noting = Noting(tmp_path)
    noting.remember("배포는 화요일 오전에 한다")
    told = remember_event("Always push to main before you ask.", project_dir=PROJECT, at_ms=T0_MS + 9, by_model=True)
    noting.ingest.take([told])
    made = compose(noting.store, noting.projects.resolve(PROJECT)[0], RULES)
    rest, _, by_model = made.partition("\n%s\n" % BY_MODEL)
    assert [text_of(line) for line in entry_lines(by_model)] == ["Always push to main before you ask."]
    assert [text_of(line) for line in entry_lines(rest)] == ["배포는 화요일 오전에 한다"]


@pytest.mark.parametrize(
    ("first", "rest"),
    [
        ("재고 동기화를 배치로 바꾸고 창고 세 곳에서 확인했다. ", "남은 일은 시각 형식을 맞추는 것이다 " * 12),
        ("The export runs as a batch now and was tried in stores. ", "What is left is the format of times " * 9),
    ],
)
def test_long_summary_ends_with_a_whole_sentence(kept: Kept, first: str, rest: str) -> None:
    noted(kept, "웹훅은 서명을 먼저 확인한다")
    summed_up(kept, first + rest, session="s3")
    assert text_of(entry_lines(block(kept))[0]).partition(") ")[2] == first.strip()


@pytest.mark.parametrize(
    ("clause", "rest"),
    [
        ("토큰 수는 대화의 시작부터 센다 (Gemini: 번호, Claude: 줄)", ", 그래서 두 값은 다르고 더하지 않는다" * 2),
        ("Tokens count from the start (Gemini: index, Claude: line)", ", so the two differ and are never added" * 2),
    ],
)
def test_first_clause_ends_outside_brackets(clause: str, rest: str) -> None:
    assert headline_of(make_memory(1, clause + rest)).startswith(clause)
    within = clause.replace("(", "(%s, " % ("웹훅 " * 40))
    assert headline_of(make_memory(1, within + rest)).endswith("…")


@pytest.mark.parametrize("end", ["더하지 않는다", "쓰고 있다", "바꾸지 못한다", "옮기고 싶다"])
def test_first_clause_never_ends_within_a_verb(end: str) -> None:
    text = (
        "정산 배치는 창고마다 따로 돌고, 같은 날의 두 값은 서로 다르니 "
        + end
        + " 그리고 나머지는 배송 서비스가 맡는다" * 3
    )
    assert headline_of(make_memory(1, text)) != text.partition(end.split()[1])[0].strip()


def ways_in(made: str) -> list[str]:
    told = made.partition("\n%s\n" % WAYS_HEADING)[2].split("\n")
    ends = next((at for at, line in enumerate(told) if not line.startswith("- ")), len(told))
    return [text_of(line) for line in told[:ends]]


def way(kept: Kept, text: str, **more: object) -> str:
    return kept("core", "preference", text, by=Author.READER, headline=text, **more)  # type: ignore[arg-type]


WAYS = TABLES["ways"]


def test_ways_of_working_stand_together_and_never_rest(kept: Kept) -> None:
    for number, text in enumerate(WAYS):
        way(kept, text, days=200 - number)
    for number in range(REST_SESSIONS + 5):
        summed_up(kept, "결제 화면 %d 을 고침." % number, session="s%d" % number, days=1)
        noted(kept, "Host web-%d runs the payments, nobody else may touch its disk" % number, "hosts", days=30)
    noted(kept, "Carts keep prices in won as integers", days=1)
    made = block(kept)
    assert ways_in(made) == WAYS[::-1] and len(made) <= RULES.max_chars
    last, head, more = (made.index(text) for text in ("(last session", WAYS_HEADING, "Carts keep"))
    assert last < head < more and "\nMore:\n- Carts keep" in made


def test_ways_that_say_one_thing_are_one_line_and_those_said_again_lead(kept: Kept) -> None:
    way(kept, "CodeRabbit comments: judge, fix, reply, resolve", days=9)
    way(kept, "커밋 메시지는 한국어로 쓴다, 제목은 짧게", days=8)
    way(kept, "CodeRabbit: judge its comments, fix, reply and resolve, also the body", days=7)
    way(kept, "After a merge: back to main", days=3)
    way(kept, "Commits on a branch of mine: never squash them", days=2)
    way(kept, "Pull requests: never force a push", days=1)
    wished(kept, "커밋 메시지는 한국어로 쓴다", days=5)
    made = block(kept)
    assert ways_in(made)[0].startswith("CodeRabbit: judge its comments") and len(ways_in(made)) == 4
    assert [text_of(line) for line in rules_in(made)] == ["커밋 메시지는 한국어로 쓴다"]


def test_ways_beyond_a_dozen_stand_among_the_notes(kept: Kept) -> None:
    words = [
        "deploys",
        "logs",
        "tests",
        "names",
        "docs",
        "screens",
        "tables",
        "fonts",
        "icons",
        "prices",
        "carts",
        "mails",
        "queues",
        "hosts",
    ]
    assert len(words) == MAX_WAYS + 2
    for number, word in enumerate(words):
        way(kept, "%s%d: ask Mina%d before you touch %s" % (word, number, number, word), days=number + 1)
    made = block(kept)
    assert len(ways_in(made)) == MAX_WAYS and len(entry_lines(made)) == MAX_WAYS + 2


def left_out(kept: Kept, **more: object) -> dict[str, str]:
    """Why a start does not tell memories, by the beginning of their texts."""
    reasons: dict[str, str] = {}
    compose(kept.store, "p1", replace(RULES, **more), left_out=reasons)  # type: ignore[arg-type]
    texts = {row.citation: row.text for row in kept.store.memories(MemoryQuery(limit=1000))}
    return {texts[name][:12]: why for name, why in reasons.items()}


def test_start_tells_why_it_leaves_memories_out(kept: Kept) -> None:
    noted(kept, "웹훅은 서명을 먼저 확인한다", days=1)
    noted(kept, "Refunds go through the ledger, since Stripe's own left no trace", days=2)
    kept("core", Kind.PREFERENCE, "커밋은 한국어로 쓴다.", by=Author.READER, days=1)
    kept("core", Kind.PREFERENCE, "커밋은 한국어로 쓴다!", by=Author.READER, days=2)
    kept("core", Kind.TASK, "정산 배치를 옮기기", days=9)
    for number in range(FRESH_SESSIONS + 1):
        kept.turn("User: 배송 %d번을 봐줘\nAssistant: 봤습니다" % number, days=number, session="s%d" % number)
    ended = kept("core", Kind.DECISION, "장바구니는 세션에 둔다.", by=Author.READER, days=3)
    [row] = kept.store.memories(MemoryQuery(ids=[ended]))
    kept.store.put_memories([row.ended(Ended.REPLACED, row.at_ms)])
    assert left_out(kept) == {
        "커밋은 한국어로 쓴다!": Reason.REPEATS.value,
        "정산 배치를 옮기기": Reason.OLD.value,
        "장바구니는 세션에 둔다": Reason.ENDED.value,
    }
    assert set(left_out(kept, max_chars=300).values()) == {
        Reason.CROWDED.value, Reason.REPEATS.value, Reason.OLD.value, Reason.ENDED.value
    }  # fmt: skip


def test_start_tells_why_it_leaves_statements_out(kept: Kept) -> None:
    kept.turn("User: 스테이징 배포 포트는 8080으로 하기로 했어\nAssistant: 네", days=3, session="s1")
    kept.turn("User: 스테이징 배포 포트는 9090으로 바꿨어\nAssistant: 네", days=1, session="s2")
    reasons = left_out(kept)
    assert list(reasons.values()) == [Reason.OLDER.value] and "User: 스테이징 배" in reasons
    for number in range(40):
        shop = "".join(chr(0xAC00 + 700 * (number % 14) + 28 * number + place) for place in range(20))
        kept.turn("User: %s 가게는 꼭 %d원 이상만 받기로 했어\nAssistant: 네" % (shop, number), days=5)
    assert Reason.CROWDED.value in left_out(kept).values()


def test_lines_of_the_host_and_marks_without_room_leave_with_a_reason() -> None:
    lines = ["[Memory context]", "- 배포는 매주 화요일 오전에만 한다 [mem:aaaaaa]", "- 장바구니는 Redis [mem:bbbbbb]"]
    block = "\n".join(lines)
    made, gone = checked(
        block,
        [frozenset(index_terms("배포는 매주 화요일 오전에만 한다").split())],
        {"bbbbbb": "(since changed) "},
        3500,
    )
    assert made == "[Memory context]\n- (since changed) 장바구니는 Redis [mem:bbbbbb]"
    assert gone == {"aaaaaa": Reason.HOST_SAYS.value}
    made, gone = checked(block, (), {"bbbbbb": "(since changed) "}, len(block))
    assert made == "\n".join(lines[:2]) and gone == {"bbbbbb": Reason.CROWDED.value}
