"""What `forget --query` selects: all that the words name, and nothing that only looks like it."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from memlayer.edge.capture import spool
from memlayer.edge.capture.payload import read_payload
from tests.support.cli_process import Cli
from tests.support.processes import Daemon
from tests.support.tables import tables

ROOT = Path(__file__).resolve().parents[2]
PAIRS: list[dict[str, Any]] = yaml.safe_load((ROOT / "tests/data/forget_siblings.yaml").read_text())
TEXTS = tables("integration/forget_siblings")["texts"]
AT_MS = 1_795_262_456_217


class Told:
    """A project in which each text was said in a session of its own."""

    def __init__(self, base: Path, texts: list[str]) -> None:
        self.texts = texts
        self.project = base / "shop"
        self.project.mkdir()
        self.daemon = Daemon(ROOT, base / "home")
        self.cli = Cli(base / "home", self.project)
        self.cli.environment["MEMLAYER_RUNTIME_DIR"] = sys.prefix

    def tell(self) -> None:
        for number, text in enumerate(self.texts):
            payload = {"session_id": "s%d" % number, "prompt_id": "p%d" % number, "prompt": text}
            found = read_payload(
                "user_prompt_submit",
                json.dumps(payload).encode(),
                project_dir=str(self.project),
                at_ms=AT_MS + number * 1000,
            )
            assert found.event is not None
            spool.put(str(self.daemon.home), found.event)
        self.daemon.settle()

    def asked(self, query: str) -> dict[str, Any]:
        return self.daemon.call("forget", query=query, dry_run=True, project_dir=str(self.project))

    def left(self) -> set[str]:
        listed = self.daemon.call("list", category="conversation", project_dir=str(self.project))["memories"]
        return set(map(turn, listed))


def turn(row: dict[str, Any]) -> str:
    return str(row["text"]).removeprefix("User: ")


def turns(rows: list[dict[str, Any]]) -> list[str]:
    return [turn(row) for row in rows if row["category"] == "conversation"]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    told = Told(
        tmp_path_factory.mktemp("siblings"), [text for pair in PAIRS for text in pair["targets"] + pair["siblings"]]
    )
    with told.daemon:
        told.tell()
        yield told


@pytest.mark.parametrize("pair", PAIRS, ids=[str(pair["query"]) for pair in PAIRS])
def test_all_targets_and_no_sibling(pairs: Told, pair: dict[str, Any]) -> None:
    rows = pairs.asked(pair["query"])["memories"]
    assert sorted(turns(rows)) == sorted(pair["targets"])
    assert not [row for row in rows if any(sibling in row["text"] for sibling in pair["siblings"])]
    assert [row["along"] for row in rows] == sorted(row["along"] for row in rows)


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Told]:
    made = Told(tmp_path, TEXTS)
    with made.daemon:
        made.tell()
        yield made


def test_best_match_stands_first(told: Told) -> None:
    first, *rest = turns(told.asked("보라매")["memories"])
    assert first in told.texts[:2]
    assert rest[-1] == told.texts[4]


def test_near_words_are_shown_and_stay(told: Told) -> None:
    asked = told.asked("staging deploy password")
    assert (asked["memories"], turns(asked["near"])[0]) == ([], told.texts[2])
    done = told.cli("forget", "--query", "staging deploy password", "--yes")
    assert done.stdout.startswith("Nothing has these words whole") and "vault" in done.stdout
    assert told.left() == set(told.texts)


def test_person_chooses_rows(told: Told) -> None:
    order = turns([row for row in told.asked("보라매")["memories"] if not row["along"]])
    code, seen = told.cli.on_terminal("forget", "--query", "보라매", types="2\ny\n")
    assert code == 0, seen
    assert seen.index(order[0][:20]) < seen.index("Forget which?") < seen.rindex(order[1][:20])
    assert order[0][:20] not in seen[seen.index("Will be forgotten") :]
    assert told.left() == set(told.texts) - {order[1]}


def test_person_chooses_among_what_is_near(told: Told) -> None:
    code, seen = told.cli.on_terminal("forget", "--query", "staging deploy password", types="1\ny\n")
    assert code == 0, seen
    assert told.left() == set(told.texts) - {told.texts[2]}


@pytest.mark.parametrize("types", ["\n", "0\n", "7\n", "2\nn\n", "x\n"])
def test_person_chooses_none(told: Told, types: str) -> None:
    code, seen = told.cli.on_terminal("forget", "--query", "보라매", types=types)
    assert (code, "Nothing is forgotten" in seen) == (1, True), seen
    assert told.left() == set(told.texts)


def test_without_a_question_what_goes_is_shown_first(told: Told) -> None:
    done = told.cli("forget", "--query", "보라매공원", "--yes")
    shown, _, forgotten = done.stdout.partition("Forgotten: ")
    assert told.texts[3] in shown
    assert forgotten
    assert told.left() == set(told.texts) - {told.texts[3]}


def test_what_a_statement_replaced_goes_too(told: Told) -> None:
    for text in ("The port of Quokka is 8080.", "The port of Quokka is 9090 now."):
        assert told.cli("remember", text).returncode == 0
    named = [row["text"] for row in told.asked("Quokka")["memories"] if not row["along"]]
    assert sorted(named) == ["The port of Quokka is 8080.", "The port of Quokka is 9090 now."]
