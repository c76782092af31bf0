"""Notices that tell a person which rules of their prompt were kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from memlayer.briefing.standing_orders import is_order
from memlayer.consolidation.rules.standing import laid_down
from memlayer.edge.home.session_ids import AGENT_SESSION
from memlayer.model import Event, Memory, TurnId

MAX_EXPECTED = 200  # live prompts whose turns are not consolidated
MAX_WAITING = 200  # sessions
MAX_LINE_RULES = 3  # the ids of the others stand in the line without their words
MAX_LINE_CHARS = 160  # of the rules' words


@dataclass
class RuleNotices:
    """Rules of live prompts, until the person is told. Thread-safe.

    In memory alone: a line that a restart of the daemon takes away is not worth a file.
    """

    _expected: OrderedDict[TurnId, bool] = field(default_factory=OrderedDict)  # turn -> whether a rule was seen in it
    _waiting: OrderedDict[str, list[Memory]] = field(default_factory=OrderedDict)  # by session id
    _doubted: OrderedDict[str, list[Memory]] = field(default_factory=OrderedDict)  # by session id, that it may let go
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def expect(self, turn: TurnId) -> None:
        """Note a live prompt, whose rules are to be told."""
        with self._changed:
            self._expected.setdefault(turn, False)
            while len(self._expected) > MAX_EXPECTED:
                self._expected.popitem(last=False)

    def heard(self, events: Iterable[Event]) -> None:
        """Note the prompts of new events, also those spooled without a daemon."""
        for event in events:
            is_live = event.kind == "user" and event.source == "hook" and not event.detail
            if is_live and not event.session_id.startswith(AGENT_SESSION):
                self.expect((event.session_id, event.prompt_id))

    def look(self, turn: TurnId, prompt: str) -> None:
        """Look for a rule in an expected prompt, whose Stop then waits."""
        has_rule = bool(laid_down(prompt))
        with self._changed:
            if turn in self._expected:
                self._expected[turn] = has_rule

    def doubt(self, session_id: str, rules: Sequence[Memory]) -> None:
        """Note rules that the person may have taken back."""
        with self._changed:
            if rules:
                self._doubted[session_id] = list(rules)
            while len(self._doubted) > MAX_WAITING:
                self._doubted.popitem(last=False)

    def is_near(self, turn: TurnId) -> bool:
        """True for a prompt with a rule whose turn waits for consolidation."""
        with self._changed:
            return self._expected.get(turn, False)

    def has_near(self, session_id: str) -> bool:
        """True for a session with a turn that is near."""
        with self._changed:
            return any(has_rule and turn[0] == session_id for turn, has_rule in self._expected.items())

    def consolidated(self, turns: Sequence[Memory], rules: Sequence[Memory]) -> None:
        """Take note of consolidated turns and of their new rules.

        An opinion is kept, too, but binds nobody: nothing is told of it.
        """
        with self._changed:
            settled = {(turn.session_id, turn.prompt_id) for turn in turns}.intersection(self._expected)
            for rule in rules:
                if (rule.session_id, rule.prompt_id) in settled and is_order(rule.known_kind, rule.text):
                    self._waiting.setdefault(rule.session_id, []).append(rule)
            for turn in settled:
                del self._expected[turn]
            while len(self._waiting) > MAX_WAITING:
                self._waiting.popitem(last=False)
            self._changed.notify_all()

    def wait(self, turn: TurnId, seconds: float) -> None:
        """Wait until an expected turn is consolidated."""
        with self._changed:
            self._changed.wait_for(lambda: turn not in self._expected, max(0.0, seconds))

    def line(self, session_id: str) -> str:
        """Return the line about a session's rules, "" for none."""
        with self._changed:
            return self._line(session_id)

    def _line(self, session_id: str) -> str:
        return line_of(self._waiting.get(session_id, ())) or doubt_line(self._doubted.get(session_id, ()))

    def told(self, session_id: str, line: str) -> None:
        """Note that the line was given; newer rules wait."""
        with self._changed:
            if line and self._line(session_id) == line:
                (self._waiting if session_id in self._waiting else self._doubted).pop(session_id)

    def hand_over(self, session_id: str, is_over: Callable[[str], bool]) -> None:
        """Give a starting session the untold rules of sessions that ended."""
        with self._changed:
            for other in [other for other in self._waiting if other != session_id and is_over(other)]:
                self._waiting.setdefault(session_id, []).extend(self._waiting.pop(other))

    def clear(self) -> None:
        """Drop all rules, since some may be forgotten."""
        with self._changed:
            self._waiting.clear()
            self._doubted.clear()


def line_of(rules: Sequence[Memory]) -> str:
    """Return one line that names kept rules and how to undo that."""
    if not rules:
        return ""
    shown = rules[:MAX_LINE_RULES]
    texts = [_short(rule.text, MAX_LINE_CHARS // len(shown)) for rule in shown]
    if len(rules) > 1:
        texts = [text.rstrip(".") for text in texts]
    if len(rules) > len(shown):
        texts.append("%d more" % (len(rules) - len(shown)))
    return "memlayer keeps: %s (undo: /memory-review drop %s)" % (
        "; ".join(texts),
        " ".join(dict.fromkeys(rule.citation for rule in rules)),
    )


def doubt_line(rules: Sequence[Memory]) -> str:
    """Return one line that asks whether rules are still wanted."""
    if not rules:
        return ""
    texts = "; ".join(_short(rule.text, MAX_LINE_CHARS // len(rules)) for rule in rules[:MAX_LINE_RULES])
    ids = " ".join(rule.citation for rule in rules[:MAX_LINE_RULES])
    return "memlayer still keeps: %s (let it go: /memory-review drop %s)" % (texts, ids)


def _short(text: str, max_chars: int) -> str:
    line = "".join(char if char.isprintable() else " " for char in " ".join(text.split()))
    return line if len(line) <= max_chars else line[: max_chars - 1].rsplit(" ", 1)[0].rstrip(" ,.;:") + "…"
