"""Choices that a talk makes by its settings: persona and model."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from memlayer.config.agent import DAY_S, QueryClassificationSettings, SoulSettings

MAX_CHARS = 20_000
_HANGUL = re.compile("[가-힣]")


def draw_persona(settings: SoulSettings, home: str, now: datetime, draw: Callable[[], float]) -> str:
    """Return the persona of a talk that begins now, "" for none.

    Two files of the person's own, never of a repository. A switch, nothing is learnt into them. now: local time. draw:
    a number from 0 up to 1. The daily window goes before chance. Drawn once, at the talk's start, so that the character
    stays. Where the other file is missing, the usual one holds.
    """
    second = now.hour * 3600 + now.minute * 60 + now.second
    since = (second - settings.purge_minute * 60) % DAY_S  # the window may go beyond midnight
    is_other = (settings.purge_minute >= 0 and since < settings.purge_seconds) or draw() < settings.chance
    usual, other = (Path(home, file).expanduser() for file in (settings.file, settings.evil_file))
    return (_read(other) if is_other else "") or _read(usual)


def _read(path: Path) -> str:
    """A file's text, cut; "" where it cannot be read."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(MAX_CHARS).strip()
    except OSError:
        return ""


def model_for(settings: QueryClassificationSettings, message: str, default: str) -> str:
    """Return the model of the best matching rule, else the default.

    Keywords match in any case. A Korean one also with an ending ("간단히" in "간단히만"). A hint without a model never
    holds; of equal priorities the first does.
    """
    ranked = sorted(settings.rules, key=lambda rule: -rule.priority) if settings.enabled else []
    models = [settings.models.get(rule.hint) for rule in ranked if _pattern(rule.keywords).search(message)]
    return next(filter(None, models), default)


def _pattern(keywords: Sequence[str]) -> re.Pattern[str]:
    """A pattern of whole words; after Hangul an ending may follow."""
    parts = []
    for words in filter(None, map(str.split, keywords)):
        end = "" if _HANGUL.match(words[-1][-1]) else r"(?![A-Za-z0-9_])"
        parts.append(r"(?<!\w)%s%s" % (r"\s+".join(map(re.escape, words)), end))
    return re.compile("|".join(parts) or r"(?!)", re.IGNORECASE)
