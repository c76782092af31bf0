"""The line that tells a person which rules of a prompt memlayer keeps."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memlayer.give.listed_start import RULES_HEADING
from memlayer.give.standing_orders import LEAD
from memlayer.model import citation_of
from tests.support.cli_process import Cli
from tests.support.processes import Daemon, HookResult, HookRunner
from tests.support.tables import tables

ROOT = Path(__file__).resolve().parents[2]
RULE = "main 에는 절대 직접 푸시하지 마"
ENGLISH = "Never log the card number. Always run the linters before each commit."
LINE = re.compile(r"memlayer keeps: (.+) \(undo: /memory-review drop ((?:[0-9A-Za-z]{6} ?)+)\)")
ANSWER = "Understood."


class Person:
    """A project with its daemon; collects what the person is shown."""

    def __init__(self, home: Path, project: Path, settings: dict[str, Any] | None = None) -> None:
        self.daemon = Daemon(ROOT, home, settings)
        self.hook = HookRunner(ROOT, home, project, python=getattr(sys, "_base_executable", sys.executable))
        self.hook.forbid_background()
        self.shown: list[str] = []
        self.contexts: list[str] = []

    def call(self, name: str, session: str, prompt_id: str = "", **fields: Any) -> HookResult:
        done = self.hook(name, session, prompt_id, **fields)
        assert (done.returncode, done.stderr) == (0, b"")
        self.shown.append(str(done.output.get("systemMessage", "")))
        self.contexts.append(done.context)
        return done

    def say(self, session: str, prompt_id: str, prompt: str, **fields: Any) -> None:
        """A turn, and its memory."""
        self.call("user_prompt_submit", session, prompt_id, prompt=prompt, **fields)
        self.call("stop", session, prompt_id, last_assistant_message=ANSWER, **fields)
        self.daemon.settle()

    def lines(self) -> list[str]:
        """The lines about rules so far."""
        return [line for line in self.shown if "memlayer keeps" in line]


@pytest.fixture
def person(home: Path, project: Path) -> Iterator[Person]:
    told = Person(home, project)
    with told.daemon:
        told.daemon.settle()  # the model is loaded
        told.call("session_start", "s1", source="startup")
        yield told


def test_kept_rule_is_told_once(person: Person) -> None:
    person.say("s1", "p1", RULE)
    person.say("s1", "p2", "what does the cart do?")
    person.call("user_prompt_submit", "s1", "p3", prompt="and the checkout?")
    [line] = person.lines()
    found = LINE.fullmatch(line)
    assert found is not None and found[1] == RULE
    [memory] = person.daemon.call("list", category="core", limit=10)["memories"]
    assert (memory["text"], memory["citation"]) == (RULE, found[2])
    assert not any("memlayer keeps" in context for context in person.contexts)


def test_rules_of_a_prompt_share_a_line(person: Person) -> None:
    person.say("s1", "p1", ENGLISH)
    person.call("user_prompt_submit", "s1", "p2", prompt="go on with the cart")
    [line] = person.lines()
    found = LINE.fullmatch(line)
    assert found is not None and len(found[2].split()) == 2
    assert "Never log the card number" in found[1] and "Always run the linters" in found[1]


def test_repeated_rule_is_not_told_again(person: Person) -> None:
    person.say("s1", "p1", RULE)
    person.say("s1", "p2", RULE)
    person.call("user_prompt_submit", "s1", "p3", prompt="go on with the cart")
    assert len(person.lines()) == 1


def test_next_session_tells_what_the_last_could_not(person: Person) -> None:
    person.call("user_prompt_submit", "s1", "p1", prompt=RULE)
    person.call("session_end", "s1", reason="other")  # no Stop: the person pressed Esc and left
    person.daemon.settle()
    assert person.lines() == []
    person.call("session_start", "s2", source="startup")
    assert LINE.fullmatch(person.shown[-1])
    person.call("user_prompt_submit", "s2", "p2", prompt="go on with the cart")
    assert len(person.lines()) == 1


@pytest.mark.parametrize("rule", [RULE, "Never push directly to the release branch."])
def test_line_outlives_the_daemon(home: Path, project: Path, rule: str) -> None:
    person = Person(home, project)
    with person.daemon:
        person.daemon.settle()
        person.call("session_start", "s1", source="startup")
        person.call("user_prompt_submit", "s1", "p1", prompt=rule)
        person.call("session_end", "s1", reason="other")
        person.daemon.settle()
    person.shown.clear()
    with person.daemon:
        person.daemon.settle()
        person.call("session_start", "s2", source="startup")
        assert [line for line in person.lines() if rule.rstrip(".") in line]
    with person.daemon:
        person.daemon.settle()
        person.call("session_start", "s3", source="startup")
    assert len(person.lines()) == 1


def test_rule_of_a_prompt_before_the_daemon_is_told(home: Path, project: Path) -> None:
    person = Person(home, project)
    person.call("session_start", "s1", source="startup")
    person.call("user_prompt_submit", "s1", "p1", prompt=RULE)
    with person.daemon:
        person.daemon.settle()
        person.call("stop", "s1", "p1", last_assistant_message=ANSWER)
        person.daemon.settle()
        person.call("user_prompt_submit", "s1", "p2", prompt="go on with the cart")
        person.call("user_prompt_submit", "s1", "p3", prompt="and the checkout?")
    [line] = person.lines()
    assert RULE in line


def test_forgotten_rule_is_not_told(person: Person) -> None:
    person.call("user_prompt_submit", "s1", "p1", prompt=RULE)
    person.call("session_end", "s1", reason="other")
    person.daemon.settle()
    [memory] = person.daemon.call("list", category="core", limit=10)["memories"]
    person.daemon.call("forget", ids=[memory["id"]], dry_run=False)
    person.call("session_start", "s2", source="startup")
    assert person.lines() == []


OTHERS = tables("integration/rule_notices")["others"]


def test_other_prompts_and_subagents_tell_nothing(person: Person) -> None:
    for number, prompt in enumerate(OTHERS):
        person.say("s1", "p%d" % number, prompt)
    person.say("s1", "p5", RULE, agent_id="a1", agent_type="Explore")
    person.call("user_prompt_submit", "s1", "p6", prompt="go on with the cart")
    assert person.lines() == []


def test_secret_and_private_span_do_not_show(person: Person) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    person.say("s1", "p1", "Always deploy with the token %s please" % key)
    person.say("s1", "p2", "항상 <private>고객 김철수의 주소</private> 배포 전에 테스트를 꼭 돌려")
    person.call("user_prompt_submit", "s1", "p3", prompt="go on with the cart")
    assert not any(key in line or "김철수" in line or "redacted" in line for line in person.shown)


@pytest.mark.parametrize("settings", [{"capture": {"tell_rules": False}}, {"recall": {"enabled": False}}])
def test_switched_off_tells_nothing(home: Path, project: Path, settings: dict[str, Any]) -> None:
    person = Person(home, project, settings)
    with person.daemon:
        person.daemon.settle()
        person.say("s1", "p1", RULE)
        person.call("user_prompt_submit", "s1", "p2", prompt="go on with the cart")
        assert len(person.daemon.call("list", category="core", limit=10)["memories"]) == 1
        assert person.lines() == []


def _rows(person: Person) -> dict[str, str]:
    """Return id -> text of the memories in force."""
    return {row["id"]: row["text"] for row in person.daemon.call("list", limit=100)["memories"]}


UNDONE = [RULE, ENGLISH, *tables("integration/rule_notices")["undone"]]


@pytest.mark.timeout(180)
@pytest.mark.parametrize("prompts", [UNDONE[:3], UNDONE[3:6], UNDONE[6:]])
def test_undo_takes_back_the_kept_rules_and_nothing_else(person: Person, cli: Cli, prompts: list[str]) -> None:
    person.say("s1", "p0", "The staging server is zephyr. 배포는 매주 화요일에 하기로 했어")
    for number, prompt in enumerate(prompts, 1):
        person.say("s1", "p%d" % number, prompt)
        person.call("user_prompt_submit", "s1", "q%d" % number, prompt="go on with the cart")
        assert len(person.lines()) == number, prompt
        found = LINE.search(person.lines()[-1])
        assert found is not None
        before, events = _rows(person), person.daemon.call("stats")["events"]
        assert cli("review", "drop", *found[2].split()).returncode == 0
        kept = {row for row in before if citation_of(row) in found[2].split()}
        assert kept and before.items() - _rows(person).items() == {(row, before[row]) for row in kept}
        assert person.daemon.call("stats")["events"] == events
        start = person.call("session_start", "t%d" % number, source="startup").context
        assert not any(before[row] in start for row in kept)
        for _ in kept:
            assert cli("review", "undo").returncode == 0
        assert before.items() <= _rows(person).items()
        assert cli("review", "drop", *found[2].split()).returncode == 0


def test_only_a_core_memory_in_force_is_dropped(person: Person, cli: Cli) -> None:
    person.say("s1", "p1", "The staging server is zephyr. 배포는 매주 화요일에 하기로 했어")
    assert cli("task", "add", "보안 검토").returncode == 0
    before = _rows(person)
    for row in person.daemon.call("list", limit=100)["memories"]:
        if row["kind"] in ("turn", "entry", "task"):
            assert cli("review", "drop", row["citation"]).returncode == 1
    assert _rows(person) == before


@pytest.mark.parametrize(
    ("wish", "back"),
    [
        ("앞으로 작업이 끝나면 항상 마지막에 영어 요약 한 줄을 달아줘", "영어 요약 한 줄은 이제 안 달아도 돼"),
        ("Always end your work with a line for Marcus", "you can stop ending your work with a line for Marcus"),
    ],
)
def test_rule_that_may_be_taken_back_is_asked_about_once(person: Person, wish: str, back: str) -> None:
    person.say("s1", "p1", wish)
    [memory] = person.daemon.call("list", category="core", limit=10)["memories"]
    before = len(person.shown)
    person.say("s1", "p2", back)
    person.say("s1", "p3", "what does the cart do?")
    person.say("s1", "p4", "and the checkout?")
    asked = "memlayer still keeps: %s (let it go: /memory-review drop %s)" % (wish, memory["citation"])
    assert [line for line in person.shown[before:] if "still keeps" in line] == [asked]
    assert [row["text"] for row in person.daemon.call("list", category="core", limit=10)["memories"]] == [wish]


ASKED = re.compile(r"memlayer may keep: (.+) \(/memory-review keep ((?:[0-9A-Za-z]{6} ?)+)\)")


def questions(person: Person) -> list[re.Match[str]]:
    """The questions about wishes so far."""
    return [found for line in person.shown if (found := ASKED.fullmatch(line)) is not None]


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("회의에서 정했어: ", "앞으로 모든 PR은 반드시 스크린샷을 붙여야 해."),
        ("We discussed it in the sync: ", "going forward every PR must link its issue."),
        ("Tidy the notes up, please.\n\n", "Never push to main without asking me."),
    ],
)
def test_wish_that_may_be_anothers_is_asked_and_kept(person: Person, cli: Cli, before: str, words: str) -> None:
    prompt = before + words
    person.say("s1", "p1", prompt)
    person.say("s1", "p2", prompt)  # the same sentence is asked about once
    person.call("user_prompt_submit", "s1", "p3", prompt="go on with the cart")
    [asked] = questions(person)
    assert asked[1] == words and person.lines() == []
    assert not _starts_with(person, "s2", words)
    assert words in cli("review").stdout
    assert cli("review", "keep", *asked[2].split()).returncode == 0
    [kept] = [row for row in person.daemon.call("list", category="core", limit=10)["memories"] if row["text"] == words]
    assert kept["by"] == "person" and _starts_with(person, "s3", words)
    assert words not in cli("review").stdout
    assert cli("review", "undo").returncode == 0
    assert not _starts_with(person, "s4", words) and words in cli("review").stdout


def _starts_with(person: Person, session: str, words: str) -> bool:
    """Return whether a session's start and a compaction have these words as a rule."""
    person.daemon.settle()
    start = person.call("session_start", session, source="startup").context.partition(RULES_HEADING)[2]
    orders = person.call("session_start", session, source="compact").context.partition(LEAD)[2]
    assert (words in start) is (words in orders)
    return words in orders


def test_question_of_a_paste_asks_once_for_all_of_it(person: Person, cli: Cli) -> None:
    person.say("s1", "p1", "minji [3:14 PM]\nfrom now on always tag me on infra changes\nNever deploy after five.\nok")
    person.call("user_prompt_submit", "s1", "p2", prompt="go on with the cart")
    [asked] = questions(person)
    ids = asked[2].split()
    assert "always tag me" in asked[1] and "Never deploy" in asked[1] and len(ids) == 2
    assert cli("review", "drop", *asked[2].split()).returncode == 0
    person.say("s1", "p3", "bob: from now on always tag me on infra changes")  # what was declined is not asked again
    person.call("user_prompt_submit", "s1", "p4", prompt="go on with the cart")
    assert len(questions(person)) == 1


def test_wish_that_the_person_says_plainly_is_kept(person: Person, cli: Cli) -> None:
    person.say("s1", "p1", "minji: 앞으로 배포는 항상 수요일에 해줘")
    person.say("s1", "p2", "앞으로 배포는 항상 수요일에 해줘")
    person.call("user_prompt_submit", "s1", "p3", prompt="go on with the cart")
    assert len(questions(person)) == len(person.lines()) == 1
    assert _starts_with(person, "s2", "앞으로 배포는 항상 수요일에 해줘")
    assert "앞으로 배포는" not in cli("review").stdout


def test_wish_that_may_be_anothers_is_given_to_no_prompt(person: Person) -> None:
    person.say("s1", "p1", "bob: never restart the billing box on friday\n\nwhat did bob mean?")
    person.call("session_end", "s1", reason="other")
    person.daemon.settle()
    [row] = person.daemon.call("list", category="core", limit=10)["memories"]
    found = person.daemon.call("search", query="billing box friday", limit=10)["hits"]
    assert row["by"] == "unclear" and row["id"] not in {hit["id"] for hit in found}
