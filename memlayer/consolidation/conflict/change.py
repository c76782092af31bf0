"""Statements of a change, and the older ones that they end.

It names the old value ("from Jenkins to GitHub Actions", "Jenkins 대신"), or says "now" and differs from the older in
one place alone, behind the thing's name. In doubt the two speak of two things.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from memlayer.text import korean
from memlayer.text.terms import query_terms, stem
from memlayer.text.value_slots import FIRST_PLACE, MAX_CHARS, Slots, slots
from memlayer.text.word_lists import word_list, word_set

MOST_WORDS = 3  # of a new value: `GitHub Actions`
FEWEST = 2  # words in common, where the two differ in more than a value
STEM = 4  # letters that two forms of a word begin with: `storage`, `stored`
SHORT = 6  # words of a statement
MAX_ENDING = 4  # letters behind these
SYLLABLES = 2  # the same in Hangul

CHANGE = re.compile(
    r"\b(?:now|no longer|any ?more|instead|rather than|moved|changed|switched|replaced|replaces"
    r"|upgraded|raised|lowered|postponed|slips?|slipped|ditched|swapped|bumped"
    r"|delayed|taking over|took over|takes over|from now on|no more|migrated|renamed"
    r"|extended|shortened|again|turned out|increased|decreased|reduced)\b"
    r"|이제|더 이상|더는|대신|말고|바뀌|바뀐|바꾸|바꿨|변경|옮기|옮겼|연기|올리|올렸|늘리|늘렸|낮추|낮췄|줄이"
    r"|줄였|교체|넘어갔|밀렸|앞당겨|안 쓰|아니라|이사|이전했"
    r"|갈아탔|전환|으로 올라|로 (?:내려|올려|늘려|줄여|낮춰|바꿔|옮겨)|미뤄|미루|당겨",
    re.IGNORECASE,
)
# The end of a value, which says nothing of a new one.
ENDS = re.compile(r"\b(?:dropped|dropping|ditched|gone|deprecated|retired|removed)\b|없앴|없애|폐지")
# A plan, a condition, a proposal, a report of somebody else's: nothing has changed yet.
UNDECIDED = re.compile(
    r"\b(?:plan(?:s|ning|ned)? to|will|going to|maybe|perhaps|if|unless|once|until|whether|let'?s (?:discuss|see|talk)"
    r"|consider\w*|propos\w+|suggest\w*|would|could|might|wish|pretend|(?<!^)also|as well"
    r"|i (?:can|have|see|understand)|too(?= *(?:[,.]|$)))\b"
    r"|예정|계획|검토(?! ?(?:가 ?|는 ?)?(?:통과|끝|완료))|고민|제안|제의|논의|나중에|얘기|만약|혹시|다면"
    r"|(?:을|를|일|할|꿀|길|릴|출|줄)까(?!지)|어떨|나을"
    r"|(?:에|에서|로|[a-z])도 |하자는|자고"
    r"|^\s*>",
    re.IGNORECASE,
)
# An order of work, for which "now" and "again" are no change of what holds.
_PASSING = re.compile(r"\b(?:now|again)\b|이제(?!부터|는)", re.IGNORECASE)
_ASKED = re.compile(
    r"(?:줘|줘요|주세요|줄래|줄래요|봐|보자)(?:,? 이제)?[.!~]*$"
    r"|^(?:(?:please|now|ok|okay|then|so),? )*(?:can|could|would) you\b"
    r"|^(?:(?:please|now|ok|okay|then|so),? )*(?!\w+(?:ed|s)\b)\w+ (?:the|a|an|all|it|them|this|that|my|our|your)\b",
    re.IGNORECASE,
)
_ADVERB = re.compile(
    r"\b(?:from now on|now|already|again)\b|(?<![가-힣])(?:이제(?:는|부터)?|앞으로(?:는)?) ", re.IGNORECASE
)
DENIES = re.compile(
    r"\b(?:not|never|no|cannot)\b|n't\b|아니|않|(?<![가-힣])안 |없|금지|마(?:세요|라)?$|던가", re.IGNORECASE
)
_THING = r"(?P<x>[^\s,;()]+(?: [^\s,;()]+){0,2}?)"
_LAST = r"(?P<x>(?!\S*ing\b)[^\s,;()]+)"
_AT = r"(?:(?:from|on|in|with|at) )?"
_CLOSED = r"(?:freeze|frozen|동결|얼렸|얼었|종료|terminate|폐쇄|닫았|닫혔|만료)"
_GONE = (
    re.compile(rf"(?i)\bfrom {_THING} (?:over )?(?:in)?to (?=\S)"),
    re.compile(rf"(?i),? ?\b(?:instead of|rather than|in place of|in favou?r of|and not|but not) {_AT}{_LAST}"),
    re.compile(rf"(?i), not {_AT}{_LAST}"),
    re.compile(rf"(?i)\bno longer (?:(?:uses?|using|is|runs?|lives?|have|needs?) )?{_AT}{_LAST}"),
    re.compile(rf"(?i)\b(?:don't|doesn't|do not|does not|not) (?:use |on |in ){_LAST} any ?more\b"),
    re.compile(rf"(?i)\b(?:replaced|dropped|ditched|swapped) {_THING} (?:with|by|for|in favou?r of) "),
    re.compile(rf"(?i)\b(?:replac(?:ed|es)|ditched|retired|scrapped) {_LAST}"),
    re.compile(rf"(?i){_LAST} (?:is|are|was|were|got) (?:gone|dropped|retired|removed|no more|replaced (?:by|with))\b"),
    re.compile(rf"(?i){_LAST} (?:(?:is|are|was|were|got|has been) )?lifted\b"),
    re.compile(rf"(?i)\b(?:took|takes|taking) over \S.* from {_LAST}"),
    re.compile(rf"(?i){_LAST}(?: ?에서|부터)(?= (?:[^\s가-힣]+ )*[^\s]+ ?(?:으로|로)요?(?![가-힣]))"),
    re.compile(rf"(?i){_LAST} ?(?:은 |는 |을 |를 )?(?:대신(?:에)?|말고|버리고|접고|걷어내고|빼고)(?![가-힣])"),
    re.compile(rf"(?i){_LAST} ?(?:(?:이|가) )?(?:아니라|아니고)(?![가-힣])"),
    re.compile(rf"(?i)^{_LAST} ?(?:으로는|로는|은|는) (?:[^.]{{0,40}})?(?:안 ?되겠|못 ?쓰겠|그만 ?쓰)"),
    re.compile(rf"(?i)^{_LAST} (?:won't do|will not do|doesn't cut it|does not cut it)\b"),
    re.compile(rf"(?i){_LAST} ?(?:은 |는 |이 |가 )?(?:다 |이제 )?(?:풀렸|풀리긴|해제(?:됐|됨|했))"),
    re.compile(rf"(?i){_LAST} ?(?:은|는|이|가) (?:[^\s,.]+ )?{_CLOSED}"),
    re.compile(rf"(?i){_LAST} ?(?:문제|탓|때문|원인)(?:이|가|은|는)? ?아니"),
    re.compile(rf"(?i)\b(?:wasn't|was not) (?:because of |due to |caused by )?(?:the |our ){_THING}(?= ?[.,;!]|$)"),
    re.compile(rf"(?i){_LAST} (?:안 (?:쓰|써|씀)[가-힣]*|(?:쓰지|사용하지) 않[가-힣]*)"),
)  # fmt: skip
_TOKEN = re.compile(r"[\ue000-\uf8ff]|[a-z][a-z0-9]*(?:[.+#/_@-]+[a-z0-9]+)*[+#]*|\d[\w.]*|[가-힣]+|[^\s\w]")
_ENVIRONMENT = re.compile(
    r"prod\w*|stage|staging|dev|develop|development|qa|test|local|운영\w*|스테이징\w*|개발\w*|로컬\w*|프로덕션\w*"
)
_MARKS = re.compile(r"^(?:user|사용자): *|\((?:user|unconfirmed|사용자|미확인)[^)]*\)", re.IGNORECASE)
_REASON = re.compile(r" (?:because|since|so that) |;|,? so ")
# A further clause, unless it says where the change holds.
_ASIDE = re.compile(
    rf"{_REASON.pattern}| as |[(–—]|: "
    r"|, (?!(?:for|on|in|at|only|but|except|with|when|where|while|by|under)\b|\S+(?:만|에서는|에선)(?![가-힣]))"
    r"|(?<=[가-힣][다자어요]) "
)
_NAME = re.compile(r"(?<=\w )(?:[A-Z]\w|\w+[-._/]\w)|[가-힣]")  # behind the first word, in English
_OWNER = re.compile(r"(?i)\b(?:owns?|leads?|handles?|reviews?|maintains?|tak(?:es|ing) over|took over)\b|담당|맡")
# Another place of a thing ends no words on who does something with it or to it.
_MOVES = re.compile(r"\b(?:moved|migrated)\b|옮기|옮겼|이전했|이사", re.IGNORECASE)
_PLACED = r"(?:에|에서|으?로|(?:이?야|이?다|임|입니다|이?[에예]요)[.!]?$)"
_NUMBER = re.compile(r"\d+(?:[.:]\d+)*")
LABEL = re.compile(r"v?\d+|[a-z]")
_ARTICLES = frozenset(("a", "an", "the", "our"))
CHANGED = re.compile(rf"(?:{CHANGE.pattern}|{ENDS.pattern})[가-힣]*", re.IGNORECASE)
_WE = re.compile(r"^(?:we|i|our|they) ", re.IGNORECASE)


class Word(NamedTuple):
    """A word of content, or a value.

    at: its place. Words of none leave a gap.
    """

    form: str
    at: int
    is_value: bool = False


class Said(NamedTuple):
    """A statement taken apart.

    kinds: of its values. heads: how its words begin. gone: the words of the value that it ends, in ends.
    """

    text: str  # as it was written
    words: tuple[Word, ...]
    kinds: frozenset[str]
    heads: frozenset[str]
    gone: tuple[Word, ...] = ()
    ends: str = ""


def replaces(older: str, newer: str) -> bool:
    """True for a statement of a change that ends the older one."""
    changes = _changes(newer)
    if not changes or environments(older) != environments(newer):
        return False
    told = _told(older)
    return any(_is_ended_by(old, new) for new in changes for old in told if not new.heads.isdisjoint(old.heads))


def is_change(text: str) -> bool:
    """True for a statement that something has changed."""
    return bool(_changes(text))


@lru_cache(maxsize=4096)
def ended_values(text: str) -> tuple[str, ...]:
    """Return the values that a sentence names as those of before."""
    said = normal(text)
    found = (pattern.search(said) for pattern in _GONE)
    return tuple(row["x"] for row in found if row)


def is_order_of_work(text: str) -> bool:
    """True for an order without a value or a change."""
    is_passing = not CHANGE.search(_PASSING.sub("", text)) and not ENDS.search(text)
    return is_passing and bool(_ASKED.search(text)) and not slots(text).values


@lru_cache(maxsize=4096)
def _changes(text: str) -> tuple[Said, ...]:
    """A statement of a change, whole and without its reason."""
    new = normal(text)
    if not (CHANGE.search(new) or ENDS.search(new)) or UNDECIDED.search(new) or is_order_of_work(text):
        return ()
    heads = dict.fromkeys((new, _ASIDE.split(new)[0]))
    said = (_changed(head) for head in heads if CHANGE.search(head) or ENDS.search(head))
    return tuple(row for row in said if row.gone or row.ends or CHANGE.search(row.text))


@lru_cache(maxsize=4096)
def _told(text: str) -> tuple[Said, ...]:
    """A statement, whole and without its reason."""
    old = normal(text)
    return tuple(_taken(head) for head in dict.fromkeys((old, _REASON.split(old)[0])))


def normal(text: str) -> str:
    """Return a statement in one form, without marks of its speaker."""
    return _MARKS.sub("", unicodedata.normalize("NFKC", text[:MAX_CHARS]).replace("`", "")).strip(" .")


@lru_cache(maxsize=4096)
def environments(text: str) -> frozenset[str]:
    """The environments that a statement names."""
    return frozenset(token for token in _TOKEN.findall(text.lower()) if _ENVIRONMENT.fullmatch(token))


def _changed(text: str) -> Said:
    """Take a statement of a change apart."""
    gone, rest = [], text
    for pattern in _GONE:
        if found := pattern.search(rest):
            gone.append(found["x"])
            rest = rest[: found.start()] + " / " + rest[found.end() :]
    ended = tuple(word for ended in gone for word in _taken(ended).words)
    taken = _taken(rest)
    heads = taken.heads.union(*(_taken(of_gone).heads for of_gone in gone))
    return taken._replace(text=text, heads=heads, gone=ended, ends=" ".join(gone))


def _taken(text: str) -> Said:
    taken = slots(_ADVERB.sub("", text))
    words = tuple(_words(taken))
    return Said(text, words, frozenset(taken.values), frozenset(map(_head, words)))


@lru_cache(maxsize=4096)
def words_of(text: str) -> tuple[Word, ...]:
    """Return the words of content and the values of a text."""
    return _taken(text).words


def _head(word: Word) -> str:
    """The letters that all forms of a word begin with."""
    return (
        word.form
        if word.is_value or not word.form.isalpha()
        else word.form[: STEM if word.form.isascii() else SYLLABLES]
    )


def _is_ended_by(old: Said, new: Said) -> bool:
    """True if both tell of one thing and differ in one place."""
    if new.ends and (DENIES.search(old.text) or not _tells(old, new)):
        return False
    added = runs_of(without(new.words, (*old.words, *new.gone)))
    lost = runs_of(without(old.words, (*new.words, *new.gone)))
    shared = [
        word for word in new.words if is_among(word, old.words) and not (word.is_value or LABEL.fullmatch(word.form))
    ]
    if len(added) > 1 or any(len(run) > MOST_WORDS for run in added):
        return False
    is_of_number = bool(_NUMBER.search(new.ends))
    differing = [
        word for run in (*lost, *(() if is_of_number else added)) for word in run if LABEL.fullmatch(word.form)
    ]
    if differing:
        return False
    if new.ends:
        return bool(shared) or (bool(added) and len(new.words) == len(added[0]) and _is_of_all(old, new))
    if not added or not shared:
        return False
    if all(word.is_value for word in added[0]) and old.kinds & new.kinds:
        named = len(shared) + any(kind.startswith("version of") for kind in old.kinds & new.kinds)
        left_out = [word for run in lost for word in run if not word.is_value]
        return not left_out or (named >= FEWEST and old.words[0] not in left_out)
    return len(lost) == 1 and _stand_behind(old, lost[0], new, added[0], len(shared))


def without(words: Iterable[Word], known: Sequence[Word]) -> list[Word]:
    """The words that are not known and name no kind of value."""
    return [word for word in words if word.form not in _attributes() and not is_among(word, known)]


def _is_of_all(old: Said, new: Said) -> bool:
    """True for a change without a name, and a short statement."""
    return not ENDS.search(new.text) and FEWEST <= len(old.words) <= SHORT


def _stand_behind(old: Said, lost: list[Word], new: Said, added: list[Word], shared: int) -> bool:
    """True for two words or names behind the name of their thing."""
    if max(len(lost), len(added)) > (MOST_WORDS if shared >= FEWEST else FEWEST):
        return False
    if shared < FEWEST and not (_NAME.search(old.text) and _NAME.search(new.text)):
        return False
    if not _beside(old.words, lost) & _beside(new.words, added):
        return False
    if _names_part(new, added) or (_does(old, lost) and not (_does(new, added) or _OWNER.search(new.text))):
        return False
    if _has_number(added) and not _has_number(lost):
        return False
    if _MOVES.search(new.text) and not _is_placed(old, lost):
        return False
    if _OWNER.search(new.text):
        return True
    return all(_WE.match(said.text) or said.words[0] not in run for said, run in ((new, added), (old, lost)))


def _has_number(run: list[Word]) -> bool:
    return any(word.is_value and _NUMBER.search(word.form) for word in run)


def _names_part(said: Said, run: list[Word]) -> bool:
    """True for a part that takes a value: 리뷰 도구를 Gerrit으로."""
    return any(_has_particle(said, word, "[을를]") for word in run[:-1]) and _has_particle(said, run[-1], "으?로")


def _does(said: Said, run: list[Word]) -> bool:
    """True for whoever does it: 준호가, where the value is another matter."""
    return _has_particle(said, run[-1], "이?가|이")


def _has_particle(said: Said, word: Word, particle: str) -> bool:
    return bool(re.search(rf"(?i){re.escape(_head(word))}\S*?(?:{particle})(?![가-힣])", said.text))


def _is_placed(said: Said, run: list[Word]) -> bool:
    """True for words that may name a thing's place, or its system."""
    if any(not "가" <= word.form[0] <= "힣" for word in run):
        return not re.search(rf"(?i)\bby\b.*{re.escape(_head(run[-1]))}", said.text)
    return any(re.search(rf"{_head(word)}[가-힣]*?{_PLACED}(?![가-힣])", said.text) for word in run)


def _beside(words: Sequence[Word], run: list[Word]) -> set[tuple[bool, str]]:
    """The words before and behind a run."""
    found: set[tuple[bool, str]] = set()
    for among in (words, [word for word in words if word.form not in _attributes() or word in run]):
        first = among.index(run[0])
        found.update((True, _head(word)) for word in among[:first][-1:])
        found.update((False, _head(word)) for word in among[first + len(run) :][:1])
    return found


def _tells(old: Said, new: Said) -> bool:
    """True for an older statement of the value that ends."""
    numbers = _NUMBER.findall(new.ends)
    known = {word.form for word in old.words}
    words = [word.form in known or (word.form >= "가" and is_among(word, old.words)) for word in new.gone]
    return (bool(words) and all(words)) or not set(numbers).isdisjoint(_NUMBER.findall(old.text))


def _words(taken: Slots) -> Iterator[Word]:
    """The words of content and the values, in order."""
    tokens = list(_TOKEN.finditer(CHANGED.sub(" / ", taken.rest)))
    at = 0
    for number, token in enumerate(tokens):
        text = token.group()
        if text in _ARTICLES:
            continue
        if number and not text.isascii() and token.start() == tokens[number - 1].end():
            continue  # a particle under a Latin word
        at += 1
        if 0 <= ord(text[0]) - FIRST_PLACE < len(taken.places):
            yield Word("=".join(taken.places[ord(text[0]) - FIRST_PLACE]), at, is_value=True)
        elif form := _form(text, is_last=number == len(tokens) - 1):
            yield Word(form, at)


def _form(text: str, *, is_last: bool) -> str:
    """The form of a word of content, "" for another."""
    if text.isascii():
        if not text[0].isalnum() or text in word_set("memlayer.text", "function"):
            return ""
        form = stem(text) if text.isalpha() else text
        return "" if form in english_fillers() else form
    terms = query_terms(text)
    if (
        not terms
        or word_set(__package__, "filler_korean").issuperset(terms)
        or text.endswith("기로")
        or (is_last and _is_verb(text))
    ):
        return ""
    return korean.without_particles(text, shortest=1)


def _is_verb(text: str) -> bool:
    """True for a Korean predicate that is no noun with a copula."""
    return len(text) == 1 or (text[-1] in "다어지음는" and (ord(text[-2]) - 0xAC00) % 28 in (4, 20))


def runs_of(words: Iterable[Word]) -> list[list[Word]]:
    """Return the words that stand side by side, together."""
    runs: list[list[Word]] = []
    for word in words:
        if runs and word.at == runs[-1][-1].at + 1:
            runs[-1].append(word)
        else:
            runs.append([word])
    return runs


def is_among(word: Word, words: Iterable[Word]) -> bool:
    """True for a form of one of the words."""
    return any(_is_one(word, other) for other in words)


def _is_one(word: Word, other: Word) -> bool:
    """True for two forms of a word."""
    if word.form == other.form or _head(word) != _head(other) or not word.form.isalpha():
        return word.form == other.form
    shorter, longer = sorted((len(word.form), len(other.form)))
    return not word.form.isascii() or (shorter >= STEM and longer - STEM <= MAX_ENDING)


@cache
def _attributes() -> frozenset[str]:
    listed = word_list(__package__, "attribute")
    return frozenset(stem(word) if word.isascii() else word for word in listed)


@cache
def english_fillers() -> frozenset[str]:
    """English terms of deciding, using and doing."""
    return frozenset(query_terms(" ".join(word_list(__package__, "filler"))))
