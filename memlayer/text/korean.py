"""Cut a run of Hangul into search terms without a dictionary.

Index and question share syllable bigrams: `과제를` gives `과제 제를`, so the question `과제` finds it, and
`결제모듈은` meets `결제 모듈` in both directions. Two forms that bigrams alone would miss are added at both
ends: a word of one syllable under its particle (`값을` also gives `값`), and the stem under a contracted
past (`옮겼다` also gives `옮기`).

A question moreover drops what is only grammar: particles, endings and the bigrams that consist of them. The
index keeps everything, so a wrong guess costs a term of a question, never a text.
"""

from __future__ import annotations

from functools import lru_cache

from memlayer.text.stopwords import KOREAN_STOP_WORDS, words

_MAX_RUN = 4096  # syllables; a longer run is cut, which loses one bigram

# Particles that can follow one another, the outer ones last.
_OUTER_PARTICLES = words("이라는 이라고 라는 라고 은 는 이 가 을 를 의 도 만 요")
_INNER_PARTICLES = words(
    """
    에서부터 으로부터 에게서 한테서 에서 에게 한테 께서 으로 부터 까지 마다 처럼 보다 만큼 조차 밖에 이랑
    이나 하고 이든 든지 들 에 로 와 과 랑 나
    """
)
_LONG_INNER = tuple(particle for particle in _INNER_PARTICLES if len(particle) > 1 or particle == "들")

# Endings of verbs and of the copula; the longest that fits is taken off, if two syllables remain.
_ENDINGS = tuple(
    sorted(
        words(
            """
        합니다 합니까 입니다 입니까 습니다 습니까 됩니다 됩니까 니다 하기로 하는지 하는데 하는 하던 하자
        하지 하면 하게 하려고 하려면 하도록 하나요 하나 하니 하며 하여 한다 한다고 할까 할까요 할지 할게 할
        한 함 해야 해서 해줘 해주세요 해봐 해요 해 되는 되던 되면 되나 되고 되지 된다 된 될 돼 돼서 돼요
        시켜줘 시켜 이야 이에요 예요 인가요 인가 인지 이다 이고 이며 이지 이죠 인데 이면 는지 는데 던데 더라
        나요 까요 군요 네요 어요 아요 세요 주세요 어줘 아줘 기로 어야 아야 으면 면서 거야 건지 려고 려면
        도록 지만 다고 다는 자고 자는 을까 을지 었지 았지
        """
        ),
        key=len,
        reverse=True,
    )
)

# Bigrams made of grammar alone, whatever word they stood in.
_NOISE_BIGRAMS = frozenset(
    words(
        """
    합니 니다 습니 입니 됩니 니까 에서 으로 했어 했지 했다 했나 했던 하는 하기 기로 하고 해서 해줘 하자 하지
    하면 하게 되는 되고 됐어 됐지 됐다 었어 았어 였어 었다 았다 였다 었지 았지 였지 었나 았나 였나 었던 았던
    였던 더라 는지 는데 던데 까지 부터 에게 한테 이라 라고 라는 이다 이야 예요 이에 에요 어요 아요 해요 세요
    나요 까요 지만 거야 겠지 겠다 겠어 있어 있는 있나 있지 없어 없는 없나 어떻 떻게 무엇 무슨 뭐였 뭐지 주세
    어줘 아줘 려고 려면 도록 면서
    """
    )
)

# Nouns that end as a particle does: the particle is not taken off them.
_NOUN_TAILS = frozenset(
    words(
        """
    경로 도로 진로 회로 통로 결과 성과 효과 통과 초과 부과 시도 속도 정도 제도 한도 온도 빈도 밀도 용도 의도
    각도 확도 뢰도 요도 난도 완도 선도 지도 주도 유도 평가 추가 증가 국가 허가 인가 휴가 원가 단가 참가 차이
    사이 길이 높이 아이 페이 레이 놀이 풀이 회의 정의 동의 문의 논의 주의 합의 강의 심의 건의 가로 세로 제로
    크로 별로 서로 바로 그룹 종이 고양 트리 파이 와이 바이 웨이 토이 스파 하나 구나 개요 필요 중요 수요 주요
    소요 분야 시야 마을 가을 메모리 이메일 만들 반의 시들
    """
    )
)

_FIRST, _LAST = 0xAC00, 0xD7A3
_FINALS = 28
_VOWEL_COUNT = 21
_SS = 20  # final ㅆ
# Vowel of a contracted past -> vowel of the stem: 겼 -> 기, 바꿨 -> 바꾸, 봤 -> 보, 됐 -> 되, 했 -> 하.
_CONTRACTED = {6: 20, 14: 13, 9: 8, 10: 11}
_PAST_MARKS = frozenset("었았였했됐")
_NOT_PAST = frozenset("있겠")


@lru_cache(maxsize=16384)
def _short_index_terms(run: str) -> tuple[str, ...]:
    if len(run) == 1:
        return (run,)
    terms = [run[at : at + 2] for at in range(len(run) - 1)]
    noun = _without_particles(run, shortest=1)
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
    """Terms of one run of Hangul syllables for a question; empty when the run is only grammar or filler."""
    if run in KOREAN_STOP_WORDS or run in _ENDINGS or not any(_FIRST <= ord(one) <= _LAST for one in run):
        return []
    word = _without_ending(run)
    if word in KOREAN_STOP_WORDS or word in _INNER_PARTICLES:
        return []
    if len(word) == 1 and len(run) == 1:
        return [word]
    terms = [word[at : at + 2] for at in range(len(word) - 1)]
    terms = [term for term in terms if term not in _NOISE_BIGRAMS]
    noun = _without_particles(word, shortest=1)
    if len(noun) == 1 and noun not in KOREAN_STOP_WORDS:
        terms.append(noun)
    return terms + _past_stems(run)


def _without_ending(run: str) -> str:
    """Take particles or a verb's ending off; two syllables of the word remain, or the run stays whole."""
    for at in range(len(run) - 1, 0, -1):
        if _final(run[at]) == _SS and run[at] not in _NOT_PAST:
            # A past tense: what follows the mark is an ending. `제출했어` -> `제출`, `옮겼더라` -> `옮겼`.
            cut = at if run[at] in _PAST_MARKS and at >= 2 else at + 1
            # `이었지`, `이였어`: the copula goes with its mark.
            return run[: cut - 1] if cut == at and run[cut - 1] == "이" and cut > 2 else run[:cut]
    for ending in _ENDINGS:
        if run.endswith(ending) and len(run) - len(ending) >= 2 and run[-2:] not in _NOUN_TAILS:
            return run[: -len(ending)]
    return _without_particles(run, shortest=2)


def _without_particles(run: str, *, shortest: int) -> str:
    if run[-2:] in _NOUN_TAILS:
        return run
    word = run
    for particle in _OUTER_PARTICLES:
        if word.endswith(particle) and len(word) - len(particle) >= shortest:
            word = word[: -len(particle)]
            break
    # Behind an outer particle only an unmistakable inner one is looked for: `재시도는` must not become
    # `재시`.
    for particle in _INNER_PARTICLES if word is run else _LONG_INNER:
        if word.endswith(particle) and len(word) - len(particle) >= shortest:
            return word[: -len(particle)]
    return word


def _past_stems(run: str) -> list[str]:
    """Bigrams with the contracted past undone: `옮겼다` -> `옮기`, `바꿔서` -> `바꾸`, `정했어` -> `정하`."""
    stems = []
    for at in range(1, len(run)):
        code = ord(run[at]) - _FIRST
        if not 0 <= code <= _LAST - _FIRST:
            continue
        final = code % _FINALS
        vowel = code // _FINALS % _VOWEL_COUNT
        lead = code // _FINALS // _VOWEL_COUNT
        if final == _SS and run[at] not in "었았였있겠":
            if run[at] in "했됐" and at > 1:
                continue  # `제출했다`: the noun before it says it all
            plain = 0 if run[at] == "했" else _CONTRACTED.get(vowel, vowel)
        elif final == 0 and vowel in (6, 14) and lead != 11 and at >= len(run) - 2:
            plain = _CONTRACTED[vowel]
        else:
            continue
        stems.append(run[at - 1] + chr(_FIRST + (lead * _VOWEL_COUNT + plain) * _FINALS))
    return stems


def _final(syllable: str) -> int:
    code = ord(syllable) - _FIRST
    return code % _FINALS if 0 <= code <= _LAST - _FIRST else 0
