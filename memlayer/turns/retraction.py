"""Prompts that take back the turn before: it did not hold.

A form of words, not a guess: the order stands in a clause of its own and points at the work just done, with a pronoun
or nothing for its object. An order about another thing ("revert the version bump") takes nothing back.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from enum import Enum

from memlayer.edge.capture.noise import is_noise
from memlayer.text.sentences import prose
from memlayer.text.word_lists import words

MAX_PROMPT_CHARS = 300  # a longer prompt quotes, or orders something else besides
ASIDE_WORDS = 2  # "hmm", "ok then"

_CLAUSE = re.compile(
    r"[.,;:!?~\n—–]+|\s-+\s|\s(?:and|but|because|since|then|instead|so|as it|until|그리고|왜냐하면|대신에?)(?=\s|$)",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:(?:no|nope|nah|hmm+|ok|okay|oh|ah|well|so|yes|yeah|wait|sorry|actually|please|pls|just|then|now|and|but|or|first"
    r"|let'?s|let us|can (?:you|we)|could (?:you|we)|would you|will you|you (?:can|should)|i think|maybe|better|also"
    r"|we (?:should|need to|have to|must)|i(?:'d like| want| need)(?: you)? to|go ahead and|for now)\s+)+",
    re.IGNORECASE,
)
_OBJECT = (
    r"(?:that|this|it|those|these|them|everything|all(?: of)?(?: (?:that|this|it|those|these|them))?|what you"
    r" (?:just )?(?:did|changed)|(?:all )?(?:of )?(?:that|this|those|these|your|the)(?: (?:last|latest|previous"
    r"|recent))? (?:changes?|edits?|fix|attempt|modifications?|refactor(?:ing)?|updates?))"
)
_IT = "(?:it|that|this|them|those|these|everything)"
_AS_IT_WAS = (
    r"(?:to )?(?:how|what|the way) (?:it|things|they|everything|we)(?: (?:was|were|had))(?: (?:it|before))?"
    r"|as (?:it|they) (?:was|were)(?: before)?"
    r"|to the (?:old|original|previous|earlier|last working) (?:state|version|way|behaviou?r|code|approach|one)"
)
_TAIL = r"(?: (?:again|please|for now|then|now|completely|entirely|first|back))*"
_TAKES_BACK = re.compile(
    rf"(?:revert|undo|roll ?back|back out)(?: {_OBJECT})?{_TAIL}|scrap {_OBJECT}{_TAIL}"
    rf"|(?:roll|take|back) {_OBJECT} (?:back|out){_TAIL}"
    rf"|(?:restore|put|change|turn|set|switch|bring|make) (?:{_IT} )?(?:back )?(?:{_AS_IT_WAS}){_TAIL}"
    rf"|(?:go|move|switch) back (?:{_AS_IT_WAS}){_TAIL}"
    r"|restore the (?:old|original|previous|earlier) (?:state|version|code|behaviou?r|one)" + _TAIL,
    re.IGNORECASE,
)
# They may as well order something new: only of work that failed.
_RESTORES = re.compile(rf"restore {_IT}{_TAIL}|(?:put|change|turn|switch) {_IT} back{_TAIL}", re.IGNORECASE)
_FAILED = re.compile(
    r"\b(?:did|does|is|was)(?: not|n[o'’]?t) (?:work|help|fix|better|right|good|what)|\bnot working\b|\bworse\b"
    r"|\bbroke\b|\bbroken\b|\bfails?\b|\bfailed\b|\bwrong\b|\bno good\b|\bdo(?:n'?t| not) (?:like|want)\b",
    re.IGNORECASE,
)
_REINSTATES = re.compile(
    r"(?:undo|revert|cancel) (?:the|that|your|this) (?:revert|undo|roll ?back)"
    rf"|(?:redo|re-?apply|reinstate) (?:{_OBJECT}){_TAIL}"
    r"|(?:bring|put) (?:it|that|them|those|the changes?|your changes?|those changes) back(?: in)?(?: again| please)?"
    r"|(?:do ?n[o'’]?t|do not) (?:revert|undo|roll (?:it |that )?back)(?: (?:it|that|this|them|anything|the changes?))?"
    r"|(?:keep|leave) (?:it|that|the changes?|your changes?)(?: (?:in|after all|as it was|as is))?",
    re.IGNORECASE,
)
_KOREAN_REINSTATES = re.compile(
    r"(?:되돌린|롤백한|원복한|취소한) ?(?:거|것|건|걸)(?:을|를|은|는)? ?(?:다시 )?"
    r"(?:취소|되돌려|되살려|복구|적용|원래대로)"
    r"|(?:아까|방금|그) ?(?:거|것|수정|변경)?(?:을|를)? ?다시 (?:적용|살려|되살려)"
    r"|^다시 (?:적용|살려|되살려)(?:해|해줘|해 ?주세요|줘|놔|하자)?(?:요)?$|되돌리지 ?(?:마|말)"
)
_STATE = r"(?:원래|이전|예전|처음|아까|수정 ?전|전)(?: ?(?:상태|코드|버전|방식))?(?:대로|으로|로|처럼)"
_GIVES = (
    r"(?: ?(?:해|하자|자|합시다|줘|줘요|주세요|주라|놔|놔줘|놓자|시켜|가자|줄래"
    r"|줄래요|줄 ?수 ?있어|봐|라|달라|달라고|고|요|야겠다|야겠어"
    r"|야겠네|부탁|부탁해|부탁드려요|부탁드립니다|ㄱㄱ))*"
)
_KOREAN_ORDER = re.compile(
    rf"(?:(?P<undo>되돌려|되돌리자|되돌립시다|원복|롤백|원상 ?복구)"
    rf"|(?P<state>{_STATE})(?: ?(?:돌려|돌리자|되돌려|돌아가|복구|바꿔))?"
    rf"|(?P<cancel>취소)){_GIVES}$"
)
_JUST_DONE = frozenset(
    words(
        "방금 아까 이번 직전 네가 니가 지금 거 것 건 걸 이거 그거 저거 이건 그건 이걸 그걸 저걸 이것"
        " 그것 한 한거 한건 수정한 변경한 바꾼"
        " 고친 추가한 작업한 적용한 만든 수정한거 변경한거 바꾼거 고친거 방금거 작업 수정 변경"
        " 수정사항 변경사항 변경분 사항 코드 부분"
        " 전부 다 모두 싹 도로 다시 좀 그냥 일단 이제 얼른 빨리 그럼 그러면 역시 우선 아니 아니야 아냐 음 미안 잠깐"
    )
)
_OBJECTS = frozenset(words("방금 거 것 건 걸 이거 그거 저거 이건 그건 이걸 그걸 저걸 이것 그것 한거 한건 방금거"))
_PARTICLE = re.compile(r"(?<=.)(?:을|를|은|는|도|들)$")
# The end of a sentence about what went wrong, which stands before the order without a comma.
_COMPLAINS = re.compile(
    r"(?:네요?|[었았했됐졌없있싫]어|안 ?돼|안돼|돼|됨|없음|잖아요?|[는은인]데"
    r"|니까|해서|져서|라서|겠다|겠어|[한된난]다|[았었했됐]다"
    r"|이상해|별로야|별로다|아니다|에러야|더라|구나|해요|어요|아요|[ㅠㅜ]+)$"
)
_HANGUL = re.compile("[가-힣]")


class Order(Enum):
    """The effect of a prompt on the work before it."""

    NONE = "none"
    TAKES_BACK = "takes back"
    REINSTATES = "reinstates"


def order_of(prompt: str) -> Order:
    """Return a prompt's effect on the work before it; NONE in doubt."""
    text = unicodedata.normalize("NFC", prompt.strip())
    if not text or len(text) > MAX_PROMPT_CHARS or is_noise(text):
        return Order.NONE
    spoken = prose(text)
    clauses, failed = list(_clauses(spoken)), _FAILED.search(spoken) is not None
    for place, clause in enumerate(clauses):
        if _takes_back(clause, failed) and all(map(_is_no_topic, clauses[:place])):
            return Order.TAKES_BACK
    return Order.REINSTATES if any(map(_reinstates, clauses)) else Order.NONE


def not_held(prompts: Sequence[str]) -> set[int]:
    """Return the places of the turns that later prompts took back.

    prompts: of one session, oldest first. An order that is repeated means the same turn. A reinstating prompt right
    behind one gives the turn its force again.
    """
    taken: set[int] = set()
    target = -1  # of the order that the last prompt was
    for place, prompt in enumerate(prompts):
        order = order_of(prompt)
        if order is Order.TAKES_BACK:
            target = target if target >= 0 else place - 1
            taken |= {target} if target >= 0 else set()
            continue
        if order is Order.REINSTATES and target >= 0:
            taken.discard(target)
            taken.add(place - 1)  # the order itself did not hold
        target = -1
    return taken


def _clauses(text: str) -> Iterator[str]:
    for part in _CLAUSE.split(text):
        clause = " ".join(part.split())
        if clause:
            yield clause


def _is_no_topic(clause: str) -> bool:
    """True for a clause that a later `that` does not point at."""
    is_aside = len(clause.split()) <= ASIDE_WORDS
    return is_aside or bool(_HANGUL.search(clause) or _FAILED.search(clause))


def _reinstates(clause: str) -> bool:
    if _HANGUL.search(clause):
        return _KOREAN_REINSTATES.search(clause) is not None
    return _REINSTATES.fullmatch(_LEAD.sub("", clause + " ", count=1).strip()) is not None


def _takes_back(clause: str, failed: bool) -> bool:
    if _HANGUL.search(clause):
        return _takes_back_in_korean(clause)
    lead = _LEAD.match(clause + " ")
    bare = clause[lead.end() :] if lead else clause
    return bool(_TAKES_BACK.fullmatch(bare) or (failed and _RESTORES.fullmatch(bare)))


def _takes_back_in_korean(clause: str) -> bool:
    """True for an order about the work just done."""
    order = _KOREAN_ORDER.search(clause)
    if order is None:
        return False
    before = clause[: order.start()].split()
    objects = 0
    while before and ((word := _PARTICLE.sub("", before[-1])) in _JUST_DONE or before[-1] in _JUST_DONE):
        objects += word in _OBJECTS or before[-1] in _OBJECTS
        before.pop()
    if order["cancel"] and not objects:
        return False
    return not before or _COMPLAINS.search(" ".join(before)) is not None
