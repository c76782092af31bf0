"""Outcomes of a session's turns: a settled answer, or the person's decisions.

A turn that asks, proposes or is contested holds a guess. The matter goes on until an answer stands
uncontested.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from memlayer.text.sentences import is_question, prose, sentence_texts, sentences, width
from memlayer.text.terms import index_terms, query_terms
from memlayer.turns.questions import REQUESTS

LAST_SENTENCES = 3  # of an answer, where it asks or proposes
FIRST_CHARS = 70  # of a prompt, where it contests
ASSENT_CHARS = 60  # of a prompt that only agrees
REPLY_CHARS = 700  # a longer prompt brings text of somebody else
KEPT_CHARS = 2400  # of an outcome. A prompt is told part of it
PROGRESS = 0.5  # of an answer's sentences, from which it tells of work done, and not of rules
RULES = 0.2  # of the sentences of a recap without its sign in the first so many characters
BEGINS = 20
SHORT_CHARS = 80  # of a reply that needs no word of the answer
OBJECTION = 60  # columns of an objection without its subject
LEAST_CHARS, TYPED_CHARS, LEAST_NORMS = 60, 200, 2  # of decisions: beyond typed ones a description has norms, too
OBJECTS, ANSWERS, FOLLOWS = 0.05, 0.15, 0.3  # of a reply's information, in the turn before: an objection, another reply
LOOKS_AHEAD = 14  # turns of one matter

_ASKS = re.compile(
    r"[?？](?![\w=&/])|\b(?:i'?ll|i'?d|i will|i would|i can|i'?m going to|let me|my (?:plan|proposal|suggestion)"
    r"|should (?:i|we)|shall (?:i|we)|want me to|would you (?:like|prefer)|do you want|propose|recommend)\b"
    r"|하겠|할까|할게|드릴까|드릴게|볼게|보겠|어떨까|어떠|제안|원하시|괜찮을까|계획입니다",
    re.IGNORECASE,
)
_CONTESTS = re.compile(
    r"\b(?:no|nope|not|never|wrong|but|hold on|wait|instead|rather|actually|too \w+|careful|only (?:half|part)"
    r"|(?:already|once) (?:tried|shipped|did|had)|(?:tried|shipped|did) (?:exactly |just )?th(?:at|is)"
    r"|(?:is|do|does|did|wo|was|ca)n'?t|still|corrections?|nothing changed|leaving|off the table"
    r"|same (?:error|problem|thing))\b"
    r"|아니|말고|안 ?돼|안 ?되|틀렸|잘못|소용 ?없|여전히|그대로(?:야|네|다|인|예)|아직도|별로|대신|하지 ?마|지 ?말"
    r"|똑같(?:아|네|다|은데|이 (?:나|남|난|떠|뜨|느|안))|마찬가지(?!로)",
    re.IGNORECASE,
)
FAILED = re.compile(
    r"\b(?:did nothing|no effect|(?:did|does)(?:n'?t| not) (?:help|work|fix)|failed|broke|same (?:error|problem|result)"
    r"|still (?:fails?|slow|broken))\b"
    r"|소용 ?없|효과 ?(?:가 ?)?없|안 ?됐|안 ?되|실패(?:했|함|하|였|임)|그대로(?:야|네|다|임)"
    r"|똑같(?:아|네|다|은데|이 (?:나|남|난|떠|뜨|느|안))|마찬가지(?!로)",
    re.IGNORECASE,
)
_ASSENTS = re.compile(
    r"^\W*(?:that'?s (?:it|the one|right|correct|what)|yes|yep|yeah|yup|ok|okay|sure|right|exactly|correct|confirmed"
    r"|agreed|perfect|great|good|sounds good|looks good|lgtm|go (?:ahead|for it)|do it|please do|ship it|thanks"
    r"|thank you|응|네|넵|그래|좋아|좋네|맞아|맞습니다|그렇게|오케이|ㅇㅇ|ㅇㅋ|굿|고마워|확인)(?:\b|(?=[가-힣]))",
    re.IGNORECASE,
)
_OFFERS = re.compile(
    r"\b(?:want|like|prefer) (?:me|to)\b|\b(?:should|shall) i\b|\bready to\b|\bbefore you\b|드릴까요|할까요|볼까요",
    re.IGNORECASE,
)
_NAMES = re.compile(r"`[^`\n]*`")
_CHOICE = re.compile(
    r"\b(?:which|what|where|who|when|how)\b|어느|어떤|어떻게|무엇|뭐|뭘|몇|언제|어디|누구", re.IGNORECASE
)
_GOES_ON = re.compile(
    r"^\W*(?:go on|continue|carry on|keep going|next|(?:계속|진행)(?:해|해줘|하자)?)\W*$", re.IGNORECASE
)
_ORDERS = re.compile(
    r"^\W*(?:(?:ok|okay|yes|great|perfect|good|right|thanks)\W+)*(?:now|next|also|why|question)\b|\b(?:let'?s|please"
    r"|help me|(?:can|could|would)(?:n'?t)? (?:you|we|i)|i want you|double check|(?:tell|show) me|i can'?t see"
    r"|how (?:do|does|can|is|are|did))\b"
    r"|해 ?줘|해 ?주세요|하자|해 ?봐|주라|[?？]",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"^\W*(?:done|committed|pushed|running|ran|let me|now (?:i|let)|i'?ll (?:start|begin|now|look|check|run)"
    r"|i(?:'ve| have)? (?:now |also |just )?(?:added|updated|created|changed|removed|renamed|fixed|pushed|committed|ran"
    r"|moved|wrote|made|checked|looked|read)|all (?:\d+ )?tests|(?:the )?(?:tests?|build) (?:pass|succeed)"
    r"|files? (?:renamed|changed)|\d+ (?:tests|files) "
    r"|(?:커밋|푸시|수정|추가|변경|완료|적용|테스트)[^.]{0,30}(?:했|됐|완료|통과))",
    re.IGNORECASE,
)
_RECAP = re.compile(
    r"\b(?:recap|final(?:ly)?|settled|amended|in short|to sum up|summary|confirmed|agreed|decided|understood|got it"
    r"|noted|so\b[^.]{0,40}\bexactly|the (?:rule|policy) is)\b|정리하면|요약|최종|확정|결론|알겠습니다|결정",
    re.IGNORECASE,
)
_SIGN = re.compile(rf"^\W*(?:{_RECAP.pattern})[^\w]*(?:here'?s (?:a|the) summary\W*)?", re.IGNORECASE)
_SS = "".join(chr(0xAC00 + 28 * at + 20) for at in range(399) if chr(0xAC00 + 28 * at + 20) not in "있겠")
# The assistant's own deeds: its first word is "I", its end a past ("고쳤습니다").
_PAST = re.compile(
    r"^i(?:'ve)? (?!will|would|can|could|should|do|don'?t|think|suggest|propose|recommend|see|understand)\w+"
    rf"|[가-힣](?<!정)[{_SS}](?:습니다|어요?|음)[.!]?$",
    re.IGNORECASE,
)
_NORM = re.compile(
    r"\b(?:only|never|always|exactly|at (?:most|least)|must|ha(?:s|ve) to|should(?:n'?t)?|shall|do(?:es)? not|don'?t|no"
    r"|not|both|every|all|first|then|before|after|within|nothing|wins?|stays?|keep|cap|counts?|instead)\b"
    r"|반드시|항상|절대|무조건|[가-힣]만 |까지|부터|말고|이상|이하|먼저|기로|으로 (?:가|하|해)",
    re.IGNORECASE,
)
_RULE = re.compile(
    r"\b(?:only|never|always|exactly|at (?:most|least)|must|ha(?:s|ve) to|do not|don'?t|keep|stays?|wins?|first|then"
    r"|instead|both|cap|counts?)\b|반드시|항상|절대|무조건|[가-힣]만 |말고|지 ?(?:마|말)|이상|이하|먼저|기로",
    re.IGNORECASE,
)
_VALUE = re.compile(r"\d|`[^`]+`|[\"“'‘][^\"”'’\s]+[\"”'’]|\w[_.]\w|[{}=<>*]")
_ASIDE = re.compile(
    r"\b(?:unrelated|heads[ -]up|flaky|rerun|by the way|btw|different topic|rollout|staged?|while i'?m)\b"
    r"|참고로|그나저나|별개로",
    re.IGNORECASE,
)
AMENDS = re.compile(
    r"\b(?:amend|supersed|revis)\w+|개정|(?:규칙|정책|결정)[가-힣]* ?(?:바꾸|바꿨|변경|수정)", re.IGNORECASE
)
WeightsOf = Callable[[Iterable[str]], Mapping[str, float]]
# A reason alone, whose conclusion stands elsewhere or nowhere.
_ONLY_WHY = re.compile(
    r"(?:because|so that|in order (?:to|that))\b[^,;]*"
    r"|(?![^,;]*[가-힣](?:은|는) )[^,;A-Za-z0-9]*(?:니까|라서|[아어해여져려워와켜겨쳐돼]서|므로|때문에|려고)요?[.!]*",
    re.IGNORECASE,
)
# A reason whose conclusion only "so" or "that" names.
_LEANS = re.compile(
    r"(?:왜냐(?:하면|면)?|(?:그 ?)?이유는|그래서|그러니까|그 ?때문에|그(?:게|건|거) [^,]*거든)\b.*"
    r"|.*(?:서|니까|때문에) ?(?:그래|그런 ?거(?:야|임|다)|그렇[다습지]|그럼|이야|야|임)(?:요|니다)?[.!~]*"
    r"|(?:(?:it|this|that)(?:'s| is| was) (?:all |only )?because|that'?s why"
    r"|(?:the|our|my) (?:\w+ )?(?:reason|motive|rationale) (?:is|was|for (?:that|this|it))"
    r"|for (?:that|this) reason|because of (?:that|this|it))\b.*",
    re.IGNORECASE,
)
_SUBJECT = re.compile(r"(?<=.)(?!I\b)[A-Z]|\d")


class Said(NamedTuple):
    """A turn. after: prompts without an answer that follow it."""

    prompt: str
    answer: str
    after: str = ""


class Outcome(NamedTuple):
    """The end of a matter.

    turn: the place of the one that tells it. covers: places of turns that it stands for. by_person: in their own words.
    """

    turn: int
    text: str
    covers: tuple[int, ...]
    by_person: bool


def outcomes(turns: Sequence[Said], weights_of: WeightsOf) -> Iterator[Outcome]:
    """Yield the outcomes of turns that were left open or contested.

    turns: oldest first. weights_of: of terms, their information.
    """
    place = 0
    while place < len(turns):
        end = place
        while end < min(len(turns) - 1, place + LOOKS_AHEAD) and (
            _goes_on(turns, end, weights_of) or _is_tried(turns, end, weights_of)
        ):
            end += 1
        outcome = _came_to(turns, place, end)
        if outcome is not None:
            yield outcome
        place = end + 1


def _goes_on(turns: Sequence[Said], place: int, weights_of: WeightsOf) -> bool:
    """True if the reply decides, so that the next turn goes on."""
    reply, answer = _reply_to(turns, place), turns[place].answer
    if _is_settled(turns, place) or not reply or len(reply) > REPLY_CHARS:
        return False
    if _GOES_ON.match(reply):
        return True
    if requests(reply):
        return False
    if _asks_back(answer) or len(reply) <= SHORT_CHARS:
        return True
    asked = set(query_terms(reply))
    weights = weights_of(asked)
    shared = asked & set(index_terms(answer + "\n" + turns[place].prompt).split())
    is_answer = bare(answer).rstrip("*_ )").endswith(("?", "？"))  # to an offer
    least = OBJECTS if contests(reply) or _adds(reply) else ANSWERS if is_answer else FOLLOWS
    return sum(weights[term] for term in shared) >= least * sum(weights.values())


def _is_tried(turns: Sequence[Said], place: int, weights_of: WeightsOf) -> bool:
    """True for an agreed proposal whose trial is then contested."""
    following = place + 1
    return (
        asks(turns[place].answer)
        and assents(_reply_to(turns, place))
        and contests(_reply_to(turns, following))
        and _goes_on(turns, following, weights_of)
    )


def requests(reply: str) -> bool:
    """True for a prompt that begins with a question or an order."""
    first = next(iter(sentence_texts(reply)), reply)
    return is_question(first) or bool(_ORDERS.search(first)) or bool(REQUESTS.search(first))


def _asks_back(answer: str) -> bool:
    """True for an answer that ends with a question, no offer."""
    last = "".join(sentence_texts(bare(answer))[-1:])
    is_offer = _OFFERS.search(last) and not _CHOICE.search(last)
    return last.rstrip("*_ )").endswith(("?", "？")) and not is_offer


def is_recap(text: str) -> bool:
    """True for an outcome that says of itself that it sums up.

    One that does not begin so states rules, and begins with no report: in cli_en those were summaries of work.
    """
    sign, spans = _RECAP.search(text), sentence_texts(text)
    if sign is None or sign.start() < BEGINS:
        return sign is not None
    rules = sum(bool(_RULE.search(span)) for span in spans)
    return not _DONE.match(text) and rules >= RULES * len(spans)


def _came_to(turns: Sequence[Said], place: int, end: int) -> Outcome | None:
    """Return the outcome of turns, None where it says no more."""
    covers, by_person = tuple(range(place, end + 1)), False
    if end == place and _is_settled(turns, end):
        return None
    at = end
    decided = [(at, text) for at in covers for text in _decided(turns, at)]
    refuted = any(refutes(text) and text == _reply_to(turns, at) for at, text in decided)
    is_told = _is_settled(turns, end) and not is_progress(turns[end].answer)
    answer = _without_offer(bare(turns[end].answer)) if is_told else ""
    restates = is_recap(answer) and not _reports(answer)
    # A report says less than the words it answers, also where it calls itself a summary.
    if answer and (restates or not (_RECAP.search(answer) and _decides([text for _, text in decided]))):
        told = [answer]
        if not restates:
            told = [
                text for at, text in decided if at == end - 1 and len(text) <= SHORT_CHARS and not is_question(text)
            ] + told
    else:
        told, by_person = [text for _, text in decided], True
        at = max((at for at, _ in decided), default=end)
        if not _decides(told) and not refuted:
            return None
    asked = sentence_texts(turns[place].prompt)
    changes = asked[:1] if refuted else [one for one in asked if AMENDS.search(one)]
    told = [*(() if AMENDS.search("\n".join(told)) else changes[:1]), *told]
    return Outcome(at, "\n".join(told)[:KEPT_CHARS], covers, by_person)


def _reports(answer: str) -> bool:
    """True for a recap that tells of work alone."""
    said = [_SIGN.sub("", span) for span in sentence_texts(answer)]
    return any(said) and all(
        not span or ((_DONE.match(span) or _PAST.search(span)) and not _RECAP.search(span)) for span in said
    )


def _without_offer(answer: str) -> str:
    """Return an answer without the questions at its end."""
    spans = sentences(answer)
    end = next((span.end for span in reversed(spans) if not is_question(answer[span.start : span.end])), len(answer))
    return answer[:end]


def _decides(told: Sequence[str]) -> bool:
    """True for decisions that say something without the answers."""
    size = sum(map(len, told))
    rules = sum(map(states_norm, told) if size <= TYPED_CHARS else (len(_RULE.findall(one)) for one in told))
    return size >= LEAST_CHARS and rules >= LEAST_NORMS and not any(one.endswith(("?", "？")) for one in told)


def _decided(turns: Sequence[Said], place: int) -> Iterator[str]:
    """Yield the sentences of a decision, behind an agreed proposal."""
    reply = _reply_to(turns, place)
    if len(reply) > REPLY_CHARS * (1 + turns[place].after.count("\n")) or _is_settled(turns, place) or requests(reply):
        return
    if not (contests(reply) or _adds(reply) or _asks_back(turns[place].answer) or turns[place].after):
        return
    if _ASSENTS.match(reply) and not contests(reply):
        yield from (one for one in sentence_texts(bare(turns[place].answer))[-LAST_SENTENCES:] if not is_question(one))
    for sentence in sentence_texts(prose(reply)):
        if _ASIDE.search(sentence):
            return
        yield sentence


def states_norm(sentence: str) -> int:
    """Count a sentence's signs of a rule: norm, value."""
    return bool(_NORM.search(sentence)) + bool(_VALUE.search(sentence))


def _reply_to(turns: Sequence[Said], place: int) -> str:
    """Return the person's reply to an answer."""
    following = turns[place + 1].prompt if place + 1 < len(turns) else ""
    reply = (turns[place].after or following).strip()
    aside = _ASIDE.search(reply)
    return (reply[: aside.start()].strip() if aside else "") or reply


def _is_settled(turns: Sequence[Said], place: int) -> bool:
    reply = _reply_to(turns, place)
    if assents(reply):
        return True
    return not (contests(reply) or _adds(reply) or _GOES_ON.match(reply) or asks(turns[place].answer))


def _adds(reply: str) -> bool:
    """True for a reply that agrees and adds a rule."""
    is_norm = len(reply) > ASSENT_CHARS and _NORM.search(reply)
    return bool(is_norm and _ASSENTS.match(reply) and not _ORDERS.search(reply))


def asks(answer: str) -> bool:
    """True for an answer that asks or proposes at its end."""
    text = _NAMES.sub("", bare(answer))
    return any(map(_ASKS.search, sentence_texts(text)[-LAST_SENTENCES:]))


def contests(prompt: str) -> bool:
    """True for a prompt that objects to the answer before it."""
    return bool(_CONTESTS.search(prompt.strip()[:FIRST_CHARS]))


def refutes(reply: str) -> bool:
    """True for an objection too short to name its subject."""
    return width(reply) <= OBJECTION and contests(reply) and not prohibits(reply)


def is_attempt(text: str) -> bool:
    """True for an attempt's outcome: its subject, then the objection."""
    return any(map(refutes, text.split("\n")[1:2]))


def prohibits(sentence: str) -> bool:
    """True for a sentence that sets a bound: never, only, "~지 마"."""
    return bool(_RULE.search(sentence))


def assents(prompt: str) -> bool:
    """True for a prompt that agrees, and says no more."""
    prompt = prompt.strip()
    return len(prompt) <= ASSENT_CHARS and bool(_ASSENTS.match(prompt)) and not contests(prompt)


def opens_with_assent(text: str) -> bool:
    """True for words that answer a proposal before they go on."""
    return bool(_ASSENTS.match(text))


def is_progress(answer: str) -> bool:
    """True for an answer that mainly tells of work done."""
    text = bare(answer)
    spans = sentence_texts(text)
    done = sum(bool(_DONE.match(span)) for span in spans)
    return not spans or (done >= PROGRESS * len(spans) and not _RECAP.search(text[:200]))


def bare(text: str) -> str:
    """Return a text without its code."""
    lines = (line.rstrip() for line in prose(text).split("\n"))
    return "\n".join(line for line in lines if line.strip()).strip()


def is_bare_reason(sentence: str) -> bool:
    """True for a reason that names neither its conclusion nor its subject."""
    return leans(sentence) or (bool(_ONLY_WHY.fullmatch(sentence)) and not _SUBJECT.search(sentence))


def leans(sentence: str) -> bool:
    """True for a reason that points back at the words before it."""
    return bool(_LEANS.fullmatch(sentence.strip()))
