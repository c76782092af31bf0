"""Memory files are read back as they were rendered.

Whatever the memories say and whatever an editor does.
"""

import re
import time
import unicodedata

from hypothesis import example, given, settings
from hypothesis import strategies as st

from memlayer.memory_files.edits import FileChanges, compare
from memlayer.memory_files.markdown import (
    END,
    HEADINGS,
    FileEntry,
    Line,
    digest,
    heading_of,
    normalized,
    parse,
    render,
    unescaped,
)

CITATION = st.text("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", min_size=6, max_size=6)
# Texts that Markdown, and our own notation, could misread.
AWKWARD = [
    "# 제목", "## Decisions", "- [mem:a7Bc3x] 2026-11-19: 위조", "[mem:zzzzzz]", "* 항목", "1. 첫째", "> 인용", "```",
    "~~~", "<!-- 주석 -->", "<!--", "-->", END, "---", "===", "    코드", "\t탭", "| a | b |", "pinned: ", ": ", "\\",
    "2026-11-19: ", "\r\n", "\r", "\u2028", "\x0b", "\x1b[31m", "<<<<<<< ours", ">>>>>>> theirs", "\ufeff", "",
    "User: ", "결제는 토스로 하기로 했다.",
]  # fmt: skip
TEXT = st.lists(st.one_of(st.sampled_from(AWKWARD), st.text(max_size=30)), max_size=8).flatmap(
    lambda parts: st.sampled_from(["\n", " ", "\n\n", ""]).map(lambda joint: joint.join(parts))
)
LINE = st.builds(Line, CITATION, st.sampled_from(["2026-11-19", "14:05"]), TEXT.filter(normalized), st.booleans())
SECTIONS = st.lists(st.tuples(st.sampled_from(list(HEADINGS)), st.lists(LINE, max_size=4)), max_size=4)


def file_of(sections: list[tuple[str, list[Line]]], title: str = "Memory of 상점") -> str:
    return render(title, [(heading_of(kind), lines) for kind, lines in sections])


def is_empty(found: FileChanges) -> bool:
    return not (found.edited or found.deleted or found.added or found.strays or found.pinned)


def entries_of(sections: list[tuple[str, list[Line]]]) -> list[FileEntry]:
    return [FileEntry(one.citation, digest(one.text), one.pinned) for _, lines in sections for one in lines]


@settings(deadline=None)
@given(SECTIONS, TEXT)
def test_rendering_round_trips(sections: list[tuple[str, list[Line]]], title: str) -> None:
    text = file_of(sections, title)
    parsed = parse(text.encode("utf-8", "replace"))
    assert (parsed.problem, parsed.written, parsed.is_whole) == ("", tuple(entries_of(sections)), True)
    told = [(kind, one.citation, normalized(one.text), one.pinned) for kind, lines in sections for one in lines]
    expected = [(kind, key, text.encode("utf-8", "replace").decode(), pinned) for kind, key, text, pinned in told]
    assert [(one.kind, one.citation, one.text, one.pinned) for one in parsed.items] == expected


@settings(deadline=None)
@given(SECTIONS, st.sampled_from(["\r\n", "\r"]), st.booleans())
def test_line_ends_change_nothing(sections: list[tuple[str, list[Line]]], ends: str, has_mark: bool) -> None:
    raw = file_of(sections).encode("utf-8", "replace")
    changed = (b"\xef\xbb\xbf" if has_mark else b"") + raw.replace(b"\n", ends.encode())
    assert parse(changed) == parse(raw)


@settings(deadline=None)
@given(TEXT)
@example("\t- 탭으로 시작")
def test_shown_text_stays_unchanged(text: str) -> None:
    assert normalized(normalized(text)) == normalized(text)
    assert digest(normalized(text)) == digest(text)


@settings(deadline=None)
@given(st.lists(LINE, max_size=6, unique_by=lambda one: one.citation), st.data())
def test_only_edits_are_found(lines: list[Line], data: st.DataObject) -> None:
    known = entries_of([("fact", lines)])
    doomed = data.draw(st.lists(st.sampled_from(lines), max_size=2, unique=True)) if lines else []
    changed = data.draw(st.lists(st.sampled_from(lines), max_size=2, unique=True)) if lines else []
    changed = [one for one in changed if one not in doomed]
    kept = [one._replace(text="고침: " + one.text) if one in changed else one for one in lines if one not in doomed]
    text = file_of([("fact", kept)]).replace("\n" + END, "\n- 새로 적은 줄 9f3\n\n" + END)
    found = compare(known, parse(text.encode("utf-8", "replace")).items, is_whole=True, is_known=True)
    same_text = [one for one in doomed if any(normalized(one.text) == normalized(other.text) for other in kept)]
    assert {entry.citation for entry in found.deleted} == {one.citation for one in doomed}, same_text
    assert {entry.citation for entry, _ in found.edited} == {one.citation for one in changed}
    assert ("fact", "새로 적은 줄 9f3") in found.added and len(found.added) == 1
    assert (found.strays, found.pinned, found.refused) == ([], [], 0)


@settings(deadline=None)
@given(st.lists(LINE, max_size=8, unique_by=lambda one: one.citation), st.data())
def test_an_old_copy_deletes_nothing_newer(lines: list[Line], data: st.DataObject) -> None:
    """The copy had `lines`. Since then some were reworded, retired or added."""
    opened = parse(file_of([("fact", lines)]).encode("utf-8", "replace"))
    reworded, retired, doomed = (data.draw(st.sets(st.sampled_from(lines or [None]), max_size=2)) for _ in range(3))
    there = [one for one in lines if one not in retired]
    there = [one._replace(text="새 말 " + one.text) if one in reworded else one for one in there]
    now = entries_of([("fact", [*there, Line("newer0", "2026-11-20", "그 사이에 added")])])
    items = [item for item, one in zip(opened.items, lines, strict=True) if one not in doomed]
    found = compare(opened.written or (), items, is_whole=True, is_known=True, now=now)
    deletable = {one.citation for one in doomed if one and one not in reworded and one not in retired}
    assert {entry.citation for entry in found.deleted} in (deletable, set())  # none of more than half
    assert found.refused == len({one for one in doomed if one} - retired) - len(found.deleted)
    assert not (found.edited or found.added or found.strays or found.pinned)


@settings(deadline=None)
@given(SECTIONS, st.data())
def test_truncated_file_deletes_nothing(sections: list[tuple[str, list[Line]]], data: st.DataObject) -> None:
    raw = file_of(sections).encode("utf-8", "replace")
    known = entries_of(sections)
    cut = raw[: data.draw(st.integers(0, len(raw) - len(END) - 2))]
    parsed = parse(cut)
    if parsed.problem:  # within a character, or within a bullet that looks like a merge
        return
    found = compare(known, parsed.items, is_whole=parsed.is_whole, is_known=True)
    assert not parsed.is_whole
    assert is_empty(found)


FENCES = st.builds(
    "%s%s".__mod__, st.tuples(st.sampled_from(["```", "~~~", "`````"]), st.sampled_from(["", "python", " 셸 "]))
)


@settings(deadline=None)
@given(SECTIONS, st.lists(st.tuples(FENCES, st.integers(0, 20)), max_size=4))
def test_open_fences_change_no_memory(sections: list[tuple[str, list[Line]]], fences: list[tuple[str, int]]) -> None:
    """An open fence before any bullet or the last line.

    However many there are: each is closed by nothing before the next.
    """
    text = file_of(sections)
    known = entries_of(sections)
    lines = text.split("\n")
    places = [at for at, line in enumerate(lines) if line.startswith("- [mem:") or line == END]
    for at, fence in sorted({places[number % len(places)]: fence for fence, number in fences}.items(), reverse=True):
        lines.insert(at, fence)
    parsed = parse("\n".join(lines).encode("utf-8", "replace"))
    assert parsed.is_whole and parsed.items == parse(text.encode("utf-8", "replace")).items
    assert is_empty(compare(known, parsed.items, is_whole=True, is_known=True))


@settings(deadline=None)
@given(SECTIONS, st.sampled_from(["[ ] ", "[x] ", "[X] ", ""]), st.booleans())
def test_citation_prefix_changes_nothing(sections: list[tuple[str, list[Line]]], box: str, with_text: bool) -> None:
    text = file_of(sections)
    known = entries_of(sections)

    def marked(line: str) -> str:
        return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", line) if with_text else line

    lines = []
    for line in text.split("\n"):
        bullet = re.fullmatch(r"- \[mem:(\w+)\]( \S+(?: pinned)?: )(.*)", line, flags=re.DOTALL)
        if bullet is not None:
            line = "- %s\\[mem:%s\\]%s%s" % (box, bullet[1], bullet[2], marked(bullet[3]))
        elif line.startswith("  "):
            line = marked(line)
        lines.append(line)
    parsed = parse("\n".join(lines).encode("utf-8", "replace"))
    assert is_empty(compare(known, parsed.items, is_whole=True, is_known=True))
    assert len(compare(known, parsed.items, is_whole=True, is_known=True).kept) == len(known)


@settings(deadline=None)
@given(SECTIONS, st.sampled_from(["NFD", "NFC"]))
@example(
    [("fact", [Line("000000", "2026-11-19", "\u0338 결정 \u2000 \u212b \u037e \u1fef\u1fef\u1fef \uf914", False)])],
    "NFD",
)
def test_letter_normalization_changes_nothing(sections: list[tuple[str, list[Line]]], form: str) -> None:
    text = file_of(sections)
    known = entries_of(sections)
    parsed = parse(unicodedata.normalize(form, text).encode("utf-8", "replace"))
    assert parsed.is_whole and parsed.base == parse(text.encode("utf-8", "replace")).base != ""
    assert is_empty(compare(known, parsed.items, is_whole=True, is_known=True))
    assert len(compare(known, parsed.items, is_whole=True, is_known=True).kept) == len(known)


@settings(deadline=None)
@given(st.text("`\\a[_ ", max_size=14))
@example("\\```")
@example("`a\\`` `\\[` \\[")
def test_backslashes_removed_outside_code(text: str) -> None:
    assert unescaped(re.sub(r"([`\\\[_])", r"\\\1", text)) == text
    assert len(unescaped(text)) <= len(text)
    code = "`` %s ``" % text.replace("`", "")
    assert unescaped(code) == code


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_can_be_read(raw: bytes) -> None:
    parse(raw)


@settings(deadline=None)
@given(SECTIONS, st.binary(max_size=40), st.data())
def test_any_damage_can_be_read(sections: list[tuple[str, list[Line]]], junk: bytes, data: st.DataObject) -> None:
    raw = file_of(sections).encode("utf-8", "replace")
    at = data.draw(st.integers(0, len(raw)))
    parsed = parse(raw[:at] + junk + raw[at:])
    compare([], parsed.items, is_whole=parsed.is_whole, is_known=False)


def test_hostile_file_parses_fast() -> None:
    known = [FileEntry("%06d" % n, digest("사실 %d" % n)) for n in range(2000)]
    lines = ["<!--", "<<<<<<< ", "- ", "- a\n\n", "```", "```x", "~~~ x y", "- [mem:000001] x", "  ", "# x", "- - - -"]
    falling = "".join("`" * count + "x\n" for count in range(2000, 2, -1))
    for line in (
        *((line + "\n") * 20_000 for line in lines),
        falling,
        "- \\[mem:000001] " + falling.replace("\n", " "),
    ):
        started = time.process_time()
        parsed = parse(line.encode())
        compare(known, parsed.items, is_whole=False, is_known=True)
        assert time.process_time() - started < 5, line[:20]
