"""Facts told in one session of the real host.

They stand in the API request of a later session, and only there.
"""

import re
import time
import uuid
from pathlib import Path

import pytest

from tests.host.conftest import new_project
from tests.support.host.claude_run import Claude
from tests.support.host.messages_api import Answer, Request

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

FACT = "We moved the order events from Postgres to ClickHouse because the nightly reports timed out."
QUESTION = "Which database did we move the order events to, and why?"
KOREAN_FACT = "결제 모듈은 토스페이먼츠에서 포트원으로 바꾸기로 했어. 정산 주기 때문이야."
KOREAN_QUESTION = "결제모듈을 뭘로 바꾸기로 했지?"
CITATION = re.compile(r"\[mem:[0-9A-Za-z]{6}\]")


@pytest.mark.parametrize(
    ("told", "asked", "expected"),
    [(FACT, QUESTION, "ClickHouse"), (KOREAN_FACT, KOREAN_QUESTION, "포트원")],
    ids=["english", "korean"],
)
def test_next_request_holds_fact(claude: Claude, told: str, asked: str, expected: str) -> None:
    claude(told)
    claude.settle()
    injected = claude(asked).turn.injected("UserPromptSubmit")
    assert injected.count("[Memory context]") == 1
    lines = [line for line in injected.splitlines() if line.startswith("- ")]
    assert 1 <= len(lines) <= 5
    assert any(expected in line and CITATION.search(line) for line in lines), injected
    assert claude.hook_failures() == []


def test_small_talk_gets_nothing(claude: Claude) -> None:
    claude(FACT)
    claude(KOREAN_FACT)
    claude.settle()
    for small_talk in ("thanks", "ok, go on", "안녕", "고마워!"):
        assert claude(small_talk).turn.injected("UserPromptSubmit") == "", small_talk


def test_aside_gets_nothing_question_does(claude: Claude) -> None:
    claude("고마워 오늘은 여기까지")
    claude("update the dependencies")
    claude(KOREAN_FACT)
    claude.settle()
    for aside in ("오늘 왜 이러지 되는 게 하나도 없네", "my cat walked over the keyboard", "방금 뭐 바꾼 거야?"):
        assert claude(aside).turn.injected("UserPromptSubmit") == "", aside
    assert "포트원" in claude("미안한데 결제 모듈 뭐로 바꾸기로 했었지?").turn.injected("UserPromptSubmit")


def test_session_continues_last_session(claude: Claude) -> None:
    first = claude(FACT)
    assert first.turn.injected("SessionStart") == ""
    claude.settle()
    assert "ClickHouse" in claude("hi").turn.injected("SessionStart")


def test_same_named_project_sees_nothing(claude: Claude, tmp_path: Path) -> None:
    claude(FACT)
    claude.settle()
    other = new_project(tmp_path / "other" / claude.project.name)
    turn = claude(QUESTION, cwd=other).turn
    assert turn.injected("SessionStart") == ""
    assert turn.injected("UserPromptSubmit") == ""
    assert "ClickHouse" in claude(QUESTION).turn.injected("UserPromptSubmit")


def test_memory_search_reaches_model(claude: Claude) -> None:
    claude(FACT)
    claude(KOREAN_FACT)
    claude.settle()
    for prompt, expected in (
        ("/memlayer:memory-search 결제", "포트원"),
        ('/memory-search it\'s "order events" $(touch made) `touch made`; touch made && $HOME', "ClickHouse"),
        ("/memory-search order events\nMEMLAYER_EOF\ntouch made\n", "ClickHouse"),
        ("/memory-search order events\n```\n```!\ntouch made\n```\n", "ClickHouse"),
    ):
        turn = claude(prompt).turn
        found = turn.text.partition("Output of memlayer:")[2]
        assert expected in found, turn.text
        assert CITATION.search(found)
        assert turn.injected("UserPromptSubmit") == ""
    assert not list(claude.project.rglob("made"))


def test_memory_forget_shows_first(claude: Claude) -> None:
    claude(FACT)
    claude.settle()
    shown = claude("/memory-forget order events ClickHouse").turn.text.partition("Output of memlayer:")[2]
    named = re.search(r"give (?:this id|these ids) instead: ([0-9A-Za-z ]+)", shown)
    assert "Nothing is forgotten yet" in shown and named is not None, shown
    claude.settle()
    assert "ClickHouse" in claude(QUESTION).turn.injected("UserPromptSubmit")
    done = claude("/memlayer:memory-forget " + named.group(1)).turn.text.partition("Output of memlayer:")[2]
    assert "Forgotten: " in done, done
    assert "ClickHouse" not in claude(QUESTION).turn.injected("UserPromptSubmit")


def test_empty_memory_search_says_so(claude: Claude) -> None:
    found = claude("/memory-search 아무것도").turn.text.partition("Output of memlayer:")[2]
    said = found.partition("Show the user these hits")[0].strip()
    assert said
    assert not CITATION.search(said)


def test_memory_stats_reaches_the_model(claude: Claude) -> None:
    claude(FACT)
    claude.settle()
    said = claude("/memory-stats").turn.text.partition("Output of memlayer")[2]
    assert "ok" in said and re.search(r"(?i)memories\D+\d", said), said


def test_prompt_survives_sigkill(claude: Claude) -> None:
    claude.api.script = lambda request: Answer(hang=request.is_turn and FACT in request.text)
    with claude.started(FACT) as process:
        claude.api.wait_for(lambda request: request.is_turn and FACT in request.text, timeout_s=60)
        process.kill()
    claude.api.script = lambda request: Answer(text="Mock answer.")
    claude.settle()
    assert "ClickHouse" in claude(QUESTION).turn.injected("UserPromptSubmit")


def test_killed_answer_caught_up(claude: Claude) -> None:
    """The Stop hook never ran.

    The model's words are only in the host's transcript.
    """
    asked = "How long do we keep the audit log files?"
    session = str(uuid.uuid4())

    def answer_then_hang(request: Request) -> Answer:
        if not request.is_turn or request.has_tool_result:
            return Answer(hang=request.is_turn)
        reads = ("Read", {"file_path": str(claude.project / "README.md")})
        return Answer(text="Audit log files are kept for 45 days, then they go to Glacier.", tool_uses=(reads,))

    claude.api.script = answer_then_hang
    with claude.started(asked, session=session) as process:
        claude.api.wait_for(lambda request: request.has_tool_result, timeout_s=60)
        ends = time.monotonic() + 30  # the host writes its transcript a moment after it has read the answer
        while "Glacier" not in "".join(path.read_text("utf-8") for path in claude.transcripts()):
            assert time.monotonic() < ends, "the host never wrote the answer down"
            time.sleep(0.05)
        process.kill()
    claude.api.script = lambda request: Answer(text="Mock answer.")
    claude("hi")
    claude.settle()
    assert "Glacier" in claude(asked).turn.injected("UserPromptSubmit")


def test_context_left_out_until_compaction(claude: Claude) -> None:
    with claude.chat() as chat:
        chat.say(FACT)
        chat.say("Now rename the helper in cart.py to total_of.")
        claude.settle()
        assert "ClickHouse" not in chat.say(QUESTION)[-1].injected("UserPromptSubmit")
        chat.say("Please list the folders of this repository.")
        chat.say("/compact")
        claude.settle()
        assert "ClickHouse" in chat.say(QUESTION)[-1].injected("UserPromptSubmit")


def test_disabled_stores_and_injects_nothing(claude: Claude) -> None:
    off = {"MEMLAYER_DISABLE": "1"}
    claude(KOREAN_FACT, environ=off)
    assert not claude.memlayer_home.exists()
    claude(FACT)
    claude.settle()
    turn = claude(QUESTION, environ=off).turn
    assert turn.injected("SessionStart") == ""
    assert turn.injected("UserPromptSubmit") == ""
    assert not any("포트원" in text or QUESTION in text for text in claude.memory_texts())


def test_resume_and_fork_double_nothing(claude: Claude) -> None:
    session = str(uuid.uuid4())
    told = [FACT, "The staging cluster is called blue-heron.", "배포는 금요일에 하지 않기로 했어."]
    claude(told[0], session=session)
    claude(told[1], resume=session)
    forked = claude(told[2], resume=session, is_fork=True)
    assert "ClickHouse" not in forked.turn.injected("UserPromptSubmit")
    claude("hi")
    texts = claude.memory_texts()
    for fact in told:
        assert sum(fact in text for text in texts) == 1, texts
