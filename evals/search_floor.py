"""Measures the floor of `search`.

How much nonsense finds something, and how many questions still find their answer.

    .venv/bin/python evals/search_floor.py

Every project of evals/data/dialogues in a throw-away home; a question finds its answer if a hit is the turn that it
comes from, or holds the expected words.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from evals import dialogue_set
from evals.dialogue_home import Home, citation
from memlayer.recall.search import LEAST_RELEVANCE, LEAST_WORDS

TYPED = (
    "asdfqwer zxcv", "ㅁㄴㅇㄹ 퀙", "qwertyuiop", "asdf", "sdfkjh", "zzzzzz", "xyzzy plugh", "foobarbaz", "뷁쉙",
    "꿹뛟 쀍", "hjkl;", "aaaa bbbb", "dkssudgktpdy", "ㅋㅋㅋㅋ", "12983 88123", "blorptastic frimble", "쿠쿠루삥뽕",
)  # fmt: skip
ALPHABETS = {
    "latin": [chr(one) for one in range(ord("a"), ord("z") + 1)],
    "hangul": [chr(one) for one in range(0xAC00, 0xD7A4)],
    "common hangul": list("가나다라마바사아자차카타파하거너더러머버서어고노도로모보소오구누두루무우기니디리미비시이"),
    "jamo": list("ㅁㄴㅇㄹㅂㅈㄷㄱㅅㅋㅌㅊㅍㅎ"),
}
EACH = 60


def nonsense() -> Iterator[tuple[str, str]]:
    """(sort, words) that mean nothing; the same in every run."""
    chosen = random.Random(5)
    for sort, letters in ALPHABETS.items():
        for _ in range(EACH):
            words = ["".join(chosen.choices(letters, k=chosen.randint(2, 8))) for _ in range(chosen.randint(1, 3))]
            yield sort, " ".join(words)
    yield from (("typed", words) for words in TYPED)


def main() -> None:
    projects = dialogue_set.load()
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        shift_ms = dialogue_set.shift_ms(projects, int(time.time() * 1000))
        home.fill(((project.name, turn) for project in projects for turn in project.turns), shift_ms)
        home.settle(lambda *_: None)

        def search(words: str, project: str) -> list[dict[str, Any]]:
            asked = {"query": words, "project_dir": str(home.folder(project)), "limit": 30}
            return list(home.client.call("search", asked, deadline_s=60)["hits"])

        print(f"words from {LEAST_WORDS}, relevance from {LEAST_RELEVANCE}")
        found: dict[str, list[bool]] = {}
        for sort, words in nonsense():
            found.setdefault(sort, []).extend(bool(search(words, project.name)) for project in projects)
        for sort, some in found.items():
            print(f"{sort:<14} {sum(some):4} of {len(some):4} searches found something")
        turns = {turn.id: turn for project in projects for turn in project.turns}
        answered, hits, asked = 0, 0, 0
        for probe in dialogue_set.chosen(projects, "all", []):
            if probe.silence or probe.context or probe.source not in turns:
                continue
            shown = search(probe.prompt, probe.project)
            source = citation(turns[probe.source])[5:-1]
            asked, hits = asked + 1, hits + len(shown)
            answered += any(
                hit["citation"] == source or any(words in hit["snippet"] for words in probe.any_of) for hit in shown
            )
        print(f"{'questions':<14} {answered:4} of {asked:4} found their answer, {hits / asked:.1f} hits each")
        home.client.stop()


if __name__ == "__main__":
    main()
