"""Categories, kinds, authors and ends of memories, with their properties.

All are stored by their values. A new kind is a member and a row here: no room has a set of kinds of its own, which
`tests/unit/test_house_rules.py` checks. `edge/mcp.py` repeats names, because it is standard library only.
"""

from dataclasses import dataclass
from enum import StrEnum

EARLIER = "asked or said in an earlier session"
_IN_TURNS = "sums up turns, which have entries of their own"
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
    """The form of a memory, as it is stored."""

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
    searched: has chunks in the index. withheld: why no prompt gets it (a `Reason` of recall), "" if one does.
    noted: a model may write it from a session. uncapped: then it takes no place from other notes. is_story: it tells of
    the past, so that a tool's output proves it and its numbers hold on. is_to_do: an order that may be carried out.
    not_held: it did not hold, or was taken back. binds: a person's wish or settled matter, which survives a compaction
    and may hold for every project. part: of a session's summary, where it stands. of_session: stands for its whole
    session, so that forgetting it by name takes no turn along. repeats: its turns say the same. is_local: not sent to
    another machine, nor to a team. mark: stands before its text. at_start: why a session's start has it.
    """

    label: str
    heading: str = ""
    korean: tuple[str, ...] = ()
    searched: bool = True
    withheld: str = ""
    noted: bool = False
    uncapped: bool = False
    is_story: bool = False
    is_to_do: bool = False
    not_held: bool = False
    binds: bool = False
    part: str = ""
    of_session: bool = False
    repeats: bool = False
    is_local: bool = False
    mark: str = ""
    at_start: str = "in force"

    @property
    def is_only_searched(self) -> bool:
        """True for a turn that its person left, or that nobody typed."""
        return self.searched and bool(self.mark and self.withheld)


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
        "preference", "Preferences", ("선호", "규칙"), noted=True, uncapped=True, binds=True, part="decided",
        at_start="a rule or wish in force",
    ),
    Kind.DECISION: KindRow(
        "decision", "Decisions", ("결정", "결정 사항", "결정사항"), noted=True, is_to_do=True, binds=True,
        part="decided", at_start="a decision in force",
    ),
    Kind.COMMITMENT: KindRow(
        "commitment", "Commitments", ("약속", "할 일"), noted=True, uncapped=True, is_to_do=True, part="left",
        at_start="promised and not yet done",
    ),
    Kind.FACT: KindRow("fact", "Facts", ("사실",), noted=True),
    Kind.CAUSE: KindRow("cause", "Causes and fixes", ("원인", "원인과 해결"), noted=True, is_story=True, part="errors"),
    Kind.ATTEMPT: KindRow(
        "attempt", "Attempts that did not hold", ("시도", "실패한 시도"), noted=True, is_story=True, not_held=True
    ),
    Kind.TASK: KindRow("task", "Open work", ("남은 일", "작업"), is_local=True, at_start="open work"),
    Kind.NOTE: KindRow("note", "Notes", ("메모", "노트")),
    Kind.PIECE: KindRow("note", is_local=True),
    Kind.TEAM: KindRow("team note", is_local=True, at_start="a note of a colleague"),
    Kind.TURN: KindRow("turn", at_start=EARLIER),
    Kind.OPEN_QUESTION: KindRow("turn", withheld="a question that was never answered"),
    Kind.ROUTINE: KindRow("turn", searched=False, withheld=_IN_TURNS, at_start=EARLIER),
    Kind.DID_NOT_HOLD: KindRow("turn", not_held=True, mark="(did not hold) "),
    Kind.REWOUND: KindRow("turn", withheld="its statement was taken back", not_held=True, mark="(taken back) "),
    Kind.RUN: KindRow("turn", withheld="nobody typed its prompt", mark="(nobody typed this) "),
    Kind.ENTRY: KindRow("day", searched=False, withheld=_IN_TURNS, repeats=True),
    Kind.SESSION_SUMMARY: KindRow(
        "day", withheld=_IN_TURNS, of_session=True, at_start="a session of the last day, or the last one"
    ),
    Kind.COMPACTION: KindRow("day", withheld=_IN_TURNS, of_session=True),
    Kind.TOPIC: KindRow("day", withheld=_IN_TURNS, repeats=True),
    Kind.OUTCOME: KindRow("day", searched=False, withheld=_IN_TURNS, of_session=True, repeats=True),
}  # fmt: skip

PERSONS = (Author.PERSON, Author.ADOPTED)  # whose memories only the person ends
NOTED, UNCAPPED, STORIES, TO_DO, NOT_HELD, BINDING = (
    tuple(kind for kind, row in KINDS.items() if getattr(row, column))
    for column in ("noted", "uncapped", "is_story", "is_to_do", "not_held", "binds")
)
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
