"""A person's rules are kept whole, and look-alikes are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from memlayer.consolidation.rules.extraction import Statement, extract
from memlayer.consolidation.rules.standing import let_go, takes_back
from memlayer.kinds import Kind

DATA = Path(__file__).parents[2] / "data" / "standing_rules.yaml"
ROWS: list[dict[str, Any]] = yaml.safe_load(DATA.read_text("utf-8"))
LEAST_KEPT = 41  # of 42 rules that no pattern was fitted to
MOST_WRONG = 3  # of 44 look-alikes that no pattern was fitted to


def stated(prompt: str) -> list[Statement]:
    return [row for row in extract(prompt, ["Done."], 0).statements if row.speaker == "user"]


def holds(row: dict[str, Any]) -> bool:
    wanted = row["keep"].rstrip(".")
    return any(wanted in statement.text and statement.kind == Kind.PREFERENCE for statement in stated(row["prompt"]))


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["set"] == "tune" and row["keep"]], ids=lambda row: row["prompt"]
)
def test_rule_is_kept_whole(row: dict[str, Any]) -> None:
    assert holds(row), stated(row["prompt"])


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["set"] == "tune" and not row["keep"]], ids=lambda row: row["prompt"]
)
def test_look_alike_is_no_rule(row: dict[str, Any]) -> None:
    assert stated(row["prompt"]) == []


def test_unseen_rules_are_kept_and_unseen_look_alikes_are_not() -> None:
    unseen = [row for row in ROWS if row["set"] == "measure"]
    rules, others = [row for row in unseen if row["keep"]], [row for row in unseen if not row["keep"]]
    assert sum(map(holds, rules)) >= LEAST_KEPT
    assert sum(bool(stated(row["prompt"])) for row in others) <= MOST_WRONG


@pytest.mark.parametrize(
    ("prompt", "whole"),
    [
        ("main 에는 절대 직접 푸시하지 마. 항상 PR 로.", "main 에는 절대 직접 푸시하지 마. 항상 PR 로."),
        ("main 에는 직접 푸시하지 마. 항상 PR 로.", "main 에는 직접 푸시하지 마. 항상 PR 로."),
        (
            "운영 DB는 고치지 말아줘. 항상 마이그레이션으로.",
            "운영 DB는 고치지 말아줘. 항상 마이그레이션으로.",
        ),
        ("Don't push to main. Always open PRs.", "Don't push to main. Always open PRs."),
        (
            "The payment states are: new, held, settled. No others.",
            "The payment states are: new, held, settled. No others.",
        ),
        (
            "지원하는 언어는 한국어, 영어, 일본어야. 그 외에는 없어.",
            "지원하는 언어는 한국어, 영어, 일본어야. 그 외에는 없어.",
        ),
    ],
)
def test_short_sentence_behind_a_rule_belongs_to_it(prompt: str, whole: str) -> None:
    assert [row.text for row in stated(prompt) if row.is_rule] == [whole]


@pytest.mark.parametrize(
    "prompt", ["지금은 푸시하지 마. 항상 PR 로.", "Don't push yet. Always open PRs.", "푸시하지 말까? 항상 PR 로."]
)
def test_order_of_the_moment_is_no_part_of_a_rule(prompt: str) -> None:
    assert not any("푸시" in row.text or "push" in row.text for row in stated(prompt))


def test_each_rule_of_a_prompt_is_a_statement_of_its_own() -> None:
    prompt = "- 로그는 항상 영어로 쓴다\n- 비밀번호는 절대 로그에 남기지 마\n- Never commit directly to main.\n"
    assert len([row for row in stated(prompt) if row.is_rule]) == 3


def test_guidelines_pasted_whole_are_no_rules() -> None:
    pasted = "As Monitoring Specialist, you must:\n" + "- Never log passwords, tokens, or PII in any form at all\n" * 8
    assert [row for row in stated(pasted) if row.is_rule] == []


KEPT = [
    "작업 끝나면 마지막 줄에 English summary 한 줄씩 달아줘, Marcus 가 내 작업로그 읽어서",
    "앞으로 커밋 메시지는 항상 한글로 쓰고 제목 앞에 티켓번호 붙여줘.", "Run the linters before each commit",
    "테스트 먼저 짜고 구현해", "no emojis in commit messages please", "use pnpm, not npm",
    "prod DB is read-only for us", "응답은 짧게 해줘", "never push to main directly", "migrations 폴더는 건드리지 마",
]  # fmt: skip


@pytest.mark.parametrize(
    ("prompt", "place"),
    [
        ("굿 커밋은 내가 함. 아 그리고 영어 한 줄 다는건 이제 그만해도 돼, Marcus 팀 옮겼대", 0),
        ("이제 티켓번호는 안 붙여도 돼", 1),
        ("you can stop running the linters before each commit", 2),
        ("no need to run the linters before the commit any more", 2),
        ("테스트 먼저 짜는 건 이제 안 해도 됩니다", 3),
        ("we no longer need to avoid emojis in commit messages", 4),
        ("forget the rule about emojis in commit messages", 4),
        ("더 이상 pnpm 안 써도 돼, npm 으로 가", 5),
        ("prod DB no longer needs to be read-only for us", 6),
        ("티켓번호는 안 붙여도 돼, 이제", 1),
        ("짧게 안 해도 돼, 이제", 7),
        ("you can push to main now", 8),
        ("it's ok to push directly to main from now on", 8),
        ("from now on you may push straight to main again", 8),
        ("you may use npm again", 5),
        ("이제 npm 써도 돼.", 5),
        ("From now on you may use npm here, forget the pnpm rule.", 5),
        ("now you can use emojis", 4),
        ("we can write to the prod DB now", 6),
        ("이제 prod DB 에 써도 괜찮아", 6),
        ("emojis are fine in commit messages now", 4),
        ("이제 migrations 폴더 건드려도 돼", 9),
        ("migrations 폴더 손대도 됩니다 이제", 9),
    ],
)
def test_rule_that_is_let_go(prompt: str, place: int) -> None:
    assert takes_back(prompt) and let_go(prompt, KEPT) == [place]


def test_what_a_person_allows_is_no_rule() -> None:
    for prompt in (
        "From now on you may use npm here, forget the pnpm rule.", "이제부터 항상 npm 써도 돼 이제",
        "you can always push now", "From now on it's ok to use emojis in commits, always.",
        "앞으로는 main 에 바로 푸시해도 됩니다 이제",
    ):  # fmt: skip
        assert [row.text for row in stated(prompt) if row.is_rule] == [], prompt


@pytest.mark.parametrize(
    "prompt",
    [
        "이제 로그인 테스트는 그만하자", "이 테스트는 더 이상 필요 없는 것 같아?", "stop the server now",
        "you can stop here", "이제 그만해도 돼", "no need to change the parser", "이제 배포해도 돼",
        "> 커밋 메시지 티켓번호는 이제 안 붙여도 됩니다 라고 문서에 있는데 맞아?", "the cart no longer needs the lock",
        "do we no longer need emojis in commit messages?",
        "You can write commit messages in English now.", "you can push now", "이제 그거 써도 돼",
        "You can use yarn now.",
        "you can commit now", "you can run the tests now", "이제 테스트 돌려도 돼", "이제 커밋해도 돼요",
        "it's fine now", "the build is ok now", "is it ok to push to main now?", "이제 이 폴더 지워도 돼",
        "you can go on now", "you can use the new parser now",
        "Translate this:\n\nYou no longer need to run the linters before each commit.",
    ],
)  # fmt: skip
def test_nothing_else_is_let_go(prompt: str) -> None:
    assert let_go(prompt, KEPT) == []
