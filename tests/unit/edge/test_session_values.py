"""A value that a session gave as a secret is one wherever the session repeats it."""

import json
from pathlib import Path

import pytest

from memlayer.edge.capture.payload import read_payload
from memlayer.edge.redaction import session_values
from memlayer.edge.redaction.privacy import redact
from memlayer.transcripts.catch_up import captured
from memlayer.transcripts.reader import read_turns

GIVEN = (
    ("와이파이 암호가 dubu4412x 야", "dubu4412x", "네, dubu4412x 로 저장할게요"),
    ("계정 비번 바꿨어: Naru_88!q", "Naru_88!q", "네, Naru_88!q로 바뀐 것 확인했습니다"),
    ("pw는 mori7719k", "mori7719k", "`mori7719k` 로 접속했어요."),
    ("the prod password is Tq9hollow", "Tq9hollow", "OK, I'll use Tq9hollow."),
    ("사내 계정 비번은 고래밥77이야", "고래밥77", "고래밥77 로 로그인했습니다"),
)


def kept(hook: str, session: str, **fields: object) -> str:
    raw = json.dumps({"session_id": session, "prompt_id": "p", "cwd": "/tmp", **fields}).encode()
    event = read_payload(hook, raw, project_dir="/tmp", at_ms=1).event
    assert event is not None
    return str(event["text"])


@pytest.mark.parametrize(("prompt", "secret", "answer"), GIVEN)
def test_repeated_secret_goes(prompt: str, secret: str, answer: str) -> None:
    assert secret not in kept("user_prompt_submit", "s-" + secret, prompt=prompt)
    assert "[redacted:password]" in kept("stop", "s-" + secret, last_assistant_message=answer)
    tool = {"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "echo %s > a.txt" % secret}}
    call = kept("post_tool_use", "s-" + secret, **tool, tool_response={"stdout": "wrote %s" % secret})
    assert secret not in call and "> a.txt" in call and "wrote" in call
    assert secret not in kept("user_prompt_submit", "s-" + secret, prompt="%s 로 접속돼?" % secret)
    assert secret in kept("stop", "another-" + secret, last_assistant_message=answer)


@pytest.mark.parametrize(("prompt", "secret", "answer"), GIVEN)
def test_transcript_tells_the_secrets_of_prompts(prompt: str, secret: str, answer: str, tmp_path: Path) -> None:
    """As a hook without a daemon, or a daemon that has just begun."""
    path = tmp_path / "t.jsonl"
    records = [
        {"type": "user", "uuid": "1", "sessionId": "t", "message": {"role": "user", "content": prompt}},
        {"type": "assistant", "uuid": "2", "sessionId": "t", "message": {"id": "m", "content": answer}},
    ]
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), "utf-8")
    assert secret not in kept("stop", "t-" + secret, last_assistant_message=answer, transcript_path=str(path))
    turns = [
        captured(turn, session_id="u-" + secret, project_dir="/tmp", path=str(path), source="transcript")
        for turn in read_turns(str(path))
    ]
    assert len(turns) == 2 and all(turn is not None and secret not in turn["text"] for turn in turns)


@pytest.mark.parametrize(
    "value", ["admin", "admin1", "changeme", "postgres", "a1b2", "sha256", "settings.py", "TestE2E_BasicWorkflow"]
)
def test_words_and_short_values_do_not_spread(value: str) -> None:
    with session_values.Heard("words"):
        redact('password = "%s"' % value)
        text = "%s 화면에서 %s user" % (value, value)
        assert redact(text) == text or value == "admin1"


def test_part_of_a_longer_word_stays() -> None:
    with session_values.Heard("parts"):
        assert "dubu4412x" not in redact("비번은 dubu4412x 야")
        assert redact("dubu4412xyz, adubu4412x") == "dubu4412xyz, adubu4412x"


def test_sessions_in_memory_are_bounded() -> None:
    for number in range(200):
        session_values.Heard("bounded %d" % number)
    assert session_values.Heard("bounded 0").is_new and not session_values.Heard("bounded 199").is_new


ASKED = (
    ("로그를 봤습니다.\n\nDB 비밀번호를 알려 주세요.", "dubu4412x"),
    ("I need it to go on. What is the admin password?", "Tq9hollow"),
    ("Please paste the deploy token:", "`a8f3kq02mzx7`"),
)


@pytest.mark.parametrize(("answer", "prompt"), ASKED)
def test_password_typed_alone_goes_where_it_was_asked_for(answer: str, prompt: str, tmp_path: Path) -> None:
    value = prompt.strip("`")
    session = "asked-" + value
    kept("stop", session, last_assistant_message=answer)
    assert kept("user_prompt_submit", session, prompt=prompt) == "[redacted:password]"
    assert value not in kept("stop", session, last_assistant_message="%s 로 접속했습니다" % value)
    path = tmp_path / "t.jsonl"
    blocks = [{"type": "text", "text": answer}]
    record = {"type": "assistant", "uuid": "2", "sessionId": "t", "message": {"id": "m", "content": blocks}}
    path.write_text(json.dumps(record, ensure_ascii=False) + "\n", "utf-8")
    alone = kept("user_prompt_submit", "alone-" + value, prompt=prompt, transcript_path=str(path))
    assert alone == "[redacted:password]"


@pytest.mark.parametrize(
    ("answer", "prompt"),
    [
        ("DB 비밀번호를 알려 주세요.", "배포부터 해줘"), ("What is the admin password?", "see .env"),
        ("The password page is done.", "v2.1.0x"), ("토큰 수명은 얼마로 할까요?", "15m"), ("Which port?", "Tq9hollow"),
    ],
)  # fmt: skip
def test_other_answers_to_a_question_stay(answer: str, prompt: str) -> None:
    kept("stop", "other-" + prompt, last_assistant_message=answer)
    assert kept("user_prompt_submit", "other-" + prompt, prompt=prompt) == prompt
