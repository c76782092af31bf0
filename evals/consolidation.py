"""Score of the rules of consolidation on labelled turns and pairs.

Statements are found in the turns, conflicts judged on the pairs.

`python evals/consolidation.py [--half dev|test|all] [--failures] [--json FILE]`. Both sets are in
evals/data/consolidation/ (its README says how they were labelled).
"""

import argparse
import datetime
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from memlayer.consolidation.conflict.compare import judge  # noqa: E402
from memlayer.consolidation.rules.extraction import Statement, extract  # noqa: E402
from memlayer.text.terms import index_terms  # noqa: E402

SET = ROOT / "evals" / "data" / "consolidation"
COVERED = 0.7  # share of a label's terms that a statement must hold to be that label
SPARSE = 0.34  # share of a statement's terms that its label must fill: no paragraph passes for a sentence


def half_of(row: dict[str, Any]) -> str:
    """Return the half of a row, dev or test.

    The test has the rows that no rule was made from: the even ids of the first round. The README beside the set says
    more.
    """
    return "test" if row["round"] == 1 and row["id"] % 2 == 0 else "dev"


def rows(name: str, half: str) -> list[dict[str, Any]]:
    """Return the rows of one file of the set.

    half: dev | test | all.
    """
    lines = (SET / name).read_text(encoding="utf-8").splitlines()
    found = [json.loads(line) for line in lines if line]
    return [row for row in found if half in ("all", half_of(row))]


def _terms(text: str) -> set[str]:
    return set(index_terms(text).split())


def is_label(statement: Statement, label: str) -> bool:
    """True if the statement's sentence is the labelled one or holds it."""
    found, wanted = _terms(statement.source), _terms(label)
    both = found & wanted
    return len(both) >= COVERED * len(wanted) and len(both) >= SPARSE * len(found)


@dataclass
class Tally:
    """Counts over turns.

    right: statements that are a label; repeats: of a label already found, or optional ones.
    """

    turns: int = 0
    labels: int = 0
    found: int = 0
    right: int = 0
    wrong: int = 0
    repeats: int = 0
    kind_right: int = 0
    named: int = 0
    must_name: int = 0
    nothing: int = 0
    broken_silence: int = 0
    dailies: int = 0
    daily_right: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        return self.found / max(1, self.labels)


def at_ms_of(row: dict[str, Any]) -> int:
    """Ten in the morning, UTC, of the row's date."""
    day = datetime.datetime.fromisoformat(row["date"]).replace(hour=10, tzinfo=datetime.UTC)
    return int(day.timestamp() * 1000)


def measure(turns: Iterable[dict[str, Any]], kind: str = "") -> Tally:
    """Run the extractor over the turns.

    kind: count labels and statements of this kind alone.
    """
    tally = Tally()
    for row in turns:
        result = extract(row["prompt"], row["answers"], at_ms_of(row), zone=datetime.UTC)
        tally.turns += 1
        if "daily" in row:
            tally.dailies += 1
            tally.daily_right += bool(result.daily) == row["daily"]
        if row.get("daily") is (not result.daily) and not kind:
            tally.failures.append(f"{row['id']} daily: wanted {row['daily']}, got {result.daily!r}")
        if "nothing" in row:
            tally.nothing += 1
            tally.broken_silence += bool(result.statements)
        _count(tally, row, result.statements, kind)
    return tally


def _count(tally: Tally, row: dict[str, Any], statements: Sequence[Statement], kind: str) -> None:
    hit: dict[int, Statement] = {}
    for one in statements:
        matches = [
            at
            for at, label in enumerate(row["keep"])
            if any(is_label(one, text) for text in [label["text"], *label.get("accepted", [])])
        ]
        fresh = [at for at in matches if at not in hit]
        counts = not kind or one.kind == kind
        for at in fresh:
            hit[at] = one
        if fresh:
            tally.right += counts
        elif matches or any(is_label(one, text) for text in row.get("optional", [])):
            tally.repeats += counts
        elif counts:
            tally.wrong += 1
            tally.failures.append(f"{row['id']} wrong {one.kind}: {one.text}")
    for at, label in enumerate(row["keep"]):
        if kind and label["kind"] != kind:
            continue
        tally.labels += 1
        if at not in hit:
            tally.failures.append(f"{row['id']} missed {label['kind']}: {label['text']}")
            continue
        tally.found += 1
        tally.kind_right += hit[at].kind == label["kind"]
        if hit[at].kind != label["kind"]:
            tally.failures.append(f"{row['id']} kind {hit[at].kind}, wanted {label['kind']}: {label['text']}")
        if "must_name" in label:
            tally.must_name += 1
            missing = [name for name in label["must_name"] if name not in hit[at].text]
            tally.named += not missing
            if missing:
                tally.failures.append(f"{row['id']} does not name {missing}: {hit[at].text}")


@dataclass
class Verdicts:
    """Judgements on pairs."""

    pairs: int
    right: int
    confusion: dict[str, int]
    failures: list[str]


def judge_pairs(pairs: Sequence[dict[str, Any]]) -> Verdicts:
    """Judge the pairs."""
    confusion: Counter[str] = Counter()
    failures = []
    right = 0
    for row in pairs:
        verdict = judge(row["older"], row["newer"])
        right += verdict == row["label"]
        confusion[f"{row['label']}>{verdict}"] += 1
        if verdict != row["label"]:
            failures.append(f"{row['id']} {verdict}, wanted {row['label']}\n      {row['older']}\n      {row['newer']}")
    return Verdicts(len(pairs), right, dict(confusion), failures)


def _line(name: str, tally: Tally) -> str:
    silence = f"{tally.broken_silence}/{tally.nothing}" if tally.nothing else "-"
    return (
        f"{name:24}{tally.turns:6}{tally.labels:8}{tally.precision:11.3f}{tally.recall:8.3f}{tally.wrong:7}"
        f"{tally.repeats:9}{tally.kind_right / max(1, tally.found):7.2f}{silence:>10}"
        f"{f'{tally.named}/{tally.must_name}':>9}{tally.daily_right / max(1, tally.dailies):7.2f}"
    )


def _extraction_report(halves: Sequence[str], show_failures: bool) -> dict[str, Any]:
    print(
        f"{'statements':24}{'turns':>6}{'labels':>8}{'precision':>11}{'recall':>8}{'wrong':>7}{'repeats':>9}"
        f"{'kind':>7}{'silence':>10}{'named':>9}{'daily':>7}"
    )
    report: dict[str, Any] = {}
    for half in halves:
        turns = rows("turns.jsonl", half)
        slices = {"all": measure(turns)}
        for language in ("en", "ko", "mixed"):
            slices[language] = measure(row for row in turns if row["language"] == language)
        for kind in ("decision", "preference", "fact", "cause", "commitment"):
            slices[kind] = measure(turns, kind)
        for name, tally in slices.items():
            print(_line(f"{half} {name}", tally))
        report[half] = {
            name: {
                "precision": round(tally.precision, 4),
                "recall": round(tally.recall, 4),
                **{key: value for key, value in vars(tally).items() if key != "failures"},
            }
            for name, tally in slices.items()
        }
        if show_failures:
            print(*(f"  {line}" for line in slices["all"].failures), sep="\n")
    return report


def _conflict_report(halves: Sequence[str], show_failures: bool) -> dict[str, Any]:
    print(f"\n{'conflicts':32}{'pairs':>6}{'right':>8}{'replaced wrongly':>18}")
    report: dict[str, Any] = {}
    for half in halves:
        pairs = rows("pairs.jsonl", half)
        for language in ("all", "en", "ko", "mixed"):
            tally = judge_pairs([row for row in pairs if language in ("all", row["language"])])
            wrongly = tally.confusion.get("keep>supersede", 0) + tally.confusion.get("merge>supersede", 0)
            print(f"{half + ' ' + language:32}{tally.pairs:6}{tally.right / max(1, tally.pairs):8.3f}{wrongly:18}")
            counts = {"pairs": tally.pairs, "right": tally.right, "confusion": tally.confusion}
            report.setdefault(half, {})[language] = counts
            if show_failures and language == "all":
                print(*(f"  {line}" for line in tally.failures), sep="\n")
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--half", choices=("dev", "test", "all"), default="", help="one half only; default: dev, test")
    parser.add_argument("--failures", action="store_true", help="list every error")
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE")
    chosen = parser.parse_args()
    halves = [chosen.half] if chosen.half else ["dev", "test"]
    report = {
        "statements": _extraction_report(halves, chosen.failures),
        "conflicts": _conflict_report(halves, chosen.failures),
    }
    if chosen.json:
        Path(chosen.json).write_text(json.dumps(report, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
