"""What a person asks to remember: for this project, or in so many words for every one."""

from __future__ import annotations

import pytest

from memlayer.edge.home.registry import GLOBAL
from memlayer.turns.remembered import remember_event, says_everywhere


@pytest.mark.parametrize(
    "text",
    [
        "In all my projects, use pnpm.",
        "Always write commit messages in English in every project.",
        "for all of my repos: never force push",
        "Use four spaces across all projects",
        "In every repository I want conventional commits.",
        "앞으로 모든 프로젝트에서 커밋 메시지는 한국어로 써줘.",
        "어느 프로젝트에서든 답변은 존댓말로 해줘",
        "모든 내 프로젝트에서 pnpm을 쓴다",
        "커밋은 모든 레포에서 영어로 써줘",
        "모든 프로젝트 공통으로 탭 대신 스페이스를 쓴다",
        "모든 project에서 pnpm 써줘",
        "In all my projects, use pnpm instead of npm.",
        "모든 프로젝트에서 npm 말고 pnpm을 써줘",
    ],
)
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
