"""Notes held against a checked-out tree, with real repositories."""

import os
from pathlib import Path

import pytest

from memlayer.kinds import Category, Kind
from memlayer.model import Memory, replace
from memlayer.records.ground import SINCE_CHANGED, Ground
from tests.support.repositories import git, repository
from tests.support.store_rows import make_memory
from tests.support.tables import tables

TABLES = tables("records/ground")

FILES = TABLES["files"]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = repository(tmp_path / "상점 shop")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return committed(folder)


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(str(tmp_path / "home"))


def committed(folder: Path) -> Path:
    git(folder, "add", "-A")
    git(folder, "commit", "-m", "정리", "--allow-empty")
    return folder


def written(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    committed(folder)


def noted(number: int, text: str, *files: str, kind: str = Kind.DECISION) -> Memory:
    return replace(make_memory(number, text), category=Category.CORE, kind=kind, files=files)


def mark(ground: Ground, shop: Path, note: Memory) -> str:
    """The mark that a note has in its project's work tree."""
    ground.note("p1", [note], lambda _: str(shop))
    return ground.look("p1", str(shop)).get(note.citation, "")


GONE = TABLES["gone"]


@pytest.mark.parametrize(("text", "file", "new"), GONE)
def test_note_whose_code_is_gone_is_marked(ground: Ground, shop: Path, text: str, file: str, new: str | None) -> None:
    note = noted(1, text)
    assert mark(ground, shop, note) == ""
    git(shop, "rm", "-q", file) if new is None else written(shop, file, new)
    committed(shop)
    assert mark(ground, shop, note) == SINCE_CHANGED


def test_file_of_a_dirty_tree_counts_as_it_is(ground: Ground, shop: Path) -> None:
    note = noted(1, "정산은 여기서 한다.", "결제/정산.py")
    assert mark(ground, shop, note) == ""
    (shop / "결제" / "정산.py").rename(shop / "결제" / "치움.py")
    assert mark(ground, shop, note) == SINCE_CHANGED
    (shop / "결제" / "치움.py").rename(shop / "결제" / "정산.py")
    assert mark(ground, shop, note) == ""


KEPT = [
    ("Do not create src/legacy_cart.py again.", Kind.DECISION),
    ("legacy_cart.py는 일부러 지웠다. LegacyCart를 다시 만들지 말 것.", Kind.DECISION),
    ("The specs lie in ../partner/api.md and /srv/partner/src/cart_store.py.", Kind.FACT),
    ("외부 저장소 ~/partner/src/cart_store.py 를 본다.", Kind.FACT),
    ("`load_cart()` behind a cache did not hold: it was taken out.", Kind.ATTEMPT),
    ("Answer in Korean, always. 그리고 짧게.", Kind.PREFERENCE),
]


@pytest.mark.parametrize(("text", "kind"), KEPT)
def test_note_of_what_never_stood_there_is_not_marked(ground: Ground, shop: Path, text: str, kind: Kind) -> None:
    note = noted(1, text, kind=kind)
    assert mark(ground, shop, note) == ""
    written(shop, "src/cart_store.py", "")
    assert mark(ground, shop, note) == ""


@pytest.mark.parametrize("text", ["장바구니는 src/cart_redis.py에 둔다.", "장바구니는 이제 레디스에 둔다."])
def test_note_of_a_branch_that_is_not_merged_names_it(ground: Ground, shop: Path, text: str) -> None:
    git(shop, "checkout", "-q", "-b", "장바구니/redis")
    written(shop, "src/cart_redis.py", "port = 6380\n")
    note = noted(1, text)
    assert mark(ground, shop, note) == ""
    git(shop, "checkout", "-q", "main")
    assert mark(ground, shop, note) == "(on branch 장바구니/redis) "
    git(shop, "merge", "-q", "장바구니/redis")
    assert mark(ground, shop, note) == ""


def test_branch_that_was_squashed_is_merged(ground: Ground, shop: Path) -> None:
    git(shop, "checkout", "-q", "-b", "cart")
    written(shop, "src/cart_redis.py", "port = 6380\n")
    note = noted(1, "The cart moves to Redis.")
    assert mark(ground, shop, note) == ""
    git(shop, "checkout", "-q", "main")
    assert mark(ground, shop, note) == "(on branch cart) "
    git(shop, "merge", "-q", "--squash", "cart")
    committed(shop)
    assert mark(ground, shop, note) == ""


def test_way_of_working_holds_on_each_branch(ground: Ground, shop: Path) -> None:
    git(shop, "checkout", "-q", "-b", "cart")
    committed(shop)
    note = noted(1, "한국어로 답할 것.", kind=Kind.PREFERENCE)
    assert mark(ground, shop, note) == ""
    git(shop, "checkout", "-q", "main")
    assert mark(ground, shop, note) == ""


def test_names_outlast_the_daemon_and_are_forgotten(ground: Ground, shop: Path, tmp_path: Path) -> None:
    home, notes = tmp_path / "home", [noted(1, "`load_cart()`만 쓴다."), noted(2, "CartStore가 정본이다.")]
    ground.note("p1", notes, lambda _: str(shop))
    written(shop, "src/cart_store.py", "")
    assert Ground(str(home)).look("p1", str(shop)).keys() == {note.citation for note in notes}
    Ground(str(home)).forget(["p1"], {"m1"})
    [file] = (home / "noted_names").iterdir()
    assert "load_cart" not in file.read_text() and "CartStore" in file.read_text()
    ground.note("p1", [], lambda _: str(shop))
    assert "CartStore" not in file.read_text()


def test_folder_without_git_tells_of_its_files(ground: Ground, tmp_path: Path) -> None:
    folder = tmp_path / "초안"
    folder.mkdir()
    (folder / "계획.md").write_text("`load_cart()`")
    note = noted(1, "계획은 여기에 있다: `load_cart()`.", "계획.md")
    assert mark(ground, folder, note) == ""
    os.unlink(folder / "계획.md")
    assert mark(ground, folder, note) == SINCE_CHANGED


def test_git_that_fails_leaves_the_marks(ground: Ground, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note = noted(1, "장바구니는 CartStore를 거쳐서만 읽는다.")
    assert mark(ground, shop, note) == ""
    monkeypatch.setenv("PATH", "")
    written_index = shop / ".git" / "index"
    os.utime(written_index, (1, 1))
    assert mark(ground, shop, note) == ""
