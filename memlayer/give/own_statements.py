"""Statements of the person's prompts, for a start without notes."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence

from memlayer.consolidation.conflict.change import CHANGE
from memlayer.consolidation.rules.own_words import own_words
from memlayer.edge.capture.noise import recallable
from memlayer.give.candidate import LeftOut, Reason
from memlayer.give.precedence import DatedText, is_newer_value
from memlayer.give.snippet import asks
from memlayer.kinds import Kind
from memlayer.model import Memory
from memlayer.text.context_block import cut, day_of, flatten
from memlayer.text.sentences import prose, sentences, width
from memlayer.topics.session_summary import is_farewell
from memlayer.turns.matter import states_norm
from memlayer.turns.retraction import Order, order_of
from memlayer.turns.turn import prompt_and_answer

STATEMENT_CHARS, STATEMENTS_CHARS = 160, 1800  # of one, and of all
MAX_LEFT_OUT = 20
LINE_CHARS = 28  # of a line's day and citation
NARROWEST = 16  # columns of a sentence
_FAILED = re.compile(
    r"\b(?:did nothing|no effect|(?:did|does)(?:n'?t| not) (?:help|work|fix)|failed|broke"
    r"|still (?:fails?|slow|broken))\b"
    r"|소용 ?없|효과 ?(?:가 ?)?없|안 ?됐|안 ?되|실패|그대로(?:야|네|다|임)",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\b(?:we|i|it|they|he|she)(?:'(?:re|ve|s|ll|d))? \w+"
    r"|\b(?:is|are|was|were|has|have|uses?|runs?|lives?|stays?|owns?)\b"
    r"|(?:이야|야|임|음|함|됨|다|어|해|지|네|요|거든|니까|라서|고)[.!]?$",
    re.IGNORECASE,
)
_DECIDES = re.compile(
    r"\b(?:let'?s (?:use|go with|keep|drop|put|move)|instead|by hand|myself|waiting for|blocked|depends on)\b"
    r"|(?:로|으로) ?(?:가자|하자|할게|줄이자|바꾸자)|기로 ?했|말고|쓰지 ?마|원복|버리고|미루|막혀"
    r"|해도 ?(?:돼|됨)"
    r"|이제 ?그만|승인|요청 ?넣|[았었했왔갔렸]대(?![가-힣])|한대(?![가-힣])|대신|나중에",
    re.IGNORECASE,
)
_ORDERS = re.compile(
    r"^(?:please )?(?:don'?t|do not) (?:yet )?(?:commit|push)"
    r"|^\W*(?:\S+ )?(?:커밋|푸시|push|commit|확인|봐|진행)\S{0,6}$|(?:봐|고쳐|추가해|확인)(?:줘|즘|좀)"
    r"|^(?:FAILED|ERROR|WARN|Traceback)\b",
    re.IGNORECASE,
)


def stated(
    reports: Sequence[Memory],
    gone: Container[tuple[str, str]],
    rules: Sequence[str],
    drawn: Sequence[Memory] = (),
    left_out: LeftOut | None = None,
) -> list[tuple[str, Memory]]:
    """Return (line, turn) of the person's statements, newest first.

    reports: turns, newest first. gone: (session, prompt) of turns whose statement holds no more. rules: told elsewhere.
    drawn: statements in force, which a turn tells even where another of its statements holds no more. left_out: takes
    the turns whose statements are not told.
    """
    in_force: dict[tuple[str, str], list[str]] = {}
    for row in reversed(drawn):
        in_force.setdefault((row.session_id, row.prompt_id), []).append(row.text)
    lines: list[tuple[str, Memory]] = []
    newer: list[DatedText] = []
    left, left_out = STATEMENTS_CHARS, left_out if left_out is not None else {}
    for turn in reports:
        prompt = prompt_and_answer(turn.text)[0]
        if is_farewell(prompt) or order_of(prompt) is not Order.NONE or turn.known_kind is Kind.DID_NOT_HOLD:
            continue
        key = turn.session_id, turn.prompt_id
        said = [] if key in gone else [text for text in statements(prompt) if not any(text in rule for rule in rules)]
        said += [text for text in in_force.get(key, ()) if not any(text in other or other in text for other in said)]
        told = cut(flatten(" ".join(said)), STATEMENT_CHARS)
        entry = DatedText(told, turn.at_ms)
        if not told or any(other.text == told for other in newer):
            continue
        is_older = any(is_newer_value(other, entry) for other in newer)
        left -= 0 if is_older else len(told) + LINE_CHARS
        if is_older or left < 0:
            left_out[turn.citation] = (Reason.OLDER if is_older else Reason.CROWDED).value
            if len(left_out) >= MAX_LEFT_OUT:
                break
            continue
        newer.append(entry)
        lines.append(("%s: %s" % (day_of(turn.at_ms), told), turn))
    return lines


def statements(prompt: str) -> Iterator[str]:
    """Yield the sentences of a prompt that state something of worth."""
    own = own_words(prompt)
    for span in sentences(prose(own)) if recallable(prompt) else ():
        text = own[span.start : span.end]
        is_sign = any(pattern.search(text) for pattern in (CHANGE, _FAILED, _DECIDES)) or states_norm(text) > 1
        is_sign = is_sign or bool(states_norm(text) and _STATES.search(text))
        is_order = _ORDERS.search(text) or asks(text) or text.endswith((":", "：", "?"))
        if is_sign and width(text) >= NARROWEST and not is_order:
            yield text
