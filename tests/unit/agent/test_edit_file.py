"""The edit tool: a passage that stands there once, and nothing but it, is replaced."""

from pathlib import Path

import pytest

from memlayer.agent.files import MAX_EDITED_BYTES, UNCHANGED, EditFile, ProjectFolder, WriteFile
from memlayer.errors import ToolError
from tests.support.tables import tables

TABLES = tables("agent/edit_file")

CODE = "def 합계(값들):\n    총 = 0\n    for 값 in 값들:\n        총 += 값\n    return 총\n"


class Person:
    """A person who allows everything, and remembers the questions."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []

    def __call__(self, question: str, details: str, *, always: str = "") -> None:
        self.asked.append((question, details, always))


@pytest.fixture
def person() -> Person:
    """A person at the terminal."""
    return Person()


@pytest.fixture
def folder(tmp_path: Path) -> ProjectFolder:
    """A project with a file of code."""
    (tmp_path / "합.py").write_text(CODE)
    return ProjectFolder(str(tmp_path))


def edit(folder: ProjectFolder, person: Person, old: str, new: str, path: str = "합.py") -> str:
    """Permit and run an edit, as a talk does."""
    tool, arguments = EditFile(folder, person), {"path": path, "old_text": old, "new_text": new}
    tool.permit(arguments)
    return tool.run(arguments)


def test_passage_is_replaced_after_a_diff(folder: ProjectFolder, person: Person) -> None:
    (folder.root / "합.py").chmod(0o750)
    assert edit(folder, person, "    총 = 0\n", "    총 = 0.0\n") == "Written: 합.py, 5 lines"
    assert (folder.root / "합.py").read_text() == CODE.replace("총 = 0", "총 = 0.0")
    assert (folder.root / "합.py").stat().st_mode & 0o777 == 0o750
    ((question, details, always),) = person.asked
    assert (question, always) == ("Change 합.py (5 lines)?", "")
    assert "-    총 = 0\n+    총 = 0.0" in details


@pytest.mark.parametrize(("old", "why"), TABLES["passage_that_is_not_there_once_is_refused"])
def test_passage_that_is_not_there_once_is_refused(folder: ProjectFolder, person: Person, old: str, why: str) -> None:
    with pytest.raises(ToolError, match=why):
        edit(folder, person, old, "다른 것")
    assert (folder.root / "합.py").read_text() == CODE and person.asked == []


def test_overlapping_passages_are_not_unique(folder: ProjectFolder, person: Person) -> None:
    (folder.root / "a.txt").write_text("aaa")
    with pytest.raises(ToolError, match="2 times"):
        edit(folder, person, "aa", "b", "a.txt")
    (folder.root / "많이.txt").write_text("가\n" * 50)
    with pytest.raises(ToolError, match=r"more than 10 times in 많이.txt \(lines 1, 2, .*, 10\)"):
        edit(folder, person, "가", "나", "많이.txt")


def test_line_breaks_of_windows_stay(folder: ProjectFolder, person: Person) -> None:
    (folder.root / "윈.txt").write_bytes("하나\r\n둘\r\n셋\r\n".encode())
    edit(folder, person, "하나\n둘\n", "하나\n두울\n", "윈.txt")
    assert (folder.root / "윈.txt").read_bytes() == "하나\r\n두울\r\n셋\r\n".encode()


@pytest.mark.parametrize(("path", "why"), TABLES["file_that_cannot_be_edited_says_why"])
def test_file_that_cannot_be_edited_says_why(folder: ProjectFolder, person: Person, path: str, why: str) -> None:
    (folder.root / "옛글.txt").write_bytes("총 = 0".encode("euc-kr"))
    (folder.root / "큰.txt").write_bytes(b"x" * (MAX_EDITED_BYTES + 1))
    (folder.root / "폴더").mkdir()
    (folder.root / "고리.txt").symlink_to("/etc/passwd")
    with pytest.raises(ToolError, match=why):
        edit(folder, person, "총 = 0", "총 = 1", path)
    assert person.asked == []


def test_empty_change_asks_nothing(folder: ProjectFolder, person: Person) -> None:
    before = (folder.root / "합.py").stat().st_mtime_ns
    assert edit(folder, person, "총 = 0", "총 = 0") == UNCHANGED
    tool, arguments = WriteFile(folder, person), {"path": "합.py", "content": CODE}
    tool.permit(arguments)
    assert tool.run(arguments) == UNCHANGED
    assert person.asked == [] and (folder.root / "합.py").stat().st_mtime_ns == before


def test_change_of_line_breaks_alone_is_asked(folder: ProjectFolder, person: Person) -> None:
    tool, arguments = WriteFile(folder, person), {"path": "합.py", "content": CODE.rstrip("\n")}
    tool.permit(arguments)
    assert [details for _, details, _ in person.asked] == ["(only line breaks change)"]


def test_new_empty_file_is_asked(folder: ProjectFolder, person: Person) -> None:
    WriteFile(folder, person).permit({"path": "빈.txt", "content": ""})
    assert [question for question, _, _ in person.asked] == ["Write 빈.txt (0 lines)?"]
