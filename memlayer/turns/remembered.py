"""Texts that a person asks to remember, as events for the spool."""

import re

from memlayer.edge.capture.payload import clean, spool_event
from memlayer.edge.home.registry import GLOBAL
from memlayer.edge.redaction.privacy import without_marks
from memlayer.edge.redaction.session_values import Heard
from memlayer.errors import UserError
from memlayer.text.sentences import width
from memlayer.turns.turn import MAX_MEMORY_CHARS

BY_MODEL = "model"  # the detail of an event that a model, and no person, asked to keep
NO_SESSION = "memlayer"  # the session of statements made outside any
_EVERYWHERE = re.compile(
    r"\b(?:in|for|across) (?:all|every|each)(?: (?:one )?of)?(?: (?:my|our))? (?:other )?"
    r"(?:projects?|repos?|repositories|repository|codebases?)\b(?! (?:of|in|under|inside) (?:the|this|that|our)\b)"
    r"|(?:모든|어느|어떤|전체) ?(?:내 ?)?(?:프로젝트|레포|저장소|리포지토리|projects?|repos?)(?:들)?"
    r" ?(?:에서|에도|에 |이든|든지|든 |공통|전부|다 )",
    re.IGNORECASE,
)
_NOT_EVERYWHERE = re.compile(
    r"\bnot (?:in|for|across) (?:all|every|each)\b|\b(?:except|unless)\b|\b(?:only|just) (?:here|in this)\b"
    r"|(?:프로젝트|레포|저장소)(?:들)?(?:에서)?(?:는|가)? ?(?:말고|아니라|아니고)"
    r"|(?:여기|이 ?(?:프로젝트|레포|저장소)에)서?만|빼고|제외|필요 ?(?:는|가|도)? ?없",
    re.IGNORECASE,
)
_NARROWEST = 16  # columns that say something beside a secret
_CLAUSE = re.compile(r"[,;.!?](?=\s|$)|\n|(?<=[가-힣][고며서만지])\s|(?<=[는은]데)\s|\s(?:and|but|because|so|while)\s")
_SAYS = re.compile(r"[^\W_]")


def says_something(text: str) -> bool:
    """True for a word or number besides the marks of redaction."""
    return _SAYS.search(without_marks(text)) is not None


def shown_part(text: str) -> str:
    """Return a text without the clauses that held a secret."""
    if without_marks(text) == text:
        return text
    return " ".join(clause.strip() for clause in _CLAUSE.split(text) if without_marks(clause) == clause)


def is_husk(text: str) -> bool:
    """True for a text whose point was a secret."""
    return without_marks(text) != text and width(shown_part(text)) < _NARROWEST


def is_all_redacted(text: str) -> bool:
    """True if only the marks of redaction are left of a text."""
    return without_marks(text) != text and not says_something(text)


def refuse_too_long(text: str) -> None:
    """Raise UserError for a text that a memory cannot hold whole."""
    if len(text) > MAX_MEMORY_CHARS:
        raise UserError(
            f"{len(text):,} characters are too long for one memory, and nothing was kept: give at most"
            f" {MAX_MEMORY_CHARS:,}, or remember it in parts"
        )


def says_everywhere(text: str) -> bool:
    """True if a text surely says that it holds in every project."""
    return _EVERYWHERE.search(text) is not None and _NOT_EVERYWHERE.search(text) is None


def remember_event(
    text: str, *, project_dir: str, at_ms: int, session_id: str = "", is_global: bool = False, by_model: bool = False
) -> dict[str, object]:
    """Return the event (edge.capture.payload.SPOOL_FIELDS) of a text, redacted here. Raises UserError.

    at_ms: Unix time.
    The same text said again later is another event: it may hold again after something else did. is_global: for every
    project. A text that says so is global as well. by_model: of its project alone, whatever the text says.
    """
    with Heard(session_id or NO_SESSION):
        text = clean(text).strip()
    if not text or is_all_redacted(text):
        raise UserError("Nothing to remember: all of it is private")
    refuse_too_long(text)
    return spool_event(
        kind="remember",
        session_id=session_id or NO_SESSION,
        prompt_id="",
        text=text,
        at_ms=at_ms,
        detail=BY_MODEL if by_model else GLOBAL if is_global or says_everywhere(text) else "",
        extra="%d %s" % (at_ms, text),
        project_dir=project_dir,
    )
