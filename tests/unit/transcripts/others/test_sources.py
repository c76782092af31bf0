"""The table of readers, and the page that people read about it."""

from pathlib import Path

from memlayer.transcripts import importer
from memlayer.transcripts.sources import SOURCES

PAGE = Path(__file__).parents[4] / "docs" / "other-agents.md"


def test_each_agent_that_can_be_named_has_a_reader() -> None:
    assert set(importer.agents()) == set(SOURCES)


def test_the_page_names_the_versions_of_each_reader() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for agent, source in SOURCES.items():
        [row] = [line for line in page.splitlines() if line.startswith("| %s |" % source.title) and source.seen in line]
        assert agent == "claude" or "--from %s" % agent in row
