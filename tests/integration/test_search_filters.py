"""Search as a person uses it.

A floor, filters, and the place of each hit; over a real daemon with its model.
"""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.support.cli_process import Run, runner
from tests.support.processes import Daemon, HookRunner

NONSENSE = [
    "asdfqwer zxcv", "qwertyuiop", "blorptastic frimble", "xyzzy plugh", "zzzzzz", "12983 88123", "!!!", "🦆🦆",
    "ㅁㄴㅇㄹ 퀙", "뷁쉙", "꿹뛟 쀍", "ㅋㅋㅋㅋ", "쿠쿠루삥뽕", "dkssudgktpdy",
]  # fmt: skip


@pytest.fixture(scope="module")
def fed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Runs verbs over two sessions, two core memories and a document."""
    folder = tmp_path_factory.mktemp("검색")
    home, project = folder / "home", folder / "shop"
    project.mkdir()
    (project / "docs").mkdir()
    (project / "docs" / "운영.md").write_text("# 운영\n\n배포는 화요일 오전에 스테이징부터 한다.\n", encoding="utf-8")
    run = runner(home, project)
    hook = HookRunner(ROOT, home, project)
    hook.forbid_background()
    extra = {"files": {"extra_paths": [str(project / "docs")]}}
    with Daemon(ROOT, home, extra):
        hook.turn("one", "p1", "Where do we keep order events?", "Decided: order events go to ClickHouse.")
        hook.turn("two", "p2", "배포 순서가 어떻게 되지?", "checkout.py를 먼저 올리고 화요일 오전에 배포합니다.")
        run("remember", "배포는 항상 화요일 오전에 한다")
        run("remember", "release with:\n```\nmake deploy\n```\nfrom the main branch")
        run("doctor", "flush")
        run("stats", "--files")
        yield run


def hits(run: Run, *words: str) -> list[dict[str, Any]]:
    return list(json.loads(run("search", *words, "--json").stdout)["hits"])


@pytest.mark.parametrize("words", NONSENSE)
def test_nonsense_finds_nothing(fed: Run, words: str) -> None:
    assert fed("search", words).stdout.startswith(f"Nothing found for {words!r} in this project")
    assert json.loads(fed("search", words, "--json").stdout)["hits"] == []
    assert fed("forget", "--query", words, "--yes").stdout == "Nothing matches. Nothing is forgotten.\n"
    assert fed("forget", "-", stdin=words).stdout == "Nothing matches. Nothing is forgotten.\n"


def test_real_words_are_still_found(fed: Run) -> None:
    for words in ("order events", "clickhouse", "배포", "화요일 오전", "checkout.py", "deploy"):
        assert hits(fed, words), words


def test_words_beside_a_citation_are_named(fed: Run) -> None:
    [core] = [one for one in json.loads(fed("list", "--json").stdout)["memories"] if one["text"].startswith("배포는")]
    before = fed("list", "--all").stdout
    for typed in (f"{core['citation']} 오타", f"[mem:{core['citation']}]. typo", f"typo {core['key']}"):
        said = fed("forget", "-", stdin=typed).stdout
        assert said.count("[mem:") == 1 and core["key"] in said and "Nothing is forgotten yet" in said
        assert '"오타" is no citation' in said or '"typo" is no citation' in said
    assert fed("list", "--all").stdout == before


def test_hits_carry_the_fields_of_memories(fed: Run) -> None:
    [memory] = [one for one in json.loads(fed("list", "--json").stdout)["memories"] if one["text"].startswith("배포는")]
    [hit] = [one for one in hits(fed, "배포 화요일") if one["id"] == memory["id"]]
    assert {name: hit[name] for name in memory} == memory
    assert set(hit) - set(memory) == {
        "score", "parts", "snippet", "preview", "event_type", "path", "start_line", "end_line"
    }  # fmt: skip
    assert (hit["event_type"], hit["preview"]) == (memory["kind"], memory["text"])


@pytest.mark.parametrize(
    ("words", "category", "name"),
    [
        ("배포 화요일", "core", "MEMORY.md"),
        ("make deploy release", "core", "MEMORY.md"),
        ("스테이징", "custom", "운영.md"),
    ],
)
def test_hit_lines_match_files(fed: Run, words: str, category: str, name: str) -> None:
    hit = next(one for one in hits(fed, words, "--kind", category))
    path = Path(hit["path"])
    assert path.is_absolute() and path.name == name
    lines = path.read_text("utf-8").splitlines()[hit["start_line"] - 1 : hit["end_line"]]
    said = "\n".join(line.strip() for line in lines)
    assert all(part in said for part in hit["text"].splitlines()[0].split())
    assert category == "custom" or (lines[0].startswith(f"- [mem:{hit['citation']}]") and said.endswith(
        hit["text"].splitlines()[-1]
    ))  # fmt: skip


def test_day_page_holds_a_note(fed: Run) -> None:
    [folder] = {Path(one["path"]).parent for one in hits(fed, "배포 화요일", "--kind", "core")}
    today = time.strftime("%Y-%m-%d")
    page = folder / "memory" / f"{today}.md"
    page.parent.mkdir(exist_ok=True)
    with page.open("a", encoding="utf-8") as file:
        file.write("- 12:00 점심은 김치볶음밥으로 정했다\n")
    fed("stats", "--files")
    [hit] = hits(fed, "김치볶음밥")
    assert (hit["path"], hit["category"]) == (str(page), "custom")
    assert "김치볶음밥" in page.read_text("utf-8").splitlines()[hit["start_line"] - 1]


def test_turns_stand_in_no_file(fed: Run) -> None:
    found = hits(fed, "order events", "--kind", "conversation")
    assert found and {(one["path"], one["start_line"], one["end_line"]) for one in found} == {("", 0, 0)}


def test_filters_narrow_a_search(fed: Run) -> None:
    every = hits(fed, "배포 화요일 오전")
    assert {one["category"] for one in every} >= {"core", "conversation", "custom"}
    today = time.strftime("%Y-%m-%d")
    for arguments, keeps in (
        (("--kind", "core"), lambda one: one["category"] == "core"),
        (("--kind", "turn"), lambda one: one["kind"] == "turn"),
        (("--session", "two"), lambda one: one["session_id"] == "two"),
        (("--file", "운영.md"), lambda one: "운영.md" in one["path"]),
        (("--file", "docs/*.md"), lambda one: "운영.md" in one["path"]),
        (("--file", "MEMORY.md"), lambda one: one["path"].endswith("MEMORY.md")),
        (("--file", "checkout.py"), lambda one: "checkout.py" in one["text"]),
        (("--since", "1h", "--until", today), lambda one: True),
    ):
        found = {one["id"] for one in hits(fed, "배포 화요일 오전", *arguments)}
        assert found and found == {one["id"] for one in every if keeps(one)}, arguments
    for arguments in (("--until", "2020-01-01"), ("--since", "2100-01-01"), ("--kind", "없음")):
        assert hits(fed, "배포 화요일 오전", *arguments) == []
        assert "with these filters" in fed("search", "배포", *arguments).stdout


def test_explain_lists_score_parts(fed: Run) -> None:
    assert "relevance" not in fed("search", "배포").stdout
    assert "relevance" in fed("search", "배포", "--explain").stdout


def test_recall_and_search_json_agree(fed: Run) -> None:
    [hit] = [one for one in hits(fed, "order events clickhouse") if one["category"] == "conversation"][:1]
    candidates = json.loads(fed("search", "--as-prompt", "where do order events go?", "--json").stdout)["candidates"]
    same = [one for one in candidates if one["citation"] == hit["citation"]]
    assert same and {name: type(same[0][name]) for name in ("key", "snippet", "score", "parts")} == {
        name: type(hit[name]) for name in ("key", "snippet", "score", "parts")
    }
