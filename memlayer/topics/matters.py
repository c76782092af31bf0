"""The matters of a session: its turns, grouped by their words."""

from __future__ import annotations

from collections.abc import Sequence

from memlayer.text.terms import query_terms

# Of the terms of the smaller text, as many stand in another one of the same matter. At a fifth 112 of 129 real sessions
# are one matter, and those that fall apart do so by their topics; at three tenths half of them do.
SAME_SHARE = 0.2
FEWEST_TERMS = 4  # a turn of fewer follows the one before: "ok, commit it", "응 그렇게 해"
ANSWER_CHARS = 800


def matters(turns: Sequence[tuple[str, Sequence[str]]]) -> list[int]:
    """Return the number of each turn's matter, from 0 in their order.

    turns: (prompt, answers), oldest first. A turn belongs to the newest earlier matter that it shares words with.
    """
    numbers: list[int] = []
    words: list[set[str]] = []  # of each matter
    for prompt, answers in turns:
        own = set(query_terms(prompt + "\n" + "\n".join(answers)[:ANSWER_CHARS]))
        if numbers and len(set(query_terms(prompt))) < FEWEST_TERMS:
            number = numbers[-1]
        else:
            fitting = [
                at
                for at in range(len(words) - 1, -1, -1)
                if len(own & words[at]) >= SAME_SHARE * max(1, min(len(own), len(words[at])))
            ]
            number = fitting[0] if fitting else len(words)
        if number == len(words):
            words.append(set())
        words[number] |= own
        numbers.append(number)
    return numbers
