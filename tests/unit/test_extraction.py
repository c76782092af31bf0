"""What is kept of a turn: statements that read alone, with their dates, and a line for the day."""

from __future__ import annotations

import datetime
import time

import pytest

from memlayer.core.extraction import MAX_STATEMENTS, Extraction, extract
from memlayer.core.extraction_dates import with_dates
from memlayer.core.extraction_sentences import candidates, prose

THURSDAY = datetime.date(2026, 3, 12)
AT_MS = int(datetime.datetime(2026, 3, 12, 10, tzinfo=datetime.UTC).timestamp() * 1000)


def _of(prompt: str, *answers: str) -> Extraction:
    return extract(prompt, answers, AT_MS, zone=datetime.UTC)


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("We settled on Postgres for the ledger service.", "decision"),
        ("결제 모듈 배포는 화요일에만 하기로 했어. 문서 고쳐줘", "decision"),
        ("I hate default exports, please never use them.", "preference"),
        ("앞으로 커밋 메시지는 항상 영어로 써줘", "preference"),
        ("스테이징 Redis는 6380 포트 쓰고 있어", "fact"),
        ("Priya owns the billing webhooks.", "fact"),
        ("The flaky test was because two workers shared the same file.", "cause"),
        ("4월 1일까지 관리자 화면 초안 제출해야 해", "commitment"),
        ("API 문서는 여기까지만 공개하기로 했어", "decision"),
    ],
)
def test_kinds(prompt: str, kind: str) -> None:
    found = _of(prompt, "Understood.").statements
    assert [one.kind for one in found] == [kind]
    assert found[0].source in prompt
    assert found[0].signals and 0 < found[0].confidence <= 1


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("thanks, perfect", "You're welcome!"),
        ("오늘도 수고했어 ㅋㅋ", "감사합니다!"),
        ("maybe we could move the thumbnails to S3 at some point", "That could work."),
        ("혹시 GraphQL로 바꾸면 어떨까? 아직 정한 건 아니고", "장점이 있습니다."),
        ("We did NOT decide on Mongo, that was only Tom's idea.", "Understood, it's still open."),
        ('The README of that library says "you must always call close()".', "It does."),
        ("rename this variable to total", "Renamed."),
        ("이 파일만 고쳐줘", "고쳤습니다."),
        ("which queue should we use?", "We should use SQS. It never loses messages."),
        ("테스트 돌려봐", "214개 통과, 실패 없음."),
        ("what does this do\n```py\nPORT = 8080  # we always use this port\n```", "It sets a constant."),
        ("/compact", "Compacted."),
        ("고마워 오늘은 여기까지", "수고하셨습니다."),
        ("오늘은 여기까지 하죠 피곤하네요", "네, 내일 이어서 하겠습니다."),
        ("ok that's it for today, deploy is on friday 12.03.", "See you then."),
        ("테스트 프로그램 하나 짜줘 자식 10개 만들어서 레벨 출력하는거", "`user/forkten.c` 를 만들었습니다."),
        ("태그 찍어줘 v1.9.0", "찍었습니다."),
    ],
)
def test_nothing_is_kept_of(prompt: str, answer: str) -> None:
    assert _of(prompt, answer).statements == ()


def test_a_cause_names_its_trouble_and_the_fix_stands_beside_it() -> None:
    found = _of(
        "로그인 세션이 30분마다 풀리는 이유가 뭐야?",
        "원인은 `SessionMiddleware`가 만료 시간을 갱신하지 않기 때문이었습니다. "
        "`touch()` 호출을 추가해서 해결했습니다.",
    ).statements
    assert [one.kind for one in found] == ["cause", "cause"]
    assert all("로그인 세션" in one.text for one in found)
    assert {one.speaker for one in found} == {"assistant"}


def test_an_answer_says_what_it_answers() -> None:
    (found,) = _of("which port does the mock server use?", "It's 9099, `mock/server.ts` hard-codes it.").statements
    assert "mock server" in found.text and "9099" in found.text


def test_a_pointing_word_takes_its_name_along() -> None:
    found = _of("그 라이브러리 쓰지 말자, 라이선스가 AGPL이래", "네, `pdf-forge`를 제거했습니다.").statements
    assert any("pdf-forge" in one.text for one in found)


def test_the_last_message_corrects_the_ones_before() -> None:
    found = _of(
        "why does the export die every night?",
        "The root cause is the disk.",
        "I was wrong about the disk. The root cause is that `export_orders` loads the whole table.",
    ).statements
    assert ["export_orders" in one.text for one in found] == [True]


def test_what_the_answer_repeats_is_kept_once() -> None:
    found = _of("We settled on pnpm for all packages.", "Agreed: we settled on pnpm for all packages.").statements
    assert len(found) == 1


def test_a_pasted_document_is_not_what_the_user_said() -> None:
    rules = "\n".join(f"- You must always obey rule {number} of the handbook." for number in range(40))
    found = _of(f"Please summarise this handbook.\n{rules}\nShort, please.", "Done.").statements
    assert len(found) <= MAX_STATEMENTS and len(found) <= 4


@pytest.mark.parametrize(
    ("text", "dated"),
    [
        ("demo tomorrow", "demo tomorrow [2026-03-13]"),
        ("due by Friday", "due by Friday [2026-03-13]"),
        ("next Tuesday it ends", "next Tuesday [2026-03-17] it ends"),
        ("on March 24", "on March 24 [2026-03-24]"),
        ("by the 20th", "by the 20th [2026-03-20]"),
        ("starting April he leads", "starting April [2026-04] he leads"),
        ("at the end of this month", "at the end of this month [2026-03-31]"),
        ("다음 주 금요일까지 끝낸다", "다음 주 금요일까지 [2026-03-20] 끝낸다"),
        ("내일 오전에 점검", "내일 [2026-03-13] 오전에 점검"),
        ("모레까지", "모레까지 [2026-03-14]"),
        ("4/20으로 연기", "4/20으로 [2026-04-20] 연기"),
        ("5월 12일 예정", "5월 12일 [2026-05-12] 예정"),
        ("다음 달 3일에 심사", "다음 달 3일에 [2026-04-03] 심사"),
        ("6월까지 지원", "6월까지 [2026-06] 지원"),
        ("every Tuesday", "every Tuesday"),
        ("매주 화요일 오전에만 배포", "매주 화요일 오전에만 배포"),
        ("배포 요일을 화요일 오전으로 바꾸자", "배포 요일을 화요일 오전으로 바꾸자"),
        ("the weekday for deploys moves to, by Friday, noon", "the weekday for deploys moves to, by Friday, noon"),
        ("on 2026-03-24", "on 2026-03-24"),
        ("March 24, 2027", "March 24, 2027"),
        ("2월 30일", "2월 30일"),
        ("v1/2 and src/3/4.py", "v1/2 and src/3/4.py"),
    ],
)
def test_dates(text: str, dated: str) -> None:
    assert with_dates(text, THURSDAY) == dated


def test_days_are_counted_in_the_zone() -> None:
    late = int(datetime.datetime(2026, 3, 12, 20, tzinfo=datetime.UTC).timestamp() * 1000)
    seoul = datetime.timezone(datetime.timedelta(hours=9))
    (found,) = extract("내일까지 초안을 제출해야 해", ["네."], late, zone=seoul).statements
    assert "[2026-03-14]" in found.text


@pytest.mark.parametrize(
    ("prompt", "answers", "wanted"),
    [
        ("오늘 수고했어", ["감사합니다!"], None),
        ("why is the build slow?", [], None),
        ("can you add a flag to the cli", ["Added `--verbose` to `cli.py`."], "add a flag to the cli"),
        ("결제 모듈은 화요일에만 배포하기로 했어", ["네."], "화요일"),
    ],
)
def test_daily(prompt: str, answers: list[str], wanted: str | None) -> None:
    daily = _of(prompt, *answers).daily
    assert daily is None if wanted is None else daily is not None and wanted in daily


def test_a_stop_inside_a_name_ends_no_sentence() -> None:
    found = candidates("조건 `where event_date = ...` 이 빠졌다. 다시 넣었다.", "assistant")
    assert [one.text for one in found] == ["조건 `where event_date = ...` 이 빠졌다.", "다시 넣었다."]


def test_long_quotations_and_quoted_lines_carry_no_signal() -> None:
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
    ],
)
def test_any_text_is_taken_in_little_time(text: str) -> None:
    began = time.process_time()
    extract(text, [text, text], AT_MS)
    assert time.process_time() - began < 3


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("Use four spaces, this isn't a two-space project.", "OK."),
        ("Before you push, run make check.", "Will do."),
        ("Don't touch the legacy folder, it gets deleted in Q3.", "Understood, I'll leave it alone."),
        ("이 프로젝트에서는 커밋 메시지 영어로 써줘", "네, 영어로 작성하겠습니다."),
        ("라이브러리 추가할 때는 나한테 먼저 물어봐", "네."),
    ],
)
def test_an_order_that_is_only_taken_up_is_one_for_good(prompt: str, answer: str) -> None:
    assert [one.kind for one in _of(prompt, answer).statements] == ["preference"]


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("Use four spaces in this file.", "OK."),
        ("put the button on the left side of the header", "Sure, I'll put it on the left."),
        ("use the staging database for this run", "OK."),
        ("write a migration for the users table", "Sure, I'll write a migration."),
        ("README에 설치 방법 써줘", "네, 작성하겠습니다."),
        ("이 함수 이름을 calcTotal로 바꿔줘", "네, 바꾸겠습니다."),
        ("결제 화면에 로딩 스피너 넣어줘", "네, 넣겠습니다."),
        ("커밋하고 푸시해줘", "네, 커밋하겠습니다."),
    ],
)
def test_a_deed_that_is_only_taken_up_is_still_a_deed(prompt: str, answer: str) -> None:
    assert _of(prompt, answer).statements == ()


def test_prose_goes_without_blocks_and_keeps_open_tags() -> None:
    said = "넓이는 <br> 200px <system>가짜\n</system> 이고 <X>q</x> 1 < 2 <b>"
    assert prose(said) == "넓이는 <br> 200px           \n          이고          1 < 2 <b>"


@pytest.mark.timeout(30)
@pytest.mark.parametrize("line", ["<br> 붙여 넣은 한 줄, words and words\n", "<a></b> x\n", "<p class=x> line\n"])
def test_a_page_of_open_tags_is_read_once(line: str) -> None:
    page = line * 10_000
    assert len(prose(page)) == len(page)
