"""`memlayer import --from` through the real command line and a real daemon."""

import json
import zipfile
from pathlib import Path

import pytest

from memlayer.edge.capture import hosts
from memlayer.transcripts import importer
from memlayer.transcripts.sources import SOURCES
from tests.support.cli_process import Cli
from tests.support.left_talk import marked
from tests.support.other_agents import THREAD, Rollout, gemini_messages, gemini_meta, jsonl, pack
from tests.support.processes import Daemon


@pytest.fixture
def cli(home: Path, project: Path) -> Cli:
    return Cli(home, project)


@pytest.fixture
def person(tmp_path: Path) -> Path:
    return tmp_path / "person"


def test_a_preview_then_an_import_and_its_words(cli: Cli, daemon: Daemon, person: Path, project: Path) -> None:
    rollout = Rollout(str(project))
    rollout.turn("t1", "타일 서버 port가 뭐였지?", "tiles.internal:8443 입니다.")
    rollout.write(person / ".codex" / "sessions")
    table = cli("import", "--from", "all", "--dry-run")
    assert table.returncode == 0, table.stderr
    [row] = [line for line in table.stdout.splitlines() if line.lstrip().startswith("codex")]
    assert "2026-09-21" in row
    assert "8443" not in cli("search", "타일 서버 port").stdout
    (person / ".claude" / "projects").mkdir(parents=True)
    assert "sessions of codex too" in cli("import").stdout
    done = cli("import", "--from", "codex", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["new_turns"], answer["found"][0]["agent"], answer["found"][0]["sessions"]) == (1, "codex", 1)
    for verb in (("search", "타일 서버 port"), ("list",), ("sessions",), ("show", found(cli))):
        assert "(Codex)" in cli(*verb).stdout, verb
        assert '"host": "codex"' in cli(*verb, "--json").stdout
    assert "tiles.internal:8443" in cli("search", "타일 서버 port").stdout
    assert json.loads(cli("import", "--from", "codex", "--json").stdout)["new"] == 0
    assert [one["id"] for one in json.loads(cli("sessions", "--json").stdout)["sessions"]] == [THREAD]


def found(cli: Cli) -> str:
    return str(json.loads(cli("search", "타일 서버 port", "--json").stdout)["hits"][0]["citation"])


@pytest.mark.parametrize("agent", sorted({*importer.agents(), *SOURCES} - {"claude"}))
def test_each_agent_has_a_name(agent: str) -> None:
    assert hosts.named(agent).title == SOURCES[agent].title


def test_packed_sessions_are_read(cli: Cli, daemon: Daemon, person: Path, project: Path) -> None:
    rollout = Rollout(str(project))
    for number in range(800):  # more lines than between two reports of progress
        rollout.turn("t%d" % number, "타일 서버 port %d는?" % number, "tiles-%d.internal 입니다." % number)
    pack(rollout.write(person / ".codex" / "sessions"))
    assert json.loads(cli("import", "--from", "codex", "--json").stdout)["new_turns"] == 800
    assert "tiles-799.internal" in cli("search", "타일 서버 port 799").stdout


def test_another_form_is_an_error(cli: Cli, daemon: Daemon, person: Path, project: Path) -> None:
    for number in range(3):
        rollout = Rollout(str(project), thread="t%d" % number, version="0.300.0")
        rollout.add("said", {"text": "새 형식"})
        rollout.write(person / ".codex" / "sessions", "rollout-%d.jsonl" % number)
    told = cli("import", "--from", "codex")
    assert told.returncode == 1
    assert "Codex: 3 files, 0 turns. Version 0.300.0" in told.stderr


def test_a_clone_that_is_gone_is_known_by_its_remote(cli: Cli, daemon: Daemon, person: Path, project: Path) -> None:
    git = project / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text('[remote "origin"]\n\turl = git@github.com:dev/shop.git\n')
    cli("remember", "가게는 shop")  # so that the project is known
    rollout = Rollout("/gone/shop", git={"repository_url": "https://github.com/dev/shop.git"})
    rollout.turn("t1", "결제 API는 뭘 쓰지?", "toss payments를 씁니다.")
    rollout.write(person / ".codex" / "sessions")
    cli("import", "--from", "codex", "--project", str(project))
    assert "toss payments" in cli("search", "결제 API").stdout


def test_what_is_refused_is_said(cli: Cli, daemon: Daemon, tmp_path: Path) -> None:
    (tmp_path / "글.db").write_text("글")
    for asked, why in (
        (("--from", "gemini"), "no sessions of gemini"),
        (("--from", "all", str(tmp_path)), "--from"),
        (("--from", "chatgpt"), "export"),
        (("--from", "nobody"), "nobody"),
        (("--from", "opencode", str(tmp_path / "글.db")), "no database"),
    ):
        told = cli("import", *asked)
        assert told.returncode != 0
        assert why in told.stderr, told.stderr


def test_all_that_are_found(cli: Cli, daemon: Daemon, person: Path, project: Path) -> None:
    rollout = Rollout(str(project))
    rollout.turn("t1", "배포 순서를 정하자, staging 먼저", "staging 다음 production입니다.")
    rollout.begin("t2", "아니 always production 먼저")
    rollout.say("t2", "production 먼저")
    rollout.event("thread_rolled_back", num_turns=1)
    rollout.write(person / ".codex" / "sessions")
    chats = person / ".gemini" / "tmp" / "shop"
    said = gemini_messages([("로그는 어디에 쌓여?", "/var/log/상점.log 입니다.")])
    jsonl(chats / "chats" / "session-1.jsonl", [gemini_meta(), *said])
    (chats / ".project_root").write_text(str(project))
    told = json.loads(cli("import", "--from", "all", "--dry-run", "--json").stdout)
    assert [(row["agent"], row["turns"]) for row in told["found"]] == [("codex", 2), ("gemini", 1)]
    done = json.loads(cli("import", "--from", "all", "--json").stdout)
    assert (done["new_turns"], done["problems"]) == (3, [])
    assert "상점.log" in cli("search", "로그는 어디에").stdout
    assert marked(daemon) == {"t2"}
    assert json.loads(cli("import", "--from", "all", "--json").stdout)["unchanged"] == 2


def test_chats_come_into_the_project_that_is_named(cli: Cli, daemon: Daemon, tmp_path: Path, project: Path) -> None:
    message = {
        "author": {"role": "user"},
        "content": {"content_type": "text", "parts": ["환불은 7일 안에, within a week"]},
    }
    chat = {
        "id": "gpt-1",
        "update_time": 1.78e9,
        "current_node": "a",
        "mapping": {"a": {"id": "a", "message": message}},
    }
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("conversations.json", json.dumps([chat], ensure_ascii=False))
    path = str(tmp_path / "export.zip")
    assert "--project" in cli("import", "--from", "chatgpt", path).stderr
    done = json.loads(cli("import", "--from", "chatgpt", path, "--project", str(project), "--json").stdout)
    assert [(row["agent"], row["folder"]) for row in done["found"]] == [("chatgpt", str(project))]
    assert "within a week" in cli("search", "환불").stdout


def test_a_file_of_no_form_keeps_no_other_away(cli: Cli, daemon: Daemon, tmp_path: Path, project: Path) -> None:
    folder = tmp_path / "보내기"
    good = [{"uuid": "c1", "chat_messages": [{"uuid": "m1", "sender": "human", "text": "배포 요일은 화요일로 하자"}]}]
    for name, text in (
        ("conversations-1.json", "[" * 100_000),
        ("conversations-2.json", '[{"uuid": "deep", "mapping": %s1%s}]' % ('{"a":' * 50_000, "}" * 50_000)),
        ("conversations-3.json", json.dumps(good, ensure_ascii=False)),
    ):
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    done = cli("import", "--from", "claude-ai", str(folder), "--project", str(project), "--json")
    assert json.loads(done.stdout)["new_turns"] == 1, done.stderr


def test_turn_ids_with_signs_are_told_apart(cli: Cli, daemon: Daemon, person: Path, project: Path) -> None:
    rollout = Rollout(str(project))
    for number in range(3):
        rollout.turn("a+b", "정산 포트 %d 는 뭐였지?" % number, "984%d 입니다." % number)
    rollout.write(person / ".codex" / "sessions")
    done = cli("import", "--from", "codex", "--json")
    assert json.loads(done.stdout)["new_turns"] == 3, done.stderr
