"""Tombstones: under any id, repeatable by a person, without readable text."""

import os
import stat
from pathlib import Path
from typing import Any

from memlayer.consolidation.statement import statement_of
from memlayer.kinds import Author, Category
from memlayer.model import Memory, replace
from memlayer.records.tombstones import KEY_BYTES, SAME_TIME_MS, TOOL, Tombstones

LONG = "두루미칠성반닫이 서버의 이름은 zephyrine 으로 하기로 했다"
SHORT = "번호는 1234"
SHOP = "상점"
AT_MS = 1_790_000_000_000


def said(text: str, source: str = "transcript", **fields: Any) -> dict[str, Any]:
    return {
        "id": "new", "kind": "user", "session_id": "s1", "prompt_id": "p1", "text": text, "at_ms": AT_MS,
        "source": source, "project_id": SHOP, **fields,
    }  # fmt: skip


def test_a_long_text_is_known_at_any_time_and_a_short_one_about_its_own(home: Path) -> None:
    home.mkdir()
    tombstones = Tombstones(str(home))
    assert not tombstones.covers(said(LONG))
    tombstones.add(["e1"], [(LONG, AT_MS, SHOP), (SHORT, AT_MS, SHOP), ("  ", AT_MS, SHOP)])
    for known in (tombstones, Tombstones(str(home))):
        assert "e1" in known and "e2" not in known
        assert known.covers(said(LONG, at_ms=5))
        assert known.covers(said("  " + LONG.replace(" ", "\n ") + "\n"))
        assert known.covers(said(SHORT, at_ms=AT_MS - SAME_TIME_MS))
        assert not known.covers(said(SHORT, at_ms=AT_MS + 3 * SAME_TIME_MS))
        assert not known.covers(said("ok"))
        assert not known.covers(said("  "))
        assert known.covers(said(LONG, source="import"))
        assert not known.covers(said(SHORT, project_id="다른 가게")) and known.covers(said(LONG, project_id="other"))


def test_who_says_it_again_wants_it_kept(home: Path) -> None:
    home.mkdir()
    tombstones = Tombstones(str(home))
    tombstones.add(["e1"], [(LONG, AT_MS, SHOP)])
    assert not tombstones.covers(said(LONG, source="hook"))
    assert tombstones.covers(said(LONG, source="hook"), is_history=True)  # out of an export
    assert tombstones.covers(said(LONG, source="hook", id="e1"))


def stated(text: str, at_ms: int, project_id: str = "상점") -> Memory:
    return statement_of(
        project_id, text, "fact", by=Author.PERSON, origin="t", session_id="s1", source_ids=["e9"], at_ms=at_ms
    )


def test_a_statement_is_known_however_short_in_its_project_until_it_is_said_again(home: Path) -> None:
    home.mkdir()
    Tombstones(str(home)).add([], statements=[("상점", SHORT, AT_MS)])
    tombstones = Tombstones(str(home))
    assert tombstones.covers_memory(stated(SHORT, 1)) and tombstones.covers_memory(stated(SHORT, AT_MS))
    assert not tombstones.covers_memory(stated("번호는 1235", 1))
    # A turn that was said after it was forgotten, and one of another project.
    assert not tombstones.covers_memory(stated(SHORT, AT_MS + 1))
    assert not tombstones.covers_memory(stated(SHORT, 1, "다른 상점"))
    # But a file that an editor had open all the time.
    assert tombstones.forgot_statement("상점", SHORT) and not tombstones.forgot_statement("다른 상점", SHORT)
    # Forgotten again, it is known until then; an earlier time takes nothing back.
    tombstones.add(["e1"], statements=[("상점", SHORT, AT_MS + 5)])
    tombstones.add(["e2"], statements=[("상점", SHORT, 7)])
    for known in (tombstones, Tombstones(str(home))):
        assert known.covers_memory(stated(SHORT, AT_MS + 5)) and not known.covers_memory(stated(SHORT, AT_MS + 6))
    assert (home / "forgotten.txt").read_text().count("statement:") == 1


def test_text_of_a_turn_is_no_statement(home: Path) -> None:
    home.mkdir()
    tombstones = Tombstones(str(home))
    tombstones.add(["e1"], [(LONG, AT_MS, SHOP)], [("상점", SHORT, AT_MS)])
    assert not tombstones.covers_memory(stated(LONG, AT_MS, SHOP))
    assert not tombstones.covers(said(SHORT))


def test_a_turn_whose_prompt_was_forgotten_goes_whole(home: Path) -> None:
    """A fork's transcript has other ids, and more of the answer."""
    home.mkdir()
    tombstones = Tombstones(str(home))
    tombstones.add(["e1"], [(LONG, AT_MS, SHOP)])
    events = [
        said(LONG, id="a"),
        said("네, 그리고 더 긴 대답이 있습니다.", id="b", kind="assistant"),
        said("다른 턴", id="c", prompt_id="p2"),
        said("다른 세션의 같은 번호", id="d", session_id="s2", kind="assistant"),
    ]
    assert [event["id"] for event in tombstones.not_forgotten(events)] == ["c", "d"]


def test_events_deleted_by_age_stay_deleted(home: Path) -> None:
    home.mkdir()
    tombstones = Tombstones(str(home))
    tombstones.record_retention(Category.CONVERSATION, 1000, 50_000)
    tombstones.record_retention(Category.CONVERSATION, 2000, 60_000)
    tombstones.record_retention(Category.CONVERSATION, 1500, 70_000)  # a longer time was set meanwhile
    for known in (tombstones, Tombstones(str(home))):
        assert known.covers(said("무엇이든", at_ms=1999))
        assert not known.covers(said("무엇이든", at_ms=2000))
        assert not known.covers(said("무엇이든", at_ms=1999, source="hook"))
        assert not known.covers(said("무엇이든", at_ms=1999, kind="tool"))
        assert (known.deleted_by_age_ms(999), known.deleted_by_age_ms(1000), known.deleted_by_age_ms(2000)) == (
            50_000,
            60_000,
            0,
        )
    tombstones.record_retention(TOOL, 3000, 80_000)
    assert tombstones.covers(said("무엇이든", at_ms=1999, kind="tool"))


def test_memories_deleted_by_age_stay_deleted(home: Path) -> None:
    home.mkdir()
    Tombstones(str(home)).record_retention(Category.DAILY, 1000, 50_000)
    Tombstones(str(home)).record_retention(Category.CORE, 2000, 50_000)
    known = Tombstones(str(home))
    core = stated(SHORT, 1999)
    day = replace(core, category="daily", at_ms=999)
    assert known.covers_memory(core) and known.covers_memory(day)
    assert not known.covers_memory(replace(core, at_ms=2000)) and not known.covers_memory(replace(day, at_ms=1000))
    assert not known.covers_memory(replace(core, pinned=True))
    assert known.covers_memory(replace(core, category="custom", session_id=""))
    assert not known.covers_memory(replace(core, category="custom", session_id="file_1"))
    assert not known.covers_memory(replace(core, category="conversation"))


def test_the_file_holds_no_word_and_the_key_is_the_users_own(home: Path) -> None:
    home.mkdir()
    Tombstones(str(home)).add(["e1"], [(LONG, AT_MS, SHOP)])
    raw = (home / "forgotten.txt").read_bytes()
    assert b"zephyrine" not in raw and "두루미".encode() not in raw
    key = home / "forgotten.key"
    assert len(key.read_bytes()) == KEY_BYTES and stat.S_IMODE(os.stat(key).st_mode) == 0o600
    # Another home has another key: the same text leaves another line.
    other = home / "other"
    other.mkdir()
    Tombstones(str(other)).add(["e1"], [(LONG, AT_MS, SHOP)])
    assert (other / "forgotten.txt").read_bytes() != raw


def test_a_damaged_file_is_read_as_far_as_it_goes(home: Path) -> None:
    home.mkdir()
    (home / "forgotten.txt").write_bytes(b"e1\n\xff\xfe\nconversation:x:y\ntext:zz\ntool:5:6\n")
    known = Tombstones(str(home))
    assert "e1" in known and known.deleted_by_age_ms(4, TOOL) == 6
    assert not known.covers(said(LONG))
