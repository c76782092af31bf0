"""Score of the rules of core memories on real sessions.

The sessions come with the notes of a careful colleague.

`python evals/core_memories.py SET.jsonl [--noted LABELS.jsonl ...] [--from N] [--to N] [--odd | --even] [--show]
[--pairs]`

SET: one turn a line, in order: {"n", "session", "prompt", "answer"}. LABELS: one turn a line: {"n", "noted": [{"by",
"kind", "quote", "from"}]}, or a JSON array of them; `from` is the turn of the quote where it is not n, and a note may
be the quote alone. --odd, --even: sessions of that index. Caught: a statement of the turn (or of a neighbour in its
session) shares half of the quote's words. The data are not part of this repository.
"""

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from memlayer.consolidation.conflict.compare import Verdict, judge  # noqa: E402
from memlayer.consolidation.rules.extraction import Statement, extract  # noqa: E402

COVERED = 0.5
NEAR = 2  # turns before and after in which a noted statement may stand

Turn = dict[str, Any]


def lines(path: str) -> list[Turn]:
    """Return the objects of a JSON array, or of JSON lines."""
    text = Path(path).read_text(encoding="utf-8")
    if text.lstrip().startswith("["):
        return list(json.loads(text))
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def _note(noted: Turn | str) -> Turn:
    return noted if isinstance(noted, dict) else {"by": "any", "kind": "note", "quote": noted}


def statements(turns: Iterable[Turn]) -> dict[int, list[Statement]]:
    """Return the statements that the rules find, by turn."""
    found = {}
    for turn in turns:
        answer = turn.get("answer") or ""
        found[turn["n"]] = list(extract(turn["prompt"], [answer] if answer else [], 0).statements)
    return found


def says(statement: str, quote: str) -> bool:
    """True if the statement holds at least half of the quote's words."""
    wanted = _words(quote)
    return bool(wanted) and len(wanted & _words(statement)) >= COVERED * len(wanted)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _caught(turns: dict[int, Turn], found: dict[int, list[Statement]], n: int, note: Turn) -> bool:
    places = {n, int(note.get("from") or n)}
    near = {at for place in places for at in range(place - NEAR, place + NEAR + 1)}
    same = [at for at in near if at in turns and turns[at]["session"] == turns[n]["session"]]
    return any(says(one.text, note["quote"]) for at in same for one in found.get(at, []))


def related(made: Sequence[tuple[int, Statement]]) -> Iterator[str]:
    """Yield pairs of different turns that merge or supersede.

    The pairs are of statements.
    """
    for (turn, older), (later, newer) in combinations(made, 2):
        verdict = judge(older.text, newer.text)
        if turn != later and verdict != Verdict.KEEP:
            yield f"{verdict}: {older.text} | {newer.text}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("set")
    parser.add_argument("--noted", nargs="*", default=[], help="notes of a colleague, JSON lines")
    parser.add_argument("--from", dest="low", type=int, default=0)
    parser.add_argument("--to", dest="high", type=int, default=sys.maxsize)
    parser.add_argument("--odd", action="store_true", help="only sessions of odd index")
    parser.add_argument("--even", action="store_true", help="only sessions of even index")
    parser.add_argument("--show", action="store_true", help="print every statement, for judging")
    parser.add_argument("--pairs", action="store_true", help="print the pairs that merge or supersede")
    chosen = parser.parse_args()
    turns = {turn["n"]: turn for turn in lines(chosen.set)}
    index = {session: at for at, session in enumerate(dict.fromkeys(one["session"] for one in turns.values()))}
    found = statements(turns.values())

    def counts(n: int) -> bool:
        odd = index[turns[n]["session"]] % 2 == 1
        return chosen.low <= n < chosen.high and not (chosen.odd and not odd) and not (chosen.even and odd)

    looked = [n for n in turns if counts(n)]
    made = [(n, one) for n in looked for one in found[n]]
    print(f"{len(looked)} turns, {len(made)} statements, {len(made) / max(1, len(looked)):.3f} a turn")
    print("by kind:", dict(Counter(f"{one.speaker} {one.kind}" for _, one in made)))
    if chosen.show:
        print(*(f"{n} {one.kind} {one.speaker}: {one.text}" for n, one in made), sep="\n")
    if chosen.pairs:
        print(*related(made), sep="\n")
    tally: dict[str, list[bool]] = defaultdict(list)
    for row in (row for path in chosen.noted for row in lines(path) if row["n"] in turns and counts(row["n"])):
        for note in map(_note, row.get("noted") or []):
            caught = _caught(turns, found, row["n"], note)
            is_korean = bool(re.search("[가-힣]", note["quote"]))
            for name in ("all", f"{note['by']} {note['kind']}", "Korean" if is_korean else "English"):
                tally[name].append(caught)
    for name, hits in sorted(tally.items()):
        print(f"caught {name:28}{sum(hits):4} of {len(hits):4}  {100 * sum(hits) / len(hits):5.1f} %")


if __name__ == "__main__":
    main()
