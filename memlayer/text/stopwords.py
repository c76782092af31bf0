"""Words that say nothing about what a text is about, English and Korean."""

from __future__ import annotations


def words(text: str) -> tuple[str, ...]:
    """Split a list written as text; a tuple of its words in their order."""
    return tuple(text.split())


# Grammar only: left out of the index as well. `go`, `get`, `set`, `no`, `not`, `all` can name things: they
# stay.
FUNCTION_WORDS = frozenset(
    words(
        """
    a an the this that these those of to in on at by for from with without into onto about as than then so
    too and or but if because while though although is are was were be been being am do does did done doing
    have has had having can could will would shall should may might must i me my mine myself we us our ours
    you your yours he him his she her hers it its itself they them their theirs there here very just also
    only even ever don doesn didn isn aren wasn weren won wouldn couldn shouldn hasn haven hadn ll ve re s t
    d m
    """
    )
)

# Asking words and fillers: left out of a question, kept in the index.
QUESTION_WORDS = FUNCTION_WORDS | frozenset(
    words(
        """
    what which who whom whose when where why how whats hows wheres whys whether please tell remember recall
    remind know think say said again earlier previously anything something everything hey hi hello ok okay
    yes yeah yep nope sure thanks thank thx pls plz well now like let lets want need wanna gonna really
    actually maybe
    """
    )
)

KOREAN_STOP_WORDS = frozenset(
    words(
        """
    뭐 뭐지 뭐야 뭔가 뭔지 뭐가 뭐를 뭘 뭣 무엇 무슨 무엇을 무엇이 어떤 어떤거 어떻게 어떡해 어떠 어때 어디
    어디서 어디에 언제 왜 누가 누구 누구야 얼마 얼마나 몇 어느 그 이 저 그거 이거 저거 그게 이게 저게 그건
    이건 저건 그걸 이걸 저걸 그것 이것 저것 여기 거기 저기 우리 우리가 우린 우리는 나 나는 난 내 내가 저희
    저는 제가 너 너는 네가 당신 좀 그냥 다시 지금 이제 아까 그리고 그런데 근데 하지만 그러면 그럼 그래서
    그래 그렇게 이렇게 저렇게 그러니까 또 또는 혹은 혹시 및 등 것 거 게 걸 건 수 때 더 덜 잘 꼭 다 안 못
    매우 아주 너무 정말 진짜 모두 해줘 해주세요 해봐 해 해라 하자 알려줘 알려 알려주세요 말해줘 말해봐
    보여줘 찾아줘 기억 기억나 기억나니 기억해 기억하니 기억하지 기억하고 있어 있나 있나요 있지 있니 있는
    있었지 있었나 있었어 있던 있을까 없어 없나 없지 없는 했 했지 했어 했나 했더라 했던 하기 하기로 했었지
    했었나 되 돼 되나 됐어 됐지 됐나 였 였지 이었지 인가 인지 아 어 음 네 응 예 넵 아니 아니야 아니요 대해
    대해서 대한 관련 관련해서 관해 위해 통해 전에 저번 저번에 지난번 지난번에 예전 예전에 이전 이전에 이번
    이번에 같은 같아 같이 거야 거지 거였지 건가 맞아 맞지 맞나 싶어 싶은 싶다 주세요 줘 봐 보자 부탁 부탁해
    부탁드려요 감사 감사합니다 고마워 안녕 안녕하세요 은 는 을 를 가 의 에 도 만 로 와 과 랑 요 야 께 들 님
    씨
    """
    )
)
