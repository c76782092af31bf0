"""Canonical keys of entities, and the entities that a text names."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from memlayer.text.word_lists import word_set

MAX_ENTITIES = 24  # of one memory
MAX_LOOKED_AT = 20_000  # characters of a text
_BLANKS = re.compile(r"[\W_]+")
_URL = re.compile(r"https?://[^\s<>()\[\]{}\"'`|]+")
_URL_END = ".,;:!?'\"…"
_GITHUB = re.compile(r"https?://(?:www\.)?github\.com/([\w.-]+/[\w.-]+)/(?:issues|pull)/(\d+)")
_JIRA_URL = re.compile(r"https?://[^\s/]+/browse/([A-Z][A-Z0-9]+-\d+)")
_JIRA = re.compile(r"(?<![\w./-])([A-Z][A-Z0-9]{1,9}-\d{1,6})(?![\w-])")
_ISSUE = re.compile(r"(?<![\w./-])([A-Za-z0-9][\w.-]*/[\w.-]+)#(\d{1,7})\b")
_BARE_ISSUE = re.compile(r"(?<![\w&/#])#(\d{2,7})\b")
_FILE = re.compile(
    r"(?<![\w./@:-])((?:[\w.@-]+/)*[\w-][\w.-]*"
    r"\.(?:py|pyi|tsx?|jsx?|vue|go|rs|rb|java|kt|swift|c|h|cpp|cs|php|toml|ya?ml|json|md|sql|sh|lock|css|html|proto))"
    r"(?![\w/-])"
)
_HANDLE = re.compile(r"(?<![\w./@`-])@([A-Za-z][\w-]{1,38})(?![\w/.(@-])")
_HONORIFIC = re.compile(r"(?<![가-힣])([가-힣]{2,4}) ?님(?=[은는이가을를의도께에 ,.!?\n]|$)")
_SERVICE = re.compile(r"(?<![\w./@-])((?:[a-z0-9][a-z0-9-]*\.)*[a-z0-9][a-z0-9-]*:\d{2,5})(?![\w:])")


class EntityType(StrEnum):
    """The type of an entity."""

    WORK = "task"
    CONDITION = "condition"
    ARTIFACT = "artifact"  # an URL or an issue
    FILE = "file"
    PERSON = "person"
    SERVICE = "service"


@dataclass(frozen=True)
class Entity:
    """A thing with a name. Equal keys are the same thing."""

    type: EntityType
    key: str
    title: str

    @property
    def id(self) -> str:
        """The id of the entity: a task's own id, else a hash."""
        return self.key if self.type is EntityType.WORK else _digest("%s\0%s" % (self.type, self.key), 32)


def norm(text: str) -> str:
    """NFKC, lower case, no punctuation, blanks as underscores."""
    return _BLANKS.sub("_", unicodedata.normalize("NFKC", text).lower()).strip("_")


def task_key(project_id: str, title: str) -> str:
    """Return the canonical key of a task: `task:{project}:{norm}`."""
    return "task:%s:%s" % (project_id, norm(title))


def condition(project_id: str, text: str) -> Entity:
    """Return the condition that words name: `cond:{project}:{norm}`."""
    words = norm(text) or "unknown"
    return Entity(EntityType.CONDITION, "cond:%s:%s" % (project_id, words), words.replace("_", " "))


def artifact(text: str) -> Entity | None:
    """Return the artifact of an URL or an issue's key, else None."""
    text = text.strip()
    if _URL.fullmatch(text):
        return _of_url(text.rstrip(_URL_END))
    if match := _JIRA.fullmatch(text):
        return _jira(match[1])
    if match := _ISSUE.fullmatch(text):
        return _issue(match[1], match[2])
    return None


def entities_in(project_id: str, text: str, files: Iterable[str] = ()) -> list[Entity]:
    """Return the entities that a text names, each once.

    files: paths that it is about. At most MAX_ENTITIES.
    """
    by_id: dict[str, Entity] = {}
    for path in files:
        if path.strip():
            entity = _file(project_id, path)
            by_id[entity.id] = entity
    for entity in _named_in(project_id, text[:MAX_LOOKED_AT]):
        by_id.setdefault(entity.id, entity)
        if len(by_id) >= MAX_ENTITIES:
            break
    return list(by_id.values())[:MAX_ENTITIES]


def _named_in(project_id: str, text: str) -> Iterator[Entity]:
    text = unicodedata.normalize("NFC", text)
    yield from (_of_url(match[0].rstrip(_URL_END)) for match in _URL.finditer(text))
    rest = _URL.sub(" ", text)
    no_issue, no_person = word_set(__package__, "no_issue"), word_set(__package__, "no_person")
    yield from (_jira(match[1]) for match in _JIRA.finditer(rest) if match[1].partition("-")[0] not in no_issue)
    yield from (_issue(match[1], match[2]) for match in _ISSUE.finditer(rest))
    for match in _BARE_ISSUE.finditer(rest):
        yield Entity(EntityType.ARTIFACT, "art:gh_issue:%s:%s" % (project_id, match[1]), "#" + match[1])
    yield from (_file(project_id, match[1]) for match in _FILE.finditer(rest))
    for match in (*_HANDLE.finditer(rest), *_HONORIFIC.finditer(rest)):
        name = match[1].lower()
        if name not in no_person:
            yield Entity(EntityType.PERSON, "person:%s:%s" % (project_id, name), name)
    for match in _SERVICE.finditer(rest):
        host = match[1].partition(":")[0]
        if _FILE.fullmatch(host) or host.isdigit():  # a line of a file, a time of the day
            continue
        yield Entity(EntityType.SERVICE, "service:%s:%s" % (project_id, match[1]), match[1])


def name_key(name: str) -> str:
    """Return a name as `about:` compares it, in lower case."""
    return unicodedata.normalize("NFKC", name).strip().lower().lstrip("@").removeprefix("./")


def _of_url(url: str) -> Entity:
    if match := _GITHUB.match(url):
        return _issue(match[1], match[2])
    if match := _JIRA_URL.match(url):
        return _jira(match[1])
    return Entity(EntityType.ARTIFACT, "art:url:" + _digest(url, 12), url)


def _jira(key: str) -> Entity:
    return Entity(EntityType.ARTIFACT, "art:jira:" + key, key)


def _issue(repository: str, number: str) -> Entity:
    name = repository.removesuffix(".git")
    return Entity(EntityType.ARTIFACT, "art:gh_issue:%s:%s" % (name.lower(), number), "%s#%s" % (name.lower(), number))


def _file(project_id: str, path: str) -> Entity:
    path = path.strip().removeprefix("./")
    return Entity(EntityType.FILE, "file:%s:%s" % (project_id, path), path)


def _digest(text: str, chars: int) -> str:
    return hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:chars]
