"""Later words of a person on a thing, which end older ones.

They name the end of a value ("topic 말고"), give the thing another one of its kind ("sync 는 05:10 으로"), or tell a
plan as done. Where they only speak of a change of the same matter, the older words stand with a pointer.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from memlayer.consolidation.conflict.another_value import content, differ
from memlayer.consolidation.conflict.change import (
    CHANGE,
    CHANGED,
    DENIES,
    ENDS,
    UNDECIDED,
    ended_values,
    environments,
    is_order_of_work,
    replaces,
)
from memlayer.consolidation.rules.own_words import own_words, spoken
from memlayer.consolidation.rules.standing import let_go, takes_back
from memlayer.edge.capture.noise import recallable
from memlayer.text.sentences import ASSISTANT, candidates, is_question
from memlayer.text.terms import query_terms
from memlayer.text.value_slots import FIRST_PLACE, Slots, slots
from memlayer.turns.matter import FAILED, prohibits
from memlayer.turns.plans import carried_out

OF_MATTER = 0.4  # of an older sentence's weight, in the prompt of a change of its matter
OF_PLAN = 0.5  # of the weight of a plan, or of the report, where it tells the plan as done
FEWEST = 2  # terms in common, of a matter
MOST_NAMES = 3  # in common, of two languages
MAX_SENTENCES = 12  # of a prompt
MAX_CHARS = 400  # of a sentence that is looked at
_LEFT = re.compile(
    r"\b(?:later|needs? to|ha(?:ve|s) to|todo|waiting|not yet)\b|나중|해야|할 ?일|기다리|대기|아직", re.IGNORECASE
)
# A change without an object is one of the old value itself: it needs no word of the older sentence beside it.
_ITSELF = re.compile(
    r"(?:^|[,.;!:] |\b(?:actually|ok|okay|please|let'?s|now|we(?:'ve| have)?|i(?:'ve| have)?) )"
    r"(?:switch|mov|migrat|chang|convert|transition)\w*(?: over| away)? from $",
    re.IGNORECASE,
)
# A return to a former value ends its end: "Redis 걷어내고 EXCLUDE 로 가자" by "다시 Redis 로 돌아가자".
_BACK = re.compile(
    r"(?i)\b(?:back|revert\w*|return\w*|rolled back) to (?:the |our )?(?P<x>[^.,;]+)"
    r"|(?P<y>(?:[^\s,.;]+ ){0,2}[^\s,.;]+) ?(?:으로|로) (?:(?:다시 |도로 )?(?:돌아가|되돌|원복|롤백|복귀)"
    r"|다시 가[자기])"
    r"|(?:안|못) ?\S+기로 했던 (?P<z>[^,.;]+)(?=.*다시)"
)
_ADOPTS = re.compile(r"(?i)\b(?:switch|move|migrate|go with|use)\b|(?:으로|로) ?(?:가자|하자|바꾸자|간다|갈게)")
_ALLOWS = re.compile(r"(?i)(?P<x>\S+) (?:is|are) (?:now )?(?:fine|ok|okay|allowed)\b")
_LOOSENS = re.compile(
    r"(?i)도 ?(?:돼|됨|된다|괜찮)|풀렸|풀리긴|해제|이제 (?:ok|오케이|괜찮)"
    r"|\b(?:may|can) now\b|\bnow (?:may|can)\b|\b(?:fine|ok|okay|allowed) (?:now|again|from now on)\b"
)
_FROM_NOW = re.compile(r"(?i)\b(?:now|again|without)\b")
_CANCELS = re.compile(
    r"(?i)\bno need\b|\b(?:don'?t|do not|won'?t|no longer) need\b|\bcall(?:ed|ing)? off\b|\bcancel+(?:ed|ing)\b"
    r"|안 ?\S*도 ?(?:돼|되|됩|됨|괜찮)|필요 ?(?:가 |는 |도 )?(?:없|사라)|없던 ?(?:걸|일|것)로|취소(?:하자|하기로|됐|됨)"
    r"|관두|그만두"
    r"|안 \S+기로 ?(?:했|함|하자)|\b(?:not|won't be) (?:going to|doing)\b"
)
_PLANS = re.compile(
    r"(?i)\b(?:let'?s|we'?ll|i'?ll|will|going to|plan(?:ned)? to|should)\b"
    r"|[가-힣]자(?=[,.!~ ]|$)|기로 ?했|[할볼둘줄]게|예정|계획|\bbacklog\b|백로그"
)
# Two states of one thing: "wasm-opt 끄고 가자" is ended by "turn wasm-opt back on".
_STATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:turn|switch)\w*\b[^.,;]* off\b|\bdisabl\w+|\bpaus(?:e|ed|ing)\b"
        r"|(?<![가-힣])(?:끄[고자는]|끌게|껐|꺼[줘서둬 ])|비활성",
        r"\b(?:turn|switch)\w*\b[^.,;]* on\b|\b(?:re-?)?enabl\w+|\bresum(?:e|ed|ing)\b"
        r"|(?<![가-힣])(?:켜|켰|켤|켠)|(?<!비)활성화",
    )
)
# The clause of a value begins behind it.
_CLAUSE = re.compile(
    r"[,;:–—] | (?:so|and|but|because) |(?:[아어해라여워와]서|니까|[았었했있없하되이]고|는데|지만|으며) ", re.IGNORECASE
)
_WHEN = frozenset(
    query_terms(
        "today tonight tomorrow yesterday morning evening already after all just"
        " 오늘 내일 어제 이제 아침 저녁 오전 오후 벌써"
    )
)
# For this time alone: nothing ends.
_ONCE = re.compile(
    r"(?i)\b(?:this time|(?:just|only) (?:this )?once|for (?:now|today)|today|right now)\b"
    r"|이번(?:만|엔|에는|에만|은 )|오늘(?:만|은)|지금은|일단|한 ?번만"
)
_UNTIL = re.compile(r"(?i)\b(?:until|before) ([^.,;]+)")
_KOREAN_UNTIL = re.compile(r"([^.,;]+) \S+ ?(?:전에|전까지|때까지)")
_NAME = re.compile(r"\d|[_#@./-]|(?<=\S)[A-Z]|[가-힣](?:님|씨)$")
_LIFTED = re.compile(r"(?i)\blifted\b|풀렸|해제")
_QUOTES = re.compile(r"^[ \t]*>", re.MULTILINE)
_OF_MANY = frozenset(("weekday", "language"))  # kinds whose values many things have
_CODE = re.compile(r"`([^`\n]+)`")
_HOST = re.compile(
    r"(?<![\w@.-])(?:\d{1,3}(?:\.\d{1,3}){3}|(?:[a-z0-9-]+\.)+(?:com|net|org|io|dev|app|cloud|local|internal|lan|kr|jp|de|eu"
    r"|uk))(?![\w-]|\.\w)",
    re.IGNORECASE,
)
_HANGUL = re.compile(r"[가-힣]")

WeightsOf = Callable[[Iterable[str]], Mapping[str, float]]


@dataclass(frozen=True)
class Change:
    """A sentence of a change.

    names: in code marks, the thing's first. permits: it allows a thing again. gone: the terms of each value that it
    ends, and whether they are a name. subject: before its value. done: of a deed. terms: its own; of_prompt:
    of all that was said with it. back: of the value that is taken again. cancels: it calls a plan off. state: the
    place in _STATES of the one that its thing has now. was: the values that it ends, with their kinds. allows: a
    thing that was forbidden. named: values of all that was said with it.
    """

    text: str
    names: tuple[str, ...]
    gone: tuple[tuple[frozenset[str], bool], ...]
    taken: Slots
    subject: frozenset[str]
    done: frozenset[str]
    terms: frozenset[str]
    of_prompt: frozenset[str]
    permits: bool = False
    back: frozenset[str] = frozenset()
    cancels: bool = False
    state: int | None = None
    was: frozenset[tuple[str, str]] = frozenset()
    allows: frozenset[str] = frozenset()
    named: frozenset[tuple[str, str]] = frozenset()

    def ends(self, text: str, turn: str, weights_of: WeightsOf) -> bool:
        """True for an older sentence that holds no more.

        turn: its text, which may name the thing.
        """
        terms = _terms(text)
        if self._permits(text, terms) or self._returns_from(text, turn) or self._is_in_another_state(text):
            return True
        if self._calls_off(text, terms) or self._is_told_in_korean(text, terms):
            return True
        if self.was & _values(text) and _words(terms & self.terms):
            return True
        if self.terms.isdisjoint(terms):
            return self._gives_another_value(text, turn)
        if self.gone and _ended(text).issuperset(gone for gone, _ in self.gone):  # both tell the same change
            return self._gives_another_value(text, turn)
        if FAILED.search(text):  # what did not help then is no value
            return False
        if any(gone <= terms and (is_name or terms & self.terms - gone) for gone, is_name in self.gone):
            return True
        names = _names(text)
        if len(names) > 1 and self.names[:1] == names[:1] and set(names[1:]).isdisjoint(self.names[1:] or names):
            return True
        return replaces(text, self.text) or self._gives_another_value(text, turn) or self._carries_out(text, weights_of)

    def speaks_of(self, text: str, weights_of: WeightsOf) -> bool:
        """True for an older sentence of the same matter."""
        terms = _terms(text)
        shared = terms & self.of_prompt
        if self.permits or len(terms & self.terms) < FEWEST:  # another sentence of the prompt is of the matter
            return False
        return len(shared) >= FEWEST and _weight(shared, weights_of) >= OF_MATTER * _weight(terms, weights_of)

    def loosens(self, text: str) -> bool:
        """True for a permission that bears on an older wish."""
        return bool(_LOOSENS.search(self.text)) and len(_terms(text) & self.terms) >= FEWEST

    def _permits(self, text: str, terms: frozenset[str]) -> bool:
        """True for a wish let go, or a ban that is lifted."""
        if self.permits and let_go(self.text, [text]):
            return True
        return bool(self.allows) and self.allows <= terms and prohibits(text)

    def _calls_off(self, text: str, terms: frozenset[str]) -> bool:
        is_plan = bool(_LEFT.search(text) or _PLANS.search(text))
        return self.cancels and is_plan and len(terms & self.terms) >= FEWEST

    def _returns_from(self, text: str, turn: str) -> bool:
        """True for words on leaving the value that is taken again."""
        if not self.back:
            return False
        terms = _terms(text)
        if any(gone <= self.back for gone in _ended(text) if gone) or (self.back <= terms and DENIES.search(text)):
            return True
        return bool(CHANGE.search(text) or _ADOPTS.search(text)) and self.back <= _terms(turn) - terms

    def _is_told_in_korean(self, text: str, terms: frozenset[str]) -> bool:
        """True for a Korean change of an English sentence's things."""
        if not _HANGUL.search(self.text) or _HANGUL.search(text) or not (self.gone or CHANGE.search(self.text)):
            return False
        shared = {term for term in terms & self.terms if term.isascii()}
        return len(shared) >= MOST_NAMES and len(shared) * FEWEST >= len(terms)

    def _is_in_another_state(self, text: str) -> bool:
        if self.state is None or _state(text) in (None, self.state):
            return False
        terms = _terms(text)
        shared = terms & self.terms
        return len(shared) >= FEWEST or len(shared) * FEWEST >= min(len(terms), len(self.terms))

    def _gives_another_value(self, text: str, turn: str) -> bool:
        terms = _terms(text)
        said = slots(text).values
        # It names the old value and a new one: "8시에 갔더니 항의가 왔대, 18:30 으로 옮기자".
        if any(said.get(kind, frozenset()) < values for kind, values in self.taken.values.items() if kind in said):
            return bool(_words(terms & self.terms))
        # The prompt names the old value, perhaps in a quotation: "200건씩 잡아서 느려요 … 50건으로 줄이자".
        held = _values(text) & self.named
        if (
            any(value not in self.taken.values.get(kind, (value,)) for kind, value in held)
            and len(_words(terms & self.of_prompt)) >= FEWEST
        ):
            return True
        before, after = set(_HOST.findall(text)), set(_HOST.findall(self.text))
        is_moved = bool(before and after) and before.isdisjoint(after)
        if not is_moved and not (self.taken.values and differ(slots(text), self.taken)):
            return False
        is_of_thing = bool(self.subject) and self.subject <= terms | _terms(turn)
        return is_of_thing and environments(text) == environments(self.text)

    def _carries_out(self, text: str, weights_of: WeightsOf) -> bool:
        """True for a plan that was left, or a bound that came."""
        left, is_bound = _left(text)
        told = self.terms if is_bound else self.done
        shared = left & told
        least = OF_PLAN * min(_weight(left, weights_of), _weight(told, weights_of))
        return len(shared) >= FEWEST and _weight(shared, weights_of) >= least


@dataclass
class Changes:
    """Changes that are known, to look older sentences up."""

    weights_of: WeightsOf
    known: list[tuple[int, Change]] = field(default_factory=list)

    def add(self, prompt: str, at_ms: int, answer: str = "") -> None:
        """Add a prompt's changes, with the answer's report of them."""
        found = changes_of(prompt)
        said = [span for span in candidates(answer, ASSISTANT)[:MAX_SENTENCES] if "`" in span.text] if found else []
        reported = [change for span in said if (change := _change(span.text, found[0].of_prompt)) and change.names[1:]]
        self.known += [(at_ms, change) for change in (*found, *reported)]

    def ended(self, text: str, turn: str, at_ms: int) -> int:
        """Return when a sentence ceased to hold, 0 if it holds.

        turn: its text, which may name the thing.
        """
        text = text[:MAX_CHARS]
        later = (at for at, change in self.known if at > at_ms and change.ends(text, turn, self.weights_of))
        return max(later, default=0)

    def loosened(self, text: str, at_ms: int) -> int:
        """Return when something of a wish was last allowed, 0 for never."""
        return max((at for at, change in self.known if at > at_ms and change.loosens(text)), default=0)

    def changed(self, text: str, at_ms: int) -> int:
        """Return when a sentence's matter last changed, 0 for never."""
        later = (at for at, change in self.known if at > at_ms and change.speaks_of(text, self.weights_of))
        return max(later, default=0)


@lru_cache(maxsize=4096)
def changes_of(prompt: str) -> tuple[Change, ...]:
    """Return the changes that a prompt tells, which a person typed."""
    if not recallable(prompt):
        return ()
    read = spoken(prompt)
    if not read.is_typed and _QUOTES.search(prompt):
        read = spoken(own_words(prompt))
    if not read.is_typed:
        return ()
    start = prompt[: MAX_CHARS * 2]
    of_prompt, values = _terms(start), _values(start)
    changes = (_change(one.row.text, of_prompt) for one in read.said[:MAX_SENTENCES])
    return tuple(replace(change, named=values) for change in changes if change)


def _change(text: str, of_prompt: frozenset[str]) -> Change | None:
    if is_question(text) or UNDECIDED.search(text):
        return None
    gone, done, back, state = ended_values(text), carried_out(text), _BACK.search(text), _state(text)
    lasts = not _ONCE.search(text)
    permits, cancels = lasts and takes_back(text), lasts and bool(_CANCELS.search(text))
    allowed = _ALLOWS.search(text) if lasts and _FROM_NOW.search(text) else None
    signs = (gone, done, back, state is not None, permits, cancels, allowed, CHANGE.search(text), ENDS.search(text))
    if not any(signs) or (is_order_of_work(text) and not permits and state is None):
        return None
    was = [{value for value in _values(one) if value[0] not in _OF_MANY and value[1] != "1"} for one in gone]
    named = [(_terms(one), _is_name(one, text)) for one, values in zip(gone, was, strict=True) if not values]
    rest = CHANGED.sub(" ", text)
    for value in gone:  # not taken: who says the new value alone agrees
        rest = rest.replace(value, " ")
    return Change(
        text, _names(text), tuple(row for row in named if row[0]), slots(" ".join(rest.split())), _subject(text),
        _terms(done) - _WHEN, _terms(text), of_prompt, permits,
        back=_terms(back["z"] or back["x"] or back["y"]) if back else frozenset(), cancels=cancels, state=state,
        was=frozenset[tuple[str, str]]().union(*was),
        allows=_terms(allowed["x"]) if allowed else frozenset(),
    )  # fmt: skip


def _subject(text: str) -> frozenset[str]:
    """Return the words before a sentence's first value, else all of them."""
    host = _HOST.search(text)
    rest = slots(CHANGED.sub(" ", text[: host.start()] if host else text)).rest
    at = next((at for at, sign in enumerate(rest) if ord(sign) >= FIRST_PLACE), len(rest))
    clauses = (content(slots(one)) - _WHEN for one in reversed(_CLAUSE.split(rest[:at])))
    return next(filter(None, clauses), content(slots(rest)))


def _is_name(value: str, text: str) -> bool:
    """True for a name or a lifted state."""
    is_foreign = value.isascii() and bool(_HANGUL.search(text))
    is_itself = bool(_ITSELF.search(text[: text.find(value)])) and _OF_MANY.isdisjoint(slots(value).values)
    return bool(_NAME.search(value) or _LIFTED.search(text)) or is_foreign or is_itself


@lru_cache(maxsize=8192)
def _terms(text: str) -> frozenset[str]:
    return frozenset(query_terms(text))


@lru_cache(maxsize=8192)
def _ended(text: str) -> frozenset[frozenset[str]]:
    return frozenset(map(_terms, ended_values(text)))


@lru_cache(maxsize=8192)
def _values(text: str) -> frozenset[tuple[str, str]]:
    return frozenset((kind, value) for kind, of_kind in slots(text).values.items() for value in of_kind)


@lru_cache(maxsize=8192)
def _state(text: str) -> int | None:
    return next((place for place, pattern in enumerate(_STATES) if pattern.search(text)), None)


def _words(terms: frozenset[str]) -> frozenset[str]:
    """Return the terms that are no number."""  # two things may change at one hour
    return frozenset(term for term in terms if not term[0].isdigit())


def _names(text: str) -> tuple[str, ...]:
    return tuple(_CODE.findall(text))


@lru_cache(maxsize=4096)
def _left(text: str) -> tuple[frozenset[str], bool]:
    """Return the terms of a plan or event, and whether it waits."""
    until = _UNTIL.search(text) or (_KOREAN_UNTIL.search(text) if "전" in text or "때까지" in text else None)
    if until:
        return _terms(until[1]), True
    return (_terms(text) if _LEFT.search(text) else frozenset()), False


def _weight(terms: Iterable[str], weights_of: WeightsOf) -> float:
    return sum(weights_of(terms).values())
