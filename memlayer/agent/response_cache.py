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
    """The last answers at temperature 0.0, which are always the same."""

    def __init__(self, *, max_answers: int = MAX_ANSWERS, max_chars: int = MAX_CHARS) -> None:
        """max_answers: 0 switches the cache off. max_chars: of all answers as JSON."""
        self._max_answers, self._max_chars = max_answers, max_chars
        self._answers: OrderedDict[str, tuple[Reply, int]] = OrderedDict()

    def get(self, request: ChatRequest) -> Reply | None:
        """Return an answer that cost nothing, or None."""
        key = cache_key(request) if request.temperature == 0.0 else ""
        if key not in self._answers:
            return None
        self._answers.move_to_end(key)
        return replace(self._answers[key][0], use=TokenUse())

    def put(self, request: ChatRequest, reply: Reply) -> None:
        """Keep an answer, unless it was cut or may vary."""
        if request.temperature != 0.0 or reply.is_cut:
            return
        key = cache_key(request)
        self._answers[key] = reply, len(json.dumps(asdict(reply), default=dict, ensure_ascii=False))
        self._answers.move_to_end(key)
        while len(self._answers) > self._max_answers or sum(n for _, n in self._answers.values()) > self._max_chars:
            self._answers.popitem(last=False)


def cache_key(request: ChatRequest) -> str:
    """Return the SHA-256 of a request, every field of it."""
    fields = json.dumps(asdict(request), sort_keys=True, default=dict, ensure_ascii=True)
    return hashlib.sha256(fields.encode()).hexdigest()
