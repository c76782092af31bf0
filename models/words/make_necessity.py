"""Write memlayer/core/necessity_data.py: how seldom a word that a question holds stands in the turn that answers it.

    PYTHONPATH=. python models/words/make_necessity.py

Counted over the questions of models/training and their turns, translations counting as in a search. A word's share is
drawn towards that of all words by PRIOR questions; what was asked with fewer than SEEN times is not told of.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from unicodedata import east_asian_width

from memlayer.core.query import reduce_prompt
from memlayer.core.scoring import frequencies
from memlayer.core.terms import index_terms

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("turns.jsonl", "projects.jsonl")
OUTPUT = ROOT / "memlayer" / "core" / "necessity_data.py"
SEEN, PRIOR = 5, 3
MEAN = 0.35  # of all words
WIDTH = 116  # columns; a Hangul syllable takes two
HEAD = '''"""Words by their necessity in tenths, written by models/words/make_necessity.py; others count whole."""

from __future__ import annotations

TENTHS = {
'''


def counted() -> tuple[Counter[str], Counter[str]]:
    """Term -> questions that ask with it, and those whose turn holds it."""
    asked: Counter[str] = Counter()
    held: Counter[str] = Counter()
    for name in SOURCES:
        for line in (ROOT / "models" / "training" / name).read_text(encoding="utf-8").splitlines():
            turn = json.loads(line)
            if "passage" not in turn:
                continue
            prompt, _, answer = turn["passage"].removeprefix("User: ").partition("\nAssistant: ")
            terms = index_terms(prompt + "\n" + answer).split()
            for question in turn["q"]:
                query = reduce_prompt(question)
                asked.update(query.terms)
                held.update(frequencies(query, terms).keys())
    return asked, held


def lines(words: list[str]) -> list[str]:
    """The words in lines of at most WIDTH columns."""
    out = [""]
    for word in words:
        if _columns(out[-1]) + _columns(word) >= WIDTH:
            out.append("")
        out[-1] += (" " if out[-1] else "") + word
    return out


def _columns(text: str) -> int:
    return sum(2 if east_asian_width(one) in "WF" else 1 for one in text)


def main() -> None:
    """Count and write."""
    asked, held = counted()
    groups: dict[int, list[str]] = {}
    for word, often in asked.items():
        if often >= SEEN:
            share = (held[word] + PRIOR * MEAN) / (often + PRIOR) / MEAN
            groups.setdefault(max(1, round(10 * share)), []).append(word)
    with OUTPUT.open("w", encoding="utf-8") as file:
        file.write(HEAD)
        for tenths in range(1, 10):
            body = "\n".join(lines(sorted(groups.get(tenths, []))))
            file.write('    %d: """\n%s\n""",\n' % (tenths, body))
        file.write("}\n")
    print(
        "%d words asked with, %.3f of them in the answer"
        % (sum(asked.values()), sum(held.values()) / sum(asked.values()))
    )


if __name__ == "__main__":
    main()
