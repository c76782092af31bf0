"""Generated prompts, and prompts that are worth a search."""

import pytest

from memlayer.edge.capture.noise import is_noise, recallable
from tests.support.tables import tables

TABLES = tables("edge/noise")

GENERATED = TABLES["generated"]

HUMAN = TABLES["human"]


@pytest.mark.parametrize("prompt", GENERATED)
def test_generated_prompt_is_noise(prompt: str) -> None:
    assert is_noise(prompt)
    assert not recallable(prompt)


@pytest.mark.parametrize("prompt", HUMAN)
def test_human_prompt_is_recallable(prompt: str) -> None:
    assert not is_noise(prompt)
    assert recallable(prompt)


@pytest.mark.parametrize(
    "prompt",
    """
    ok|OK!|thanks|Thank you so much!|go on|continue|lgtm|LGTM 👍|yes, do it|sounds good|hi|nope|👍|🎉🎉
    계속|계속해줘|응 고마워|ㅇㅇ|ㅋㅋㅋㅋ|넵 감사합니다!|안녕|안녕하세요|good morning
    좋아 진행해|오케이 그렇게 해줘|그래 좋아|수고했어
    2+2?|42|3.5 * 2 =|...|y|はい|好的 继续|that's great, let's go
    """.replace("\n", "|").split("|"),
)
def test_small_talk_is_not_recallable(prompt: str) -> None:
    assert not recallable(prompt.strip())


@pytest.mark.parametrize("prompt", TABLES["content_word_is_enough"])
def test_content_word_is_enough(prompt: str) -> None:
    assert recallable(prompt)
