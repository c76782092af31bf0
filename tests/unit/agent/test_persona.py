"""The persona: by chance, in its window, across midnight, with missing files."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from memlayer.agent.persona import MAX_CHARS, Persona

USUAL, OTHER = "나는 친절하다.", "나는 심술궂다."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "SOUL.md").write_text(USUAL + "\n", encoding="utf-8")
    (tmp_path / "SOUL_EVIL.md").write_text(OTHER, encoding="utf-8")
    return tmp_path


def persona(folder: Path, *, chance: float = 0.1, minute: int = -1, window_s: int = 900) -> Persona:
    return Persona(folder / "SOUL.md", folder / "SOUL_EVIL.md", chance, minute, window_s)


def at(hour: int, minute: int, second: int = 0) -> datetime:
    return datetime(2026, 3, 22, hour, minute, second)


@pytest.mark.parametrize(("drawn", "wanted"), [(0.0, OTHER), (0.099, OTHER), (0.1, USUAL), (0.99, USUAL)])
def test_chance_of_one_in_ten(folder: Path, drawn: float, wanted: str) -> None:
    assert persona(folder).draw(at(12, 0), lambda: drawn) == wanted


@pytest.mark.parametrize(
    ("now", "wanted"),
    [(at(20, 59, 59), USUAL), (at(21, 0), OTHER), (at(21, 14, 59), OTHER), (at(21, 15), USUAL), (at(9, 0), USUAL)],
)
def test_window_of_fifteen_minutes(folder: Path, now: datetime, wanted: str) -> None:
    assert persona(folder, minute=21 * 60).draw(now, lambda: 0.99) == wanted


@pytest.mark.parametrize(
    ("now", "wanted"), [(at(23, 49), USUAL), (at(23, 50), OTHER), (at(0, 9, 59), OTHER), (at(0, 10), USUAL)]
)
def test_window_across_midnight(folder: Path, now: datetime, wanted: str) -> None:
    assert persona(folder, minute=23 * 60 + 50, window_s=1200).draw(now, lambda: 0.99) == wanted


def test_window_wins_over_chance(folder: Path) -> None:
    assert persona(folder, chance=0.0, minute=0, window_s=86_400).draw(at(5, 0), lambda: 0.5) == OTHER
    assert persona(folder, chance=0.0).draw(at(0, 0), lambda: 0.0) == USUAL


def test_missing_files_are_no_persona(folder: Path) -> None:
    (folder / "SOUL_EVIL.md").unlink()
    assert persona(folder, chance=1).draw(at(1, 0), lambda: 0.5) == USUAL
    (folder / "SOUL.md").unlink()
    assert persona(folder, chance=1).draw(at(1, 0), lambda: 0.5) == ""


def test_long_or_binary_file_does_no_harm(folder: Path) -> None:
    (folder / "SOUL.md").write_bytes(b"\xff\xfe" + "가".encode() * 100_000)
    text = persona(folder, chance=0).draw(at(1, 0), lambda: 0.5)
    assert len(text) <= MAX_CHARS
    assert "가" in text
