"""Requirements of a project's knowledge: each has its test, or a reason."""

import re

from tests.conftest import ROOT

COUNTS = {22: 15, 25: 6, 26: 6, 27: 12, 31: 15}
SINGLE = ("21.15", "21.18")
TITLE = "## Requirements of a project's knowledge"


def rows() -> list[tuple[list[str], str]]:
    """Return (numbers, test or reason) of each row of the page."""
    text = (ROOT / "docs" / "inside" / "quality.md").read_text(encoding="utf-8")
    page = text.partition(TITLE)[2].partition("\n## ")[0]
    cells = [line.strip("| ").split(" | ") for line in page.splitlines() if re.match(r"\| \d", line)]
    return [(row[0].split(", "), row[-1]) for row in cells]


def test_each_number_has_a_row() -> None:
    numbers = [number for named, _ in rows() for number in named]
    whole = [f"{row}.{at + 1}" for row, count in COUNTS.items() for at in range(count)]
    assert sorted(numbers) == sorted([*whole, *SINGLE])


def test_each_named_test_exists() -> None:
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    there = set(re.findall(r"^def (test_\w+)", sources, re.MULTILINE))
    for numbers, told in rows():
        named = re.findall(r"`(test_\w+)`", told)
        assert named or told.startswith(("deliberate: ", "measured: ")), numbers
        assert set(named) <= there, numbers
