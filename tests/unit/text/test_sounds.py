"""Loanwords by their sound: pairs that the rules were made on, and pairs that they were not."""

from pathlib import Path

import pytest

from memlayer.adapters.search.word_index import WordSounds
from memlayer.text.sounds import alike, english_readings, hangul_readings, is_sure
from memlayer.text.terms import index_terms, stem

PAIRS = Path(__file__).parent / "loanwords"


def pairs(name: str) -> list[tuple[str, str]]:
    lines = (PAIRS / name).read_text("utf-8").splitlines()
    return [(line.split("\t")[0], line.split("\t")[1]) for line in lines if not line.startswith("#")]


def sound_alike(korean: str, english: str) -> bool:
    return any(
        is_sure(korean, one) and alike(one, other)
        for one in hangul_readings(korean)
        for other in english_readings(stem(english))
    )


@pytest.mark.parametrize(("name", "least"), [("tuned.tsv", 0.8), ("held_out.tsv", 0.85)])
def test_pairs_are_found_and_others_are_not(name: str, least: float) -> None:
    known = pairs(name)
    assert sum(sound_alike(*pair) for pair in known) >= least * len(known)
    others = [(one, other) for one, _ in known for _, other in known if (one, other) not in known]
    assert len(others) > 4000 and sum(sound_alike(*pair) for pair in others) <= 0.001 * len(others)


@pytest.mark.parametrize(
    ("run", "word"), [("시도", "seed"), ("나무", "name"), ("문제", "manage"), ("키", "key"), ("값", "gap")]
)
def test_short_native_words_are_no_loanwords(run: str, word: str) -> None:
    assert not sound_alike(run, word)


@pytest.mark.parametrize(
    ("text", "asked", "due"),
    [
        ("Tokenizer decision: byte-level BPE", "토크나이저", "token"),
        ("we use seed 1337", "시드", "seed"),
        ("체크포인트는 마지막 10개만 둔다", "checkpoint", "체크포인트"),
        ("토크나이저를 바꿨다", "tokenizer", "토크나이저"),
    ],
)
def test_words_of_a_project_are_found_across_scripts(text: str, asked: str, due: str) -> None:
    sounds = WordSounds()
    sounds.hear(index_terms(text).split())
    assert any(word.startswith(due) for word in sounds.alike(asked))
    assert sounds.alike("데이터베이스") == sounds.alike("kubernetes") == []
