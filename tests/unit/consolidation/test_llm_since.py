"""Since when a language model is on: what was said before is sent nowhere, and no turn is sent twice."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
import yaml

from memlayer import compose
from memlayer.config import load_settings
from memlayer.consolidation.extractor import Extractor
from memlayer.consolidation.llm.extractor import ModelExtractor
from memlayer.consolidation.llm.since import TurnedOn, turned_off, turned_on
from memlayer.edge.home import paths
from tests.support.consolidating_in_memory import T0_MS, Consolidating
from tests.support.scripted_model import ScriptedModel

HOUR_MS = 3_600_000
LOCAL, REMOTE = "openai http://127.0.0.1:11434/v1", "openai"
BEFORE = "토스와의 계약은 3월에 끝나기로 했어. 아직 아무에게도 말하지 않기로 했고."
SINCE = "From now on the API listens on port 9443, we settled on that for the new gateway."
REPLY = "알겠습니다. 기억해 두겠습니다."


class Home:
    """Sessions with a memory whose daemon is restarted with other settings; `now_ms` is the machine's clock."""

    def __init__(self, home: Path) -> None:
        self.path, self.now_ms = home, T0_MS
        self.memory = Consolidating(home)
        self.model = ScriptedModel('{"history_entry": "%s", "memory_update": null}' % SINCE)

    def restart(self, **consolidation: object) -> Extractor:
        """A daemon begins with these settings, and reads what waits."""
        chosen = {"consolidation": {"reads": "turn", **consolidation}}
        (self.path / "config.yaml").write_text(yaml.safe_dump(chosen), encoding="utf-8")
        reader = compose.extractor(load_settings(str(self.path), {}), str(self.path), now_ms=lambda: self.now_ms)
        if isinstance(reader, ModelExtractor):
            reader.model, reader.clock = self.model, lambda: self.now_ms / 1000
        self.memory.consolidator.extractor = reader
        self.memory.consolidator.settle_turns(100)
        return reader

    def say(self, prompt_id: str, prompt: str) -> None:
        self.memory.say("s1", prompt_id, prompt, REPLY, at=self.now_ms - T0_MS)

    def sent(self) -> list[str]:
        return [prompt for prompt in (BEFORE, SINCE) for _, asked in self.model.asked if prompt in asked]


@pytest.fixture
def begun(home: Path) -> Home:
    """Something was said an hour before a model is turned on."""
    home.mkdir()
    found = Home(home)
    found.restart()
    found.say("p1", BEFORE)
    found.now_ms += HOUR_MS
    return found


def test_what_was_said_before_is_sent_nowhere(begun: Home) -> None:
    begun.restart(provider="claude-cli")
    begun.say("p2", SINCE)
    assert begun.sent() == [SINCE]
    begun.now_ms += HOUR_MS
    begun.restart(provider="claude-cli")
    assert begun.sent() == [SINCE]
    assert any("3월" in text for text in begun.memory.texts())  # by the rules


def test_another_model_is_not_sent_what_one_has_read_and_its_reading_stays(begun: Home) -> None:
    begun.restart(provider="claude-cli")
    begun.say("p2", SINCE)
    whole = begun.memory.whole()
    begun.now_ms += HOUR_MS
    for chosen in (
        {"provider": "claude-cli", "model": "sonnet"},
        {"provider": "openai", "model": "gpt"},
        {"provider": "openai", "model": "gpt", "base_url": "http://127.0.0.1:8080/v1"},
    ):
        begun.restart(**chosen)
        assert begun.sent() == [SINCE]
        assert begun.memory.whole() == whole


def test_what_was_said_while_it_was_off_is_not_sent_when_it_is_on_again(begun: Home) -> None:
    begun.restart(provider="claude-cli")
    begun.restart()
    begun.say("p2", SINCE)
    begun.now_ms += HOUR_MS
    begun.restart(provider="claude-cli")
    assert begun.sent() == []


def test_who_asks_for_everything_gets_it(begun: Home) -> None:
    begun.restart(provider="claude-cli", max_age_days=0)
    assert begun.sent() == [BEFORE]


def test_another_address_is_another_place_and_another_name_is_not(home: Path) -> None:
    assert turned_on(str(home), LOCAL, "openai:qwen3", 1000) == TurnedOn(1000, "openai:qwen3")
    assert turned_on(str(home), LOCAL, "openai:llama", 2000) == TurnedOn(1000, "openai:qwen3")
    assert turned_on(str(home), REMOTE, "openai:gpt", 3000) == TurnedOn(3000, "openai:qwen3")
    assert turned_on(str(home), LOCAL, "openai:llama", 4000) == TurnedOn(4000, "openai:qwen3")
    turned_off(str(home))
    assert turned_on(str(home), LOCAL, "openai:llama", 5000) == TurnedOn(5000, "openai:llama")


def test_a_clock_that_was_wrong_when_it_was_turned_on_does_not_keep_it_off(home: Path) -> None:
    turned_on(str(home), LOCAL, "openai:qwen3", 9000)
    assert turned_on(str(home), LOCAL, "openai:qwen3", 2000) == TurnedOn(2000, "openai:qwen3")
    assert turned_on(str(home), LOCAL, "openai:qwen3", 3000) == TurnedOn(2000, "openai:qwen3")


@pytest.mark.parametrize(
    "broken", ["", "[]", "{", "\x00\xff", '{"place": "%s", "since_ms": "x", "reader": 7}' % LOCAL, "[" * 100_000]
)
def test_a_broken_note_means_that_it_is_turned_on_now(home: Path, broken: str) -> None:
    home.mkdir()
    Path(paths.model_since(str(home))).write_text(broken, encoding="latin-1")
    assert turned_on(str(home), LOCAL, "openai:qwen3", 2000) == TurnedOn(2000, "openai:qwen3")
    assert turned_on(str(home), LOCAL, "openai:qwen3", 3000) == TurnedOn(2000, "openai:qwen3")


def test_what_cannot_be_noted_holds_from_now_on(tmp_path: Path) -> None:
    in_the_way = tmp_path / "a file"
    in_the_way.write_text("")
    assert turned_on(str(in_the_way), LOCAL, "openai:qwen3", 2000).since_ms == 2000
    turned_off(str(in_the_way))


def test_the_note_is_private_and_gone_with_the_model(home: Path) -> None:
    os.umask(0o022)
    turned_on(str(home), LOCAL, "openai:qwen3", 1000)
    path = Path(paths.model_since(str(home)))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    turned_off(str(home))
    assert not path.exists()
    turned_off(str(home))
