"""Since when a language model is on."""

import os
import stat
from pathlib import Path

import pytest

from memlayer.edge.home import paths
from memlayer.records.projects import turned_off, turned_on

LOCAL, REMOTE = "openai http://127.0.0.1:11434/v1", "openai"


def test_another_address_is_another_place(home: Path) -> None:
    assert turned_on(str(home), LOCAL, 1000) == 1000
    assert turned_on(str(home), LOCAL, 2000) == 1000
    assert turned_on(str(home), REMOTE, 3000) == 3000
    assert turned_on(str(home), LOCAL, 4000) == 4000
    turned_off(str(home))
    assert turned_on(str(home), LOCAL, 5000) == 5000


def test_wrong_clock_when_it_was_turned_on_does_not_keep_it_off(home: Path) -> None:
    turned_on(str(home), LOCAL, 9000)
    assert turned_on(str(home), LOCAL, 2000) == 2000
    assert turned_on(str(home), LOCAL, 3000) == 2000


@pytest.mark.parametrize(
    "broken", ["", "[]", "{", "\x00\xff", '{"place": "%s", "since_ms": "x", "reader": 7}' % LOCAL, "[" * 100_000]
)
def test_broken_note_means_that_it_is_turned_on_now(home: Path, broken: str) -> None:
    home.mkdir()
    Path(paths.model_since(str(home))).write_text(broken, encoding="latin-1")
    assert turned_on(str(home), LOCAL, 2000) == 2000
    assert turned_on(str(home), LOCAL, 3000) == 2000


def test_note_of_an_earlier_version_holds(home: Path) -> None:
    home.mkdir()
    note = '{"place": "%s", "since_ms": 1000, "reader": "openai:qwen3"}' % LOCAL
    Path(paths.model_since(str(home))).write_text(note, encoding="utf-8")
    assert turned_on(str(home), LOCAL, 2000) == 1000


def test_note_that_cannot_be_written_holds_from_now_on(tmp_path: Path) -> None:
    in_the_way = tmp_path / "a file"
    in_the_way.write_text("")
    assert turned_on(str(in_the_way), LOCAL, 2000) == 2000
    turned_off(str(in_the_way))


def test_note_is_private_and_gone_with_the_model(home: Path) -> None:
    os.umask(0o022)
    turned_on(str(home), LOCAL, 1000)
    path = Path(paths.model_since(str(home)))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    turned_off(str(home))
    assert not path.exists()
    turned_off(str(home))
