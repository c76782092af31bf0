"""Extraction by rules from a turn, in Korean and English.

Yields a daily entry and lasting statements. The rules want precision: most turns state nothing. The contribution of
each rule: evals/core_memories.py.
"""

import datetime
import re
from collections.abc import Sequence
from typing import NamedTuple

from memlayer.consolidation.conflict.reversal import drops
from memlayer.consolidation.rules.dates import has_date, with_dates
from memlayer.consolidation.rules.own_words import Spoken, has, is_plain, own_words, spoken, words
from memlayer.consolidation.rules.standing import laid_down
from memlayer.edge.capture.noise import is_noise, recallable
from memlayer.kinds import Kind
from memlayer.text.sentences import ASSISTANT, MAX_TURN_CHARS, USER, SpokenSentence, candidates, trimmed
from memlayer.text.terms import index_terms
from memlayer.turns.matter import is_bare_reason
from memlayer.turns.outcome import happened

MAX_DAILY_CHARS = 320

# A thing that has a name: code, a path, a flag, a quoted string, a proper noun within the sentence.
NAMES = re.compile(
    r"`[^`]+`|\b[a-z]+[A-Z]\w*|\b\w+[_/]\w+|\w\.(?:go|py|md|json|ya?ml|toml|sh|ts|js|rs|java|sql)\b|(?<!\w)--\w+"
    r"|\b[A-Z]{2,}\w*|\b[A-Za-z]+-[a-z]+\b|\"[^\"]+\"|\b[A-Z][a-z]+[A-Z]\w*|(?<!^)(?<![.] )\b[A-Z][a-z]{2,}"
    r"|(?<![A-Za-z])[A-Za-z]{2,}(?=[은는이가을를로와과도의에])"
)

__all__ = ["Extraction", "Statement", "extract", "has", "kind_of"]

MAX_OF_RULES = 2  # statements of one speaker in one turn
MAX_SHORT_PROMPT_CHARS = 300  # a longer one may quote a review or a report
MAX_CLOSING_CHARS = 2000  # longer answers explain, weigh and propose
MAX_NEXT_CHARS = 60  # of a choice behind the sentence that drops another: "NATS로 가자"
MAX_TOLD_CHARS = 120  # a prompt that does nothing but tell a fact is short
_TAIL_CHARS = 400
_DEFINES = re.compile(r"^(?:the|our|we)\b.*\b(?:is|are) (?:an?|the|in|on|called|stored)\b", re.IGNORECASE)
_VALUE = re.compile(r"\d|`[^`]+`|https?://|\b[\w-]+\.(?:com|dev|io|org|net|internal)\b|\bowns?\b|\bbelongs? to\b|담당")
_SAME = 0.6  # Jaccard on terms

# Signs of a sentence that needs its answer, or will not be true next month.
_UNFIT = ("question", "unfinished", "fleeting", "points_away", "report", "label", "pronoun")
_UNFIT_PLAIN = ("outside", "talks", "hedge", "of_the_day")


class Statement(NamedTuple):
    """One lasting statement. speaker: user | assistant.

    text: reads alone. source: the sentence as it stands in the turn. is_rule: the person laid it down for good.
    evidence: JSON of the span of source, "" where it was not looked for or is not there. is_unclear: it may be somebody
    else's, so the person is asked. is_reversal: it says something only beside an older one that it ends.
    """

    kind: Kind
    text: str
    source: str
    speaker: str
    is_rule: bool = False
    evidence: str = ""
    is_unclear: bool = False
    is_reversal: bool = False


class Extraction(NamedTuple):
    """The yield of a turn. daily: "" for nothing worth a line."""

    daily: str = ""
    statements: tuple[Statement, ...] = ()


def extract(prompt: str, answers: Sequence[str], at_ms: int, *, zone: datetime.tzinfo | None = None) -> Extraction:
    """Extract from the turn. Pure and without a model.

    Never raises on any text.

    at_ms: Unix time in milliseconds. `tomorrow` is counted from its day in `zone` (None: this machine's).
    """
    prompt = "" if is_noise(prompt) else prompt
    today = datetime.datetime.fromtimestamp(at_ms / 1000, zone).date()
    statements = [*_said(prompt, today), *_closing(answers)]
    return Extraction(_daily(prompt, answers, bool(statements)), distinct(statements))


def kind_of(text: str) -> Kind:
    """The kind of a statement by its words, a fact in doubt."""
    if has("prefers", text) or has("standing", text):
        return Kind.PREFERENCE
    if has("decided", text) or has("settles", text):
        return Kind.DECISION
    if has("cause", text) or has("because", text):
        return Kind.CAUSE
    return Kind.COMMITMENT if has("promises", text) else Kind.FACT


def _said(prompt: str, today: datetime.date) -> list[Statement]:
    """Statements that the person settles, orders for good, likes or promises."""
    rules = [
        Statement(
            Kind.PREFERENCE if rule.is_of_work else Kind.DECISION,
            rule.text,
            rule.source,
            USER,
            is_rule=rule.is_of_work,
            is_unclear=not rule.is_plain,
        )
        for rule in laid_down(prompt)
    ]
    statements = []
    read = spoken(prompt)
    places = {said.row.text: place for place, said in enumerate(read.said)}
    for candidate in candidates(own_words(prompt), USER):
        text = trimmed(candidate.text)
        is_stated = any(rule.source in candidate.text or candidate.text in rule.source for rule in rules)
        if not (is_stated or candidate.asks or any(has(sign, text) for sign in ("question", "unfinished", "fleeting"))):
            kind = _kind_said(text, candidate.plain, prompt, today)
            place = places.get(candidate.text)
            is_own = place is not None and is_plain(read, place)
            if kind:
                dated = text if kind == Kind.PREFERENCE else with_dates(text, today)
                is_unclear = kind == Kind.PREFERENCE and not is_own
                statements.append(Statement(kind, dated, candidate.text, USER, is_unclear=is_unclear))
            elif is_own and drops(text):
                source = _with_next(read, places[candidate.text])
                statements.append(Statement(Kind.DECISION, trimmed(source), source, USER, is_reversal=True))
    return [*rules, *statements[:MAX_OF_RULES]]


def _with_next(read: Spoken, place: int) -> str:
    """A sentence that drops a value, with the choice behind it."""
    first, *others = read.said[place : place + 2]
    is_beside = bool(others) and others[0].line == first.line and len(others[0].row.text) <= MAX_NEXT_CHARS
    is_choice = is_beside and not (others[0].row.asks or has("question", others[0].row.text))
    return first.row.text + " " + others[0].row.text if is_choice else first.row.text


def _kind_said(text: str, plain: str, prompt: str, today: datetime.date) -> Kind | None:
    """The kind of a person's sentence, None for a passing order."""
    passing = ("one_off", "hedge", "speaks", "set_phrase", "lets_go")
    if any(has(sign, plain) for sign in passing) or has("points_away", text):
        return None
    if has("prefers", plain):
        return Kind.PREFERENCE
    if has("promises", plain) and has_date(text, today):
        return Kind.COMMITMENT
    is_quoted = has("pasted", plain) or (len(prompt) > MAX_SHORT_PROMPT_CHARS and not has("voice", plain))
    if is_quoted or not 4 <= words(text) <= 27:
        return None
    is_specific = bool(NAMES.search(text)) or _is_korean(text) or has("broad", plain)
    settles = has("settles", plain) and not has("moment", plain)
    if has("decided", plain) or (settles and is_specific and words(text) >= 6):
        return Kind.DECISION
    return Kind.FACT if _is_told(text, plain, prompt) else None


def _is_told(text: str, plain: str, prompt: str) -> bool:
    """True for a prompt that only states a fact."""
    if len(prompt) > MAX_TOLD_CHARS or any(has(sign, plain) for sign in ("past", "outside", "when")):
        return False
    if is_bare_reason(text):
        return False
    is_all = len(text) >= len(prompt.strip()) - 2 and _DEFINES.search(text) is not None
    return has("tells", plain) and (is_all or _VALUE.search(plain) is not None)


def _closing(answers: Sequence[str]) -> list[Statement]:
    """Lasting statements of a short last answer."""
    answer = next((candidate for candidate in reversed(answers) if candidate.strip()), "")
    if len(answer) > MAX_CLOSING_CHARS or has("asks_back", answer.strip()[-_TAIL_CHARS:]):
        return []  # nothing is settled while the model asks
    statements = []
    for candidate in candidates(answer, ASSISTANT):
        kind = _kind_closing(candidate)
        if kind:
            statements.append(Statement(kind, trimmed(candidate.text), candidate.text, ASSISTANT))
    return statements[:MAX_OF_RULES]


def _kind_closing(candidate: SpokenSentence) -> Kind | None:
    text = trimmed(candidate.text)
    is_fragment = candidate.is_bold or (
        candidate.is_item and (" - " in text or not re.match(r"`|[A-Z]\w+ [A-Z]\w+ [a-z]+s ", text))
    )
    if is_fragment or any(char.isdigit() for char in text) or any(text.count(pair) % 2 for pair in '`"'):
        return None
    if any(has(sign, text) for sign in _UNFIT) or any(has(sign, candidate.plain) for sign in _UNFIT_PLAIN):
        return None
    if has("cause", text) and (has("because", text) or (has("when", text) and has("scope", text))):
        return Kind.CAUSE if 8 <= words(text) <= 25 else None
    if _is_korean(text) and not NAMES.search(text):
        return None
    lasts = any(has(sign, text) for sign in ("when", "place", "scope", "now"))
    if has("past", text) or not lasts or not 12 <= words(text) <= 24:
        return None
    return Kind.FACT


def _is_korean(text: str) -> bool:
    return any("가" <= char <= "힣" for char in text)


def distinct(statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """The statements without those that repeat an earlier one."""
    kept: list[tuple[Statement, frozenset[str]]] = []
    for candidate in statements:
        terms = frozenset(index_terms(candidate.text).split())
        if not any(len(terms & other) >= _SAME * len(terms | other) for _, other in kept):
            kept.append((candidate, terms))
    return tuple(candidate for candidate, _ in kept)


def _daily(prompt: str, answers: Sequence[str], lasting: bool) -> str:
    """The request and its result in one line, or ""."""
    sentences = candidates(prompt[:MAX_TURN_CHARS], USER)
    request = next((trimmed(candidate.text) for candidate in sentences if recallable(candidate.text)), "")
    result = happened([answer[:MAX_TURN_CHARS] for answer in answers])
    if not (lasting or (request and result) or (_VALUE.search(result) and len(result) > 40)):
        return ""
    return " — ".join(_cut(part, MAX_DAILY_CHARS // 2) for part in (request, result) if part)


def _cut(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[: max_chars - 2].rsplit(" ", 1)[0] + " …"
