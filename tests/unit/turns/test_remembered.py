"""What a person asks to remember: for this project, or in so many words for every one."""

import pytest

from memlayer.edge.home.registry import GLOBAL
from memlayer.turns.remembered import remember_event, says_everywhere
from tests.support.tables import tables


@pytest.mark.parametrize("text", tables("turns/remembered")["words_for_every_project"])
def test_words_for_every_project(text: str) -> None:
    assert says_everywhere(text)


@pytest.mark.parametrize(
    "text",
    [
        "Use pnpm.",
        "Always write commit messages in English.",
        "Not in all projects, only here: use yarn.",
        "Enable nullable in all projects of the solution.",
        "In every test, reset the clock.",
        "Use tabs in all projects except this one.",
        "install it globally",
        "항상 커밋 메시지는 한국어로 써줘.",
        "프로젝트마다 포트가 다르다",
        "모든 테스트에서 시계를 초기화한다",
        "모든 프로젝트에서 그럴 필요는 없고 여기서만 탭을 쓴다",
        "모든 프로젝트 말고 여기서만 yarn을 쓴다",
        "",
        "가" * 50_000,
    ],
)
def test_no_words_for_every_project(text: str) -> None:
    assert not says_everywhere(text)


def test_event_names_its_scope() -> None:
    def detail(text: str, **more: bool) -> object:
        return remember_event(text, project_dir="/srv/shop", at_ms=1, **more)["detail"]

    assert detail("커밋은 한국어로") == ""
    assert detail("커밋은 한국어로", is_global=True) == GLOBAL
    assert detail("모든 프로젝트에서 커밋은 한국어로 쓴다") == GLOBAL
