"""The outcome of a turn or session: results, edited files and commands."""

import os
import posixpath
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memlayer.edge.capture.tool_use import EDITS, FAILED, TOOK
from memlayer.text.sentences import ASSISTANT, candidates, trimmed
from memlayer.text.word_lists import words
from memlayer.turns.questions import is_open_question

_MIN_CHARS = 12
# Actions are preferred to states.
_DID = re.compile(
    r"\b(?:i|we)(?:'ve| have)? (?:also |now |just )?(?!need|used to)(?:\w+ed|found|wrote|rewrote|made|set|ran|built"
    r"|split|kept|put|moved)\b"
    r"|^\W{0,2}(?:(?:also|now|successfully|then|fixed:?) )?(?!need|based|indeed|used to)(?:\w+ed|rewrote|wrote|built"
    r"|split)\b|\b(?:has|have) (?:now |also )?been (?:\w+ed|built|split|set|made|rewritten)\b"
    r"|\bnow (?:\w+s|reads?|uses?)\b"
    r"|(?:했|됐|었|았|였|겼|꿨|렸|졌|냈|뒀|놨|뺐|썼|쳤)(?:습니다|어요|다|음)",
    re.IGNORECASE,
)
_IS = re.compile(r"\b(?:is|are|was|were|works|runs|uses|points|lives|means)\b|습니다|이에요|예요", re.IGNORECASE)
_PROMISES = re.compile(
    r"^(?:you'?re welcome|thanks|got it|understood|noted|of course|sure|will do|no problem|sounds good|okay|good|great"
    r"|here (?:is|are)|done[.!]?$)\b"
    r"|^(?:네|알겠|좋습니다|감사|확인했습니다|다행|수고)[^.]{0,14}[.,!]?$|다니 다행|수고하셨|주세요|겠습니다|\bi'?ll\b",
    re.IGNORECASE,
)

_HAPPENED = re.compile(
    r"\b(?:\w+ed|found|wrote|rewrote|made|set|ran|built|split|moved|is|are|was|were)\b|[했됐었았였겼꿨]습니다"
    r"|습니다|입니다",
    re.IGNORECASE,
)

MAX_FILES = 12
MAX_COMMANDS = 6
MAX_ERRORS = 3
MAX_COMMAND_CHARS = 100
MAX_ERROR_CHARS = 120

# Looking around says nothing about the work.
_LOOKS = frozenset(
    words("ls cat cd pwd echo which head tail grep rg find wc tree stat file less date sleep true test sed awk jq env")
)
_GIT_LOOKS = frozenset(words("status diff log show branch blame remote fetch rev-parse stash"))
_CHANGES_FOLDER = re.compile(r"^\s*cd\s+(?:\"[^\"]*\"|'[^']*'|\S+)\s*(?:&&|;)\s*")
_PATH = re.compile(
    r"(?<![\w/.:@-])(?:~/|/|\.{1,2}/)?(?:[\w.@+-]+/)+[\w.@+-]*\w\.[A-Za-z][A-Za-z0-9_]{0,9}(?![A-Za-z0-9_(])"
    r"|(?<=`)[\w-]+(?:\.[\w-]+)*\.(?:py|tsx?|jsx?|go|rs|rb|java|kt|swift|dart|toml|ya?ml|json|md|sql|sh|ini|cfg|tf|css"
    r"|html|lock|env|txt|proto|vue|c|h|cpp)(?=[`:])"
)
# Checks and builds: a failed search or listing is no end of a session.
_CHECK = re.compile(
    r"(?:\S+=\S+ +)*(?:(?:npx|time|(?:uv|poetry|pdm) run|(?:bundle|pnpm) exec|mise run|python[\d.]* -m|timeout \S+) +)*"
    r"(?:\S*/)?"
    r"(?:(make|npm|pnpm|yarn|bun|go|cargo|mvnw?|gradlew?|flutter|dart|swift|dotnet|ruff)\b"
    r"(?: +(?:(?:-C|-f|--prefix|--cwd) +\S+|-\S+|\+\S+|run))*(?: +([a-z][\w:-]*)(?!\S))?"
    r"|(pytest|unittest|tsc|mypy|eslint|jest|vitest|rspec|tox)\b)"
)
_STEP = re.compile(r"\s*(?:&&|\|\|?|;)\s*")
_COMMAND = re.compile(
    r"`((?:\$ ?)?(?:make|npm|npx|pnpm|yarn|bun|node|python3?|pip|uv|pytest|ruff|mypy|cargo|go|git|docker|kubectl|helm"
    r"|terraform|flutter|dart|gradle|\./\w[\w./-]*|mvn|bundle|rails|alembic|psql|bash|sh|ansible\S*|gh|aws|gcloud) "
    r"[^`\n]{2,120})`"
)
_TOOK = re.compile(re.escape(TOOK) + r"(\d{1,9}(?:\.\d)?) (ms|s)")
_PLACEHOLDER = re.compile(r"[<{]\w[\w -]*[>}]|\.\.\.|…")


def outcome(prompt: str, answers: Sequence[str]) -> str:
    """The sentence about the result of a turn, "" for none."""
    if not answers or is_open_question(prompt, list(answers)):
        return ""
    sentences = [
        candidate for candidate in candidates(answers[-1], ASSISTANT) if _tells(candidate.text) and not candidate.asks
    ]
    for pattern in (_DID, _IS):
        for candidate in sentences:
            if pattern.search(candidate.plain):
                return trimmed(candidate.text) or candidate.text
    return ""


def happened(answers: Sequence[str]) -> str:
    """The first sentence about an action or a state, "" for none."""
    for answer in answers:
        for candidate in candidates(answer, ASSISTANT):
            if not candidate.asks and _HAPPENED.search(candidate.text) and not _PROMISES.search(candidate.text):
                return candidate.text
    return ""


def says_done(sentence: str) -> bool:
    """True for a sentence about something that was done."""
    return bool(_DID.search(sentence)) and not _PROMISES.search(sentence)


def _tells(sentence: str) -> bool:
    return len(sentence) >= _MIN_CHARS and not sentence.endswith((":", "：")) and not _PROMISES.search(sentence)


class Call(NamedTuple):
    """One tool call. tool: its name. target: the file or the command.

    is_failed: with the reason in `said`, one line. took_s: 0.0 where it is not known.
    """

    tool: str
    target: str
    is_failed: bool
    said: str
    took_s: float = 0.0


class WorkDone(NamedTuple):
    """Files, commands and errors in the order of the work.

    files: relative to the project where they lie in it. errors: of commands that failed and never succeeded later, of
    checks, nor did another run of theirs.
    """

    files: tuple[str, ...]
    commands: tuple[str, ...]
    errors: tuple[str, ...]


def call_of(text: str, detail: str) -> Call:
    """The call that a tool event tells of (edge.capture.tool_use)."""
    tool, _, outcome = detail.partition(" ")
    first, _, rest = text.partition("\n")
    lines = [line.strip() for line in rest.split("\n") if line.strip()]
    took = _TOOK.fullmatch(lines[-1]) if lines else None
    if took is not None:
        lines.pop()
    took_s = float(took[1]) / (1000 if took[2] == "ms" else 1) if took is not None else 0.0
    return Call(tool, first.partition(": ")[2], outcome == FAILED, lines[0] if lines else "", took_s)


def output_of(text: str, detail: str) -> str:
    """Return the output in a tool event, "" of an edit."""
    tool, _, outcome = detail.partition(" ")
    return "" if tool in EDITS and outcome != FAILED else text.partition("\n")[2]


def from_calls(calls: Iterable[Call], project_dir: str) -> WorkDone:
    """The work of tool calls, newest kept where there is too much."""
    files: dict[str, None] = {}
    commands: dict[str, None] = {}
    errors: dict[str, str] = {}
    failing: dict[str, frozenset[str]] = {}
    for call in calls:
        if call.tool == "Bash":
            command = _command(call.target)
            errors.pop(command, None)
            failing[command] = checks(command)
            if call.is_failed and command:
                errors[command] = call.said
                continue
            mended = failing.pop(command)
            for other in [other for other in errors if mended & failing[other]]:
                failing[other] -= mended
                if not failing[other]:
                    del errors[other]
            if command and not only_looks(command):
                commands.pop(command, None)
                commands[command] = None
        elif call.tool in EDITS and call.target and not call.is_failed:
            files[_within(call.target, project_dir)] = None
    return WorkDone(
        tuple(list(files)[-MAX_FILES:]),
        tuple(_cut(command, MAX_COMMAND_CHARS) for command in list(commands)[-MAX_COMMANDS:]),
        tuple(
            "%s: %s" % (_cut(command, MAX_COMMAND_CHARS), _cut(error, MAX_ERROR_CHARS)) if error else command
            for command, error in list(errors.items())[-MAX_ERRORS:]
        ),
    )


def checks(command: str) -> frozenset[str]:
    """Return the checks and builds of a command, by program and task."""
    found = (_CHECK.match(step) for step in _STEP.split(_command(command)))
    return frozenset(" ".join(filter(None, row.groups())) for row in found if row)


def from_answers(answers: Sequence[str], project_dir: str) -> WorkDone:
    """The work that answers name, where no tool calls are known."""
    files: dict[str, None] = {}
    commands: dict[str, None] = {}
    for answer in answers:
        for path in _PATH.findall(answer):
            if not _PLACEHOLDER.search(path):
                files[_within(path, project_dir)] = None
        for candidate in candidates(answer, ASSISTANT):
            for command in _COMMAND.findall(candidate.text) if says_done(candidate.text) else ():
                if not _PLACEHOLDER.search(command) and not only_looks(command):
                    commands[command.lstrip("$ ")] = None
    return WorkDone(tuple(list(files)[-MAX_FILES:]), tuple(list(commands)[-MAX_COMMANDS:]), ())


def _command(text: str) -> str:
    """A command on one line, without the `cd` before it."""
    one_line = " ".join(text.split())
    return _CHANGES_FOLDER.sub("", one_line)


def only_looks(command: str) -> bool:
    """True for a command that changes nothing."""
    parts = re.split(r"\s*(?:&&|\|\||;|\|)\s*", command)
    heads = [part.split() for part in parts if part.strip()]
    return all(
        head[0].rpartition("/")[2] in _LOOKS or (head[0] == "git" and len(head) > 1 and head[1] in _GIT_LOOKS)
        for head in heads
    )


def _within(path: str, project_dir: str) -> str:
    if project_dir and path.startswith(project_dir.rstrip("/") + "/"):
        return path[len(project_dir.rstrip("/")) + 1 :]
    return os.path.normpath(path) if path.startswith("./") else path


def _cut(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[: max_chars - 1].rstrip() + "…"


def is_same_file(path: str, wanted: str) -> bool:
    """True for the same path, or one that ends with the other."""
    own, other = posixpath.normpath(path), posixpath.normpath(wanted)
    return own == other or own.endswith("/" + other) or (other.endswith("/" + own) and "/" in own)
