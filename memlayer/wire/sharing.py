"""Operations on a person's share, and on a project's team."""

from msgspec import field

from memlayer.wire.memories import MemoryRow
from memlayer.wire.message import Asking, Message, Path


class SharedMachine(Message):
    """Another machine of a share, as far as its log was read.

    commits: taken in. written_ms: its own time of the last one. is_ahead: that is in the future. is_former: an earlier
    name of this home.
    """

    machine: str = ""
    name: str = ""
    commits: int = 0
    written_ms: int = 0
    is_ahead: bool = False
    is_former: bool = False


class ShareState(Message):
    """A home's share; address is "" without one.

    to_send: rows and tombstones that wait. to_erase: forgotten rows that own objects still hold. behind: commits of
    other machines that could not be read, and behind_why. waiting_uses: of memories that have not come yet. problem:
    of the last push or pull, "" when it went well. renamed_ms: when the home last took a new name.
    """

    address: str = ""
    machine: str = ""
    name: str = ""
    is_encrypted: bool = False
    is_automatic: bool = False
    has_key: bool = False
    to_send: int = 0
    to_erase: int = 0
    behind: int = 0
    behind_why: str = ""
    waiting_uses: int = 0
    objects: int = 0
    bytes: int = 0
    push_ms: int = 0
    pull_ms: int = 0
    problem: str = ""
    problem_ms: int = 0
    renamed_ms: int = 0
    machines: list[SharedMachine] = []


class SharePushed(Message):
    """Counts of a push. erased: forgotten rows taken out of own objects."""

    events: int = 0
    memories: int = 0
    usages: int = 0
    tombstones: int = 0
    erased: int = 0
    objects: int = 0
    bytes: int = 0
    commits: int = 0


class SharePulled(Message):
    """Counts of a pull.

    kept_own: memories that were changed here meanwhile, and stay. forgotten: rows that stay forgotten. erased: rows
    that another machine forgot. skipped_lines: of another version. behind: commits that could not be read.
    """

    events: int = 0
    memories: int = 0
    usages: int = 0
    known: int = 0
    kept_own: int = 0
    forgotten: int = 0
    erased: int = 0
    skipped_lines: int = 0
    behind: int = 0
    commits: int = 0
    bytes: int = 0
    behind_why: str = ""


class ShareEnded(Message):
    """address: of the share that ended, or the team that was left."""

    address: str = ""


class ShareRewritten(Message):
    """Counts of the new log, and whether no earlier byte is left."""

    objects: int = 0
    bytes: int = 0
    is_purged: bool = False


class ShareKey(Message):
    key: str = ""


class DroppedMachine(Message):
    machine: str = ""


class ShareSetup(Asking[ShareState], tag="share.setup"):
    """Arguments of a setup.

    secret: the key of a share that is there. encryption: "", on or off. dry_run: look at the address alone.
    """

    address: str = ""
    secret: str = ""
    name: str = ""
    encryption: str = ""
    by_hand: bool = False
    dry_run: bool = False


class ShareSynced(Message):
    pushed: SharePushed = field(default_factory=SharePushed)
    pulled: SharePulled = field(default_factory=SharePulled)


class ShareSync(Asking[ShareSynced], tag="share.sync"):
    pass


class ShareStatus(Asking[ShareState], tag="share.status"):
    pass


class ShareStop(Asking[ShareEnded], tag="share.stop"):
    """delete: this machine's objects in the share as well."""

    delete: bool = False


class ShareRewrite(Asking[ShareRewritten], tag="share.rewrite"):
    pass


class ReadShareKey(Asking[ShareKey], tag="share.key"):
    pass


class ShareDrop(Asking[DroppedMachine], tag="share.drop"):
    """machine: the name, or the start of the id."""

    machine: str = ""


class LeftOut(Message):
    """Notes that were not taken in: how many, and why."""

    why: str = ""
    notes: int = 0


class TeamState(Message):
    """A project's team; address is "" without one.

    offered: notes in the work tree that the person has not accepted. promoted: own notes that travel. withheld: those
    of them that were replaced or forgotten. notes: of colleagues, as of the last pull. problem: of the last push or
    pull, "" when it went well.
    """

    address: str = ""
    name: str = ""
    is_automatic: bool = False
    offered: int = 0
    promoted: int = 0
    withheld: int = 0
    notes: int = 0
    authors: list[str] = []
    left_out: list[LeftOut] = []
    push_ms: int = 0
    pull_ms: int = 0
    problem: str = ""
    problem_ms: int = 0


class TeamPushed(Message):
    """Counts of a push. withdrawn: own notes that left the place."""

    notes: int = 0
    withdrawn: int = 0


class TeamPulled(Message):
    """Counts of a pull; gone ones were taken back."""

    notes: int = 0
    new: int = 0
    gone: int = 0
    left_out: list[LeftOut] = []


class Promoted(Message):
    """A promoted memory, its team's address, and why it waits, or ""."""

    memory: MemoryRow
    address: str = ""
    problem: str = ""


class TeamSetup(Asking[TeamState], tag="team.setup"):
    """Arguments of a setup.

    address: folder, git, or that of a place. "" for a team that is there, wherever it is.
    """

    project_dir: Path = ""
    address: str = ""
    name: str = ""
    by_hand: bool = False


class TeamStatus(Asking[TeamState], tag="team.status"):
    project_dir: Path = ""


class TeamSynced(Message):
    pushed: TeamPushed = field(default_factory=TeamPushed)
    pulled: TeamPulled = field(default_factory=TeamPulled)


class TeamSync(Asking[TeamSynced], tag="team.sync"):
    project_dir: Path = ""


class TeamLeave(Asking[ShareEnded], tag="team.leave"):
    """keep: own notes stay at the place."""

    project_dir: Path = ""
    keep: bool = False


class Promote(Asking[Promoted], tag="promote"):
    """undo: the note travels no more."""

    id_: str = ""
    undo: bool = False
