"""The list of the home's files in docs/install.md, against the names in the code."""

import re
from pathlib import Path

from memlayer.deletion import erase, forget
from memlayer.edge.home import given_notes, paths
from memlayer.memory_files import folders
from memlayer.view import server

ROOT = Path(__file__).resolve().parents[2]
# In the home, given as a first name to `under` or joined to it. Constants stand in other modules.
NAMED = re.compile(r'\bunder\("([^"]+)"|\bjoin\((?:\w+\.)*_?home, "([^"]+)"')
CONSTANTS = {
    erase.JOURNAL, forget.STAMP, given_notes.NAME, folders.IN_HOME, paths.SOCKET_NAME,
    server.TOKEN_NAME, server.OPEN_NAME, server.ENTRY_NAME,
}  # fmt: skip


def test_every_file_of_the_home_is_listed() -> None:
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    block = page.partition("## Where things are")[2].partition("```text\n")[2].partition("```")[0]
    heads = [re.split(r" {2,}", line)[0] for line in block.splitlines()]
    listed = {name.rstrip("/") for head in heads for name in head.split(", ")}
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "memlayer").rglob("*.py"))
    named = {first or second for first, second in NAMED.findall(code)} | CONSTANTS
    assert {"notes.offered", "readings", "reviewed.json", "metrics.json", "runtime"} <= named
    assert sorted(named - listed) == [] and sorted(listed - named) == []
