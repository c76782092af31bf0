"""A person's rules are kept whole, and look-alikes are not."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from memlayer.consolidation.rules.extraction import Statement, extract
from memlayer.consolidation.rules.standing import let_go, takes_back
from memlayer.kinds import Kind
from tests.support.tables import tables

TABLES = tables("consolidation/standing_rules")

DATA = Path(__file__).parents[2] / "data" / "standing_rules.yaml"
ROWS: list[dict[str, Any]] = yaml.safe_load(DATA.read_text("utf-8"))
LEAST_KEPT = 41  # of 42 rules that no pattern was fitted to
MOST_WRONG = 3  # of 44 look-alikes that no pattern was fitted to


def stated(prompt: str) -> list[Statement]:
    statements = extract(prompt, ["Done."], 0).statements
    return [row for row in statements if row.speaker == "user" and not row.is_reversal]


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


@pytest.mark.parametrize(("prompt", "whole"), TABLES["short_sentence_behind_a_rule_belongs_to_it"])
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


@pytest.mark.parametrize("prompt", TABLES["answers_to_a_proposal"])
def test_an_answer_to_a_proposal_is_no_rule(prompt: str) -> None:
    assert stated(prompt) == []


KEPT = TABLES["kept"]


@pytest.mark.parametrize(("prompt", "place"), TABLES["rule_that_is_let_go"])
def test_rule_that_is_let_go(prompt: str, place: int) -> None:
    assert takes_back(prompt) and let_go(prompt, KEPT) == [place]


@pytest.mark.parametrize(
    ("rule", "prompt"),
    [
        ("npm은 절대 쓰지 마", "이제 npm 써도 돼"), ("Never use npm, use pnpm.", "you may use npm again"),
        ("패키지는 pnpm으로, npm은 쓰지 마.", "npm 다시 써도 돼"), ("Don't use npm.", "we can use npm after all"),
        ("moment.js 사용 금지", "moment.js 금지는 풀었어, 써도 상관없어"),
        ("No lodash in this repo.", "the lodash ban is lifted"),
        ("커밋 메시지에 이모지 넣지 마.", "커밋에 이모지 넣어도 돼"), ("axios 쓰지 마", "이제부터 axios 허용"),
        ("Never use jQuery.", "feel free to use jQuery"), ("jest는 쓰면 안 돼", "jest도 괜찮아 이제"),
    ],
)  # fmt: skip
def test_a_permission_of_what_a_rule_forbids(rule: str, prompt: str) -> None:
    assert takes_back(prompt) and let_go(prompt, [rule]) == [0]


@pytest.mark.parametrize(
    ("rule", "prompt"),
    [
        ("npm은 절대 쓰지 마", "npm은 여전히 쓰면 안 돼"), ("Never use npm.", "can we use npm again?"),
        ("npm 쓰지 마", "npm 안 써도 돼"), ("npm 쓰지 마", "npm 써도 되면 말해줘"),
        ("Never use npm.", "you can use yarn"), ("Never use npm.", "npm cannot be used here"),
        ("커밋에 이모지 넣지 마.", "화면에 그림 넣어도 돼"),
        ("npm 쓰지 마", "이제 테스트 돌려도 돼"), ("use pnpm, not npm", "you can run the pnpm tests now"),
    ],
)  # fmt: skip
def test_no_permission_of_what_a_rule_forbids(rule: str, prompt: str) -> None:
    assert let_go(prompt, [rule]) == []


def test_what_a_person_allows_is_no_rule() -> None:
    for prompt in (
        "From now on you may use npm here, forget the pnpm rule.", "이제부터 항상 npm 써도 돼 이제",
        "you can always push now", "From now on it's ok to use emojis in commits, always.",
        "앞으로는 main 에 바로 푸시해도 됩니다 이제",
    ):  # fmt: skip
        assert [row.text for row in stated(prompt) if row.is_rule] == [], prompt


@pytest.mark.parametrize(
    "prompt",
    TABLES["nothing_else_is_let_go"],
)  # fmt: skip
def test_nothing_else_is_let_go(prompt: str) -> None:
    assert let_go(prompt, KEPT) == []
