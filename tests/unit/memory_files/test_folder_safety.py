"""Memory files with damage, obstacles or concurrent writers: nothing lost or leaked."""

import os
import stat
from pathlib import Path

import pytest

from memlayer.memory_files.folders import FileRules
from memlayer.memory_files.markdown import END
from memlayer.ports import Selection
from memlayer.records.projects import folder_name
from memlayer.wire.upkeep import EditCounts
from tests.support.files_in_memory import PLANS, FilesInMemory, six_facts, written


@pytest.fixture
def kept(tmp_path: Path) -> FilesInMemory:
    return six_facts(tmp_path)


def test_only_the_user_can_read_them(kept: FilesInMemory) -> None:
    assert stat.S_IMODE(kept.page.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.folder.stat().st_mode) == 0o700
    assert kept.folder.parent == kept.home / "projects"


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.9])
def test_a_truncated_file_deletes_nothing(kept: FilesInMemory, share: float) -> None:
    raw = kept.page.read_bytes()
    kept.page.write_bytes(raw[: int(len(raw) * share)])
    kept.sync()  # it may be in the middle of being written
    assert kept.page.stat().st_size == int(len(raw) * share)
    kept.age()
    assert kept.sync() == EditCounts()
    assert kept.texts == sorted(PLANS)
    notices = kept.files.notices()
    said = "deletions were not followed: the file was cut off"
    assert (len(notices) == 1 and said in notices[0]) == (share < 0.9)
    head, line, *rest = kept.page.read_bytes().splitlines(keepends=True)
    assert (said.encode() in line) == (share < 0.9)
    assert b"".join([head, *rest]) == raw if share < 0.9 else head + line + b"".join(rest) == raw


def test_more_than_half_at_once_deletes_nothing(kept: FilesInMemory) -> None:
    for part in ("화요일", "ClickHouse", "8443", "30일"):
        kept.delete(part)
    assert kept.sync() == EditCounts()
    assert kept.texts == sorted(PLANS)
    assert "4 deletions were not followed: more than half" in kept.files.notices()[0]
    kept.start()
    assert len(kept.files.notices()) == 1
    kept.delete("30일")
    assert kept.sync() == EditCounts(removed=1)
    assert kept.files.notices() == []


def test_a_file_that_is_gone_is_written_again(kept: FilesInMemory) -> None:
    raw = kept.page.read_bytes()
    kept.page.unlink()
    assert kept.sync() == EditCounts()
    assert kept.page.read_bytes() == raw


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ("결제는 토스로 한다".encode("cp949"), "not UTF-8"),
        ("메모".encode("utf-16"), "not UTF-8"),
        (b"PNG\0\0\0", "not text"),
        ("<<<<<<< HEAD\n- 하나\n=======\n- 둘\n>>>>>>> branch\n".encode(), "unresolved merge"),
    ],
)
def test_unreadable_file_is_left_alone(kept: FilesInMemory, raw: bytes, says: str) -> None:
    kept.page.write_bytes(raw)
    kept.age()
    kept.say("그래도 기억은 계속된다.")
    assert kept.sync() == EditCounts()
    assert kept.page.read_bytes() == raw
    assert says in kept.files.notices()[0]
    assert not kept.files.changed(kept.project_id)
    kept.page.unlink()
    kept.sync()
    assert kept.files.notices() == [] and "계속된다" in written(kept.page)


def test_secrets_leave_memory_and_file(kept: FilesInMemory) -> None:
    key = "AKIA" + "Q7XZ3M5K9PLW2RT8"
    kept.edit(
        END,
        "- 배포 키는 %s 이다\n- 회식은 <private>비밀 장소</private> 에서 한다\n- <private>모두 비밀</private>\n%s"
        % (key, END),
    )
    assert kept.sync() == EditCounts(added=2)
    everything = "\n".join(kept.texts) + written(kept.page)
    assert key not in everything and "비밀" not in everything
    assert "배포 키는 [redacted:" in everything and "회식은 [redacted:private] 에서 한다" in everything


@pytest.mark.parametrize("change", ["crlf", "bom", "blanks"])
def test_editor_formatting_is_no_change(kept: FilesInMemory, change: str) -> None:
    raw = kept.page.read_bytes()
    kept.page.write_bytes(
        {"crlf": raw.replace(b"\n", b"\r\n"), "bom": b"\xef\xbb\xbf" + raw, "blanks": raw.replace(b"\n", b"  \n")}[
            change
        ]
    )
    assert kept.sync() == EditCounts()
    assert kept.texts == sorted(PLANS)


def test_concurrent_save_loses_nothing(kept: FilesInMemory) -> None:
    # The person's save comes after the files were read and before they are written.
    kept.say("방금 알게 된 사실.")
    taking = kept.files._read_back
    saves = iter([lambda: kept.edit(END, "- 마지막 순간에 적은 줄.\n" + END)])

    def take(*arguments: object) -> EditCounts:
        found = taking(*arguments)  # type: ignore[arg-type]
        next(saves, lambda: None)()
        return found

    kept.files._read_back = take  # type: ignore[method-assign, assignment]
    assert kept.sync() == EditCounts(added=1)
    assert {"방금 알게 된 사실.", "마지막 순간에 적은 줄."} <= set(kept.texts)
    assert "방금 알게" in written(kept.page) and "마지막 순간" in written(kept.page)


def test_forgetting_everything_leaves_no_file(kept: FilesInMemory) -> None:
    kept.store.forget(Selection(project_id=kept.project_id))
    kept.files.rules = FileRules(enabled=False)
    kept.files.sync(kept.project_id, force=True)
    assert list(kept.home.joinpath("projects").iterdir()) == []


def test_forget_watches_no_switched_off_files(kept: FilesInMemory) -> None:
    page = kept.page
    kept.files.rules = FileRules(enabled=False)
    kept.files.sync(kept.project_id, force=True)
    page.write_text("바뀐 파일", encoding="utf-8")
    assert not kept.files.changed(kept.project_id)


def test_switched_off_nothing_is_read_or_written(kept: FilesInMemory) -> None:
    kept.edit("30일", "60일")
    before = kept.page.read_bytes()
    page = kept.page
    kept.files.rules = FileRules(enabled=False)
    kept.say("아무 데도 적히지 않는 사실.")
    assert kept.sync() == EditCounts()
    assert "로그는 30일 보관한다." in kept.texts and page.read_bytes() == before


@pytest.mark.parametrize("place", ["page", "folder", "day"])
def test_link_is_neither_followed_nor_replaced(kept: FilesInMemory, tmp_path: Path, place: str) -> None:
    target = tmp_path / "남의 파일"
    folder = kept.folder
    if place == "page":
        target.write_text("그대로", encoding="utf-8")
        link = kept.page
        link.unlink()
    elif place == "folder":
        target.mkdir()
        link = folder
        kept.page.unlink()
        folder.rmdir()
    else:
        target.mkdir()
        link = folder / "memory"
    link.symlink_to(target)
    kept.work("s1", "p1", "빌드가 왜 깨지지?", "원인은 Node 18이었습니다. 20으로 올렸습니다.")
    kept.sync()
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "그대로" if place == "page" else list(target.iterdir()) == []
    assert kept.files.notices()


def test_pasted_document_is_not_read(kept: FilesInMemory) -> None:
    kept.edit(END, "".join("- 붙여 넣은 줄 %d.\n" % n for n in range(501)) + END)
    raw = kept.page.read_bytes()
    assert kept.sync() == EditCounts()
    assert kept.page.read_bytes() == raw
    assert "files.extra_paths" in kept.files.notices()[0]


def test_half_written_file_is_removed(kept: FilesInMemory) -> None:
    leftover, own = kept.folder / ".tmp-MEMORY.md-4711", kept.folder / ".tmp-notes"
    leftover.write_text("반쯤 쓰인 기억", encoding="utf-8")
    own.write_text("사용자의 것", encoding="utf-8")
    kept.sync()
    assert (leftover.exists(), own.exists()) == (False, True)


def test_pipe_does_not_block(kept: FilesInMemory) -> None:
    kept.page.unlink()
    os.mkfifo(kept.page)
    kept.sync()
    assert stat.S_ISFIFO(kept.page.lstat().st_mode) and kept.files.notices()


def test_files_move_into_the_project(tmp_path: Path) -> None:
    kept = FilesInMemory(tmp_path)
    kept.say("배포는 화요일에 한다.")
    kept.sync()
    at_home = kept.page
    kept.edit("화요일", "수요일")
    kept.in_project = True
    kept.start()
    assert kept.sync() == EditCounts(edited=1)
    assert kept.page == kept.root / ".memlayer" / "MEMORY.md" and "수요일" in written(kept.page)
    assert not at_home.exists() and not at_home.parent.exists()
    kept.page.chmod(0o644)
    kept.say("리뷰는 두 명이 한다.")
    kept.sync()
    assert stat.S_IMODE(kept.page.stat().st_mode) == 0o644


def test_home_folder_project_stays_out_of_ours(tmp_path: Path) -> None:
    kept = FilesInMemory(tmp_path, in_project=True)
    kept.home.rename(kept.root / ".memlayer")
    kept.home = kept.root / ".memlayer"
    kept.start()
    kept.say("배포는 화요일에 한다.")
    kept.sync()
    assert kept.folder.parent == kept.home / "projects" and not (kept.home / "MEMORY.md").exists()


def test_switched_off_project_gets_no_files(tmp_path: Path) -> None:
    kept = FilesInMemory(tmp_path)
    (kept.root / ".memlayer.yaml").write_text("enabled: false\n", encoding="utf-8")
    kept.say("배포는 화요일에 한다.")
    kept.sync()
    assert not (kept.home / "projects").exists()


@pytest.mark.parametrize("in_project", [False, True])
def test_forgotten_memory_leaves_switched_off_files(tmp_path: Path, in_project: bool) -> None:
    kept = FilesInMemory(tmp_path, in_project=in_project)
    gone = kept.say("금고 열쇠는 딱따구리 둥지에 있다.")
    kept.say("배포는 화요일에 한다.")
    kept.sync()
    page = kept.page
    kept.edit("배포는", "모든 배포는")
    (kept.root / ".memlayer.yaml").write_text("enabled: false\n", encoding="utf-8")
    kept.forget(gone)
    assert "딱따구리" not in written(page) and "모든 배포는 화요일에" in written(page)
    assert kept.files.left_alone(kept.project_id) == []
    # Otherwise it is off as before.
    before = page.read_bytes()
    page.write_bytes(before.replace("화요일".encode(), "수요일".encode()))
    assert not kept.files.changed(kept.project_id) and kept.sync() == EditCounts()
    assert kept.files.folder(kept.project_id) == ""


def test_files_of_another_project_are_left_alone(tmp_path: Path) -> None:
    kept = FilesInMemory(tmp_path, in_project=True)
    git = kept.root / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")

    def with_remote(name: str) -> str:
        (git / "config").write_text('[remote "origin"]\n\turl = https://example.org/%s\n' % name, encoding="utf-8")
        return kept.projects.resolve(str(kept.root))[0]

    kept.project_id = with_remote("상점/first")
    kept.say("배포는 화요일에 한다.")
    kept.sync()
    page = kept.page
    assert with_remote("상점/second") != kept.project_id
    kept.store.forget(Selection(project_id=kept.project_id))
    kept.files.sync(kept.project_id, force=True)
    assert kept.files.left_alone(kept.project_id) == ["%s: left alone: its folder is not the project's any more" % page]


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("상점 shop", "상점-shop"),
        ("../../etc/passwd", "etc-passwd"),
        ("..", "project"),
        ("", "project"),
        ("a\nb\0c\x1b[31m", "a-b-c-31m"),
        ("$(rm -rf ~); `x`", "rm-rf-x"),
        ("-rf", "rf"),
        (".git", "git"),
        ("가" * 300, "가" * 40),
    ],
)
def test_a_folder_gets_a_harmless_name(name: str, folder: str) -> None:
    assert folder_name(name, "0123abcd") == folder + "-0123abcd"
