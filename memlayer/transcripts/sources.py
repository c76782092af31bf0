"""The readers of sessions, a row for each agent."""

import os
import re
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from memlayer.transcripts import branches, discovery
from memlayer.transcripts.discovery import Transcript
from memlayer.transcripts.lines import Tally
from memlayer.transcripts.others import codex, copilot, cursor, exports, gemini, opencode
from memlayer.transcripts.others.talk import Talk
from memlayer.transcripts.reader import TranscriptRecord, read_turns

CLAUDE = "claude"


class Reading(NamedTuple):
    """Records of a session in order, and the prompts it left."""

    records: Iterable[TranscriptRecord]
    left: Callable[[], Collection[str]]


class Source(NamedTuple):
    """How an agent's sessions are found and read.

    seen: the versions that its reader was seen with. name: of its files in a folder. describe: a file's
    sessions. goes_on: read takes an offset to read on from, else it reads from the start. has_folders: the sessions
    have a working folder.
    """

    title: str
    seen: str
    name: re.Pattern[str]
    describe: Callable[[str, os.stat_result, Callable[[str], None]], Iterable[Transcript]]
    read: Callable[[Transcript, int, Tally], Reading]
    goes_on: bool = False
    has_folders: bool = True


def _own(file: Transcript, start: int, tally: Tally) -> Reading:
    records = read_turns(file.path, start_offset=start, tally=tally)
    return Reading(records, lambda: branches.left_prompts(file.path))


def _whole(read: Callable[[Transcript, Tally], Talk]) -> Callable[[Transcript, int, Tally], Reading]:
    def whole(file: Transcript, start: int, tally: Tally) -> Reading:
        talk = read(file, tally)
        return Reading(talk.records(), lambda: talk.left)

    return whole


def _exported(title: str, agent: str, read: Callable[[Transcript, Tally], Talk]) -> Source:
    describe = exports.describe_of(agent)
    return Source(title, exports.SEEN, exports.NAME, describe, _whole(read), has_folders=False)


SOURCES = {
    CLAUDE: Source("Claude Code", "2.1.197 to 2.1.332", discovery.NAME, discovery.describe, _own, goes_on=True),
    codex.AGENT: Source("Codex", codex.SEEN, codex.NAME, codex.describe, _whole(codex.read)),
    gemini.AGENT: Source("Gemini CLI", gemini.SEEN, gemini.NAME, gemini.describe, _whole(gemini.read)),
    opencode.AGENT: Source("OpenCode", opencode.SEEN, opencode.NAME, opencode.describe, _whole(opencode.read)),
    cursor.AGENT: Source("Cursor", cursor.SEEN, cursor.NAME, cursor.describe, _whole(cursor.read)),
    copilot.AGENT: Source("Copilot CLI", copilot.SEEN, copilot.NAME, copilot.describe, _whole(copilot.read)),
    exports.CLAUDE_AI: _exported("claude.ai", exports.CLAUDE_AI, exports.read_claude_ai),
    exports.CHATGPT: _exported("ChatGPT", exports.CHATGPT, exports.read_chatgpt),
}


def find(agent: str, paths: Iterable[str], count: Callable[[str], None]) -> list[Transcript]:
    """Find an agent's sessions in files and folders, newest first. Raises OSError."""
    source = SOURCES[agent]
    return discovery.find(paths, source.name, source.describe, count)
