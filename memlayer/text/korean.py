"""Cut a run of Hangul into search terms without a dictionary.

Index and question share syllable bigrams: `과제를` gives `과제 제를`, so the question `과제` finds it, and
`결제모듈은` meets `결제 모듈` in both directions. Two forms that bigrams alone would miss are added at both
ends: a word of one syllable under its particle (`값을` also gives `값`), and the stem under a contracted
past (`옮겼다` also gives `옮기`).

A question moreover drops mere grammar: particles, endings and the bigrams that consist of them. The
index keeps everything, so a wrong guess costs a term of a question, never a text.
"""

from functools import cache, lru_cache

from memlayer.text.word_lists import word_list, word_set, words

_MAX_RUN = 4096  # syllables. A longer run is cut, which loses one bigram

# Particles that can follow one another, the outer ones last.
_OUTER_PARTICLES = words("이라는 이라고 라는 라고 은 는 이 가 을 를 의 도 만 요")

# The form of a particle behind a final consonant, and behind none.
_CLOSED, _OPEN = frozenset(words("은 이 을 과")), frozenset(words("는 가 를 와 랑 나 라는 라고 야 다 예요 였다"))
_ALSO_BEHIND_NAMES = words("님 씨 께 뿐 마저 다 였다 이었다")

_FIRST, _LAST = 0xAC00, 0xD7A3
_FINALS = 28
_VOWEL_COUNT = 21
_SS = 20  # final ㅆ
# Vowel of a contracted past -> vowel of the stem: 겼 -> 기, 바꿨 -> 바꾸, 봤 -> 보, 됐 -> 되, 했 -> 하.
_CONTRACTED = {6: 20, 14: 13, 9: 8, 10: 11}
_PAST_MARKS = frozenset("었았였했됐")
_NOT_PAST = frozenset("있겠")


@cache
def _long_inner_particles() -> tuple[str, ...]:
    inner = word_list(__package__, "korean_inner_particle")
    return tuple(particle for particle in inner if len(particle) > 1 or particle == "들")


@cache
def _endings() -> tuple[str, ...]:
    """Endings of verbs and of the copula, longest first."""
    return tuple(sorted(dict.fromkeys(word_list(__package__, "korean_ending")), key=len, reverse=True))


@lru_cache(maxsize=16384)
def _short_index_terms(run: str) -> tuple[str, ...]:
    if len(run) == 1:
        return (run,)
    terms = [run[at : at + 2] for at in range(len(run) - 1)]
    noun = without_particles(run, shortest=1)
    if len(noun) == 1:
        terms.append(noun)
    terms += _past_stems(run)
    return tuple(terms)


def index_terms(run: str) -> tuple[str, ...]:
    """Terms of one run of Hangul syllables for the index, with repeats."""
    if len(run) <= 64:
        return _short_index_terms(run)
    terms: list[str] = []
    for start in range(0, len(run), _MAX_RUN):
        piece = run[start : start + _MAX_RUN]
        terms += [piece[at : at + 2] for at in range(len(piece) - 1)] or [piece]
    return tuple(terms)


def query_terms(run: str) -> list[str]:
    """Terms of one Hangul run for a question, none for grammar."""
    stop_words = word_set(__package__, "korean_stop")
    if run in stop_words or run in _endings() or not any(_FIRST <= ord(syllable) <= _LAST for syllable in run):
        return []
    word = _without_ending(run)
    if word in stop_words or word in word_set(__package__, "korean_inner_particle"):
        return []
    if len(word) == 1 and len(run) == 1:
        return [word]
    terms = [word[at : at + 2] for at in range(len(word) - 1)]
    terms = [term for term in terms if term not in word_set(__package__, "korean_noise_bigram")]
    noun = without_particles(word, shortest=1)
    if len(noun) == 1 and noun not in stop_words:
        terms.append(noun)
    return terms + _past_stems(run)


def _without_ending(run: str) -> str:
    """Take particles or an ending off, where two syllables remain."""
    for at in range(len(run) - 1, 0, -1):
        if _final(run[at]) == _SS and run[at] not in _NOT_PAST:
            # A past tense: the syllables after the mark are an ending. `제출했어` -> `제출`, `옮겼더라` -> `옮겼`.
            cut = at if run[at] in _PAST_MARKS and at >= 2 else at + 1
            # `이었지`, `이였어`: the copula goes with its mark.
            return run[: cut - 1] if cut == at and run[cut - 1] == "이" and cut > 2 else run[:cut]
    for ending in _endings():
        if (
            run.endswith(ending)
            and len(run) - len(ending) >= 2
            and run[-2:] not in word_set(__package__, "korean_noun_tail")
        ):
            return run[: -len(ending)]
    return without_particles(run, shortest=2)


def without_particles(run: str, *, shortest: int) -> str:
    """Return a run without its particles; so many syllables remain."""
    if run[-2:] in word_set(__package__, "korean_noun_tail"):
        return run
    word = run
    for particle in _OUTER_PARTICLES:
        if word.endswith(particle) and len(word) - len(particle) >= shortest:
            word = word[: -len(particle)]
            break
    inner = word_list(__package__, "korean_inner_particle")
    # Behind an outer particle only an unmistakable inner one is looked for: `재시도는` must not become
    # `재시`.
    for particle in inner if word is run else _long_inner_particles():
        if word.endswith(particle) and len(word) - len(particle) >= shortest:
            return word[: -len(particle)]
    return word


@cache
def _behind_names() -> tuple[str, ...]:
    """Particles, and the copula's forms, longest first."""
    copula = tuple(ending for ending in _endings() if ending[0] in "이입인예")
    inner = word_list(__package__, "korean_inner_particle")
    return tuple(sorted({*_OUTER_PARTICLES, *inner, *copula, *_ALSO_BEHIND_NAMES}, key=len, reverse=True))


def is_particles(run: str, before: str) -> bool:
    """True for particles that may follow a name, and for ""."""
    return not run or any(
        run.startswith(particle) and _fits(particle, before) and is_particles(run[len(particle) :], particle[-1])
        for particle in _behind_names()
    )


def without_particle(word: str) -> str:
    """Return a name without the particle that may stand behind it."""
    for particle in _behind_names():
        name = word.removesuffix(particle)
        if len(name) > 1 and name != word and _fits(particle, name[-1]):
            return name
    return word


def _fits(particle: str, before: str) -> bool:
    if not _FIRST <= ord(before) <= _LAST:
        return True  # 7은 and 7는: nobody knows how it is read
    return particle not in (_OPEN if _final(before) else _CLOSED)


def _past_stems(run: str) -> list[str]:
    """Bigrams with the contracted past undone: `옮겼다` -> `옮기`, `바꿔서` -> `바꾸`."""
    stems = []
    for at in range(1, len(run)):
        if run[at] in "었았였" or (run[at] in "했됐" and at > 1):
            continue  # `제출했다`: the noun before it says it all
        plain = plain_syllable(run[at], is_last=at >= len(run) - 2)
        if plain:
            stems.append(run[at - 1] + plain)
    return stems


def plain_syllable(syllable: str, *, is_last: bool = True) -> str:
    """Undo a contraction: `겼` and `겨` give `기`, "" for none.

    is_last: a syllable within a word is contracted only in the past.
    """
    code = ord(syllable) - _FIRST
    if not 0 <= code <= _LAST - _FIRST or syllable in _NOT_PAST:
        return ""
    final, vowel = code % _FINALS, code // _FINALS % _VOWEL_COUNT
    lead = code // _FINALS // _VOWEL_COUNT
    if final == _SS:
        plain = 0 if syllable == "했" else _CONTRACTED.get(vowel, vowel)
    elif final == 0 and vowel in (6, 14) and lead != 11 and is_last:
        plain = _CONTRACTED[vowel]
    else:
        return ""
    return chr(_FIRST + (lead * _VOWEL_COUNT + plain) * _FINALS)


def without_past(word: str) -> str:
    """Return a verb without its past: `고쳤어요` -> `고치`."""
    for at in range(len(word) - 1, -1, -1):
        if _final(word[at]) == _SS and word[at] not in _NOT_PAST:
            if at and word[at] == "였":  # 붙이었, 작성하였
                return word[: at - 1] if word[at - 1] == "하" else word[:at] + "이"
            if at and word[at] in _PAST_MARKS:
                return word[:at]
            return word[:at] + plain_syllable(word[at])
    return word[:-1] + plain_syllable(word[-1]) if word and plain_syllable(word[-1]) else word


def _final(syllable: str) -> int:
    code = ord(syllable) - _FIRST
    return code % _FINALS if 0 <= code <= _LAST - _FIRST else 0
