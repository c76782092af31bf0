"""Texts of many thousand short sentences: rules are drawn of them in bounded time."""

import time

import pytest

from memlayer.consolidation.rules.extraction import extract
from memlayer.edge.capture.noise import own_words
from memlayer.tasks.book import observed
from memlayer.turns.evidence import align
from memlayer.turns.outcome import outcome

SENTENCES = 22_000
MOST_S = 3.0  # "why is it 1? why is it 2? ..." took 124 s
PIECES = (
    "why is it %d? ", "%d번은 왜 그래? ", "%d번은 왜 그래?\n", "is %d ok?\n\n", "Port %d is used. ", 
    "우리는 %d번을 쓰기로 했다. ",
    "- use %d always\n", "a%d, ", '"q%d" ', "`f%d` ", "(x%d ", "```\na%d\n", "<ide_selection>%d</ide_selection>\n",
)  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_many_sentences_take_no_longer(piece: str) -> None:
    text = "".join(piece % number for number in range(SENTENCES))
    for read in (
        lambda said: extract(said, [], 1_795_262_456_217),
        lambda said: extract("결제 포트는?", [said], 1_795_262_456_217),
        lambda said: outcome(said, [said]),
        lambda said: align("결제 포트는 8443으로 하기로 했다", said),
        own_words,
        observed,
    ):
        begun = time.process_time()
        read(text)
        assert time.process_time() - begun < MOST_S
