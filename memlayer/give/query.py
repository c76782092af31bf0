"""The search query of a prompt, and its signals of need.

A long prompt, a pasted log or a stack trace is reduced to the lines that state the request.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memlayer.edge.redaction.privacy import redact, without_marks
from memlayer.give.snippet import sentences_of
from memlayer.indexing.retracted import SessionWords
from memlayer.text.sentences import is_question
from memlayer.text.terms import index_terms, query_terms
from memlayer.text.word_lists import word_set
from memlayer.turns.questions import REQUESTS as _REQUESTS
from memlayer.turns.turn import ACCEPTED_PLAN

SHORT_CHARS = 600
MAX_TERMS = 48
PLAN_CHARS, PLAN_TERMS = 3000, 300  # of a plan, whose head says its matter
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_ERROR_LINE = re.compile(r"(?:Error|Exception|error:|fatal:|panic:|FAILED|Traceback|오류|에러|실패)")
HANGUL_CHARS = 2.2  # Latin letters that carry about as much as one syllable
SHORTEST = 20  # characters under which no prompt of the labelled sessions needed anything
_HANGUL = re.compile("[\uac00-\ud7a3]")
_LOOKS_BACK = re.compile(
    r"\b(?:what|which|where|when|why|how|who)\b[^.?!\n]{0,40}\b(?:did|had) (?:we|i|you)\b"
    r"|\b(?:what|which|where|who) (?:was|were) (?:the|our|my)\b|\bremind me\b|\bdo you remember\b|\blast time\b"
    r"|\bhad this before\b|\btell me again\b|\bwe (?:decided|agreed|chose|settled) (?:on|that|to)\b"
    r"|[었였했갔됐렸꿨졌](?:지|더라|었지|나|던가)[요?\s]*(?:$|[?])|뭐였|지난번|저번|예전에|지난 세션|이전 세션|기억나",
    re.IGNORECASE | re.MULTILINE,
)
DIRECT_CHARS = 160
NEW_TOPIC = 0.9  # novelty of a prompt whose topic its session has not touched

# -- questions without a mark, and bare names: "배포 요일 언제야", "where is staging", "redis port"

ASKING_CHARS = 160
MOST_WORDS = 5  # of a bare noun phrase
# 언제나, 누구든, 어딘가: indefinite, no question. 왜냐하면 gives a reason.
_INTERROGATIVE = re.compile(
    r"(?<![가-힣])(?!언제(?:나|든|까지나)|언젠가|누구(?:나|든)|누군가|어디(?:나|든)|어딘가(?! ?[요야])"
    r"|무엇(?:이든|보다)|무언가|뭔가|뭐(?:든|라도)|어떻게든|얼마든|왜냐|몇몇)"
    r"(?:뭐|뭘|뭔|뭣|무엇|무슨|어떤|어떻게|어느|어디|어딘|어딨|언제|언젠|누가|누구|누굴|왜|얼마|몇)"
)
_YES_OR_NO = re.compile(r"(?:맞[나지아니]|있[나니]|없[나니]|[인던는은]가|[하되]나|나요|가요|냐|니까|죠)(?:요)?$")
_TELLS = re.compile(
    r"(?:알려|말해) ?(?:줘|주라|주세요|줄래|봐)(?:요)?$|^(?:please )?(?:tell|remind) me\b", re.IGNORECASE
)
# An order, an offer or a plan ends so, and a clause that something else follows.
_ORDERS = re.compile(
    r"(?:줘|줘라|주라|주세요|줄래|해 ?봐|봐 ?봐|찾아 ?봐|[하보가]자|합시다|해라|할게|볼게|할까"
    r"|(?:확인|수정|추가|설명|정리|검토|진행|삭제|적용|실행|처리)해|고쳐|바꿔"
    r"|[은는]데|(?<![습입됩합])니까|[아어]서|지만|든|말고|[라다]고)(?:요)?[.!~ ]*$"
)
_ENGLISH = re.compile(
    r"^(?:so |and |but |ok |okay |well |hey |again |wait )*(?:(?:in|on|at|to|for|from|with|by|since|until|under|of) "
    r"(?=what\b|which\b|whom\b|whose\b|when\b|where\b)|(?=what|whi|who|whe|why|how|is|are|was|were|does|did|has|had))"
    r"(?:(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|does|did|has|had)(?:'?[sd]|'?re|'?ll)?"
    r"|how(?:come|'?d))\b(?!.*[.!]$)"
    r"|^(?:do|have) (?:we|i|you|they) \w+(?! it\b)"
    r"|\b(?:what|which|where|when|who|how) (?:was|is|were|are) (?:it|that)$",
    re.IGNORECASE,
)
OPEN_WORK_CHARS = 80
_OPEN_WORK = re.compile(
    r"\bwhat(?:'?s| is| are| do (?:i|we) have| else is)? (?:still )?"
    r"(?:to do|open|left(?: to do)?|next|pending|remaining|outstanding|unfinished)\b|\bwhat remains\b"
    r"|\bwhat (?:should|do|can) (?:i|we) (?:do|work on|tackle|pick up) (?:next|now|today)\b|\bto-?do list\b"
    r"|\b(?:open|remaining|pending|unfinished) (?:tasks?|work|items?|todos?)\b|\b(?:my|our) (?:to-?dos?|tasks?)\b"
    r"|(?:남은|남아 ?있는|안 ?끝난|밀린|미완료|열린) ?(?:작업|일|할 ?일|태스크|업무|거|것|게)"
    r"|할 ?일(?:이|은|들|들이)? ?(?:뭐|뭔|무엇|있|목록|알려|보여|남)"
    r"|(?:뭐|무엇|뭘)(?:가|이|를)? ?(?:남았|남아|해야 ?(?:하|해|되|돼|할)|하면 ?(?:돼|되))"
    r"|다음(?:에|엔|은)? ?(?:뭐|무엇|뭘|할 ?일)",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"\b(?:this|that|these|those|it|them|all|everything|first|last|next|previous|above|below|now|please|not|no|yes|i|you"
    r"|we|is|are|was|were|has|have|can|should|will|fails?|failed)\b|(?<![가-힣])(?:이|그|저|이거|그거|저거|이걸|그걸|이것|그것|위|아래|다음|지금|이제|방금|응|네|아니|좀)(?![가-힣])",
    re.IGNORECASE,
)
# The last word of a Korean statement or order is a verb.
_VERB_END = re.compile(
    r"(?:[했됐었았였][가-힣]{0,2}|[하되이한된있없]다|[하보가]자|[하되보있없][고지네게]|할게|해요?|돼요?|됨|음|는데|[으]로|에서|[는은을를])$"
)
_NAME = re.compile(r"[\w가-힣][\w가-힣./:#@+\-]*(?: [\w가-힣][\w가-힣./:#@+\-]*)*")


def plan_query(prompt: str) -> "Query":
    """Return the query of an accepted plan: the terms of its head."""
    text = ACCEPTED_PLAN.sub("", without_marks(prompt), count=1)[:PLAN_CHARS]
    return Query(text, tuple(query_terms(text)[:PLAN_TERMS]))


@dataclass(frozen=True)
class Query:
    """A query: its text for vectors, its MAX_TERMS distinct terms for words."""

    text: str
    terms: tuple[str, ...]


def typed_query(text: str) -> Query:
    """Return the query of a typed text, redacted: it may be sent.

    The whole text is, because a private span may cover several lines. A prompt comes redacted.
    """
    return reduce_prompt(redact(text))


def reduce_prompt(prompt: str) -> Query:
    """Return the query of a redacted prompt, without its marks."""
    text = reduced(without_marks(prompt))
    return Query(text, tuple(query_terms(text)[:MAX_TERMS]))


def reduced(prompt: str) -> str:
    """Return the lines that state a prompt's request, at most SHORT_CHARS characters.

    A short prompt stays whole. A longer one keeps its questions, first and last prose lines and error lines.
    """
    prompt = prompt.strip()
    if len(prompt) <= SHORT_CHARS:
        return prompt
    prose = [line.strip() for line in _FENCE.sub("\n", prompt[:20_000]).split("\n") if line.strip()]
    if not prose:
        prose = [line.strip() for line in prompt[:2000].split("\n") if line.strip()]
    questions = [line for line in prose if len(line) <= SHORT_CHARS and is_question(line)]
    errors = [line for line in prompt[:200_000].split("\n") if _ERROR_LINE.search(line)][-3:]
    picked: list[str] = []
    left = SHORT_CHARS
    for line in [*questions[:3], prose[0], prose[-1], *errors]:
        line = line.strip()[:300]
        if line not in picked and len(line) <= left:
            picked.append(line)
            left -= len(line)
    return "\n".join(picked)


@dataclass(frozen=True)
class PromptSignals:
    """Features of a prompt for the need regression.

    chars: its length, Hangul counted for its density. novelty: share of its information that the session has not said,
    in [0, 1]. prompts: number of earlier prompts in its session. looks_back: it explicitly asks for the past. asks: it
    has a question mark, or asks in words. asks_a_fact: it is only a short question for a fact. names: it is a bare noun
    phrase.
    """

    chars: float
    novelty: float
    prompts: int
    looks_back: bool
    asks: bool = False
    asks_a_fact: bool = False
    names: bool = False

    @property
    def is_direct(self) -> bool:
        """True for a question about the past, or a new fact."""
        return self.looks_back or (self.asks_a_fact and self._is_new)

    @property
    def names_only(self) -> bool:
        """True for a short prompt that only names a new subject."""
        return self.names and self._is_new and self.chars < SHORTEST and not (self.looks_back or self.asks)

    @property
    def is_too_short(self) -> bool:
        return self.chars < SHORTEST and not (self.looks_back or self.asks or self.names_only)

    @property
    def _is_new(self) -> bool:
        return not self.prompts or self.novelty >= NEW_TOPIC

    def inputs(self) -> tuple[float, ...]:
        """Return the inputs of the regression."""
        return (
            math.log1p(min(self.chars, 2000)), float(self.prompts == 0), math.log1p(self.prompts), self.novelty,
            float(self.looks_back),
        )  # fmt: skip


def prompt_signals(
    prompt: str, query: Query, weight: Mapping[str, float], session_words: SessionWords
) -> PromptSignals:
    """Return a prompt's signals. weight: inverse document frequency of each query term."""
    whole = sum(weight.values())
    asks = asks_in_words(query.text)
    new = sum(share for term, share in weight.items() if term not in session_words.terms)
    return PromptSignals(
        chars=len(prompt.strip()) + (HANGUL_CHARS - 1) * len(_HANGUL.findall(prompt)),
        novelty=new / whole if whole else 0.0,
        prompts=session_words.prompts,
        looks_back=bool(_LOOKS_BACK.search(query.text)),
        asks=asks or "?" in query.text or "？" in query.text,
        asks_a_fact=len(query.text) <= DIRECT_CHARS
        and (asks or is_question(query.text))
        and not _REQUESTS.search(query.text),
        names=names_a_thing(query.text),
    )


def asks_in_words(text: str) -> bool:
    """True for one short line that asks, with or without a mark."""
    line = text.strip().rstrip("?？ ")
    if not line or len(line) > ASKING_CHARS or "\n" in line:
        return False
    if _TELLS.search(line):
        return True
    if _ENGLISH.search(line):
        return True
    return not _ORDERS.search(line) and bool(_INTERROGATIVE.search(line) or _YES_OR_NO.search(line))


def asks_open_work(text: str) -> bool:
    """True for a short question for the work that is open."""
    line = text.strip()
    is_order = bool(re.search(r"[.!]$", line)) and "?" not in line
    return len(line) <= OPEN_WORK_CHARS and "\n" not in line and not is_order and bool(_OPEN_WORK.search(line))


def names_a_thing(text: str) -> bool:
    """True for a bare noun phrase of two to MOST_WORDS words.

    No order ("run tests", "커밋 푸시"), nor something that points into the session ("option above").
    """
    line = text.strip().rstrip(".!~ ")
    if not _NAME.fullmatch(line) or _POINTS.search(line) or _ORDERS.search(line):
        return False
    words = line.casefold().split()
    if not 2 <= len(words) <= MOST_WORDS or words[0] in word_set(__package__, "english_order"):
        return False
    return words[-1] not in word_set(__package__, "korean_order") and not _VERB_END.search(words[-1])


def states(text: str, terms: Sequence[str], alike: Sequence[tuple[Sequence[str], Sequence[str]]] = ()) -> bool:
    """True if a statement of a memory has all the terms.

    alike: terms of the prompt, and terms of the other script that stand for them.
    """
    return bool(terms) and any(
        set(terms) <= _with_alike(set(index_terms(sentence.text).split()), alike) and not is_question(sentence.text)
        for sentence in sentences_of(text)
    )


def _with_alike(terms: set[str], alike: Sequence[tuple[Sequence[str], Sequence[str]]]) -> set[str]:
    return terms.union(*(own for own, other in alike if terms.issuperset(other)))
