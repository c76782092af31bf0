"""Operations that import transcripts, and export and import memories."""

from memlayer.wire.message import Asking, Message, Names, Path, Whole


class Found(Message):
    """One agent's sessions in one folder. first_ms, last_ms: of what was said."""

    agent: str = ""
    folder: str = ""
    sessions: int = 0
    turns: int = 0
    new_turns: int = 0
    first_ms: Whole = 0
    last_ms: Whole = 0


class Imported(Message):
    """Counts of an import of transcripts.

    new, known: events (prompts, answers, calls). new_turns: turns with new events. known_turns: others with known
    events. skipped: by reason. found: by agent and folder. problems: agents whose form is not the known one.
    """

    files: int = 0
    unchanged: int = 0
    lines: int = 0
    turns: int = 0
    new: int = 0
    known: int = 0
    new_turns: int = 0
    known_turns: int = 0
    skipped: dict[str, int] = {}
    dry_run: bool = False
    unembedded: int = 0
    seconds: float = 0.0
    found: list[Found] = []
    problems: list[str] = []

    def skip(self, reason: str, number: int = 1) -> None:
        """Count files or records that are left out."""
        if number:
            self.skipped[reason] = self.skipped.get(reason, 0) + number


class ExportCounts(Message):
    """Lines by kind."""

    projects: int = 0
    sessions: int = 0
    events: int = 0
    memories: int = 0
    usages: int = 0


class Exported(ExportCounts):
    """A whole export."""

    path: str = ""


class ExportTaken(ExportCounts):
    """Counts of an export taken in.

    known: present already. forgotten: stays so. bad: lines left out. reasons: of the first of them.
    """

    known: int = 0
    forgotten: int = 0
    bad: int = 0
    reasons: list[str] = []
    dry_run: bool = False


class Origin(Message):
    """Files or folders with one agent's sessions."""

    agent: str = "claude"
    paths: Names = ()


class Import(Asking[Imported], tag="import"):
    """paths: transcripts or folders.

    origins: other agents' sessions, beside or instead of them. project_dir: only its sessions, and the project of
    sessions without a folder.
    """

    dry_run: bool = False
    project_dir: Path = ""
    paths: Names = ()
    origins: tuple[Origin, ...] = ()


class Export(Asking[Exported], tag="export"):
    path: Path = ""


class ImportExport(Asking[ExportTaken], tag="import_export"):
    path: Path = ""
    dry_run: bool = False
