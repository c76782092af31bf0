"""Checks of a model's notes against their session."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import Any

from memlayer.consolidation.rules.own_words import own_words
from memlayer.kinds import NOTED, STORIES
from memlayer.model import replace
from memlayer.notes.addressed import addressed_spans, is_addressed
from memlayer.notes.answer import DraftNote
from memlayer.notes.session_turns import SessionTurn, align_in_turns
from memlayer.text.context_block import cut
from memlayer.text.sentences import is_question, only_asks, prose, sentences
from memlayer.text.terms import index_terms
from memlayer.turns.evidence import TOOL, Evidence, is_short
from memlayer.turns.turn_memory import MAX_SUBJECT_CHARS, first_clause

MIN_TEXT_CHARS, MAX_TEXT_CHARS = 12, 700  # with its parts
FAR_TOO_LONG = 1.2  # up to which a text is cut instead of refused
MIN_GROUNDED = 0.3  # share of a note's terms that stand in the session. The rest is wording
MAX_ERROR_CHARS = 160
LEAST_SCRIPT = 0.1  # of a session's letters, from which a note's words in that script are looked for
_HANGUL, _LETTER = re.compile("[가-힣]"), re.compile(r"[^\W\d_]")
_NUMBER = re.compile(r"\d+")
# A day is told by its date, counted from the session's.
_DATE = re.compile(
    r"(?<![\d-])(?:\d{4}-)?(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?![\d-])|(?:\d{4}년 ?)?\d{1,2}월 ?\d{1,2}일"
)
_REMARK = re.compile(r" ?\([^()]*\)")
# The turns say "not found" and a note 404. A round number may as well be an amount.
_STATUS_NUMBERS = {str(status.value) for status in HTTPStatus if status.value % 100}
_PRODUCT = re.compile(r"\b[A-Z][a-z]+\.(?:js|io|ai|dev)\b")  # "Next.js" is no file
DOUBTED = " (?)"
_DOUBT = re.compile(r" ?\((?:tried, |시도함, )?(?:unconfirmed|미확인)\)$")  # of a headline: one character says it, too
_PART = r"[A-Za-z0-9_.+@-]"
# Addresses, absolute paths, paths of three parts or with a file's ending, hashes, file names. "amend/rebase" is none.
_NAME = re.compile(
    r"https?://[A-Za-z0-9._~:/?#@!$&*+,;=%-]+|[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+\.[A-Za-z0-9.]+"
    rf"|(?<![\w/.])~?/(?:{_PART}+/)+{_PART}+|(?<![\w/])(?:{_PART}+/){{2,}}{_PART}*[A-Za-z0-9_]"
    rf"|(?<![\w/])(?:{_PART}+/)+[A-Za-z0-9_-]+\.[a-z]{{1,5}}(?![A-Za-z0-9_])"
    r"|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b"
    r"|(?<![\w/.-])[A-Za-z0-9_-]+\.(?:py|tsx?|jsx?|go|rs|rb|java|kt|toml|ya?ml|json|md|sql|sh|lock|env|txt|proto|cpp)"
    r"(?![A-Za-z0-9_])"
)
_ECHO = re.compile(
    r"\"(?:quote|replaces|kind)\"|\[mem:|\[redacted:|\[left out|language model that keeps|</?session-", re.I
)
_INSTRUCTS = re.compile(r"\b(?:future|later|next) (?:sessions?|models?|agents?) (?:must|should|shall|need to)\b", re.I)


class Refusal(StrEnum):
    """Why a note was not kept, as a person is told."""

    UNKNOWN_KIND = "its kind is none of ours"
    TOO_SHORT = "it says too little"
    TOO_LONG = "it is too long"
    NO_QUOTE = "its quote does not stand in the session"
    SHORT_QUOTE = "its quote is too short to prove anything"
    ADDRESSED = "its quote addresses a model"
    NEW_NUMBER = "it has a number that the session does not have"
    NEW_NAME = "it has a path, address or id that the session does not have"
    OFF_TOPIC = "hardly a word of it stands in the session"
    ECHO = "it repeats the request"
    QUESTION = "it is a question"
    REPEATED = "a note in force says it already"
    FORGOTTEN = "the person forgot it"
    TOO_MANY = "the session has as many stronger notes as a session may add"
    SECRET = "it holds a secret or a private part"


@dataclass(frozen=True)
class CheckedNote:
    """A note that passed.

    text: without sentences that name things the session does not have. turn: the turn of the first quote. evidence: of
    each quote that was found. files: those that the session names. error: a failed call's, or "". headline, subject: ""
    where they did not pass.
    """

    draft: DraftNote
    text: str
    turn: SessionTurn
    evidence: tuple[Evidence, ...]
    files: tuple[str, ...]
    error: str
    headline: str
    subject: str


@dataclass(frozen=True)
class RefusedNote:
    """A note that did not pass."""

    draft: DraftNote
    reason: Refusal

    def as_row(self, at_ms: int) -> dict[str, Any]:
        """Return its row in the record of a session's reading."""
        return {"kind": self.draft.kind[:20], "text": self.draft.text, "reason": self.reason.value, "at_ms": at_ms}


class SessionText:
    """The words of a session that notes are compared with.

    further: texts that a note may repeat as well: those of the notes that it replaces. quote: what the note rests on.
    shown: texts of other notes in the request, whose names and numbers it may take.
    """

    def __init__(
        self, turns: Sequence[SessionTurn], further: Iterable[str] = (), quote: str = "", shown: Iterable[str] = ()
    ) -> None:
        parts = list(further)
        for turn in turns:
            parts += [turn.spoken, *turn.files, *(f"{row.call} {row.error}" for row in turn.failures)]
        self.text = "\n".join(parts).lower()
        self.named = "\n".join([self.text, *shown]).lower()
        self.numbers = _STATUS_NUMBERS.union(_NUMBER.findall(self.named))
        self.terms = frozenset(index_terms(self.text).split())
        self.hangul_shares = [_hangul_share(text) for text in (self.text, quote) if text]

    def lacks_script(self, term: str) -> bool:
        """Return whether session or quote hardly has this term's script.

        A Korean note on a pasted English plan shares no word with it, and an English one on a Korean talk only names.
        """
        is_hangul = bool(_HANGUL.search(term))
        return any((share if is_hangul else 1 - share) < LEAST_SCRIPT for share in self.hangul_shares)

    def has_name(self, name: str) -> bool:
        """Return whether a path (or its end), address or id occurs."""
        name = name.lower().strip("./").rstrip(".,:;!?*")
        return name in self.named or (len(name.split("/")) > 1 and "/".join(name.split("/")[-2:]) in self.named)


def _hangul_share(text: str) -> float:
    return len(_HANGUL.findall(text)) / max(1, len(_LETTER.findall(text)))


def check(
    draft: DraftNote, turns: Sequence[SessionTurn], replaced: Sequence[str] = (), shown: Sequence[str] = ()
) -> CheckedNote | RefusedNote:
    """Compare a note with its session.

    replaced: the texts of the notes in its `replaces`. shown: those of all notes in the request.
    """
    reason = _form_problem(draft)
    if reason is not None:
        return RefusedNote(draft, reason)
    place = align_in_turns(draft.quote, draft.turn, turns)
    if place is None:
        return RefusedNote(draft, Refusal.SHORT_QUOTE if is_short(draft.quote) else Refusal.NO_QUOTE)
    turn, evidence = place
    if _is_addressed([turn], evidence) or addressed_spans(draft.text):
        return RefusedNote(draft, Refusal.ADDRESSED)
    replaced = [*replaced, *map(str, range(2, draft.parts + 1))]  # "4 rules" is counted
    session = SessionText(turns, replaced, draft.quote, shown)
    text = _fitting(grounded(draft.text, session))
    reason = _content_problem(text or draft.text, session)
    if reason is not None:
        return RefusedNote(draft, reason)
    files = tuple(path for path in draft.files if session.has_name(path) and not addressed_spans(path))
    further = [align_in_turns(quote, number, turns) for quote, number in draft.also]
    others = [other for _, other in filter(None, further) if not _is_addressed(turns, other)]
    error = _known_error(draft.error, session)
    headline = headline_from(draft.headline, [*replaced, text], turns, shown)
    return CheckedNote(draft, text, turn, (evidence, *others), files, error, headline, subject_from(draft.subject))


def check_own(
    draft: DraftNote, turns: Sequence[SessionTurn], seen: Mapping[str, str], replaced: Sequence[str] = ()
) -> CheckedNote | RefusedNote:
    """Compare a note with the session whose own model wrote it.

    Its quote must be the person's own words, none that they pasted, or of an attempt or a cause what a tool said. The
    model's own words prove nothing. seen: prompt id -> output of the turn's tools.
    """
    known = [*replaced, *(turn.spoken for turn in turns), *seen.values()]
    typed = [replace(turn, prompt=prose(own_words(turn.prompt)), answer="") for turn in turns]
    result = check(draft, typed, known)
    if isinstance(result, CheckedNote):
        place = align_in_turns(draft.quote, result.turn.number, [replace(turn, answer="") for turn in turns])
        return replace(result, evidence=(place[1],)) if place is not None else RefusedNote(draft, Refusal.NO_QUOTE)
    if result.reason != Refusal.NO_QUOTE or draft.kind not in STORIES:
        return result
    result = check(draft, [replace(turn, prompt="", answer=seen.get(turn.prompt_id, "")) for turn in turns], known)
    if isinstance(result, RefusedNote):
        return result
    return replace(result, evidence=tuple(replace(row, speaker=TOOL) for row in result.evidence))


def headline_from(
    text: str, sources: Iterable[str], turns: Sequence[SessionTurn] = (), shown: Iterable[str] = ()
) -> str:
    """Return a model's headline, cut where it is too long.

    "" for a claim that its sources lack.

    sources: the note's text, and those of the notes that it replaces. turns: of its session. shown: see SessionText.
    """
    is_fit = len(text) >= MIN_TEXT_CHARS and not is_question(text.removesuffix(DOUBTED))
    is_fit = is_fit and not (_ECHO.search(text) or _INSTRUCTS.search(text) or addressed_spans(text))
    session = SessionText(turns, sources, shown=shown)
    text = first_clause(_DOUBT.sub(DOUBTED, text))
    if _unknown(text, session) is not None:  # often in a remark: the rule is never thrown away for it
        text = _REMARK.sub(lambda remark: remark[0] if _unknown(remark[0], session) is None else "", text)
    return text if is_fit and _content_problem(text, session) is None else ""


def subject_from(text: str) -> str:
    """Return a model's subject, "" for one that is no name."""
    is_fit = len(text) <= MAX_SUBJECT_CHARS and not (_ECHO.search(text) or addressed_spans(text))
    return text.strip(" .:") if is_fit else ""


def grounded(text: str, session: SessionText) -> str:
    """Return a text without sentences that name things unknown to the session."""
    if _unknown(text, session) is None:
        return text
    spoken = [text[span.start : span.end].strip() for span in sentences(text)]
    kept = " ".join(sentence for sentence in spoken if _unknown(sentence, session) is None)
    return kept if len(kept) >= MIN_TEXT_CHARS else ""


def _fitting(text: str) -> str:
    """Return the first sentences, or words, that a note holds."""
    ends = [span.end for span in sentences(text) if span.end <= MAX_TEXT_CHARS]
    is_cut = len(text) > MAX_TEXT_CHARS
    return text[: ends[-1]] if is_cut and ends else cut(text, MAX_TEXT_CHARS)


def _is_addressed(turns: Sequence[SessionTurn], evidence: Evidence) -> bool:
    return any(
        is_addressed(turn.spoken, evidence.start, evidence.end)
        for turn in turns
        if turn.prompt_id == evidence.prompt_id
    )


def _form_problem(draft: DraftNote) -> Refusal | None:
    if draft.kind not in NOTED:
        return Refusal.UNKNOWN_KIND
    if len(draft.text) < MIN_TEXT_CHARS:
        return Refusal.TOO_SHORT
    if len(draft.text) > FAR_TOO_LONG * MAX_TEXT_CHARS:
        return Refusal.TOO_LONG
    if _ECHO.search(draft.text):
        return Refusal.ECHO
    if _INSTRUCTS.search(draft.text):
        return Refusal.ADDRESSED
    return Refusal.QUESTION if only_asks(draft.text) else None


def _unknown(text: str, session: SessionText) -> Refusal | None:
    """Return why a text names something unknown, None if it does not."""
    text = _PRODUCT.sub("", text)
    if any(number not in session.numbers for number in _NUMBER.findall(_DATE.sub("", text))):
        return Refusal.NEW_NUMBER
    return Refusal.NEW_NAME if any(not session.has_name(name) for name in _NAME.findall(text)) else None


def _content_problem(text: str, session: SessionText) -> Refusal | None:
    unknown = _unknown(text, session)
    if unknown is not None:
        return unknown
    terms = [term for term in set(index_terms(text).split()) if not session.lacks_script(term)]
    if len(session.terms.intersection(terms)) < MIN_GROUNDED * len(terms):
        return Refusal.OFF_TOPIC
    return None


def _known_error(error: str, session: SessionText) -> str:
    """Return an error line whose words the session has, else ""."""
    terms = frozenset(index_terms(error).split())
    if not terms or addressed_spans(error) or len(terms & session.terms) < 0.6 * len(terms):
        return ""
    return error[:MAX_ERROR_CHARS]


def checked_summary(summary: str, turns: Sequence[SessionTurn], shown: Iterable[str] = ()) -> str:
    """Return a summary's sentences that the session carries, "" for none.

    shown: texts of the notes and tasks in its request, which it may name.
    """
    if not summary or _ECHO.search(summary) or addressed_spans(summary) or _INSTRUCTS.search(summary):
        return ""
    session = SessionText(turns, shown)
    text = grounded(summary, session)
    return text if text and _content_problem(text, session) is None else ""
