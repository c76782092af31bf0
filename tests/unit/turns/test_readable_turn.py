"""A turn as it is read for what to keep: what is taken out of it, and where it may be cut."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlayer.edge.redaction.privacy import redact
from memlayer.turns.turn import cut_whole, readable, turn_text


@pytest.mark.parametrize(
    "marker",
    [
        "[Image #1]", "[Pasted text #2 +40 lines]", "![shot](/tmp/a b.png)", "[이미지]", '<image name="x"></image>',
        "data:image/png;base64,iVBORw0KGgo=", "[media attached: voice.ogg]", "<private>비밀</private>",
    ],
)  # fmt: skip
def test_media_markers_and_private_spans_are_gone(marker: str) -> None:
    prompt, answers = readable(redact("포트는 8080 " + marker + " 이야"), [redact("ok " + marker)])
    assert prompt.split() == ["포트는", "8080", "이야"]
    assert answers == ["ok"]


def test_an_array_index_and_a_checkbox_are_no_media() -> None:
    said = "files[file] and [ ] todo, [images](x) <imagery>"
    assert readable(said, []) == (said, [])


@pytest.mark.parametrize("shape", ["e\u0301", unicodedata.normalize("NFD", "값"), "👩‍👩‍👧", "👍🏽", "🇰🇷", "한"])
def test_no_cut_goes_through_a_character(shape: str) -> None:
    text = "가" * 10 + shape * 10
    for end in range(10, len(text)):
        assert (len(cut_whole(text, end)) - 10) % len(shape) == 0, end


@given(st.text(max_size=400), st.lists(st.text(max_size=400), max_size=4), st.integers(20, 300))
def test_a_turn_is_never_longer_than_it_may_be(prompt: str, answers: list[str], max_chars: int) -> None:
    assert len(turn_text(*readable(prompt, answers, max_chars))) <= max_chars


def test_four_thousand_characters_of_prompt_leave_no_room() -> None:
    prompt, answers = readable("가" * 5000, ["답"])
    assert (len(turn_text(prompt, answers)), answers) == (4000, [])
