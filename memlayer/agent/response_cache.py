"""Answers to requests that were made before, in memory.

The key is the whole request: model, messages and tools. A key without the history answers a later turn of a talk with
an earlier one's words.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from dataclasses import asdict, replace

from memlayer.chat import ChatRequest, Reply, TokenUse

MAX_ANSWERS = 256
MAX_CHARS = 4_000_000


class ResponseCache:
    """Answers of temperature 0.0, which do not vary.

    The least recently used go first.
    """

    def __init__(self, *, max_answers: int = MAX_ANSWERS, max_chars: int = MAX_CHARS) -> None:
        """max_answers: 0 switches the cache off. max_chars: of all answers together."""
        self._max_answers = max_answers
        self._max_chars = max_chars
        self._chars = 0
        self._answers: OrderedDict[str, Reply] = OrderedDict()

    def get(self, request: ChatRequest) -> Reply | None:
        """Return an answer that cost nothing, or None."""
        key = cache_key(request) if request.temperature == 0.0 else ""
        found = self._answers.get(key)
        if found is None:
            return None
        self._answers.move_to_end(key)
        return replace(found, use=TokenUse())

    def put(self, request: ChatRequest, reply: Reply) -> None:
        """Keep an answer, unless it was cut or may vary."""
        if request.temperature != 0.0 or reply.is_cut:
            return
        key = cache_key(request)
        if key in self._answers:
            self._chars -= _size(self._answers.pop(key))
        self._answers[key] = reply
        self._chars += _size(reply)
        while self._answers and (len(self._answers) > self._max_answers or self._chars > self._max_chars):
            self._chars -= _size(self._answers.popitem(last=False)[1])


def cache_key(request: ChatRequest) -> str:
    """Return the SHA-256 of a request, every field of it."""
    fields = json.dumps(asdict(request), sort_keys=True, default=dict, ensure_ascii=True)
    return hashlib.sha256(fields.encode()).hexdigest()


def _size(reply: Reply) -> int:
    calls = sum(len(json.dumps(dict(call.arguments), default=str)) for call in reply.calls)
    return len(reply.text) + len(reply.reasoning) + calls
