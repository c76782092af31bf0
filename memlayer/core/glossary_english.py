"""Find the glossary's English forms in words, by their stems; irregular verbs under all their forms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from memlayer.core.stem import stem

_IRREGULAR_VERBS = """
become became|begin began begun|bind bound|bite bit bitten|blow blew blown|break broke broken|bring brought
build built|burn burnt|buy bought|catch caught|choose chose chosen|cling clung|come came|deal dealt|dig dug
draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought
find found|fly flew flown|forbid forbade forbidden|forget forgot forgotten|forgive forgave|freeze froze frozen
get got gotten|give gave given|go went gone|grow grew grown|hang hung|hear heard|hide hid hidden|hold held
keep kept|lay laid|lead led|learn learnt|leave left|lend lent|light lit|lose lost|make made|mean meant|meet met
overwrite overwrote overwritten|override overrode overridden|overcome overcame|pay paid|ride rode ridden
ring rang rung|rise rose risen|run ran|seek sought|sell sold|send sent|shake shook shaken|shine shone|shoot shot
show shown|shrink shrank shrunk|sing sang sung|sink sank sunk|sleep slept|speak spoke spoken|spend spent|spin spun
stand stood|steal stole stolen|stick stuck|strike struck|swear swore sworn|sweep swept|swim swam swum|swing swung
take took taken|teach taught|tear tore torn|tell told|think thought|throw threw thrown|undo undid undone
understand understood|wake woke woken|wear wore worn|win won|wind wound|withdraw withdrew withdrawn
write wrote written|rewrite rewrote rewritten|rebuild rebuilt|resend resent|die dying|lie lying|tie tying
index indices|matrix matrices|vertex vertices|child children|person people|man men|woman women|foot feet|tooth teeth
mouse mice|leaf leaves|half halves|shelf shelves|knife knives|life lives|analysis analyses|criterion criteria
axis axes|basis bases|crisis crises|datum data|medium media|hypothesis hypotheses
"""


@lru_cache(maxsize=1)
def irregular() -> dict[str, tuple[str, ...]]:
    """Word -> its forms that its stem does not show."""
    rows = [row.split() for row in _IRREGULAR_VERBS.replace("\n", "|").split("|") if row]
    return {row[0]: tuple(row[1:]) for row in rows}


def spellings(form: str) -> list[tuple[str, ...]]:
    """Words of a form, once for each irregular form of its first word (verbs) or of its last (nouns)."""
    own = tuple(form.replace("-", " ").split())
    table = irregular()
    if table.keys().isdisjoint(own):
        return [own]
    found = [own]
    found += [(other, *own[1:]) for other in table.get(own[0], ())]
    if len(own) > 1:
        found += [(*own[:-1], other) for other in table.get(own[-1], ())]
    return found


class EnglishForms:
    """The English side of the glossary, ready to be looked up. Immutable once built, so any thread may use it."""

    def __init__(self, rows: Iterable[tuple[int, str]]) -> None:
        """rows: (row number, form of one or more words)."""
        drawers: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
        table = irregular()
        for one in rows:
            form = one[1]
            drawers[form[:2]].append(one)
            others = table.get(form.partition(" ")[0])
            if others:
                for drawer in {other[:2] for other in others} - {form[:2]}:
                    drawers[drawer].append(one)
        self._drawers: Mapping[str, Sequence[tuple[int, str]]] = dict(drawers)
        self._forms = lru_cache(maxsize=None)(self._forms_in)

    def longest(self, stems: Sequence[str], at: int, end: int) -> tuple[tuple[int, ...], int]:
        """The longest form that begins with stems[at] and ends before `end`: its rows and its length in words, or
        nothing and 0."""
        drawer = stems[at][:2]
        if drawer in self._drawers:
            for key, rows in self._forms(drawer).get(stems[at], ()):
                if at + len(key) <= end and tuple(stems[at : at + len(key)]) == key:
                    return rows, len(key)
        return (), 0

    def _forms_in(self, drawer: str) -> dict[str, list[tuple[tuple[str, ...], tuple[int, ...]]]]:
        """First stem -> (stems, rows), longest first. Stems are made when the first word that begins like them comes:
        all of them take longer than everything else together. A stem keeps the first two letters of its word."""
        found: dict[str, dict[tuple[str, ...], tuple[int, ...]]] = {}
        for row, form in self._drawers[drawer]:
            for spelling in spellings(form):
                key = tuple([stem(word) for word in spelling])
                held = found.setdefault(key[0], {})
                if row not in held.get(key, ()):
                    held[key] = (*held.get(key, ()), row)
        return {first: sorted(held.items(), key=lambda one: -len(one[0])) for first, held in found.items()}
