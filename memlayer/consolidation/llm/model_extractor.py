"""Lets a language model read turns, within its budget; whatever goes wrong, the rules read them instead."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memlayer.consolidation.extractor import Extracted, Extractor
from memlayer.consolidation.llm import model_prompt, model_statements
from memlayer.consolidation.llm.model_answer import Answer, parse
from memlayer.consolidation.llm.model_budget import MAX_ANSWER_TOKENS, ModelBudget
from memlayer.edge.capture.noise import recallable
from memlayer.errors import ConsolidationError
from memlayer.ports import LanguageModel, ModelMissing

log = logging.getLogger(__name__)

MIN_TURN_CHARS = 60  # below it the rules see all that there is
PAUSE_AFTER = 3  # failures in a row
PAUSE_S = 600.0
DAY_MS = 86_400_000


@dataclass
class ModelExtractor:
    """An Extractor. name: provider and model, for the fingerprint: see model_since.TurnedOn. One call at a time; each
    takes up to timeout_s.

    max_age_days: older turns, and those from before since_ms (Unix time, when the model was turned on), are left to the
    rules; 0: none are. own_tokens: what the way to the model adds to each call. hang_up: ends the call that runs, for a
    daemon that leaves. clock: Unix time, seconds.
    """

    model: LanguageModel
    rules: Extractor
    budget: ModelBudget
    name: str
    timeout_s: float
    max_age_days: float = 0.0
    since_ms: int = 0
    own_tokens: int = 0
    hang_up: Callable[[], None] = lambda: None
    clock: Callable[[], float] = time.time
    _failures: int = 0
    _paused_until: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def fingerprint(self) -> str:
        return "%s/%s+%s" % (self.name, model_prompt.VERSION, self.rules.fingerprint)

    def extract(self, prompt: str, answers: Sequence[str], at_ms: int, before: str = "") -> Extracted:
        """Never raises: what the model does not say, in a form that can be used, the rules say."""
        by_rules = self.rules.extract(prompt, answers, at_ms, before)
        if not self._is_worth_asking(prompt, at_ms):
            return by_rules
        turn = model_prompt.turn_as_sent(prompt, answers)
        if len(turn) < MIN_TURN_CHARS:
            return by_rules
        answer = self._ask(turn, at_ms)
        if answer is None:
            return by_rules
        found = by_rules.statements
        if answer.updates is not None:
            found = model_statements.statements(answer.updates, turn, at_ms)
        daily = None if answer.history is None else model_statements.daily(answer.history, turn)
        return Extracted(by_rules.daily if daily is None else daily, found)

    def _is_worth_asking(self, prompt: str, at_ms: int) -> bool:
        oldest_ms = max(self.since_ms, self.clock() * 1000 - self.max_age_days * DAY_MS)
        if self.max_age_days and at_ms < oldest_ms:
            return False
        return recallable(prompt) if prompt.strip() else True

    def _ask(self, turn: str, at_ms: int) -> Answer | None:
        with self._lock:
            if time.monotonic() < self._paused_until:
                return None
            question = model_prompt.question(turn, at_ms)
            sent = model_prompt.SYSTEM + question
            reserved = self.budget.reserve(self._estimated(sent) + MAX_ANSWER_TOKENS)
            if reserved is None:
                return None
            try:
                done = self.model.complete(
                    model_prompt.SYSTEM, question, max_tokens=MAX_ANSWER_TOKENS, deadline_s=self.timeout_s
                )
            except ConsolidationError as bad:
                if isinstance(bad, ModelMissing):
                    self.budget.give_back(reserved)
                self._failed(str(bad))
                return None
            told = done.input_tokens + done.output_tokens
            self.budget.settle(reserved, told or self._estimated(sent + done.text), done.cost_usd)
            answer = parse(done.text)
            if answer is None:
                self._failed("the model's answer is not the JSON that was asked for")
            else:
                self._failures = 0
            return answer

    def _estimated(self, text: str) -> int:
        """What a call with this text takes, if nobody says: rather too many than too few."""
        return len(text.encode("utf-8", "replace")) // 3 + self.own_tokens

    def _failed(self, problem: str) -> None:
        """Note it; after some in a row leave the model alone for a while, for each failure may take timeout_s."""
        self._failures += 1
        self.budget.note(problem)
        log.warning("consolidated by rules: %s", problem)
        if self._failures >= PAUSE_AFTER:
            self._failures = 0
            self._paused_until = time.monotonic() + PAUSE_S
