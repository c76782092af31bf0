"""Extraction by rules: lasting statements of a turn, with their dates, and a line for the day."""

from __future__ import annotations

import datetime
import time

import pytest

from memlayer.consolidation.rules.dates import with_dates
from memlayer.consolidation.rules.extraction import Extraction, extract, kind_of, own_words
from memlayer.text.sentences import candidates, prose

THURSDAY = datetime.date(2026, 3, 12)
AT_MS = int(datetime.datetime(2026, 3, 12, 10, tzinfo=datetime.UTC).timestamp() * 1000)


def _of(prompt: str, *answers: str) -> Extraction:
    return extract(prompt, answers, AT_MS, zone=datetime.UTC)


SETTLED = [
    ("We settled on Postgres for the ledger service.", "decision"),
    ("결제 모듈 배포는 화요일에만 하기로 했어. 문서 고쳐줘", "decision"),
    ("ok, let's rename the metadata field to `steps_count`", "decision"),
    ("설정은 YAML로 통일하자, JSON은 주석이 안 돼", "decision"),
    ("I hate default exports, please never use them.", "preference"),
    ("앞으로 커밋 메시지는 항상 영어로 써줘", "preference"),
    ("이 프로젝트에서는 커밋 메시지 영어로 써줘", "preference"),
    ("라이브러리 추가할 때는 나한테 먼저 물어봐", "preference"),
    ("Before you push, run make check.", "preference"),
    ("Rust는 메모리 안전성이 중요해", "preference"),
    ("스테이징 Redis는 6380 포트 쓰고 있어", "fact"),
    ("Priya owns the billing webhooks.", "fact"),
    ("4월 1일까지 관리자 화면 초안 제출해야 해", "commitment"),
]


@pytest.mark.parametrize(("prompt", "kind"), SETTLED)
def test_person_settles(prompt: str, kind: str) -> None:
    [found] = _of(prompt, "Understood.").statements
    assert (found.kind, found.speaker) == (kind, "user")
    assert found.source in prompt


PASSING = [
    ("thanks, perfect", "You're welcome!"),
    ("오늘도 수고했어 ㅋㅋ", "감사합니다!"),
    ("maybe we could move the thumbnails to S3 at some point", "That could work."),
    ("혹시 GraphQL로 바꾸면 어떨까? 아직 정한 건 아니고", "장점이 있습니다."),
    ("can we use real booleans instead of strings?", "Done."),
    ("which queue should we use?", "You could use SQS, it never loses messages. Shall I set it up?"),
    ("테스트 돌려봐", "214개 통과, 실패 없음."),
    ("what does this do\n```py\nPORT = 8080  # we always use this port\n```", "It sets a constant."),
    ("> we decided to use Mongo\nwhat do you think of that", "Fine."),
    ("/compact", "Compacted."),
    ("오늘은 여기까지 하죠 피곤하네요", "네, 내일 이어서 하겠습니다."),
    ("이 함수 이름을 calcTotal로 바꿔줘", "네, 바꾸겠습니다."),
    ("커밋하고 푸시해줘", "네, 커밋하겠습니다."),
    ("don't change anything, just let me know", "OK."),
    ("let's do this", "Done."),
    ("fix it", "- Added `--verbose` to the parser\n- **Tests**: all commands are covered now\n\nAll tests pass."),
    (
        "looks odd",
        "| Option | Value |\n|---|---|\n| `cache.mode` | always used when the store is only read |\n",
    ),
]


@pytest.mark.parametrize(("prompt", "answer"), PASSING)
def test_nothing_lasting(prompt: str, answer: str) -> None:
    assert _of(prompt, answer).statements == ()


CLOSING = [
    ("`entire/sessions` is created only when the strategy is enabled, never when a session starts.", "fact"),
    (
        "Shadow branch commits are now only created when there are actual file changes, matching user expectations.",
        "fact",
    ),
    (
        "The bug was that the pointer was only updated when a session starts, not when a checkpoint is made.",
        "cause",
    ),
    ("로그인 세션은 `SessionMiddleware`가 요청마다 갱신하며 만료 시간은 항상 서버 설정에서만 읽습니다.", "fact"),
]


@pytest.mark.parametrize(("sentence", "kind"), CLOSING)
def test_closing_statement(sentence: str, kind: str) -> None:
    [found] = _of("why is it like that", f"Done.\n\n{sentence}").statements
    assert (found.kind, found.text, found.speaker) == (kind, sentence, "assistant")


def test_asking_answers_settle_nothing() -> None:
    sentence = CLOSING[0][0]
    assert _of("look", f"{sentence}\n\nWant me to change that?").statements == ()
    assert _of("봐줘", f"{sentence}\n\n바꿀까요?").statements == ()
    assert _of("look", sentence + "\n\n" + "More of it follows here. " * 100).statements == ()


def test_repetition_is_kept_once() -> None:
    found = _of("We settled on pnpm for all packages.", "Agreed: we settled on pnpm for all packages.").statements
    assert len(found) == 1


def test_pasted_text_is_not_own() -> None:
    rules = "\n".join(f"- You must always obey rule {number} of the handbook." for number in range(60))
    prompt = f"Please summarise this handbook.\n\n{rules}\n\n요약은 항상 한국어로 써줘"
    assert own_words(prompt) == "Please summarise this handbook."
    assert [(one.text, one.is_unclear) for one in _of(prompt, "Done.").statements] == [
        ("요약은 항상 한국어로 써줘", True)
    ]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("배포는 항상 화요일 오전에 한다", "preference"),
        ("we decided to use Postgres", "decision"),
        ("결제는 포트원으로 가기로 했어", "decision"),
        ("the export dies because the disk is full", "cause"),
        ("보고서는 금요일까지 보낸다", "commitment"),
        ("Mina is on call", "fact"),
    ],
)
def test_kind_of_text(text: str, kind: str) -> None:
    assert kind_of(text) == kind


@pytest.mark.parametrize(
    ("text", "dated"),
    [
        ("demo tomorrow", "demo tomorrow [2026-03-13]"),
        ("due by Friday", "due by Friday [2026-03-13]"),
        ("next Tuesday it ends", "next Tuesday [2026-03-17] it ends"),
        ("on March 24", "on March 24 [2026-03-24]"),
        ("다음 주 금요일까지 끝낸다", "다음 주 금요일까지 [2026-03-20] 끝낸다"),
        ("내일 오전에 점검", "내일 [2026-03-13] 오전에 점검"),
        ("모레까지", "모레까지 [2026-03-14]"),
        ("5월 12일 예정", "5월 12일 [2026-05-12] 예정"),
        ("every Tuesday", "every Tuesday"),
        ("매주 화요일 오전에만 배포", "매주 화요일 오전에만 배포"),
        ("배포 요일을 화요일 오전으로 바꾸자", "배포 요일을 화요일 오전으로 바꾸자"),
        ("on 2026-03-24", "on 2026-03-24"),
        ("March 24, 2027", "March 24, 2027"),
        ("2월 30일", "2월 30일"),
        ("v1/2 and src/3/4.py", "v1/2 and src/3/4.py"),
    ],
)
def test_dates(text: str, dated: str) -> None:
    assert with_dates(text, THURSDAY) == dated


def test_days_count_in_zone() -> None:
    late = int(datetime.datetime(2026, 3, 12, 20, tzinfo=datetime.UTC).timestamp() * 1000)
    seoul = datetime.timezone(datetime.timedelta(hours=9))
    (found,) = extract("내일까지 초안을 제출해야 해", ["네."], late, zone=seoul).statements
    assert "[2026-03-14]" in found.text


@pytest.mark.parametrize(
    ("prompt", "answers", "wanted"),
    [
        ("오늘 수고했어", ["감사합니다!"], ""),
        ("why is the build slow?", [], ""),
        ("can you add a flag to the cli", ["Added `--verbose` to `cli.py`."], "add a flag to the cli"),
        ("결제 모듈은 화요일에만 배포하기로 했어", ["네."], "화요일"),
    ],
)
def test_daily(prompt: str, answers: list[str], wanted: str) -> None:
    daily = _of(prompt, *answers).daily
    assert bool(daily) is bool(wanted) and wanted in daily


def test_stop_inside_name() -> None:
    found = candidates("조건 `where event_date = ...` 이 빠졌다. 다시 넣었다.", "assistant")
    assert [one.text for one in found] == ["조건 `where event_date = ...` 이 빠졌다.", "다시 넣었다."]


def test_long_quotation_is_blanked() -> None:
    found = candidates('> we decided to use Mongo\nHe wrote "we have decided to use Mongo" to me.', "user")
    assert len(found) == 1 and "decided" not in found[0].plain and "decided" in found[0].text


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        "가" * 100_000,
        "a-" * 5000,
        "<a>" * 5000,
        "`" * 5000,
        '"a ' * 5000,
        "\ud800",
        "\0",
        "because " * 3000,
        "yes " * 5000,
        "1. a\n" * 5000,
    ],
)
def test_hostile_text_is_fast(text: str) -> None:
    began = time.process_time()
    extract(text, [text, text], AT_MS)
    assert time.process_time() - began < 3


def test_prose_keeps_open_tags() -> None:
    said = "넓이는 <br> 200px <system>가짜\n</system> 이고 <X>q</x> 1 < 2 <b>"
    assert prose(said) == "넓이는 <br> 200px           \n          이고          1 < 2 <b>"


@pytest.mark.timeout(30)
@pytest.mark.parametrize("line", ["<br> 붙여 넣은 한 줄, words and words\n", "<a></b> x\n", "<p class=x> line\n"])
def test_page_of_tags_is_read_once(line: str) -> None:
    page = line * 10_000
    assert len(prose(page)) == len(page)
