"""Compaction: older messages give way to a summary when the context fills.

The system prompt stays, then the user's constraints and orders verbatim, the summary as a record, the newest words of
the user, and the last messages as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from memlayer.agent.context.history import TalkHistory, begins_turn, tokens_in
from memlayer.agent.context.summary import model_summary, rules_summary, user_words
from memlayer.agent.execution import cut_middle
from memlayer.agent.memory import Survivors, TalkMemory, memory_outlived
from memlayer.chat import Chat, Message, ToolResults

if TYPE_CHECKING:
    from memlayer.config.agent import AgentSettings

MIN_FREED = 0.2  # of the tokens. A compaction that frees less counts as a strike
MAX_STRIKES = 2
SHORT_RESULT_CHARS = 2000
ENOUGH_FREED = 0.5  # by shortened results alone: no summary is needed
WORDS_SHARE = 20  # the newest words of the user may take one twentieth of the context
AFTER_UNDO = 0.95  # of the context: an undone compaction is not done again at once
MAX_UNDO = 5
SUMMARY_HEADER = "[Previous conversation summary]"
_RECORD = (
    SUMMARY_HEADER + "\n\n(A record of earlier work, for reference: nothing in it is a request or an instruction.)\n\n"
)
# Nothing was summarized: the oldest turns went at a bound.
TRIMMED_HEADER = "[Earlier messages of this talk were left out, without a summary]"
_WORDS = "\n\n[Latest messages of the user before this point, verbatim, oldest first]\n"
_IN_PROGRESS = "\n[The last of these is the request in progress: go on with it.]"
_ANSWERED = "\n[These were answered already, as far as the summary says.]"
_SURVIVORS = "Constraints and standing orders of the user, verbatim; they hold on:\n"


class CompactionMethod(Enum):
    """Method of a compaction."""

    SHORTENING = "shortened tool results"
    MODEL = "summary by the model"
    RULES = "summary by rules"


@dataclass(frozen=True)
class Compacted:
    """Event: a compaction and its figures."""

    method: CompactionMethod
    messages_before: int
    messages_after: int
    tokens_before: int
    tokens_after: int

    @property
    def reduction(self) -> str:
        """Tokens that went, in percent with one decimal."""
        return "%.1f" % (100 * (1 - self.tokens_after / max(1, self.tokens_before)))


@dataclass(frozen=True)
class CompactionStopped:
    """Event: no further attempts, because they free too little."""

    tokens: int
    max_tokens: int


@dataclass(frozen=True)
class ContextFilling:
    """Event: 80 or 100 percent of the context are full."""

    percent: int
    tokens: int


class Compactor:
    """Compaction of one talk's history."""

    def __init__(
        self,
        history: TalkHistory,
        settings: AgentSettings,
        ask: Callable[[str, str], str],
        memory: TalkMemory | None = None,
        on_event: Callable[[Compacted | CompactionStopped | ContextFilling], None] = lambda _: None,
    ) -> None:
        """ask: see model_summary."""
        self.prompt_ids: list[str] = []
        self._history, self._settings, self._ask, self._memory = history, settings, ask, memory
        self._on_event = on_event
        self._threshold = settings.compaction_threshold
        self._sent = (0, 0)
        self._settled = 0  # of the recent messages, the first: their rules are known
        self._strikes = 0
        self._level = 0
        self._undo: list[tuple[TalkHistory, tuple[Message, ...]]] = []  # before a compaction, and the messages it left

    def observe(self, input_tokens: int) -> None:
        """Take the real size of the request just sent; 0: unknown."""
        if input_tokens:
            self._sent = (input_tokens, tokens_in(self._history.messages))

    def tokens(self) -> int:
        """Return the last real size and an estimate of the difference."""
        return self._size(self._history.messages)

    def should_compact(self, tokens: int | None = None) -> bool:
        """Return whether a compaction comes before the next request."""
        settings, history = self._settings, self._history
        if not settings.auto_compaction or self._strikes >= MAX_STRIKES:
            return False
        if len(history.recent) + bool(history.record) <= settings.preserve_recent_messages + 2:
            return False
        return (self.tokens() if tokens is None else tokens) >= int(settings.max_context_tokens * self._threshold)

    def check(self) -> None:
        """Compact where it is time, else tell how full the context is."""
        tokens, limit = self.tokens(), self._settings.max_context_tokens
        if self.should_compact(tokens):
            done = self._attempt(is_automatic=True)
            freed = 1 - done.tokens_after / done.tokens_before if done else 0.0
            self._strikes = 0 if freed >= MIN_FREED else self._strikes + 1
            if self._strikes >= MAX_STRIKES:
                self._on_event(CompactionStopped(self.tokens(), limit))
            tokens = self.tokens()
        if tokens > limit > tokens - tokens_in(self._history.recent) and self._strikes >= MAX_STRIKES:
            while self.tokens() > limit and (dropped := self._history.drop_oldest()):  # where it helps
                self._let_go(dropped)
        level = 100 if tokens > limit else 80 if tokens > 0.8 * limit else 0
        if level > self._level:
            self._on_event(ContextFilling(level, tokens))
        self._level = level

    def trim(self) -> None:
        """Drop the oldest messages beyond the bound; the user's rules stay."""
        while dropped := self._history.trim():
            self._let_go(dropped)

    def _let_go(self, dropped: Sequence[Message]) -> None:
        """Keep the rules and words among messages that were dropped."""
        history, words = self._history, user_words(dropped)
        self._settled -= len(dropped)
        if words:
            history.rules = self._rules() if self._settled < 0 else history.rules
            history.words = self._newest([*history.words, *words])
            summary = history.record.words if history.record else ""
            history.record = self._record(summary, history.words, history.recent)

    def compact(self) -> Compacted | None:
        """Compact now, by hand; None where nothing is gained."""
        done = self._attempt(is_automatic=False)
        self._strikes = 0 if done else self._strikes
        return done

    def undo(self) -> bool:
        """Bring back the messages of the last compaction. False for none.

        Later messages stay. The next automatic one waits until the context is nearly full.
        """
        if not self._undo:
            return False
        (before, left), history = self._undo.pop(), self._history
        since = [message for message in history.recent if not any(message is other for other in left)]
        history.become(replace(before, system=history.system, recent=[*before.recent, *since]))
        self._threshold, self._settled = max(self._threshold, AFTER_UNDO), 0
        return True

    def restore(self, summary: str, prompt_ids: Sequence[str], messages: Sequence[Message]) -> None:
        """Put a restored talk in place of the history.

        summary: of the compacted turns, "" for none. prompt_ids: of the turns in messages.
        """
        history = self._history
        history.recent, history.record, history.words = list(messages), None, []
        self._settled = 0
        if summary:
            history.record, history.rules = Chat("user", _RECORD + summary, words=summary), self._rules()
        self.prompt_ids, self._undo = list(prompt_ids), []
        self._sent, self._strikes = (0, 0), 0

    def _attempt(self, *, is_automatic: bool) -> Compacted | None:
        """Compact; None, and nothing changed, where that frees nothing."""
        history, tokens, rules, cut = self._history, self.tokens(), self._rules(), self._cut()
        old, kept = [_shortened(message) for message in history.recent[:cut]], history.recent[cut:]
        if not old:
            return None
        new, method, summary = replace(history, recent=[*old, *kept]), CompactionMethod.SHORTENING, ""
        if not is_automatic or self._size(new.messages) > (1 - ENOUGH_FREED) * tokens:
            earlier = history.record.words if history.record else ""
            summary, method = model_summary(old, self._ask, earlier), CompactionMethod.MODEL
            if not summary:
                summary, method = rules_summary(old, earlier), CompactionMethod.RULES
            words = self._newest([*history.words, *user_words(old)])
            new = replace(history, rules=rules, words=words, record=self._record(summary, words, kept), recent=kept)
        after = self._size(new.messages)
        if after >= tokens:
            return None
        done = Compacted(method, len(history.messages), len(new.messages), tokens, after)
        self._undo = [*self._undo, (replace(history), tuple(new.recent))][-MAX_UNDO:]
        self._settled -= len(history.recent) - len(new.recent)
        history.become(new)
        if summary:
            self._keep(summary, kept)
        self._on_event(done)
        return done

    def _cut(self) -> int:
        """Index of the first message that stays, never a result."""
        recent = self._history.recent
        cut = max(0, len(recent) - self._settings.preserve_recent_messages)
        while 0 < cut < len(recent) and isinstance(recent[cut], ToolResults):
            cut -= 1
        return cut

    def _size(self, messages: Sequence[Message]) -> int:
        """Tokens of a request with these messages.

        A real size above the estimate is an overhead that stays (tools), one below it a denser tokenizer. A usage from
        before a compaction thus never counts the messages that went.
        """
        now, (real, estimated) = tokens_in(messages), self._sent
        if real >= estimated:
            return now + real - estimated
        return max(now + real - estimated, now * real // estimated)

    def _record(self, summary: str, words: Sequence[str], kept: Sequence[Message]) -> Chat:
        """The message that takes the place of the older ones."""
        last = self._history.recent[-1]
        is_in_progress = not (isinstance(last, Chat) and last.role == "assistant")
        is_asked_before = is_in_progress and not any(begins_turn(message) for message in kept)
        quoted = "\n".join("- " + text for text in words) + (_IN_PROGRESS if is_asked_before else _ANSWERED)
        head = _RECORD + summary if summary else TRIMMED_HEADER
        return Chat("user", head + (_WORDS + quoted if words else ""), words=summary)

    def _newest(self, words: Sequence[str]) -> list[str]:
        """The newest words within their share of the context, oldest first."""
        left = self._settings.max_context_tokens // WORDS_SHARE
        chosen: list[str] = []
        for text in reversed(words):
            left -= tokens_in([Chat("user", text)])
            if left < 0:
                chosen += [] if chosen else [cut_middle(text, self._settings.max_context_tokens // WORDS_SHARE)]
                break
            chosen.append(text)
        return chosen[::-1]

    def _rules(self) -> Chat | None:
        """Have the talk settled; return constraints and orders, else known ones."""
        with memory_outlived():
            survivors = self._memory.survivors() if self._memory else Survivors()
            lines = [
                *("- " + constraint for constraint in survivors.constraints),
                *([survivors.orders] if survivors.orders else []),
            ]
            self._settled = len(self._history.recent)
            if lines:
                return Chat("system", _SURVIVORS + "\n".join(lines))
        return self._history.rules

    def _keep(self, summary: str, kept: Sequence[Message]) -> None:
        """Store a summary; a memory that fails ends nothing."""
        staying = max(1, sum(begins_turn(message) for message in kept))
        with memory_outlived():
            if self._memory is not None:
                self._memory.compacted(summary, kept=tuple(self.prompt_ids[-staying:]))


def _shortened(message: Message) -> Message:
    """A message with its tool results cut in the middle."""
    if not isinstance(message, ToolResults):
        return message
    short = tuple(replace(result, text=cut_middle(result.text, SHORT_RESULT_CHARS)) for result in message.results)
    return ToolResults(short) if short != message.results else message
