"""Statements of the person's prompts, for a start without notes."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memlayer.consolidation.conflict.change import CHANGE
from memlayer.consolidation.conflict.later import Changes
from memlayer.consolidation.rules.own_words import may_quote, own_words, spoken
from memlayer.edge.capture.noise import recallable
from memlayer.give.candidate import LeftOut, Reason
from memlayer.give.outcomes import REPEATED
from memlayer.give.snippet import asks
from memlayer.kinds import Author, Kind
from memlayer.model import Memory
from memlayer.text.context_block import best_sentences, cut, day_of, flatten
from memlayer.text.sentences import prose, sentence_texts, width
from memlayer.text.terms import index_terms
from memlayer.text.value_slots import has_value
from memlayer.text.word_lists import word_set
from memlayer.topics.session_summary import is_farewell
from memlayer.turns.matter import FAILED, assents, is_bare_reason, leans, prohibits, refutes, requests, states_norm
from memlayer.turns.plans import carried_out
from memlayer.turns.remembered import is_husk, says_something, shown_part
from memlayer.turns.retraction import Order, order_of
from memlayer.turns.turn import prompt_and_answer

STATEMENT_CHARS, OUTCOME_CHARS, STATEMENTS_CHARS = 160, 300, 2000  # of one, of an attempt's end, and of all
MAX_LEFT_OUT = 20
LINE_CHARS = 16  # of a line's citation
NARROWEST = 16  # columns of a sentence
# Worth of a sentence that rules, of one that decides or tells a change, and of another that states: a line is told as
# one that is so many times younger.
RULES, SURE, PLAIN = 3.0, 2.0, 0.7
_STATES = re.compile(
    r"\b(?:we|i|it|they|he|she)(?:'(?:re|ve|s|ll|d))? \w+"
    r"|\b(?:is|are|was|were|has|have|uses?|runs?|lives?|stays?|owns?)\b"
    r"|(?:이야|야|임|음|함|됨|다|어|해|지|네|요|거든|니까|라서|고|대|래|자)[.!]?$"
    r"|[가-힣](?:은|는|이|가) [^\s가-힣]*\w[./:@#]\w",
    re.IGNORECASE,
)
_DECIDES = re.compile(
    r"\b(?:let'?s (?:use|go with|keep|drop|put|move)|instead|by hand|myself|waiting for|blocked|depends on)\b"
    r"|(?:로|으로) ?(?:가자|하자|할게|줄이자|바꾸자)|기로 ?했|말고|지 ?(?:마|말)|원복|버리고|미루|막혀"
    r"|기다리(?:는 ?중|고 ?있)|대기 ?중"
    r"|^(?:(?:ok|okay|yes|yep),? )?go with\b|해도 ?(?:돼|됨)"
    r"|이제 ?그만|승인|요청 ?넣|[았었했왔갔렸]대(?![가-힣])|한대(?![가-힣])|대신|나중에",
    re.IGNORECASE,
)
# Waits for somebody, or permits: no request of this day.
_WAITS = re.compile(
    r"면 ?그 ?때|(?:온|난|나온|정한) 다음에|(?:이제|앞으로|[네니]가|다시) (?:\S+ )*\S*도 ?(?:돼|됨)[.!~]*$"
)
# Says of other words that they are meant otherwise.
_OF_WORDS = re.compile(r"^\S+(?:다|자|라)는 ?(?:건|게|뜻은|말은) 아니\S*$")
_ORDERS = re.compile(
    r"^(?:please )?(?:don'?t|do not) (?:yet )?(?:commit|push)|(?:커밋|푸시)\S* ?하지 ?(?:마|말)"
    r"|^\W*(?:\S+ )?(?:커밋|푸시|push|commit|확인|봐|진행)\S{0,6}$|(?:봐|고쳐|추가해|확인)(?:줘|즘|좀)"
    r"|^(?:FAILED|ERROR|WARN|Traceback)\b",
    re.IGNORECASE,
)

# What comes first, or today: it is over when the day is.
_OF_DAY = re.compile(
    r"(?:오늘|지금|내일|먼저|우선|일단|이번 ?(?:세션|턴))(?!부터).*(?:하|보|내|고치|잡|치우|만들)자[.!~]*$"
    r"|\blet'?s (?:just |only )?(?!use|keep|go with|put|move|drop)\w+ .*\b(?:first|today|tonight|now|next)\b"
    r"|^(?:for )?(?:today|tonight|now|first|next),? (?:let'?s|we(?:'ll)?|i(?:'ll)?|only|just)\b",
    re.IGNORECASE,
)


@dataclass
class _Told:
    """A line.

    worth: of its best sentence. changed_ms: when its matter changed since.
    """

    text: str
    turn: Memory
    worth: float
    changed_ms: int = 0

    @property
    def line(self) -> str:
        day, changed = day_of(self.turn.at_ms), day_of(self.changed_ms)
        return "%s: %s%s" % (day, self.text, " (but see %s)" % changed[5:] if changed > day else "")


def changes_in(reports: Sequence[Memory]) -> Changes:
    """Return the changes that turns tell."""
    counts = Counter(term for turn in reports for term in set(index_terms(turn.text).split()))
    weights = {term: math.log(1 + len(reports) / count) for term, count in counts.items()}
    changes = Changes(lambda terms: {term: weights.get(term, 1.0) for term in terms})
    for turn in reports:
        changes.add(prompt_and_answer(turn.text)[0], turn.at_ms)
    return changes


def stated(
    reports: Sequence[Memory],
    over: Sequence[Memory],
    rules: Sequence[str],
    changes: Changes,
    outcomes: Sequence[Memory] = (),
    left_out: LeftOut | None = None,
) -> list[tuple[str, Memory]]:
    """Return (line, turn) of the person's statements, newest first.

    reports: turns, newest first. over: statements that hold no more, or are told elsewhere, as tasks are. rules: told
    elsewhere. outcomes: of attempts, which are told by their end. left_out: takes the turns whose statements are not
    told.
    """
    left_out = left_out if left_out is not None else {}
    told: list[_Told] = []
    ended: dict[tuple[str, str], list[Memory]] = {}
    tasks = [row.text for row in over if row.known_kind is Kind.TASK]
    for row in over:
        ended.setdefault((row.session_id, row.prompt_id), []).append(row)
    for turn in reports:
        prompt = prompt_and_answer(turn.text)[0]
        if is_farewell(prompt) or order_of(prompt) is not Order.NONE or turn.known_kind is Kind.DID_NOT_HOLD:
            continue
        of_turn = ended.get((turn.session_id, turn.prompt_id), ())
        # An unclear wish is told as said that day, unless its prompt may hand over another's words.
        gone = [*rules, *(row.text for row in of_turn if row.by is not Author.UNCLEAR or may_quote(prompt))]
        end = (
            _end_of(turn, outcomes) if refutes(prompt) else None
        )  # an objection without its subject says nothing alone
        is_of_end = end is None or flatten(prompt) in flatten(end.text)  # else it is the end of the next words
        of_attempt = refutes(prompt) and is_of_end
        line = _of_attempt(turn, end) if of_attempt else _of_turn(turn, prompt, gone, changes, tasks)
        if line is not None and all(line.text != other.text for other in told):
            told.append(line)
        elif line is None and not of_attempt and len(left_out) < MAX_LEFT_OUT and _says_more(prompt, rules):
            left_out[turn.citation] = Reason.OLDER.value
    fitting = _fitting(told)
    crowded = [row.turn.citation for row in told if row not in fitting][:MAX_LEFT_OUT]
    left_out |= dict.fromkeys(crowded, Reason.CROWDED.value)
    return [(row.line, row.turn) for row in fitting]


def _says_more(prompt: str, rules: Sequence[str]) -> bool:
    """True for a prompt with statements beside rules in force."""
    return bool(statements(prompt)) and not any(flatten(rule) in flatten(prompt) for rule in rules)


def _fitting(told: Sequence[_Told]) -> list[_Told]:
    """Return the lines that have room, by their worth and age."""
    left, kept = STATEMENTS_CHARS, set[int]()
    for age in sorted(range(len(told)), key=lambda age: (1 + age) / told[age].worth):
        left -= len(told[age].line) + LINE_CHARS
        if left < 0:
            break
        kept.add(age)
    return [row for age, row in enumerate(told) if age in kept]


def _of_turn(turn: Memory, prompt: str, gone: Sequence[str], changes: Changes, tasks: Sequence[str]) -> _Told | None:
    def is_gone(text: str) -> bool:
        over = [*gone, *tasks] if carried_out(text) else gone  # a task that is done is in the list of tasks
        return any(_repeats(text, other) for other in over) or bool(changes.ended(text, turn.text, turn.at_ms))

    said = statements(prompt, is_gone)
    if not said:
        return None
    texts, worth = zip(*said, strict=True)
    changed = max(changes.changed(text, turn.at_ms) for text in texts)
    return _Told(flatten(best_sentences(texts, worth, STATEMENT_CHARS + 2)), turn, max(worth), changed)


def _end_of(turn: Memory, outcomes: Sequence[Memory]) -> Memory | None:
    """Return the outcome of a turn's matter."""
    events = set(turn.source_ids)
    return next((row for row in outcomes if not events.isdisjoint(row.source_ids)), None)


def _of_attempt(turn: Memory, end: Memory | None) -> _Told | None:
    """Return the end of an attempt, None where nothing came of it."""
    return _Told(cut(flatten(end.text), OUTCOME_CHARS), turn, SURE) if end is not None else None


def _repeats(text: str, other: str) -> bool:
    said, terms = index_terms(other).split(), set(index_terms(text).split())
    return text in other or sum(term in terms for term in said) >= REPEATED * len(said)


def statements(prompt: str, is_gone: Callable[[str], bool] = lambda text: False) -> list[tuple[str, float]]:
    """Return (sentence, worth) of a prompt's sentences that state something.

    Beside a decision in force the other words are its content: "1번으로 가자. JSONB 컬럼".
    """
    own = prose(own_words(prompt))
    said = sentence_texts(own) if recallable(prompt) else []
    said = [text for text in said if says_something(text) and not (is_husk(text) or _OF_WORDS.match(text))]
    said = [text for text in said if not (_is_order(text) or assents(text) or is_gone(text))]
    is_typed = spoken(prompt).is_typed  # in a text that was handed over only a decision is surely the person's
    worth = [_worth(text) for text in said]
    is_wide = width(shown_part(" ".join(said))) >= NARROWEST
    is_decided = is_typed and is_wide and any(value >= SURE for value in worth)
    return [
        (text, value or PLAIN)
        for text, value in zip(said, worth, strict=True)
        if is_decided
        or (
            value >= (PLAIN if is_typed else SURE)
            and (width(shown_part(text)) >= NARROWEST or (value >= SURE and has_value(text) and CHANGE.search(text)))
        )
    ]


def _is_order(text: str) -> bool:
    begins = text.split(maxsplit=1)[0].rstrip(",").lower()
    is_imperative = begins in word_set("memlayer.give", "english_order") and begins not in ("use", "keep")
    if is_imperative and not any(pattern.search(text) for pattern in (CHANGE, _DECIDES)) and not prohibits(text):
        return True
    is_asked = asks(text) and not _WAITS.search(text)
    return bool(_ORDERS.search(text) or _OF_DAY.search(text)) or is_asked or text.endswith((":", "：", "?"))


def _worth(text: str) -> float:
    """Return a sentence's worth by its form, 0 for a fragment."""
    norms = states_norm(text)
    if is_bare_reason(text) and not (leans(text) and (CHANGE.search(text) or _DECIDES.search(text))):
        return 0.0
    if prohibits(text) and norms:
        return RULES
    is_sign = any(pattern.search(text) for pattern in (CHANGE, FAILED, _DECIDES, _WAITS)) or norms > 1
    if is_sign or (norms and _STATES.search(text)):
        return SURE
    is_plain = _STATES.search(text) and not (requests(text) or assents(text) or text.rstrip(".! ").endswith("자"))
    return PLAIN if is_plain else 0.0
