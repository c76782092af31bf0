"""The command line over a real daemon and a real store.

Real hook processes feed the store.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from memlayer.edge.capture import spool
from memlayer.edge.capture.payload import read_payload
from tests.support.cli_process import Run, runner
from tests.support.processes import Daemon, HookRunner, end_daemons

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def told_a_story(folder: Path) -> Iterator[tuple[Path, Run]]:
    """Yield (home, verb runner) with three turns in the store.

    The turns are of two sessions.
    """
    home, project = folder / "메모리 home", folder / "work 폴더" / "shop"
    project.mkdir(parents=True)
    run = runner(home, project)
    hook = HookRunner(ROOT, home, project)
    hook.forbid_background()
    with Daemon(ROOT, home):
        hook.turn(
            "session-one",
            "p1",
            "Where do we keep order events?",
            "Decided: order events move from Postgres to ClickHouse, because analytics queries were slow.",
        )
        hook.turn(
            "session-one",
            "p2",
            "결제 모듈의 재시도 정책은 어떻게 할까?",
            "결제 모듈은 지수 백오프로 최대 3번 재시도하고 실패하면 checkout.py의 normalize_cart() 뒤의 큐로 보낸다.",
        )
        hook.turn("session-two", "p3", "과제 제출 마감이 언제야?", "과제는 금요일 18시까지 제출하기로 했다.")
        run("doctor", "flush")
        yield home, run


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Run]]:
    with told_a_story(tmp_path_factory.mktemp("story")) as told:
        yield told


@pytest.fixture
def fed(story: tuple[Path, Run]) -> Run:
    """Run verbs over a story that all tests share.

    They leave it as it is.
    """
    return story[1]


def search(run: Run, *words: str) -> list[dict[str, Any]]:
    return list(json.loads(run("search", *words, "--json").stdout)["hits"])


def test_korean_english_identifiers_found(fed: Run) -> None:
    assert "ClickHouse" in search(fed, "order events")[0]["snippet"]
    assert "지수 백오프" in search(fed, "결제모듈 재시도")[0]["snippet"]
    assert "금요일" in search(fed, "과제를 언제 제출")[0]["snippet"]
    assert "checkout.py" in search(fed, "normalize_cart")[0]["snippet"]
    plain = fed("search", "-", stdin='it\'s "normalize_cart"; $(x) `y`').stdout
    assert "[mem:" in plain and "score" in plain


def test_search_ends_with_way_to_whole_hit(fed: Run) -> None:
    first = search(fed, "결제 재시도")[0]["citation"]
    last = fed("search", "결제 재시도").stdout.rstrip().splitlines()[-1]
    assert last == f"All of a hit, and the turns around it: `memlayer show {first}`."
    assert "All of a hit" not in fed("search", "blorptastic").stdout


def test_hits_have_provenance_at_a_glance(fed: Run) -> None:
    hit = search(fed, "결제 재시도")[0]
    assert hit["preview"].startswith("User: 결제 모듈의 재시도 정책은") and 40 <= len(hit["preview"]) <= 50
    assert hit["preview"].endswith("…")
    assert (hit["event_type"], hit["session_id"], hit["at_ms"] > 0) == ("turn", "session-one", True)


def test_search_stays_in_project(fed: Run, tmp_path: Path) -> None:
    other = tmp_path / "other" / "shop"
    other.mkdir(parents=True)
    assert "Nothing found" in fed("search", "ClickHouse", "--project", str(other)).stdout
    assert "[mem:" in fed("search", "ClickHouse", "--all-projects").stdout


def test_show_by_citation_and_key(fed: Run) -> None:
    hit = search(fed, "결제 재시도")[0]
    for name in (f"[mem:{hit['citation']}]", hit["key"]):
        shown = fed("show", name).stdout
        assert "결제 모듈의 재시도 정책은" in shown and "지수 백오프" in shown
        assert "In the same session" in shown
    unknown = fed("show", "없는것", code=1)
    assert unknown.stdout == "" and unknown.stderr.count("\n") == 1


def test_list_and_stats_agree(fed: Run) -> None:
    listed = json.loads(fed("list", "--json").stdout)["memories"]
    assert len(listed) >= 3
    only = json.loads(fed("list", "--session", "session-two", "--json").stdout)["memories"]
    assert only and {memory["session_id"] for memory in only} == {"session-two"}
    told = json.loads(fed("stats", "--json").stdout)
    assert (told["events"], told["sessions"], told["projects"], told["daemon"]["spool_waiting"]) == (6, 2, 1, 0)
    assert "Full-text search only: embedding.provider is none" in fed("stats").stdout


def test_recall_prints_block_and_reasons(fed: Run) -> None:
    block = fed("search", "--as-prompt", "결제 모듈 재시도 정책은 몇 번이지?").stdout
    assert block.startswith("[Memory context]\n") and "지수 백오프" in block and block[-1] == "\n" != block[-2]
    assert fed("search", "--as-prompt", "안녕!").stdout == ""
    explained = fed("search", "--as-prompt", "결제 모듈 재시도는 몇 번이지?", "--explain").stdout
    assert (
        "Gate" in explained
        and re.search(r"Need 0\.\d+ \(chars \d", explained)
        and "Candidates" in explained
        and "kept" in explained
        and "cosine" not in explained
    )
    rows = json.loads(fed("search", "--as-prompt", "결제 모듈 재시도는 몇 번이지?", "--json").stdout)["candidates"]
    assert all(0 <= (row["parts"]["vector"] or 0) <= 1 for row in rows)
    assert [row["citation"] for row in rows if row["kept"]] == re.findall(r"^- \[mem:(\w+)\]", block, re.MULTILINE)


def test_distant_memories_are_not_found(home: Path, project: Path) -> None:
    """By meaning something is always nearest.

    A hit with nothing of the question is none.
    """
    run = runner(home, project)
    with Daemon(ROOT, home, {}):
        run("remember", "port 8080")
        run("remember", "결제는 토스로 한다")
        run("doctor", "flush")
        assert "Full-text search only" not in run("search", "8080").stdout
        for asked in ("quantum chromodynamics", "양자 색역학"):
            assert "Nothing found" in run("search", asked).stdout
        assert "토스" in run("search", "결제 수단").stdout


def test_forgotten_memory_is_gone(tmp_path: Path) -> None:
    with told_a_story(tmp_path) as (_, run):
        hit = search(run, "결제 재시도")[0]
        assert run("forget", hit["citation"], code=1).stderr.startswith("memlayer: This would forget 1 memory.")
        assert search(run, "결제 재시도")
        assert "Forgotten: 1 memory" in run("forget", hit["citation"], "--yes").stdout
        assert all("백오프" not in other["snippet"] for other in search(run, "결제 재시도"))
        run("forget", "--project", ".", "--yes")
        assert json.loads(run("stats", "--json").stdout)["events"] == 0


def test_reindex_rebuilds_the_index(fed: Run) -> None:
    before = search(fed, "order events")
    assert json.loads(fed("doctor", "reindex", "--json").stdout)["chunks"] > 0
    assert search(fed, "order events")[0]["key"] == before[0]["key"]


@pytest.mark.timeout(90)
def test_daemon_starts_restarts_stops(home: Path, project: Path) -> None:
    run = runner(home, project)
    home.mkdir(mode=0o700)
    (home / "config.yaml").write_text("embedding:\n  provider: none\n")
    assert "No daemon is running" in run("daemon", "status").stdout
    first = json.loads(run("daemon", "restart", "--json").stdout)["pid"]
    try:
        assert json.loads(run("daemon", "status", "--json").stdout)["pid"] == first
        second = json.loads(run("daemon", "restart", "--json").stdout)["pid"]
        assert second != first
    finally:
        run("daemon", "stop")
        end_daemons(home)
    assert json.loads(run("daemon", "status", "--json").stdout) == {"running": False}


def test_doctor_tells_healthy_from_broken(story: tuple[Path, Run]) -> None:
    home, run = story
    told = json.loads(run("doctor", "--json").stdout)
    states = {check["name"]: check["state"] for check in told["checks"]}
    for name in ("manifest", "permissions", "disk", "settings", "daemon", "store", "model", "spool", "quarantine"):
        assert states[name] == "ok", told["checks"]
    home.chmod(0o755)
    try:
        broken = run("doctor", code=1).stdout
    finally:
        home.chmod(0o700)
    assert "fail  permissions" in broken and "chmod" in broken and "At risk" in broken


def test_search_honours_its_limit(home: Path, project: Path) -> None:
    for number in range(45):
        said = json.dumps({"session_id": "s1", "prompt_id": "p%d" % number, "prompt": "배포 포트 %d번 port" % number})
        event = read_payload("user_prompt_submit", said.encode(), project_dir=str(project), at_ms=number + 1).event
        assert event is not None
        spool.put(str(home), event)
    with Daemon(ROOT, home, {"embedding": {"provider": "none"}}) as daemon:
        daemon.settle()
        for limit in (10, 45):
            found = daemon.call("search", query="배포 port", project_dir=str(project), limit=limit)["hits"]
            assert len(found) == limit
