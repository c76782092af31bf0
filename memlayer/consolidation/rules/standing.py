"""Rules that a person lays down.

Words such as always, never, only, 절대, 반드시, ~만, closed lists, and everyday wishes by their form ("use pnpm, not
npm", "응답은 짧게 해줘"). A rule is kept whole: the compound sentence,
and the short one behind it that completes it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memlayer.consolidation.rules.own_words import own_words
from memlayer.consolidation.rules.signs import find, has
from memlayer.edge.capture.noise import is_noise
from memlayer.text.sentences import USER, SpokenSentence, candidates, trimmed
from memlayer.text.terms import index_terms

MAX_RULES = 6  # of one prompt
MAX_RULE_PROMPT_CHARS = 300  # a longer prompt quotes: guidelines, reviews and reports are full of "must"
MAX_RULE_CHARS = 240
FEWEST_WORDS = 3
STUMP_WORDS = 3  # a rule as short as that completes the sentence before it
LET_GO_WORDS = 2  # that the taking back shares with its rule, or half of a short one
LETTING_TERMS = frozenset(
    index_terms(
        "이제 이젠 더 이상 안 해도 하지 않아도 써도 돼 돼요 됩니다 괜찮아 괜찮아요 now again "
        "anymore longer stop need can may fine ok okay allowed use no"
    ).split()
)  # terms of the taking back itself. What it says beside them names its rule
BAN_WORDS = 5  # and as short a prohibition behind a rule: "store won as integers. no floats"
# Signs that a sentence asks, is cut off, or needs a text that is not here.
_UNFIT = ("question", "unfinished", "points_away", "outside", "guess", "moment", "speaks", "set_phrase")
_UNFIT_FOR_WISH = ("one_off", "question", "unfinished", "outside", "guess", "moment")
_CODE = re.compile(r"[\w/.-]+\.\w{1,4}:\d+|[→←✓✅❌⚠☐✗│╭╰]|->|=>|\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b")
_HANGUL = re.compile("[가-힣]")
_JOINT = re.compile(r",? (?:and|but|그리고|근데|그런데|대신) ")
_SUBJECT = re.compile(r"[가-힣A-Za-z0-9]{2,}[이가] (?:[가-힣]+ ){0,3}[가-힣]+[.!~]*$")
_OPEN_VOWELS = frozenset("ㅏㅓㅐㅕㅘㅝㅙㅞ")
_VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"


class Rule(NamedTuple):
    """A person's rule: its text alone, and its sentences in the prompt."""

    text: str
    source: str


def laid_down(prompt: str) -> tuple[Rule, ...]:
    """Return the rules of a prompt, in order; silent in doubt."""
    text = unicodedata.normalize("NFC", prompt.strip())
    if len(text) > MAX_RULE_PROMPT_CHARS or is_noise(text):
        return ()
    said = [part for row in candidates(own_words(text), USER) for part in _parts(row)]
    return tuple(_joined(said))[:MAX_RULES]


def let_go(prompt: str, rules: Sequence[str]) -> list[int]:
    """Return the places of rules that a prompt may take back.

    As "이제 그만해도 돼" does, or "you can push to main now" where a rule limits that. A sentence may take back
    the half of a rule, so a person is asked. Silent in doubt.
    """
    told = [(frozenset(index_terms(said).split()), has("lets_go", said)) for said in _letting_go(prompt)]
    terms = [frozenset(index_terms(rule).split()) for rule in rules]
    shared, is_named = [0] * len(rules), [False] * len(rules)
    for place, (own, rule) in enumerate(zip(terms, rules, strict=True)):
        forbidden = _forbidden(rule)
        for words, is_ended in told:
            said = words - LETTING_TERMS
            is_allowed = not said.isdisjoint(forbidden) if forbidden else has("limits", rule)
            if is_ended or is_allowed:
                shared[place] = max(shared[place], len(own & words))
            is_named[place] |= bool(said) and said <= own if is_ended else bool(forbidden) and is_allowed
    most = max(shared, default=0)
    near = [place for place, count in enumerate(shared) if count and count == most]
    return [place for place in near if is_named[place] or most >= LET_GO_WORDS or 2 * most >= len(terms[place])]


def _forbidden(rule: str) -> frozenset[str]:
    """Return a forbidden thing's terms: npm in "pnpm, not npm"."""
    named = find("forbidden", rule)
    return frozenset(index_terms(named[0]).split()) - LETTING_TERMS if named else frozenset()


def takes_back(prompt: str) -> bool:
    """Return whether a prompt takes some wish back."""
    return bool(_letting_go(prompt))


def _letting_go(prompt: str) -> list[str]:
    text = unicodedata.normalize("NFC", prompt.strip())
    if len(text) > MAX_RULE_PROMPT_CHARS or is_noise(text):
        return []
    said = (row.plain for row in candidates(own_words(text), USER) if not row.text.rstrip().endswith("?"))
    signs = ("lets_go", "allows")
    return [sentence for sentence in said if any(has(sign, sentence) for sign in signs)]  # "안 붙여도 돼" may ask


def _joined(sentences: list[SpokenSentence]) -> Iterator[Rule]:
    """Each rule with what completes it."""
    place = 0
    while place < len(sentences):
        rule = trimmed(sentences[place].text)
        source, is_rule = sentences[place].text, _is_rule(sentences[place])
        while place + 1 < len(sentences):
            following = sentences[place + 1]
            is_rest = has("rest_none", following.text) and (is_rule or has("enumerates", rule))
            words = len(following.text.split())
            ends = (
                words <= STUMP_WORDS if _is_rule(following) else is_rule and words <= BAN_WORDS and _forbids(following)
            )
            is_stump = ends and (is_rule or _forbids(sentences[place]))
            if sentences[place].asks or not (is_rest or is_stump) or len(rule) + len(following.text) > MAX_RULE_CHARS:
                break
            rule, source, is_rule = rule + " " + following.text, source + " " + following.text, True
            place += 1
        if is_rule and len(rule) <= MAX_RULE_CHARS and len(rule.split()) >= FEWEST_WORDS:
            yield Rule(rule, source)
        place += 1


def _is_rule(candidate: SpokenSentence) -> bool:
    """True for a rule, also for a rule in two languages."""
    halves = _halves(candidate)
    return _is_plain_rule(candidate) or (bool(halves) and all(map(_is_plain_rule, halves)))


def _parts(candidate: SpokenSentence) -> list[SpokenSentence]:
    """Return a sentence, or its clauses where one is a rule."""
    return (
        [candidate] if _is_rule(candidate) or not any(map(_is_plain_rule, _halves(candidate))) else _halves(candidate)
    )


def _halves(candidate: SpokenSentence) -> list[SpokenSentence]:
    """Return the clauses of a sentence in two languages."""
    joint = _JOINT.search(candidate.text)
    if joint is None or candidate.text != candidate.plain:
        return []
    texts = candidate.text[: joint.start()], candidate.text[joint.end() :]
    is_other = bool(_HANGUL.search(texts[0])) != bool(_HANGUL.search(texts[1]))
    return [candidate._replace(text=text, plain=text) for text in texts] if is_other else []


def _is_plain_rule(candidate: SpokenSentence) -> bool:
    text, plain = trimmed(candidate.text), trimmed(candidate.plain)
    if candidate.asks or _CODE.search(text) or has("lets_go", plain) or has("allows", plain):
        return False
    if has("wish", plain) and not any(has(sign, plain) for sign in _UNFIT_FOR_WISH):
        return True
    if any(has(sign, plain) for sign in _UNFIT):
        return False
    return _is_korean_rule(plain) if _HANGUL.search(plain) else has("rule_always", plain) or has("rule_each", plain)


def _forbids(candidate: SpokenSentence) -> bool:
    """True for a prohibition that a short rule behind it makes lasting."""
    plain = trimmed(candidate.plain)
    is_fit = not candidate.asks and not any(has(sign, plain) for sign in _UNFIT) and not _CODE.search(plain)
    return is_fit and has("forbids", plain)


def _is_korean_rule(plain: str) -> bool:
    """True for a marked sentence that orders, obliges or tells a habit."""
    obliges = has("oblige", plain)
    if has("rule_only", plain) and (obliges or has("rule_limit", plain)):
        return True
    if has("rule_limit", plain) and not has("orders", plain):
        return True
    is_told = has("orders", plain) or _is_imperative(plain)
    if has("rule_always", plain):
        return obliges or is_told or has("elliptic", plain) or (has("plain_style", plain) and not has("state", plain))
    if has("rule_surely", plain) or has("rule_banned", plain):
        is_habit = has("rule_each", plain) and is_told
        return obliges or is_habit or (has("plain_style", plain) and not has("state", plain))
    return has("rule_each", plain) and not has("passing_order", plain) and (obliges or is_told)


def _is_imperative(plain: str) -> bool:
    """True for a bare verb (`돌려`, `써`) without subject or state."""
    last = plain.rstrip(" .!~")[-1:]
    if not _HANGUL.match(last) or has("state", plain) or _SUBJECT.search(plain):
        return False
    at = ord(last) - 0xAC00
    return at % 28 == 0 and _VOWELS[at // 28 % 21] in _OPEN_VOWELS
