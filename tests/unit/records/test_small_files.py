"""Small files: read as their type, set aside where damaged, safe for any id and text."""

import logging
import stat
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from memlayer.notes.reading_log import Reading, ReadingLog
from memlayer.records import small_files


@dataclass
class Shelf:
    name: str
    count: int = 0
    tags: list[str] = field(default_factory=list)


@pytest.mark.parametrize("name", ["배포는 main에서만", "ü / ../x", "\udcff path", "", "\ud83d half", "line\nbreak\0"])
def test_every_text_comes_back(tmp_path: Path, name: str) -> None:
    path = tmp_path / "new folder" / "shelf.json"
    small_files.write(str(path), Shelf(name, 3, [name]))
    assert small_files.read(str(path), Shelf) == Shelf(name, 3, [name])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "damage",
    ["", "{", "null", "[]", '{"name": 7}', '{"count": 1}', '{"name": "x", "tags": "y"}', "\x00\xff", "[" * 100_000],
)
def test_damaged_file_is_told_and_set_aside(tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "shelf.json"
    path.write_text(damage, encoding="latin-1")
    with caplog.at_level(logging.ERROR):
        assert small_files.read(str(path), Shelf) is None
    assert str(path) in caplog.text
    assert not path.exists() and (tmp_path / "shelf.json.damaged").read_text(encoding="latin-1") == damage


def test_no_file_is_no_damage(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert small_files.read(str(tmp_path / "none.json"), Shelf) is None
    assert caplog.text == ""


def test_file_that_the_disk_refuses_stays(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "shelf.json").mkdir()
    assert small_files.read(str(tmp_path / "shelf.json"), Shelf) is None
    assert (tmp_path / "shelf.json").is_dir() and "cannot be read" in caplog.text


def test_names_of_a_newer_version_are_ignored(tmp_path: Path) -> None:
    (tmp_path / "shelf.json").write_text('{"name": "서고", "colour": "red"}', encoding="utf-8")
    assert small_files.read(str(tmp_path / "shelf.json"), Shelf) == Shelf("서고")


def test_folder_holds_each_id_apart(tmp_path: Path) -> None:
    folder = small_files.Folder(str(tmp_path / "shelves"), Shelf)
    assert list(folder.all()) == []
    ids = ["s1", "../../s1", "세션", "/etc/passwd", "s1\0", ""]
    for number, id_ in enumerate(ids):
        folder.put(id_, Shelf(id_, number))
    (tmp_path / "shelves" / "wanted.json").write_text("[]")
    assert [folder.get(id_) for id_ in ids] == [Shelf(id_, number) for number, id_ in enumerate(ids)]
    assert sorted(shelf.count for shelf in folder.all()) == list(range(len(ids)))
    assert all(path.parent == tmp_path / "shelves" for path in tmp_path.rglob("*.json"))
    folder.drop("세션")
    folder.drop("세션")
    assert folder.get("세션") is None and len(list(folder.all())) == len(ids) - 1


def test_forgetting_takes_what_was_set_aside(tmp_path: Path) -> None:
    readings = ReadingLog(str(tmp_path))
    readings.put(Reading("s1", summary="배포는 화요일", event_ids=["e1"]))
    readings.put(Reading("s2", summary="we deploy on Tuesdays", event_ids=["e2"]))
    (whole, torn) = sorted((tmp_path / "readings").iterdir(), key=lambda path: "we deploy" in path.read_text("utf-8"))
    torn.write_text(torn.read_text("utf-8")[:-2], "utf-8")
    assert [row.session_id for row in readings.all()] == ["s1"]
    assert "we deploy" in Path(str(torn) + small_files.DAMAGED).read_text("utf-8")
    readings.forget(["e1"])
    assert [path.name for path in (tmp_path / "readings").iterdir()] == [whole.name]
    assert readings.get("s1").summary == "" and "화요일" not in whole.read_text("utf-8")
