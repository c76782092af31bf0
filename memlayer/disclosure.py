"""Memories as text for a model: an index, a timeline, the details.

Each keeps within a token budget.

A reader pays for a line a hit, and for a whole text only where it opens one (progressive disclosure, after
claude-memory-layer). Stored text is flattened: no control characters, forged citations or host tags come back.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from memlayer.edge.counting import counted
from memlayer.edge.home.session_ids import FILE_SESSION, TEAM_SESSION, short_session
from memlayer.kinds import KINDS
from memlayer.model import Memory
from memlayer.text.chunking import estimate_tokens
from memlayer.text.context_block import ELLIPSIS, cut, day_of, flatten
from memlayer.turns.outcome import WorkDone
from memlayer.turns.turn import ASSISTANT, USER
from memlayer.turns.turn_memory import mark_of, marked_text

# Tokens by text.chunking.estimate_tokens, the whole answer counted.
INDEX_TOKENS, LINE_TOKENS = 1_200, 100
TIMELINE_TOKENS = 2_000
DETAILS_TOKENS = 5_000  # the host warns of a tool's answer from 10,000 on
SUMMARY_CHARS = 100
PROMPT_CHARS, ANSWER_CHARS = 80, 120  # of a turn in a timeline
MAX_LISTED = 12  # files, commands and versions of a memory


@dataclass(frozen=True)
class IndexEntry:
    """A hit of a search.

    summary: its best sentence. project: "" within a single one. newer: citation of its successor. mark: of the
    checked-out code.
    """

    memory: Memory
    summary: str
    project: str = ""
    newer: str = ""
    mark: str = ""


@dataclass(frozen=True)
class Neighbourhood:
    """The turns around a memory, oldest first, where they are known."""

    memory: Memory
    turns: Sequence[Memory]
    target_id: str = ""


@dataclass(frozen=True)
class Detail:
    """All that is known of a memory.

    turn: citation of the turn that a statement was drawn from. missing: how many of its sources are gone. cited_in:
    sessions whose answers cited it, with the newest day. beside: the things that it is about or waits for.
    """

    memory: Memory
    project: str
    work: WorkDone = field(default_factory=lambda: WorkDone((), (), ()))
    newer: Sequence[Memory] = ()
    older: Sequence[Memory] = ()
    turn: str = ""
    missing: int = 0
    cited_in: Sequence[tuple[str, str]] = ()
    beside: Sequence[str] = ()


def label_of(memory: Memory) -> str:
    """Return turn, day, note, or the kind of a statement."""
    return KINDS[memory.known_kind].label


def index_text(query: str, entries: Sequence[IndexEntry], max_tokens: int = INDEX_TOKENS, *, total: int = 0) -> str:
    """The hits of a search, a line each, best first.

    total: how many there are, those that are not listed counted.
    """
    asked = cut(flatten(query), SUMMARY_CHARS)
    if not entries:
        return within(['No memory matches "%s". Try other words, or fewer.' % asked], max_tokens)
    many = counted(len(entries), "memory", "match")
    if total > len(entries):
        many = "%d of %d memories %s" % (len(entries), total, "matches" if len(entries) == 1 else "match")
    head = '%s "%s", best first:' % (many, asked)
    return within(
        [head, *map(_index_line, entries), "Open with mem-details, look around with mem-timeline."], max_tokens
    )


def _index_line(entry: IndexEntry) -> str:
    place = " (%s)" % cut(flatten(entry.project), 40) if entry.project else ""
    outdated = " (outdated, see [mem:%s])" % entry.newer if entry.newer else ""
    memory = entry.memory
    head = "- [mem:%s] %s %s%s%s: " % (memory.citation, day_of(memory.at_ms), label_of(memory), place, outdated)
    head += entry.mark
    return head + shortened(
        flatten(memory.headline or entry.summary), SUMMARY_CHARS, LINE_TOKENS - estimate_tokens(head)
    )


def timeline_text(
    spans: Sequence[Neighbourhood], unknown: Sequence[str] = (), max_tokens: int = TIMELINE_TOKENS
) -> str:
    """Return the turns around each memory; `>` marks its own."""
    lines = [_unknown(unknown)] if unknown else []
    for span in spans:
        headline = flatten(span.memory.headline)
        about = " (%s)" % headline if headline else ""
        lines.append("Around [mem:%s]%s, %s:" % (span.memory.citation, about, _session_of(span.memory)))
        if not span.turns:
            lines.append("  Nothing else is known of that session." if span.memory.session_id else "  No turns.")
        for turn in span.turns:
            mark, told = ">" if turn.id == span.target_id else " ", mark_of(turn) + _preview(turn.text)
            lines.append("%s %s [mem:%s] %s" % (mark, minute_of(turn.at_ms), turn.citation, told))
    return within(lines or ["No memory is named."], max_tokens)


def details_text(
    details: Sequence[Detail], unknown: Sequence[str] = (), *, start: int = 0, max_tokens: int = DETAILS_TOKENS
) -> str:
    """Return the whole texts within budget. start: characters to skip."""
    parts = [_unknown(unknown)] if unknown else []
    if not details:
        return within(parts or ["No memory is named."], max_tokens)
    left = max_tokens - estimate_tokens("\n\n".join(parts)) - 4
    for place, detail in enumerate(details):
        room = left // (len(details) - place)  # a short text leaves its share to those after it
        part = _detail(detail, start if len(details) == 1 else 0, room)
        left -= estimate_tokens(part) + 2
        parts.append(part)
    return within("\n\n".join(parts).split("\n"), max_tokens)


def _session_of(memory: Memory) -> str:
    """Return the session by its start; a remembered statement has none."""
    if memory.session_id.startswith(FILE_SESSION):
        return "from a file"
    if memory.session_id.startswith(TEAM_SESSION):
        return "from a colleague"
    short = flatten(short_session(memory.session_id))
    return "session " + short if short else "said outside of a session"


def _detail(detail: Detail, start: int, max_tokens: int) -> str:
    """One memory's head, facts and as much of its text as fits."""
    memory = detail.memory
    head = "[mem:%s] %s, %s, %s, project %s" % (
        memory.citation, label_of(memory), minute_of(memory.at_ms), _session_of(memory),
        cut(flatten(detail.project), 40),
    )  # fmt: skip
    headline = ": ".join(filter(None, (flatten(memory.subject), flatten(memory.headline))))
    head += "\n" + headline if headline else ""
    facts = _facts(detail)
    text = "\n".join(flatten(line) for line in marked_text(memory).split("\n"))[max(0, start) :]
    room = max_tokens - estimate_tokens("\n".join([head, *facts])) - 30
    shown = shortened(text, len(text), room)
    body = shown
    if len(shown) < len(text):
        reached = max(0, start) + len(shown.rstrip(ELLIPSIS))
        body += "\n(%d characters more: mem-details with from=%d)" % (max(0, start) + len(text) - reached, reached)
    return "\n".join([head, body, *facts])


def _facts(detail: Detail) -> list[str]:
    facts = []
    for label, names in (("Files", detail.work.files), ("Commands", detail.work.commands)):
        if names:
            facts.append("%s: %s" % (label, ", ".join(cut(flatten(name), 100) for name in names[:MAX_LISTED])))
    for label, versions in (("Replaced by", detail.newer), ("Replaces", detail.older[:MAX_LISTED])):
        for version in versions:
            facts.append(
                "%s [mem:%s] %s: %s" % (label, version.citation, day_of(version.at_ms), cut(flatten(version.text), 160))
            )
    if detail.turn and detail.turn != detail.memory.citation:
        facts.append("Drawn from [mem:%s]" % detail.turn)
    if detail.beside:
        facts.append("Beside: " + ", ".join(cut(flatten(name), 100) for name in detail.beside[:MAX_LISTED]))
    if detail.missing:
        facts.append("%d of its sources were forgotten" % detail.missing)
    if detail.cited_in:
        sessions = ", ".join(
            "%s (%s)" % (flatten(short_session(name)), day) for name, day in detail.cited_in[:MAX_LISTED]
        )
        facts.append("Cited in %s: %s" % (counted(len(detail.cited_in), "session"), sessions))
    return facts


def _unknown(names: Sequence[str]) -> str:
    return "Not known in this project: " + ", ".join(cut(flatten(name), 40) for name in names[:MAX_LISTED])


def _preview(text: str) -> str:
    """A turn's prompt and answer on a line."""
    prompt, separator, answer = text.partition("\n" + ASSISTANT)
    if not separator:
        return cut(flatten(prompt), PROMPT_CHARS + ANSWER_CHARS)
    asked = cut(flatten(prompt.removeprefix(USER)), PROMPT_CHARS)
    return "%s %s | %s" % (USER.strip(), asked, cut(flatten(answer), ANSWER_CHARS))


def shortened(text: str, max_chars: int, max_tokens: int) -> str:
    """Return the longest head of a text within both bounds."""
    kept = cut(text, max_chars)
    while kept and estimate_tokens(kept) > max(1, max_tokens):
        share = max(1, max_tokens) / estimate_tokens(kept)
        kept = cut(text, min(len(kept) - 1, int(len(kept) * share)))
    return kept


def within(lines: Sequence[str], max_tokens: int) -> str:
    """Return the lines that fit the budget, the last one cut."""
    text = "\n".join(lines)
    if estimate_tokens(text) <= max_tokens:
        return text
    return shortened(text, len(text), max_tokens)


def minute_of(at_ms: int) -> str:
    """The local day and minute of a moment."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at_ms / 1000))
