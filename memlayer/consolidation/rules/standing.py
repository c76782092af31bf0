"""Rules that a person lays down.

Words such as always, never, only, 절대, 반드시, ~만, closed lists, and everyday wishes by their form ("use pnpm, not
npm", "응답은 짧게 해줘"). A rule is kept whole: the compound sentence,
and the short one behind it that completes it.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memlayer.consolidation.rules.own_words import Said, Spoken, ends, find, has, is_plain, joints, spoken
from memlayer.edge.capture.noise import is_noise
from memlayer.text.sentences import SpokenSentence, trimmed
from memlayer.text.terms import index_terms
from memlayer.turns.matter import opens_with_assent

MAX_RULES = 6  # of one prompt
MAX_RULE_PROMPT_CHARS = 300  # a longer prompt quotes. Its first line and last paragraph are asked about
MAX_RULE_CHARS = 240
FEWEST_WORDS = 3
STUMP_WORDS = 3  # a rule as short as that completes the sentence before it
LET_GO_WORDS = 2  # that the taking back shares with its rule, or half of a short one
LETTING_TERMS = frozenset(
    index_terms(
        "이제 이젠 더 이상 안 해도 하지 않아도 써도 돼 돼요 됩니다 괜찮아 괜찮아요 now again "
        "anymore longer stop need can may fine ok okay allowed use no"
    ).split()
)  # terms of the taking back itself. The other terms name its rule
FORBIDDING_TERMS = frozenset(index_terms("never don't stop using 쓰지 마 말고 금지 사용 쓰면 안 절대 앞으로").split())
BAN_WORDS = 5  # and as short a prohibition behind a rule: "store won as integers. no floats"
# Signs that a sentence asks or is cut off, or that it needs a text that is not here.
_OPEN = ("question", "unfinished")
_UNFIT = ("points_away", "outside", "guess", "moment", "set_phrase")
_LETTING = ("lets_go", "allows", "permits")
_UNFIT_FOR_WISH = ("one_off", "outside", "guess", "moment")
_CODE = re.compile(r"[\w/.-]+\.\w{1,4}:\d+|[→←✓✅❌⚠☐✗│╭╰]|->|=>|\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b")
_LASTING = re.compile("항상|앞으로|매번|무조건")
_HANGUL = re.compile("[가-힣]")
_JOINT = re.compile(r",? (?:and|but|그리고|근데|그런데|대신) ")
_INSTEAD = re.compile("지 ?말고")  # "코드는 건드리지 말고 설명만 해줘": of the moment
_REASON = re.compile(r", (?=[가-힣A-Za-z])")
_INVERTED = re.compile(",? (?:항상|언제나|매번|절대|앞으로(?:는|도)?|이제부터)[.!~]*$")  # "표로 정리해줘, 항상"
# Duties of others, in whole sentences: two of them may be a page that somebody handed over.
_OF_DOCUMENT = re.compile(
    r"(?:(?:All|Each|Every|Any|No|The) )?[A-Z]?\w+s?(?: \w+){0,2} (?:must|should|shall|may|can)\b.*\.$|.*니다\.$"
)
_ENDED = re.compile(r"(?<=[.!?])\s+|\n")
_SUBJECT = re.compile(r"[가-힣A-Za-z0-9]{2,}[이가] (?:[가-힣]+ ){0,3}[가-힣]+[.!~]*$")
_OPEN_VOWELS = frozenset("ㅏㅓㅐㅕㅘㅝㅙㅞ")
_VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"


class Rule(NamedTuple):
    """A rule: its text alone, and its sentences in the prompt.

    is_plain: it is the person's own. Else they are asked. is_of_work: it is about more than one function or class.
    """

    text: str
    source: str
    is_plain: bool
    is_of_work: bool


def laid_down(prompt: str) -> tuple[Rule, ...]:
    """Return the rules of a prompt, in order."""
    text = unicodedata.normalize("NFC", prompt.strip())
    if is_noise(text):
        return ()
    is_long = len(text) > MAX_RULE_PROMPT_CHARS
    read = spoken("\n\n".join(ends(text, MAX_RULE_PROMPT_CHARS)))
    said = [part for one in read.said for part in _parts(one)]
    is_document = len(said) > 1 and all(_OF_DOCUMENT.match(one.row.text) for one in said)
    return tuple(_joined(Spoken(said, read.is_typed and not (is_long or is_document))))[:MAX_RULES]


def let_go(prompt: str, rules: Sequence[str]) -> list[int]:
    """Return the places of rules that a prompt may take back.

    As "이제 그만해도 돼" does, or "you can push to main now" where a rule limits that. A sentence may take back
    the half of a rule, so a person is asked. Silent in doubt.
    """
    said_so = _letting_go(prompt)
    told = [(_terms(said), has("lets_go", said), has("allows", said)) for said in said_so]
    terms = list(map(_terms, rules))
    shared, is_named = [0] * len(rules), [False] * len(rules)
    for place, (own, rule) in enumerate(zip(terms, rules, strict=True)):
        forbidden = _forbidden(rule)
        for words, is_ended, is_changed in told:
            said = words - LETTING_TERMS
            is_of_rule = is_changed or len(own & said - FORBIDDING_TERMS) >= LET_GO_WORDS
            is_allowed = not said.isdisjoint(forbidden) if forbidden else is_of_rule and has("limits", rule)
            if is_ended or is_allowed:
                shared[place] = max(shared[place], len(own & words))
            is_named[place] |= bool(said) and said <= own if is_ended else bool(forbidden) and is_allowed
    most = max(shared, default=0)
    near = [place for place, count in enumerate(shared) if count and count == most]
    return [place for place in near if is_named[place] or most >= LET_GO_WORDS or 2 * most >= len(terms[place])]


def _terms(text: str) -> frozenset[str]:
    return frozenset(index_terms(text).split())


def _forbidden(rule: str) -> frozenset[str]:
    """Return a forbidden thing's terms: npm in "pnpm, not npm"."""
    named = find("forbidden", rule)
    return _terms(named[0]) - LETTING_TERMS - FORBIDDING_TERMS if named else frozenset()


def takes_back(prompt: str) -> bool:
    """Return whether a prompt takes some wish back."""
    return bool(_letting_go(prompt))


def _letting_go(prompt: str) -> list[str]:
    text = unicodedata.normalize("NFC", prompt.strip())
    if len(text) > MAX_RULE_PROMPT_CHARS or is_noise(text):
        return []
    if not any(has(sign, one) for one in _ENDED.split(text) for sign in _LETTING):
        return []  # unread: a review asks this of hundreds of prompts
    read = spoken(text)
    said = [one.row.plain for place, one in enumerate(read.said) if not one.row.asks and is_plain(read, place)]
    return [sentence for sentence in said if any(has(sign, sentence) for sign in _LETTING)]


def _joined(read: Spoken) -> Iterator[Rule]:
    """Each rule with what completes it."""
    sentences = [one.row for one in read.said]
    own = {place for place, row in enumerate(sentences) if _is_rule(row) or _forbids(row) or has("rest_none", row.text)}
    place = 0
    while place < len(sentences):
        first, rule = place, trimmed(sentences[place].text)
        source, is_rule = sentences[place].text, _is_rule(sentences[place])
        while place + 1 < len(sentences):
            following = sentences[place + 1]
            if following.is_item:
                break
            is_rest = has("rest_none", following.text) and (is_rule or has("enumerates", rule))
            words = len(following.text.split())
            is_ban = is_rule and words <= BAN_WORDS and _forbids(following)
            is_short = words <= STUMP_WORDS and _is_rule(following) and (is_rule or _forbids(sentences[place]))
            is_stump = is_ban or is_short or (has("stump", following.text) and _is_korean_order(rule))
            if sentences[place].asks or not (is_rest or is_stump) or len(rule) + len(following.text) > MAX_RULE_CHARS:
                break
            rule, source, is_rule = rule + " " + following.text, source + " " + following.text, True
            place += 1
        if is_rule and len(rule) <= MAX_RULE_CHARS and len(rule.split()) >= FEWEST_WORDS:
            is_own = is_plain(read, first, own) and not has("maybe_told", rule)
            yield Rule(rule, source, is_own, not has("of_thing", rule))
        place += 1


def _is_rule(candidate: SpokenSentence) -> bool:
    """True for a rule, also for a rule in two languages."""
    halves = _halves(candidate)
    return _is_plain_rule(candidate) or (bool(halves) and all(map(_is_plain_rule, halves)))


def _parts(said: Said) -> list[Said]:
    """Return a sentence, or its parts where one is a rule."""
    row = said.row
    is_one = _is_rule(row)
    for end, is_headed in joints(row.text) if row.text == row.plain else ():
        if is_one and not is_headed:
            break
        before, behind = (
            row._replace(text=text, plain=text) for text in (row.text[:end].strip(), row.text[end:].strip())
        )
        if not _is_rule(before) and _is_rule(behind):
            return [said._replace(row=before), said._replace(row=behind, is_headed=is_headed)]
    halves = _halves(row)
    return [said] if is_one or not any(map(_is_plain_rule, halves)) else [said._replace(row=half) for half in halves]


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
    is_lasting = has("rule_always", plain) or _LASTING.search(plain)
    if opens_with_assent(plain) and has("points", plain) and not is_lasting:  # "ㅇㅇ 그렇게 고치고 …만 해"
        return False
    clauses = [plain, *(plain[: mark.start()] for mark in _REASON.finditer(plain))]  # ", 로그도 마찬가지" may follow
    orders = [row for row in clauses if not any(has(sign, _INVERTED.sub("", row)) for sign in _OPEN)]
    if any(has("wish", order) for order in orders) and not any(has(sign, plain) for sign in _UNFIT_FOR_WISH):
        return True
    if any(has(sign, plain) for sign in _UNFIT):
        return False
    if _HANGUL.search(plain):
        return any(map(_is_korean_rule, orders))
    return any(has("rule_always", order) or has("rule_each", order) for order in orders)


def _forbids(candidate: SpokenSentence) -> bool:
    """True for a prohibition that a short rule behind it makes lasting."""
    plain = trimmed(candidate.plain)
    is_fit = not (candidate.asks or _CODE.search(plain) or any(has(sign, plain) for sign in (*_OPEN, *_UNFIT)))
    return is_fit and has("forbids", plain)


def _is_korean_rule(plain: str) -> bool:
    """True for a marked sentence that orders, obliges or tells a habit."""
    obliges = has("oblige", plain)
    if has("rule_only", plain) and (has("oblige", _INSTEAD.sub("", plain)) or has("rule_limit", plain)):
        return True
    if has("rule_limit", plain) and not has("orders", plain):
        return True
    is_told = _is_korean_order(_INVERTED.sub("", plain))
    if has("rule_always", plain):
        return obliges or is_told or has("elliptic", plain) or (has("plain_style", plain) and not has("state", plain))
    if has("rule_surely", plain) or has("rule_banned", plain):
        is_habit = is_told and any(has(sign, plain) for sign in ("rule_each", "rule_only", "broad"))
        return obliges or is_habit or (has("plain_style", plain) and not has("state", plain))
    return has("rule_each", plain) and not has("passing_order", plain) and (obliges or is_told)


def _is_korean_order(plain: str) -> bool:
    return bool(_HANGUL.search(plain)) and (has("orders", plain) or _is_imperative(plain))


def _is_imperative(plain: str) -> bool:
    """True for a bare verb (`돌려`, `써`) without subject or state."""
    last = plain.rstrip(" .!~")[-1:]
    if not _HANGUL.match(last) or last == "다" or has("state", plain) or _SUBJECT.search(plain):
        return False
    at = ord(last) - 0xAC00
    return at % 28 == 0 and _VOWELS[at // 28 % 21] in _OPEN_VOWELS
