"""Consent to a tool call: only a clear yes is one, and "always" means one command, to the letter."""

from collections.abc import Iterator

import pytest

from memlayer.cli.terminal.talk import Consent, visible
from memlayer.errors import ToolError


class Person:
    """A person whose answers are known before."""

    def __init__(self, *answers: str) -> None:
        self.asked: list[str] = []
        self._answers: Iterator[str] = iter(answers)

    def __call__(self, prompt: str) -> str:
        self.asked.append(prompt)
        try:
            return next(self._answers)
        except StopIteration:
            raise EOFError from None


def refusal(answers: tuple[str, ...], always: str = "make test") -> str:
    """The reason that the model reads, "" for a consent."""
    try:
        Consent(can_ask=True, ask=Person(*answers))("Run this command?", "make test", always=always)
    except ToolError as refused:
        return str(refused)
    return ""


@pytest.mark.parametrize("answer", ["y", "Y", "yes", " 네 ", "예", "응", "ㅛ", "a", "always", "항상"])
def test_clear_yes_runs(answer: str) -> None:
    assert refusal((answer,)) == ""


@pytest.mark.parametrize("answers", [("",), ("n",), ("No",), ("아니",), ("ㅜ",), ()])
def test_no_or_nothing_refuses(answers: tuple[str, ...]) -> None:
    assert "refused" in refusal(answers) and "says" not in refusal(answers)


@pytest.mark.parametrize(
    "reason",
    [
        "먼저 테스트를 돌려줘",
        "no, use pytest",
        "a test comes first",
        "네가 먼저 설명해",
        "yesterday it failed",
        "y" * 40,
    ],
)
def test_anything_else_is_a_no_with_its_reason(reason: str) -> None:
    assert refusal((reason,)).endswith("says: " + reason)


def test_reason_is_bounded_and_harmless() -> None:
    assert len(refusal(("가" * 100_000,))) < 1200
    assert "\x1b" not in refusal(("빨간\x1b[31m 글",))


@pytest.mark.parametrize(
    "unclear", ["y but not now", "yes, later", "네, 그런데 나중에", "always ask me", "y\nrm -rf ."]
)
def test_sentence_that_begins_with_a_yes_is_asked_again(unclear: str) -> None:
    person = Person(unclear, "n")
    with pytest.raises(ToolError, match="refused"):
        Consent(can_ask=True, ask=person)("Run this command?", "make", always="make")
    assert len(person.asked) == 2


def test_always_is_this_command_to_the_letter() -> None:
    person = Person("a", "n", "n", "n", "n")
    consent = Consent(can_ask=True, ask=person)
    consent("Run this command?", "make test", always="make test")
    consent("Run this command?", "make test", always="make test")
    assert len(person.asked) == 1
    for other in ("make test; rm -rf .", "make  test", "make test ", "make test\u200b"):
        with pytest.raises(ToolError):
            consent("Run this command?", other, always=other)
    assert len(person.asked) == 5
    with pytest.raises(ToolError):  # another talk
        Consent(can_ask=True, ask=Person())("Run this command?", "make test", always="make test")


def test_change_of_a_file_is_never_allowed_for_good() -> None:
    person = Person("always", "a", "y")
    consent = Consent(can_ask=True, ask=person)
    with pytest.raises(ToolError, match="says: a"):
        consent("Change 글.txt (1 lines)?", "+가")
    assert "always" not in person.asked[0] and len(person.asked) == 2
    consent("Change 글.txt (1 lines)?", "+가")
    assert len(person.asked) == 3


def test_hidden_characters_of_a_command_are_seen() -> None:
    assert (
        visible("rm 한글\u202e\x1b[8m\ta\nb\rc\u3164\u00a0")
        == r"rm 한글\u202e\u001b[8m    a" + "\nb" + r"\u000dc\u3164\u00a0"
    )
    assert visible("echo '👍🏽 ❤️'".replace("\ufe0f", "")) == "echo '👍🏽 ❤'"


def test_question_stands_apart_with_all_lines(capsys: pytest.CaptureFixture[str]) -> None:
    Consent(can_ask=True, ask=Person("y"))("Run this command?", "cd 앱\n\nmake", always="x")
    assert capsys.readouterr().err == "\nRun this command?\n    cd 앱\n\n    make\n"


def test_without_a_terminal_nothing_is_asked() -> None:
    person = Person("y")
    with pytest.raises(ToolError, match="--yes"):
        Consent(ask=person)("Run this command?", "make", always="make")
    Consent(is_given=True, ask=person)("Run this command?", "make", always="make")
    assert person.asked == []
