"""The answer to "does anything leave this machine?"."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from memlayer import compose
from memlayer.cli.terminal.output import sent_line
from memlayer.config import load_settings
from memlayer.sharing.share import new_share, write_share
from memlayer.team.places import IN_ORIGIN, IN_WORK_TREE, Team, write_team

ENDPOINT = {"provider": "openai", "model": "tiny"}


def sent(home: Path, settings: dict[str, Any], place: str = "") -> list[str]:
    home.mkdir(mode=0o700, exist_ok=True)
    (home / "config.yaml").write_text(yaml.safe_dump(settings, allow_unicode=True), "utf-8")
    return compose.sends(load_settings(str(home), {}), str(home), place)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, []),
        ({"embedding": {"provider": "none"}}, []),
        ({"consolidation": {"by_session": True}}, []),
        ({"consolidation": {"provider": "claude-cli"}}, ["finished sessions to claude-cli"]),
        ({"consolidation": {"provider": "claude-cli", "reads": "turn"}}, ["turns to claude-cli"]),
        ({"consolidation": {"provider": "claude-cli"}, "notes": {"enabled": False}}, []),
        ({"consolidation": {**ENDPOINT, "base_url": "http://127.0.0.1:11434/v1"}}, []),
        ({"consolidation": {**ENDPOINT, "base_url": "https://llm.kr/v1"}}, ["finished sessions to llm.kr"]),
        ({"embedding": {"provider": "openai"}}, ["stored texts and prompts to openai, for vectors"]),
        ({"embedding": {**ENDPOINT, "base_url": "http://localhost:1/v1"}}, []),
        ({"agent": {"provider": "anthropic"}}, ["talks of `memlayer agent` to anthropic"]),
        ({"agent": {**ENDPOINT, "base_url": "http://127.1:1/v1"}}, []),
    ],
)  # fmt: skip
def test_each_way_out_is_told(home: Path, settings: dict[str, Any], told: list[str]) -> None:
    assert sent(home, settings) == told


def test_vectors_of_a_provider_that_was_found_are_told(home: Path) -> None:
    assert sent(home, {"embedding": {"provider": "auto"}}) == []
    [told] = sent(home, {"embedding": {"provider": "auto"}}, "openai small at api.openai.com")
    assert told == "stored texts and prompts to openai small at api.openai.com, for vectors"


def test_share_and_team_are_told_without_a_password(home: Path) -> None:
    share = new_share("https://me:secret@git.example/기억.git", name="노트북", is_encrypted=True, is_automatic=False)
    write_share(str(home), share)
    write_team(str(home), "0123456789abcdef", Team(IN_WORK_TREE, "Kim", True))
    write_team(str(home), "0123456789abcde0", Team(IN_ORIGIN, "Kim", True))
    told = sent(home, {"consolidation": {"provider": "claude-cli"}})
    assert set(told[2:]) == {
        "promoted notes to a repository's .memlayer/team",
        "promoted notes to a repository's remote",
    }
    assert told[:2] == [
        "finished sessions to claude-cli",
        "prompts, answers and memories to https://git.example/기억.git by hand",
    ]
    assert "secret" not in sent_line(told) and sent_line(told).count("; ") == 3


def test_nothing_is_said_where_nobody_knows() -> None:
    assert sent_line(None) == "" and sent_line([]).startswith("nothing: ")
