"""Verdict on a block for a probe, and figures over many.

Right, silent, forbidden, length and tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from evals.dialogue_set import CATEGORIES, LANGUAGES, Probe
from memlayer.text.context_block import entry_lines

# An older value that stands beside its mark does no harm: the reader sees that it no longer holds.
REPLACED = re.compile(
    r"[(\[](?:since |now )?(?:replaced|superseded|outdated|older; newer:|until \d)|[(\[]대체됨", re.IGNORECASE
)
_HANGUL = re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]")
_SPACE = re.compile(r"\s+")
HANGUL_CHARS_PER_TOKEN = 1.7
OTHER_CHARS_PER_TOKEN = 4.0


@dataclass(frozen=True)
class Answer:
    """The answer to a probe.

    blocks: of the turns before it in its session, then its own, the last. source_cited: the turn that holds the answer
    is one of the entries. late: how often it was asked again because of a deadline.
    """

    probe: Probe
    blocks: tuple[str, ...]
    source_cited: bool = False
    late: int = 0
    took_ms: float = 0.0
    explained: dict[str, Any] = field(default_factory=dict)

    @property
    def block(self) -> str:
        return self.blocks[-1]


@dataclass(frozen=True)
class Verdict:
    """The verdict on an answer.

    right: the block has the probe's expected strings, or is empty where nothing is due. forbidden: the strings found
    that may not be there.
    """

    right: bool
    forbidden: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return self.right and not self.forbidden


def judge(answer: Answer) -> Verdict:
    """Judge an answer.

    A follow-up may find its answer in a block that an earlier turn of its session got: the model still sees it. A
    forbidden string counts in its own block only. Where a newer value is expected, an entry with the old one is
    harmless if it says so (REPLACED) or tells the change itself, that is, holds the new value too.
    """
    probe = answer.probe
    seen = _plain(" ".join(line for block in answer.blocks for line in entry_lines(block)))
    if probe.silence:
        right = not answer.block
    else:
        right = all(_plain(one) in seen for one in probe.all_of)
        right = right and (not probe.any_of or any(_plain(one) in seen for one in probe.any_of))
    found = []
    for line in entry_lines(answer.block):
        text = _plain(line)
        told = any(_plain(one) in text for one in (*probe.any_of, *probe.all_of)) or REPLACED.search(line)
        found += [one for one in probe.forbid if _plain(one) in text and not told]
    return Verdict(right, tuple(dict.fromkeys(found)))


def tokens(text: str) -> float:
    """Return a rough token count without a tokenizer.

    A token is 1.7 characters of Hangul, or 4 of anything else.
    """
    hangul = len(_HANGUL.findall(text))
    return hangul / HANGUL_CHARS_PER_TOKEN + (len(text) - hangul) / OTHER_CHARS_PER_TOKEN


def figures(answers: Iterable[Answer]) -> dict[str, Any]:
    """Return all figures of a run.

    Over everything, by category, and by language; and the ids of the probes that fail.
    """
    answers = list(answers)
    return {
        "all": summary(answers),
        "by_category": {
            name: summary([one for one in answers if one.probe.category == name])
            for name in CATEGORIES
            if any(one.probe.category == name for one in answers)
        },
        "by_language": {
            name: summary([one for one in answers if one.probe.language == name])
            for name in LANGUAGES
            if any(one.probe.language == name for one in answers)
        },
        "failed": [one.probe.id for one in answers if not judge(one).passed],
    }


def summary(answers: list[Answer]) -> dict[str, Any]:
    """Return the figures of some answers.

    Percentages are None where no probe asks for them. tokens_a_day: of 100 prompts with this mix.
    """
    verdicts = [judge(one) for one in answers]
    due = [verdict.right for one, verdict in zip(answers, verdicts, strict=True) if not one.probe.silence]
    quiet = [verdict.right for one, verdict in zip(answers, verdicts, strict=True) if one.probe.silence]
    spent = [tokens(one.block) for one in answers]
    return {
        "probes": len(answers),
        "answers_due": len(due),
        "right": sum(due),
        "right_percent": _percent(sum(due), len(due)),
        "source_cited": sum(one.source_cited for one in answers if not one.probe.silence),
        "silence_due": len(quiet),
        "silent": sum(quiet),
        "silent_percent": _percent(sum(quiet), len(quiet)),
        "forbidden": sum(len(verdict.forbidden) for verdict in verdicts),
        "mean_entries": _mean([len(entry_lines(one.block)) for one in answers]),
        "mean_chars": _mean([len(one.block) for one in answers]),
        "mean_tokens": _mean(spent),
        "tokens_a_day": round(100 * sum(spent) / len(spent)) if spent else 0,
        "late": sum(one.late for one in answers),
    }


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).casefold()


def _percent(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 1) if whole else None


def _mean(values: list[Any]) -> float:
    return round(sum(values) / len(values), 2) if values else 0.0
