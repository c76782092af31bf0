"""Sessions that the real programs recorded, with a scripted model (tests/fixtures/agents/README.md)."""

import os
import shutil
from pathlib import Path

import pytest

from memlayer.kinds import Kind
from memlayer.ports import MemoryQuery
from tests.support.other_agents import LONG_AGO_S, database
from tests.support.past import Past

FIXTURES = Path(__file__).parents[3] / "fixtures" / "agents"
FAILED = "Bash failed: echo %s; false\n%s"
FIRST, SECOND = "장바구니 total이 왜 0이야? fix it", "고마워, test도 추가해 줘"
ANSWER = "고쳤습니다. Fixed the total."


def copy(name: str, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(FIXTURES / name, to)
    os.utime(to, (LONG_AGO_S, LONG_AGO_S))


@pytest.mark.parametrize(
    ("version", "prompts"),
    [("0.98.0", [FIRST, SECOND]), ("0.147.0", [FIRST, SECOND]), ("0.171.0", ["패치도 해 봐, apply a patch"])],
)
def test_codex(past: Past, tmp_path: Path, version: str, prompts: list[str]) -> None:
    copy("codex_%s.jsonl" % version, tmp_path / "sessions" / "rollout-a.jsonl")
    counts = past.run(tmp_path / "sessions", agent="codex")
    assert (past.told("user"), past.told("assistant")) == (prompts, [ANSWER] * len(prompts))
    edits = [text.split("\n")[1] for text in past.told("tool") if text.startswith("Edit: /home/dev/cart/cart")]
    assert edits == ["+ total = 0  # 합계"] * len(prompts)
    assert past.told("tool").count(FAILED % ("STEP1 실패", "STEP1 실패")) == len(prompts)
    assert {turn.known_kind for turn in past.store.memories(MemoryQuery())} == {Kind.RUN}
    assert (counts.skipped, counts.problems) == ({}, [])


def test_gemini(past: Past, tmp_path: Path) -> None:
    copy("gemini_0.61.0.jsonl", tmp_path / "tmp" / "cart" / "chats" / "session-a.jsonl")
    (tmp_path / "tmp" / "cart" / ".project_root").write_text("/home/dev/cart")
    counts = past.run(tmp_path / "tmp", agent="gemini")
    assert (past.told("user"), past.told("assistant")) == ([FIRST, SECOND], [ANSWER] * 2)
    assert past.told("tool") == [FAILED % ("실패", "실패"), "Write: /home/dev/cart/cart.py\nwrite, 1 lines"] * 2
    assert (counts.skipped, counts.problems) == ({}, [])


def test_opencode(past: Past, tmp_path: Path) -> None:
    script = (FIXTURES / "opencode_1.18.33.sql").read_text(encoding="utf-8")
    database(tmp_path / "share" / "opencode.db", script, [])
    counts = past.run(tmp_path / "share", agent="opencode")
    assert [text.strip('"') for text in past.told("user")] == [FIRST, SECOND]
    assert past.told("assistant") == [ANSWER] * 2
    written = ["Write: /home/dev/cart/cart%d.py\nwrite, 1 lines" % number for number in (3, 6)]
    assert past.told("tool") == [FAILED % ("실패", "실패"), written[0], FAILED % ("실패", "실패"), written[1]]
    assert (counts.skipped, counts.problems) == ({}, [])
