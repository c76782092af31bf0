"""Prompts that a conversation left: recorded transcripts, and made ones of their shape."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memlayer.transcripts.branches import left_prompts, newly_left
from tests.support.tables import tables

RECORDED = Path(__file__).parents[2] / "fixtures"
# The first words of each prompt that the person left, by what happened.
LEFT = tables("transcripts/branches")["left"]
FILES = sorted((*RECORDED.glob("transcript_*.jsonl"), *RECORDED.glob("host/transcript_*.jsonl")))


def prompts(path: Path) -> dict[str, str]:
    """Return prompt id -> the words of its prompt, as far as a person typed it."""
    found: dict[str, str] = {}
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        content = row.get("message", {}).get("content") if row["type"] == "user" else None
        if isinstance(content, str) and not row.get("isMeta") and not row.get("isCompactSummary"):
            text = "/compact" if content.startswith("<command-name>/compact") else content
            found.setdefault(row.get("promptId", row["uuid"]), text.partition("\n")[0])
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem.removeprefix("transcript_"))
def test_recorded(path: Path) -> None:
    """Forks, resumptions, kills, parallel calls, queued prompts and compactions leave nothing."""
    left = left_prompts(str(path))
    name = path.stem.removeprefix("transcript_")
    assert sorted(text for prompt_id, text in prompts(path).items() if prompt_id in left) == LEFT.get(name, [])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem.removeprefix("transcript_"))
@pytest.mark.parametrize("step", [1, 2, 5])
def test_looks_at_new_lines_see_what_the_whole_shows(path: Path, step: int, tmp_path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    grows, offset, left = tmp_path / "s1.jsonl", 0, frozenset[str]()
    for start in range(0, len(lines), step):
        with grows.open("ab") as file:
            file.writelines(lines[start : start + step])
        new, offset = newly_left(str(grows), offset)
        left = left if new is None else new
        assert left == left_prompts(str(grows)), start
    assert newly_left(str(grows), offset) == (None, offset)


def row(uuid: str, parent: str | None, kind: str = "user", **more: Any) -> dict[str, Any]:
    made = {"uuid": uuid, "parentUuid": parent, "type": kind, "isSidechain": False, "message": {"content": uuid}}
    return {**made, **({"promptId": uuid.upper()} if kind == "user" else {}), **more}


def left(tmp_path: Path, rows: Sequence[object]) -> set[str]:
    """Return the prompt ids left, after each line and after all."""
    path = tmp_path / "s1.jsonl"
    path.write_text("".join((text if isinstance(text, str) else json.dumps(text)) + "\n" for text in rows))
    return {name for name in left_prompts(str(path)) if name.isupper()}


TALK = [row("p1", None), row("a1", "p1", "assistant"), row("p2", "a1"), row("a2", "p2", "assistant")]
AGAIN = [*TALK, row("p3", "a1"), row("a3", "p3", "assistant")]
RESULT = {"toolUseResult": {}, "promptId": "P2"}
CALLS = [
    *TALK,
    row("c1", "a2", "assistant"),
    row("c2", "c1", "assistant"),
    row("r2", "c2", **RESULT),
    row("r1", "c1", **RESULT),
]

QUEUED = row("q", "r2", "attachment", attachment={"type": "queued_command"})


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (TALK, set()),
        (AGAIN, {"P2"}),
        (AGAIN[:-1], {"P2"}),  # not answered yet
        ([*AGAIN, row("p4", "a2")], {"P3"}),  # back on the branch that was left
        ([*TALK, row("p3", "a1"), row("p4", "a1")], {"P2", "P3"}),  # edited twice
        ([*TALK, row("p3", None), row("a3", "p3", "assistant")], {"P1", "P2"}),  # back before the first prompt
        ([*CALLS, row("a4", "r1", "assistant"), row("p3", "a4")], set()),
        ([*CALLS, QUEUED, row("a4", "r1", "assistant")], set()),
        ([*CALLS, row("a4", "r1", "assistant"), row("p3", "a1")], {"P2"}),
        ([*TALK, row("x", "a1", isSidechain=True), row("y", None, isSidechain=True)], set()),
        ([*TALK, row("p3", "not here")], set()),
        ([*TALK, "{torn", row("n", "a2", "system"), row("p3", "n")], set()),
        ([*TALK, row("b", None, "system", subtype="compact_boundary", logicalParentUuid="a2"), row("p3", "b")], set()),
        ([*TALK, row("b", None, "system", subtype="compact_boundary"), row("p3", "b")], set()),
        ([*TALK, row("n", None, "system"), row("p3", "n")], set()),  # of a start, which is no prompt
        ([row("p1", None), row("a1", None, "assistant"), row("p2", None), row("a2", None, "assistant")], set()),
        ([*AGAIN, *AGAIN], {"P2"}),  # a file that was copied twice
        ([{**record, "promptId": "FORK"} if "promptId" in record else record for record in AGAIN], set()),
        ([*AGAIN[:1], row("a1", "p1", "assistant", message={"content": "반쪽 \ud83d"}), *AGAIN[2:]], {"P2"}),
        ([row("p1", None), row("p2", None), row("a2", "p2", "assistant")], {"P1"}),  # taken back before any answer
        ([*TALK, {**row("p3", "a1"), "attachment": "no object"}], set()),
    ],
)  # fmt: skip
def test_made(rows: Sequence[object], expected: set[str], tmp_path: Path) -> None:
    assert left(tmp_path, rows) == expected


def test_host_without_prompt_ids(tmp_path: Path) -> None:
    """Before 2.1.196 a turn has its record's id."""
    path = tmp_path / "s1.jsonl"
    path.write_text("".join(json.dumps({**line, "promptId": None}) + "\n" for line in AGAIN))
    assert left_prompts(str(path)) == {"p2"}


def test_file_that_shrank_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in AGAIN))
    new, _ = newly_left(str(path), 10_000_000)
    assert new is not None and "P2" in new
