"""Extra Markdown: pieces with lines, in step with the disk, within the named paths."""

import os
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlayer.edge.capture.payload import clean
from memlayer.kinds import Ended
from memlayer.memory_files.extra_files import GLOBAL, MAX_FILE_BYTES, ExtraFiles, pieces_of, read_text, walk
from memlayer.model import Memory, Scope
from memlayer.ports import MemoryQuery
from memlayer.records.tombstones import Tombstones
from memlayer.text.chunking import estimate_tokens
from memlayer.text.terms import query_terms
from tests.support.turns_in_memory import T0_MS, TurnsInMemory

KEY = "AKIA" + "Q7XZ3M5K9PLW2RT8"
PRIVATE_KEY = "-----BEGIN %s KEY-----\n%s\n-----END %s KEY-----" % (
    "PRIVATE",
    "\n".join(["MIIEvQIBADANBgkqhkiG9w0B"] * 9),
    "PRIVATE",
)


class Shelf(TurnsInMemory):
    """A home and folders of documents beside it."""

    def __init__(self, base: Path) -> None:
        self.home, self.notes, self.repo = base / "집", base / "노트", base / "src" / "상점"
        for folder in (self.home, self.notes, self.repo / "docs"):
            folder.mkdir(parents=True)
        super().__init__(self.home)
        self.project_id = self.projects.resolve(str(self.repo))[0]
        self.named = (str(self.notes), str(self.repo / "docs"))
        self.start()

    def start(self) -> None:
        self.keep.tombstones = Tombstones(str(self.home))
        self.extra = ExtraFiles(str(self.home), self.keep, self.projects, self.named)

    def sync(self) -> None:
        while not self.extra.sync():
            pass

    @property
    def pieces(self) -> list[Memory]:
        return sorted(
            self.store.memories(MemoryQuery(category="custom", is_current=True, limit=10_000)), key=lambda one: one.kind
        )

    def found(self, words: str) -> set[str]:
        hits = self.store.search_text(query_terms(words), Scope((self.project_id, GLOBAL)), 20)
        return {hit.chunk.role for hit in hits}


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    monkeypatch.setenv("HOME", str(tmp_path))
    return Shelf(tmp_path)


def test_piece_has_lines_and_heading() -> None:
    text = (
        "# 운영 안내\n\n"
        + "\n".join("%d번 서버는 %s 에 있다." % (n, "서울 판교 " * 8) for n in range(60))
        + "\n\n## 백업\n\n새벽 4시.\n"
    )
    pieces = pieces_of(text)
    lines = text.split("\n")
    assert len(pieces) > 3 and pieces[0].start_line == 1 and pieces[-1].end_line == len(lines) - 1
    for one, following in pairwise(pieces):
        assert one.start_line < following.start_line <= one.end_line + 2
        assert estimate_tokens(one.text) <= 400
        assert following.text.startswith(("# 운영 안내\n", "## 백업"))
        assert lines[one.end_line - 1].rstrip() in one.text


@given(
    st.lists(
        st.one_of(st.sampled_from(["# 제목", "", "문단이다. " * 40, "```", "- 항목", KEY]), st.text(max_size=80)),
        max_size=60,
    )
)
def test_the_lines_of_a_piece_hold_its_words(parts: list[str]) -> None:
    text = "\n".join(parts).replace("\r", "")
    lines = text.split("\n")
    end = 0
    for one in pieces_of(text):
        assert 1 <= one.start_line <= one.end_line <= len(lines)
        assert one.start_line >= 1 and one.end_line >= end
        end = one.end_line
        if clean(text) == text:
            held = "\n".join(lines[one.start_line - 1 : one.end_line])
            body = one.text if one.text in held else one.text.partition("\n")[2]
            assert body in held


def test_redacted_lines_keep_later_numbers() -> None:
    text = "# 배포\n\n%s\n\n아래 문단은 그대로다.\n%s\n" % (PRIVATE_KEY, "채움 " * 900)
    pieces = pieces_of(text)
    everything = "\n".join(one.text for one in pieces)
    assert "MIIEvQ" not in everything and "[redacted:" in everything
    assert pieces[0].start_line == 1
    assert pieces[-1].end_line == text.count("\n")
    [below] = [one for one in pieces_of(text + "\n" * 3 + "## 끝\n\n마지막 줄.") if "마지막 줄." in one.text]
    assert below.end_line == text.count("\n") + 6


def test_documents_have_lines_and_project(shelf: Shelf) -> None:
    (shelf.notes / "운영.md").write_text("# 운영\n\n백업은 새벽 4시에 한다.\n", encoding="utf-8")
    (shelf.repo / "docs" / "sub").mkdir()
    (shelf.repo / "docs" / "sub" / "guide.markdown").write_text("# Guide\n\nimporter runs nightly\n", encoding="utf-8")
    shelf.sync()
    assert [(one.kind, one.project_id) for one in shelf.pieces] == [
        ("docs/sub/guide.markdown:1-3", shelf.project_id),
        ("~/노트/운영.md:1-3", GLOBAL),
    ]
    assert shelf.extra.has_global
    assert shelf.found("importer") == {"docs/sub/guide.markdown:1-3"}
    assert [one.category for one in shelf.pieces] == ["custom", "custom"]
    assert shelf.extra.counts() == {shelf.named[0]: 1, shelf.named[1]: 1}


def test_a_change_touches_only_the_pieces_that_it_changes(shelf: Shelf) -> None:
    page = shelf.notes / "긴 글.md"
    parts = ["## %d장\n\n%s" % (n, "%d번째 이야기를 여기에 길게 적는다. " % n * 18) for n in range(12)]
    page.write_text("\n\n".join(parts), encoding="utf-8")
    shelf.sync()
    before = {one.id: one for one in shelf.pieces}
    page.write_text("\n\n".join([*parts[:11], parts[11].replace("이야기", "새 이야기")]), encoding="utf-8")
    shelf.start()
    shelf.sync()
    after = {one.id: one for one in shelf.pieces}
    kept = set(before) & set(after)
    assert len(kept) >= len(before) - 2 and all(before[key] == after[key] for key in kept)
    assert set(after) - kept and all("새 이야기" in after[key].text for key in set(after) - kept)
    page.write_text("첫 줄이 하나 더\n\n" + page.read_text(encoding="utf-8"), encoding="utf-8")
    shelf.sync()
    assert all(one.at_ms == before[one.id].at_ms for one in shelf.pieces if one.id in before)


def test_deleted_file_leaves_search_unmounted_disk_stays(shelf: Shelf) -> None:
    page, other = shelf.notes / "a.md", shelf.notes / "b.md"
    page.write_text("zebra 서버", encoding="utf-8")
    other.write_text("walrus 서버", encoding="utf-8")
    shelf.sync()
    page.unlink()
    shelf.sync()
    assert (shelf.found("zebra"), len(shelf.found("walrus"))) == (set(), 1)
    shelf.notes.rename(shelf.notes.with_name("다른 이름"))
    shelf.sync()
    assert len(shelf.found("walrus")) == 1
    assert "not there" in shelf.extra.notices()[0]
    shelf.named = shelf.named[1:]
    shelf.start()
    shelf.sync()
    assert shelf.found("walrus") == set()


def test_retired_pieces_are_erased_at_next_start(shelf: Shelf) -> None:
    page = shelf.notes / "a.md"
    page.write_text("zebra", encoding="utf-8")
    shelf.sync()
    [first] = shelf.pieces
    page.unlink()
    shelf.sync()
    assert len(shelf.store.memories(MemoryQuery(category="custom"))) == 1
    page.write_text("zebra", encoding="utf-8")
    shelf.sync()
    assert shelf.pieces == [first] and len(shelf.found("zebra")) == 1
    page.unlink()
    shelf.sync()
    shelf.start()
    shelf.sync()
    assert shelf.store.memories(MemoryQuery(category="custom")) == []


def test_file_moves_to_its_known_project(shelf: Shelf, tmp_path: Path) -> None:
    folder = tmp_path / "src" / "새 저장소" / "docs"
    folder.mkdir(parents=True)
    (folder / "x.md").write_text("zebra", encoding="utf-8")
    shelf.named = (str(folder),)
    shelf.start()
    shelf.sync()
    assert [one.project_id for one in shelf.pieces] == [GLOBAL]
    project_id, _ = shelf.projects.resolve(str(folder.parent))
    shelf.sync()
    assert [(one.project_id, one.kind) for one in shelf.pieces] == [(project_id, "docs/x.md:1-1")]
    assert not shelf.extra.has_global


def test_home_folder_project_keeps_global_notes(shelf: Shelf, tmp_path: Path) -> None:
    shelf.projects.resolve(str(tmp_path))
    (shelf.notes / "a.md").write_text("zebra", encoding="utf-8")
    shelf.sync()
    assert [one.project_id for one in shelf.pieces] == [GLOBAL]


def test_secrets_in_documents_are_redacted(shelf: Shelf) -> None:
    (shelf.notes / "a.md").write_text(
        "키는 %s 이다\n<private>비밀</private>\n%s" % (KEY, PRIVATE_KEY), encoding="utf-8"
    )
    shelf.sync()
    said = " ".join(one.text for one in shelf.pieces)
    assert "[redacted:" in said and KEY not in said and "비밀" not in said and "MIIEvQ" not in said


def test_only_plain_markdown_below_the_folder_is_read(shelf: Shelf, tmp_path: Path) -> None:
    outside = tmp_path / "밖"
    outside.mkdir()
    (outside / "secret.md").write_text("outside", encoding="utf-8")
    notes = shelf.notes
    (notes / "link.md").symlink_to(outside / "secret.md")
    (notes / "folder").symlink_to(outside)
    os.mkfifo(notes / "pipe.md")
    (notes / ".hidden").mkdir()
    (notes / ".hidden" / "a.md").write_text("hidden", encoding="utf-8")
    (notes / "code.py").write_text("code", encoding="utf-8")
    (notes / "good.md").write_text("좋은 글", encoding="utf-8")
    shelf.named = (str(tmp_path / "노트"),)
    found = walk(shelf.named, str(shelf.home))
    assert [os.path.basename(path) for path in found.files] == ["good.md"]
    assert next(iter(walk([str(tmp_path)], str(shelf.home)).files)).startswith(str(tmp_path))
    assert not any(path.startswith(str(shelf.home)) for path in walk([str(tmp_path)], str(shelf.home)).files)


@pytest.mark.parametrize(
    ("raw", "says"),
    [(b"x" * (MAX_FILE_BYTES + 1), "longer than"), (b"PNG\0\0", "not text"), ("결제".encode("cp949"), "not UTF-8")],
)
def test_binary_file_is_left_out(shelf: Shelf, raw: bytes, says: str) -> None:
    (shelf.notes / "a.md").write_bytes(raw)
    (shelf.notes / "b.md").write_text("zebra", encoding="utf-8")
    shelf.sync()
    shelf.sync()
    assert [one.text for one in shelf.pieces] == ["zebra"]
    assert says in " ".join(shelf.extra.notices())


def test_line_ends_and_byte_order_marks_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"\xef\xbb\xbf# A\r\nb\r\n")
    assert read_text(str(tmp_path / "a.md")) == ("# A\nb\n", "")


def test_relative_path_refused_single_file_read(shelf: Shelf) -> None:
    plain = shelf.notes / "메모.txt"
    plain.write_text("zebra", encoding="utf-8")
    shelf.named = ("docs", str(plain))
    shelf.start()
    shelf.sync()
    assert [one.text for one in shelf.pieces] == ["zebra"]
    assert "docs: not an absolute path" in shelf.extra.notices()


def test_a_lost_book_is_written_anew_without_leftovers(shelf: Shelf) -> None:
    (shelf.notes / "a.md").write_text("zebra", encoding="utf-8")
    (shelf.notes / "b.md").write_text("walrus", encoding="utf-8")
    shelf.sync()
    (shelf.home / "cache" / "files" / "extra.json").unlink()
    (shelf.notes / "a.md").unlink()
    shelf.start()
    shelf.sync()
    assert [one.text for one in shelf.pieces] == ["walrus"]


def test_forgotten_piece_stays_forgotten(shelf: Shelf) -> None:
    page = shelf.notes / "a.md"
    page.write_text("zebra", encoding="utf-8")
    shelf.sync()
    [piece] = shelf.pieces
    Tombstones(str(shelf.home)).add([piece.id])
    (shelf.home / "cache" / "files" / "extra.json").unlink()
    shelf.start()
    shelf.sync()
    assert shelf.pieces == []


def test_a_piece_that_a_person_let_go_stays_so_while_its_words_do(shelf: Shelf) -> None:
    page = shelf.notes / "배포.md"
    page.write_text("# 배포\n\n배포는 화요일에 한다.\n\n# 로그\n\n로그는 30일 둔다.\n", encoding="utf-8")
    shelf.sync()
    [piece] = shelf.pieces
    shelf.keep.write([piece.ended(Ended.LET_GO, T0_MS)])
    page.write_text("\n\n" + page.read_text(encoding="utf-8"), encoding="utf-8")  # other lines, the same words
    shelf.start()
    shelf.sync()
    assert shelf.pieces == [] and shelf.found("화요일") == set()
    page.write_text("# 배포\n\n배포는 목요일에 한다.\n", encoding="utf-8")
    shelf.start()
    shelf.sync()
    assert [row.text for row in shelf.pieces] == ["# 배포\n\n배포는 목요일에 한다."]
    page.write_text("# 배포\n\n배포는 화요일에 한다.\n", encoding="utf-8")
    shelf.start()
    shelf.sync()
    page.write_text("# 배포\n\n배포는 목요일에 한다.\n", encoding="utf-8")
    shelf.start()
    shelf.sync()  # gone from its file and back: that was no person's decision
    assert [row.text for row in shelf.pieces] == ["# 배포\n\n배포는 목요일에 한다."]
