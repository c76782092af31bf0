"""The part of a memory that an entry shows."""

import pytest

from memlayer.give.query import reduce_prompt
from memlayer.give.snippet import snippet
from memlayer.text.terms import query_terms
from tests.support.tables import tables

RUN_ON = {
    "en": (
        "so about the invoices the numbers never matched what accounting had and I kept going back and forth between "
        "the dashboard and the file and in the end it turned out that the replica lags by forty minutes or so and ",
        "from now on the invoice export reads from the pool named ledger-primary with a timeout of 45 seconds ",
        "and I do not want to have that conversation with them ever again so keep that in mind please and ",
        "which pool does the invoice export read from?",
        "ledger-primary",
    ),
    "ko": (
        "송장 얘기인데 회계팀 숫자랑 계속 안 맞아서 대시보드랑 파일을 왔다 갔다 하면서 보다가 결국은 복제본이 "
        "사십 분 정도 늦는다는 걸 알게 됐고 거기 말고도 이상한 데가 한두 군데가 아니라서 하나씩 보기로 했는데 ",
        "이제부터 송장 내보내기는 장부원본 풀에서 읽고 제한 시간은 45초로 하고 ",
        "그 사람들이랑 다시는 그런 얘기를 하고 싶지 않으니까 꼭 기억해 두면 좋겠고 또 까먹을까 봐 적어 두는 건데 ",
        "송장 내보내기는 어느 풀에서 읽지?",
        "장부원본",
    ),
}
LONG = {
    "en": (
        "why did the export fail?",
        "User: why does the export fail since yesterday?\n"
        "Assistant: I looked through the export module and its tests.\n\n"
        "**Files changed:**\n- `export.py`\n- `test_export.py`\n\n"
        "Root cause: the export held the database lock while it uploaded, so the nightly job timed out.\n"
        "```python\nexport(lock=False)\n```\nAll 214 tests pass. Want me to commit this?",
        "Root cause: the export held the database lock",
    ),
    "ko": (
        "내보내기가 왜 실패했었지?",
        "User: 어제부터 내보내기가 왜 실패하지?\n"
        "Assistant: 내보내기 모듈과 테스트를 살펴보았습니다.\n\n"
        "**바뀐 파일:**\n- `export.py`\n- `test_export.py`\n\n"
        "원인: 내보내기가 업로드하는 동안 데이터베이스 잠금을 쥐고 있어서 야간 작업이 시간을 넘겼습니다.\n"
        "```python\nexport(lock=False)\n```\n테스트 214개가 모두 통과합니다. 커밋할까요?",
        "원인: 내보내기가 업로드하는 동안",
    ),
}


def rarity(question: str) -> dict[str, float]:
    return dict.fromkeys(reduce_prompt(question).terms, 5.0)


@pytest.mark.parametrize("language", RUN_ON)
@pytest.mark.parametrize("before", [2, 5])
def test_run_on_sentence_is_cut_around_the_answer(language: str, before: int) -> None:
    first, answer, after, question, due = RUN_ON[language]
    found = snippet(first * before + answer + after * 5, rarity(question), 240)
    assert due in found and len(found) <= 242


@pytest.mark.parametrize("language", LONG)
def test_cause_is_shown_not_the_head(language: str) -> None:
    question, turn, due = LONG[language]
    found = snippet(turn, rarity(question), 160)
    assert due in found and len(found) <= 160
    assert "```" not in found and "Files changed" not in found and "바뀐 파일" not in found


def test_short_memory_is_shown_whole() -> None:
    assert snippet("배포는 화요일 오전에 한다. 담당은 민서.", {}, 240) == "배포는 화요일 오전에 한다. 담당은 민서."


def test_stale_sentence_is_left_out() -> None:
    text = "포트는 8443이다. 담당은 민서이고 예비 담당은 지훈이다."
    held = snippet(text, rarity("담당 민서가 맞아?"), 240, lambda sentence: "8443" in sentence)
    assert held == "담당은 민서이고 예비 담당은 지훈이다." or held.endswith("지훈이다.")
    assert snippet(text, rarity("포트가 뭐지?"), 240, lambda sentence: "8443" in sentence) == ""


@pytest.mark.parametrize("text", ["", "```\ncode\n```", "x" * 5000, "가" * 5000])
def test_odd_texts_stay_within_the_room(text: str) -> None:
    assert len(snippet(text, {}, 240)) <= 242


@pytest.mark.parametrize(
    ("text", "question", "due"),
    [
        ("User: the daily report mixes up days\n"
         "Assistant: It used the local zone, so I made it convert first and run at 06:10 KST.",
         "일일 보고서는 몇시에 돌아?", "06:10"),
        ("User: 목록 스크롤이 버벅여\n"
         "Assistant: 썸네일을 메인 스레드에서 하나씩 복호화하고 있어서 화면이 밀렸던 것이라 백그라운드로 옮겼습니다.",
         "what made it slow?", "썸네일"),
    ],
)  # fmt: skip
def test_answer_in_other_language_is_shown(text: str, question: str, due: str) -> None:
    padded = text + " Nothing else changed in any of the other places that were looked at." * 4
    assert due in snippet(padded, dict.fromkeys(query_terms(question), 5.0), 240)


@pytest.mark.parametrize(("text", "told"), tables("give/snippet")["a_question_is_no_evidence"])
def test_a_question_is_no_evidence(text: str, told: str) -> None:
    assert snippet(text, {"redis": 3.0, "search": 2.0}, 240, as_evidence=True) == told


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        (
            'Can we add "press the up arrow key to get the prompt again"?',
            "Done. The warning message will now include the hint:",
        ),
        (
            "경고에 '위 화살표를 누르면 프롬프트가 다시 나온다' 를 추가해줄래?",
            "네. 이제 경고 메시지가 이렇게 나옵니다:",
        ),
    ],
)
def test_an_answer_that_only_announces_stands_with_its_question(prompt: str, answer: str) -> None:
    told = snippet("User: %s\nAssistant: %s" % (prompt, answer), {}, 240, as_evidence=True)
    assert prompt[-20:] in told
