"""The documentation matches the program: links, commands, settings, files, hooks and version."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from memlayer import __version__
from memlayer.cli.app import cli
from memlayer.config.model import keys
from memlayer.edge import HOOKS

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("models/*.md")])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]

FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
FOLDERS = ("memlayer", "hooks", "docs", "tests", "models", "demo", "bench", "evals", "bin", "commands")
PATH = re.compile(r"(?:%s)/[\w./-]*\w" % "|".join(FOLDERS))
# Patterns, and paths outside this repository.
NO_PATHS = re.compile(r"[<*{$]|^~|^/|^https?:")


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    return FENCED.sub("", page.read_text(encoding="utf-8"))


def code(page: Path) -> Iterator[str]:
    """Yield the lines of code blocks and inline code."""
    text = page.read_text(encoding="utf-8")
    for block in FENCED.findall(text):
        yield from block.splitlines()[1:-1]
    yield from INLINE.findall(prose(page))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def verb_at(words: list[str]) -> tuple[click.Command, list[str]]:
    """(the verb that these words name, the words after it). Raises AssertionError when there is none."""
    command: click.Command = cli
    while isinstance(command, click.Group) and words and re.fullmatch(r"[a-z]+", words[0]):
        found = command.get_command(click.Context(command), words[0])
        assert found is not None, "there is no verb %r" % words[0]
        command, words = found, words[1:]
    return command, words


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_relative_links_resolve(page: Path) -> None:
    for target in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        leads_to = (page.parent / path) if path else page
        assert leads_to.exists(), target
        assert not anchor or anchor in anchors(leads_to), target


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_named_verbs_and_options_exist(page: Path) -> None:
    for line in code(page):
        said = re.match(r"\s*(?:\S+/)?memlayer ((?:[a-z]|--)[^|]*)", line.partition("  #")[0])
        if said is None:
            continue
        command, words = verb_at(said.group(1).replace('"', " ").split())
        options = {option for row in command.params for option in (*row.opts, *row.secondary_opts)} | {"--help", "-h"}
        unknown = [word for word in words if word.startswith("--") and word not in options]
        assert not unknown, "%s: %s" % (line, unknown)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_make_target_exists(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {target for line in code(page) for target in re.findall(r"^\s*make ([a-z-]+)", line)}
    assert named <= targets


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_file_named_exists(page: Path) -> None:
    for line in INLINE.findall(prose(page)):
        if PATH.fullmatch(line) and not NO_PATHS.search(line):
            assert (ROOT / line).exists() or (page.parent / line).exists(), line


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_setting_named_exists(page: Path) -> None:
    known = set(keys())
    groups = {key.partition(".")[0] for key in known}
    for line in INLINE.findall(prose(page)):
        named = re.match(r"([a-z_]+)\.([a-z_]+)(?::|=|$)", line)
        if named and named.group(1) in groups and not line.endswith((".py", ".lock", ".sock", ".err", ".log")):
            assert "%s.%s" % named.groups() in known, line


ADDING = [line for line in (ROOT / "CONTRIBUTING.md").read_text().splitlines() if re.match(r"\| (?!a new|---)", line)]


@pytest.mark.parametrize("row", ADDING, ids=lambda row: row.split("|")[1].strip())
def test_rows_of_contributing_name_things_of_their_files(row: str) -> None:
    named = INLINE.findall(row)
    paths = [ROOT / word for word in named if PATH.fullmatch(word.rstrip("/")) or (ROOT / word).is_file()]
    assert paths and all(path.exists() for path in paths)
    files = [file for path in paths for file in (path.rglob("*.py") if path.is_dir() else [path])]
    texts = [file.read_text(encoding="utf-8") for file in files]
    names = [word for word in named if re.fullmatch(r"_?[A-Z][A-Za-z]+|_?[A-Z_]+|[a-z]+_[a-z_]+|setting", word)]
    assert [word for word in names if not any(re.search(r"\b%s\b" % word, text) for text in texts)] == []


def test_slash_commands_and_plugin_names() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    marketplace = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text())
    plugin = json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text())
    assert set(re.findall(r"/plugin (?:un)?install (\S+?)[`\s]", readme)) == {
        "%s@%s" % (marketplace["plugins"][0]["name"], marketplace["name"])
    }
    assert "/plugin marketplace remove %s\n" % marketplace["name"] in readme
    written = {path.stem for path in (ROOT / "commands").glob("*.md")}
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert set(re.findall(r"/%s:([a-z-]+)" % plugin["name"], page)) == written
    assert set(re.findall(r"`/(?:%s:)?(memory-[a-z]+)" % plugin["name"], readme)) <= written


def test_hooks_page_with_deadlines() -> None:
    page = (ROOT / "docs" / "inside" / "hooks.md").read_text(encoding="utf-8")
    registered = json.loads((ROOT / "hooks.json").read_text())["hooks"]
    for event, groups in registered.items():
        stem = groups[0]["hooks"][0]["command"].split('run" ')[1].split()[0]
        row = next(line for line in page.splitlines() if line.startswith("| `%s`" % event))
        assert "`hooks/%s.py`" % stem in row
        assert ("| %g s |" % HOOKS[stem].wait_s if HOOKS[stem].wait_s else "| - |") in row
        assert "\n## %s\n" % event in page
    assert len(re.findall(r"^\| `[A-Z]", page, re.MULTILINE)) == len(registered)


def test_each_gate_stands_where_silence_is_explained() -> None:
    from memlayer.give.recall import Gate

    page = (ROOT / "docs" / "inside" / "architecture.md").read_text(encoding="utf-8")
    assert [gate.value for gate in Gate if gate.value.partition(";")[0] not in page] == []


def test_changelog_begins_with_current_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (\S+)", changelog, re.MULTILINE)
    assert next(heading for heading in headings if heading != "Unreleased") == __version__


def test_readme_shows_current_block() -> None:
    from memlayer.give import listed_start
    from memlayer.text import context_block

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert "```text\n%s\n- 20" % context_block.head(listed_start.EXPLANATION) in readme
    assert "```text\n%s\n- [mem:" % context_block.head(context_block.EXPLANATION) in page


def test_readme_is_read_in_five_minutes() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 900


FEATURES = [row for row in (ROOT / "docs/inside/features.md").read_text().splitlines() if row.count(" | ") == 3][1:]


@pytest.mark.parametrize("row", FEATURES, ids=lambda row: row.split("|")[1].strip())
def test_a_feature_names_its_place_and_what_carries_it(row: str) -> None:
    _, where, lines, carried = row.strip("| ").split(" | ")
    paths = INLINE.findall(where)
    assert paths and all((ROOT / path).exists() for path in paths)
    assert int(lines.replace(",", "")) > 0
    assert LINK.search(carried) or carried.startswith(("design", "no figure: "))


def test_every_room_is_a_features() -> None:
    named = {path.split("/")[1] for row in FEATURES for path in INLINE.findall(row.split(" | ")[1])}
    rooms = {path.name for path in (ROOT / "memlayer").iterdir() if (path / "__init__.py").exists()}
    assert rooms <= named
