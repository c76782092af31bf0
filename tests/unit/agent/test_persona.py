"""The persona: by chance, in its window, across midnight, with missing files."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from memlayer.agent.assembly import PERSONA_CHARS, draw_persona
from memlayer.config.agent import SoulSettings

USUAL, OTHER = "나는 친절하다.", "나는 심술궂다."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "SOUL.md").write_text(USUAL + "\n", encoding="utf-8")
    (tmp_path / "SOUL_EVIL.md").write_text(OTHER, encoding="utf-8")
    return tmp_path


def draw(folder: Path, now: datetime, drawn: float, **settings: Any) -> str:
    return draw_persona(SoulSettings(**settings), str(folder), now, lambda: drawn)


def at(hour: int, minute: int, second: int = 0) -> datetime:
    return datetime(2026, 3, 22, hour, minute, second)


@pytest.mark.parametrize(("drawn", "wanted"), [(0.0, OTHER), (0.099, OTHER), (0.1, USUAL), (0.99, USUAL)])
def test_chance_of_one_in_ten(folder: Path, drawn: float, wanted: str) -> None:
    assert draw(folder, at(12, 0), drawn) == wanted


@pytest.mark.parametrize(
    ("now", "wanted"),
    [(at(20, 59, 59), USUAL), (at(21, 0), OTHER), (at(21, 14, 59), OTHER), (at(21, 15), USUAL), (at(9, 0), USUAL)],
)
def test_window_of_fifteen_minutes(folder: Path, now: datetime, wanted: str) -> None:
    assert draw(folder, now, 0.99, purge_at="21:00") == wanted


@pytest.mark.parametrize(
    ("now", "wanted"), [(at(23, 49), USUAL), (at(23, 50), OTHER), (at(0, 9, 59), OTHER), (at(0, 10), USUAL)]
)
def test_window_across_midnight(folder: Path, now: datetime, wanted: str) -> None:
    assert draw(folder, now, 0.99, purge_at="23:50", purge_duration="20m") == wanted


def test_window_wins_over_chance(folder: Path) -> None:
    assert draw(folder, at(5, 0), 0.5, chance=0, purge_at="00:00", purge_duration="24h") == OTHER
    assert draw(folder, at(0, 0), 0.0, chance=0) == USUAL


def test_missing_files_are_no_persona(folder: Path) -> None:
    (folder / "SOUL_EVIL.md").unlink()
    assert draw(folder, at(1, 0), 0.5, chance=1) == USUAL
    (folder / "SOUL.md").unlink()
    assert draw(folder, at(1, 0), 0.5, chance=1) == ""


def test_long_or_binary_file_does_no_harm(folder: Path) -> None:
    (folder / "SOUL.md").write_bytes(b"\xff\xfe" + "가".encode() * 100_000)
    text = draw(folder, at(1, 0), 0.5, chance=0)
    assert len(text) <= PERSONA_CHARS
    assert "가" in text
