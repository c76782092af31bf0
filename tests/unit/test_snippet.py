"""The part of a memory that an entry shows: the sentences that answer, also of a sentence that has no end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.turns_in_memory import TurnsInMemory

AROUND = {
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


@pytest.mark.parametrize("language", AROUND)
@pytest.mark.parametrize("before", [2, 5])
def test_of_a_sentence_that_goes_on_and_on_the_part_that_answers_is_shown(
    home: Path, language: str, before: int
) -> None:
    first, answer, after, question, due = AROUND[language]
    memory = TurnsInMemory(home)
    told = first * before + answer + after * 5
    memory.turn("s1", "q1", told, "Got it. I looked through the module first. It has three parts. 네, 봤습니다.")
    block = memory.ask(question).block
    assert due in block
    assert len(block) < 1200
