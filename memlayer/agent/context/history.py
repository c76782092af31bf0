"""The messages of a talk: size, trim, last check of a request."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from memlayer.chat import AssistantToolCalls, Chat, Message, ToolResults, WireMessage
from memlayer.text.chunking import estimate_tokens

# A record, a user's message, a call and its results.
MIN_MESSAGES = 4
_MESSAGE_TOKENS = 4  # role and separators
_NO_RESULT = "No result: the call was interrupted."
_NO_ANSWER = "(The answer was interrupted.)"
_NO_BEGINNING = "(The beginning of this talk was left out.)"

_tokens_of = lru_cache(maxsize=1024)(estimate_tokens)


def tokens_in(messages: Iterable[Message]) -> int:
    """Estimate the tokens of messages."""
    total = 0
    for message in messages:
        total += _MESSAGE_TOKENS + sum(_tokens_of(text) for text in _texts(message))
    return total


def _texts(message: Message) -> Iterator[str]:
    if isinstance(message, ToolResults):
        yield from (result.text for result in message.results)
        return
    yield message.text
    if isinstance(message, AssistantToolCalls):
        yield message.reasoning
        yield from (call.name + json.dumps(dict(call.arguments), ensure_ascii=False) for call in message.calls)


def begins_turn(message: Message) -> bool:
    """True for a message of the user."""
    return isinstance(message, Chat) and message.role == "user"


@dataclass
class TalkHistory:
    """Messages of a talk, oldest first.

    max_messages: of record and recent, 4 at least. system and rules are kept always, first. Then the record of messages
    that went, with the words of the user among them. recent: the rest, which trim bounds. The unit is a turn: a user's
    message up to the next.
    """

    max_messages: int = 50
    system: tuple[Chat, ...] = ()
    rules: Chat | None = None
    record: Chat | None = None
    words: list[str] = field(default_factory=list)
    recent: list[Message] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.max_messages = max(MIN_MESSAGES, self.max_messages)

    def become(self, other: TalkHistory) -> None:
        """Take the messages of another history."""
        vars(self).update(vars(other))

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages, in the order in which they are sent."""
        return (*self.system, *(message for message in (self.rules, self.record) if message), *self.recent)

    def push(self, message: Message) -> None:
        """Add a message. A system's goes to the others of its kind."""
        if isinstance(message, Chat) and message.role == "system":
            self.system = (*self.system, message)
        else:
            self.recent.append(message)

    def trim(self) -> list[Message]:
        """Drop the oldest turns beyond max_messages. Return them.

        Of a turn that is too long by itself the oldest calls go with their results. The user's message stays.
        """
        dropped: list[Message] = []
        while len(self.recent) + bool(self.record) > self.max_messages:
            oldest = self.drop_oldest()
            if not oldest:
                break
            dropped += oldest
        return dropped

    def drop_oldest(self) -> list[Message]:
        """Drop the oldest turn, else the oldest calls; [] for none."""
        starts = [at for at, message in enumerate(self.recent) if begins_turn(message)]
        first = 1 if starts[:1] == [0] else 0
        if first and len(starts) > 1:
            begin, end = 0, starts[1]
        else:
            begin, end = first, self.after_step(first)
        if end >= len(self.recent):
            return []
        dropped = self.recent[begin:end]
        del self.recent[begin:end]
        return dropped

    def after_step(self, begin: int) -> int:
        """Return the index after a message and its results."""
        end = begin + 1
        while end < len(self.recent) and isinstance(self.recent[end], ToolResults):
            end += 1
        return end


def outgoing(messages: Sequence[WireMessage]) -> tuple[WireMessage, ...]:
    """Make a request valid for any provider, as the last step.

    One system message, first. Then the user's. Roles alternate, the same ones in a row are joined. Each call is
    followed by its result, a made-up error where it is missing, and no result stands alone.
    """
    system = "\n\n".join(message.text for message in messages if message.role == "system" and message.text.strip())
    sent = [WireMessage("system", system)] if system else []
    before = ""
    for message in _paired([message for message in messages if message.role != "system"]):
        if not before and message.role != "user":
            sent.append(WireMessage("user", _NO_BEGINNING))
        elif before == "tool" and message.role == "user":
            sent.append(WireMessage("assistant", _NO_ANSWER))
        if before == message.role != "tool":
            last = sent.pop()
            text = "\n\n".join(text for text in (last.text, message.text) if text.strip())
            message = replace(message, text=text, reasoning=message.reasoning or last.reasoning)
        sent.append(message)
        before = message.role
    return tuple(sent)


def _paired(messages: Sequence[WireMessage]) -> Iterator[WireMessage]:
    """Yield messages with each call answered at once, without empty ones."""
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        if message.role == "tool":
            continue  # an orphan: those that follow their calls are consumed below
        if message.text.strip() or message.calls:
            yield message
        results: dict[str, WireMessage] = {}
        while message.calls and at < len(messages) and messages[at].role == "tool":
            results.setdefault(messages[at].call_id, messages[at])
            at += 1
        for call in message.calls:
            missing = WireMessage("tool", _NO_RESULT, call_id=call.id, is_error=True)
            yield results.get(call.id, missing)
