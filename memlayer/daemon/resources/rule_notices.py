"""Notices that tell a person which rules of their prompt were kept."""

import contextlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from memlayer.consolidation.rules.standing import laid_down
from memlayer.edge.home.session_ids import AGENT_SESSION
from memlayer.give.standing_orders import is_order
from memlayer.keep.keep import Change
from memlayer.kinds import Author
from memlayer.model import Event, Memory, TurnId
from memlayer.ports import Store, memories_by_id
from memlayer.records import small_files

MAX_EXPECTED = 200  # live prompts whose turns are not consolidated
MAX_WAITING = 200  # sessions
MAX_LINE_RULES = 3  # the ids of the others stand in the line without their words
MAX_LINE_CHARS = 160  # of the rules' words
KEPT = "memlayer keeps: %s (undo: /memory-review drop %s)"
ASKED = "memlayer may keep: %s (/memory-review keep %s)"  # where the words may be somebody else's
DOUBTED = "memlayer still keeps: %s (let it go: /memory-review drop %s)"


@dataclass
class RuleNotices:
    """Rules of live prompts, until the person is told. Thread-safe.

    file: keeps the ids of rules that wait, "" for none: the daemon may leave before the next session. orders_due:
    sessions that were told no rules after a compaction.
    """

    file: str = ""
    orders_due: set[str] = field(default_factory=set)
    _expected: OrderedDict[TurnId, bool] = field(default_factory=OrderedDict)  # turn -> whether a rule was seen in it
    _waiting: OrderedDict[str, list[Memory]] = field(default_factory=OrderedDict)  # by session id
    _asked: OrderedDict[str, list[Memory]] = field(default_factory=OrderedDict)  # by session id, of unclear prompts
    _doubted: OrderedDict[str, list[Memory]] = field(default_factory=OrderedDict)  # by session id, that it may let go
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def load(self, store: Store) -> None:
        """Take up the rules of an earlier daemon. Raises StoreError."""
        known = small_files.read(self.file, list[dict[str, list[str]]]) or []
        ids = [id_ for by_session in known for names in by_session.values() for id_ in names]
        rules = memories_by_id(store, ids)
        with self._changed:
            for waiting, by_session in zip(self._lists, known, strict=False):
                for session_id, names in by_session.items():
                    waiting[session_id] = [rules[id_] for id_ in names if id_ in rules and rules[id_].holds]

    @property
    def _lists(self) -> tuple[OrderedDict[str, list[Memory]], ...]:
        return self._waiting, self._asked, self._doubted

    def _save(self) -> None:
        """Keep the ids of the rules that wait, by session."""
        known = [{session: [row.id for row in rows] for session, rows in one.items() if rows} for one in self._lists]
        with contextlib.suppress(OSError):  # then a restart loses a line
            if self.file and (any(known) or os.path.exists(self.file)):
                small_files.write(self.file, known)

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
                self._save()
            while len(self._doubted) > MAX_WAITING:
                self._doubted.popitem(last=False)

    def is_near(self, turn: TurnId) -> bool:
        """True while a prompt with a rule waits for its turn's consolidation."""
        with self._changed:
            return self._expected.get(turn, False)

    def has_near(self, session_id: str) -> bool:
        """True while any prompt of a session does: see is_near."""
        with self._changed:
            return any(has_rule and turn[0] == session_id for turn, has_rule in self._expected.items())

    def consolidated(self, change: Change) -> None:
        """Take note of consolidated turns and of their new rules.

        An opinion is kept, too, but binds nobody: nothing is told of it.
        """
        with self._changed:
            settled = {(turn.session_id, turn.prompt_id) for turn in change.turns}.intersection(self._expected)
            told = False
            for rule in change.rules:
                if (rule.session_id, rule.prompt_id) in settled and is_order(rule.known_kind, rule.text):
                    lines = self._asked if rule.by is Author.UNCLEAR else self._waiting
                    lines.setdefault(rule.session_id, []).append(rule)
                    told = True
            for turn in settled:
                del self._expected[turn]
            for lines in (self._waiting, self._asked):
                while len(lines) > MAX_WAITING:
                    lines.popitem(last=False)
            if told:
                self._save()
            self._changed.notify_all()

    def wait(self, turn: TurnId, seconds: float) -> None:
        """Wait until an expected turn is consolidated."""
        with self._changed:
            self._changed.wait_for(lambda: turn not in self._expected, max(0.0, seconds))

    def line(self, session_id: str) -> str:
        """Return the line about a session's rules, "" for none."""
        with self._changed:
            return next(filter(None, self._lines(session_id)), "")

    def _lines(self, session_id: str) -> Iterator[str]:
        yield line_of(self._waiting.get(session_id, ()), KEPT)
        yield line_of(self._asked.get(session_id, ()), ASKED)
        yield line_of(self._doubted.get(session_id, ())[:MAX_LINE_RULES], DOUBTED)

    def told(self, session_id: str, line: str) -> None:
        """Note that the line was given; newer rules wait."""
        with self._changed:
            for rules, waiting in zip(self._lists, self._lines(session_id), strict=True):
                if line and line == waiting:
                    rules.pop(session_id)
                    self._save()

    def hand_over(self, session_id: str, is_over: Callable[[str], bool]) -> None:
        """Give a starting session the untold rules of sessions that ended."""
        with self._changed:
            for rules in (self._waiting, self._asked):
                for other in [other for other in rules if other != session_id and is_over(other)]:
                    rules.setdefault(session_id, []).extend(rules.pop(other))

    def clear(self) -> None:
        """Drop all rules, since some may be forgotten."""
        with self._changed:
            for rules in self._lists:
                rules.clear()
            self._save()


def line_of(rules: Sequence[Memory], words: str) -> str:
    """Return one line that names rules and the person's choice."""
    if not rules:
        return ""
    shown = rules[:MAX_LINE_RULES]
    texts = [_short(rule.text, MAX_LINE_CHARS // len(shown)) for rule in shown]
    if len(rules) > 1:
        texts = [text.rstrip(".") for text in texts]
    if len(rules) > len(shown):
        texts.append("%d more" % (len(rules) - len(shown)))
    return words % ("; ".join(texts), " ".join(dict.fromkeys(rule.citation for rule in rules)))


def _short(text: str, max_chars: int) -> str:
    line = "".join(char if char.isprintable() else " " for char in " ".join(text.split()))
    return line if len(line) <= max_chars else line[: max_chars - 1].rsplit(" ", 1)[0].rstrip(" ,.;:") + "…"
