"""Surface stems of Korean verbs and adjectives, from their dictionary form.

`바꾸다` gives 바꾸 바꿔 바꿨 바꾼 바꿀 바꿈 바꿉: what stands before the endings that are whole syllables. Endings
themselves are not made: who matches a word looks for a stem and judges the rest.
"""

from __future__ import annotations

from memlayer.core.stopwords import words

_FIRST, _LAST = 0xAC00, 0xD7A3
_FINALS = 28
_VOWELS = 21
_N, _D, _L, _M, _B, _S, _SS = 4, 7, 8, 16, 17, 19, 20  # finals ㄴ ㄷ ㄹ ㅁ ㅂ ㅅ ㅆ
_A, _EO, _YEO, _O, _WA, _WAE, _OE, _U, _WO, _EU, _I = 0, 4, 6, 8, 9, 10, 11, 13, 14, 18, 20
_BRIGHT = frozenset({_A, 2, _O, 12})  # vowels that ask for 아
_CONTRACTED = {_O: _WA, _OE: _WAE, _U: _WO, _I: _YEO}
_UNCONTRACTED = frozenset({16, 19})  # ㅟ ㅢ: 쉬어, 띄어

_REGULAR_B = frozenset(words("잡 뽑 입 씹 집 접 좁 업 꼽 붙잡 사로잡 꼬집 뒤집 헤집 굽히 손꼽"))
_IRREGULAR_D = frozenset(words("묻 듣 걷 깨닫 싣 긷 일컫 엿듣 되묻 뒤묻"))
_IRREGULAR_S = frozenset(words("짓 낫 잇 붓 긋 젓 퍼붓 이어짓"))
_REGULAR_REU = frozenset(words("따르 치르 들르 잇따르 뒤따르"))

# What commonly follows a stem of one syllable; a bigram of the two is what the index holds of such a verb.
_AFTER_OPEN = words("고 는 지 기 던 면 다")
_AFTER_CLOSED = words("고 는 지 기 던 으 은 을 다")
_AFTER_L = words("고 지 기 던 면 다")
_AFTER_INFINITIVE = words("서 야 도 진 졌")
_AFTER_PAST = words("다 어 던 고 는 지 습 음")


def surfaces(verb: str) -> tuple[str, ...]:
    """Stems of a verb given in its dictionary form (`고르다`): what its inflected forms begin with."""
    return tuple(dict.fromkeys(stem for stem, _ in _stems(verb[:-1])))


def beginnings(verb: str) -> tuple[str, ...]:
    """The same for looking them up in the index: two syllables or more each, short stems with what follows them. Of
    `설명하다` the noun is enough, and the index holds the stem beside a contracted past."""
    if verb.endswith("하다") and len(verb) > 3:
        return (verb[:-2],)
    found = []
    for stem, following in _stems(verb[:-1]):
        if len(stem) > 1 and following == _AFTER_PAST:
            continue
        found += [stem] if len(stem) > 1 else [stem + one for one in following]
    return tuple(dict.fromkeys(found))


def beginnings_of_past(stem: str) -> tuple[str, ...]:
    """What the index holds of a contracted past of one syllable: `샀` gives 샀다 샀어 샀던 ..."""
    return tuple([stem + one for one in _AFTER_PAST])


def _stems(stem: str) -> list[tuple[str, tuple[str, ...]]]:
    """(surface stem, what follows it when it is alone)."""
    head, last = stem[:-1], stem[-1]
    lead, vowel, final = _parts(last)
    if final == 0:
        return _open(stem)
    infinitives = ("아", "았") if vowel in _BRIGHT else ("어", "었")
    found = [(stem, (*(_AFTER_L if final == _L else _AFTER_CLOSED), *infinitives))]
    if final == _L:
        bare = head + _join(lead, vowel, 0)
        found += [(head + _join(lead, vowel, _N), ("다",)), (head + _join(lead, vowel, _B), ("니",))]
        found += [(bare + "는", ()), (bare + "니", ()), (bare + "세", ()), (bare + "신", ())]
        if not head:  # `는`, `든`, `들` are grammar more often than verbs
            return found[:1]
    elif final == _B and stem not in _REGULAR_B:
        bare = head + _join(lead, vowel, 0)
        infinitive = "와" if last == "돕" else "워"
        past = "왔" if last == "돕" else "웠"
        found += [(bare + one, ()) for one in (infinitive, past, "운", "울", "우")]
    elif final == _D and stem in _IRREGULAR_D:
        bare = head + _join(lead, vowel, _L)
        found += [(bare + one, ()) for one in (*infinitives, "은", "을", "으")]
    elif final == _S and stem in _IRREGULAR_S:
        bare = head + _join(lead, vowel, 0)
        found += [(bare + one, ()) for one in (*infinitives, "은", "을", "으")]
    return found


def _open(stem: str) -> list[tuple[str, tuple[str, ...]]]:
    """A stem that ends in a vowel takes ㄴ ㄹ ㅁ ㅂ and melts with 아 and 어."""
    head, last = stem[:-1], stem[-1]
    lead, vowel, _ = _parts(last)
    found = [(stem, _AFTER_OPEN)]
    found += [
        (head + _join(lead, vowel, final), after)
        for final, after in ((_N, ("다",)), (_L, ("지",)), (_M, ()), (_B, ("니",)))
    ]
    if last == "하":
        infinitive = head + "해"
    elif last == "르" and head and stem not in _REGULAR_REU:
        before_lead, before_vowel, _ = _parts(head[-1])
        bright = before_vowel in _BRIGHT
        infinitive = head[:-1] + _join(before_lead, before_vowel, _L) + ("라" if bright else "러")
    elif vowel == _EU:
        bright = bool(head) and _parts(head[-1])[1] in _BRIGHT
        infinitive = head + _join(lead, _A if bright else _EO, 0)
    elif vowel in _UNCONTRACTED:
        infinitive = stem + "어"
    else:
        infinitive = head + _join(lead, _CONTRACTED.get(vowel, vowel), 0)
    past_lead, past_vowel, _ = _parts(infinitive[-1])
    past = infinitive[:-1] + _join(past_lead, past_vowel, _SS)
    return [*found, (infinitive, _AFTER_INFINITIVE), (past, _AFTER_PAST)]


def _parts(syllable: str) -> tuple[int, int, int]:
    code = ord(syllable) - _FIRST
    return code // _FINALS // _VOWELS, code // _FINALS % _VOWELS, code % _FINALS


def _join(lead: int, vowel: int, final: int) -> str:
    return chr(_FIRST + (lead * _VOWELS + vowel) * _FINALS + final)
