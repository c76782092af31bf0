"""Categories, kinds, authors and ends of memories, with their properties.

All are stored by their values. A new kind is a member and a row here. Mypy names the rooms that decide over kinds.
`edge/mcp.py` repeats the categories' names, because it is standard library only. A test compares the two.
"""

from dataclasses import dataclass
from enum import StrEnum

EARLIER = "asked or said in an earlier session"
_TEAM_MARK = "team://"  # begins the stored kind of a colleague's note. No path of a piece begins so


class Category(StrEnum):
    """The origin of a memory, by which age deletes it."""

    CORE = "core"
    DAILY = "daily"
    CONVERSATION = "conversation"
    CUSTOM = "custom"

    @classmethod
    def _missing_(cls, value: object) -> "Category":
        return cls.CUSTOM  # another version's


class Kind(StrEnum):
    """The form of a memory, in the order that models read."""

    TURN = "turn"
    OPEN_QUESTION = "open_question"
    ROUTINE = "routine"
    DID_NOT_HOLD = "did_not_hold"
    REWOUND = "rewound"
    RUN = "run"
    DECISION = "decision"
    PREFERENCE = "preference"
    FACT = "fact"
    CAUSE = "cause"
    ATTEMPT = "attempt"
    COMMITMENT = "commitment"
    TASK = "task"
    ENTRY = "entry"
    SESSION_SUMMARY = "session_summary"
    COMPACTION = "compaction"
    TOPIC = "topic"
    OUTCOME = "outcome"
    NOTE = "note"
    PIECE = "piece"
    TEAM = "team_note"


class Author(StrEnum):
    """The author of a memory's words.

    PERSON typed them; ADOPTED: another wrote them, the person pinned, kept or restored them. MODEL: a session's;
    READER: one that was asked to read sessions. UNCLEAR: they stand in a prompt and may be somebody else's.
    """

    PERSON = "person"
    ADOPTED = "adopted"
    MODEL = "model"
    READER = "reader"
    RUN = "run"
    COLLEAGUE = "colleague"
    FILE = "file"
    UNCLEAR = "unclear"
    MEMLAYER = "memlayer"

    @classmethod
    def _missing_(cls, value: object) -> "Author":
        return cls.UNCLEAR


class Ended(StrEnum):
    """Why a memory holds no more, in a person's words."""

    NOT = ""
    REPLACED = "replaced"
    REWORDED = "reworded"
    FOLDED = "said by a note"
    TAKEN_BACK = "taken back"
    READ_ANEW = "read anew"
    UNTRUE = "found untrue"
    CARRIED_OUT = "carried out"
    DECLINED = "declined"
    LET_GO = "let go"
    EXPIRED = "expired"
    GONE = "gone from its file"
    REGROUPED = "regrouped"
    LOST = "lost in a damage"

    @classmethod
    def _missing_(cls, value: object) -> "Ended":
        return cls.LET_GO


@dataclass(frozen=True)
class CategoryRow:
    """All that holds for each memory of a category.

    name, plural: for a model, and the filter of its tools. noun: for a person. key: the first part of a key.
    importance: before the signals of its text, in [0, 1].
    """

    name: str
    plural: str
    noun: str
    key: str
    importance: float


@dataclass(frozen=True)
class KindRow:
    """All that holds for each memory of a kind.

    label: for a model. heading, korean: in memory files, where each of these words is read as the kind.
    searched: has chunks in the index. recalled: given to a prompt. binds: a person's wish or settled matter, which
    survives a compaction and may hold for every project. of_session: stands for its whole session, so that forgetting
    it by name takes no turn along. mark: stands before its text. at_start: why a session's start has it.
    """

    label: str
    heading: str = ""
    korean: tuple[str, ...] = ()
    searched: bool = True
    recalled: bool = True
    binds: bool = False
    of_session: bool = False
    mark: str = ""
    at_start: str = "in force"


# In the order in which a model is told of them.
CATEGORIES: dict[Category, CategoryRow] = {
    Category.CONVERSATION: CategoryRow("turn", "turns", "turn", "turn", 0.2),
    Category.CORE: CategoryRow("settled", "settled", "core memory", "core", 0.7),
    Category.DAILY: CategoryRow("day", "days", "daily entry", "daily", 0.3),
    Category.CUSTOM: CategoryRow("note", "notes", "note", "custom", 0.4),
}

# In the order of the sections of a memory file.
KINDS: dict[Kind, KindRow] = {
    Kind.PREFERENCE: KindRow(
        "preference", "Preferences", ("선호", "규칙"), binds=True, at_start="a rule or wish in force"
    ),
    Kind.DECISION: KindRow(
        "decision", "Decisions", ("결정", "결정 사항", "결정사항"), binds=True, at_start="a decision in force"
    ),
    Kind.COMMITMENT: KindRow("commitment", "Commitments", ("약속", "할 일"), at_start="promised and not yet done"),
    Kind.FACT: KindRow("fact", "Facts", ("사실",)),
    Kind.CAUSE: KindRow("cause", "Causes and fixes", ("원인", "원인과 해결")),
    Kind.ATTEMPT: KindRow("attempt", "Attempts that did not hold", ("시도", "실패한 시도")),
    Kind.TASK: KindRow("task", "Open work", ("남은 일", "작업"), at_start="open work"),
    Kind.NOTE: KindRow("note", "Notes", ("메모", "노트")),
    Kind.PIECE: KindRow("note"),
    Kind.TEAM: KindRow("team note", at_start="a note of a colleague"),
    Kind.TURN: KindRow("turn", at_start=EARLIER),
    Kind.OPEN_QUESTION: KindRow("turn", recalled=False),
    Kind.ROUTINE: KindRow("turn", searched=False, recalled=False, at_start=EARLIER),
    Kind.DID_NOT_HOLD: KindRow("turn", mark="(did not hold) "),
    Kind.REWOUND: KindRow("turn", recalled=False, mark="(taken back) "),
    Kind.RUN: KindRow("turn", recalled=False, mark="(nobody typed this) "),
    Kind.ENTRY: KindRow("day", searched=False, recalled=False),
    Kind.SESSION_SUMMARY: KindRow(
        "day", recalled=False, of_session=True, at_start="a session of the last day, or the last one"
    ),
    Kind.COMPACTION: KindRow("day", recalled=False, of_session=True),
    Kind.TOPIC: KindRow("day", recalled=False),
    Kind.OUTCOME: KindRow("day", searched=False, recalled=False, of_session=True),
}

NOT_HELD = (Kind.DID_NOT_HOLD, Kind.REWOUND)  # turns taken back: by words, or in the host
PERSONS = (Author.PERSON, Author.ADOPTED)  # whose memories only the person ends
# Kinds of the notes that a model writes from a session.
NOTED = (Kind.PREFERENCE, Kind.DECISION, Kind.COMMITMENT, Kind.FACT, Kind.CAUSE, Kind.ATTEMPT)
BINDING = tuple(kind for kind, row in KINDS.items() if row.binds)
# Of a memory whose stored kind is unknown here: an earlier or later version's, or none.
_DEFAULTS = {
    Category.CONVERSATION: Kind.TURN,
    Category.CORE: Kind.NOTE,
    Category.DAILY: Kind.ENTRY,
    Category.CUSTOM: Kind.PIECE,
}
_BY_VALUE = {kind.value: kind for kind in Kind}


def kind_of(category: Category, stored: str) -> Kind:
    """Return the kind of a stored value.

    A piece of a person's own Markdown is stored as its place, `name:start-end`, a colleague's note with its author.
    """
    return _BY_VALUE.get(stored) or (Kind.TEAM if stored.startswith(_TEAM_MARK) else _DEFAULTS[category])


def stored_for_team(kind: Kind, author: str) -> str:
    """Return the stored kind of a colleague's note."""
    return "%s%s/%s" % (_TEAM_MARK, kind, author)


def mark_of(category: Category, stored: str) -> str:
    """Return the words before a shown text, such as a note's author."""
    if not stored.startswith(_TEAM_MARK):
        return KINDS[kind_of(category, stored)].mark
    kind, _, author = stored.removeprefix(_TEAM_MARK).partition("/")
    return "(%s by %s, team) " % (KINDS[kind_of(Category.CORE, kind)].label, author)


def category_named(name: str) -> Category | None:
    """Return the category that a model's tool calls so, None for none."""
    return next((category for category, row in CATEGORIES.items() if row.name == name), None)
