"""The matters of a session, and the goals that its summary names."""

from pathlib import Path

from memlayer.topics.session_summary import matters, sum_up
from tests.support.turns_in_memory import TurnsInMemory

WEBHOOK = [
    (
        "웹훅이 두 번 오는 문제를 고쳐줘, 토스페이먼츠 재전송 같아.",
        "토스페이먼츠 재전송이 원인이라 웹훅 중복 검사를 추가했습니다.",
    ),
    ("웹훅 중복 검사 테스트도 추가해줘.", "웹훅 중복 검사 테스트를 hooks/test_webhook.py에 추가했습니다."),
]
RELEASE = [
    ("The notarize step of the release times out, please raise its timeout to 45m.",
     "I raised the notarize timeout of goreleaser to 45m in .goreleaser.yaml."),
    ("commit it", "Committed the notarize timeout."),
]  # fmt: skip


def test_turns_fall_into_matters() -> None:
    assert matters([(prompt, [answer]) for prompt, answer in WEBHOOK + RELEASE]) == [0, 0, 1, 1]
    back = [*WEBHOOK, *RELEASE, ("웹훅 중복 검사 테스트 이름을 바꿔줘.", "웹훅 중복 검사 테스트 이름을 바꿨습니다.")]
    assert matters([(prompt, [answer]) for prompt, answer in back]) == [0, 0, 1, 1, 0]
    assert matters([]) == []


def summary(home: Path, turns: list[tuple[str, str]]) -> str:
    home.mkdir()
    memory = TurnsInMemory(home)
    for number, (prompt, answer) in enumerate(turns):
        memory.turn("s1", "p%d" % number, prompt, answer, at=number)
    session = memory.sessions.get("s1")
    assert session is not None
    made = sum_up(memory.keep, session)
    assert made is not None
    return made.text.split("\n")[0]


def test_each_matter_with_a_result_has_its_goal(tmp_path: Path) -> None:
    goal = summary(tmp_path / "둘", WEBHOOK + RELEASE)
    assert "웹훅" in goal and "notarize" in goal and " / " in goal


def test_one_matter_has_one_goal(tmp_path: Path) -> None:
    assert " / " not in summary(tmp_path / "하나", WEBHOOK)
