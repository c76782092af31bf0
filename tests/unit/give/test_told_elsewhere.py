"""A start tells nothing twice, and no wish that waits for the person."""

import pytest

from memlayer.give.own_statements import changes_in, stated
from memlayer.kinds import Author, Category, Kind
from memlayer.model import Memory
from memlayer.turns.salience import new_memory


def turn(number: int, prompt: str) -> Memory:
    return new_memory(
        f"turn{number}", Category.CONVERSATION, Kind.TURN, f"User: {prompt}\nAssistant: 네, ok.", 1000 * number,
        project_id="p", session_id="s", prompt_id=str(number), by=Author.PERSON,
    )  # fmt: skip


def core(of: Memory, text: str, kind: Kind, by: Author = Author.PERSON) -> Memory:
    return new_memory(
        "core" + of.id, Category.CORE, kind, text, of.at_ms,
        project_id="p", session_id="s", prompt_id=of.prompt_id, by=by,
    )  # fmt: skip


def lines(reports: list[Memory], over: list[Memory]) -> list[str]:
    newest_first = sorted(reports, key=lambda row: -row.at_ms)
    return [line.split(": ", 1)[1] for line, _ in stated(newest_first, over, [], changes_in(newest_first))]


@pytest.mark.parametrize(
    ("prompt", "text", "kind", "by"),
    [
        ("Dana: never merge on Fridays", "never merge on Fridays", Kind.PREFERENCE, Author.UNCLEAR),
        ("민수: 금요일에는 절대 배포하지 마", "금요일에는 절대 배포하지 마", Kind.PREFERENCE, Author.UNCLEAR),
        ("todo: we write the migration guide for v2", "write the migration guide for v2", Kind.TASK, Author.PERSON),
        ("할 일: 배포 문서를 고쳐야 해", "배포 문서를 고쳐야 해", Kind.TASK, Author.PERSON),
    ],
)
def test_what_waits_or_is_listed_is_no_statement(prompt: str, text: str, kind: Kind, by: Author) -> None:
    said, other = turn(1, prompt), turn(2, "We use Postgres for the cart from now on.")
    assert lines([said, other], []) == ["We use Postgres for the cart from now on.", prompt]
    assert lines([said, other], [core(said, text, kind, by)]) == ["We use Postgres for the cart from now on."]


@pytest.mark.parametrize(
    ("task", "report", "decision"),
    [
        ("배포 문서 고치기", "배포 문서 고치는 거 끝났어", "배포 문서는 docs/deploy.md로 옮기기로 했어"),
        ("write the migration guide", "I finished the migration guide", "We keep the migration guide in docs/v2.md."),
    ],
)
def test_a_report_of_a_listed_task_is_no_statement(task: str, report: str, decision: str) -> None:
    asked, told, decided = turn(1, "그거 부탁해"), turn(2, report), turn(3, decision)
    assert lines([told, decided], [core(asked, task, Kind.TASK)]) == [decision]
