"""A promoted note as a file, and untrusted files read back."""

import calendar
import hashlib
import re
import time
from dataclasses import dataclass
from functools import cache

from memlayer.edge.capture.payload import clean
from memlayer.errors import UserError
from memlayer.kinds import KINDS, Author, Category, Kind, stored_for_team
from memlayer.model import Memory, event_id, team_session
from memlayer.notes.addressed import addressed_spans
from memlayer.text.context_block import cut, flatten
from memlayer.text.word_lists import rows
from memlayer.turns.salience import new_memory
from memlayer.turns.turn_memory import fitting

SUFFIX = ".md"
MAX_CHARS = 1000  # of a note's text
MAX_FILE_BYTES = 8192
MAX_NAME_CHARS = 40
# Those with a section of their own, but tasks, which change too often to be notes.
PROMOTED = tuple(kind for kind, row in KINDS.items() if row.heading and not row.is_local)
_VERSION = "1"
_HEAD = re.compile(r"---\n((?:[a-z-]{1,20}: [^\n]{0,300}\n){1,12})---\n(.*)\Z", re.DOTALL)
_DAY = re.compile(r"\d{4}-\d\d-\d\d").fullmatch
_OUT = re.compile(r"[^\w .'-]+")  # of a name: no sign that could end the mark that it stands in
is_note_file = re.compile(r"[0-9a-f]{32}\.md").fullmatch


@cache
def _to_models() -> re.Pattern[str]:
    cells = [cell for _, *pair in rows("memlayer.team", "to_models.tsv") for cell in pair]
    return re.compile("|".join(cells), re.IGNORECASE)


class Refused(UserError):
    """A note file that is left out, with the reason."""


@dataclass(frozen=True)
class TeamNote:
    """A promoted note.

    id: of its author's memory. day: YYYY-MM-DD. project: its remote, or its strongest other key. evidence: a hash of
    the words that it rests on, by which its author can prove them.
    """

    id: str
    author: str
    day: str
    kind: Kind
    project: str
    evidence: str
    text: str
    headline: str = ""
    subject: str = ""

    @property
    def file_name(self) -> str:
        return self.id + SUFFIX

    def to_file(self) -> bytes:
        """Return the file that colleagues review."""
        head = {
            "memlayer-note": _VERSION, "id": self.id, "author": self.author, "day": self.day, "kind": self.kind,
            "project": self.project, "evidence": self.evidence, "headline": self.headline, "subject": self.subject,
        }  # fmt: skip
        lines = "".join("%s: %s\n" % item for item in head.items() if item[1])
        return ("---\n%s---\n\n%s\n" % (lines, self.text)).encode("utf-8", "replace")

    def memory(self, project_id: str, writer: str, now_ms: int) -> Memory:
        """Return a colleague's note as evidence. writer: "" in a work tree."""
        memory_id = event_id(project_id, writer, Kind.TEAM, self.id)
        at_ms = min(now_ms, calendar.timegm(time.strptime(self.day, "%Y-%m-%d")) * 1000 + 12 * 3_600_000)
        return new_memory(
            memory_id, Category.CUSTOM, stored_for_team(self.kind, self.author), self.text, at_ms,
            project_id=project_id, session_id=team_session(project_id), by=Author.COLLEAGUE, headline=self.headline,
            subject=self.subject,
        )  # fmt: skip


def id_of(file_name: str) -> str:
    return file_name.removesuffix(SUFFIX)


def name_of(text: str) -> str:
    """Return an author's name as it is shown."""
    return cut(" ".join(_OUT.sub(" ", flatten(clean(text))).split()), MAX_NAME_CHARS) or "a colleague"


def promoted(memory: Memory, author: str, project: str) -> TeamNote:
    """Return a memory as a note. Raises UserError for others."""
    if memory.category not in (Category.CORE, Category.CUSTOM) or memory.known_kind not in PROMOTED:
        raise UserError(f"{memory.key} is no note: turns, days, tasks and colleagues' notes are not promoted")
    if not memory.holds:
        raise UserError(f"{memory.key} was replaced. `memlayer show --history {memory.key}` shows the note that holds")
    text = flatten(clean(memory.text))
    if len(text) > MAX_CHARS:
        raise UserError(f"{memory.key} is longer than {MAX_CHARS} characters. `memlayer edit` shortens it")
    words = memory.evidence or "\n".join(memory.source_ids)
    evidence = "sha256:" + hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()
    day = time.strftime("%Y-%m-%d", time.localtime(memory.at_ms / 1000))
    headed = fitting(clean(memory.headline), clean(memory.subject))
    return TeamNote(memory.id, name_of(author), day, memory.known_kind, flatten(project), evidence, text, *headed)


def read_note(name: str, data: bytes) -> TeamNote:
    """Read a file that anybody may have written. Raises Refused."""
    if len(data) > MAX_FILE_BYTES:
        raise Refused("longer than %d bytes" % MAX_FILE_BYTES)
    try:
        found = _HEAD.match(data.decode("utf-8").replace("\r\n", "\n"))
    except UnicodeDecodeError:
        found = None
    if found is None:
        raise Refused("no note of memlayer")
    head: dict[str, str] = {}
    for line in found[1].splitlines():
        key, _, value = line.partition(": ")
        head.setdefault(key, value.strip())
    if head.get("memlayer-note") != _VERSION:
        raise Refused("of another version of memlayer")
    if head.get("id", "") + SUFFIX != name or not _is_day(head.get("day", "")):
        raise Refused("its id or its day is not a note's")
    text = flatten(clean(found[2]))
    if not text or len(text) > MAX_CHARS:
        raise Refused("its text is empty, or longer than %d characters" % MAX_CHARS)
    headed = fitting(clean(head.get("headline", "")), clean(head.get("subject", "")))
    if any(addressed_spans(part) or _to_models().search(part) for part in (text, *headed)):
        raise Refused("it addresses a model, not people")
    kind = next((kind for kind in PROMOTED if kind == head.get("kind")), Kind.NOTE)
    author, project = name_of(head.get("author", "")), flatten(head.get("project", ""))
    evidence = flatten(head.get("evidence", ""))
    return TeamNote(head["id"], author, head["day"], kind, project, evidence, text, *headed)


def _is_day(text: str) -> bool:
    try:
        return bool(_DAY(text)) and time.strptime(text, "%Y-%m-%d").tm_year >= 2000
    except ValueError:
        return False
