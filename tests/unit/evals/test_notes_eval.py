"""The evaluation of notes: recorded answers find their session, and what was given is counted by turns."""

import json
from pathlib import Path
from typing import Any

import pytest

from evals.home import prompt_id, session_id
from evals.notes_play import Line, Lived, Notebook, load_calls, root_of
from evals.notes_recorded import Asked, RecordedModel, continued, load_record, sessions_of
from evals.notes_score import Starts, facts_of, kinds, load_starts, row_of, score
from evals.real_set import Turn, load_turns
from memlayer.model import citation_of, turn_memory_id

ROWS = [
    ("green", "Why does the import of the ledger stop at line 900?", "The reader's buffer ends there; 64 kB now."),
    ("green", "Good. Never rename the ledger's columns, the bank reads them.", "Understood, the columns stay."),
    ("blue", "영수증 업로드가 왜 두 번씩 실행되지?", "버튼이 두 번 눌립니다. 누른 뒤에는 막았습니다."),
    ("blue", "좋아, 업로드 크기는 앞으로 8MB까지만 받자.", "네, 8MB로 제한했습니다."),
]
COLUMNS = "The ledger's columns are never renamed: the bank reads them by name."
LIMIT = "영수증 업로드는 8MB까지만 받는다."
NOTES: list[dict[str, Any]] = [
    {
        "session": 0, "summary": "Ledger import mended. The buffer is 64 kB.", "drop": [], "tasks": [],
        "notes": [{"id": "n0.1", "kind": "preference", "text": COLUMNS, "quote": "Never rename the ledger's columns",
                   "turn": 2, "files": ["src/ledger.py"], "error": "", "replaces": []}],
    },
    {
        "session": 1, "summary": "영수증 업로드 중복을 고침.", "drop": ["n0.9"],
        "tasks": [{"id": "t1", "title": "재시도 확인", "status": "pending", "blocked_by": "", "quote": "", "turn": 4}],
        "notes": [{"id": "n1.1", "kind": "decision", "text": LIMIT, "quote": "앞으로 8MB까지만 받자", "turn": 4,
                   "files": [], "error": "", "replaces": ["n0.1"]}],
    },
]  # fmt: skip


@pytest.fixture
def turns(tmp_path: Path) -> list[Turn]:
    file = tmp_path / "set.jsonl"
    rows = [
        {"n": n, "session": name, "at": "2026-03-02T10:00:00Z", "prompt": prompt, "answer": said}
        for n, (name, prompt, said) in enumerate(ROWS, 1)
    ]
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return load_turns(file)


def written(file: Path, rows: list[dict[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return file


@pytest.fixture
def model(turns: list[Turn], tmp_path: Path) -> RecordedModel:
    sessions = sessions_of(turns)
    return RecordedModel(sessions, load_record(written(tmp_path / "notes.jsonl", NOTES), sessions))


def request(*numbers: int, known: str = "", rest: str = "") -> str:
    """A request in the product's form about these turns of the set."""
    first = ROWS[numbers[0] - 1][0]
    within = [n for n, row in enumerate(ROWS, 1) if row[0] == first]
    body = "\n".join(
        "## Turn %d\nUser: %s\nAssistant: %s" % (within.index(n) + 1, ROWS[n - 1][1], ROWS[n - 1][2]) for n in numbers
    )
    return "%s\n\nThe session was on 2026-03-02.%s\n<s>\n%s\n</s>\nAnswer with the JSON object." % (known, rest, body)


def asked(model: RecordedModel, prompt: str) -> dict[str, Any]:
    return dict(json.loads(model.answer("system", prompt)))


def test_answer_is_found_by_the_words_of_the_session(model: RecordedModel) -> None:
    answer = asked(model, request(3, 4))
    assert answer["summary"] == NOTES[1]["summary"]
    assert [(note["text"], note["turn"]) for note in answer["notes"]] == [(LIMIT, 2)]
    assert [row.session for row in model.asked] == [1]
    nothing = asked(model, "\n## Turn 1\nUser: 다른 이야기입니다\nAssistant: none of this was recorded\n")
    assert nothing["notes"] == [] and model.asked[-1].session == -1


def test_ids_become_the_citations_of_the_request(model: RecordedModel) -> None:
    known = "The project's notes so far:\n[Ab12Cd] (preference, 2026-03-02) %s (tried, unconfirmed)" % COLUMNS
    [note] = asked(model, request(3, 4, known=known))["notes"]
    assert note["replaces"] == ["Ab12Cd"]
    assert model.lost == ["n0.9"]  # it was never written


def test_refused_notes_are_missing(model: RecordedModel) -> None:
    [note] = asked(model, request(3, 4))["notes"]
    assert note["replaces"] == [] and sorted(model.lost) == ["n0.1", "n0.9"]


def test_parts_of_a_session_get_what_stands_in_them(model: RecordedModel) -> None:
    first = asked(model, request(1, rest=" It goes on after this part."))
    then = asked(model, request(2))
    assert first["notes"] == [] and [note["turn"] for note in then["notes"]] == [2]
    assert (first["summary"] + " " + then["summary"]).strip() == NOTES[0]["summary"]
    assert asked(model, request(2))["notes"] == []  # once is enough


def test_fresh_record_counts_turns_within_its_session(turns: list[Turn], tmp_path: Path) -> None:
    sessions = sessions_of(turns)
    notes = [{**NOTES[1]["notes"][0], "turn": 2, "also": [{"quote": "두 번씩 실행되지", "turn": 1}]}]
    fresh = load_record(written(tmp_path / "f.jsonl", [{**NOTES[1], "part": 0, "tasks": [], "notes": notes}]), sessions)
    assert (fresh[1]["notes"][0]["turn"], fresh[1]["notes"][0]["also"][0]["turn"]) == (4, 3)
    old = load_record(written(tmp_path / "o.jsonl", NOTES), sessions)
    both = continued(old, fresh)
    assert both[0] is old[0] and both[1] is fresh[1]


def memory(name: str, kind: str, number: int, **fields: Any) -> dict[str, Any]:
    session = ROWS[number - 1][0]
    return {
        "id": name, "citation": name, "category": "core", "kind": kind, "superseded_by": "", "ended_because": "",
        "evidence": "",
        "session_id": session_id(session), "prompt_id": prompt_id(str(number)), **fields,
    }  # fmt: skip


def test_notes_are_counted_by_their_turns_and_those_replaced(turns: list[Turn]) -> None:
    proof = json.dumps([{"prompt_id": prompt_id("3")}])
    rows = [
        memory("old1", "cause", 1, superseded_by="new1", ended_because="replaced"),
        memory("new1", "decision", 4, evidence=proof),
        memory("gone", "fact", 2, ended_because="let go"),
        memory("todo", "task", 2),
        memory("sum1", "session_summary", 1, category="daily"),
    ]
    book = Notebook(rows, sessions_of(turns))
    assert [row["id"] for row in book.in_force()] == ["new1"]
    turn = citation_of(turn_memory_id(session_id("green"), prompt_id("2")))
    entries = ["- [mem:%s] day: text" % citation for citation in ("new1", "sum1", turn, "zzzz")]
    block = "\n".join(["[Memory context]", "Cite a note as [mem:id].", *entries])
    assert book.lines(block) == (
        Line("decision", frozenset((1, 3, 4))),
        Line("summary", frozenset((1, 2))),
        Line("turn", frozenset((2,))),
        Line("other", frozenset()),
    )


def test_scores_of_what_was_given(turns: list[Turn], tmp_path: Path) -> None:
    facts = [{"fact": "columns", "turn": 2, "by": "files"}, {"fact": "buffer", "turn": 1, "by": "prompt"}]
    file = tmp_path / "starts.json"
    file.write_text(json.dumps({"starts": {"blue": facts}, "needs": {"4": {"need": 1, "turns": [2]}}}))
    starts: Starts = load_starts(file)
    note, summary = Line("preference", frozenset((2,))), Line("summary", frozenset((1, 2)))
    green = Lived(0, turns[:2], "", (), ("", ""), ((), ()), frozenset(), 0)
    blue = Lived(1, turns[2:], "start", (summary,), ("first", ""), ((note,), ()), frozenset((2,)), 1)
    by_fact = {met.fact.text: (met.is_noted, met.is_given, met.is_summarised) for met in facts_of(blue, starts)}
    assert by_fact == {"columns": (True, True, False), "buffer": (False, False, True)}
    figures = score([green, blue], starts, [Asked(0, 100, 10), Asked(1, 200, 20), Asked(1, 50, 5)])
    assert (figures["facts needed"], figures["of them in the notebook"], figures["given"]) == (2, 1, 1)
    assert (figures["needs of prompts"], figures["needs met"]) == (1, 1)
    assert (figures["characters of both, max"], figures["tokens in, p95"]) == (10, 250)
    assert figures["later prompts with notes, %"] == 0
    assert kinds([green, blue]) == {"summary": (1, 0, 0), "preference": (0, 1, 0)}
    row = row_of(blue, starts, [])
    assert [fact["given"] for fact in row["facts"]] == [True, False] and row["start"] == "start"


def test_tool_calls_that_matter_to_a_reader(tmp_path: Path) -> None:
    edit = {"tool": "Edit", "path": "/home/dev/shop/src/ledger.py", "failed": False}
    calls = [
        edit,
        edit,
        {"tool": "Read", "path": "/home/dev/shop/README.md", "failed": False},
        {"tool": "Bash", "command": "make", "failed": False},
        {"tool": "Bash", "command": "make test", "failed": True, "error": "1 failed"},
    ]
    loaded = load_calls(written(tmp_path / "tools.jsonl", [{"n": 1, "calls": calls}]))
    assert [call["tool"] for call in loaded[1]] == ["Edit", "Bash"]
    assert root_of(loaded, ["src/ledger.py", "/etc/hosts"]) == "/home/dev/shop"
