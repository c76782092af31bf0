"""Find the glossary's Korean forms in runs of Hangul, under particles and endings and inside compounds.

A form never matches the mere beginning of a word: what is left of the run has to be particles, an ending, or further
forms. `큐를` holds `큐`, `큐레이션` does not; `결제모듈은` holds `결제` and `모듈`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from memlayer.core.glossary_conjugation import surfaces

MAX_RUN = 32  # syllables; longer runs are no words
MAX_JOINED_RUNS = 3
_MIN_JOINED = 4  # syllables; shorter forms are put together only if they are written so: `한 도` is not `한도`
_NO_ROWS: tuple[int, ...] = ()

# Endings of verbs are told by their syllables: after a stem of two syllables that is as good as a grammar.
_ENDING = (
    "[고는은을지던었았였어아여서야면려며도게기자다니나까네요죠준줘줬주줄놨놓놔놀둔둬둘뒀두버렸린릴졌진질져볼봐봤본보있없않"
    "못한할합함해했하겠습읍으냐더라대데잖구군걸거건든록만큼테세셔셨신시실들음임수밖에직켜킨킬켰키된될됐돼되됨됩와왔워웠"
    "운울우로를가이텐땐때란람랬]"
)
_VERB_TAIL = re.compile(_ENDING + "{0,10}")
_SHORT_VERB_TAIL = re.compile(
    "[고는은을지던었았어아서야면려며도게기자다니나까네요죠겠습으냐더졌진질져줘줬준]" + _ENDING + "{0,9}"
)
_PARTICLES = (
    "(?:들|에서부터|으로부터|에게서|한테서|에서|에게|한테|께서|으로서|으로써|으로|로서|로써|로|부터|까지|마다|처럼|보다|만큼"
    "|조차|밖에|이랑|이나|나|하고|이든|든지|이든지|에|와|과|랑|의|이|가|을|를|은|는|도|만|요|쯤|씩|끼리|대로|뿐"
    "|이라는|라는|이라고|라고|이라면|라면|이라서|라서|이라도|라도|이란|란)"
)
_COPULA = "(?:이었|였|이에|예|이야|야|이다|다|이고|이며|이지|지|이죠|죠|이니|니|인|일|임|입)"
_LIGHT_VERB = (
    "(?:하|한|할|함|합|해|했|되|된|될|됨|됩|돼|됐|시키|시켜|시켰|시킨|시킬|당하|당한|당해|당했|받|나|난|날|났|내|낸|냈"
    "|뜨|떠|떴|뜬|없|있|같|스러|스럽|롭|로워|로운|적)"
)
_SUFFIX = "[자기성화률율용별량팀층값표식형법권비료실일중후전때시쪽간상내외당본판건측물품명들]"
_NOUN_TAIL = re.compile(
    f"{_SUFFIX}?(?:{_PARTICLES}{{0,4}}(?:{_COPULA}{_ENDING}{{0,8}})?|{_LIGHT_VERB}{_ENDING}{{0,10}})"
)
_SHORT_NOUN_TAIL = re.compile(
    f"{_PARTICLES}{{0,3}}(?:(?:이었|였|이에|예|이야|야|인지|인가|인데|이지|이다){_ENDING}{{0,6}})?"
)
_UNIT_TAIL = re.compile(
    f"(?:간|짜리|정도|이내|이상|이하|미만|동안|내|전|후|당|째|치|어치)?{_PARTICLES}{{0,3}}{_ENDING}{{0,5}}"
)
_PREFIXES = frozenset("재미구신총각매첫새옛본타양")


class Match(NamedTuple):
    """rows: of the glossary. start, end: syllables of the run (of the first run, when runs > 1). runs: how many."""

    rows: tuple[int, ...]
    start: int
    end: int
    runs: int = 1


class KoreanForms:
    """The Korean side of the glossary, ready to be looked up. Immutable once built, so any thread may use it."""

    def __init__(self, rows: Iterable[tuple[int, str]], nouns_in_da: frozenset[str]) -> None:
        """rows: (row number, form). A form in 다 is a verb, one with a hyphen at its end a verb's past stem, one with #
        at its beginning a unit: it counts only after a digit."""
        nouns: dict[str, tuple[int, ...]] = {}
        drawers: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
        spaced: set[str] = set()
        longest = 0
        for row, form in rows:
            compact = form
            if " " in form:
                compact = form.replace(" ", "")
                spaced.add(form)
            longest = max(longest, len(compact))
            if compact[-1] == "-" or (compact[-1] == "다" and is_verb(compact, nouns_in_da)):
                drawers[_lead(compact)].append((row, compact))
            else:
                nouns[compact] = (*nouns[compact], row) if compact in nouns else (row,)
        self._nouns: Mapping[str, tuple[int, ...]] = nouns
        self._drawers: Mapping[str, Sequence[tuple[int, str]]] = dict(drawers)
        self._spaced = frozenset(spaced)
        self._longest = longest
        self._verbs = lru_cache(maxsize=None)(self._verbs_in)
        self.segments = lru_cache(maxsize=8192)(self._segments)

    def joined(self, runs: tuple[str, ...]) -> Match | None:
        """A form that the writer spread over the first two or three runs (`데이터 베이스`), the longest there is."""
        for count in range(min(len(runs), MAX_JOINED_RUNS), 1, -1):
            before = sum(map(len, runs[: count - 1]))
            text = "".join(runs[:count])
            if len(text) > MAX_RUN:
                continue
            for end in range(min(len(text), self._longest), before, -1):
                rows = self._nouns.get(text[:end])
                if not rows or (end < _MIN_JOINED and not self._spaced_so(runs[:count], end - before)):
                    continue
                if _NOUN_TAIL.fullmatch(text, end):
                    return Match(rows, 0, len(runs[0]), count)
        return None

    def _spaced_so(self, runs: tuple[str, ...], rest: int) -> bool:
        """True if the glossary itself writes the form with these blanks."""
        return " ".join((*runs[:-1], runs[-1][:rest])) in self._spaced

    def after_digits(self, digits: str, run: str) -> Match | None:
        """A unit (`30초`) or a form that begins with a number (`3월`); start is -1 when the digits belong to it."""
        for end in range(min(len(run), 4), 0, -1):
            rows = self._nouns.get(digits + run[:end])
            if rows and _NOUN_TAIL.fullmatch(run, end):
                return Match(rows, -1, len(run))
        for end in range(min(len(run), 4), 0, -1):
            rows = self._nouns.get("#" + run[:end])
            if rows and _UNIT_TAIL.fullmatch(run, end):
                return Match(rows, 0, len(run))
        return None

    def _segments(self, run: str) -> tuple[Match, ...]:
        """The forms of one run from left to right, or nothing if a part of it stays unknown."""
        if len(run) > MAX_RUN:
            return ()
        found = self._from(run, 0, 1)
        if found is None and len(run) > 2 and run[0] in _PREFIXES:
            found = self._from(run, 1, 2)
        return tuple(found or ())

    def _verbs_in(self, drawer: str) -> dict[str, tuple[int, ...]]:
        """Surface stems of verbs -> rows. No conjugation changes a verb's first consonant, so verbs are conjugated when
        the first word comes that begins with theirs: all of them take longer than everything else together."""
        verbs: dict[str, tuple[int, ...]] = {}
        for row, form in self._drawers.get(drawer, ()):
            for one in (form[:-1],) if form[-1] == "-" else surfaces(form):
                rows = verbs.get(one, _NO_ROWS)
                if row not in rows:
                    verbs[one] = (*rows, row)
        return verbs

    def _from(self, run: str, start: int, shortest: int) -> list[Match] | None:
        if start == len(run):
            return None
        stems = self._verbs(_lead(run[start]))
        for end in range(min(len(run), start + self._longest), start + shortest - 1, -1):
            piece = run[start:end]
            nouns = self._nouns.get(piece, _NO_ROWS)
            verbs = stems.get(piece, _NO_ROWS)
            if not nouns and not verbs:
                continue
            short = end - start == 1
            fits = nouns if nouns and (_SHORT_NOUN_TAIL if short else _NOUN_TAIL).fullmatch(run, end) else _NO_ROWS
            if verbs and (_SHORT_VERB_TAIL if short else _VERB_TAIL).fullmatch(run, end):
                fits += tuple(row for row in verbs if row not in fits)
            if fits:
                return [Match(fits, start, end)]
            if nouns and not short and end < len(run):
                rest = self._from(run, end, 1)
                if rest is not None:
                    return [Match(nouns, start, end), *rest]
        return None


def is_verb(form: str, nouns_in_da: frozenset[str]) -> bool:
    """True for a dictionary form: `바꾸다`, not `람다`."""
    return len(form) > 1 and form[-1] == "다" and form not in nouns_in_da


def _lead(text: str) -> str:
    """A name for the consonant that the first syllable begins with."""
    return chr((ord(text[0]) - 0xAC00) // 588)
