"""Which sessions are read, once each, whatever ends the process in between."""

import json
from pathlib import Path

import pytest

from memlayer.errors import ConsolidationError
from memlayer.notes.reader import OVER_AFTER_MS, SessionReader
from memlayer.notes.reading_log import MAX_TRIES, ReadingLog
from memlayer.notes.request import MAX_CALL_TOKENS
from memlayer.ports import Completion
from memlayer.records.model_budget import ModelBudget
from memlayer.records.sessions import Session
from tests.support.notes_in_memory import Noting
from tests.support.turns_in_memory import T0_MS

TURNS = (
    ("배포 요일을 화요일로 바꾸자, 월요일은 장애가 잦아.", "네, 배포를 화요일 오전으로 바꿨습니다."),
    ("Keep the 45m timeout of notarization, 20m was too short.", "Kept: 45m, because 20m was too short."),
)
TEXT = "배포는 화요일에 한다. 월요일은 장애가 잦아서 바꿨다."
NOTE = {"kind": "decision", "text": TEXT, "quote": "배포 요일을 화요일로 바꾸자", "turn": 1}
GOOD = json.dumps({"summary": "배포를 화요일로 바꿈.", "notes": [NOTE]}, ensure_ascii=False)


class Model:
    """A model with scripted answers; "" raises."""

    def __init__(self, *answers: str) -> None:
        self.answers, self.asked = list(answers), 0

    def complete(self, system: str, prompt: str, *, max_tokens: int, deadline_s: float) -> Completion:
        self.asked += 1
        text = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if not text:
            raise ConsolidationError("openai: HTTP 429")
        return Completion(text, 900, 100)


class Place:
    """A home whose reader may be made anew, as after a kill."""

    def __init__(self, home: Path) -> None:
        home.mkdir()
        self.home, self.noting, self.model = home, Noting(home), Model(GOOD)

    def reader(self, *, since_ms: int = 0, daily_tokens: int = 10**6) -> SessionReader:
        budget = ModelBudget(str(self.home / "use.json"), daily_tokens=daily_tokens)
        return SessionReader(
            self.noting.store, self.noting.keeper, ReadingLog(str(self.home)), self.model, budget, since_ms,
            clock=lambda: (T0_MS + 10 * OVER_AFTER_MS) / 1000,
        )  # fmt: skip

    def session(self, **changes: object) -> Session:
        session = self.noting.sessions.get("s1")
        assert session is not None
        session.summarized_ms = session.said_ms
        for name, value in changes.items():
            setattr(session, name, value)
        return session

    def texts(self) -> list[str]:
        return [text for text in self.noting.texts() if text == TEXT]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    found = Place(tmp_path / "메모리")
    found.noting.tell("s1", *TURNS)
    return found


def test_only_sessions_that_are_over_and_new_are_due(place: Place) -> None:
    session = place.session(ended="other")
    assert place.reader().due([session]) == [session]
    assert place.reader(since_ms=session.last_ms + 1).due([session]) == []  # from before the yes
    still_running = session.changed(ended="", last_ms=T0_MS + 10 * OVER_AFTER_MS - 1000)
    assert place.reader().due([still_running]) == []
    reader = place.reader()
    reader.read_so_far(still_running.id)  # before a compaction
    assert reader.due([still_running]) == [still_running]
    assert place.reader().due([session.changed(summarized_ms=0)]) == []  # not taken in whole yet
    assert place.reader().due([session.changed(noted_ms=session.said_ms)]) == []


def test_wanted_sessions_from_before_are_read(place: Place) -> None:
    session = place.session(ended="other")
    ReadingLog(str(place.home)).want(["s1"])
    assert place.reader(since_ms=session.last_ms + 1).due([session]) == [session]


@pytest.mark.parametrize("killed", ["after the answer", "after keeping", "never"])
def test_every_note_is_there_once(place: Place, killed: str) -> None:
    session = place.session(ended="other")
    reader = place.reader()
    part = reader.next_part(session)
    assert part is not None and part.is_last and len(part.request.turns) == 2
    assert reader.ask(part)
    if killed == "after the answer":
        reader = place.reader()
        part = reader.next_part(session)
        assert part is not None and reader.ask(part)
    elif killed == "after keeping":
        kept = ReadingLog(str(place.home)).get("s1")
        reader.apply(part)
        ReadingLog(str(place.home)).put(kept)  # the record of the reading was not written any more
        reader = place.reader()
        part = reader.next_part(session)
        assert part is not None and reader.ask(part)
    reader.apply(part)
    assert place.model.asked == 1 and len(place.texts()) == 1
    assert place.reader().next_part(session) is None


def test_resumed_session_is_read_for_its_new_turns(place: Place) -> None:
    session = place.session(ended="other")
    reader = place.reader()
    part = reader.next_part(session)
    assert part is not None and reader.ask(part)
    reader.apply(part)
    place.noting.say("s1", "s1-9", "배포 시간은 오전 열 시로 하자, 점심 전이 좋아.", "열 시로 바꿨습니다.", at=50)
    place.noting.say("s1", "s1-10", "And announce it in the #deploys channel an hour before.", "Announced.", at=60)
    part = reader.next_part(session)
    assert part is not None and [turn.prompt_id for turn in part.request.turns] == ["s1-9", "s1-10"]
    assert "배포를 화요일로 바꿈." in part.request.prompt and TEXT in part.request.prompt


def test_useless_answers_end_after_three_and_change_nothing(place: Place) -> None:
    place.model = Model("I am sorry.")
    session = place.session(ended="other")
    before = place.noting.everything()
    for _ in range(MAX_TRIES):
        reader = place.reader()  # a pause ends with its process
        part = reader.next_part(session)
        assert part is not None and reader.ask(part) and reader.apply(part) is None
        assert reader.is_paused
    assert place.reader().next_part(session) is None
    assert place.noting.everything() == before and place.model.asked == MAX_TRIES
    assert ReadingLog(str(place.home)).get("s1").gave_up == 1


def test_failures_and_an_empty_budget_leave_the_session_waiting(place: Place) -> None:
    place.model = Model("", GOOD)
    session = place.session(ended="other")
    reader = place.reader()
    part = reader.next_part(session)
    assert part is not None and not reader.ask(part) and reader.is_paused
    poor = place.reader(daily_tokens=100)
    assert not poor.ask(part) and "budget" in poor.waits_why
    assert place.reader().due([session]) == [session]
    later = place.reader()
    assert later.ask(part)
    later.apply(part)
    assert len(place.texts()) == 1


def test_long_session_is_read_in_parts(place: Place) -> None:
    for number in range(30):
        prompt = "배포 단계 %d을 정리하자. " % number + "자세한 이유를 적는다. " * 60
        place.noting.say("s1", "long-%d" % number, prompt, "정리했습니다. " * 80, at=100 + number)
    session = place.session(ended="other")
    reader, shown = place.reader(), []
    while (part := reader.next_part(session)) is not None:
        assert part.request.tokens <= MAX_CALL_TOKENS
        shown += [turn.prompt_id for turn in part.request.turns]
        assert reader.ask(part)
        reader.apply(part)
    assert len(shown) == len(set(shown)) == 32 and place.model.asked > 1


def test_forgetting_takes_texts_out_of_the_record(place: Place) -> None:
    bad = {**NOTE, "text": "비밀 포트는 5433이다.", "quote": "없는 말을 인용합니다, 정말로"}
    place.model = Model(json.dumps({"summary": "", "notes": [bad]}, ensure_ascii=False))
    session = place.session(ended="other")
    reader = place.reader()
    part = reader.next_part(session)
    assert part is not None and reader.ask(part)
    reader.apply(part)
    log = ReadingLog(str(place.home))
    assert log.get("s1").refused[0]["text"] == "비밀 포트는 5433이다."
    log.forget([part.request.turns[0].event_ids[0]])
    assert log.get("s1").refused == [] and "5433" not in json.dumps(log.get("s1").__dict__)
    assert place.reader().next_part(session) is None  # and it is not read again
