"""What a turn says is done away with: "killed Buttondown", "instead of Yarn", "별점 대신", "RabbitMQ 버리고"."""

from __future__ import annotations

import re
import unicodedata

from memlayer.core.terms import query_terms

MAX_CHARS = 4000
Terms = tuple[str, ...]
_NAME = r"[\w.#+/@-]{0,40}\w"  # without a bound a long unbroken string would take its square in steps
_ENGLISH = re.compile(
    r"\b(?:kill(?:ed|ing)?|dropp?(?:ed|ing)?|ditch(?:ed|ing)?|remov(?:ed|ing)|retir(?:ed|ing)|replac(?:ed|es|ing)"
    r"|revert(?:ed|ing)?|undo(?:ing)?|undid|no more|never mind|forget(?: about)?|scrapp?(?:ed|ing)?|abandon(?:ed|ing)?"
    r"|swapp(?:ed|ing)(?: out)?|phas(?:ed|ing) out|g[eo]t(?:ting)? rid of"
    r"|instead of|rather than|in place of|no longer(?: \w+)??(?: on| with| by| at)?"
    r"|stop(?:ped)? using|(?:mov|switch|migrat|chang|com|went|go)\w*(?: \w+){0,3}? (?:from|off)"
    r"|(?:is|are|was|get|got) off|used to be|out goes|formerly|previously)"
    rf" (?:the |our |a |an )?({_NAME}(?: {_NAME})?)"
    rf"|({_NAME}) (?:is|are|was|were) (?:gone|dropped|retired|removed|deprecated|dead|history|no more|out)\b"
    rf"|({_NAME}) ?(?:->|→|=>) ?\w",
    re.IGNORECASE,
)
_GONE = (
    r"말고|대신|버리|버려|버렸|걷어|빼고|빼기|뺐|없애|없앴|접고|접기|접었|그만|폐기|폐지|해지|안 ?쓰|안 ?써|더 ?이상"
    r"|더는|내리고|내렸|떼고|뗐|떼어|지우고|지웠|철회|취소|갈아엎|아니라|아니고|빼자|내리자|없던 ?(?:걸|일|것으)로"
    r"|안 ?하는 ?(?:걸|것으)로|안 ?하기로|하지 ?말자|원복"
)
_BETWEEN = "그거|그건|그냥|역시|도로|다시|이제|이젠|아예|전부|다"
_TURNED = "바꾸|바꿨|바뀌|바뀐|옮|갈아|전환|이전|교체|변경|넘어|넘겼|올렸|올리|내렸|줄|늘|낮|높"
_KOREAN = re.compile(
    rf"([\w.#+/@-]{{1,40}}?)(?:은|는|이|가|을|를|도|만)? ?(?:(?:{_BETWEEN}) ){{0,2}}(?:{_GONE})"
    rf"|([\w.#+/@-]{{1,40}}?)(?:에서|서) (?:\S{{1,40}} ){{0,2}}?\S{{1,40}}?(?:으로|로) ?(?:\S{{1,40}} )??(?:{_TURNED})"
)


def done_away(text: str) -> frozenset[Terms]:
    """The words for what a text does away with, each as its terms; never raises on any text."""
    plain = unicodedata.normalize("NFKC", text[:MAX_CHARS])
    named = [group for way in (_ENGLISH, _KOREAN) for found in way.finditer(plain) for group in found.groups() if group]
    words = [tuple(query_terms(word.casefold())) for one in named for word in one.split()]  # RabbitMQ is rabbitmq too
    return frozenset(terms for terms in words if len("".join(terms)) > 1)
