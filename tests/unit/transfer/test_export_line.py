"""Lines of an export: invalid ones are refused, naming the field."""

import json
from typing import Any

import pytest

from memlayer.edge.capture.payload import clean
from memlayer.errors import UserError
from memlayer.kinds import Category
from memlayer.model import Event, Memory, citation_of
from memlayer.records.sessions import Session
from memlayer.transfer import export
from memlayer.transfer.export import ExportedProject

ID, OTHER, PROJECT_ID = "0f" * 16, "a1" * 16, "5a" * 8
EVENT = Event(ID, "user", "세션-1", PROJECT_ID, "p1", "배포는 화요일", 1_700_000_000_000).fields()
MEMORY = Memory(
    ID, "turn_2026-11-19_0f0f", citation_of(ID), Category.CONVERSATION, "turn", "User: 배포는 화요일", 0.3, PROJECT_ID,
    "세션-1", "p1", (OTHER,), 1_700_000_000_000,
)  # fmt: skip
LINES: dict[str, dict[str, Any]] = {
    "event": EVENT,
    "memory": MEMORY.fields(),
    "project": {"id": PROJECT_ID, "name": "쇼핑몰", "root": "/srv/쇼핑몰", "keys": ["path:/srv/쇼핑몰"], "since_ms": 1},
    "session": Session("세션-1", PROJECT_ID, "/srv/쇼핑몰", "/srv/t.jsonl", shown=[ID]).fields(),
}


def line(name: str, **changed: Any) -> bytes:
    return json.dumps({name: {**LINES[name], **changed}}, ensure_ascii=False).encode("utf-8", "surrogateescape")


def test_written_file_reads_back() -> None:
    assert export.read(line("event")) == Event(**EVENT)
    assert export.read(line("memory")) == MEMORY
    assert export.read(line("session")) == Session(**LINES["session"])
    read = export.read(line("project"))
    assert isinstance(read, ExportedProject) and {"id": read.id, **read.entry} == LINES["project"]
    assert export.read(b'{"memlayer_export": 1}') is None
    assert export.read(b'\xef\xbb\xbf{"memlayer_export": 1}\r\n') is None  # an editor has been at it
    assert export.read(b'{"end": {}}') is None


@pytest.mark.parametrize("bad", ["../../x", "/etc/x", "", "p1", "5A" * 8, PROJECT_ID + "\n", 5, None, ["x"]])
@pytest.mark.parametrize("name", ["event", "memory", "project"])
def test_a_project_id_is_no_path(name: str, bad: object) -> None:
    field = "id" if name == "project" else "project_id"
    with pytest.raises(UserError, match=rf"^{name}: .+`\$\.{field}`"):
        export.read(line(name, **{field: bad}))


@pytest.mark.parametrize(
    ("name", "field", "bad"),
    [
        ("memory", "text", 5),
        ("memory", "text", None),
        ("memory", "at_ms", "x"),
        ("memory", "at_ms", -5),
        ("memory", "at_ms", 10**30),
        ("memory", "at_ms", 1.5),
        ("memory", "at_ms", True),
        ("memory", "importance", 99),
        ("memory", "importance", "high"),
        ("memory", "importance", 10**400),
        ("memory", "category", "evil"),
        ("memory", "category", []),
        ("memory", "id", ""),
        ("memory", "id", "../x"),
        ("memory", "key", "\x1b[31mred"),
        ("memory", "key", "../../x"),
        ("memory", "citation", "a b"),
        ("memory", "citation", "AAAAAA"),
        ("memory", "source_ids", "abc"),
        ("memory", "source_ids", [1]),
        ("memory", "pinned", "yes"),
        ("memory", "superseded_by", "nosuch"),
        ("event", "kind", "evil"),
        ("event", "text", None),
        ("event", "at_ms", 2**63),
        ("event", "id", ""),
        ("event", "session_id", ""),
        ("event", "source", "나"),
        ("project", "root", 5),
        ("project", "root", "../.."),
        ("project", "keys", ["evil:x"]),
        ("project", "keys", "path:/x"),
        ("session", "transcript_path", 5),
        ("session", "since_ms", "x"),
        ("session", "project_dir", "상대/경로"),
        ("session", "shown", [1]),
    ],
)
def test_a_wrong_value_is_named_by_its_field(name: str, field: str, bad: object) -> None:
    with pytest.raises(UserError, match=rf"^{name}(: .+`\$\.{field}(\[0\])?`|\.{field}: .+)"):
        export.read(line(name, **{field: bad}))


@pytest.mark.parametrize(
    "raw",
    [b"", b"\n", b"garbage", b"[" * 100_000, b"[]", b"5", b'"event"', b'{"event": 5}', b'{"other": {}}', b"{}",
     line("memory").replace(b"0.3", b"NaN"), line("event").replace(b'"detail"', b'"extra"'),
     b'{"event": {"id": "' + ID.encode() + b'"}}', b'{"event": {}, "memory": {}}'],
)  # fmt: skip
def test_foreign_line_is_refused(raw: bytes) -> None:
    with pytest.raises(UserError):
        export.read(raw)


def test_texts_are_redacted_and_can_be_written() -> None:
    key = "sk-ant-api03-" + "Ab1" * 30
    said = f"키는 {key} 이고 <private>비밀번호</private> \udc80"
    for name in ("event", "memory"):
        read = export.read(line(name, text=said))
        assert isinstance(read, Event | Memory)
        assert key not in read.text and "비밀번호" not in read.text and "[redacted:" in read.text
        read.text.encode("utf-8")
    read = export.read(line("event", detail=key))
    assert isinstance(read, Event) and key not in read.detail


def test_shortened_text_is_not_shortened_again() -> None:
    cut = clean("긴 글 " * 200_000)
    read = export.read(line("event", text=cut))
    assert isinstance(read, Event) and read.text == cut
    read = export.read(line("memory", text="긴 글 " * 800_000))
    assert isinstance(read, Memory) and abs(len(read.text) - len(cut)) < 10


def test_a_folder_whose_name_is_not_utf8_comes_back() -> None:
    read = export.read(line("project", root="/srv/\udcff", keys=["path:/srv/\udcff"]))
    assert isinstance(read, ExportedProject) and read.entry["root"] == "/srv/\udcff"


def test_a_remote_keeps_no_password() -> None:
    read = export.read(line("project", keys=["remote:me:hunter2hunter2@example.com/shop"]))
    assert isinstance(read, ExportedProject) and read.entry["keys"] == ["remote:example.com/shop"]
