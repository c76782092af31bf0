"""What worked after a call that failed: the same deed in another way, with nothing else changed between."""

import pytest

from memlayer.model import Event
from memlayer.turns.known_errors import KeptCall, failures, worked_after

UNDEFINED = "Exit code 1\ncmd/e2e/testenv.go:40:26: undefined: defaultAgent"
IGNORED = "Exit code 1\nThe following paths are ignored by one of your .gitignore files:\n.entire"


def calls(*rows: tuple[str, str, str], session: str = "s1", since_ms: int = 0) -> list[KeptCall]:
    """Calls of a session; each row (target, error, tool or "")."""
    return [
        KeptCall(
            Event("%s-%d" % (session, place), "tool", session, "p", "p1", "", since_ms + place),
            kind or "Bash", target, bool(error), error,
        )
        for place, (target, error, kind) in enumerate(rows)
    ]  # fmt: skip


def cure(failed: str, *later: tuple[str, str, str], error: str = UNDEFINED) -> str:
    worked = worked_after(calls((failed, error, ""), *later), 0)
    return worked.target if worked is not None else ""


BUILD = "go build -tags=e2e ./cmd/e2e/..."


@pytest.mark.parametrize(
    ("failed", "worked"),
    [
        (BUILD, "go test -tags=e2e -c ./cmd/e2e/... -o /dev/null 2>&1"),
        ("git add .entire/settings.json", "git add -f .entire/settings.json"),
        ("python scripts/정산.py --월 3", "python3 scripts/정산.py --월 3"),
        ("git add cmd/testenv.go", "cd /w/cli && git add cmd/testenv.go"),
    ],
)
def test_other_way_is_cure(failed: str, worked: str) -> None:
    assert cure(failed, ("git status", "", ""), (worked, "", "")) == worked


@pytest.mark.parametrize(
    "later",
    [
        (BUILD, "", ""),  # the same call: something else had changed
        ("git status --short", "", ""),  # another deed
        (BUILD + " -v 2>&1 | head -20", "", ""),  # the exit code is that of head
        (BUILD + " -v || true", "", ""),
        (BUILD + " -v", UNDEFINED, ""),  # failed as well
    ],
)
def test_no_cure(later: tuple[str, str, str]) -> None:
    assert cure(BUILD, later) == ""


def test_behind_an_edit_the_edit_helped() -> None:
    assert cure(BUILD, ("/w/testenv.go", "", "Edit"), ("go test -tags=e2e -c ./cmd/e2e/...", "", "")) == ""


def test_far_behind_is_none() -> None:
    looks = [("ls %d" % place, "", "") for place in range(10)]
    assert cure(BUILD, *looks, ("go test -tags=e2e -c ./cmd/e2e/...", "", "")) == ""


def test_error_that_came_back_was_not_cured() -> None:
    other = "go test -tags=e2e -c ./cmd/e2e/..."
    cured = failures(calls((BUILD, UNDEFINED, ""), (other, "", "")))
    assert [row.worked and row.worked.event.id for row in cured["undefined defaultagent"]] == ["s1-1"]
    again = failures(calls((BUILD, UNDEFINED, ""), (other, "", ""), ("go vet -tags=e2e ./x", UNDEFINED, "")))
    assert [row.worked and row.worked.event.id for row in again["undefined defaultagent"]] == [None]


def test_each_session_counts_once_in_order() -> None:
    first = calls((BUILD, UNDEFINED, ""), (BUILD, UNDEFINED, ""), session="s1")
    second = calls((BUILD, UNDEFINED, ""), session="s2", since_ms=100)
    rows = failures([*first, *second])["undefined defaultagent"]
    assert [row.event.session_id for row in rows] == ["s1", "s2"]


MISSING = "Exit code 1\nError: Cannot find module 'left-pad'\n오류: 모듈이 없습니다"


@pytest.mark.parametrize(
    ("failed", "between", "then", "told"),
    [
        ("npm test", ["npm install left-pad"], "npm test", "npm install left-pad"),
        ("pytest 정산", ["cat setup.cfg", "pip install freezegun"], "pytest 정산", "pip install freezegun"),
        ("pytest -q tests", ["uv add httpx"], "uv run pytest -q tests", "uv add httpx"),
        ("npm run build", ["rm -rf dist", "npm ci"], "npm run build", "npm ci"),
        ("make e2e", ["docker compose up -d db"], "make e2e", "docker compose up -d db"),
        ("make e2e", ["touch a", "date > b", "mkdir c"], "make e2e", ""),
        ("npm test", ["npm install left-pad"], "node index.js", ""),
        ("npm test", ["ls node_modules"], "npm test", ""),
    ],
)  # fmt: skip
def test_an_install_is_the_cure_of_what_works_behind_it(failed: str, between: list[str], then: str, told: str) -> None:
    rows = calls((failed, MISSING, ""), *((command, "", "") for command in (*between, then)))
    [known] = {row for found in failures(rows).values() for row in found}
    assert (known.worked.target if known.worked else "") == told


def test_behind_an_edit_no_install_is_the_cure() -> None:
    rows = calls(("npm test", MISSING, ""), ("package.json", "", "Edit"), ("npm install", "", ""), ("npm test", "", ""))
    assert all(row.worked is None for found in failures(rows).values() for row in found)
