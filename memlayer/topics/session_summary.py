"""The summary of a session: goal, work, decisions, errors, open items."""

import logging
import math
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from memlayer.consolidation.rules.extraction import extract, has
from memlayer.consolidation.rules.own_words import own_words
from memlayer.edge.capture import payload
from memlayer.edge.capture.noise import recallable
from memlayer.edge.capture.spool import event_id
from memlayer.edge.redaction.privacy import without_marks
from memlayer.edge.redaction.session_values import Heard
from memlayer.indexing.retracted import not_left
from memlayer.keep.keep import Keep
from memlayer.kinds import KINDS, Author, Category, Kind
from memlayer.model import Event, Memory
from memlayer.ports import MemoryQuery, Store
from memlayer.records.sessions import Session
from memlayer.records.tombstones import summary_mark
from memlayer.text.context_block import cut, flatten
from memlayer.text.sentences import ASSISTANT, USER, candidates, trimmed, width
from memlayer.text.terms import query_terms
from memlayer.transcripts.lines import read_calls
from memlayer.turns.matter import is_bare_reason
from memlayer.turns.outcome import WorkDone, call_of, from_answers, from_calls, outcome, says_done
from memlayer.turns.questions import asks_a_fact, is_open_question
from memlayer.turns.remembered import is_husk, shown_part
from memlayer.turns.retraction import not_held
from memlayer.turns.salience import is_routine, new_memory
from memlayer.turns.turn import is_plan

GOAL, DONE, FILES, COMMANDS, DECIDED, ERRORS, LEFT = "goal", "done", "files", "commands", "decided", "errors", "left"
PARTS = (GOAL, DONE, FILES, COMMANDS, DECIDED, ERRORS, LEFT)
_ENGLISH = dict(zip(PARTS, ("Goal", "Done", "Files", "Commands", "Decided", "Errors", "Left open"), strict=True))
_KOREAN = dict(zip(PARTS, ("목표", "한 일", "파일", "명령", "결정", "오류", "남은 일"), strict=True))
_PART_OF = {label: part for labels in (_ENGLISH, _KOREAN) for part, label in labels.items()}
_SEPARATORS = {FILES: ", ", COMMANDS: " ; ", ERRORS: " ; "}
# Of the terms of the smaller text, as many stand in another one of the same matter. At a fifth 112 of 129 real sessions
# are one matter, and those that fall apart do so by their topics; at three tenths half of them do.
SAME_MATTER = 0.2
FEWEST_WORDS = 4  # a turn of fewer follows the one before: "ok, commit it", "응 그렇게 해"
ANSWER_CHARS = 800
log = logging.getLogger(__name__)
# A session that says nothing for so long, and never ended, has died: a killed terminal, a machine switched off.
DIED_AFTER_MS = 30 * 60_000
RECENT_MS = 30 * 86_400_000  # older sessions are not summed up any more
MAX_PENDING = 50
MAX_EVENTS = 20_000
MAX_OUTCOMES = 3
MAX_DECIDED = 4
MAX_ERRORS = 3
GOAL_CHARS = 200
MAX_GOALS = 2
NARROWEST = 20  # columns. "exit", "Something else?": says nothing to somebody who was not there
FEWEST_TERMS = 4  # "All tests pass now." says nothing that a later session could use
MAX_ASKED = 3
TYPED_CHARS = 500
LEAST_CENTRAL = 0.3  # below it a sentence tells of something else, or nothing ("Now I see.")
SENTENCE_CHARS = 160
_HANGUL = re.compile("[가-힣]")
_SAID = re.compile(r"[\w`\"'(/]")  # a diff's line, a log's and a mention of a file begin otherwise
_SUPPOSED = re.compile(r"^(?:if|when)\b|\bwould\b|→", re.IGNORECASE)
_TITLE = re.compile(r"^#+ (?:Plan: )?(.+)$", re.MULTILINE)
MAX_OPEN_CHARS = 180
ASKED_CHARS = 80
_DATED = re.compile(r"\[(\d{4}-\d\d-\d\d)\]")  # the date that consolidation adds to "today" and "5월 2일"
_FAREWELL = re.compile(
    r"여기까지|that'?s (?:it|all)\b|call it a day|수고하|good night|see you|자자\b|퇴근", re.IGNORECASE
)
# A sentence of fewer words is judged as if it had so many: two frequent words alone say little.
SHORTEST_TERMS = 8


def summary_text(parts: Mapping[str, Sequence[str]], *, is_korean: bool) -> str:
    """`Goal: …` and so on, one line a part with items."""
    labels = _KOREAN if is_korean else _ENGLISH
    lines = []
    for part in PARTS:
        texts = [" ".join(item.split()) for item in parts.get(part, ()) if item.strip()]
        if texts:
            lines.append("%s: %s" % (labels[part], joined(part, texts)))
    return "\n".join(lines)


def joined(part: str, texts: Sequence[str]) -> str:
    """The items of one part in one line."""
    return _SEPARATORS.get(part, " / ").join(texts)


def items(part: str, line: str) -> list[str]:
    """The items of one part's line."""
    return line.split(_SEPARATORS.get(part, " / "))


def parts_of(text: str) -> dict[str, str]:
    """The lines of a summary by their part, without the labels."""
    by_part = {}
    for line in text.split("\n"):
        label, _, content = line.partition(": ")
        if label in _PART_OF and content:
            by_part[_PART_OF[label]] = content
    return by_part


def is_korean(text: str) -> bool:
    """The language that a summary was written in."""
    return text.startswith(tuple(label + ": " for label in _KOREAN.values()))


def add_part(before: str, text: str) -> str:
    """Return the summary of a session read in parts, a line each."""
    return "\n".join(filter(None, (before.strip(), flatten(text))))


def newest_parts(text: str, max_chars: int) -> str:
    """Return a summary's newest parts: a session's end tells its state."""
    parts = [flatten(part) for part in text.split("\n") if part.strip()]
    kept = parts[-1:]
    for part in reversed(parts[:-1]):
        if len(" ".join([part, *kept])) > max_chars:
            break
        kept.insert(0, part)
    return cut(" ".join(kept), max_chars)


def matters(turns: Sequence[tuple[str, Sequence[str]]]) -> list[int]:
    """Return the number of each turn's matter, from 0 in their order.

    turns: (prompt, answers), oldest first. A turn belongs to the newest earlier matter that it shares words with.
    """
    numbers: list[int] = []
    words: list[set[str]] = []  # of each matter
    for prompt, answers in turns:
        own = set(query_terms(prompt + "\n" + "\n".join(answers)[:ANSWER_CHARS]))
        if numbers and len(set(query_terms(prompt))) < FEWEST_WORDS:
            number = numbers[-1]
        else:
            fitting = [
                at
                for at in range(len(words) - 1, -1, -1)
                if len(own & words[at]) >= SAME_MATTER * max(1, min(len(own), len(words[at])))
            ]
            number = fitting[0] if fitting else len(words)
        if number == len(words):
            words.append(set())
        words[number] |= own
        numbers.append(number)
    return numbers


def pending(sessions: Iterable[Session], now_ms: int) -> list[Session]:
    """Sessions that are over and changed since their summary or outcomes."""
    due = []
    for item in sessions:
        is_over = bool(item.ended) or now_ms - item.last_ms > DIED_AFTER_MS
        if is_over and item.project_id and (is_stale(item, now_ms) or item.said_ms > item.outcomes_ms):
            due.append(item)
    return due[:MAX_PENDING]


def is_stale(session: Session, now_ms: int) -> bool:
    """True for a session that changed since its last summary."""
    return session.said_ms > session.summarized_ms and now_ms - session.last_ms < RECENT_MS


def sum_up(keep: Keep, session: Session, *, with_transcript: bool = True) -> Memory | None:
    """Write the summary of a session, or replace it.

    None for a session not worth a summary, or when a person wants none. with_transcript: look for tool calls in the
    host's transcript where none are in the store, unless something of it was forgotten. Raises StoreError.
    """
    if summary_mark(session.id) in keep.tombstones:
        return None
    store, with_transcript = keep.store, with_transcript and not keep.tombstones.forgot_part_of(session.id)
    every = store.events(session_id=session.id, project_id=session.project_id, limit=MAX_EVENTS)
    every = [event for event in every if event.kind in ("user", "assistant", "tool")]
    events = not_left(store, session.id, every)
    if (noted := _noted(store, session, events, {event.id for event in every})) is not None:
        return noted
    statements = store.memories(MemoryQuery(session_id=session.id, category=Category.CORE))
    holds = (item for item in statements if item.holds and item.by is not Author.UNCLEAR)
    holding = sorted(holds, key=lambda item: item.at_ms)
    known = [(item.known_kind, item.text) for item in holding] if statements else None
    work = _work(events, session, with_transcript)
    text = text_of(events, known, work, session.project_dir)
    if not text:
        return None
    memory = summary_memory(session, text, events)
    keep.write([memory])
    return memory


def _noted(store: Store, session: Session, events: Sequence[Event], ids: set[str]) -> Memory | None:
    """Return a model's summary of every turn of the session.

    Of none that the conversation left. ids: of all events.
    """
    query = MemoryQuery(session_id=session.id, category=Category.DAILY, kind=Kind.SESSION_SUMMARY, is_current=True)
    spoken_ids, left_ids = {event.id for event in events if event.kind != "tool"}, ids - {event.id for event in events}
    rows = [row for row in store.memories(query) if row.by is Author.READER and spoken_ids <= set(row.source_ids)]
    rows = [row for row in rows if left_ids.isdisjoint(row.source_ids)]
    return rows[0] if rows else None


def summary_memory(session: Session, text: str, events: Sequence[Event]) -> Memory:
    """Return the one memory of a session's summary, from its events."""
    made = event_id(session.id, "", Kind.SESSION_SUMMARY)
    return new_memory(
        made, Category.DAILY, Kind.SESSION_SUMMARY, text, max(event.at_ms for event in events),
        project_id=session.project_id, session_id=session.id, source_ids=tuple(event.id for event in events),
    )  # fmt: skip


def text_of(events: Sequence[Event], known: Sequence[tuple[Kind, str]] | None, work: WorkDone, project_dir: str) -> str:
    """The summary's text, "" for a session not worth a summary.

    events: the session's, oldest first. known: (kind, text) of the core memories drawn from it that hold. None if none
    were drawn, then they are looked for here. work: the work of its tool calls. Where they did nothing, the files and
    commands that its answers name.
    """
    turns = _turns(events)
    gone = not_held([prompt for prompt, _, _ in turns])
    turns = [turn for place, turn in enumerate(turns) if place not in gone]
    real = [(prompt, answers, at_ms) for prompt, answers, at_ms in turns if recallable(prompt)]
    if not real:
        return ""
    if known is None:
        statements = [item for prompt, answers, at_ms in real for item in extract(prompt, answers, at_ms).statements]
        known = [(item.kind, item.text) for item in statements if not item.is_unclear]
    if not (work.files or work.commands):
        work = from_answers([answer for _, answers, _ in real for answer in answers], project_dir)._replace(
            errors=work.errors
        )
    outcomes = [item for item in (_outcome(prompt, answers) for prompt, answers, _ in real) if item]
    open_item = left_open([(prompt, answers) for prompt, answers, _ in turns])
    left = [open_item] if open_item else []
    stated: dict[str, list[str]] = {}
    for kind, text in known:
        stated.setdefault(KINDS[kind].part, []).append(text)
    due = [text for text in stated.get(LEFT, ()) if text not in left]
    left += [text for text in due if is_due(text, time.strftime("%Y-%m-%d", time.localtime(real[-1][2] / 1000)))][-2:]
    decided = stated.get(DECIDED, [])[-MAX_DECIDED:]
    is_worth_it = bool(work.files or work.commands or decided or left) or len(outcomes) >= 2
    if not is_worth_it:
        return ""
    work_turns = [turn for turn in real if not asks_a_fact(turn[0])]
    parts = {
        GOAL: _goals(work_turns) if work_turns else [],  # a question for a fact is no goal
        DONE: _outcomes(outcomes, _said(real)),
        FILES: work.files,
        COMMANDS: work.commands,
        DECIDED: [cut(item, SENTENCE_CHARS) for item in decided],
        ERRORS: [*work.errors, *_causes(stated.get(ERRORS, ()))][-MAX_ERRORS:],
        LEFT: left,
    }
    prompts = [prompt for prompt, _, _ in real]
    return summary_text(parts, is_korean=2 * sum(bool(_HANGUL.search(item)) for item in prompts) >= len(prompts))


def _turns(events: Sequence[Event]) -> list[tuple[str, list[str], int]]:
    """(prompt, answers, Unix ms) of a person's turns, oldest first."""
    turns: dict[str, tuple[list[str], list[str], int]] = {}
    others = (payload.NOISE, payload.OWN_COMMAND, payload.RUN)
    left_out = {event.prompt_id for event in events if event.detail in others}
    for event in events:
        if event.kind == "tool" or event.prompt_id in left_out:
            continue
        prompts, answers, _ = turns.setdefault(event.prompt_id, ([], [], event.at_ms))
        (prompts if event.kind == "user" else answers).append(event.text)
    return [("\n".join(prompts), answers, at_ms) for prompts, answers, at_ms in turns.values()]


def _work(events: Sequence[Event], session: Session, with_transcript: bool) -> WorkDone:
    calls = [call_of(event.text, event.detail) for event in events if event.kind == "tool"]
    if not calls and with_transcript and session.transcript_path:
        try:
            with Heard(session.id):
                calls = read_calls(session.transcript_path)
        except OSError as bad:
            log.warning("transcript not readable: %s", bad.strerror)
    return from_calls(calls, session.project_dir)


def _goals(real: Sequence[tuple[str, list[str], int]]) -> list[str]:
    """The goals of the matters with a result, at most two.

    With results of two matters a single goal would explain but half of them.
    """
    numbers = matters([(prompt, answers) for prompt, answers, _ in real])
    told = [number for number, (prompt, answers, _) in zip(numbers, real, strict=True) if _outcome(prompt, answers)]
    chosen = sorted(dict.fromkeys([*reversed([*told, numbers[-1]])]), key=numbers.index)[-MAX_GOALS:]
    parts = [[turn for number, turn in zip(numbers, real, strict=True) if number == matter] for matter in chosen]
    return [cut(_goal(part), GOAL_CHARS // len(parts)) for part in parts]


def _goal(real: Sequence[tuple[str, list[str], int]]) -> str:
    """The person's sentence that is most about these turns."""
    telling = [item for item in real if not is_open_question(item[0], item[1]) and not is_routine(item[0], item[1])]
    asked = [item for prompt, _, _ in telling for item in requests(prompt)]
    asked = [item for item in asked if stands_alone(item)] or asked
    if not asked:
        return cut(" ".join(next((row[0] for row in real if not is_husk(row[0])), "").split()), GOAL_CHARS)
    return cut(max(zip(centrality(asked, _said(real)), asked, strict=True), key=lambda pair: pair[0])[1], GOAL_CHARS)


def requests(prompt: str) -> list[str]:
    """A plan's title, or the first sentences of the person's own words."""
    if is_plan(prompt):
        title = _TITLE.search(prompt)
        return [title.group(1).strip()] if title else []
    most = MAX_ASKED if len(prompt) <= TYPED_CHARS else 1
    sentences = [
        item
        for item in candidates(own_words(prompt), USER)[:most]
        if recallable(item.text) and not (has("pasted", item.text) or is_husk(item.text))
    ]
    return [text for text in (trimmed(item.text) or item.text for item in sentences) if _SAID.match(text)]


def stands_alone(request: str) -> bool:
    """True for a request that somebody who was not there understands."""
    is_wide = width(shown_part(request)) >= NARROWEST and not is_bare_reason(request)
    return is_wide and not has("outside", request) and not has("points_away", request)


def _outcomes(texts: Sequence[str], spoken: Sequence[str]) -> list[str]:
    """The results most central to the session, and the last, in order.

    The last ones of a session of many matters. texts: the result of each turn that had one. spoken: the session's
    prompts and answers.
    """
    # Work done early in a session is often done otherwise at its end.
    weights = [item * (at + 1) / len(texts) for at, item in enumerate(centrality(texts, spoken))]
    ranked = sorted((at for at in range(len(texts)) if weights[at] >= LEAST_CENTRAL), key=lambda at: -weights[at])
    last = range(len(texts))[-1 if ranked else -MAX_OUTCOMES :]
    return [cut(texts[at], SENTENCE_CHARS) for at in sorted({*ranked[: MAX_OUTCOMES - 1], *last})]


def _outcome(prompt: str, answers: Sequence[str]) -> str:
    result = "" if is_farewell(prompt) else outcome(prompt, answers)
    is_telling = says_done(result) and _SAID.match(result) and not _SUPPOSED.search(result)
    return result if is_telling and len(query_terms(result)) >= FEWEST_TERMS else ""


def _said(real: Sequence[tuple[str, list[str], int]]) -> list[str]:
    return [text for prompt, answers, _ in real for text in (prompt, *answers)]


def _causes(texts: Sequence[str]) -> list[str]:
    """One cause for each trouble; the next sentence is about its repair."""
    by_topic: dict[str, str] = {}
    for text in texts:
        topic = text.partition(": ")[0]
        by_topic.setdefault(topic, cut(text, SENTENCE_CHARS))
    return list(by_topic.values())[-2:]


def left_open(turns: Sequence[tuple[str, Sequence[str]]]) -> str:
    """The unanswered request or closing question, "" for none.

    A person's question for a fact is no work: whoever still wants to know asks again.
    turns: (prompt, answers), oldest first. Sentences that only sound like work left ("next step", "아직 안") are not
    looked for: in the last answers of real sessions they were wrong each time (docs/inside/experiments.md).
    """
    if not turns or not (request := " ".join(without_marks(turns[-1][0]).split())):
        return ""
    prompt, answers = turns[-1]
    spoken = [answer for answer in answers if answer.strip()]
    if not spoken or is_open_question(prompt, list(answers)):
        is_work = recallable(prompt) and width(request) >= NARROWEST and not asks_a_fact(prompt)
        return cut(request, MAX_OPEN_CHARS) if is_work else ""
    closing = candidates(spoken[-1], ASSISTANT)[-1:]
    if not closing or not closing[0].asks or width(closing[0].text) < NARROWEST:
        return ""
    question = cut(closing[0].text, MAX_OPEN_CHARS - ASKED_CHARS)
    return "%s → %s" % (cut(request, ASKED_CHARS), question) if recallable(prompt) else question


def is_farewell(text: str) -> bool:
    """True for a goodbye at the end of a day's work."""
    return len(text) < 80 and bool(_FAREWELL.search(text))


def is_due(commitment: str, today: str) -> bool:
    """True for a commitment that binds on a day (YYYY-MM-DD)."""
    dates = _DATED.findall(commitment)
    bare = _DATED.sub("", commitment)
    return recallable(bare) and not is_farewell(bare) and (not dates or max(dates) >= today)


def centrality(sentences: Sequence[str], session: Sequence[str]) -> list[float]:
    """The share of the session's vocabulary in each sentence, per term.

    The centroid method of extractive summaries (Radev et al. 2004), with the logarithm of a term's number of texts in
    place of its frequency, so that no pasted log decides. session: its prompts and answers.
    """
    counts: Counter[str] = Counter()
    for text in session:
        counts.update(set(query_terms(text)))
    shares = []
    for sentence in sentences:
        terms = query_terms(sentence)
        shares.append(
            sum(math.log1p(counts[item] - 1) for item in terms if counts[item] > 1) / max(SHORTEST_TERMS, len(terms))
        )
    return shares
