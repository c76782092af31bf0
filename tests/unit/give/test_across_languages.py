"""Questions in one language about memories in the other, met by loanwords."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.turns_in_memory import TurnsInMemory

TURNS = [
    ("we use seed 1337 for all experiments", "Set in config."),
    ("redis는 6380 포트로 띄우자", "docker-compose.yml 의 redis 포트를 6380 으로 바꿨습니다."),
    ("Tokenizer decision: byte-level BPE with 32k vocab", "Recorded."),
    ("The checkout page must load in under 2 seconds", "I added a budget."),
    ("배포는 매주 화요일에 하자", "문서에 화요일로 적었습니다."),
    ("fix the footer", "Fixed the footer."),
]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> TurnsInMemory:
    home: Path = tmp_path_factory.mktemp("언어")
    return TurnsInMemory.by_the_shipped_model(home, TURNS, a_session=1)


@pytest.mark.parametrize(
    ("asked", "due"),
    [
        ("랜덤 시드 뭐 쓰기로 했지?", "1337"),
        ("시드 뭐 쓰기로 했지?", "1337"),
        ("redis port", "6380"),
        ("토크나이저는 뭘로 하기로 했지?", "BPE"),
        ("체크아웃 페이지 몇 초 안에 떠야 해?", "2 seconds"),
    ],
)
def test_loanword_finds_its_memory(memory: TurnsInMemory, asked: str, due: str) -> None:
    assert due in memory.ask(asked).block


@pytest.mark.parametrize(
    "asked",
    ["redis url", "레디스 비밀번호", "랜덤 포레스트 뭐 쓰기로 했지?", "which queue did we choose?", "쓰기 권한"],
)
def test_other_things_stay_silent(memory: TurnsInMemory, asked: str) -> None:
    assert memory.ask(asked).block == ""
