"""Extraction by rules: lasting statements of a turn, with their dates, and a line for the day."""

import datetime
import time

import pytest

from memlayer.consolidation.rules.dates import with_dates
from memlayer.consolidation.rules.extraction import Extraction, extract, kind_of, own_words
from memlayer.text.sentences import candidates, prose
from tests.support.tables import tables

TABLES = tables("consolidation/extraction")

THURSDAY = datetime.date(2026, 3, 12)
AT_MS = int(datetime.datetime(2026, 3, 12, 10, tzinfo=datetime.UTC).timestamp() * 1000)


def _of(prompt: str, *answers: str) -> Extraction:
    return extract(prompt, answers, AT_MS, zone=datetime.UTC)


SETTLED = TABLES["settled"]


@pytest.mark.parametrize(("prompt", "kind"), SETTLED)
def test_person_settles(prompt: str, kind: str) -> None:
    [found] = _of(prompt, "Understood.").statements
    assert (found.kind, found.speaker) == (kind, "user")
    assert found.source in prompt


PASSING = TABLES["passing"]


@pytest.mark.parametrize(("prompt", "answer"), PASSING)
def test_nothing_lasting(prompt: str, answer: str) -> None:
    assert _of(prompt, answer).statements == ()


CLOSING = TABLES["closing"]


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


@pytest.mark.parametrize(("text", "kind"), TABLES["kind_of_text"])
def test_kind_of_text(text: str, kind: str) -> None:
    assert kind_of(text) == kind


@pytest.mark.parametrize(("text", "dated"), TABLES["dates"])
def test_dates(text: str, dated: str) -> None:
    assert with_dates(text, THURSDAY) == dated


def test_days_count_in_zone() -> None:
    late = int(datetime.datetime(2026, 3, 12, 20, tzinfo=datetime.UTC).timestamp() * 1000)
    seoul = datetime.timezone(datetime.timedelta(hours=9))
    (found,) = extract("내일까지 초안을 제출해야 해", ["네."], late, zone=seoul).statements
    assert "[2026-03-14]" in found.text


@pytest.mark.parametrize(("prompt", "answers", "wanted"), TABLES["daily"])
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
